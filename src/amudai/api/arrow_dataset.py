"""Shards and datasets as `pyarrow.dataset.Dataset`, which DuckDB, DataFusion and other engines read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from amudai.api.scan import Scan
from amudai.api.task import Task
from amudai.arguments import shown
from amudai.arrow import conformed, without_rows
from amudai.errors import AmudaiError, InvalidArgument, UnsupportedFeature
from amudai.predicate import EVERYTHING, Predicate, expression_columns, from_conjunction
from amudai.types import parse_path, quote_name

if TYPE_CHECKING:
    from amudai.api.tabular import Tabular

__all__ = ["ArrowDataset", "ArrowScanner", "ArrowTask", "plain_type"]

# Rows of a fragment: engines that ask for fragments read them side by side.
_FRAGMENT_ROWS: Final = 1 << 20
_MOST_FRAGMENTS: Final = 64


class ArrowDataset(pa.dataset.Dataset):  # type: ignore[misc]
    """The rows of a shard or dataset, as pyarrow's kind of dataset. Made by `to_pyarrow_dataset`.

    It is a subclass of `pyarrow.dataset.Dataset`, because engines check for that. Reading goes through amudai:
    `scanner`, `to_table`, `to_batches`, `head`, `take`, `count_rows` and `get_fragments`. What pyarrow would run in its
    own engine (`join`, `sort_by`, `filter`, `replace_schema`) raises `UnsupportedFeature`, and the dataset must not be
    given to `pyarrow.acero`, which expects datasets of pyarrow's own.

    Parameters
    ----------
    where
        A predicate that all rows must match, besides the filter of a reader.
    limit
        How many rows a reader without a filter gets at most; None for all.
    zoned
        Whether times keep their zone. If not, they are times of UTC without a zone.
    coded
        Whether columns with dictionaries keep them. If not, they are columns of their values.
    """

    def __init__(
        self,
        source: Tabular,
        where: Predicate | None = None,
        limit: int | None = None,
        *,
        zoned: bool = True,
        coded: bool = True,
    ) -> None:
        self._source = source
        self._where = where
        self._limit = limit
        self._zoned = zoned
        self._coded = coded
        self._failure: AmudaiError | None = None
        self._schema = pa.schema(
            [field.with_type(plain_type(field.type, zoned=zoned, coded=coded)) for field in source.schema],
            metadata=source.schema.metadata,
        )
        self._scans: list[Scan] = []

    @property
    def schema(self) -> pa.Schema:
        """The columns. Views are given out as plain strings, because DuckDB pushes nothing down to views."""
        return self._schema

    @property
    def partition_expression(self) -> pc.Expression:
        """A condition that all rows match: always true."""
        return pc.scalar(True)

    @property
    def scans(self) -> tuple[Scan, ...]:
        """The scans that readers have asked for so far. Their `explain` says what was pushed down."""
        return tuple(self._scans)

    @property
    def failure(self) -> AmudaiError | None:
        """The error that ended a reader, which engines hand on only as text; None if there was none."""
        return self._failure

    def scanner(
        self,
        columns: Sequence[str] | Mapping[str, pc.Expression] | None = None,
        filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's name
        batch_size: int | None = None,
        **options: Any,  # noqa: ARG002 - hints of pyarrow about threads, memory and file formats
    ) -> ArrowScanner:
        """The rows that match `filter`, with these columns, to be read."""
        return ArrowScanner(self, columns, filter, batch_size, None)

    def to_table(self, columns: Any = None, filter: Any = None, **options: Any) -> pa.Table:  # noqa: A002
        """The rows that match `filter`, in memory."""
        return self.scanner(columns, filter, **options).to_table()

    def to_batches(self, columns: Any = None, filter: Any = None, **options: Any) -> Iterator[pa.RecordBatch]:  # noqa: A002
        """The rows that match `filter`, batch by batch."""
        return self.scanner(columns, filter, **options).to_batches()

    def head(self, num_rows: int, columns: Any = None, filter: Any = None, **options: Any) -> pa.Table:  # noqa: A002
        """The first rows that match `filter`."""
        return self.scanner(columns, filter, **options).head(num_rows)

    def count_rows(self, filter: Any = None, **options: Any) -> int:  # noqa: A002
        """How many rows match `filter`."""
        return self.scanner([], filter, **options).count_rows()

    def take(self, indices: Any, columns: Any = None, filter: Any = None, **options: Any) -> pa.Table:  # noqa: A002
        """The rows with these numbers among the rows that match `filter`."""
        return self.scanner(columns, filter, **options).take(indices)

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[ArrowFragment]:  # noqa: A002, ARG002
        """Parts of the rows, which can be read side by side. A filter is for the scanner of each fragment."""
        count = self._source.num_positions
        size = max(_FRAGMENT_ROWS, -(-count // _MOST_FRAGMENTS))
        for start in range(0, max(count, 1), size):
            yield ArrowFragment(self, range(start, min(count, start + size)))

    def tasks(
        self,
        columns: Sequence[str] | None = None,
        filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's name
        count: int | None = None,
    ) -> list[ArrowTask]:
        """Parts of the rows that match `filter`, about `count`, for other processes to read."""
        wanted = self._schema.names if columns is None else list(columns)
        scan, read, is_exact = self._scan(wanted, filter, None, None)
        schema = pa.schema([self._schema.field(name) for name in read])
        return [ArrowTask(task, schema, tuple(wanted), None if is_exact else filter) for task in scan.tasks(count)]

    def filter(self, expression: Any) -> NoReturn:  # noqa: ARG002
        """Not supported: pass the filter to the method that reads."""
        raise _unsupported("filter", "pass filter= to the method that reads")

    def replace_schema(self, schema: Any) -> NoReturn:  # noqa: ARG002
        """Not supported: open the shard with `schema=`."""
        raise _unsupported("replace_schema", "open the shard with schema=")

    def sort_by(self, sorting: Any, **options: Any) -> NoReturn:  # noqa: ARG002
        """Not supported: sort the table."""
        raise _unsupported("sort_by", "call to_table() first")

    def join(self, right_dataset: Any, keys: Any, *others: Any, **options: Any) -> NoReturn:  # noqa: ARG002
        """Not supported: join tables."""
        raise _unsupported("join", "call to_table() first")

    def join_asof(self, right_dataset: Any, *others: Any, **options: Any) -> NoReturn:  # noqa: ARG002
        """Not supported: join tables."""
        raise _unsupported("join_asof", "call to_table() first")

    def _get_fragments(self, filter: Any) -> Iterator[ArrowFragment]:  # noqa: A002
        return self.get_fragments(filter)

    def _scan_options(self, options: Any) -> NoReturn:  # noqa: ARG002
        raise _unsupported("a scan by pyarrow itself", "use scanner()")

    def _scanner_options(self, options: Any) -> NoReturn:  # noqa: ARG002
        raise _unsupported("a scan by pyarrow itself", "use scanner()")

    def __reduce__(self) -> tuple[Any, ...]:
        return _dataset_of, (self._source, self._where, self._limit, self._zoned, self._coded)

    def __repr__(self) -> str:
        return f"<amudai.ArrowDataset of {self._source!r}>"

    def _type_of(self, path: str) -> pa.DataType | None:
        """The type of the column at a path, for comparisons with literals."""
        kind: pa.DataType | None = None
        steps = parse_path(path)
        at = self._schema.get_field_index(steps[0])
        if at < 0:
            return None
        kind = self._schema.field(at).type
        for step in steps[1:]:
            if not pa.types.is_struct(kind) or kind.get_field_index(step) < 0:
                return None
            kind = kind.field(step).type
        return kind

    def _scan(
        self, columns: Sequence[str], expression: pc.Expression | None, batch_size: int | None, rows: range | None
    ) -> tuple[Scan, list[str], bool]:
        """A scan of rows that may match, its columns, and whether the rows are exactly those that match.

        If they are not, the scan has the columns that `expression` uses as well.
        """
        if expression is None:
            return self._noted(columns, self._where, batch_size, rows, self._limit), list(columns), True
        wanted, is_exact = from_conjunction(expression, self._type_of)
        where = wanted if self._where is None else wanted & self._where
        if is_exact:
            try:
                return self._noted(columns, where, batch_size, rows), list(columns), True
            except AmudaiError:
                # A scan compares only what has the same type. Pyarrow may know more, or raises an error of its own.
                where = self._where or EVERYTHING
        used = expression_columns(expression)
        read = [name for name in self._schema.names if used is None or name in used or name in columns]
        try:
            return self._noted(read, where, batch_size, rows), read, False
        except AmudaiError:
            return self._noted(read, self._where, batch_size, rows), read, False

    def _noted(
        self,
        columns: Sequence[str],
        where: Predicate | None,
        batch_size: int | None,
        rows: range | None,
        limit: int | None = None,
    ) -> Scan:
        names = [quote_name(name) for name in columns]
        scan = self._source.scan(names, where, rows, limit=limit, batch_rows=batch_size)
        self._scans.append(scan)
        return scan


def _dataset_of(source: Tabular, where: Predicate | None, limit: int | None, zoned: bool, coded: bool) -> ArrowDataset:
    return ArrowDataset(source, where, limit, zoned=zoned, coded=coded)


@dataclass(frozen=True, slots=True, eq=False)
class ArrowTask:
    """Some rows of an `ArrowDataset` that match a filter. It pickles, and any process can read it.

    Attributes
    ----------
    schema
        The columns that the task reads.
    columns
        The names of the columns of the result.
    filter
        What pyarrow evaluates on the rows of the task; None if the task has exactly the rows that match.
    """

    task: Task
    schema: pa.Schema
    columns: tuple[str, ...]
    filter: pc.Expression | None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self.task:
            batch = _conformed(batch, self.schema)
            if self.filter is not None:
                batch = batch.filter(self.filter)
            if len(self.columns) < len(self.schema):
                batch = batch.select(list(self.columns))
            yield batch


class ArrowFragment:
    """Some rows of an `ArrowDataset`."""

    def __init__(self, dataset: ArrowDataset, rows: range) -> None:
        self._dataset = dataset
        self._rows = rows

    @property
    def physical_schema(self) -> pa.Schema:
        """The columns."""
        return self._dataset.schema

    @property
    def partition_expression(self) -> pc.Expression:
        """A condition that all rows match: always true."""
        return pc.scalar(True)

    def scanner(
        self,
        schema: pa.Schema | None = None,
        columns: Any = None,
        filter: Any = None,  # noqa: A002
        batch_size: int | None = None,
        **options: Any,  # noqa: ARG002 - hints of pyarrow
    ) -> ArrowScanner:
        """The rows of the fragment that match `filter`, to be read."""
        if schema is not None and not schema.equals(self._dataset.schema):
            raise InvalidArgument("schema: expected the schema of the dataset, found another")
        return ArrowScanner(self._dataset, columns, filter, batch_size, self._rows)

    def to_table(self, schema: pa.Schema | None = None, **options: Any) -> pa.Table:
        """The rows of the fragment, in memory."""
        return self.scanner(schema, **options).to_table()

    def to_batches(self, schema: pa.Schema | None = None, **options: Any) -> Iterator[pa.RecordBatch]:
        """The rows of the fragment, batch by batch."""
        return self.scanner(schema, **options).to_batches()

    def count_rows(self, **options: Any) -> int:
        """How many rows match."""
        return self.scanner(columns=[], **options).count_rows()


class ArrowScanner:
    """The rows of an `ArrowDataset` that match a filter, with some columns. Made by `scanner`."""

    def __init__(
        self,
        dataset: ArrowDataset,
        columns: Sequence[str] | Mapping[str, pc.Expression] | None,
        filter: pc.Expression | None,  # noqa: A002
        batch_size: int | None,
        rows: range | None,
    ) -> None:
        if isinstance(filter, bool | pa.BooleanScalar):
            filter = pc.scalar(filter)  # noqa: A001 - DataFusion passes a condition without columns as its value
        if filter is not None and not isinstance(filter, pc.Expression):
            raise InvalidArgument(f"filter: expected an expression of pyarrow, found {shown(filter)}")
        self._dataset = dataset
        self._filter = filter
        self._batch_size = batch_size
        self._rows = rows
        names = dataset.schema.names
        self._columns = columns if columns is not None else names
        for name in () if isinstance(self._columns, Mapping) else self._columns:
            if name not in names:
                raise InvalidArgument(f"columns: expected some of {', '.join(names)}, found {shown(name)}")

    @property
    def dataset_schema(self) -> pa.Schema:
        """The columns of the dataset."""
        return self._dataset.schema

    @property
    def projected_schema(self) -> pa.Schema:
        """The columns of the result."""
        schema = self._dataset.schema
        if isinstance(self._columns, Mapping):
            return self._projected(without_rows(schema)).schema
        return pa.schema([schema.field(name) for name in self._columns], metadata=schema.metadata)

    schema = projected_schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, batch by batch."""
        needed, is_plain = self._needed()
        scan, needed, is_exact = self._dataset._scan(needed, self._filter, self._batch_size, self._rows)
        schema = pa.schema([self._dataset.schema.field(name) for name in needed])
        for batch in scan:
            batch = _conformed(batch, schema)
            if is_exact and is_plain:
                yield batch
                continue
            table = pa.Table.from_batches([batch])
            if not is_exact:
                table = table.filter(self._filter)
            yield from self._projected(table).to_batches()

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows, as a reader."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self._conforming())

    def _conforming(self) -> Iterator[pa.RecordBatch]:
        schema = self.projected_schema
        try:
            for batch in self.to_batches():
                yield batch if not schema.names else pa.RecordBatch.from_arrays(batch.columns, schema=schema)
        except AmudaiError as error:
            self._dataset._failure = error
            raise

    def to_table(self) -> pa.Table:
        """The rows, in memory."""
        return self.to_reader().read_all()

    def head(self, num_rows: int) -> pa.Table:
        """The first rows."""
        batches, left = [], num_rows
        for batch in self._conforming():
            batches.append(batch.slice(0, left))
            left -= batches[-1].num_rows
            if not left:
                break
        return pa.Table.from_batches(batches, self.projected_schema)

    def take(self, indices: Any) -> pa.Table:
        """The rows with these numbers among those that match."""
        return self.to_table().take(indices)

    def count_rows(self) -> int:
        """How many rows match."""
        scan, _, is_exact = self._dataset._scan([], self._filter, None, self._rows)
        return scan.count() if is_exact else sum(batch.num_rows for batch in self.to_batches())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def _needed(self) -> tuple[list[str], bool]:
        """The columns to read, and whether they are the columns of the result as they are."""
        if not isinstance(self._columns, Mapping):
            return list(self._columns), True
        found: set[str] = set()
        for expression in self._columns.values():
            used = expression_columns(expression)
            if used is None:
                return self._dataset.schema.names, False
            found |= used
        return [name for name in self._dataset.schema.names if name in found], False

    def _projected(self, table: pa.Table) -> pa.Table:
        """The columns of the result, from a table that has the columns they are made of."""
        if not isinstance(self._columns, Mapping):
            return table.select(list(self._columns))
        return pa.dataset.InMemoryDataset(table).to_table(columns=dict(self._columns))


