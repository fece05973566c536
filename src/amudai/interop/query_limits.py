"""How much a query may take: memory, threads, and whether it may read anything besides its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from amudai.arguments import whole_number
from amudai.interop.duckdb_sql import register
from amudai.interop.packages import required

__all__ = ["LEAST_DUCKDB", "QueryLimits", "database"]

# DuckDB 2.0 has the functions that the SQL of duckdb-kql calls.
LEAST_DUCKDB: Final = (2, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryLimits:
    """How much a query in KQL or SQL may take. What needs more memory raises `LimitExceeded`.

    Attributes
    ----------
    memory
        Bytes that DuckDB may take for the query; None for DuckDB's own limit. Nothing is spilled to disk.
    threads
        Threads that DuckDB may use for the query; None for one for each core.
    only_tables
        Whether the query may read nothing but the tables that it is given: no file, no URL, no extension.

    Examples
    --------
    >>> logs = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> limits = amudai.QueryLimits(memory=100 << 20, only_tables=True)
    >>> amudai.sql_result("SELECT count(*) AS n FROM data", limits=limits, data=logs).to_table().to_pydict()
    {'n': [400]}
    >>> amudai.sql_result("SELECT * FROM 'docs/index.md'", limits=limits, data=logs)
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: sql: expected a query that DuckDB can run, found: ...
    """

    memory: int | None = None
    threads: int | None = None
    only_tables: bool = False

    def __post_init__(self) -> None:
        for name in ("memory", "threads"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole_number(getattr(self, name), name, 1))


# Databases that no query uses now. Opening one takes longer than most queries run.
_free: Final[dict[QueryLimits, list[Any]]] = {}
_lock: Final = Lock()


@contextmanager
def database(limits: QueryLimits | None) -> Iterator[Any]:
    """A database in memory that keeps the limits; queries without limits share one."""
    if limits is None:
        yield _shared()
        return
    with _lock:
        waiting = _free.setdefault(limits, [])
        found = waiting.pop() if waiting else None
    if found is None:
        found = _opened(limits)
    try:
        yield found
    finally:
        with _lock:
            _free[limits].append(found)


def _shared() -> Any:
    with _lock:
        if not _everyone:
            _everyone.append(_opened(QueryLimits()))
        return _everyone[0]


_everyone: Final[list[Any]] = []


def _opened(limits: QueryLimits) -> Any:
    duckdb = required("duckdb", "kql", extra="kql", least=LEAST_DUCKDB)
    options: dict[str, Any] = {}
    if limits.memory is not None:
        options = {"memory_limit": f"{limits.memory}B", "max_temp_directory_size": "0B"}
    if limits.threads is not None:
        options["threads"] = limits.threads
    found = duckdb.connect(config=options)
    register(found)
    if limits.only_tables:
        found.execute("SET enable_external_access = false")  # DuckDB takes it back for no statement
    return found
