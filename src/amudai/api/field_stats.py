"""The statistics of a column, in a shard or in one of its stripes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow import ArrowFields, project, to_array
from amudai.column import ColumnValues, ConstantValues, StoredValues, TimeValues, constant_of
from amudai.encoding import Values
from amudai.errors import CorruptedData, InvalidArgument, located
from amudai.format import AnyValue, BloomFilter, FieldDescriptor, HllSketch
from amudai.types import CONTAINERS, BasicType, NodePath, SchemaNode, decimal128

__all__ = ["FieldFacts", "FieldStats"]

_UNITS_OF_DAY: Final = {unit: 86_400 * 1000**power for power, unit in enumerate(("s", "ms", "us", "ns"))}
# Kinds of constants that have no value to show: null, and one that is stored elsewhere and would have to be read.
_UNSHOWN: Final = ("null", "data_ref")


@dataclass(frozen=True, slots=True)
class FieldStats:
    """Statistics of a column, known without reading its values. None means that the shard does not have the figure.

    Statistics were made when the rows were written. They include rows that were deleted since.

    Attributes
    ----------
    count, null_count
        How many values there are, and how many of them are null. Below a list, values are items, not rows.
    min, max
        The smallest and the largest value, NaN left out; or bounds that no value lies outside of, see below. A time
        that Python's classes cannot hold is a pyarrow scalar, and a time of day outside of the day is the number of its
        units.
    distinct_count
        How many different values there are: an estimate, unless `distinct_is_exact`.
    raw_bytes
        Size of the values without any encoding.
    details
        Figures that only some types have: sizes of strings, counts of true and of NaN, lengths of lists.
    min_is_exact, max_is_exact
        Whether `min` and `max` are values of the column. Bounds of texts and bytes are cut to 32 bytes, those of
        decimals are rounded to 34 digits, and those of times in nanoseconds may lie up to 99 ns outside.
    is_constant, constant
        Whether all values are the same and stored only once, and that value; None if it is stored outside of the
        descriptor.
    dictionary_size
        How many entries the column's dictionary has. Only stripes have dictionaries.
    sketch
        The HyperLogLog sketch behind `distinct_count`, as stored.
    bloom_filter
        The Bloom filter of the values, as stored. Only stripes have one.

    Examples
    --------
    >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> stats = shard["status"].stats
    >>> stats.count, stats.null_count, stats.min, stats.max
    (400, 0, 200, 503)
    >>> stats = shard.stripes[0]["level"].stats
    >>> stats.dictionary_size, stats.bloom_filter.num_values, stats.sketch.bits_per_index
    (3, 3, 7)
    """

    count: int
    null_count: int | None
    min: object
    max: object
    distinct_count: int | None
    distinct_is_exact: bool
    raw_bytes: int | None
    details: dict[str, int]
    min_is_exact: bool = True
    max_is_exact: bool = True
    is_constant: bool = False
    constant: object = None
    dictionary_size: int | None = None
    sketch: HllSketch | None = dataclasses.field(default=None, repr=False)
    bloom_filter: BloomFilter | None = dataclasses.field(default=None, repr=False)


class FieldFacts:
    """What a shard or a stripe says about a field.

    Parameters
    ----------
    kind
        The Arrow type of the values.
    descriptor
        Returns the descriptor of a field in the shard or stripe; None if it has none.
    positions
        How many positions the shard or stripe has.
    """

    def __init__(
        self,
        fields: ArrowFields,
        nodes: NodePath,
        kind: pa.DataType,
        url: str,
        path: str,
        descriptor: Callable[[SchemaNode], FieldDescriptor | None],
        positions: int,
    ) -> None:
        self._fields = fields
        self._nodes = nodes
        self._type = kind
        self._url = url
        self._path = path
        self._descriptor = descriptor
        self._positions = positions

    def stats(self) -> FieldStats:
        """The statistics, as Python values."""
        node, is_column = self._nodes[-1], len(self._nodes) == 1
        found = self._descriptor(node)
        if found is None:
            rows = self._positions if is_column else 0
            return FieldStats(rows, rows, None, None, None, False, None, {}, is_constant=rows > 0)
        # Stripes that lack the column say nothing of it: their rows are null.
        missing = self._positions - found.position_count if is_column else 0
        if missing < 0:
            message = f"position_count: expected at most {self._positions}, found {found.position_count}"
            raise CorruptedData(message, url=self._url, field=self._path)
        bounds, cardinality = found.range_stats, found.cardinality
        if not self.has_order:
            bounds = None
        details = dataclasses.asdict(found.type_stats) if found.type_stats is not None else {}
        constant = None if missing or found.constant_value is None else constant_of(node, found)
        return FieldStats(
            count=found.position_count + missing,
            null_count=None if found.null_count is None else found.null_count + missing,
            min=None if bounds is None or bounds.min is None else self._bound(bounds.min, "min"),
            max=None if bounds is None or bounds.max is None else self._bound(bounds.max, "max"),
            distinct_count=None if cardinality is None else cardinality.count,
            distinct_is_exact=cardinality is not None and not cardinality.is_estimate and cardinality.count is not None,
            raw_bytes=found.raw_data_size,
            details={name: value for name, value in details.items() if value is not None},
            min_is_exact=bounds is None or (bounds.min_inclusive and not self._is_rounded),
            max_is_exact=bounds is None or (bounds.max_inclusive and not self._is_rounded),
            is_constant=constant is not None,
            constant=None if constant is None or constant.kind in _UNSHOWN else self._python(constant, "min"),
            dictionary_size=found.dictionary_size,
            sketch=None if cardinality is None else cardinality.sketch,
            bloom_filter=found.bloom_filter,
        )

    @property
    def has_order(self) -> bool:
        """Whether stored values have the order of the values. Half floats are stored as the integers of their bits."""
        return not (self._nodes[-1].basic_type is BasicType.INT16 and pa.types.is_float16(self._type))

    def bounds(self, numbers: npt.NDArray[Any], known: npt.NDArray[np.bool_], end: Literal["min", "max"]) -> pa.Array:
        """Stored bounds of stretches of the column as an array of its type; null where they are not `known`."""
        node, is_column = self._nodes[-1], len(self._nodes) == 1
        valid = pa.py_buffer(np.packbits(known, bitorder="little"))
        values = Values(len(numbers), int((~known).sum()), valid, pa.py_buffer(np.ascontiguousarray(numbers)))
        stored: ColumnValues = StoredValues(values)
        projection = self._fields.projection(node) if is_column else project(node, self._type)
        if projection.nanoseconds is not None:
            after = self._nanoseconds(projection.nanoseconds, end)
            stored = TimeValues(stored, ConstantValues(len(numbers), after))
        with located(url=self._url, field=self._path):
            return to_array(stored, projection, self._type)

    @property
    def _is_rounded(self) -> bool:
        """Whether times are stored as ticks, and their nanoseconds in another field."""
        node = self._nodes[-1]
        return node.is_ticks and len(self._nodes) == 1 and self._fields.projection(node).nanoseconds is not None

    def _bound(self, value: AnyValue, end: Literal["min", "max"]) -> object:
        """A bound of the statistics as a Python value."""
        found, node = value.value, self._nodes[-1]
        if value.kind == "decimal" and isinstance(found, bytes) and not node.is_decimal:
            return decimal128.to_decimal(found)  # of decimals with more digits
        if value.kind in ("string", "bytes") and node.basic_type not in (BasicType.GUID, BasicType.FIXED_SIZE_BINARY):
            return found
        if value.kind == "bytes" and isinstance(found, bytes) and len(found) != node.fixed_size:
            return found
        return self._python(value, end)

    def _python(self, value: AnyValue, end: Literal["min", "max"]) -> object:
        """A stored value as the Python value that reading the column gives."""
        node = self._nodes[-1]
        kind = self._type if node.basic_type not in CONTAINERS else pa.null()
        stored: ColumnValues = ConstantValues(1, value)
        projection = self._fields.projection(node) if node.is_ticks and len(self._nodes) == 1 else project(node, kind)
        if projection.nanoseconds is not None:
            stored = TimeValues(stored, ConstantValues(1, self._nanoseconds(projection.nanoseconds, end)))
        with located(url=self._url, field=self._path):
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
        found = self._descriptor(node)
        bounds = None if found is None else found.range_stats
        known = None if bounds is None else bounds.min if end == "min" else bounds.max
        return AnyValue("u64", 0 if end == "min" else 99) if known is None else known
