"""Vortex files, default and compact write options."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa

from .base import System


class Vortex(System):
    package = "vortex"
    name = "vortex"
    ext = ".vortex"

    def __init__(self, threads):
        super().__init__(threads)
        import vortex
        import vortex.expr as ve

        self.vx, self.ve = vortex, ve
        if threads:
            # the calling thread drives futures too; 0 extra workers == one thread
            vortex.set_worker_threads(threads - 1)

    def version(self):
        from importlib.metadata import version

        return f"vortex-data {version('vortex-data')}"

    def options(self):
        return self.vx.io.VortexWriteOptions.default()

    def write(self, table, path, text=None):
        if os.path.exists(path):
            os.remove(path)
        self.options().write(table, path)

    def open(self, path):
        return self.vx.open(path, memory_map=True)

    def names(self, h):
        return h.dtype.names()

    def scan(self, h, columns=None):
        return h.to_arrow(columns).read_all()

    def take(self, h, rows, columns=None):
        return h.to_arrow(columns, indices=self.vx.array(pa.array(rows.astype(np.uint64)))).read_all()

    def _lit(self, v):
        return self.ve.literal(self.vx.DType.from_arrow(v.type), v.as_py())

    def filter(self, h, predicate, columns):
        ve, e = self.ve, None
        for c, op, v in predicate:
            x = ve.column(c)
            r = {"==": ve.eq, "<": ve.lt, "<=": ve.lt_eq, ">": ve.gt, ">=": ve.gt_eq}[op](x, self._lit(v))
            e = r if e is None else ve.and_(e, r)
        return h.to_arrow(columns, expr=e).read_all()

    def search(self, h, column, terms):
        ve, e = self.ve, None
        for w in terms:
            r = ve.like(ve.column(column), f"%{w}%")
            e = r if e is None else ve.and_(e, r)
        hit = h.to_arrow(ve.pack({"hit": e})).read_all()["hit"]  # pushed-down LIKE, one flag per row
        return np.flatnonzero(hit.to_numpy())


class VortexCompact(Vortex):
    name = "vortex-compact"
    ext = ".compact.vortex"

    def options(self):
        return self.vx.io.VortexWriteOptions.compact()


SYSTEMS = [Vortex, VortexCompact]
