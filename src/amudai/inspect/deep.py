"""Comparing statistics with the values that they are about: both are computed again and must be the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa

from amudai.arrow import ArrowFields, project, stored_form, to_array, wide_scale
from amudai.edit import stored_batches
from amudai.encoding import RangeIndex, decode_range_index, profile_of
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.format import (
    AnyValue,
    BufferKind,
    FieldDescriptor,
    NativeEncoding,
    ParquetEncoding,
    StripeFieldDescriptor,
)
from amudai.rows import Rows
from amudai.shard import BuildOptions, PreparedField, ShardReader, StripeBuilder, StripeReader
from amudai.stats import BloomRequest, FieldStatistics, merge
from amudai.types import BYTES, NANOSECONDS, SchemaNode, decimal128, nodes_below

__all__ = ["RecomputedStatistics", "compare_alternatives", "compare_statistics"]

_BATCH_ROWS: Final = 1 << 17


class RecomputedStatistics:
    """The statistics of a shard, computed from its values."""

    def __init__(self, reader: ShardReader) -> None:
        self._reader = reader
        self._fields = ArrowFields(reader)
        self._whole: dict[int, FieldStatistics] = {}

    def stripe(self, stripe: StripeReader, node: SchemaNode) -> None:
        """Raise CorruptedData if a top-level field, or one below it, has other statistics than its values."""
        if node.internal == NANOSECONDS or not _is_plain(node):
            return  # values of unions, and those that belong to another column
        ids = frozenset(each.schema_id for each in nodes_below((node,)))
        filters = {each.schema_id: _same_filter(stripe.descriptor(each)) for each in nodes_below((node,))}
        options = BuildOptions(profile=profile_of("balanced"), attached=ids, bloom=filters, distinct=ids)
        builder = StripeBuilder((node,), options)
        scale = wide_scale(self._fields.field(node).type, node) if node.basic_type in BYTES else None
        with builder.spool:
            for rows, (values,) in stored_batches(stripe, (node,)):
                ordered = values if scale is None else replace(values, scale=scale)
                builder.append([lambda values=ordered: values], rows.count)  # type: ignore[misc]
            (prepared,) = builder.finish()
            for field in _below(prepared):
                if stripe.descriptor(field.node) is None:
                    continue  # all null, and not counted in the statistics of the shard
                known = self._whole.get(field.node.schema_id, FieldStatistics())
                self._whole[field.node.schema_id] = merge(known, field.statistics)
                self._field(stripe, field)

    def _field(self, stripe: StripeReader, field: PreparedField) -> None:
        stored = stripe.descriptor(field.node)
        assert stored is not None
        try:
            compare_statistics(stored.field, field.statistics, field.node)
            self._ranges(stripe, field)
        except CorruptedData as error:
            error.locate(stripe=stripe.ordinal, field=field.node.name)
            raise

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
                    compare_statistics(stored, known, node)
                except CorruptedData as error:
                    error.locate(field=node.name)
                    yield error


def compare_statistics(stored: FieldDescriptor, expected: FieldStatistics, node: SchemaNode) -> None:
    """Raise CorruptedData if statistics that a descriptor states are not those of the values."""
    if stored.position_count != expected.position_count:
        _differ("position_count", expected.position_count, stored.position_count)
    if stored.null_count is not None and expected.null_count is not None and stored.null_count != expected.null_count:
        _differ("null_count", expected.null_count, stored.null_count)
    if stored.range_stats is not None and expected.range_stats is not None:
        ends = stored.range_stats, expected.range_stats
        _same_end("least value", ends[0].min, ends[1].min, node)
        _same_end("greatest value", ends[0].max, ends[1].max, node)
    kind = stored.type_stats
    if kind is not None and type(kind) is type(expected.type_stats) and kind != expected.type_stats:
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
    stored = stripe.descriptor(node)
    kinds = {type(each) for each in stored.encodings if not _is_range_index(each)} if stored is not None else set()
    if not {NativeEncoding, ParquetEncoding} <= kinds or not _is_plain(node):
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


def _is_range_index(encoding: object) -> bool:
    return isinstance(encoding, NativeEncoding) and {each.kind for each in encoding.buffers} == {BufferKind.RANGE_INDEX}


def _same_bits(one: pa.Array, two: pa.Array) -> bool:
    """Whether arrays are equal if a NaN equals a NaN."""
    return repr(one.to_pylist()) == repr(two.to_pylist())


def _is_plain(node: SchemaNode) -> bool:
    try:
        stored_form(node)
    except UnsupportedFeature:
        return False
    return True


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


def _same_end(what: str, found: AnyValue | None, expected: AnyValue | None, node: SchemaNode) -> None:
    if found is None or expected is None or found.kind != expected.kind:
        return
    one, two = _number(expected), _number(found)
    if one != two and not (one != one and two != two):
        _differ(f"{what} of {node}", one, two)


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
