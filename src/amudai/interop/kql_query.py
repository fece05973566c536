"""KQL over shards and datasets: a query that runs when its rows are asked for."""

from __future__ import annotations

import datetime as dt
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, Final, TypeVar

import pyarrow as pa

from amudai.api import ArrowDataset, Explanation, Scan, Tabular, dataset, to_pandas, to_polars
from amudai.arguments import shown
from amudai.errors import AmudaiError, Cancelled, InvalidArgument, LimitExceeded
from amudai.interop.kql_language import TABLE, KqlText, SqlText, constant_sql, kql_errors, lowered, translated
from amudai.interop.kql_plan import QueryStep, TableUse, plan_of
from amudai.interop.packages import required
from amudai.interop.prefilter import prefilters
from amudai.interop.query_limits import LEAST_DUCKDB, QueryLimits, database
from amudai.pool import Pool, wait
from amudai.predicate import Always

__all__ = ["QueryExplanation", "QueryResult", "kql", "sql_result"]

R = TypeVar("R")
_BATCH_ROWS: Final = 1 << 16
_CALLS: Final = Pool(4, "amudai-duckdb")
# What DuckDB says about a column that there is not. The SQL of a query may name what it makes by the same name.
_MISSING: Final = re.compile(
    r'[Cc]olumn "([^"]+)" (?:not found|referenced that exists in the SELECT clause)|Alias with name "+([^"]+)"+ exists'
)


def kql(
    text: str,
    data: Tabular | str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    limits: QueryLimits | None = None,
    **tables: Tabular,
) -> QueryResult:
    """Ask in KQL, the language of Kusto. Needs `pip install amudai[kql]`.

    DuckDB runs the query. The conditions at its beginning (`where`, `search`) are asked of the indexes first, so that
    DuckDB gets only rows that may match. `has` and its kin mean what they mean in `amudai.col(...)`. Which operators
    there are, and who runs them, is said in `docs/kql.md`.

    Parameters
    ----------
    text
        A query. It may begin with an operator, as in `where status >= 500 | count`, or with the name of a table:
        `data`, or one of `tables`.
    data
        A shard or dataset, or what `amudai.dataset` takes: the path or URL of a folder of shards, or of several shards.
    limits
        How much memory and how many threads the query may take; None for no limit of its own.
    tables
        More shards and datasets by name, for `join`, `lookup` and `union`.

    Returns
    -------
    QueryResult
        The result. The query is checked here, and runs when rows are asked for.

    Raises
    ------
    InvalidArgument
        If the text is not KQL, or names columns or tables that there are not. The message names the place in the text.
    UnsupportedFeature
        If the query has an operator or a function that is not supported. The message names it and its place.

    Examples
    --------
    >>> logs = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> found = amudai.kql('where message has "failed" | summarize count() by status | sort by status asc', logs)
    >>> found.to_table().to_pydict()
    {'status': [500], 'count_': [7]}
    >>> found.explain().scans[0].where
    'col("message").has("failed")'
    """
    if not isinstance(text, str):
        raise InvalidArgument(f"text: expected KQL as text, found {shown(text)}")
    known = _checked({TABLE: _opened(data), **tables})
    # The clock stands still, so that conditions mean the same in the scan and in DuckDB, however late they run.
    moment = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    query = KqlText(text)
    tree = lowered(query)
    with kql_errors(query):
        plan = plan_of(tree, known, query, lambda expression: _value_of(constant_sql(expression, moment)))
    sql = translated(plan.tree, plan.columns, query, moment)
    return QueryResult("kql", text, plan.uses, plan.steps, sql, _checked_limits(limits))


