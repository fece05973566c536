"""The stored decimals: the published tables, and agreement with `decimal.Decimal` on anything."""

from __future__ import annotations

import decimal
from decimal import Decimal
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amudai.errors import CorruptedData, InvalidArgument
from amudai.types import decimal128
from amudai.types.decimal128 import DecimalKind, decode, extremes, to_decimal, to_unscaled
from tests.oracle.decimal128 import from_decimal

# Bytes in file order, as the decNumber library prints them.
STORED = {
    "0": "00 00 00 00 00 00 00 00 00 00 00 00 00 00 08 22",
    "-0": "00 00 00 00 00 00 00 00 00 00 00 00 00 00 08 a2",
    "1": "01 00 00 00 00 00 00 00 00 00 00 00 00 00 08 22",
    "-1": "01 00 00 00 00 00 00 00 00 00 00 00 00 00 08 a2",
    "42": "42 00 00 00 00 00 00 00 00 00 00 00 00 00 08 22",
    "0.42": "42 00 00 00 00 00 00 00 00 00 00 00 00 80 07 22",
    "123.45": "c5 49 00 00 00 00 00 00 00 00 00 00 00 80 07 22",
    "-123.45": "c5 49 00 00 00 00 00 00 00 00 00 00 00 80 07 a2",
    "1.0": "10 00 00 00 00 00 00 00 00 00 00 00 00 c0 07 22",
    "1.00": "80 00 00 00 00 00 00 00 00 00 00 00 00 80 07 22",
    "1E+1": "01 00 00 00 00 00 00 00 00 00 00 00 00 40 08 22",
    "9" * 34: "ff fc f3 cf 3f ff fc f3 cf 3f ff fc f3 0f 08 6e",
    "1E-6176": "01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
    "9." + "9" * 33 + "E+6144": "ff fc f3 cf 3f ff fc f3 cf 3f ff fc f3 cf ff 77",
    "1." + "0" * 33 + "E+6144": "00 00 00 00 00 00 00 00 00 00 00 00 00 c0 ff 47",
    "Infinity": "00 " * 15 + "78",
    "-Infinity": "00 " * 15 + "f8",
    "NaN": "00 " * 15 + "7c",
    "-NaN": "00 " * 15 + "fc",
    "sNaN": "00 " * 15 + "7e",
    "0E-6176": "00 " * 16,
    # What the conversion of Arrow decimals gives.
    "123.4": "34 05 00 00 00 00 00 00 00 00 00 00 00 c0 07 22",
    "123": "a3 00 00 00 00 00 00 00 00 00 00 00 00 00 08 22",
    "-5": "05 00 00 00 00 00 00 00 00 00 00 00 00 00 08 a2",
    "12300": "80 49 00 00 00 00 00 00 00 00 00 00 00 00 08 22",
    "12345678901234567890.12345678901235": "35 35 82 77 71 12 3c 6f e5 28 1e 9c 4b 93 04 26",
    "1." + "0" * 33 + "E+38": "00 00 00 00 00 00 00 00 00 00 00 00 00 40 09 26",
    "1E-38": "01 00 00 00 00 00 00 00 00 00 00 00 00 80 fe 21",
}

EXACT = decimal.Context(prec=200, Emin=-10_000, Emax=10_000)

digits = st.one_of(st.integers(0, 34), st.integers(0, 34), st.integers(17, 19)).flatmap(
    lambda count: st.integers(0, 10**count - 1)
)
finite = st.builds(
    lambda negative, number, exponent: Decimal((int(negative), tuple(map(int, str(number))), exponent)),
    st.booleans(),
    digits,
    st.one_of(st.integers(-20, 20), st.integers(-6176, 6111)),
)
special = st.one_of(
    st.sampled_from([Decimal("Infinity"), Decimal("-Infinity"), Decimal("NaN"), Decimal("-NaN"), Decimal("sNaN")]),
    st.integers(1, 10**33 - 1).map(lambda payload: Decimal(f"NaN{payload}")),
)
anything = st.one_of(finite, finite, special)


def column(values: list[Decimal]) -> decimal128.Decimals:
    return decode(b"".join(map(from_decimal, values)))


def same(a: Decimal, b: Decimal) -> bool:
    return a.as_tuple() == b.as_tuple()


@pytest.mark.parametrize(("text", "stored"), STORED.items(), ids=list(STORED))
def test_published_bytes(text: str, stored: str) -> None:
    value, data = Decimal(text), bytes.fromhex(stored)
    assert same(to_decimal(data), value)
    assert from_decimal(value) == data
    assert same(decode(data)[0], Decimal("NaN") if value.is_snan() else value)


