"""The interface a measured system implements.

Import the peer's package inside methods (or in __init__), never at module level:
the registry imports every adapter, and a worker must load only the peer it measures.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class NotSupported(Exception):
    """The system cannot do this piece of work; the cell stays empty."""


_OPS = {"==": pc.equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal}


class System:
    name = "?"
    ext = ""  # file suffix of what write() leaves at path
    index_only = False  # True: answers search() only (tantivy)
    package = ""  # the Python package that it needs; empty: none beyond pyarrow

    @classmethod
    def missing(cls) -> str:
        """What is not installed, so that the system is left out; empty if all is there."""
        return f"package {cls.package} is not installed" if cls.package and not find_spec(cls.package) else ""

    @classmethod
    def env(cls, threads: int | None) -> dict:
        """Environment the worker starts with (thread counts fixed at import time)."""
        return {}

    def __init__(self, threads: int | None):
        self.threads = threads

    def version(self) -> str:
        return ""

    # --- writing
    def write(self, table: pa.Table, path: str, text: str | None = None) -> None:
        """Store the table at path. `text` names the column that search() will be asked about."""
        raise NotImplementedError

    def size(self, path: str) -> int:
        if os.path.isfile(path):
            return os.path.getsize(path)
        return sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(path) for f in fs)

    # --- reading; every method gets what open() returned
    def open(self, path: str):
        return path

    def close(self, h) -> None:
        pass

    def names(self, h) -> list:
        raise NotImplementedError

    def scan(self, h, columns: list | None = None) -> pa.Table:
        raise NotImplementedError

    def take(self, h, rows: np.ndarray, columns: list | None = None) -> pa.Table:
        """rows: sorted, distinct positions."""
        return self.scan(h, columns).take(pa.array(rows))

    def filter(self, h, predicate: list, columns: list) -> pa.Table:
        """predicate: conjunction of (column, op, pyarrow scalar)."""
        need = list(dict.fromkeys(columns + [c for c, _, _ in predicate]))
        t = self.scan(h, need)
        mask = None
        for c, op, v in predicate:
            m = _OPS[op](t[c], v)
            mask = m if mask is None else pc.and_(mask, m)
        return t.filter(mask).select(columns)

    def search(self, h, column: str, terms: list) -> np.ndarray:
        """Positions of the rows whose text has all the terms. Default: scan and match substrings."""
        text = self.scan(h, [column])[column]
        mask = None
        for w in terms:
            m = pc.match_substring(text, w)
            mask = m if mask is None else pc.and_(mask, m)
        return np.flatnonzero(pc.fill_null(mask, False).to_numpy(zero_copy_only=False))

    def contains(self, h, column: str, part: str) -> np.ndarray:
        """Positions of the rows whose text has this part of a word. Default: `search`, which matches substrings."""
        return self.search(h, column, [part])


def arrow_threads(threads: int | None) -> bool:
    """Apply the thread limit to pyarrow; returns use_threads."""
    if threads:
        pa.set_cpu_count(threads)
        pa.set_io_thread_count(max(1, threads))
    return threads != 1


def sql_predicate(predicate: list, quote: str = '"') -> str:
    def lit(v):
        if pa.types.is_timestamp(v.type):
            return f"TIMESTAMP '{v.as_py().isoformat(sep=' ')}'"
        if pa.types.is_date(v.type):
            return f"DATE '{v.as_py().isoformat()}'"
        if pa.types.is_string(v.type):
            return "'" + v.as_py().replace("'", "''") + "'"
        return str(v.as_py())

    return " AND ".join(f"{quote}{c}{quote} {'=' if op == '==' else op} {lit(v)}" for c, op, v in predicate)
