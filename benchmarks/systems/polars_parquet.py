"""Polars writing and reading Parquet (zstd, Polars' defaults)."""

from __future__ import annotations

from .base import System


class PolarsParquet(System):
    package = "polars"
    name = "polars-parquet"
    ext = ".pl.parquet"

    @classmethod
    def env(cls, threads):
        return {"POLARS_MAX_THREADS": str(threads)} if threads else {}

    def __init__(self, threads):
        super().__init__(threads)
        import polars

        self.pl = polars
        self.newest = polars.CompatLevel.newest()  # string_view: no copy on the way out

    def version(self):
        return f"polars {self.pl.__version__}"

    def write(self, table, path, text=None):
        self.pl.from_arrow(table, rechunk=False).write_parquet(path, compression="zstd")

    def open(self, path):
        return self.pl.scan_parquet(path)

    def names(self, h):
        return h.collect_schema().names()

    def scan(self, h, columns=None):
        return (h.select(columns) if columns else h).collect().to_arrow(compat_level=self.newest)

    def take(self, h, rows, columns=None):
        pl = self.pl
        lf = h.select(columns) if columns else h
        return lf.select(pl.all().gather(pl.Series(rows))).collect().to_arrow(compat_level=self.newest)

    def _expr(self, predicate):
        pl, e = self.pl, None
        for c, op, v in predicate:
            x = pl.col(c)
            y = pl.lit(v.as_py())
            r = {"==": x == y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op]
            e = r if e is None else e & r
        return e

    def filter(self, h, predicate, columns):
        return h.filter(self._expr(predicate)).select(columns).collect().to_arrow(compat_level=self.newest)

    def search(self, h, column, terms):
        pl, e = self.pl, None
        for w in terms:
            r = pl.col(column).str.contains(w, literal=True)
            e = r if e is None else e & r
        return h.with_row_index("r").filter(e).select("r").collect()["r"].to_numpy()


SYSTEMS = [PolarsParquet]
