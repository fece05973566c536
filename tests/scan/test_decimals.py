"""Predicates on decimals, which are compared as stored values."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import col
from amudai.encoding import DecimalRanges
from amudai.errors import CorruptedData
from amudai.plan import check
from amudai.predicate import Compare, Predicate
from amudai.rows import Rows
from tests.column.columns import opened
from tests.forge import Column, Forge, decimals, dictionary, open_forged
from tests.oracle.binary import block_dictionary, fsst, lz4, plain, single_value, zstd
from tests.oracle.decimal128 import from_decimal, to_decimal
from tests.oracle.numeric import ffor
from tests.oracle.predicates import rows_of

OPS: Final[Any] = ["==", "!=", "<", "<=", ">", ">="]
MONEY: Final = pa.decimal128(15, 2)


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that reads values to compare them fails."""

    def refuse(*_: object) -> pa.ChunkedArray:
        raise AssertionError("values were read")

    monkeypatch.setattr(check, "read_rows", refuse)


def wheres(bounds: list[Decimal]) -> list[Predicate]:
    found: list[Predicate] = [Compare("price", op, bound) for op in OPS for bound in bounds]
    found += [col("price").between(bounds[0], bounds[-1]), col("price").isin(bounds), col("price").isin(bounds * 9)]
    return found + [~where for where in found]