def sql_result(query: str, *, limits: QueryLimits | None = None, **tables: Tabular) -> QueryResult:
    """SQL with the face of a scan: the rows that `amudai.sql` finds, to be read batch by batch and explained.

    Needs `pip install amudai[kql]`.

    Parameters
    ----------
    query
        One SELECT of DuckDB's SQL. It runs when rows are asked for, and again each time.
    limits
        How much the query may take, and whether it may read files besides the tables; None for no limit of its own.
    tables
        Shards and datasets by the names that the query has for them.

    Raises
    ------
    InvalidArgument
        If the text is not one query, or DuckDB cannot run it.

    Examples
    --------
    >>> logs = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> amudai.sql_result("SELECT status FROM data WHERE message LIKE '%timeout%'", data=logs).count()
    11
    """
    required("sqlglot", "sql")
    if not isinstance(query, str):
        raise InvalidArgument(f"query: expected SQL as text, found {shown(query)}")
    duckdb = required("duckdb", "sql", extra="kql", least=LEAST_DUCKDB)
    try:
        kinds = [statement.type for statement in duckdb.extract_statements(query)]
    except (duckdb.Error, TypeError) as error:  # a lone surrogate is no text to DuckDB
        raise InvalidArgument(f"sql: expected a query, found: {_first_line(error)}") from error
    # A result runs more than once: a statement that changes anything must not be one.
    if kinds != [duckdb.StatementType.SELECT]:
        raise InvalidArgument(f"sql: expected one query, found {shown(query)}")
    wanted = prefilters(query, {name: table.schema for name, table in _checked(tables).items()})
    asked = {name: wanted[name.lower()] for name in tables}
    uses = [
        TableUse(name, table, None if isinstance(asked[name], Always) else asked[name])
        for name, table in tables.items()
    ]
    return QueryResult("sql", query, tuple(uses), (), SqlText(query, {}), _checked_limits(limits))


def _checked_limits(limits: QueryLimits | None) -> QueryLimits | None:
    if limits is not None and not isinstance(limits, QueryLimits):
        raise InvalidArgument(f"limits: expected amudai.QueryLimits, found {shown(limits)}")
    return limits


def _checked(tables: Mapping[str, Tabular]) -> Mapping[str, Tabular]:
    for name, table in tables.items():
        if not isinstance(table, Tabular):
            raise InvalidArgument(f"{name}: expected a shard or a dataset, found {shown(table)}")
    return tables


def _opened(data: Any) -> Tabular:
    if isinstance(data, Tabular):
        return data
    if isinstance(data, str | PathLike) or (isinstance(data, Sequence) and data):
        return dataset(data)
    raise InvalidArgument(f"data: expected a shard, a dataset or paths of shards, found {shown(data)}")


@dataclass(frozen=True, slots=True)
class QueryExplanation:
    """Who runs the operators of a query, and what its scans do or did.

    Attributes
    ----------
    steps
        The operators in their order, each with who runs it: the scan, DuckDB, or first the one and then the other.
    scans
        What the scans of the tables are going to do or, once the query has run, what they did.
    sql
        What DuckDB runs.

    Examples
    --------
    >>> logs = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> why = amudai.kql("where status >= 600 | summarize count() by level", logs).explain()
    >>> [f"{step.operator}: {step.by}" for step in why.steps]
    ['where: the scan', 'summarize: DuckDB']
    >>> why.scans[0].ruled_out
    400
    """

    steps: tuple[QueryStep, ...]
    scans: tuple[Explanation, ...]
    sql: str

    def to_dict(self) -> dict[str, object]:
        """The explanation as plain Python values."""
        return {
            "steps": [asdict(step) for step in self.steps],
            "scans": [scan.to_dict() for scan in self.scans],
            "sql": self.sql,
        }

    def __str__(self) -> str:
        lines = [f"{step.operator}: {step.by}" for step in self.steps]
        return "\n".join([*lines, *(f"\n{scan}" for scan in self.scans), "", self.sql])


