"""What a writer notes is what the oracle finds in the values, and of a shard what `merge` makes of its stripes."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai.column import ColumnSource
from amudai.stats import FieldStatistics, merge
from amudai.types import BasicType, SchemaNode
from tests.oracle.statistics import collect

ROWS = 3000
STRIPE = 700


def columns() -> dict[str, pa.Array]:
    random = np.random.default_rng(5)
    nulls = random.random(ROWS) < 0.2
    numbers = random.integers(-(2**63), 2**63 - 1, ROWS)
    floats = random.normal(0, 10, ROWS)
    floats[:6] = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324]
    words = [f"word {number % 400}" if number % 5 else ["", "é", "\0"][number % 3] for number in numbers.tolist()]
    day = datetime.datetime(2024, 2, 29)
    found: dict[str, pa.Array] = {
        "i64": pa.array(numbers),
        "i64 nulls": pa.array(numbers, mask=nulls),
        "u64": pa.array(numbers.view("u8"), mask=nulls),
        "i8": pa.array(numbers.astype("i1")),
        "f64": pa.array(floats, mask=nulls),
        "f32": pa.array(floats.astype("f4")),
        "nan": pa.array(np.full(ROWS, np.nan)),
        "bool": pa.array(numbers > 0, mask=nulls),
        "text": pa.array(words, mask=nulls),
        "unique": pa.array([f"{number:x}" for number in numbers.tolist()]),
        "binary": pa.array([word.encode() for word in words], mask=nulls),
        "fixed": pa.array([word.encode().ljust(9)[:9] for word in words], pa.binary(9), mask=nulls),
        "when": pa.array([day + datetime.timedelta(seconds=at) for at in range(ROWS)], pa.timestamp("us"), mask=nulls),
        "span": pa.array(numbers // 1000, pa.duration("us"), mask=nulls),
        "decimal": pa.array([Decimal(number) / 100 for number in numbers.tolist()], pa.decimal128(30, 2), mask=nulls),
        "list": pa.array([None if at % 7 == 0 else list(range(at % 5)) for at in range(ROWS)]),
        "struct": pa.array([None if at % 9 == 0 else {"x": at, "y": [str(at)]} for at in range(ROWS)]),
        "map": pa.array([[("k", at)] * (at % 3) for at in range(ROWS)], pa.map_(pa.string(), pa.int64())),
        "pair": pa.array([None if at % 9 == 0 else [at, None] for at in range(ROWS)], pa.list_(pa.int32(), 2)),
        "null": pa.nulls(ROWS),
        "all null": pa.nulls(ROWS, pa.string()),
        "nulls in front": pa.array([None] * 1000 + [1] * (ROWS - 1000), pa.int32()),
        "constant": pa.array(["same"] * ROWS),
    }
    return found


# How the values of a column look to the oracle, where that is not how Arrow has them.
STORED: dict[str, pa.DataType] = {"when": pa.uint64(), "span": pa.int64(), "decimal": pa.binary(16)}


def walk(field: ColumnSource, values: pa.Array) -> Iterator[tuple[ColumnSource, pa.Array]]:
    """Every field below one, with its values."""
    yield field, values
    kind = values.type
    parts: list[pa.Array] = []
    if pa.types.is_struct(kind):
        parts = [values.field(at) for at in range(kind.num_fields)]
    elif pa.types.is_map(kind):
        first, last = values.offsets[0].as_py(), values.offsets[-1].as_py()
        parts = [part.slice(first, last - first) for part in (values.keys, values.items)]
    elif pa.types.is_fixed_size_list(kind):
        size = kind.list_size
        parts = [values.values.slice(values.offset * size, len(values) * size)]
    elif pa.types.is_list(kind):
        parts = [values.flatten()]
    for at, part in enumerate(parts):
        yield from walk(field.child(at), part)


def comparable(found: FieldStatistics, node: SchemaNode, profile: str) -> FieldStatistics:
    """Without the Bloom filter where the profile leaves it out."""
    if profile == "plain" and node.basic_type is not BasicType.GUID:
        found = replace(found, bloom_filter=None)
    return found


@pytest.mark.parametrize("name", columns())
@pytest.mark.parametrize("profile", ["plain", "balanced"])
def test_statistics(name: str, profile: str, tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    column = columns()[name]
    amudai.write({name: pa.chunked_array([column[:450], column[450:]])}, target, profile=profile, stripe_rows=STRIPE)
    shard = amudai.open(target, schema={name: STORED[name]} if name in STORED else None)
    (node,) = shard._reader.schema.fields()
    whole: dict[int, FieldStatistics] = {}
    nodes: dict[int, SchemaNode] = {}
    for stripe in shard._reader.stripes:
        values = shard.read(rows=slice(stripe.first_row, stripe.first_row + stripe.num_rows))[0].combine_chunks()
        for field, below in walk(stripe.column(node), values):
            descriptor = stripe.descriptor(field.node)
            assert descriptor is not None
            found = FieldStatistics.of(descriptor.field)
            expected = comparable(collect(below, field.node), field.node, profile)
            assert found == expected, field.path
            number = field.node.schema_id
            whole[number] = merge(whole.get(number, FieldStatistics()), found)
            nodes[number] = field.node
    for number, merged in whole.items():
        descriptor = shard._reader.descriptor(nodes[number])
        assert descriptor is not None
        assert FieldStatistics.of(descriptor) == merged


def test_what_a_user_sees(tmp_path: Path) -> None:
    shard = amudai.write({"n": [3, None, -5], "t": ["b", "a", "a"]}, tmp_path / "t.amudai.shard")
    numbers, texts = shard["n"].stats, shard["t"].stats
    assert (numbers.count, numbers.null_count, numbers.min, numbers.max) == (3, 1, -5, 3)
    assert (texts.count, texts.null_count, texts.distinct_count) == (3, 0, 2)


# ---- constants ----

CONSTANTS: dict[str, tuple[pa.Array, bool]] = {
    "integer": (pa.array([7] * 9), True),
    "float": (pa.array([0.5] * 9), True),
    "negative zero": (pa.array([-0.0] * 9), True),
    "infinity": (pa.array([-np.inf] * 9), True),
    "true": (pa.array([True] * 9), True),
    "text": (pa.array(["x"] * 9), True),
    "empty text": (pa.array([""] * 9), True),
    "nulls": (pa.array([None] * 9, pa.int64()), True),
    "one": (pa.array([1.0]), True),
    "with NaN": (pa.array([1.0, np.nan, 1.0]), False),
    "zeros": (pa.array([0.0, -0.0]), False),
    "single zeros": (pa.array([0.0, -0.0], pa.float32()), False),
    "with a null": (pa.array([1, None, 1]), False),
    "NaNs": (pa.array([np.nan] * 9), False),
    "false and true": (pa.array([False, True]), False),
    "lengths": (pa.array(["a", "aa"]), False),
    "long text": (pa.array(["x" * 200] * 9), False),
    "null and empty": (pa.array(["", None]), False),
}


@pytest.mark.parametrize("name", CONSTANTS)
@pytest.mark.parametrize("profile", ["plain", "balanced"])
def test_constants(name: str, profile: str, tmp_path: Path) -> None:
    column, is_constant = CONSTANTS[name]
    shard = amudai.write({"c": column}, tmp_path / "t.amudai.shard", profile=profile)
    assert (set(shard["c"].encodings) == {"constant"}) == is_constant
    (node,) = shard._reader.schema.fields()
    descriptor = shard._reader.descriptor(node)
    assert descriptor is not None
    assert (descriptor.constant_value is not None) == is_constant


@pytest.mark.parametrize(
    ("stripes", "is_constant"),
    [
        ([[1.5], [1.5], [1.5]], True),
        ([[0.0], [-0.0]], False),
        ([[1.5], [2.5]], False),
        ([[1.5, 2.5], [1.5, 1.5]], False),
        ([[1.5, 1.5], [1.5, 2.5], [1.5, 1.5]], False),
        ([[None], [1.5]], False),
        ([[None], [None]], True),
    ],
    ids=str,
)
def test_a_constant_of_all_stripes(stripes: list[list[Any]], is_constant: bool, tmp_path: Path) -> None:
    values = pa.array([value for stripe in stripes for value in stripe], pa.float64())
    shard = amudai.write({"c": values}, tmp_path / "t.amudai.shard", stripe_rows=len(stripes[0]))
    (node,) = shard._reader.schema.fields()
    descriptor = shard._reader.descriptor(node)
    assert descriptor is not None
    assert (descriptor.constant_value is not None) == is_constant
