"""Comparing statistics with the values that they are about: both are computed again and must be the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa

from amudai.arrow import (
    ArrowFields,
    child_type,
    project,
    stored_array,
    stored_form,
    to_array,
    value_type,
    wide_scale,
)
from amudai.edit import stored_batches
from amudai.encoding import RangeIndex, decode_range_index, profile_of
from amudai.errors import CorruptedData
from amudai.format import (
    AnyValue,
    BufferKind,
    FieldDescriptor,
    ParquetEncoding,
    StripeFieldDescriptor,
)
from amudai.inspect.alternatives import is_stored_twice
from amudai.rows import Rows
from amudai.shard import BuildOptions, PreparedField, ShardReader, StoredArray, StripeBuilder, StripeReader
from amudai.stats import BloomRequest, FieldStatistics, merge
from amudai.types import NANOSECONDS, BasicType, NodePath, SchemaNode, decimal128, nodes_below

__all__ = ["RecomputedStatistics", "compare_alternatives", "compare_statistics"]

_BATCH_ROWS: Final = 1 << 17
_NUMBERS: Final = frozenset({"u64", "i64", "double", "datetime", "timespan"})  # kinds that readers take for numbers


class RecomputedStatistics:
    """The statistics of a shard, computed from its values."""

    def __init__(self, reader: ShardReader) -> None:
        self._reader = reader
        self._fields = ArrowFields(reader)
        self._whole: dict[int, FieldStatistics] = {}
        self._constants: dict[int, AnyValue | None] = {}
        self._bounds: set[int] = set()  # schema ids of fields that some stripe counts by the levels of Parquet
        self._below_lists = _ids_below(reader.schema.fields(), BasicType.LIST, BasicType.MAP)
        self._below_sized = self._below_lists & _ids_below(reader.schema.fields(), BasicType.FIXED_SIZE_LIST)

    def stripe(self, stripe: StripeReader, node: SchemaNode) -> None:
        """Raise CorruptedData if a top-level field, or one below it, has other statistics than its values."""
        if node.internal == NANOSECONDS:
            return  # they belong to another column
        for path in _without_unions((node,)):
            if stripe.descriptor(path[-1]) is not None:
                self._column(stripe, path)

    def _column(self, stripe: StripeReader, path: NodePath) -> None:
        """A field without unions, and all below it. It is a column, or a variant of a union."""
        node = path[-1]
        ids = frozenset(each.schema_id for each in nodes_below((node,)))
        filters = {each.schema_id: _same_filter(stripe.descriptor(each)) for each in nodes_below((node,))}
        options = BuildOptions(profile=profile_of("balanced"), attached=ids, bloom=filters, distinct=ids)
        builder = StripeBuilder((node,), options)
        kind: pa.DataType | None = self._fields.field(path[0]).type
        for above, below in pairwise(path):
            kind = None if kind is None else child_type(above, below, kind)
        with builder.spool:
            for values in _stored_values(stripe, path):
                scaled = _scaled(values, kind)
                builder.append([lambda values=scaled: values], values.length)  # type: ignore[misc]
            (prepared,) = builder.finish()
            for field in _below(prepared):
                stored = stripe.descriptor(field.node)
                if stored is None:
                    continue  # all null, and not counted in the statistics of the shard
                self._note(field, stored.field)
                self._field(stripe, field, stored)

    def _note(self, field: PreparedField, stored: FieldDescriptor) -> None:
        """What is known about the shard as a whole after one more stripe."""
        key = field.node.schema_id
        self._whole[key] = merge(self._whole.get(key, FieldStatistics()), field.statistics)
        if field.statistics.position_count:
            constant = stored.constant_value
            self._constants[key] = constant if self._constants.get(key, constant) == constant else None

    def _field(self, stripe: StripeReader, field: PreparedField, stored: StripeFieldDescriptor) -> None:
        key = field.node.schema_id
        if key in self._below_lists and any(isinstance(each, ParquetEncoding) for each in stored.encodings):
            self._bounds.add(key)
        try:
            compare_statistics(self._counted(stored.field, field.statistics, key), field.statistics, field.node)
            self._ranges(stripe, field)
        except CorruptedData as error:
            error.locate(stripe=stripe.ordinal, field=field.node.name)
            raise

    def _counted(self, stored: FieldDescriptor, expected: FieldStatistics, key: int) -> FieldDescriptor:
        """The descriptor with the number of positions that the values have, if it states a bound on it.

        Below a list in Parquet, levels of empty and absent lists are counted as well, unless the values were read. A
        null list of a fixed size is one level, whatever its size.
        """
        if key in self._bounds and key in self._below_sized:
            return replace(stored, position_count=expected.position_count, null_count=None)
        if key in self._bounds and stored.position_count > expected.position_count:
            return replace(stored, position_count=expected.position_count)
        return stored

    def _ranges(self, stripe: StripeReader, field: PreparedField) -> None:
        """The range index of a field."""
        made = next((each.whole for each in field.buffers if each.kind is BufferKind.RANGE_INDEX), None)
        path = _path(self._reader.schema.fields(), field.node)
        found = stripe.column_at(path).range_index()
        if found is None or made is None:
            return
        expected = decode_range_index(memoryview(made), field.node, field.statistics.position_count)
        if found.size == expected.size:
            _same_ranges(found, expected)

    def shard(self, nodes: Sequence[SchemaNode]) -> Iterator[CorruptedData]:
        """What is wrong with the statistics of the shard as a whole. All stripes must have been looked at."""
        for node in nodes_below(nodes):
            stored, known = self._reader.descriptor(node), self._whole.get(node.schema_id)
            if stored is not None and known is not None:
                try:
                    compare_statistics(self._counted(stored, known, node.schema_id), known, node)
                    self._same_constant(stored, node)
                except CorruptedData as error:
                    error.locate(field=node.name)
                    yield error

    def _same_constant(self, stored: FieldDescriptor, node: SchemaNode) -> None:
        """A constant of the shard is that of all its stripes."""
        said, constant = stored.constant_value, self._constants.get(node.schema_id)
        if said is not None and said != constant and stored.position_count:
            _differ("constant", "none" if constant is None else constant.value, said.value)


def _ids_below(nodes: Sequence[SchemaNode], *kinds: BasicType) -> frozenset[int]:
    """The schema ids of all fields below fields of these types."""
    parents = [node for node in nodes_below(nodes) if node.basic_type in kinds]
    return frozenset(each.schema_id for node in parents for each in nodes_below(node.children))


def compare_statistics(stored: FieldDescriptor, expected: FieldStatistics, node: SchemaNode) -> None:
    """Raise CorruptedData if statistics that a descriptor states are not those of the values."""
    if stored.position_count != expected.position_count:
        _differ("position_count", expected.position_count, stored.position_count)
    if stored.null_count is not None and expected.null_count is not None and stored.null_count != expected.null_count:
        _differ("null_count", expected.null_count, stored.null_count)
    if stored.raw_data_size is not None and expected.raw_data_size not in (None, stored.raw_data_size):
        _differ("raw_data_size", expected.raw_data_size, stored.raw_data_size)
    if stored.range_stats is not None and expected.range_stats is not None:
        said, true = stored.range_stats, expected.range_stats
        _same_end("least value", (said.min, said.min_inclusive), (true.min, true.min_inclusive), node)
        _same_end("greatest value", (said.max, said.max_inclusive), (true.max, true.max_inclusive), node)
    kind = stored.type_stats
    if kind is not None and expected.type_stats is not None and kind != expected.type_stats:
        _differ("statistics", expected.type_stats, kind)
    sketch = None if stored.cardinality is None else stored.cardinality.sketch
    own = None if expected.cardinality is None else expected.cardinality.sketch
    if sketch is not None and own is not None:
        form = (sketch.hash_algorithm, sketch.hash_seed, sketch.bits_per_index)
        if form == (own.hash_algorithm, own.hash_seed, own.bits_per_index) and sketch.counters != own.counters:
            _differ("sketch of distinct values", "that of the values", "another")
    _same_count(stored, expected)
    bloom, filter_ = stored.bloom_filter, expected.bloom_filter
    if bloom is not None and filter_ is not None and bloom.hash_seed == filter_.hash_seed:
        if bloom.num_values != filter_.num_values:
            _differ("values of the Bloom filter", filter_.num_values, bloom.num_values)
        if len(bloom.data) == len(filter_.data) and bloom.data != filter_.data:
            _differ("Bloom filter", "that of the values", "another")


def _same_count(stored: FieldDescriptor, expected: FieldStatistics) -> None:
    """The number of distinct values: of an estimate that of the sketch, otherwise that of the values."""
    said, own, filter_ = stored.cardinality, expected.cardinality, expected.bloom_filter
    if said is None or said.count is None or own is None:
        return
    is_exact = not said.is_estimate and filter_ is not None
    count = filter_.num_values if is_exact and filter_ is not None else own.count
    if (is_exact or (said.is_estimate and own.is_estimate and said.sketch == own.sketch)) and said.count != count:
        _differ("distinct values", count, said.count)


def _same_filter(stored: StripeFieldDescriptor | None) -> BloomRequest:
    """The request for a filter like that of a descriptor, if it is not too large."""
    found = None if stored is None else stored.field.bloom_filter
    fpp = found.target_fpp if found is not None and 0 < found.target_fpp < 1 else BloomRequest().fpp
    return BloomRequest(fpp, required=False)


def compare_alternatives(reader: ShardReader, other: ShardReader, stripe: StripeReader, node: SchemaNode) -> None:
    """Raise CorruptedData if a column that is stored twice has different values. `other` prefers the other encoding."""
    if not is_stored_twice(stripe, node) or not _is_plain(node):
        return
    second = other.stripes[stripe.ordinal]
    form = stored_form(node)
    projection = project(node, form)
    for rows in Rows.all(stripe.origin).each_part(_BATCH_ROWS):
        one = to_array(stripe.column(node).read(rows, projection), projection, form)
        two = to_array(second.column(node).read(rows.counted_from(second.origin), projection), projection, form)
        if not one.equals(two) and not _same_bits(one, two):
            at = next(at for at in range(len(one)) if repr(one[at].as_py()) != repr(two[at].as_py()))
            row = stripe.first_row + int(rows.positions()[at])
            message = f"row {row}: expected {one[at].as_py()!r} in both encodings, found {two[at].as_py()!r} in Parquet"
            raise CorruptedData(message, url=reader.url, stripe=stripe.ordinal, field=node.name)


def _same_bits(one: pa.Array, two: pa.Array) -> bool:
    """Whether arrays are equal if a NaN equals a NaN."""
    return repr(one.to_pylist()) == repr(two.to_pylist())


def _without_unions(path: NodePath) -> Iterator[NodePath]:
    """The paths of the topmost fields, from this one on, that hold no unions."""
    if _is_plain(path[-1]):
        yield path
        return
    for child in path[-1].children:
        yield from _without_unions((*path, child))


def _stored_values(stripe: StripeReader, path: NodePath) -> Iterator[StoredArray]:
    """The values of a field as they are stored: of a variant of a union those of all its slots, chosen or not."""
    if len(path) == 1:
        yield from (values for _, (values,) in stored_batches(stripe, path))
        return
    node, form = path[-1], stored_form(path[-1])
    source, projection = stripe.column_at(path), project(node, form)
    for slots in Rows.one(0, source.position_count).each_part(_BATCH_ROWS):
        yield stored_array(to_array(source.read(slots, projection), projection, form), node)


def _scaled(values: StoredArray, kind: pa.DataType | None) -> StoredArray:
    """The values with the scales of decimals that are stored as Arrow has them: their bounds are numbers."""
    if kind is None:
        return values
    if values.node.children:
        pairs = zip(values.children, values.node.children, strict=True)
        return replace(values, children=tuple(_scaled(each, child_type(values.node, at, kind)) for each, at in pairs))
    return replace(values, scale=wide_scale(value_type(kind), values.node))


def _is_plain(node: SchemaNode) -> bool:
    """Whether a field holds no unions, whose variants have slots that are not chosen, and counted in statistics."""
    return all(each.basic_type is not BasicType.UNION for each in nodes_below((node,)))


def _below(field: PreparedField) -> Iterator[PreparedField]:
    yield field
    for child in field.children:
        yield from _below(child)


def _path(nodes: Sequence[SchemaNode], wanted: SchemaNode) -> tuple[SchemaNode, ...]:
    """The nodes down to a field."""
    for node in nodes:
        if node.schema_id == wanted.schema_id:
            return (node,)
        below = _path(node.children, wanted)
        if below:
            return (node, *below)
    return ()


def _same_end(
    what: str, found: tuple[AnyValue | None, bool], expected: tuple[AnyValue | None, bool], node: SchemaNode
) -> None:
    """One end of a range, and whether it is a value itself. Numbers of all kinds are compared, as readers do."""
    (bound, inclusive), (own, own_inclusive) = found, expected
    if bound is None or own is None:
        return
    if bound.kind != own.kind and not {bound.kind, own.kind} <= _NUMBERS:
        return
    one, two = _number(own), _number(bound)
    if one != two and not (one != one and two != two):
        _differ(f"{what} of {node}", one, two)
    if own_inclusive and not inclusive:
        _differ(f"{what} of {node}", f"{one} itself among the values", "that it is not")


def _number(value: AnyValue) -> Any:
    return (
        decimal128.to_decimal(value.value)
        if isinstance(value.value, bytes) and value.kind == "decimal"
        else value.value
    )


def _same_ranges(found: RangeIndex, expected: RangeIndex) -> None:
    stretches = len(expected.least)
    if len(found.least) != stretches:
        _differ("stretches of the range index", stretches, len(found.least))
    sizes = np.full(stretches, expected.size)
    if stretches:
        sizes[-1] = expected.span - (stretches - 1) * expected.size
    none = np.zeros(stretches, np.uint16)
    invalid = none if expected.invalid is None else expected.invalid
    if ((none if found.invalid is None else found.invalid) != invalid).any():
        _differ("nulls in the range index", "those of the values", "others")
    filled = invalid < sizes
    for what in ("least", "greatest"):
        one, two = getattr(expected, what)[filled], getattr(found, what)[filled]
        wrong = np.flatnonzero((one != two).reshape(len(one), -1).any(axis=1))
        if len(wrong):
            at = int(np.flatnonzero(filled)[wrong[0]])
            place = f"{what} value of rows {at * expected.size}.. in the range index"
            _differ(place, one[wrong[0]], two[wrong[0]])


def _differ(what: str, expected: object, found: object) -> None:
    raise CorruptedData(f"{what}: expected {expected}, as the values say, found {found}")
