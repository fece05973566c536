"""The stored decimals: the published tables, and agreement with `decimal.Decimal` on anything."""

from __future__ import annotations

import decimal
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amudai import _kernels
from amudai.errors import CorruptedData, InvalidArgument
from amudai.types import decimal128
from amudai.types.decimal128 import bound_key, by_value, from_unscaled, next_decimal, to_decimal, to_unscaled
from tests.oracle import decimal128 as oracle
from tests.oracle.decimal128 import from_decimal

pytestmark = pytest.mark.native

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


WIDEST = {4: 9, 8: 18, 16: 38, 32: 76}


def column(values: list[Decimal]) -> bytes:
    return b"".join(map(from_decimal, values))


def extremes(data: bytes) -> tuple[int, int] | None:
    return _kernels.decimal_statistics(np.frombuffer(data, np.uint8), None, None)[1]


def same(a: Decimal, b: Decimal) -> bool:
    return a.as_tuple() == b.as_tuple()


@pytest.mark.parametrize(("text", "stored"), STORED.items(), ids=list(STORED))
def test_published_bytes(text: str, stored: str) -> None:
    value, data = Decimal(text), bytes.fromhex(stored)
    assert same(to_decimal(data), value)
    assert from_decimal(value) == data
    assert same(oracle.to_decimal(data), value)


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
        assert to_unscaled(data, 0, 4).view("<i4").item() == expected


@pytest.mark.parametrize("size", [1, 15, 17, 31])
def test_a_cut_value_is_an_error(size: int) -> None:
    with pytest.raises(CorruptedData, match=f"found {size}"):
        to_unscaled(bytes(size), 2, 16)
    with pytest.raises(CorruptedData, match=f"found {size}"):
        by_value(bytes(size))
    with pytest.raises(CorruptedData, match=f"found {size}"):
        to_decimal(bytes(size))


def test_nothing_at_all() -> None:
    assert to_unscaled(b"", 2, 16).shape == (0, 16)
    assert from_unscaled(np.empty((0, 16), np.uint8), 2).shape == (0, 16)
    assert by_value(b"").shape == (0, 3)
    assert extremes(b"") is None


@given(anything)
def test_any_value_round_trips(value: Decimal) -> None:
    stored = from_decimal(value)
    assert len(stored) == 16
    assert same(to_decimal(stored), value)


@given(st.binary(min_size=16, max_size=16))
@example(bytes.fromhex("ff" * 16))
@example(bytes.fromhex("ff" * 15 + "77"))
def test_any_bytes_are_the_number_that_the_oracle_reads(stored: bytes) -> None:
    value = to_decimal(stored)
    assert same(value, oracle.to_decimal(stored))
    if value.is_finite():
        assert same(oracle.to_decimal(from_decimal(value)), value)


