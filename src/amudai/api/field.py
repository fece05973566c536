"""A column of a shard: its type, statistics, encodings and values."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

import pyarrow as pa

from amudai.api.display import field_text
from amudai.api.frames import to_pandas, to_polars
from amudai.api.members import member_values
from amudai.arrow import ArrowFields, Extension, arrow_field, child_type, extension_of, project, to_array
from amudai.column import ColumnValues, ConstantValues, TimeValues
from amudai.errors import CorruptedData, InvalidArgument, located
from amudai.format import AnyValue, RangeStats, python_values
from amudai.inspect import field_label, total_layouts
from amudai.plan import ScanRequest, ShardPlan, select_nodes
from amudai.rows import row_range
from amudai.scan import ScanRun
from amudai.shard import ShardReader
from amudai.types import BYTES, CONTAINERS, BasicType, SchemaNode

__all__ = ["Field", "FieldStats"]


_UNITS_OF_DAY: Final = {unit: 86_400 * 1000**power for power, unit in enumerate(("s", "ms", "us", "ns"))}


@dataclass(frozen=True, slots=True)
class FieldStats:
    """Statistics of a column, known without reading its values. None means that the shard does not have the figure.

    Statistics were made when the rows were written. They include rows that were deleted since.

    Attributes
    ----------
    count, null_count
        How many values there are, and how many of them are null. Below a list, values are items, not rows.
    min, max
        The smallest and the largest value, NaN left out. Of times in nanoseconds that are not multiples of 100 ns,
        bounds that may lie up to 99 ns outside. A time that Python's classes cannot hold is a pyarrow scalar, and a
        time of day outside of the day is the number of its units.
    distinct_count
        How many different values there are: an estimate, unless `distinct_is_exact`.
    raw_bytes
        Size of the values without any encoding.
    details
        Figures that only some types have: sizes of strings, counts of true and of NaN, lengths of lists.

    Examples
    --------
    >>> stats = amudai.open("tests/fixtures/sample.amudai.shard")["status"].stats
    >>> stats.count, stats.null_count, stats.min, stats.max
    (400, 0, 200, 503)
    """

    count: int
    null_count: int | None
    min: object
    max: object
    distinct_count: int | None
    distinct_is_exact: bool
    raw_bytes: int | None
    details: dict[str, int]


class Field:
    """A column of a shard, or a member of one. Made by `shard["name"]`.

    Examples
    --------
    >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> status = shard["status"]
    >>> status.type, status.stats.min, status.stats.max
    (DataType(int64), 200, 503)
    >>> shard["message"].encodings
    {'lz4(ffor)': 1}
    """

    def __init__(self, reader: ShardReader, fields: ArrowFields, nodes: tuple[SchemaNode, ...], threads: int) -> None:
        self._reader = reader
        self._fields = fields
        self._nodes = nodes
        self._threads = threads
        parents: tuple[SchemaNode | None, ...] = (None, *nodes[:-1])
        self.path = ".".join(field_label(parent, node) for parent, node in zip(parents, nodes, strict=True))

    @property
    def name(self) -> str:
        """The name of the field, without the names of its parents."""
        return self._nodes[-1].name

    @property
    def label(self) -> str:
        """The name of the field, or its role if it has no name: `item` of a list, `key` and `value` of a map."""
        return field_label(self._nodes[-2] if len(self._nodes) > 1 else None, self._nodes[-1])

    @property
    def type(self) -> pa.DataType:
        """The Arrow type of the values."""
        if len(self._nodes) == 1:
            return self._fields.field(self._nodes[0]).type
        kind: pa.DataType | None = self._fields.field(self._nodes[0]).type
        for parent, node in pairwise(self._nodes):
            kind = None if kind is None else child_type(parent, node, kind)
        return arrow_field(self._nodes[-1], self._range_of).type if kind is None else kind

    @property
    def stored_type(self) -> str:
        """The type as the shard stores it, in the format's own words."""
        return str(self._nodes[-1])

    @property
    def extension(self) -> Extension | None:
        """What the values mean, if the shard says it: an extension type with its properties.

        >>> data = {"vector": [[0.5, 0.25]]}
        >>> shard = amudai.write(data, "v.amudai.shard", extensions={"vector": "EmbeddingVec"}, overwrite=True)
        >>> shard["vector"].extension
        Extension(label='EmbeddingVec', properties={})
        """
        with located(url=self._reader.url, field=self.path):
            return extension_of(self._nodes[-1])

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names by which the column is found.

        >>> shard = amudai.write({"status": [200]}, "s.amudai.shard", aliases={"status": ["code"]}, overwrite=True)
        >>> shard["code"].name, shard["code"].aliases
        ('status', ('code',))
        """
        return self._nodes[-1].aliases

    @property
    def stats(self) -> FieldStats:
        """Statistics of the values over the whole shard."""
        found = self._reader.descriptor(self._nodes[-1])
        if found is None:
            rows = self._reader.num_positions if len(self._nodes) == 1 else 0
            return FieldStats(rows, rows, None, None, None, False, None, {})
        # Stripes that lack the column say nothing of it: their rows are null.
        missing = self._reader.num_positions - found.position_count if len(self._nodes) == 1 else 0
        if missing < 0:
            message = f"position_count: expected at most {self._reader.num_positions}, found {found.position_count}"
            raise CorruptedData(message, url=self._reader.url, field=self.path)
        bounds, cardinality = found.range_stats, found.cardinality
        if self._nodes[-1].basic_type is BasicType.INT16 and pa.types.is_float16(self.type):
            bounds = None  # of the bits as integers, whose order is not that of the numbers
        if self._nodes[-1].basic_type in BYTES and not self._nodes[-1].is_decimal:
            bounds = None  # bounds of texts and bytes are cut: they need not be values
        details = dataclasses.asdict(found.type_stats) if found.type_stats is not None else {}
        return FieldStats(
            count=found.position_count + missing,
            null_count=None if found.null_count is None else found.null_count + missing,
            min=None if bounds is None or bounds.min is None else self._python(bounds.min, "min"),
            max=None if bounds is None or bounds.max is None else self._python(bounds.max, "max"),
            distinct_count=None if cardinality is None else cardinality.count,
            distinct_is_exact=cardinality is not None and not cardinality.is_estimate,
            raw_bytes=found.raw_data_size,
            details={name: value for name, value in details.items() if value is not None},
        )

    @property
    def properties(self) -> dict[str, object]:
        """The properties that were given to the column when it was written."""
        found = self._reader.descriptor(self._nodes[-1])
        return {} if found is None else python_values((*found.custom, *found.standard))

    @property
    def encodings(self) -> dict[str, int]:
        """How the values are stored: each cascade of encodings with its number of blocks. Reads the column."""
        found: Counter[str] = Counter()
        for stripe in self._reader.stripes:
            found.update(stripe.column_at(self._nodes).encodings())
        return dict(found.most_common())

    @property
    def encoded_bytes(self) -> int:
        """Bytes that the column takes up in the shard's files, those of its children included."""
        (layout,) = total_layouts(self._reader, [self._nodes], "buffers")
        for problem in layout.problems:
            raise problem.error
        return layout.bytes

    @property
    def children(self) -> tuple[Field, ...]:
        """The fields below this one: members of a struct, the items of a list, keys and values of a map.

        >>> [field.path for field in amudai.open("tests/fixtures/sample.amudai.shard")["http"].children]
        ['http.status', 'http.path']
        """
        return tuple(
            Field(self._reader, self._fields, (*self._nodes, child), self._threads)
            for child in self._nodes[-1].children
        )

    def read(self, rows: slice | range | None = None) -> pa.ChunkedArray:
        """Read the values of the column.

        A member of a struct is null where the struct is null. A field below a list or map gives the items of all lists,
        one after the other.

        Parameters
        ----------
        rows
            The rows of the shard to read: a slice or range with step 1; None for all.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard["http.status"].read(slice(0, 3)).to_pylist()
        [200, 200, 200]
        """
        column = self._run(rows, None).table().column(0)
        return pa.chunked_array([self._values(chunk) for chunk in column.chunks], self.type)

    def to_table(self, rows: slice | range | None = None) -> pa.Table:
        """Read the values into a table with one column.

        >>> amudai.open("tests/fixtures/sample.amudai.shard")["http.status"].to_table(slice(0, 2)).to_pydict()
        {'http.status': [200, 200]}
        """
        return pa.Table.from_arrays([self.read(rows)], names=[self.path])

    def to_reader(self, rows: slice | range | None = None, *, batch_rows: int | None = None) -> pa.RecordBatchReader:
        """Read the values batch by batch, each batch from at most `batch_rows` rows of the shard.

        >>> status = amudai.open("tests/fixtures/sample.amudai.shard")["http.status"]
        >>> [batch.num_rows for batch in status.to_reader(batch_rows=150)]
        [150, 150, 100]
        """
        schema = pa.schema([pa.field(self.path, self.type)])
        found = self._run(rows, batch_rows).batches()
        batches = (pa.RecordBatch.from_arrays([self._values(batch.column(0))], schema=schema) for batch in found)
        return pa.RecordBatchReader.from_batches(schema, batches)

    def to_pandas(self, rows: slice | range | None = None, **options: Any) -> Any:
        """Read the values into a pandas `Series`. Needs pandas.

        `options` are those of `pyarrow.ChunkedArray.to_pandas`.

        >>> amudai.open("tests/fixtures/sample.amudai.shard")["status"].to_pandas().shape
        (400,)
        """
        return to_pandas(self.read(rows), options)

    def to_polars(self, rows: slice | range | None = None) -> Any:
        """Read the values into a polars `Series`. Needs polars.

        >>> amudai.open("tests/fixtures/sample.amudai.shard")["status"].to_polars().max()
        503
        """
        return to_polars(self.read(rows))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The values, for any library that speaks the Arrow PyCapsule protocol."""
        return self.read().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The type of the values, for any library that speaks the Arrow PyCapsule protocol."""
        return self.type.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<amudai.Field {self.path}: {self.stored_type}>"

    def __str__(self) -> str:
        return field_text(self)

    def _repr_html_(self) -> str:
        from amudai.api.notebook import field_html  # only notebooks ask for it

        return field_html(self)

    def _run(self, rows: slice | range | None, batch_rows: int | None) -> ScanRun:
        """A scan of the column, of which structs keep only the members on the way to this field."""
        column = select_nodes(self._fields, self._nodes)
        plan = ShardPlan(
            self._reader,
            self._fields,
            ScanRequest(batch_rows=batch_rows),
            row_range(rows, self._reader.origin),
            lambda: ((column,), pa.schema([column.field])),
        )
        return ScanRun(plan, self._threads)

    def _values(self, column: pa.Array) -> pa.Array:
        with located(url=self._reader.url, field=self.path):
            return member_values(column, self._nodes)

    def _python(self, value: AnyValue, end: Literal["min", "max"]) -> object:
        """A bound of the statistics as the Python value that reading the column gives."""
        node = self._nodes[-1]
        kind = self.type if node.basic_type not in CONTAINERS else pa.null()
        stored: ColumnValues = ConstantValues(1, value)
        projection = self._fields.projection(node) if node.is_ticks and len(self._nodes) == 1 else project(node, kind)
        if projection.nanoseconds is not None:
            stored = TimeValues(stored, ConstantValues(1, self._nanoseconds(projection.nanoseconds, end)))
        with located(url=self._reader.url, field=self.path):
            try:
                scalar = to_array(stored, projection, kind)[0]
            except InvalidArgument:
                if projection.nanoseconds is None:
                    raise
                return None  # the bound lies outside of 64 bits, the values do not
        if pa.types.is_time(kind) and scalar.is_valid and not 0 <= scalar.value < _UNITS_OF_DAY[kind.unit]:
            return scalar.value  # pyarrow makes another time of it, or raises an error
        try:
            return scalar.as_py()
        except (ValueError, OverflowError):
            return scalar  # a time that Python cannot hold

    def _nanoseconds(self, node: SchemaNode, end: Literal["min", "max"]) -> AnyValue:
        """The least or most nanoseconds that any time of the column is after its tick."""
        found = self._range_of(node)
        known = None if found is None else found.min if end == "min" else found.max
        return AnyValue("u64", 0 if end == "min" else 99) if known is None else known

    def _range_of(self, node: SchemaNode) -> RangeStats | None:
        found = self._reader.descriptor(node)
        return None if found is None else found.range_stats
