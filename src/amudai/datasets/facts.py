"""Facts about whole shards: statistics of their columns, side by side, so that many shards are ruled out at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.format import AnyValue, FieldDescriptor
from amudai.index import Number
from amudai.plan import byte_bounds
from amudai.shard import ShardReader
from amudai.stats import BLOOM_SEED, HASH_ALGORITHM
from amudai.types import BYTES, WIDTHS, BasicType, SchemaNode, decimal128, quote_name

__all__ = ["FACT", "ColumnFacts", "fact_of", "fact_paths", "kind_of", "outward"]

# Facts of one column in one shard, as an Arrow type. `low` and `high` are the bounds of numbers, rounded outwards;
# `first` and `last` are those of texts and bytes. `bloom` has the filter of each stripe, and is null if a stripe has
# none.
FACT: Final = pa.struct(
    [
        pa.field("kind", pa.string()),
        pa.field("count", pa.int64()),
        pa.field("nulls", pa.int64()),
        pa.field("low", pa.float64()),
        pa.field("high", pa.float64()),
        pa.field("bloom", pa.list_(pa.binary())),
        pa.field("first", pa.binary()),
        pa.field("last", pa.binary()),
    ]
)
# More columns than this have no facts: a catalog is a small file.
_MOST_PATHS: Final = 500


@dataclass(frozen=True, slots=True, eq=False)
class ColumnFacts:
    """The facts of one column in many shards. Where a shard does not say, numbers are NaN or -1, and bytes are null.

    Catalogs that were saved by earlier versions lack the bounds of texts.
    """

    kinds: npt.NDArray[Any]
    counts: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.int64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    bloom: pa.Array | None
    first: pa.Array | None
    last: pa.Array | None

    @classmethod
    def of(cls, column: pa.StructArray) -> ColumnFacts:
        """The facts in an array of `FACT`, which may lack its last members."""
        # With the nulls of the structs: the facts of a shard that says nothing are null as a whole.
        members = dict(zip((field.name for field in column.type.fields), column.flatten(), strict=True))

        def integers(name: str) -> npt.NDArray[np.int64]:
            return np.asarray(members[name].fill_null(-1).to_numpy(zero_copy_only=False))

        def numbers(name: str) -> npt.NDArray[np.float64]:
            return np.asarray(members[name].to_numpy(zero_copy_only=False), np.float64)

        kinds = np.asarray(members["kind"].fill_null("").to_numpy(zero_copy_only=False))
        bloom, first, last = (members.get(name) for name in ("bloom", "first", "last"))
        return cls(kinds, integers("count"), integers("nulls"), numbers("low"), numbers("high"), bloom, first, last)


def fact_paths(nodes: Sequence[SchemaNode]) -> dict[str, tuple[SchemaNode, ...]]:
    """The columns that have facts: values that are not inside lists, by path."""
    found: dict[str, tuple[SchemaNode, ...]] = {}

    def walk(node: SchemaNode, above: tuple[SchemaNode, ...], path: str) -> None:
        if len(found) >= _MOST_PATHS or node.internal:
            return
        if node.basic_type is BasicType.STRUCT:
            for child in node.children:
                walk(child, (*above, node), f"{path}.{quote_name(child.name)}")
        elif node.basic_type in WIDTHS or node.basic_type in BYTES or node.basic_type is BasicType.BOOLEAN:
            found[path] = (*above, node)

    for node in nodes:
        walk(node, (), quote_name(node.name))
    return found


def kind_of(node: SchemaNode) -> str:
    """What values of a node are compared as. Facts about other kinds of nodes say nothing about it."""
    if node.basic_type in WIDTHS and not node.extension and node.dtype[0] in "iu" and not node.is_ticks:
        return "integer"
    return f"{node.basic_type.name}/{node.extension}/{node.fixed_size if node.is_decimal else ''}"


def fact_of(shard: ShardReader, nodes: Sequence[SchemaNode]) -> dict[str, object] | None:
    """The facts of one column; None if the shard does not say."""
    node = nodes[-1]
    field = shard.descriptor(node)
    if field is None:
        return None
    low, high = _bounds(field)
    first, last = _byte_bounds(field, node)
    # A member of a struct has no position where the struct is null: its counts are not those of rows.
    is_column = len(nodes) == 1
    return {
        "kind": kind_of(node),
        "count": field.position_count if is_column else None,
        "nulls": field.null_count if is_column else None,
        "low": low,
        "high": high,
        "bloom": _filters(shard, node) if is_column and node.basic_type in BYTES else None,
        "first": first,
        "last": last,
    }


def _bounds(field: FieldDescriptor) -> tuple[float | None, float | None]:
    stats = field.range_stats
    if field.constant_value is not None and field.dictionary_size is None:
        low = high = _number(field.constant_value)
    else:
        low = None if stats is None or stats.min is None else _number(stats.min)
        high = None if stats is None or stats.max is None else _number(stats.max)
    return None if low is None else outward(low, -1), None if high is None else outward(high, 1)


def _byte_bounds(field: FieldDescriptor, node: SchemaNode) -> tuple[bytes | None, bytes | None]:
    """The bounds of texts and bytes; None where there are none."""
    if field.range_stats is None or node.is_decimal or node.basic_type not in BYTES:
        return None, None
    return byte_bounds(field.range_stats)


def _number(value: AnyValue) -> Number | None:
    found = value.value
    if value.kind == "decimal" and isinstance(found, bytes):
        number = decimal128.to_decimal(found)
        return number if number.is_finite() else None
    if value.kind in ("u64", "i64", "double", "datetime", "timespan") and isinstance(found, int | float):
        return None if found != found else found
    return None


def outward(number: Number, step: int) -> float:
    """The nearest double that is not above (`step` -1) or not below (1) a number.

    >>> outward(2**53 + 1, -1) <= 2**53 + 1 <= outward(2**53 + 1, 1)
    True
    """
    try:
        found = float(number)
    except OverflowError:
        found = math.inf if number > 0 else -math.inf
    exact = Decimal(found) if isinstance(number, Decimal) else found
    if (exact > number) if step < 0 else (exact < number):
        return math.nextafter(found, step * math.inf)
    return found


def _filters(shard: ShardReader, node: SchemaNode) -> list[bytes] | None:
    found = list(_each_filter(shard, node))
    return None if None in found else [each for each in found if each is not None]


def _each_filter(shard: ShardReader, node: SchemaNode) -> Iterator[bytes | None]:
    """The Bloom filter of each stripe that has values; None for a stripe whose filter says nothing."""
    for stripe in shard.stripes:
        stored = stripe.descriptor(node)
        if stored is None or stored.field.null_count == stored.field.position_count:
            continue
        found = stored.field.bloom_filter
        fits = found is not None and found.hash_algorithm == HASH_ALGORITHM and found.hash_seed == BLOOM_SEED
        yield found.data if found is not None and fits and len(found.data) == 32 * found.num_blocks else None
