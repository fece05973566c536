"""Lance datasets: plain, and with the indexes a user would build (FTS, BTREE, BITMAP)."""

from __future__ import annotations

import shutil

import numpy as np

from .base import System, sql_predicate


class Lance(System):
    package = "lance"
    name = "lance"
    ext = ".lance"

    @classmethod
    def env(cls, threads):
        # LANCE_IO_THREADS is left alone: pylance 14.0.2 hangs in write_dataset with LANCE_IO_THREADS=1
        e = {"LANCE_CPU_THREADS": str(threads)} if threads else {}
        return {**e, "LANCE_LOG": "error"}

    def __init__(self, threads):
        super().__init__(threads)
        import lance

        self.lance = lance

    def version(self):
        from lance.file import stable_version

        return f"pylance {self.lance.__version__} (file v{stable_version()})"

    def write(self, table, path, text=None):
        shutil.rmtree(path, ignore_errors=True)
        return self.lance.write_dataset(table, path, data_storage_version="stable")

    def open(self, path):
        return self.lance.dataset(path)

    def names(self, h):
        return h.schema.names

    def scan(self, h, columns=None):
        return h.to_table(columns=columns)

    def take(self, h, rows, columns=None):
        return h.take(rows.tolist(), columns=columns)

    def filter(self, h, predicate, columns):
        return h.to_table(columns=columns, filter=sql_predicate(predicate, "`"))

    def search(self, h, column, terms):
        cond = " AND ".join(f"contains({column}, '{w}')" for w in terms)
        return self._positions(h, h.scanner(columns=[], filter=cond, with_row_id=True).to_table()["_rowid"])

    def _positions(self, h, rowids):
        """row id = fragment << 32 | offset; turn it into the position in the table."""
        r = np.sort(rowids.to_numpy())
        starts = np.concatenate([[0], np.cumsum([f.count_rows() for f in h.get_fragments()])])
        return starts[(r >> 32).astype(np.int64)] + (r & 0xFFFFFFFF).astype(np.int64)


class LanceIndexed(Lance):
    name = "lance-idx"
    ext = ".idx.lance"

    def write(self, table, path, text=None):
        ds = super().write(table, path)
        for col, kind in (("timestamp", "BTREE"), ("status", "BITMAP"), ("trace_id", "BTREE"), ("l_orderkey", "BTREE")):
            if col in table.column_names:
                ds.create_scalar_index(col, kind)
        if text:
            ds.create_scalar_index(text, "INVERTED", with_position=False, stem=False, remove_stop_words=False)

    def search(self, h, column, terms):
        from lance.query import FullTextOperator, MatchQuery

        q = MatchQuery(" ".join(terms), column, operator=FullTextOperator.AND)
        t = h.scanner(
            columns=[], full_text_query=q, with_row_id=True, limit=h.count_rows(), disable_scoring_autoprojection=True
        ).to_table()
        return self._positions(h, t["_rowid"])

    def contains(self, h, column, part):
        return Lance.search(self, h, column, [part])


SYSTEMS = [Lance, LanceIndexed]