def _conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The same rows with the types of a schema. A batch without columns keeps its number of rows."""
    if not schema.names:
        return batch
    arrays = [conformed(array, field.type) for array, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def plain_type(kind: pa.DataType, *, zoned: bool = True, coded: bool = True) -> pa.DataType:
    """A type without views and, if asked for, without zones or without dictionaries.

    >>> plain_type(pa.struct([("a", pa.string_view())]))
    StructType(struct<a: string>)
    >>> plain_type(pa.timestamp("us", "UTC"), zoned=False)
    TimestampType(timestamp[us])
    >>> plain_type(pa.dictionary(pa.int32(), pa.string()), coded=False)
    DataType(string)
    """
    types = pa.types

    def plain(part: pa.DataType) -> pa.DataType:
        return plain_type(part, zoned=zoned, coded=coded)

    if types.is_string_view(kind):
        return pa.string()
    if types.is_binary_view(kind):
        return pa.binary()
    if types.is_timestamp(kind) and not zoned:
        return pa.timestamp(kind.unit)
    if types.is_dictionary(kind) and not coded:
        return plain(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([field.with_type(plain(field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(plain(kind.key_type), plain(kind.item_type), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(plain(kind.value_type)), kind.list_size)
    if types.is_large_list(kind) or types.is_large_list_view(kind):
        return pa.large_list(kind.value_field.with_type(plain(kind.value_type)))
    if types.is_list(kind) or types.is_list_view(kind):
        return pa.list_(kind.value_field.with_type(plain(kind.value_type)))
    return kind


def _unsupported(name: str, instead: str) -> UnsupportedFeature:
    return UnsupportedFeature(f"{name}: expected a dataset of pyarrow's own, found one of amudai: {instead}")
