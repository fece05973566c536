"""What do the values of one field tell, and what do those of several stripes tell together?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from amudai.errors import InvalidArgument
from amudai.format.fields import FieldDescriptor
from amudai.format.statistics import (
    BinaryStats,
    BloomFilter,
    BooleanStats,
    Cardinality,
    DecimalStats,
    FloatingStats,
    HllSketch,
    ListStats,
    RangeStats,
    StringStats,
    TypeStats,
)
from amudai.format.values import AnyValue
from amudai.stats import bloom
from amudai.stats.hashing import BLOOM_SEED, HASH_ALGORITHM, HLL_SEED, distinct, hash_distinct
from amudai.stats.hll import Hll
from amudai.types import BYTES, INTEGERS, BasicType, SchemaNode, decimal128

__all__ = ["FieldStatistics", "collect", "merge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldStatistics:
    """The statistics of one field, in a stripe or in a shard; None where there is nothing to say.

    The members are those of `FieldDescriptor` of the same name. Without any, nothing is known of no position: that is
    where a fold of stripes starts.
    """

    position_count: int = 0
    null_count: int | None = None
    raw_data_size: int | None = None
    range_stats: RangeStats | None = None
    type_stats: TypeStats | None = None
    cardinality: Cardinality | None = None
    bloom_filter: BloomFilter | None = None

    @classmethod
    def of(cls, descriptor: FieldDescriptor) -> Self:
        """The statistics that a shard states."""
        return cls(
            position_count=descriptor.position_count,
            null_count=descriptor.null_count,
            raw_data_size=descriptor.raw_data_size,
            range_stats=descriptor.range_stats,
            type_stats=descriptor.type_stats,
            cardinality=descriptor.cardinality,
            bloom_filter=descriptor.bloom_filter,
        )


def collect(array: pa.Array, node: SchemaNode) -> FieldStatistics:
    """The statistics of `node` over these values, as a writer notes them for a stripe.

    `array` holds the values of the node itself, one slot for each of its positions, in the form they are stored in:
    datetimes are uint64 ticks, timespans int64, decimals and guids 16 bytes. Children of containers are not looked at.
    A Bloom filter is given wherever the type has one; a writer may have left it out.

    >>> node = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT32, signed=True)
    >>> found = collect(pa.array([5, None, 10, -3], pa.int32()), node)
    >>> found.null_count, found.raw_data_size, found.range_stats.min.value, found.range_stats.max.value
    (1, 13, -3, 10)
    """
    kind = node.basic_type
    _check(array.type, node)
    if kind in (BasicType.UNIT, BasicType.UNION):
        return FieldStatistics(position_count=len(array))
    if kind is BasicType.BOOLEAN:
        return _boolean(array)
    if kind in (BasicType.LIST, BasicType.MAP):
        return _lists(array)
    if kind in (BasicType.STRUCT, BasicType.FIXED_SIZE_LIST):
        return _counted(array, 0)
    if kind in (BasicType.FLOAT32, BasicType.FLOAT64):
        return _floating(array)
    if node.is_decimal:
        return _decimal(array)
    return _bytes(array, kind) if kind in BYTES else _integer(array, node)


def merge(a: FieldStatistics, b: FieldStatistics) -> FieldStatistics:
    """Fold the statistics of one more stripe, `b`, into those of the stripes before it, `a`.

    Start with `FieldStatistics()`. What is unknown on one side stays unknown; stripes without positions say nothing. A
    shard has no Bloom filter.
    """
    if not b.position_count:
        return replace(a, bloom_filter=None)
    if not a.position_count:
        return replace(b, bloom_filter=None)
    return FieldStatistics(
        position_count=a.position_count + b.position_count,
        null_count=_sum(a.null_count, b.null_count),
        raw_data_size=_sum(a.raw_data_size, b.raw_data_size),
        range_stats=_merged_range(a.range_stats, b.range_stats),
        type_stats=_merged_type_stats(a.type_stats, b.type_stats),
        cardinality=_merged_cardinality(a.cardinality, b.cardinality),
    )


def _is_list(kind: pa.DataType) -> bool:
    checks = (pa.types.is_list, pa.types.is_large_list, pa.types.is_list_view, pa.types.is_large_list_view)
    return pa.types.is_map(kind) or any(check(kind) for check in checks)


_ACCEPTED: Final[dict[BasicType, Callable[[pa.DataType], bool]]] = {
    BasicType.BOOLEAN: pa.types.is_boolean,
    BasicType.STRING: lambda kind: kind in (pa.string(), pa.large_string(), pa.string_view()),
    BasicType.BINARY: lambda kind: kind in (pa.binary(), pa.large_binary(), pa.binary_view()),
    BasicType.LIST: _is_list,
    BasicType.MAP: _is_list,
    BasicType.STRUCT: pa.types.is_struct,
    BasicType.FIXED_SIZE_LIST: pa.types.is_fixed_size_list,
}


def _check(found: pa.DataType, node: SchemaNode) -> None:
    kind = node.basic_type
    if kind in (BasicType.UNIT, BasicType.UNION):
        return
    if kind in _ACCEPTED:
        accepted = _ACCEPTED[kind](found)
    elif kind is BasicType.GUID:
        accepted = found == pa.binary(16)
    elif kind is BasicType.FIXED_SIZE_BINARY:
        accepted = found == pa.binary(node.fixed_size)
    else:
        accepted = found == pa.from_numpy_dtype(node.dtype)
    if not accepted:
        raise InvalidArgument(f"values of {node.name!r}: expected the stored form of {node}, found {found}")


def _counted(array: pa.Array, values_size: int, **known: Any) -> FieldStatistics:
    """The counts that all types have, with what is `known` beside them."""
    positions, nulls = len(array), array.null_count
    bitmap = -(-positions // 8) if nulls else 0
    size = 0 if nulls == positions else values_size + bitmap
    return FieldStatistics(position_count=positions, null_count=nulls, raw_data_size=size, **known)


def _range(low: AnyValue | None, high: AnyValue | None) -> RangeStats:
    return RangeStats(min=low, min_inclusive=True, max=high, max_inclusive=True)


def _boolean(array: pa.Array) -> FieldStatistics:
    stats = BooleanStats(true_count=array.true_count, false_count=array.false_count)
    return _counted(array, -(-len(array) // 8), type_stats=stats)


def _integer(array: pa.Array, node: SchemaNode) -> FieldStatistics:
    unsigned = node.basic_type not in INTEGERS or not node.signed  # datetimes are unsigned ticks
    bounds = pc.min_max(array)
    low, high = (
        None if bound is None else AnyValue("u64" if unsigned else "i64", bound)
        for bound in (bounds["min"].as_py(), bounds["max"].as_py())
    )
    size = (len(array) - array.null_count) * array.type.bit_width // 8
    return _counted(array, size, range_stats=_range(low, high))


def _floating(array: pa.Array) -> FieldStatistics:
    values = array.drop_null().to_numpy(zero_copy_only=False)
    numbers = values[~np.isnan(values)]
    finite = numbers[np.isfinite(numbers)]
    stats = FloatingStats(
        zero_count=int(np.count_nonzero(finite == 0)),
        positive_count=int(np.count_nonzero(finite > 0)),
        negative_count=int(np.count_nonzero(finite < 0)),
        nan_count=len(values) - len(numbers),
        positive_infinity_count=int(np.count_nonzero(numbers == np.inf)),
        negative_infinity_count=int(np.count_nonzero(numbers == -np.inf)),
    )
    low = high = None
    if len(numbers):
        # The places and not the values are asked for: of 0.0 and -0.0, which are equal, the first one counts.
        low = AnyValue("double", float(numbers[np.argmin(numbers)]))
        high = AnyValue("double", float(numbers[np.argmax(numbers)]))
    return _counted(array, values.nbytes, range_stats=_range(low, high), type_stats=stats)


def _decimal(array: pa.Array) -> FieldStatistics:
    values = array.drop_null()
    first, last = values.offset * decimal128.SIZE, (values.offset + len(values)) * decimal128.SIZE
    data = memoryview(values.buffers()[1] or b"")[first:last]
    decimals = decimal128.decode(data)
    number = decimals.kind != decimal128.Kind.NAN
    zero = (decimals.kind == decimal128.Kind.FINITE) & ((decimals.high | decimals.low) == 0)
    stats = DecimalStats(
        zero_count=int(np.count_nonzero(zero)),
        positive_count=int(np.count_nonzero(number & ~zero & ~decimals.negative)),
        negative_count=int(np.count_nonzero(number & ~zero & decimals.negative)),
        nan_count=int(np.count_nonzero(~number)),
    )
    low = high = None
    if (places := decimal128.extremes(decimals)) is not None:
        low, high = (AnyValue("decimal", values[place].as_py()) for place in places)
    return _counted(array, len(data), range_stats=_range(low, high), type_stats=stats)


def _bytes(array: pa.Array, kind: BasicType) -> FieldStatistics:
    if array.type in (pa.string_view(), pa.binary_view()):
        # pyarrow has few functions for views.
        array = array.cast(pa.large_string() if kind is BasicType.STRING else pa.large_binary())
    values = array.drop_null()
    lengths = pc.binary_length(values).to_numpy(zero_copy_only=False)
    low, low_non_empty, high = _lengths(lengths)
    stats: TypeStats
    if kind is BasicType.STRING:
        ascii_count = pc.sum(pc.string_is_ascii(values)).as_py() or 0
        stats = StringStats(min_size=low, min_non_empty_size=low_non_empty, max_size=high, ascii_count=ascii_count)
    else:
        stats = BinaryStats(min_length=low, min_non_empty_length=low_non_empty, max_length=high)
    size = int(lengths.sum(dtype=np.int64))
    if not len(values):
        return _counted(array, size, type_stats=stats)
    different = distinct(values)
    return _counted(
        array, size, type_stats=stats, cardinality=_cardinality(different), bloom_filter=_bloom_filter(different)
    )


def _lists(array: pa.Array) -> FieldStatistics:
    if not len(array):
        return _counted(array, 0)
    if pa.types.is_map(array.type):
        lengths = np.diff(array.offsets.to_numpy())[array.is_valid().to_numpy(zero_copy_only=False)]
    else:
        lengths = pc.list_value_length(array).drop_null().to_numpy()
    low, low_non_empty, high = _lengths(lengths)
    stats = ListStats(min_length=low, min_non_empty_length=low_non_empty, max_length=high)
    return _counted(array, 8 * len(array), type_stats=stats)


def _lengths(lengths: NDArray[Any]) -> tuple[int, int | None, int]:
    """The smallest length, the smallest that is not 0, the largest."""
    if not len(lengths):
        return 0, None, 0
    non_empty = lengths[lengths > 0]
    return int(lengths.min()), int(non_empty.min()) if len(non_empty) else None, int(lengths.max())


def _cardinality(different: pa.Array) -> Cardinality:
    sketch = Hll()
    sketch.insert(hash_distinct(different, HLL_SEED))
    return _estimated(sketch, HLL_SEED)


def _estimated(sketch: Hll, seed: int) -> Cardinality:
    stored = HllSketch(
        hash_algorithm=HASH_ALGORITHM,
        hash_seed=seed,
        bits_per_index=sketch.bits_per_index,
        counters=sketch.counters.tobytes(),
    )
    return Cardinality(count=sketch.estimate(), is_estimate=True, sketch=stored)


def _bloom_filter(different: pa.Array) -> BloomFilter | None:
    if len(different) > bloom.MAX_VALUES:
        return None
    hashes = np.unique(hash_distinct(different, BLOOM_SEED))
    data = bloom.build(hashes)
    if data is None:
        return None
    return BloomFilter(
        num_blocks=len(data) // bloom.BLOCK_SIZE,
        target_fpp=bloom.TARGET_FPP,
        num_values=len(hashes),
        hash_algorithm=HASH_ALGORITHM,
        hash_seed=BLOOM_SEED,
        data=data,
    )


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _least(a: int | None, b: int | None) -> int | None:
    return min((known for known in (a, b) if known is not None), default=None)


def _merged_range(a: RangeStats | None, b: RangeStats | None) -> RangeStats | None:
    if a is None or b is None:
        return None
    from_b = b.min is not None and (a.min is None or _less(b.min, a.min))
    low, low_inclusive = (b.min, b.min_inclusive) if from_b else (a.min, a.min_inclusive)
    from_b = b.max is not None and (a.max is None or _less(a.max, b.max))
    high, high_inclusive = (b.max, b.max_inclusive) if from_b else (a.max, a.max_inclusive)
    return RangeStats(min=low, min_inclusive=low_inclusive, max=high, max_inclusive=high_inclusive)


def _less(a: AnyValue, b: AnyValue) -> bool:
    """Whether `a` is less than `b`; values of two kinds, or of one without order, are taken as equal."""
    if a.kind != b.kind or a.kind not in ("bool", "u64", "i64", "double", "string", "decimal"):
        return False
    left: Any = a.value
    right: Any = b.value
    if a.kind == "decimal":
        left, right = decimal128.to_decimal(left), decimal128.to_decimal(right)
        if left.is_nan() or right.is_nan():
            return False
    return bool(left < right)


def _merged_type_stats(a: TypeStats | None, b: TypeStats | None) -> TypeStats | None:
    if a is None or b is None or type(a) is not type(b):
        return a
    rules: dict[str, Callable[[int, int], int | None]] = {"min": _least, "max": max}
    merged: dict[str, Any] = {}
    for name in (member.name for member in fields(a)):
        rule = rules.get(name.split("_")[0], _sum)  # what is no bound is a count
        merged[name] = rule(getattr(a, name), getattr(b, name))
    return replace(a, **merged)


def _merged_cardinality(a: Cardinality | None, b: Cardinality | None) -> Cardinality | None:
    if a is None or b is None:
        return None
    left, right = _sketch(a), _sketch(b)
    if left is None or right is None or a.sketch is None or b.sketch is None:
        return _NOT_MERGEABLE
    if (left.bits_per_index, a.sketch.hash_seed) != (right.bits_per_index, b.sketch.hash_seed):
        return _NOT_MERGEABLE
    left.merge(right)
    return _estimated(left, a.sketch.hash_seed)


_NOT_MERGEABLE: Final = Cardinality(count=None, is_estimate=False, sketch=None)


def _sketch(cardinality: Cardinality) -> Hll | None:
    """The sketch as something that can be merged; None where it is missing or not sound."""
    stored = cardinality.sketch
    if stored is None or stored.hash_algorithm != HASH_ALGORITHM:
        return None
    try:
        return Hll.from_counters(stored.counters, stored.bits_per_index)
    except InvalidArgument:
        return None
