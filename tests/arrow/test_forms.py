"""Are times, decimals and strings the same in every form in which they may be asked for?"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import amudai
from amudai.types import decimal128

ROWS = 5000  # more than are divided one by one

UNITS: list[tuple[pa.DataType, int]] = [
    (pa.date32(), 1),
    (pa.date64(), 86_400_000),
    (pa.timestamp("s"), 1),
    (pa.timestamp("ms"), 250),
    (pa.timestamp("us", "UTC"), 1),
    (pa.timestamp("ns"), 100),
    (pa.duration("s"), 1),
    (pa.duration("us"), 7),
]
SHAPES = {
    "random": lambda rng: rng.integers(-9_000, 9_000, ROWS),
    "few": lambda rng: rng.choice(rng.integers(-9_000, 9_000, 20), ROWS),
    "steps": lambda rng: np.arange(ROWS) + rng.integers(0, 2, ROWS),
    "same": lambda _: np.full(ROWS, 12_345),
    "runs": lambda rng: np.repeat(rng.integers(-9_000, 9_000, ROWS), rng.integers(1, 90, ROWS))[:ROWS],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("kind", "step"), UNITS, ids=str)
@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
def test_times(tmp_path: Path, kind: pa.DataType, step: int, shape: str, nulls: bool) -> None:
    rng = np.random.default_rng(5)
    numbers = SHAPES[shape](rng) * step
    mask = rng.random(ROWS) < 0.3 if nulls else None
    storage = pa.array(numbers.astype(np.int32 if kind.bit_width == 32 else np.int64), mask=mask)
    table = pa.table({"t": storage.view(kind)})
    with amudai.write(table, tmp_path / "t.amudai.shard") as shard:
        whole = shard.read()
        assert whole.equals(table)
        whole.validate(full=True)
        assert shard.read(rows=slice(3, 2500)).equals(table.slice(3, 2497))
        some = np.flatnonzero(rng.random(ROWS) < 0.5)
        assert shard.take(some).equals(table.take(some))


def test_times_in_runs_and_in_blocks_of_one_value(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    parts = [np.repeat(np.arange(2_000) * 7, 70), np.full(200_000, 9_000_000), np.arange(70_000) * 11]
    numbers = np.concatenate(parts)
    table = pa.table({"t": pa.array(numbers, pa.timestamp("us"))})
    with amudai.write(table, tmp_path / "t.amudai.shard") as shard:
        encodings = " ".join(shard["t"].encodings)
        assert "run_length" in encodings
        assert "single_value" in shard["t"].encodings
        assert shard.read().equals(table)
        for first, last in ((69, 71), (139_000, 141_000), (170_001, 300_003), (339_999, 340_001)):
            assert shard.read(rows=slice(first, last)).equals(table.slice(first, last - first))
        some = np.flatnonzero(rng.random(len(numbers)) < 0.01)
        assert shard.take(some).equals(table.take(some))


@pytest.mark.parametrize("at", [0, 9_999, 19_999])
def test_a_run_of_times_that_a_coarser_type_cannot_hold(tmp_path: Path, at: int) -> None:
    seconds = np.repeat(np.arange(200), 100) * 86_400
    seconds[at // 100 * 100 : at // 100 * 100 + 100] += 1
    path = tmp_path / "t.amudai.shard"
    with amudai.write(pa.table({"t": pa.array(seconds, pa.timestamp("s"))}), path) as shard:
        assert "run_length" in " ".join(shard["t"].encodings)
    with (
        amudai.open(path, schema={"t": pa.date32()}) as shard,
        pytest.raises(amudai.InvalidArgument, match="ticks is finer than its unit for date32"),
    ):
        shard.read()


def test_times_that_a_coarser_type_cannot_hold(tmp_path: Path) -> None:
    seconds = np.arange(ROWS) * 86_400
    fits = pa.table({"t": pa.array(seconds, pa.timestamp("s"))})
    misfit = seconds + (np.arange(ROWS) == 4321)
    path = tmp_path / "t.amudai.shard"
    amudai.write(fits, path).close()
    with amudai.open(path, schema={"t": pa.date32()}) as shard:
        assert shard.read()["t"].to_pylist() == fits["t"].cast(pa.date32()).to_pylist()
    amudai.write(pa.table({"t": pa.array(misfit, pa.timestamp("s"))}), path, overwrite=True).close()
    with (
        amudai.open(path, schema={"t": pa.date32()}) as shard,
        pytest.raises(amudai.InvalidArgument, match="ticks is finer than its unit for date32"),
    ):
        shard.read()


DECIMALS = [pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(15, 2), pa.decimal128(38, 6), pa.decimal256(50, 2)]


def _few_decimals(nulls: bool, kind: pa.DataType, largest: str = "912.00") -> pa.Array:
    rng = np.random.default_rng(7)
    distinct = [Decimal("0.00"), Decimal("-0.25"), Decimal("17.5"), Decimal("-100.00"), Decimal(largest)]
    values = [distinct[code] for code in rng.integers(0, len(distinct), ROWS)]
    return pa.array(values, kind, mask=rng.random(ROWS) < 0.3 if nulls else None)


@pytest.mark.parametrize("kind", DECIMALS, ids=str)
@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
def test_decimals_of_a_dictionary(tmp_path: Path, kind: pa.DataType, nulls: bool) -> None:
    table = pa.table({"d": _few_decimals(nulls, pa.decimal128(15, 2))})
    expected = table.cast(pa.schema({"d": kind}))
    path = tmp_path / "t.amudai.shard"
    with amudai.write(table, path) as shard:
        assert "dictionary" in " ".join(shard["d"].encodings)
    converted: list[int] = []

    def to_unscaled(data: Any, *args: Any, **options: Any) -> Any:
        converted.append(len(data) // decimal128.SIZE)
        return convert(data, *args, **options)

    convert = decimal128.to_unscaled
    with mock.patch.object(decimal128, "to_unscaled", to_unscaled), amudai.open(path, schema={"d": kind}) as shard:
        whole = shard.read()
        assert converted == [6 if nulls else 5]  # each entry once
        whole.validate(full=True)
        assert whole.equals(expected)
        assert shard.read(rows=slice(3, 2500)).equals(expected.slice(3, 2497))
        assert shard.take([4, 4_000]).equals(expected.take([4, 4_000]))
        above = pc.greater(expected["d"], pa.scalar(Decimal(17), kind))
        assert shard.scan(where=amudai.col("d") > Decimal(17)).to_table().equals(expected.filter(above))


@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
def test_a_decimal_of_a_dictionary_that_a_narrower_type_cannot_hold(tmp_path: Path, nulls: bool) -> None:
    table = pa.table({"d": _few_decimals(nulls, pa.decimal128(15, 2), "123456.00")})
    large = np.flatnonzero(pc.equal(table["d"], Decimal("123456.00")).fill_null(False).to_numpy())
    path = tmp_path / "t.amudai.shard"
    with amudai.write(table, path) as shard:
        assert "dictionary" in " ".join(shard["d"].encodings)
    kind = pa.decimal128(6, 2)
    with amudai.open(path, schema={"d": kind}) as shard:
        with pytest.raises(amudai.InvalidArgument, match=f"decimal at {large[0]}: "):
            shard.read()
        others = np.setdiff1d(np.arange(ROWS), large)
        assert shard.take(others).equals(table.take(others).cast(pa.schema({"d": kind})))


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
@pytest.mark.parametrize("nulls", [False, True], ids=["full", "nulls"])
def test_views(tmp_path: Path, kind: pa.DataType, nulls: bool) -> None:
    # Values around the length up to which a view holds the whole value.
    words = ["", "a", "elf letters", "of twelve ..", "thirteen let.", "é" * 30, "x" * 500]
    rng = np.random.default_rng(6)
    mask = rng.random(ROWS) < 0.3 if nulls else None
    few = pa.array(np.array(words)[rng.integers(0, len(words), ROWS)], pa.string(), mask=mask)
    many = pa.array([f"row {at} of many, each with a value of its own" for at in range(ROWS)])
    tags = pa.ListArray.from_arrays(pa.array([0, 2, 2, ROWS], pa.int32()), few)
    path = tmp_path / "t.amudai.shard"
    amudai.write(pa.table({"few": few, "many": many}), path).close()
    with amudai.open(path, schema={"few": kind, "many": kind}) as shard:
        found = shard.read()
        some = shard.take([1, 77, ROWS - 1])
    # The strings outlive the shard.
    for got, expected in ((found, slice(None)), (some, [1, 77, ROWS - 1])):
        got.validate(full=True)
        for name, source in (("few", few), ("many", many)):
            assert got[name].type == kind
            wanted = source if isinstance(expected, slice) else source.take(pa.array(expected))
            assert pc.equal(got[name].cast(pa.large_binary()), wanted.cast(pa.large_binary())).to_pylist() == [
                None if value is None else True for value in wanted.to_pylist()
            ]
    lists = tmp_path / "lists.amudai.shard"
    amudai.write(pa.table({"tags": tags}), lists).close()
    with amudai.open(lists, schema={"tags": pa.list_(kind)}) as shard:
        items = shard.read()["tags"].combine_chunks()
        assert items.flatten().cast(pa.large_binary()).equals(tags.flatten().cast(pa.large_binary()))
