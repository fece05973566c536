"""SQL over shards and datasets, run by DuckDB."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import currentframe
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import xxhash

from amudai.api import ArrowDataset, Tabular
from amudai.arguments import shown
from amudai.datasets import true_rows
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.interop.packages import required
from amudai.interop.prefilter import TEXT_FUNCTIONS, prefilters, renamed, table_names
from amudai.predicate import Always, col

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["register", "sql"]

# DuckDB's name of `timestamp[ns, UTC]`.
_NANOSECONDS_WITH_ZONE: Final = "TIMESTAMPTZ_NS"


def sql(query: str, *, connection: Any | None = None, **tables: Tabular) -> Any:
    """Run SQL over shards and datasets, by DuckDB. Needs `pip install amudai[duckdb]`.

    DuckDB runs the query as it is written, so the answer is DuckDB's own. What it pushes down (columns, comparisons)
    becomes a scan. Conditions on text that it does not push down (LIKE, ILIKE, `contains`, `regexp_matches`,
    `starts_with`) are found in the query and asked of the indexes first, so that DuckDB gets only rows that may match.

    The functions `has`, `has_cs`, `hasprefix`, `hassuffix`, `has_any`, `has_all` mean what they mean in
    `amudai.col(...)`.

    Parameters
    ----------
    query
        One statement of DuckDB's SQL.
    connection
        A connection of DuckDB with other tables; None for a new one. `tables` are registered in it. A table whose rows
        are filtered by an index first is registered once more, with those rows and a name that begins with `amudai_`.
    tables
        Shards and datasets by the names that the query has for them. A table that is not given and that the connection
        does not have may be a variable of the caller that holds a shard or a dataset.

    Returns
    -------
    duckdb.DuckDBPyRelation
        The result, to be fetched with `fetchall()`, `df()`, `pl()`, `to_arrow_table()` and so on.

    Examples
    --------
    >>> logs = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> amudai.sql("SELECT count(*) FROM logs WHERE message ILIKE '%FAILED%' AND status >= 500", logs=logs).fetchall()
    [(7,)]
    >>> amudai.sql("SELECT max(status) FROM logs WHERE has(message, 'timeout')").fetchall()
    [(503,)]
    """
    duckdb = required("duckdb", "sql")
    required("sqlglot", "sql")
    if not isinstance(query, str):
        raise InvalidArgument(f"query: expected SQL as text, found {shown(query)}")
    for name, table in tables.items():
        if not isinstance(table, Tabular):
            raise InvalidArgument(f"{name}: expected a shard or a dataset, found {shown(table)}")
    found = dict(tables) | _variables(query, tables, _caller(currentframe()))
    if connection is not None and not isinstance(connection, duckdb.DuckDBPyConnection):
        raise InvalidArgument(f"connection: expected a connection of DuckDB, found {shown(connection)}")
    opened = duckdb.connect() if connection is None else connection
    register(opened)
    asked = _with_tables(opened, query, found, is_own=connection is None)
    try:
        return opened.sql(asked)
    except duckdb.BinderException as error:
        if _NANOSECONDS_WITH_ZONE not in str(error):
            raise
        message = f"sql: expected another type than {_NANOSECONDS_WITH_ZONE}, for which DuckDB has few functions"
        advice = "cast the column, as in ts::TIMESTAMPTZ for microseconds, or take all digits by epoch_ns(ts)"
        raise UnsupportedFeature(f"{message}: {advice}; {error}") from error


def _with_tables(connection: Any, query: str, tables: Mapping[str, Tabular], *, is_own: bool) -> str:
    """Register tables, those that the query filters with fewer rows, and return the query for the connection.

    In a connection of the caller, a name stands for all rows: views, macros and other queries use it, too, and results
    are read later than they are asked for. There a table with fewer rows has a name of its own.
    """
    found = prefilters(query, {name: table.schema for name, table in tables.items()})
    fewer = {name: where for name in tables if not isinstance(where := found[name.lower()], Always)}
    if is_own:
        for name, table in tables.items():
            connection.register(name, ArrowDataset(table, fewer.get(name)))
        return query
    for name, table in tables.items():
        connection.register(name, ArrowDataset(table))
    if not fewer or _has_collation(connection):
        return query
    # The same question has the same name each time, so that a connection does not fill with tables.
    marks = {name: f"{id(tables[name])} {where!r}" for name, where in fewer.items()}
    names = {name.lower(): f"amudai_{xxhash.xxh3_128_hexdigest(mark.encode())}" for name, mark in marks.items()}
    asked = renamed(query, names)
    if asked is None:
        return query
    for name, where in fewer.items():
        connection.register(names[name.lower()], ArrowDataset(tables[name], where))
    return asked


def _has_collation(connection: Any) -> bool:
    """Whether texts that differ may be equal in all queries of a connection."""
    [(stated,)] = connection.sql("SELECT current_setting('default_collation')").fetchall()
    return bool(stated)


def register(connection: Any) -> None:
    """Give a connection of DuckDB the functions `has`, `hasprefix`, `has_any` and so on.

    >>> import duckdb
    >>> from amudai.interop import register
    >>> connection = duckdb.connect()
    >>> register(connection)
    >>> connection.sql("SELECT has('read timeout', 'Timeout'), has_any('a b', ['x', 'b'])").fetchall()
    [(True, True)]
    """
    duckdb = required("duckdb", "sql")
    for name, kind in TEXT_FUNCTIONS.items():
        second = "VARCHAR" if kind == "word" else "VARCHAR[]"
        try:
            connection.create_function(name, _function(name), ["VARCHAR", second], "BOOLEAN", type="arrow")
        except (duckdb.CatalogException, duckdb.NotImplementedException) as error:
            if "already" not in str(error):  # registered by an earlier call
                raise


def _function(name: str) -> Any:
    def evaluated(texts: Any, words: Any) -> pa.Array:
        texts, words = _combined(texts), _combined(words)
        asked = words.to_pylist()
        found = np.zeros(len(texts), np.bool_)
        keys = [tuple(each) if isinstance(each, list) else each for each in asked]
        for key in dict.fromkeys(keys):
            mine = np.fromiter((each == key for each in keys), np.bool_, len(keys))
            predicate = getattr(col("text"), name)(list(key) if isinstance(key, tuple) else key)
            found[mine] = true_rows(predicate, pa.table({"text": texts.filter(pa.array(mine))}))
        return pa.array(found)

    return evaluated


def _combined(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _caller(frame: FrameType | None) -> FrameType | None:
    return None if frame is None else frame.f_back


def _variables(query: str, tables: Mapping[str, Tabular], frame: FrameType | None) -> dict[str, Tabular]:
    """The shards and datasets that the query names and that are variables of the caller."""
    known = {name.lower() for name in tables}
    found: dict[str, Tabular] = {}
    for name in table_names(query):
        if name.lower() not in known and frame is not None:
            value = frame.f_locals.get(name, frame.f_globals.get(name))
            if isinstance(value, Tabular):
                found[name] = value
    return found