def test_exponents_beyond_the_range_are_folded() -> None:
    assert from_decimal(Decimal("1E+6144")) == bytes.fromhex(STORED["1." + "0" * 33 + "E+6144"])
    assert to_decimal(from_decimal(Decimal("0E+9999"))) == 0
    assert same(to_decimal(from_decimal(Decimal("0E+9999"))), Decimal("0E+6111"))
    assert same(to_decimal(from_decimal(Decimal("-0E-9999"))), Decimal("-0E-6176"))
    assert same(to_decimal(from_decimal(Decimal("1.000E-6175"))), Decimal("1.0E-6175"))
    assert to_decimal(from_decimal(Decimal("7" + "0" * 5000))) == Decimal("7E+5000")
    assert same(to_decimal(from_decimal(Decimal(10**40))), Decimal("1." + "0" * 33 + "E+40"))


@pytest.mark.parametrize(
    "text",
    [
        "1E+6145",
        "1E-6177",
        "1" * 35,
        "1E+999999999999999999",
        "1E-999999999999999999",
        "NaN1" + "0" * 33,
        "1.5E-6176",
        "7" * 9999,
    ],
)
def test_what_does_not_fit_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="found"):
        from_decimal(Decimal(text))


@pytest.mark.parametrize(("number", "declet"), [(123, 0x0A3), (345, 0x1C5), (999, 0x0FF), (80, 0x00A), (0, 0), (9, 9)])
def test_published_declets(number: int, declet: int) -> None:
    assert from_decimal(Decimal(number))[:2] == declet.to_bytes(2, "little")


def test_every_declet_is_read() -> None:
    canonical = {int.from_bytes(from_decimal(Decimal(number))[:2], "little"): number for number in range(1000)}
    others = [declet for declet in range(1024) if declet not in canonical]
    assert len(canonical) == 1000
    assert len(others) == 24
    for declet in range(1024):
        data = declet.to_bytes(2, "little") + bytes.fromhex("00" * 12 + "0822")
        expected = canonical.get(declet, canonical.get(declet & 0xFF))
        assert to_decimal(data) == expected
        assert decode(data)[0] == expected


@pytest.mark.parametrize("size", [1, 15, 17, 31])
def test_a_cut_value_is_an_error(size: int) -> None:
    with pytest.raises(CorruptedData, match=f"found {size}"):
        decode(bytes(size))
    with pytest.raises(CorruptedData, match=f"found {size}"):
        to_decimal(bytes(size))


def test_nothing_at_all() -> None:
    assert len(decode(b"")) == 0
    assert to_unscaled(decode(b""), 2, 16).shape == (0, 16)
    assert extremes(decode(b"")) is None


@given(anything)
def test_any_value_round_trips(value: Decimal) -> None:
    stored = from_decimal(value)
    assert len(stored) == 16
    assert same(to_decimal(stored), value)


@given(st.lists(st.binary(min_size=16, max_size=16), max_size=40))
@example([bytes.fromhex("ff" * 16)])
def test_column_and_single_value_agree_on_any_bytes(rows: list[bytes]) -> None:
    decimals = decode(b"".join(rows))
    for index, row in enumerate(rows):
        value = to_decimal(row)
        kind = (
            DecimalKind.NAN if value.is_nan() else DecimalKind.INFINITY if value.is_infinite() else DecimalKind.FINITE
        )
        assert decimals.kind[index] == kind
        quiet = Decimal(str(value).replace("s", "")) if value.is_snan() else value
        assert same(decimals[index], quiet)
        if kind is DecimalKind.FINITE:
            assert same(to_decimal(from_decimal(value)), value)


@given(st.lists(finite, max_size=20), st.integers(-40, 40), st.sampled_from([16, 32]), st.data())
def test_unscaled_is_exact_or_names_the_first_misfit(
    values: list[Decimal], scale: int, width: Literal[16, 32], data: st.DataObject
) -> None:
    precision = data.draw(st.integers(1, {16: 38, 32: 76}[width]))
    expected, misfit = [], None
    for index, value in enumerate(values):
        scaled = EXACT.scaleb(value, scale)
        if scaled != scaled.to_integral_value(context=EXACT) or abs(scaled) >= Decimal(10) ** precision:
            misfit = index
            break
        expected.append(int(scaled).to_bytes(width, "little", signed=True))
    decimals = column(values)
    if misfit is None:
        assert to_unscaled(decimals, scale, width, precision=precision).tobytes() == b"".join(expected)
    else:
        with pytest.raises(InvalidArgument, match=rf"decimal at {misfit}: expected .*decimal\({precision}, {scale}\)"):
            to_unscaled(decimals, scale, width, precision=precision)


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 34), st.integers(0, 10**34), st.integers(0, 38)).map(
            lambda t: Decimal((int(t[0]), tuple(map(int, str(t[2] % 10 ** t[1]))), t[3] - 20))
        ),
        max_size=20,
    )
)
def test_unscaled_numbers_are_what_arrow_shows(values: list[Decimal]) -> None:
    fitting = [value for value in values if abs(EXACT.scaleb(value, 20)) < Decimal(10) ** 38]
    raw = to_unscaled(column(fitting), 20, 16)
    shown = pa.Array.from_buffers(pa.decimal128(38, 20), len(fitting), [None, pa.py_buffer(raw)]).to_pylist()
    assert shown == fitting
    raw = to_unscaled(column(values), 20, 32)
    shown = pa.Array.from_buffers(pa.decimal256(76, 20), len(values), [None, pa.py_buffer(raw)]).to_pylist()
    assert shown == values


