"""An open shard: its columns, rows and facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy.typing as npt
import pyarrow as pa

from amudai.api.display import shard_text
from amudai.api.field import Field
from amudai.api.internal_fields import InternalFields
from amudai.api.progress import Report, reporting
from amudai.api.scan import Scan
from amudai.api.stripe import Stripe
from amudai.api.tabular import Tabular
from amudai.api.where import Where, request_of
from amudai.arguments import flag, names, sequence, whole_number
from amudai.arrow import ArrowFields, number_array, reordered
from amudai.errors import InvalidArgument
from amudai.format import python_values
from amudai.inspect import (
    Depth,
    Index,
    ShardFile,
    ShardLayout,
    counted,
    creation_times,
    file_sizes,
    files_of,
    indexes_of,
    inspect_shard,
    user_properties,
)
from amudai.lazy import lazy
from amudai.plan import ScanRequest, ShardPlan
from amudai.rows import row_range, row_ranges
from amudai.scan import ScanRun
from amudai.shard import PortableShard, ShardReader, pack_footer
from amudai.storage import Requests
from amudai.threads import thread_count
from amudai.types import NodePath

if TYPE_CHECKING:
    from amudai.inspect import Verification
    from amudai.plan import ShardIndexes

__all__ = ["Shard"]


class Shard(Tabular):
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
        """The URL of the shard's root file."""
        return self._reader.url

    @property
    def footer(self) -> bytes:
        """The end of the root file, with all metadata in it: `amudai.open(url, footer=...)` then needs no request.

        Keep it anywhere. It holds no secret. If the shard was overwritten since, reading it raises `ReplacedFile`.
        File systems of fsspec and pyarrow do not tell one file from another: there the end is read as always.

        >>> footer = amudai.open("tests/fixtures/sample.amudai.shard").footer
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard", footer=footer)
        >>> shard.num_rows, shard.requests.requests
        (400, 0)
        """
        return pack_footer(self._reader.stored, self._reader.tail())

    @property
    def schema(self) -> pa.Schema:
        """The columns and their Arrow types."""
        return self._fields.schema

    @property
    def num_rows(self) -> int:
        """How many rows the shard has. Deleted rows do not count.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").num_rows
        400
        """
        return self._reader.num_rows

    @property
    def num_positions(self) -> int:
        """How many positions rows have: `take` and `rows` count from 0 up to this number, exclusive.

        Deleting rows does not renumber the others, so there are as many positions as rows were written.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").num_positions
        400
        """
        return self._reader.num_positions

    @property
    def columns(self) -> tuple[Field, ...]:
        """All columns, with their types, statistics and encodings.

        >>> [field.name for field in amudai.open("tests/fixtures/sample.amudai.shard").columns]
        ['ts', 'level', 'status', 'message', 'http']
        """
        return tuple(Field(self._reader, self._fields, (node,), self._threads) for node in self._fields.visible())

    @property
    def stripes(self) -> tuple[Stripe, ...]:
        """The stripes of the shard: runs of rows that are stored together."""
        return tuple(
            Stripe(stripe.ordinal, stripe.first_row, stripe.num_rows, stripe.num_positions, stripe, self.__getitem__)
            for stripe in self._reader.stripes
        )

    @property
    def properties(self) -> dict[str, object]:
        """The properties that were given to the shard when it was written.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").properties
        {'owner': 'ops'}
        """
        return user_properties(self._reader)

    @property
    def standard_properties(self) -> dict[str, object]:
        """The properties whose names the format reserves, as another writer stored them. This library writes none.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").standard_properties
        {}
        """
        return python_values(self._reader.properties.standard)

    @property
    def created(self) -> tuple[datetime, datetime] | None:
        """When the shard was created, in UTC: the earliest and the latest time. None if its writer did not say.

        The two differ only in a shard that was merged from others. Times are whole microseconds.

        >>> from datetime import UTC, datetime
        >>> when = datetime(2026, 1, 1, tzinfo=UTC)
        >>> shard = amudai.write({"n": [1]}, "n.amudai.shard", overwrite=True, created=when)
        >>> shard.created == (when, when)
        True
        """
        return creation_times(self._reader)

    @property
    def internal(self) -> InternalFields:
        """The internal fields of the shard by their role, such as `IngestionTimestamp`.

        They are not part of `schema`. In `columns=` and in predicates, `@` and the role name them:
        `amudai.col("@IngestionTimestamp")`.

        >>> from datetime import UTC, datetime
        >>> when = datetime(2026, 1, 1, tzinfo=UTC)
        >>> shard = amudai.write({"n": [1, 2]}, "n.amudai.shard", overwrite=True, ingestion_time=when)
        >>> shard.schema.names, list(shard.internal)
        (['n'], ['Kusto.Amudai.IngestionTimestamp'])
        >>> shard.internal["IngestionTimestamp"].read().to_pylist()
        [Timestamp('2026-01-01 00:00:00+0000', tz='UTC'), Timestamp('2026-01-01 00:00:00+0000', tz='UTC')]
        >>> shard.scan(where="`@IngestionTimestamp` >= datetime(2026-02-01T00:00Z)").count()
        0
        """
        return InternalFields(self._reader, self._fields, self._threads)

    @property
    def size(self) -> int:
        """How many bytes all files of the shard have together: its root, stripes and indexes.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").size
        14075
        """
        return sum(file_sizes(self._reader).values())

    @property
    def files(self) -> tuple[ShardFile, ...]:
        """Every file that the shard needs: its root file, stripes and indexes, and the files of other shards.

        >>> [file.kind for file in amudai.open("tests/fixtures/sample.amudai.shard").files]
        ['root']
        """
        return files_of(self._reader)

    @property
    def indexes(self) -> tuple[Index, ...]:
        """The indexes that the shard carries: their types, columns and sizes."""
        return indexes_of(self._reader)

    @property
    def requests(self) -> Requests:
        """How many requests were made to storage since the shard was opened, and how many bytes they read."""
        return self._reader.store.counters

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        rows: slice | range | None = None,
        *,
        limit: int | None = None,
        batch_rows: int | None = None,
        threads: int | None = None,
        on_damaged_index: Literal["raise", "ignore"] = "raise",
        include_deleted: bool = False,
    ) -> Scan:
        """Find rows.

        Statistics, Bloom filters, the range index and the indexes that the shard carries rule rows out before any
        value is read. The answer is always the same as that of reading everything.

        Parameters
        ----------
        columns
            Names of the columns to return, in this order; None for all. A dot leads into a struct (`"http.status"`):
            the struct is returned with only the members that were named. Backticks quote a name that contains dots.
        where
            A predicate made with `amudai.col`, a condition in text such as `"status >= 500 and message has 'timeout'"`
            (see `docs/where.md`), or an expression of `pyarrow.compute`; None for all rows. It is checked here: a
            missing column, or a comparison that its type does not allow, is an error.
        rows
            The positions to look at: a slice or range with step 1; None for all.
        limit
            The most rows to return, counted from the first match; None for no limit.
        batch_rows
            The most rows of a batch when the scan is iterated or made into a reader. A batch may have fewer: batches
            do not cross stripes, and rows that do not match leave gaps.
        threads
            How many threads read; None for the number that the shard was opened with.
        on_damaged_index
            `"raise"` makes a damaged index an error. `"ignore"` warns and reads the values instead.
        include_deleted
            Whether to return deleted rows as if they were not deleted. This is for tools that look into shards.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> c = amudai.col
        >>> scan = shard.scan(["message"], where=c("message").has("failed") & (c("status") >= 500))
        >>> scan.count()
        7
        >>> shard.scan(where="message has 'failed' and status >= 500", rows=slice(0, 200)).count()
        4
        """
        request = request_of(
            columns,
            where,
            limit=limit,
            batch_rows=batch_rows,
            on_damaged_index=on_damaged_index,
            include_deleted=include_deleted,
        )
        return self._scan(request, rows, threads)

    def _scan(self, request: ScanRequest, rows: slice | range | None, threads: int | None) -> Scan:
        return Scan(self._run(request, rows, threads), partial(self._scan, request, rows, threads))

    def _run(self, request: ScanRequest, rows: slice | range | None = None, threads: int | None = None) -> ScanRun:
        found = row_range(rows, self._reader.origin)
        plan = ShardPlan(self._reader, self._fields, request, found, indexes=lambda: self._indexes)
        return ScanRun(plan, self._pool(threads))

    @lazy
    def _indexes(self) -> ShardIndexes:
        """The indexes, whose readers all scans of this shard share."""
        from amudai.plan import ShardIndexes  # with all that opens indexes, which reading columns does not need

        return ShardIndexes(self._reader)

    def take(
        self,
        rows: Sequence[int] | pa.Array | npt.NDArray[Any],
        columns: Sequence[str] | None = None,
        *,
        threads: int | None = None,
        include_deleted: bool = False,
    ) -> pa.Table:
        """Read single rows by position, in the order asked for.

        Only the blocks that hold these rows are read, so a few rows of a large shard cost a few requests.

        Parameters
        ----------
        rows
            Positions from 0. A position may repeat; negative ones are not accepted. The position of a deleted row is
            an error, unless `include_deleted` says otherwise.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.take([7, 0, 7], columns=["status"]).to_pydict()
        {'status': [500, 200, 500]}
        >>> shard.take([400])
        Traceback (most recent call last):
        amudai.errors.InvalidArgument: rows: expected 0..399, found 400
        """
        found, order = row_ranges(rows, self._reader.origin)
        request = request_of(columns, include_deleted=include_deleted)
        plan = ShardPlan(self._reader, self._fields, request, found)
        if plan.hidden:
            gone = int(found.subtract(plan.positions.yes).starts[0])
            raise InvalidArgument(f"rows: expected rows that are not deleted, found {gone}", url=self.url)
        table = ScanRun(plan, self._pool(threads)).table()
        if order is None:
            return table
        return reordered(table, number_array(order))

    def lookup(
        self,
        column: str,
        keys: Sequence[Any] | pa.Array | pa.ChunkedArray,
        *,
        threads: int | None = None,
        on_damaged_index: Literal["raise", "ignore"] = "raise",
    ) -> pa.LargeListArray:
        """Find the rows of many values at once, for joins and for finding duplicates.

        A hash index of the column is read at most once, however many keys there are, and leaves only rows that may
        match. Without one, all values of the column are read once.

        Parameters
        ----------
        column
            The name or path of a column with one value for each row: texts, bytes, numbers, times, decimals, booleans.
        keys
            Values to look for, which convert to the type of the column. A null or NaN equals no value.
        threads, on_damaged_index
            As `scan` takes them.

        Returns
        -------
        positions
            A list of positions for each key, in the order of the keys. Positions ascend; deleted rows are left out.

        Examples
        --------
        >>> rows = {"id": ["a", "b", "a", "c"]}
        >>> shard = amudai.write(rows, "ids.amudai.shard", indexes=[amudai.HashIndex("id")], overwrite=True)
        >>> shard.lookup("id", ["a", "z", "c"]).to_pylist()
        [[0, 2], [], [3]]
        """
        from amudai.api.looking_up import positions_of  # opens indexes, which few need

        pool = self._pool(threads)
        return positions_of(self._reader, self._fields, column, keys, pool, on_damaged_index)

    def inspect(
        self,
        columns: Sequence[str] | None = None,
        *,
        stripes: Sequence[int] | None = None,
        encodings: bool = False,
        blocks: bool = False,
    ) -> ShardLayout:
        """How the shard is laid out: its files, stripes, fields, buffers and indexes, with their sizes.

        This reads metadata only, unless encodings or blocks are asked for. A field that is damaged does not hide the
        others: its `problem` says why it cannot be read.

        Parameters
        ----------
        columns
            Names or paths of the fields to describe; None for all that are stored, internal ones included.
        stripes
            The numbers of the stripes to describe; None for all.
        encodings
            Whether to tell how many blocks use each cascade of encodings. This reads the blocks.
        blocks
            Whether to list the blocks of each buffer. This reads the blocks, and tells the encodings as well.

        Examples
        --------
        >>> layout = amudai.open("tests/fixtures/sample.amudai.shard").inspect(["status", "message"], encodings=True)
        >>> {field.name: (field.bytes, field.encodings) for field in layout.fields}
        {'status': (2608, {'ffor': 2}), 'message': (3120, {'lz4(ffor)': 1})}
        """
        if columns is None:
            paths: list[NodePath] = [(node,) for node in self._reader.schema.fields()]
        else:
            paths = [self._fields.find(name) for name in names(columns, "columns")]
        readers = self._reader.stripes
        ordinals = None if stripes is None else [whole_number(each, "stripes") for each in sequence(stripes, "stripes")]
        for ordinal in ordinals or ():
            if ordinal >= len(readers):
                message = f"stripes: expected 0..{len(readers) - 1}, found {ordinal}"
                raise InvalidArgument(message, url=self.url)
        chosen = readers if ordinals is None else [readers[ordinal] for ordinal in ordinals]
        depth: Depth = (
            "blocks" if flag(blocks, "blocks") else "encodings" if flag(encodings, "encodings") else "buffers"
        )
        return inspect_shard(self._reader, paths, chosen, depth)

    def verify(self, *, deep: bool = False, progress: bool | Report | None = None) -> Verification:
        """Read every byte, compare every checksum and decode every value. Problems are reported, not raised.

        This proves that the shard is what its writer wrote. With `deep` it also proves that what the writer noted about
        the values is true: statistics, sketches, Bloom filters, range, term and hash indexes are computed again from
        the values and compared, and so are the values of columns that are stored twice. This takes about as long as
        writing the shard and its indexes.

        `progress` is as for `amudai.write`.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").verify(deep=True).ok
        True
        """
        from amudai.inspect import verify_shard  # readers do not need it

        with reporting(progress, self.num_positions) as report:
            return verify_shard(self._reader, report, deep=flag(deep, "deep"), threads=self._threads)

    def tree(self, *, fields: int = 50) -> str:
        """The shard as text: stripes, indexes, and the type, size, encodings and statistics of the first columns.

        `fields` is how many columns are shown.

        >>> print(amudai.open("tests/fixtures/sample.amudai.shard").tree(fields=1))  # doctest: +ELLIPSIS
        sample.amudai.shard: 400 rows, 1 stripe, root file 14.1 kB
        ├─ stripe 0: rows 0..400
        ├─ ts  datetime  ...
        └─ and 4 more columns
        """
        return shard_text(self, whole_number(fields, "fields"))

    def __getitem__(self, column: str) -> Field:
        """One column, by name or path: its type, statistics and encodings."""
        return Field(self._reader, self._fields, self._fields.find(column), self._threads)

    def __repr__(self) -> str:
        rows, stripes = counted(self.num_rows, "row"), counted(self._reader.directory.stripe_count, "stripe")
        return f"<amudai.Shard {self.url}: {rows}, {stripes}>"

    def __str__(self) -> str:
        return self.tree()

    def _repr_html_(self) -> str:
        from amudai.api.notebook import shard_html  # only notebooks ask for it

        return shard_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the shard again. The pickle holds no open file and no secret."""
        return _opened_again, (self._reader.portable(), self._fields.wanted, self._threads)

    def close(self) -> None:
        """Close the shard's files. Tables that were read stay valid."""
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _pool(self, threads: int | None) -> int:
        return self._threads if threads is None else thread_count(threads)


def _opened_again(
    portable: PortableShard, wanted: tuple[tuple[str, pa.DataType], ...] | pa.Schema, threads: int
) -> Shard:
    schema = wanted if isinstance(wanted, pa.Schema) else dict(wanted)
    return Shard(ShardReader.of_portable(portable), schema or None, threads)