@given(st.lists(finite, max_size=20), st.integers(-40, 40), st.sampled_from([4, 8, 16, 32]), st.data())
def test_unscaled_is_exact_or_names_the_first_misfit(
    values: list[Decimal], scale: int, width: int, data: st.DataObject
) -> None:
    precision = data.draw(st.integers(1, WIDEST[width]))
    valid = data.draw(st.none() | st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    mask = None if valid is None else np.array(valid, np.bool_)
    expected, misfit = [], None
    for index, value in enumerate(values):
        if valid is not None and not valid[index]:
            expected.append(bytes(width))
            continue
        scaled = EXACT.scaleb(value, scale)
        if scaled != scaled.to_integral_value(context=EXACT) or abs(scaled) >= Decimal(10) ** precision:
            misfit = index
            break
        expected.append(int(scaled).to_bytes(width, "little", signed=True))
    decimals = column(values)
    if misfit is None:
        assert to_unscaled(decimals, scale, width, precision=precision, valid=mask).tobytes() == b"".join(expected)
    else:
        with pytest.raises(InvalidArgument, match=rf"decimal at {misfit}: expected .*decimal\({precision}, {scale}\)"):
            to_unscaled(decimals, scale, width, precision=precision, valid=mask)


columns = st.tuples(
    st.sampled_from([4, 8, 16, 32]),
    st.integers(-40, 40),
    st.integers(1, 34),
    st.integers(1, 600),
    st.integers(0, 2**32),
)


@pytest.mark.slow
@given(columns)
@example((16, 2, 15, 600, 1))
@example((16, 2, 20, 600, 2))
@example((8, 2, 18, 257, 3))
@example((32, 10, 34, 300, 4))
def test_columns_round_trip(drawn: tuple[int, int, int, int, int]) -> None:
    """Whole chunks go the fast way. A few values of more digits, in the middle, must not change their neighbours."""
    width, scale, precision, count, seed = drawn
    random = np.random.default_rng(seed)
    short, long = 10 ** min(precision, 7, WIDEST[width]), 10 ** min(precision, WIDEST[width])
    numbers = [int(number) - short // 2 for number in random.integers(0, short, count)]
    for at in random.integers(0, count, count // 100):
        numbers[at] = (long - 1 - abs(numbers[at])) * (-1) ** (numbers[at] & 1)
    valid = random.random(count) < 0.9 if seed & 1 else None
    if valid is not None:
        numbers = [number if present else 0 for number, present in zip(numbers, valid, strict=True)]
    unscaled = np.frombuffer(b"".join(number.to_bytes(width, "little", signed=True) for number in numbers), np.uint8)
    stored = from_unscaled(unscaled.reshape(-1, width), scale, precision=precision, valid=valid)
    for at, (number, row) in enumerate(zip(numbers, stored, strict=True)):
        if valid is None or valid[at]:
            assert row.tobytes() == from_decimal(Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale)))
        else:
            assert not row.any()
    back = to_unscaled(stored.reshape(-1), scale, width, precision=min(precision, WIDEST[width]), valid=valid)
    assert back.tobytes() == unscaled.tobytes()


@pytest.mark.parametrize("width", [16, 32])
@pytest.mark.parametrize("number", [10**34, -(10**34), 2**127 - 1, -(2**127), 10**18 * 10**16])
def test_integers_of_more_than_34_digits_are_refused(width: int, number: int) -> None:
    rows = np.frombuffer((5).to_bytes(width, "little") + number.to_bytes(width, "little", signed=True), np.uint8)
    with pytest.raises(
        InvalidArgument, match=rf"decimal at 1: expected a value of decimal\(34, 3\), found {number}E-3"
    ):
        from_unscaled(rows.reshape(2, width), 3)
    stored = from_unscaled(rows.reshape(2, width), 3, valid=np.array([True, False]))
    assert to_decimal(stored[0]) == Decimal("0.005")
    assert not stored[1].any()


def test_integers_of_256_bits_are_refused() -> None:
    for number in (2**128, -(2**128), 2**255 - 1, -(2**255)):
        with pytest.raises(InvalidArgument, match="decimal at 0"):
            from_unscaled(np.frombuffer(number.to_bytes(32, "little", signed=True), np.uint8).reshape(1, 32), 0)


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
        to_unscaled(column([Decimal(1)]) * 20_000 + column([Decimal(text)] * 2), 2, 16)
    assert str(caught.value).startswith("decimal at 20000: ")


def test_impossible_arguments() -> None:
    decimals = column([Decimal(1)])
    with pytest.raises(InvalidArgument, match="width"):
        to_unscaled(decimals, 2, 12)
    with pytest.raises(InvalidArgument, match=r"precision: expected 1\.\.9, found 10"):
        to_unscaled(decimals, 2, 4, precision=10)
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


@given(
    st.lists(
        st.tuples(
            st.none() | st.sampled_from([Decimal("0.00"), Decimal("-1.25"), Decimal("7.00"), Decimal(7)]) | anything,
            st.integers(1, 400),
        ),
        max_size=12,
    )
)
def test_statistics_and_ranges_are_those_of_single_values(runs: list[tuple[Decimal | None, int]]) -> None:
    values = [value for value, times in runs for _ in range(times)]
    data = np.frombuffer(b"".join(bytes(16) if value is None else from_decimal(value) for value in values), np.uint8)
    valid = np.array([value is not None for value in values], np.bool_).view(np.uint8)
    known = [(at, value) for at, value in enumerate(values) if value is not None and not value.is_nan()]
    counts, ends = _kernels.decimal_statistics(data, valid, None)
    nans = sum(value is not None and value.is_nan() for value in values)
    signs = [sum(sign(value) for _, value in known) for sign in (lambda v: v == 0, lambda v: v > 0, lambda v: v < 0)]
    assert counts == (*signs, nans)
    assert ends == first_extremes(known)
    entries = np.frombuffer(
        b"".join(bytes(16) if value is None else from_decimal(value) for value, _ in runs), np.uint8
    )
    present = np.array([value is not None for value, _ in runs], np.bool_).view(np.uint8)
    assert _kernels.decimal_statistics(entries, present, np.array([t for _, t in runs], np.uint64))[0] == counts
    least, greatest, invalid = _kernels.decimal_ranges(data, valid)
    for number, start in enumerate(range(0, len(values), 256)):
        inside = [(at, value) for at, value in known if start <= at < start + 256]
        low, high = first_extremes(inside) or (None, None)
        rows = [bytes(16) if at is None else data[16 * at : 16 * at + 16].tobytes() for at in (low, high)]
        assert [part[16 * number : 16 * number + 16].tobytes() for part in (least, greatest)] == rows
        assert invalid[number] == min(256, len(values) - start) - len(inside)


def first_extremes(known: list[tuple[int, Decimal]]) -> tuple[int, int] | None:
    if not known:
        return None
    return min(known, key=lambda pair: pair[1])[0], max(known, key=lambda pair: pair[1])[0]


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
    rows = by_value(b"".join(stored for stored, _ in kept))
    signs = [(value > bound) - (value < bound) for _, value in kept]
    assert decimal128.compare(rows, bound).tolist() == signs
    for left, (_, one) in zip(rows.tolist(), kept, strict=True):
        for right, (_, other) in zip(rows.tolist(), kept, strict=True):
            assert (left == right) == (one == other)
            assert (left < right) == (one < other)


def test_every_nan_is_one_row_above_all() -> None:
    stored = [from_decimal(Decimal(text)) for text in ("NaN", "-NaN", "sNaN", "NaN123", "Infinity")]
    rows = by_value(b"".join(stored)).tolist()
    assert rows[0] == rows[1] == rows[2] == rows[3] > rows[4]


bounds = (
    NUMBERS
    | st.decimals(-3, 3, places=50)
    | st.sampled_from([Decimal("1E+99999"), Decimal("-1E-99999"), Decimal("Infinity"), Decimal("-Infinity")])
)


@given(
    st.lists(st.tuples(NUMBERS | special, st.integers(1, 300)), min_size=1, max_size=8),
    st.lists(st.tuples(bounds, bounds), max_size=4),
)
@example([(Decimal("0.05"), 300), (Decimal("0.07"), 1)], [(Decimal("0.05"), Decimal("0.0699"))])
@example(
    [(Decimal("-0.05"), 300), (Decimal("-0.07"), 1)],
    [(Decimal("-0.0700000000000000000000000000000000001"), Decimal(-1))],
)
@example([(Decimal("-0.05"), 300)], [(Decimal("-0.0500000000000000000000000000000000001"), Decimal(0))])
def test_ranges_hold_what_lies_between_their_ends(
    runs: list[tuple[Decimal, int]], ranges: list[tuple[Decimal, Decimal]]
) -> None:
    stored: list[bytes] = []
    values: list[Decimal] = []
    for value, times in runs:
        try:
            stored += [from_decimal(value)] * times
        except ValueError:
            continue  # more digits than a stored decimal has
        values += [value] * times
    low, high = (np.array([bound_key(pair[end]) for pair in ranges], np.int64).reshape(-1) for end in (0, 1))
    bits = _kernels.decimals_within(np.frombuffer(b"".join(stored), np.uint8), low, high)
    found = np.unpackbits(bits, count=len(values), bitorder="little").view(np.bool_).tolist()
    assert found == [not v.is_nan() and any(least <= v <= most for least, most in ranges) for v in values]


@given(NUMBERS | st.decimals(-3, 3, places=50), finite)
def test_nothing_is_stored_between_a_number_and_the_next(value: Decimal, other: Decimal) -> None:
    below, above = next_decimal(value, -1), next_decimal(value, 1)
    assert below < value < above or value.is_infinite()
    assert not below < other < value
    assert not value < other < above
    for number in (below, above):
        assert oracle.to_decimal(from_decimal(number)) == number


def test_next_to_infinity() -> None:
    greatest = Decimal("9." + "9" * 33 + "E+6144")
    assert next_decimal(Decimal("Infinity"), 1) == Decimal("Infinity")
    assert next_decimal(Decimal("Infinity"), -1) == greatest
    assert next_decimal(greatest, 1) == Decimal("Infinity")
    assert next_decimal(Decimal("-1E+9999"), -1) == Decimal("-Infinity")
    assert next_decimal(Decimal(0), -1) == Decimal("-1E-6176")


@pytest.mark.parametrize("width", [4, 8, 16, 32])
def test_widened_integers(width: int) -> None:
    """Integers become Arrow's, nulls 0; the first with too many digits is found, unless it is null."""
    random = np.random.default_rng(width)
    numbers = random.integers(-(10**9) + 1, 10**9, 700)
    valid = random.random(700) < 0.8
    out = np.empty(width * 700, np.uint8)
    assert decimal128.widened(numbers, out, width, precision=9, valid=valid) is None
    expected = [int(each) if here else 0 for each, here in zip(numbers, valid, strict=True)]
    assert out.tobytes() == b"".join(each.to_bytes(width, "little", signed=True) for each in expected)
    numbers[[300, 600]] = 10**9, -(10**9)
    valid[[300, 600]] = False, True
    assert decimal128.widened(numbers, out, width, precision=9, valid=valid) == 600
    assert decimal128.widened(numbers, out, width, precision=9) == 300