def test_null_slots_are_not_looked_at() -> None:
    decimals = column([Decimal("1.5"), Decimal("NaN"), Decimal("-2"), Decimal("0.001")])
    raw = to_unscaled(decimals, 1, 16, valid=np.array([True, False, True, False]))
    assert [int.from_bytes(row.tobytes(), "little", signed=True) for row in raw] == [15, 0, -20, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("NaN", "not a finite number"),
        ("-Infinity", "not a finite number"),
        ("0.001", "fraction digits"),
        ("1E+37", "too many digits"),
        ("1E+6111", "too many digits"),
        ("1E-6176", "fraction digits"),
    ],
)
def test_misfits_say_why(text: str, trouble: str) -> None:
    with pytest.raises(InvalidArgument, match=trouble) as caught:
        to_unscaled(column([Decimal(1)] * 20_000 + [Decimal(text)] * 2), 2, 16)
    assert str(caught.value).startswith("decimal at 20000: ")


def test_impossible_arguments() -> None:
    decimals = column([Decimal(1)])
    with pytest.raises(InvalidArgument, match="width"):
        to_unscaled(decimals, 2, 8)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"precision: expected 1\.\.38, found 39"):
        to_unscaled(decimals, 2, 16, precision=39)
    with pytest.raises(InvalidArgument, match="valid: expected 1 slots, found 2"):
        to_unscaled(decimals, 2, 16, valid=np.array([True, True]))


@given(st.lists(st.one_of(finite, st.integers(-3, 3).map(Decimal), special), max_size=12))
@example([Decimal("1.0"), Decimal("1.00"), Decimal("1")])
@example([Decimal("-1.0"), Decimal("-1.00"), Decimal("NaN")])
@example([Decimal("0"), Decimal("-0"), Decimal("0E+5")])
@example([Decimal("Infinity"), Decimal("Infinity"), Decimal("-Infinity")])
def test_extremes_are_the_first_of_the_smallest_and_largest(values: list[Decimal]) -> None:
    numbers = [index for index, value in enumerate(values) if not value.is_nan()]
    expected = None
    if numbers:
        low, high = min(values[i] for i in numbers), max(values[i] for i in numbers)
        expected = next(i for i in numbers if values[i] == low), next(i for i in numbers if values[i] == high)
    assert extremes(column(values)) == expected


NUMBERS = (
    st.decimals(-100, 100, places=2)
    | st.decimals(allow_nan=False)
    | st.sampled_from([Decimal(text) for text in ("0", "-0", "1", "1.0", "1E+1", "10", "9" * 34, "1E-6176", "1E+6144")])
)


@given(
    st.lists(NUMBERS, min_size=1, max_size=12), NUMBERS | st.decimals(-3, 3, places=50) | st.just(Decimal("1E+99999"))
)
def test_rows_compare_as_numbers_do(values: list[Decimal], bound: Decimal) -> None:
    kept = []
    for value in values:
        try:
            kept.append((from_decimal(value), value))
        except ValueError:
            continue  # more digits than a stored decimal has
    rows = decimal128.by_value(decode(b"".join(stored for stored, _ in kept)))
    signs = [(value > bound) - (value < bound) for _, value in kept]
    assert decimal128.compare(rows, bound).tolist() == signs
    for left, (_, one) in zip(rows.tolist(), kept, strict=True):
        for right, (_, other) in zip(rows.tolist(), kept, strict=True):
            assert (left == right) == (one == other)
            assert (left < right) == (one < other)


def test_every_nan_is_one_row_above_all() -> None:
    stored = [from_decimal(Decimal(text)) for text in ("NaN", "-NaN", "sNaN", "NaN123", "Infinity")]
    rows = decimal128.by_value(decode(b"".join(stored))).tolist()
    assert rows[0] == rows[1] == rows[2] == rows[3] > rows[4]