class QueryResult:
    """The rows that a query gives. Made by `kql` and `sql_result`.

    It has the face of a `Scan`: nothing runs until rows are asked for, iterating gives record batches, and any library
    that speaks Arrow reads it. Rows of a query have no positions, and a query cannot be cut into tasks.

    Examples
    --------
    >>> logs = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> found = amudai.kql("where status == 503 | project level, status | take 2", logs)
    >>> found.schema.names
    ['level', 'status']
    >>> [batch.num_rows for batch in found]
    [2]
    """

    def __init__(
        self,
        language: str,
        written: str,
        uses: tuple[TableUse, ...],
        steps: tuple[QueryStep, ...],
        translation: SqlText,
        limits: QueryLimits | None = None,
    ) -> None:
        self._language = language
        self._limits = limits
        self._running: set[Any] = set()
        self._is_cancelled = False
        # A time of KQL has no zone and is in UTC; DuckDB knows few functions for zoned times.
        self._zoned = language != "kql"
        self._written = written
        self._uses = uses
        self._steps = steps
        self._translation = translation
        self._last: list[ArrowDataset | Scan] = []
        with self._connected([_QueryTable.unread(use, zoned=self._zoned) for use in uses]) as connection:
            found = self._relation(connection)
            if language == "kql":
                self._translation = _with_long(translation, found)
                found = self._relation(connection)
            self._schema: pa.Schema = found.limit(0).to_arrow_table().schema

    @property
    def schema(self) -> pa.Schema:
        """The columns of the result and their Arrow types."""
        return self._schema

    def count(self) -> int:
        """Count the rows of the result.

        >>> logs = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> amudai.kql('search "failed" | distinct level', logs).count()
        1
        """
        with self._connected(self._sources()) as connection:
            counted = _made(connection, lambda: self._relation(connection).aggregate("count(*)").fetchall())
            return int(counted[0][0])

    def to_table(self) -> pa.Table:
        """Read all rows into a table."""
        return pa.Table.from_batches(self._batches(), self.schema)

    def to_reader(self) -> pa.RecordBatchReader:
        """Read the rows batch by batch: memory holds a few batches, as far as the operators of the query allow it."""
        return pa.RecordBatchReader.from_batches(self.schema, self._batches())

    def to_pandas(self, **options: Any) -> Any:
        """Read all rows into a pandas `DataFrame`. Needs pandas.

        `options` are those of `pyarrow.Table.to_pandas`, such as `types_mapper`.
        """
        return to_pandas(self.to_table(), options)

    def to_polars(self) -> Any:
        """Read all rows into a polars `DataFrame`. Needs polars."""
        return to_polars(self.to_table())

    def cancel(self) -> None:
        """Stop the query: what runs now, in whatever thread, and what would run later, raises `Cancelled`.

        >>> logs = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> found = amudai.kql("where status >= 500", logs)
        >>> found.cancel()
        >>> found.count()
        Traceback (most recent call last):
        amudai.errors.Cancelled: kql: the query was cancelled
        """
        self._is_cancelled = True
        for connection in tuple(self._running):
            connection.interrupt()

    def explain(self) -> QueryExplanation:
        """Who runs the operators, and what rules rows out; once the query has run, also what was read.

        >>> logs = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> print(amudai.kql('where message contains "fail" | count', logs).explain())  # doctest: +ELLIPSIS
        where: the scan, then DuckDB
        count: DuckDB
        <BLANKLINE>
        col("message").contains("fail")
        ...
        """
        ran = [scan for each in self._last for scan in (each.scans if isinstance(each, ArrowDataset) else (each,))]
        found = ran or [use.table.scan([], use.where, limit=use.limit) for use in self._uses]
        return QueryExplanation(self._steps, tuple(scan.explain() for scan in found), self._translation.sql)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The rows, in record batches."""
        return self._batches()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, for any library that speaks the Arrow PyCapsule protocol."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The schema, for any library that speaks the Arrow PyCapsule protocol."""
        return self.schema.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<amudai.QueryResult of {', '.join(self.schema.names)} by {self._written!r}>"

    def _batches(self) -> Iterator[pa.RecordBatch]:
        with self._connected(self._sources()) as connection:
            reader = _made(connection, lambda: self._relation(connection).to_arrow_reader(_BATCH_ROWS))
            while (batch := _made(connection, lambda: next(reader, None))) is not None:
                yield batch

    def _sources(self) -> list[_QueryTable]:
        found = [_QueryTable.of(use, zoned=self._zoned) for use in self._uses]
        self._last = [source.read for source in found]
        return found

    def _relation(self, connection: Any) -> Any:
        values = self._translation.parameters
        return connection.sql(self._translation.sql, **({"params": values} if values else {}))

    @contextmanager
    def _connected(self, sources: Sequence[_QueryTable]) -> Iterator[Any]:
        """A connection that has the tables; errors of DuckDB become ours."""
        duckdb = required("duckdb", self._language, extra="kql", least=LEAST_DUCKDB)
        with database(self._limits) as opened:
            yield from self._on(_connection(opened, is_utc=self._language == "kql"), sources, duckdb)

    def _on(self, connection: Any, sources: Sequence[_QueryTable], duckdb: Any) -> Iterator[Any]:
        self._running.add(connection)
        try:
            # Asked after the connection is known: whoever cancels from now on interrupts it.
            if self._is_cancelled:
                raise Cancelled(f"{self._language}: the query was cancelled")
            for source in sources:
                connection.register(source.name, source.given())
            yield connection
        except duckdb.Error as error:
            if self._is_cancelled:
                raise Cancelled(f"{self._language}: the query was cancelled") from error
            for source in sources:
                if isinstance(source.read, ArrowDataset) and source.read.failure is not None:
                    raise source.read.failure from error
            raise self._error(duckdb, error) from error
        finally:
            self._running.discard(connection)
            connection.close()

    def _error(self, duckdb: Any, error: Exception) -> AmudaiError:
        said = _first_line(error)
        missing = _MISSING.search(str(error))
        if missing is not None:
            names = sorted({name for use in self._uses for name in use.table.schema.names})
            name = missing[1] or missing[2]
            place = KqlText(self._written).place_of(name)
            return InvalidArgument(
                f"{self._language}: expected one of the columns {', '.join(names)}, found {name}{place}"
            )
        if isinstance(error, duckdb.OutOfMemoryException):
            return LimitExceeded(f"{self._language}: {said}")
        return InvalidArgument(f"{self._language}: expected a query that DuckDB can run, found: {said}")