@pytest.mark.slow
@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize("few", [True, False])
def test_values_are_compared_without_reading_them(few: bool, tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    values = [Decimal(int(cents)) / 100 for cents in random.integers(0, 50 if few else 10**7, 1500)]
    table = pa.table({"price": pa.array([*values, None], MONEY)})
    shard = amudai.write(table, tmp_path / "prices.amudai.shard")
    for where in wheres([Decimal("0.10"), Decimal("0.20"), Decimal("50.00")]):
        assert shard.scan(where=where).positions().tolist() == rows_of(where, table.to_pylist()), where


@cache
def rows_of_prices(where: Predicate, values: tuple[Decimal | None, ...]) -> list[int]:
    return rows_of(where, [{"price": value} for value in values])


@pytest.mark.parametrize("kind", [pa.decimal128(38, 10), pa.decimal256(76, 38), pa.decimal128(5, -2)], ids=str)
def test_few_values_in_the_form_of_arrow(kind: pa.DataType, tmp_path: Path) -> None:
    """Decimals that the format's own form does not hold are bytes, and few of them have a dictionary."""
    random = np.random.default_rng(7)
    pool = [None, *(Decimal(number) for number in ("-300", "0", "100", "700"))]
    table = pa.table({"price": pa.array([pool[at] for at in random.integers(0, len(pool), 400)], kind)})
    shard = amudai.write(table, tmp_path / "prices.amudai.shard")
    for where in wheres([Decimal("0"), Decimal("100"), Decimal("300")]):
        assert shard.scan(where=where).positions().tolist() == rows_of(where, table.to_pylist()), where


@pytest.mark.parametrize("kind", [MONEY, pa.decimal128(34, 2), pa.decimal256(30, 4), pa.decimal64(15, 2)], ids=str)
@pytest.mark.parametrize("shape", ["codes", "blocks", "plain", "runs"])
@pytest.mark.parametrize("nulls", [0.0, 0.2])
@pytest.mark.slow
def test_all_operators(kind: pa.DataType, shape: str, nulls: float, tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    cents = random.integers(-25, 25, 1500) if shape == "codes" else random.integers(-(10**7), 10**7, 1500)
    if shape == "runs":
        cents = np.sort(cents)
    values = tuple(None if random.random() < nulls else Decimal(int(number)) / 100 for number in cents)
    table = pa.table({"price": pa.array(values, kind)})
    profile = "plain" if shape == "plain" else "balanced"
    shard = amudai.write(table, tmp_path / "prices.amudai.shard", profile=profile)
    assert any("dictionary" in name for name in shard["price"].encodings) == (shape == "codes")
    known = sorted(value for value in values if value is not None)
    for where in wheres([known[50], Decimal("-0.005"), Decimal(0), Decimal("0.10"), known[-1], Decimal(10**9)]):
        assert shard.scan(where=where).positions().tolist() == rows_of_prices(where, values), where


@pytest.mark.usefixtures("no_reading")
def test_rows_of_a_filter_that_has_several_leaves(tmp_path: Path) -> None:
    random = np.random.default_rng(8)
    count = 20_000
    money = {
        "quantity": random.integers(1, 51, count) * 100,
        "discount": random.integers(0, 11, count),
        "extended": random.integers(90_000, 10_000_000, count),
    }
    table = pa.table({name: pa.array([Decimal(int(n)) / 100 for n in cents], MONEY) for name, cents in money.items()})
    shard = amudai.write(table, tmp_path / "lines.amudai.shard")
    where = col("discount").between(Decimal("0.05"), Decimal("0.07")) & (col("quantity") < 24)
    wanted = (money["discount"] >= 5) & (money["discount"] <= 7) & (money["quantity"] < 2400)
    found = shard.scan(columns=["extended"], where=where).to_table()
    assert found["extended"].to_pylist() == [Decimal(int(n)) / 100 for n in money["extended"][wanted]]
    assert shard.scan(where="discount >= 0.05 and discount <= 0.07 and quantity < 24").count() == wanted.sum()


# ---- numbers that this library does not write, in encodings that it does not write ----

TEXTS: Final = ["1.0", "1.00", "1", "-7.25", "0", "-0", "0E+5", "NaN", "Infinity", "-Infinity", "9" * 34, "1E-6176"]
ENCODINGS: Final[dict[str, Callable[..., Column]]] = {
    "plain": partial(decimals, encode=plain.encode),
    "lz4": partial(decimals, encode=lz4.encode),
    "zstd": partial(decimals, encode=zstd.encode),
    "fsst": partial(decimals, encode=fsst.encode),
    "block dictionary": partial(decimals, encode=block_dictionary.encode, nulls_to_encoder=True),
    "dictionary": partial(dictionary, encode=ffor.encode, like=decimals([])),
}


def matching(values: list[Decimal | None], low: Decimal | None, high: Decimal | None) -> list[bool]:
    """Whether each value lies between the bounds. NaN and null do not."""
    return [
        value is not None and not value.is_nan() and (low is None or low <= value) and (high is None or value <= high)
        for value in values
    ]


@pytest.mark.native
@pytest.mark.parametrize("encoding", ENCODINGS)
@given(
    drawn=st.lists(st.none() | st.sampled_from(TEXTS), min_size=1, max_size=40),
    low=st.none() | st.sampled_from(TEXTS).filter(lambda text: text != "NaN").map(Decimal),
    high=st.none() | st.sampled_from(TEXTS).filter(lambda text: text != "NaN").map(Decimal),
    inverted=st.booleans(),
)
def test_any_stored_number(
    encoding: str, drawn: list[str | None], low: Decimal | None, high: Decimal | None, inverted: bool
) -> None:
    values = [None if text is None else Decimal(text) for text in [*drawn, "2"]]  # only nulls would be a constant
    source = opened(ENCODINGS[encoding]([None if value is None else from_decimal(value) for value in values]))
    wanted, rows = DecimalRanges.of([(low, high)]), Rows.one(0, len(values))
    codes = source.codes()
    if codes is None:
        bits = source.compare(wanted, rows, inverted=inverted)
    else:
        answers = wanted.hold(np.frombuffer(codes.entries.values, np.uint8)) != inverted
        if codes.entries.null_id is not None:
            answers[codes.entries.null_id] = False
        bits = codes.look_up(rows, answers)
    assert bits is not None
    found = np.unpackbits(bits, count=len(values), bitorder="little").view(np.bool_).tolist()
    inside = matching(values, low, high)
    assert found == [value is not None and held != inverted for value, held in zip(values, inside, strict=True)]


@pytest.mark.native
def test_one_value_for_a_whole_block() -> None:
    source = opened(decimals([from_decimal(Decimal("2.50"))] * 70, single_value.encode))
    for bound, held in ((Decimal("2.5"), True), (Decimal("2.4999"), False)):
        bits = source.compare(DecimalRanges.of([(None, bound)]), Rows.one(0, 70), inverted=False)
        assert bits is not None
        assert np.unpackbits(bits, count=70, bitorder="little").all() == held


@pytest.mark.parametrize("column", ["blocks", "codes"])
def test_numbers_with_other_exponents_are_equal_by_value(column: str) -> None:
    texts = ["1.0", "1.00", "1", "10E-1", "1.5", "NaN", None]
    stored = [None if text is None else from_decimal(Decimal(text)) for text in texts]
    made = decimals(stored) if column == "blocks" else dictionary(stored, like=decimals([]))
    shard = open_forged(Forge.of({"price": made}))
    assert shard.scan(where=col("price") == 1).positions().tolist() == [0, 1, 2, 3]
    assert shard.scan(where=col("price") > 1).positions().tolist() == [4]
    assert shard.scan(where=col("price").isin([Decimal("1.50"), Decimal(7)])).positions().tolist() == [4]
    # As for floats, a NaN is not equal to any number.
    assert shard.scan(where=col("price") != 1).positions().tolist() == [4, 5]


@pytest.mark.native
def test_a_code_without_an_entry_is_an_error() -> None:
    entries = [from_decimal(Decimal(1)), from_decimal(Decimal(2))]
    values = [entries[0], entries[1], from_decimal(Decimal(3))]
    column = dictionary(values, like=decimals([]), entries=[*entries, values[2]])
    short = dictionary(entries, like=decimals([]))
    dictionary_buffer = short.stored.buffers[1]
    column.stored.buffers[1] = dictionary_buffer
    column.stored.descriptor.dictionary_size = 2
    shard = open_forged(Forge.of({"price": column}))
    with pytest.raises(CorruptedData, match=r"dictionary code: expected 0\.\.1, found 2"):
        shard.scan(where=col("price") == 1).count()


@pytest.mark.native
@pytest.mark.parametrize("seed", range(5))
def test_garbage_is_compared_as_it_is_read(seed: int) -> None:
    """Any 16 bytes are a decimal: comparing them never fails, and agrees with the oracle."""
    random = np.random.default_rng(seed)
    rows = [random.bytes(16) for _ in range(700)]
    values = [to_decimal(row) for row in rows]
    for bound in (Decimal(0), Decimal("-1E+100"), Decimal("3.5")):
        bits = opened(decimals(rows)).compare(DecimalRanges.of([(bound, None)]), Rows.one(0, 700), inverted=False)
        assert bits is not None
        found = np.unpackbits(bits, count=700, bitorder="little").view(np.bool_).tolist()
        assert found == matching(list(values), bound, None)


@pytest.mark.parametrize(
    "kind", [pa.decimal128(5, -2), pa.decimal32(4, -1), pa.decimal64(12, -3), pa.decimal256(50, -4)]
)
def test_decimals_of_negative_scale(tmp_path: Path, kind: pa.DataType) -> None:
    """Arrow compares none of them."""
    one = Decimal(10) ** -kind.scale
    values = [one, 2 * one, None, -99 * one, 3 * one]
    structs = pa.StructArray.from_arrays([pa.array(values, kind)], ["d"])
    shard = amudai.write(pa.table({"s": structs}), tmp_path / "d.amudai.shard")
    for bound in (one, 2 * one + 1, Decimal(0), one * 5 / 2):
        above = [at for at, value in enumerate(values) if value is not None and value > bound]
        assert shard.scan(where=amudai.col("s.d") > bound).positions().tolist() == above
    found = shard.scan(where=amudai.col("s.d").isin([one, 3 * one, Decimal(7)])).positions()
    assert found.tolist() == [0, 4]
