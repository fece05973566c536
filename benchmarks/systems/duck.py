"""DuckDB: its native storage, and Parquet written and read by DuckDB."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa

from .base import System, sql_predicate


def _cols(columns):
    return ", ".join(f't."{c}"' for c in columns) if columns else "t.*"


def _has(column, terms):
    return " AND ".join(f"contains(\"{column}\", '{w}')" for w in terms)


class _Duck(System):
    package = "duckdb"

    def __init__(self, threads):
        super().__init__(threads)
        import duckdb

        self.db = duckdb
        self.config = {"threads": threads} if threads else {}

    def version(self):
        return f"duckdb {self.db.__version__}"

    def close(self, h):
        h.close()

    def names(self, h):
        return [r[0] for r in h.execute(f"DESCRIBE SELECT * FROM {self.src(h)} t").fetchall()]

    def scan(self, h, columns=None):
        return h.sql(f"SELECT {_cols(columns)} FROM {self.src(h)} t").to_arrow_table()

    def filter(self, h, predicate, columns):
        return h.sql(f"SELECT {_cols(columns)} FROM {self.src(h)} t WHERE {sql_predicate(predicate)}").to_arrow_table()

    def search(self, h, column, terms):
        t = h.sql(f"SELECT {self.rowid} AS r FROM {self.src(h, True)} t WHERE {_has(column, terms)}").to_arrow_table()
        return np.sort(t["r"].to_numpy())

    def take(self, h, rows, columns=None):
        wanted = pa.table({"r": pa.array(rows)})
        h.register("wanted", wanted)
        ex = " EXCLUDE (file_row_number)" if self.rowid == "file_row_number" and not columns else ""
        return h.sql(
            f"SELECT {_cols(columns)}{ex} FROM {self.src(h, True)} t WHERE t.{self.rowid} IN (SELECT r FROM wanted)"
        ).to_arrow_table()


class DuckNative(_Duck):
    name = "duckdb"
    ext = ".duckdb"
    rowid = "rowid"

    def src(self, h, rowid=False):
        return "t"

    def write(self, table, path, text=None):
        for p in (path, path + ".wal"):
            if os.path.exists(p):
                os.remove(p)
        con = self.db.connect(path, config=self.config)
        con.register("src", table)
        con.execute("CREATE TABLE t AS SELECT * FROM src")
        con.execute("CHECKPOINT")
        con.close()

    def open(self, path):
        return self.db.connect(path, read_only=True, config=self.config)


class DuckParquet(_Duck):
    name = "duckdb-parquet"
    ext = ".duck.parquet"
    rowid = "file_row_number"

    def src(self, h, rowid=False):
        return f"read_parquet('{self._path}'{', file_row_number = true' if rowid else ''})"

    def write(self, table, path, text=None):
        con = self.db.connect(config=self.config)
        con.register("src", table)
        con.execute(f"COPY src TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
        con.close()

    def open(self, path):
        self._path = path
        return self.db.connect(config=self.config)


SYSTEMS = [DuckNative, DuckParquet]
