"""Amudai shards, written by this project: in the forms that a user may choose."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pyarrow as pa

from .base import System

_OPS = {"==": "__eq__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}


class Amudai(System):
    package = "amudai"
    name = "amudai"
    ext = ".amudai.shard"
    profile = "balanced"

    def __init__(self, threads):
        super().__init__(threads)
        import amudai

        self.am = amudai

    @classmethod
    def env(cls, threads):
        return {"AMUDAI_THREADS": str(threads)} if threads else {}

    def version(self):
        return f"amudai {self.am.__version__}"

    def indexes(self, table, text):
        return []

    def write(self, table, path, text=None):
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
        self.am.write(table, path, profile=self.profile, indexes=self.indexes(table, text))

    def open(self, path):
        return self.am.open(path)

    def names(self, h):
        return h.schema.names

    def scan(self, h, columns=None):
        return h.read(columns=columns)

    def take(self, h, rows, columns=None):
        return h.take(rows, columns=columns)

    def filter(self, h, predicate, columns):
        where = None
        for c, op, v in predicate:
            p = getattr(self.am.col(c), _OPS[op])(v.as_py())
            where = p if where is None else where & p
        return h.scan(columns=columns, where=where).to_table()

    def search(self, h, column, terms):
        where = None
        for w in terms:
            p = self.am.col(column).has(w)
            where = p if where is None else where & p
        return np.asarray(h.scan(where=where).positions())

    def contains(self, h, column, part):
        return np.asarray(h.scan(where=self.am.col(column).contains_cs(part)).positions())


class AmudaiHigh(Amudai):
    name = "amudai-high"
    ext = ".high.amudai.shard"
    profile = "high_compression"


class AmudaiViews(Amudai):
    """The same shards, with texts as Arrow's views: what Vortex and polars give, too."""

    name = "amudai-views"
    ext = ".views.amudai.shard"

    def __init__(self, threads):
        super().__init__(threads)
        self.types = {}

    def open(self, path):
        if path not in self.types:
            with self.am.open(path) as shard:
                texts = [each.name for each in shard.schema if pa.types.is_string(each.type)]
            self.types[path] = dict.fromkeys(texts, pa.string_view())
        return self.am.open(path, schema=self.types[path])


class AmudaiIndexed(Amudai):
    name = "amudai-idx"
    ext = ".idx.amudai.shard"

    def indexes(self, table, text):
        out = []
        if text:
            out.append(self.am.TermIndex(text))
        if "trace_id" in table.column_names:
            out.append(self.am.HashIndex("trace_id"))
        return out


SYSTEMS = [Amudai, AmudaiHigh, AmudaiViews, AmudaiIndexed]