@dataclass(frozen=True, slots=True)
class _QueryTable:
    """A table of one run of a query: its name, what reads it, and the column of its count, if only that is asked."""

    name: str
    read: ArrowDataset | Scan
    count: str | None
    is_run: bool

    @classmethod
    def of(cls, use: TableUse, *, zoned: bool) -> _QueryTable:
        if use.count is not None:
            return cls(use.name, use.table.scan([], use.where), use.count, True)
        return cls(use.name, ArrowDataset(use.table, use.where, use.limit, zoned=zoned), None, True)

    @classmethod
    def unread(cls, use: TableUse, *, zoned: bool) -> _QueryTable:
        """A table of which only the columns matter."""
        return cls(use.name, cls.of(use, zoned=zoned).read, use.count, False)

    def given(self) -> Any:
        """What DuckDB gets."""
        if isinstance(self.read, ArrowDataset):
            return self.read
        return pa.table({str(self.count): pa.array([self.read.count() if self.is_run else 0], pa.int64())})


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]


def _with_long(translation: SqlText, relation: Any) -> SqlText:
    """The sums of whole numbers as such: DuckDB has them as numbers of 128 bits, Arrow would have decimals."""
    wide = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "HUGEINT"]
    if not wide:
        return translation
    quoted = ['"' + name.replace('"', '""') + '"' for name in wide]
    casts = ", ".join(f"CAST({name} AS BIGINT) AS {name}" for name in quoted)
    return SqlText(f"SELECT * REPLACE ({casts}) FROM ({translation.sql})", translation.parameters)


def _connection(opened: Any, *, is_utc: bool) -> Any:
    """A connection to a database that is open."""
    found = opened.cursor()
    if is_utc:  # times of KQL are in UTC
        found.execute("SET TimeZone = 'UTC'")
    return found


def _made(connection: Any, call: Callable[[], R]) -> R:
    """Make a call of DuckDB that may take long. DuckDB does not see Ctrl-C, which only the main thread gets.

    So the main thread lets another one make the call, and interrupts it.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    made = _CALLS.submit(call)
    try:
        return made.result()
    except KeyboardInterrupt:
        connection.interrupt()
        wait([made])
        raise


def _value_of(translation: SqlText | None) -> Any:
    """The value that a query for one value gives; None if it has none."""
    if translation is None:
        return None
    duckdb = required("duckdb", "kql", extra="kql", least=LEAST_DUCKDB)
    with database(None) as opened, suppress(duckdb.Error):
        connection = _connection(opened, is_utc=True)
        return connection.execute(translation.sql, translation.parameters or None).fetchall()[0][0]
    return None
