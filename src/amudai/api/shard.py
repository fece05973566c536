"""What does a user see of a shard?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self

import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from amudai.api.display import counted, shard_text
from amudai.api.field import Field
from amudai.api.index import Index, indexes_of
from amudai.api.notebook import shard_html
from amudai.api.progress import Report
from amudai.api.scan import Scan
from amudai.api.stripe import Stripe
from amudai.api.verify import Verification, verify_shard
from amudai.arrow import SCHEMA_PROPERTY, ArrowFields
from amudai.errors import InvalidArgument
from amudai.format import FILES_PROPERTY, python_values
from amudai.rows import row_range, row_ranges
from amudai.scan import (
    EVERYTHING,
    Predicate,
    Search,
    Selected,
    bind,
    find,
    from_expression,
    parse_where,
    read_batches,
    read_table,
    select,
    thread_count,
)
from amudai.shard import ShardReader
from amudai.storage import Requests

__all__ = ["Shard"]


class Shard:
    """An open shard: an immutable table with statistics and indexes. Made by `amudai.open`.

    Nothing is read before it is asked for. A shard may be used from several threads.

    Examples
    --------
    >>> with amudai.open("tests/fixtures/sample.amudai.shard") as shard:
    ...     shard.schema.names
    ['ts', 'level', 'status', 'message', 'http']
    """

    def __init__(
        self,
        reader: ShardReader,
        schema: Mapping[str, pa.DataType] | pa.Schema | None = None,
        threads: int | None = None,
    ) -> None:
        self._reader = reader
        self._fields = ArrowFields(reader, schema)
        self._threads = thread_count(threads)

    @property
    def url(self) -> str:
        """Where the shard lives."""
        return self._reader.url

    @property
    def schema(self) -> pa.Schema:
        """The columns and their Arrow types."""
        return self._fields.schema

    @property
    def num_rows(self) -> int:
        """Rows of the shard."""
        return self._reader.num_rows

    @property
    def stripes(self) -> tuple[Stripe, ...]:
        """The horizontal pieces of the shard."""
        return tuple(
            Stripe(stripe.ordinal, stripe.first_row, stripe.num_rows, stripe) for stripe in self._reader.stripes
        )

    @property
    def properties(self) -> dict[str, object]:
        """What was noted about the shard when it was written.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").properties
        {'owner': 'ops'}
        """
        found = self._reader.properties
        bag = python_values((*found.custom, *found.standard))
        for name in (SCHEMA_PROPERTY, FILES_PROPERTY):  # not the user's: what the library notes for itself
            bag.pop(name, None)
        return bag

    @property
    def size(self) -> int:
        """Bytes of all its files: the root, those of stripes and of indexes.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").size
        14075
        """
        reader = self._reader
        others = {reader.artifact(url, reader.root).url for url in reader.urls} - {reader.url}
        return reader.root.size + sum(reader.artifact(url, reader.root).size for url in sorted(others))

    @property
    def indexes(self) -> tuple[Index, ...]:
        """The indexes that the shard carries: their types, columns and sizes."""
        return indexes_of(self._reader)

    @property
    def requests(self) -> Requests:
        """What was asked of storage since the shard was opened: requests and bytes."""
        return self._reader.store.counters

    def read(
        self, columns: Sequence[str] | None = None, rows: slice | range | None = None, *, threads: int | None = None
    ) -> pa.Table:
        """Read columns into memory.

        Parameters
        ----------
        columns
            Names in the order wanted; None for all. A dot leads into a struct (`"http.status"`) and keeps it, with the
            members that were named; backticks keep a name with dots whole.
        rows
            A slice or range with step 1; None for all.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.read(["http.status"], rows=slice(0, 2)).to_pylist()
        [{'http': {'status': 200}}, {'http': {'status': 200}}]
        """
        chosen, schema = self._select(columns)
        return read_table(self._reader, chosen, schema, row_range(rows, self._reader.origin), self._pool(threads))

    def batches(
        self,
        columns: Sequence[str] | None = None,
        rows: slice | range | None = None,
        *,
        batch_rows: int = 1 << 17,
        threads: int | None = None,
    ) -> pa.RecordBatchReader:
        """Read columns batch by batch: memory holds a few batches, however large the shard is.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> [batch.num_rows for batch in shard.batches(batch_rows=150)]
        [150, 150, 100]
        """
        if batch_rows < 1:
            raise InvalidArgument(f"batch_rows: expected at least 1, found {batch_rows}")
        chosen, schema = self._select(columns)
        found = row_range(rows, self._reader.origin)
        batches = read_batches(self._reader, chosen, schema, found, batch_rows, self._pool(threads))
        return pa.RecordBatchReader.from_batches(schema, batches)

    def take(
        self,
        rows: Sequence[int] | pa.Array | npt.NDArray[Any],
        columns: Sequence[str] | None = None,
        *,
        threads: int | None = None,
    ) -> pa.Table:
        """Read single rows by position, in the order asked for.

        Only the blocks that hold these rows are read, so a few rows of a large shard cost a few requests.

        Parameters
        ----------
        rows
            Positions from 0. A position may repeat; negative ones are not accepted.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.take([7, 0, 7], columns=["status"]).to_pydict()
        {'status': [500, 200, 500]}
        >>> shard.take([400])
        Traceback (most recent call last):
        amudai.errors.InvalidArgument: rows: expected 0..399, found 400
        """
        chosen, schema = self._select(columns)
        found, order = row_ranges(rows, self._reader.origin)
        table = read_table(self._reader, chosen, schema, found, self._pool(threads))
        if order is None:
            return table
        # Not by `pa.array`: it would import pandas.
        return _reordered(table, pa.Array.from_buffers(pa.int64(), len(order), [None, pa.py_buffer(order)]))

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Predicate | Any = None,
        *,
        limit: int | None = None,
        threads: int | None = None,
        on_damaged_index: Literal["raise", "ignore"] = "raise",
    ) -> Scan:
        """Find rows.

        Statistics, Bloom filters, the range index and the indexes that the shard carries rule rows out before any
        value is read. The answer is the same as that of reading everything.

        Parameters
        ----------
        columns
            As for `read`.
        where
            A predicate made with `amudai.col`, a text such as `"status >= 500 and message has 'timeout'"` (see
            `docs/where.md`), or an expression of `pyarrow.compute`; None for all rows. It is checked here: a column
            that is not there or cannot be compared so is an error.
        limit
            How many rows at most, from the first one on.
        on_damaged_index
            Whether an index that is damaged is an error, or a warning, and the values are read instead.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> c = amudai.col
        >>> scan = shard.scan(["message"], where=c("message").has("failed") & (c("status") >= 500))
        >>> scan.count()
        7
        >>> shard.scan(where="message has 'failed' and status >= 500").count()
        7
        """
        if limit is not None and limit < 0:
            raise InvalidArgument(f"limit: expected at least 0, found {limit}")
        if on_damaged_index not in ("raise", "ignore"):
            raise InvalidArgument(f"on_damaged_index: expected raise or ignore, found {on_damaged_index!r}")
        chosen = None if columns is None else self._select(columns)  # a wrong name is said now
        search = Search(
            self._reader,
            self._fields,
            bind(_predicate(where), self._reader, self._fields),
            lambda: self._select(None) if chosen is None else chosen,
            limit=limit,
            threads=self._pool(threads),
            on_damage=on_damaged_index,
        )
        return Scan(search)

    def head(self, count: int = 10, columns: Sequence[str] | None = None) -> pa.Table:
        """The first rows.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").head(2, ["status"]).to_pydict()
        {'status': [200, 200]}
        """
        if count < 0:
            raise InvalidArgument(f"count: expected at least 0, found {count}")
        return self.read(columns, slice(0, count))

    def verify(self, *, progress: bool | Report | None = None) -> Verification:
        """Read every byte, compare every checksum, decode every value; report what is wrong instead of raising.

        `progress` is as for `amudai.write`.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").verify().ok
        True
        """
        return verify_shard(self._reader, progress)

    def tree(self, *, fields: int = 50) -> str:
        """A picture of the shard in text: stripes, and for up to `fields` columns type, size, encodings, statistics."""
        return shard_text(self, fields)

    def __getitem__(self, column: str) -> Field:
        """One column, by name or path: its type, statistics and encodings."""
        return Field(self._reader, self._fields, find(self._reader, column))

    def __iter__(self) -> Iterator[Field]:
        """All columns."""
        for node in self._fields.visible():
            yield Field(self._reader, self._fields, (node,))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All rows, for whoever speaks the Arrow PyCapsule protocol: polars, duckdb, pandas."""
        return self.batches().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self.num_rows

    def __repr__(self) -> str:
        directory = self._reader.directory
        rows, stripes = counted(directory.total_records, "row"), counted(directory.stripe_count, "stripe")
        return f"<amudai.Shard {self.url}: {rows}, {stripes}>"

    def __str__(self) -> str:
        return self.tree()

    def _repr_html_(self) -> str:
        return shard_html(self)

    def close(self) -> None:
        """Let go of the shard's files. Tables that were read stay as they are."""
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _select(self, columns: Sequence[str] | None) -> tuple[tuple[Selected, ...], pa.Schema]:
        chosen = select(self._reader, self._fields, columns)
        if columns is None:
            return chosen, self.schema
        return chosen, pa.schema([column.field for column in chosen])

    def _pool(self, threads: int | None) -> int:
        return self._threads if threads is None else thread_count(threads)


def _predicate(where: Any) -> Predicate:
    if where is None:
        return EVERYTHING
    if isinstance(where, str):
        return parse_where(where)
    if isinstance(where, pc.Expression):
        return from_expression(where)
    return where  # type: ignore[no-any-return]  # `bind` says what it is where it is no predicate


def _reordered(table: pa.Table, order: pa.Array) -> pa.Table:
    try:
        return table.take(order)
    except pa.ArrowNotImplementedError:
        return pa.Table.from_arrays([_picked(column, order) for column in table.columns], schema=table.schema)


def _picked(column: pa.ChunkedArray, order: pa.Array) -> pa.ChunkedArray:
    try:
        return column.take(order)
    except pa.ArrowNotImplementedError:
        # Arrow takes neither views nor run-end encoded values: rows are cut out one by one and joined.
        whole = column.combine_chunks()
        return pa.chunked_array([pa.concat_arrays([whole.slice(at, 1) for at in order.to_pylist()])], column.type)
