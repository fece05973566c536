"""Are the statistics that the reference stored those that its values have?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from amudai.arrow import arrow_field, project, to_array
from amudai.column import ColumnSource
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.stats import BLOOM_SEED, HLL_SEED, FieldStatistics, bloom, merge
from amudai.types import BYTES, BasicType, SchemaNode
from tests import golden
from tests.oracle.statistics import collect, hash_values, hll_sketch

# The plain profile of the reference keeps no Bloom filters, but of GUIDs.
WITHOUT_FILTERS = {case.root for case in golden.CASES if case.profile == "plain"}
SHARDS = [pytest.param(path, id=f"{path.parent.name}/{path.name.partition('.')[0]}") for path in golden.SHARDS]


def storage_type(node: SchemaNode) -> pa.DataType:
    """The Arrow type that shows values as they are stored: ticks as integers, decimals and GUIDs as bytes."""
    children = [pa.field(child.name, storage_type(child)) for child in node.children]
    match node.basic_type:
        case BasicType.DATETIME:
            return pa.uint64()
        case BasicType.INT64:
            return pa.int64() if node.signed else pa.uint64()
        case BasicType.GUID | BasicType.FIXED_SIZE_BINARY:
            return pa.binary(node.fixed_size)
        case BasicType.STRING:
            return pa.string()
        case BasicType.LIST:
            return pa.list_(children[0])
        case BasicType.FIXED_SIZE_LIST:
            return pa.list_(children[0], node.fixed_size)
        case BasicType.MAP:
            return pa.map_(children[0].type, children[1].type)
        case BasicType.STRUCT:
            return pa.struct(children)
    return arrow_field(node, lambda _: None).type


def stored_fields(shard: ShardReader) -> Iterator[tuple[StripeReader, ColumnSource]]:
    """Every field of every stripe, at any depth, that has a descriptor."""
    for stripe in shard.stripes:
        for node in shard.schema.fields():
            for field in stripe.column(node).walk():
                if not field.is_absent:
                    yield stripe, field


def values_of(field: ColumnSource) -> pa.Array:
    kind = storage_type(field.node)
    projection = project(field.node, kind)
    return to_array(field.read(Rows.one(0, field.position_count), projection), projection, kind)


def contents_of(array: pa.Array) -> list[bytes]:
    """The bytes of strings or binaries that are not null."""
    return [value.encode() if isinstance(value, str) else value for value in array.to_pylist() if value is not None]


def stored_in(stripe: StripeReader, field: ColumnSource) -> FieldStatistics:
    descriptor = stripe.descriptor(field.node)
    assert descriptor is not None
    return FieldStatistics.of(descriptor.field)


@pytest.mark.slow
@pytest.mark.parametrize("path", SHARDS)
def test_of_stripes_and_of_the_shard(path: Path) -> None:
    shard = ShardReader(path)
    folded: dict[int, tuple[SchemaNode, FieldStatistics]] = {}
    sizes: dict[int, list[int | None]] = {stripe.ordinal: [] for stripe in shard.stripes}
    for stripe, field in stored_fields(shard):
        found, stored = collect(values_of(field), field.node), stored_in(stripe, field)
        sizes[stripe.ordinal].append(found.raw_data_size)
        if field.node.basic_type in BYTES and not field.node.is_decimal:
            found = replace(found, range_stats=None)  # the reference states no bounds of texts and bytes
        if path in WITHOUT_FILTERS and field.node.basic_type is not BasicType.GUID:
            assert stored.bloom_filter is None
            stored = replace(stored, bloom_filter=found.bloom_filter)
        assert found == stored, f"stripe {stripe.ordinal}, field {field.path}"
        _, before = folded.get(field.node.schema_id, (field.node, FieldStatistics()))
        folded[field.node.schema_id] = field.node, merge(before, found)
    for node, found in folded.values():
        descriptor = shard.descriptor(node)
        assert descriptor is not None, node.name
        assert found == FieldStatistics.of(descriptor), f"field {node.name} of the shard"
    stripes = [total(known) for known in sizes.values()]
    assert [stripe.directory.raw_data_size for stripe in shard.stripes] == stripes
    assert shard.directory.raw_data_size == total(stripes)


def total(sizes: list[int | None]) -> int | None:
    """The sum of the values that are known; None if none is."""
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None


@pytest.mark.parametrize("path", SHARDS)
def test_sketches_answer_for_their_values(path: Path) -> None:
    """Filters hold every value and refuse most others; sketches have the registers and the estimate of the values."""
    for stripe, field in stored_fields(ShardReader(path)):
        stored = stored_in(stripe, field)
        if field.node.basic_type not in BYTES or field.node.is_decimal:
            assert stored.cardinality is None
            assert stored.bloom_filter is None
            continue
        values = contents_of(values_of(field))
        if stored.cardinality is not None:
            assert stored.cardinality.sketch is not None
            assert stored.cardinality.sketch.hash_seed == HLL_SEED
            sketch = hll_sketch(values)
            assert sketch.counters.tobytes() == stored.cardinality.sketch.counters
            assert sketch.estimate() == stored.cardinality.count
        if stored.bloom_filter is not None:
            data = stored.bloom_filter.data
            assert stored.bloom_filter.hash_seed == BLOOM_SEED
            assert bloom.probe_many(data, hash_values(values, BLOOM_SEED)).all()
            others = hash_values([b"not there %d" % at for at in range(2000)], BLOOM_SEED)
            assert np.count_nonzero(bloom.probe_many(data, others)) < 100


def test_the_cases_cover_every_kind_of_statistics() -> None:
    kinds, filters, estimates, merged = set(), 0, 0, 0
    for path in golden.SHARDS:
        shard = ShardReader(path)
        for stripe, field in stored_fields(shard):
            stored = stored_in(stripe, field)
            kinds.add(type(stored.type_stats).__name__)
            filters += stored.bloom_filter is not None
            estimates += stored.cardinality is not None
        merged += len(shard.stripes) > 1
    names = {"StringStats", "ListStats", "BooleanStats", "DecimalStats", "FloatingStats", "BinaryStats", "NoneType"}
    assert kinds == names
    assert min(filters, estimates, merged) > 3
