"""Decimals that repeat: they are written as codes of a dictionary, with the statistics of their values."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.encoding import CodedSlots, ValueSlots
from amudai.stats import BytesCollector
from amudai.types import DECIMAL, BasicType, SchemaNode, decimal128
from tests.oracle.decimal128 import from_decimal
from tests.oracle.statistics import collect

NODE = SchemaNode(schema_id=0, name="price", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=16, extension=DECIMAL)
MONEY = pa.decimal128(15, 2)


def repeated(values: list[Decimal | None], count: int, kind: pa.DataType = MONEY) -> pa.Array:
    """Each value equally often, shuffled: what repeats in the same order is smaller in compressed blocks."""
    order = np.random.default_rng(3).permutation(count)
    return pa.array([values[at % len(values)] for at in order], kind)


def encodings(shard: amudai.Shard, column: str) -> set[str]:
    return {cascade.split("(")[0] for cascade in shard[column].encodings}


@pytest.mark.parametrize("profile", ["balanced", "high_compression", "minimal_size"])
@pytest.mark.parametrize(
    "kind", [MONEY, pa.decimal128(34, 10), pa.decimal256(30, 2), pa.decimal64(15, 2), pa.decimal32(9, 2)], ids=str
)
def test_few_values_become_a_dictionary(profile: str, kind: pa.DataType, tmp_path: Path) -> None:
    values = [Decimal(at * 7 % 50) / 4 - 5 for at in range(50)]
    with_nulls = [None if at % 7 == 3 else value for at, value in enumerate(values)]
    table = pa.table({"price": repeated([*values], 20_000, kind), "nulls": repeated(with_nulls, 20_000, kind)})
    shard = amudai.write(table, tmp_path / "prices.amudai.shard", profile=profile)
    assert encodings(shard, "price") == encodings(shard, "nulls") == {"dictionary"}
    assert shard.read().equals(table)
    assert shard.take([19_999, 3, 7]).equals(table.take([19_999, 3, 7]))
    assert shard.verify().ok


def test_many_values_and_the_plain_profile_have_no_dictionary(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    prices = pa.array([Decimal(int(cents)) / 100 for cents in random.integers(0, 10**9, 40_000)], MONEY)
    table = pa.table({"price": prices})
    shard = amudai.write(table, tmp_path / "prices.amudai.shard")
    assert "dictionary" not in encodings(shard, "price")
    assert shard.read().equals(table)
    few = pa.table({"price": repeated([Decimal(1), Decimal(2)], 5000)})
    assert encodings(amudai.write(few, tmp_path / "plain.amudai.shard", profile="plain"), "price") == {"plain"}


@pytest.mark.slow
def test_values_that_stop_repeating_are_moved_to_blocks_with_a_range_index(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    first = [Decimal(at % 5) for at in range(30_000)]
    rest = [Decimal(int(cents)) / 100 for cents in random.integers(10**6, 10**9, 400_000)]
    table = pa.table({"price": pa.array([*first, *rest], MONEY)})
    shard = amudai.write(table, tmp_path / "prices.amudai.shard")
    assert "dictionary" not in encodings(shard, "price")
    assert shard.read().equals(table)
    found = shard.scan(where=amudai.col("price") < 5)
    assert found.count() == 30_000
    assert "range index" in str(found.explain())
    stats = shard["price"].stats
    assert (stats.min, stats.max) == (Decimal("0.00"), max(rest))


@pytest.mark.parametrize("kind", ["codes", "blocks"])
def test_statistics_do_not_depend_on_the_dictionary(kind: str, tmp_path: Path) -> None:
    values = [None, Decimal("-1.50"), Decimal("0.00"), Decimal("7.25"), Decimal("7.25"), Decimal("-0.75")]
    table = pa.table({"price": repeated(values, 6000)})
    profile = "plain" if kind == "blocks" else "balanced"
    shard = amudai.write(table, tmp_path / "prices.amudai.shard", profile=profile)
    assert encodings(shard, "price") == {"dictionary" if kind == "codes" else "plain"}
    stats = shard["price"].stats
    assert (stats.min, stats.max, stats.null_count) == (Decimal("-1.50"), Decimal("7.25"), 1000)
    assert stats.details == {"zero_count": 1000, "negative_count": 2000, "positive_count": 2000, "nan_count": 0}


def test_one_value_is_a_constant(tmp_path: Path) -> None:
    table = pa.table({"price": repeated([Decimal("1.50")], 5000)})
    shard = amudai.write(table, tmp_path / "prices.amudai.shard")
    assert encodings(shard, "price") == {"constant"}
    assert shard.read().equals(table)


stored = st.sampled_from(
    [from_decimal(Decimal(text)) for text in ("0", "-0", "1.0", "1.00", "-7", "NaN", "sNaN5", "Infinity", "-Infinity")]
)


@given(st.lists(st.none() | stored, max_size=40))
def test_the_statistics_of_entries_are_those_of_values(values: list[bytes | None]) -> None:
    collector = BytesCollector(NODE, few=True)
    entries = list(dict.fromkeys(values))
    data = np.frombuffer(b"".join(entry or bytes(16) for entry in entries), np.uint8)
    times = np.array([values.count(entry) for entry in entries], np.uint64)
    collector.add_entries(None, data, times, entries.index(None) if None in entries else None)
    assert collector.finish() == collect(pa.array(values, pa.binary(16)), NODE)
    only = entries[0] if len(entries) == 1 else None
    constant = collector.constant(128)
    if only is not None and not decimal128.to_decimal(only).is_nan():
        assert constant is not None
        assert constant.value == only
    elif entries != [None]:
        assert constant is None


def test_codes_of_the_caller_are_decimals_too() -> None:
    rows = np.frombuffer(b"".join(from_decimal(Decimal(number)) for number in range(3)), np.uint8)
    coded = CodedSlots(np.array([2, 0, 2], np.uint32), ValueSlots(None, rows, 3, None, 16), None)
    assert coded.part(0, 3).data.tobytes() == rows[32:].tobytes() + rows[:16].tobytes() + rows[32:].tobytes()


# ---- scaled integers ----

SCALED = [MONEY, pa.decimal32(7, 3), pa.decimal64(18, 0), pa.decimal128(18, -2), pa.decimal256(18, 18)]


@pytest.mark.parametrize("kind", SCALED, ids=str)
@pytest.mark.parametrize("profile", ["plain", "balanced"])
def test_scaled_integers_come_back_as_decimals(kind: pa.DataType, profile: str, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    most = 10**kind.precision - 1
    numbers = [most, -most, 0, *(int(number) for number in random.integers(-min(most, 10**6), min(most, 10**6), 3000))]
    values = [Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -kind.scale)) for number in numbers]
    table = pa.table({"price": pa.array([*values, None], kind), "tags": pa.array([values[:3]] * len(values) + [None])})
    table = table.set_column(1, "prices", table["tags"].cast(pa.list_(kind)))
    shard = amudai.write(table, tmp_path / "prices.amudai.shard", profile=profile, decimals="int64")
    assert shard["price"].stored_type == "int64"
    assert shard["prices"].stored_type == "list<int64>"
    assert shard.read().equals(table)
    assert shard.take([5, 0, 3003]).equals(table.take([5, 0, 3003]))
    assert (shard["price"].stats.min, shard["price"].stats.max) == (min(values), max(values))
    assert shard.verify().ok
    bound = values[10]
    for where, count in (
        (amudai.col("price") == bound, sum(value == bound for value in values)),
        (amudai.col("price") != bound, sum(value != bound for value in values)),
        (amudai.col("price") < bound, sum(value < bound for value in values)),
        (amudai.col("price") >= bound, sum(value >= bound for value in values)),
        (amudai.col("price").isin([bound, Decimal(0)]), sum(value in (bound, 0) for value in values)),
        (amudai.col("price").is_null(), 1),
    ):
        assert shard.scan(where=where).count() == count, where
    # What a reader sees that does not know the Arrow schema.
    raw = amudai.open(tmp_path / "prices.amudai.shard", schema={"price": pa.int64()})
    assert raw.read(["price"])["price"].to_pylist() == [*numbers, None]


def test_a_hash_index_finds_scaled_integers(tmp_path: Path) -> None:
    table = pa.table({"price": pa.array([Decimal(number) / 4 for number in range(5000)], MONEY)})
    indexes = [amudai.HashIndex("price")]
    shard = amudai.write(table, tmp_path / "prices.amudai.shard", decimals="int64", indexes=indexes)
    found = shard.scan(where=amudai.col("price") == Decimal("12.5"))
    assert found.positions().tolist() == [50]
    assert shard.scan(where="price == 12.505").count() == 0


def test_longer_decimals_are_not_scaled(tmp_path: Path) -> None:
    table = pa.table({"price": pa.array([Decimal("1.5"), None, Decimal("-7")], pa.decimal128(19, 2))})
    shard = amudai.write(table, tmp_path / "prices.amudai.shard", decimals="int64")
    assert shard["price"].stored_type == "decimal"
    assert shard.read().equals(table)


@pytest.mark.parametrize("number", [100_000, -100_000, 2**64, -(2**64), 2**127 - 1])
def test_a_value_with_too_many_digits_is_refused(number: int, tmp_path: Path) -> None:
    rows = (7).to_bytes(16, "little") + number.to_bytes(16, "little", signed=True)
    array = pa.Array.from_buffers(pa.decimal128(5, 2), 2, [None, pa.py_buffer(rows)])
    with pytest.raises(amudai.errors.InvalidArgument, match=rf"decimal at 1: .*decimal\(5, 2\), found {number}E-2"):
        amudai.write({"price": array}, tmp_path / "prices.amudai.shard", decimals="int64")


def test_integers_that_a_type_cannot_show_are_refused(tmp_path: Path) -> None:
    amudai.write({"n": [1, 10**6]}, tmp_path / "n.amudai.shard")
    shard = amudai.open(tmp_path / "n.amudai.shard", schema={"n": pa.decimal128(6, 2)})
    assert shard.read(rows=slice(0, 1))["n"].to_pylist() == [Decimal("0.01")]
    with pytest.raises(amudai.errors.InvalidArgument, match=r"expected a value of decimal\(6, 2\), found 1000000E-2"):
        shard.read()
