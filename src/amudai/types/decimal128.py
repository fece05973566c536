"""Stored decimals: 16 bytes to numbers and back.

IEEE 754 decimal128 with densely packed digits (DPD), as a little-endian 128-bit number: a sign, a combination field in
which the leading digit and the exponent share five bits, 12 more bits of exponent, then 33 digits, three to each
ten-bit declet. Columns are read with `decode` and `to_unscaled` and written with `from_unscaled`; `to_decimal` reads a
single value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from amudai.errors import CorruptedData, InvalidArgument

__all__ = [
    "SIZE",
    "DecimalKind",
    "Decimals",
    "by_value",
    "compare",
    "decode",
    "extremes",
    "from_unscaled",
    "to_decimal",
    "to_unscaled",
]

BytesLike: TypeAlias = bytes | bytearray | memoryview | NDArray[np.uint8]

SIZE: Final = 16  # bytes of one value

_DIGITS: Final = 34
_BIAS: Final = 6176
_LARGEST_EXPONENT: Final = 6111
_DECLETS: Final = 11
_COMBINATION_INFINITY: Final = 0b11110
_COMBINATION_NAN: Final = 0b11111
_LOW_DIGITS: Final = 18  # the six lowest declets
_LOW_RANGE: Final = 10**_LOW_DIGITS
# Added to the decimal place of a number's first digit, so that the result is never 0.
_PLACES: Final = 10_000
_PLACE_OF_INFINITY: Final = 30_000
_PLACE_OF_NAN: Final = 40_000
_CHUNK: Final = 1 << 14  # values at a time, so that the temporary arrays stay in cache


class DecimalKind(IntEnum):
    """The three kinds of stored decimals."""

    FINITE = 0
    INFINITY = 1
    NAN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Decimals:
    """Decoded decimals, an array for each part: (-1)**negative x coefficient x 10**exponent.

    A coefficient has up to 34 digits: `low` holds the last 18 digits, `high` the others. The coefficient of an infinity
    is 0, that of a NaN is its payload. Both have exponent 0.
    """

    negative: NDArray[np.bool_]
    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    exponent: NDArray[np.int32]
    kind: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, index: int) -> Decimal:
        """One value with its trailing zeros. A signalling NaN becomes a quiet one."""
        sign = "-" if self.negative[index] else ""
        coefficient = _coefficient(self, index)
        match int(self.kind[index]):
            case DecimalKind.FINITE:
                return Decimal(f"{sign}{coefficient}E{self.exponent[index]}")
            case DecimalKind.INFINITY:
                return Decimal(f"{sign}Infinity")
            case _:
                return Decimal(f"{sign}NaN{coefficient or ''}")


def decode(data: BytesLike) -> Decimals:
    """Decode a run of 16-byte values."""
    stored = np.frombuffer(data, np.uint8)
    if len(stored) % SIZE:
        raise CorruptedData(f"decimal values: expected a multiple of {SIZE} bytes, found {len(stored)}")
    words: NDArray[np.uint64] = stored.view("<u8").reshape(-1, 2)
    count = len(words)
    decimals = Decimals(
        negative=np.empty(count, np.bool_),
        high=np.empty(count, np.uint64),
        low=np.empty(count, np.uint64),
        exponent=np.empty(count, np.int32),
        kind=np.empty(count, np.uint8),
    )
    for part in _chunks(count):
        lower, upper = words[part, 0], words[part, 1]
        combination = _bits(upper, 58, 5).astype(np.intp)
        kind = _KIND[combination]
        exponent = _EXPONENT_TOP[combination] + _bits(upper, 46, 12).astype(np.int32) - _BIAS
        low = _number(_bits(lower, 0, 60), 6)
        high = _number(_bits(lower, 60, 4) | (_bits(upper, 0, 46) << np.uint64(4)), 5) + _LEADING_DIGIT[combination]
        if kind.any():
            exponent[kind != DecimalKind.FINITE] = 0
            high[kind == DecimalKind.INFINITY] = 0
            low[kind == DecimalKind.INFINITY] = 0
        decimals.negative[part] = (upper >> 63).astype(np.bool_)
        decimals.high[part], decimals.low[part] = high, low
        decimals.exponent[part], decimals.kind[part] = exponent, kind
    return decimals


def to_unscaled(
    decimals: Decimals,
    scale: int,
    width: Literal[16, 32],
    *,
    precision: int | None = None,
    valid: NDArray[np.bool_] | None = None,
) -> NDArray[np.uint8]:
    """The numbers as Arrow stores them: value x 10**scale, as little-endian two's complement integers.

    The result has a row of `width` bytes for each value. The first value that Arrow cannot hold exactly raises
    `InvalidArgument`: NaN, infinity, more than `scale` fraction digits, or more than `precision` digits in all.

    Parameters
    ----------
    width
        16 for Arrow's decimal128, 32 for decimal256.
    precision
        The most digits a value may have. The default is what `width` can hold: 38 or 76.
    valid
        False for null slots. Their bytes are ignored and their result is 0.
    """
    widest = {16: 38, 32: 76}.get(width)
    if widest is None:
        raise InvalidArgument(f"width: expected 16 or 32, found {width}")
    precision = widest if precision is None else precision
    if not 1 <= precision <= widest:
        raise InvalidArgument(f"precision: expected 1..{widest}, found {precision}")
    if valid is not None and len(valid) != len(decimals):
        raise InvalidArgument(f"valid: expected {len(decimals)} slots, found {len(valid)}")
    result = np.empty((len(decimals), width // 8), "<u8")
    for part in _chunks(len(decimals)):
        fits = _unscaled(decimals, part, scale, precision, result[part])
        if valid is not None:
            result[part][~valid[part]] = 0
            fits |= ~valid[part]
        if not fits.all():
            raise _misfit(decimals, part.start + int(np.argmin(fits)), scale, precision)
    return result.view(np.uint8)


def from_unscaled(
    unscaled: NDArray[np.uint8], scale: int, *, precision: int = _DIGITS, valid: NDArray[np.bool_] | None = None
) -> NDArray[np.uint8]:
    """The stored form of Arrow's decimals, which are integers x 10**-scale: the inverse of `to_unscaled`.

    The result has a row of 16 bytes for each value. The exponent is -scale, so trailing zeros are kept. The first value
    with more than `precision` digits raises `InvalidArgument`.

    Parameters
    ----------
    unscaled
        A row of 4, 8, 16 or 32 bytes for each value: a little-endian two's complement integer.
    valid
        False for null slots. Their bytes are ignored and their result is zeros.

    Examples
    --------
    >>> from_unscaled(np.array([[12345]], "<i8").view(np.uint8), 2).tobytes().hex()
    'c5490000000000000000000000800722'
    """
    if unscaled.ndim != 2 or unscaled.shape[1] not in (4, 8, 16, 32):
        raise InvalidArgument(f"unscaled: expected rows of 4, 8, 16 or 32 bytes, found the shape {unscaled.shape}")
    if not 1 <= precision <= _DIGITS:
        raise InvalidArgument(f"precision: expected 1..{_DIGITS}, found {precision}")
    if not -_LARGEST_EXPONENT <= scale <= _BIAS:
        raise InvalidArgument(f"scale: expected {-_LARGEST_EXPONENT}..{_BIAS}, found {scale}")
    if valid is not None and len(valid) != len(unscaled):
        raise InvalidArgument(f"valid: expected {len(unscaled)} slots, found {len(valid)}")
    exponent = _exponent_bits(-scale)
    words = np.ascontiguousarray(unscaled).view("<i4" if unscaled.shape[1] == 4 else "<u8")
    result = np.empty((len(unscaled), 2), "<u8")
    for part in _chunks(len(unscaled)):
        fits = _pack_column(words[part], exponent, precision, result[part])
        if valid is not None:
            result[part][~valid[part]] = 0
            fits |= ~valid[part]
        if not fits.all():
            at = part.start + int(np.argmin(fits))
            found = int.from_bytes(unscaled[at].tobytes(), "little", signed=True)
            expected = f"a value of decimal({precision}, {scale})"
            raise InvalidArgument(f"decimal at {at}: expected {expected}, found {found}E{-scale}")
    return result.view(np.uint8)


def extremes(decimals: Decimals) -> tuple[int, int] | None:
    """The indexes of the smallest and the largest number; None if all values are NaN.

    Numbers compare by value, so 1.0 equals 1.00 and -0 equals 0. The first of several equal numbers counts.
    """
    numbers = np.flatnonzero(decimals.kind != DecimalKind.NAN)
    if not len(numbers):
        return None
    infinite = decimals.kind[numbers] == DecimalKind.INFINITY
    zero = ~infinite & ((decimals.high[numbers] | decimals.low[numbers]) == 0)
    # -infinity, negative, zero, positive, infinity: -2 to 2. Only inside -1 and 1 sizes are left to compare.
    rank = np.where(zero, 0, 1 + infinite) * np.where(decimals.negative[numbers], -1, 1)
    return _extreme(decimals, numbers, rank, largest=False), _extreme(decimals, numbers, rank, largest=True)


def by_value(decimals: Decimals) -> NDArray[np.int64]:
    """A row of three numbers for each decimal. Rows compare as the decimals do.

    1.0 equals 1.00 and -0 equals 0. All NaNs have the same row, which is greater than all others.
    """
    rows = np.zeros((len(decimals), 3), np.int64)
    high, low = decimals.high, decimals.low
    digits = np.where(high != 0, _LOW_DIGITS + _length(high), _length(low))
    # All digits as far left as they go: coefficients of 34 digits, 16 of them in the upper part.
    left = np.where(digits > 0, _DIGITS - digits, 0)
    far = left >= _LOW_DIGITS  # then the upper part is empty
    near = np.where(far, 0, left)
    cut = _POWERS[_LOW_DIGITS - near]
    upper = np.where(far, low * _POWERS[np.where(far, left - _LOW_DIGITS, 0)], high * _POWERS[near] + low // cut)
    lower = np.where(far, np.uint64(0), low % cut * _POWERS[near])
    place = np.where(digits > 0, decimals.exponent + digits + _PLACES, 0)
    infinite = decimals.kind == DecimalKind.INFINITY
    rows[:, 0] = np.where(infinite, _PLACE_OF_INFINITY, place)
    rows[:, 1], rows[:, 2] = upper, lower
    rows[infinite, 1:] = 0
    rows[decimals.negative] *= -1
    rows[decimals.kind == DecimalKind.NAN] = _PLACE_OF_NAN, 0, 0
    return rows


def compare(rows: NDArray[np.int64], value: Decimal) -> NDArray[np.int8]:
    """-1, 0 or 1 for each row of `by_value`: less than, equal to or greater than `value`, which is not NaN."""
    sign, parts, exponent = value.as_tuple()
    digits = "".join(map(str, parts)).lstrip("0")
    turn = -1 if sign else 1
    rest = 0  # what the first 34 digits leave
    if isinstance(exponent, str):
        wanted = (turn * _PLACE_OF_INFINITY, 0, 0)
    elif not digits:
        wanted = (0, 0, 0)
    else:
        # All places beyond those of stored decimals compare the same.
        place = min(max(exponent + len(digits) + _PLACES, 1), _PLACE_OF_INFINITY - 1)
        shown = digits[:_DIGITS].ljust(_DIGITS, "0")
        wanted = (turn * place, turn * int(shown[:-_LOW_DIGITS]), turn * int(shown[-_LOW_DIGITS:]))
        rest = turn if digits[_DIGITS:].strip("0") else 0
    result = np.full(len(rows), -rest, np.int8)
    for column in (2, 1, 0):
        result[rows[:, column] < wanted[column]] = -1
        result[rows[:, column] > wanted[column]] = 1
    return result


def to_decimal(data: BytesLike) -> Decimal:
    """One stored value as a `Decimal`, digit for digit: trailing zeros, the sign of zero and NaN payloads are kept.

    >>> to_decimal(bytes.fromhex("c5490000000000000000000000800722"))
    Decimal('123.45')
    """
    stored = bytes(data)
    if len(stored) != SIZE:
        raise CorruptedData(f"decimal value: expected {SIZE} bytes, found {len(stored)}")
    number = int.from_bytes(stored, "little")
    sign, combination = "-" if number >> 127 else "", number >> 122 & 31
    coefficient = sum(int(_FROM_DECLET[number >> 10 * place & 0x3FF]) * 1000**place for place in range(_DECLETS))
    if combination == _COMBINATION_INFINITY:
        return Decimal(f"{sign}Infinity")
    if combination == _COMBINATION_NAN:
        return Decimal(f"{sign}{'s' if number >> 121 & 1 else ''}NaN{coefficient or ''}")
    coefficient += int(_LEADING_DIGIT[combination]) * 10**_LOW_DIGITS
    exponent = int(_EXPONENT_TOP[combination]) + (number >> 110 & 0xFFF) - _BIAS
    return Decimal(f"{sign}{coefficient}E{exponent}")


def _exponent_bits(exponent: int) -> NDArray[np.uint64]:
    """The combination field and the rest of the exponent, in their place in the upper word, by the leading digit."""
    top, continuation = divmod(exponent + _BIAS, 1 << 12)
    combinations = [top << 3 | leading if leading < 8 else 0b11000 | top << 1 | leading - 8 for leading in range(10)]
    return np.array([combination << 58 | continuation << 46 for combination in combinations], np.uint64)


def _pack_column(
    words: NDArray[Any], exponent: NDArray[np.uint64], precision: int, result: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Fill `result`. Returns False for values with too many digits, whose result is undefined."""
    low = words[:, 0].astype(np.int64).view(np.uint64)
    negative = words[:, -1].view(f"i{words.itemsize}") < 0
    mask = np.zeros(len(low), np.uint64) - negative
    wide = words.shape[1] > 1 and bool((words[:, 1:] != mask[:, None]).any())
    high = words[:, 1] if wide else mask
    fits: NDArray[np.bool_] = (words[:, 2:] == mask[:, None]).all(axis=1) if wide else np.ones(len(low), np.bool_)
    low = (low ^ mask) + negative
    high = (high ^ mask) + (negative & (low == 0))
    groups, rest = _grouped(high, low, wide or bool(high.any()))
    fits &= rest < _GROUP_LIMIT[max(precision - 3 * _GROUP_DIGITS, 0)]
    for place, group in enumerate(groups):
        fits &= group < _GROUP_LIMIT[min(max(precision - place * _GROUP_DIGITS, 0), _GROUP_DIGITS)]
    packed = [_packed_group(group) if group.any() else _NOTHING for group in groups]
    leading, top = _divided(np.minimum(rest, _GROUP_LIMIT[7] - 1), 10**6)
    result[:, 0] = packed[0] | packed[1] << np.uint64(30) | packed[2] << np.uint64(60)
    result[:, 1] = packed[2] >> np.uint64(4) | exponent[leading.astype(np.intp)]
    result[:, 1] |= negative.astype(np.uint64) << np.uint64(63)
    if top.any():
        result[:, 1] |= _packed_group(top) << np.uint64(26)
    return fits


def _grouped(
    high: NDArray[np.uint64], low: NDArray[np.uint64], wide: bool
) -> tuple[list[NDArray[np.uint64]], NDArray[np.uint64]]:
    """The lowest three groups of nine digits, and the number above them."""
    groups = []
    if not wide:
        for _ in range(3):
            low, group = _divided(low, _GROUP)
            groups.append(group)
        return groups, low
    half, ones = np.uint64(32), np.uint64(0xFFFF_FFFF)
    limbs = [high >> half, high & ones, low >> half, low & ones]
    for _ in range(3):
        group = np.zeros_like(low)
        for place, limb in enumerate(limbs):
            limbs[place], group = _divided(group << half | limb, _GROUP)
        groups.append(group)
    return groups, limbs[2] << half | limbs[3]


def _divided(numbers: NDArray[np.uint64], by: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Quotient and remainder. Faster than numpy's `divmod`, which does not use that the divisor is a constant."""
    quotient = numbers // np.uint64(by)
    return quotient, numbers - quotient * np.uint64(by)


def _packed_group(group: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The three declets of nine digits."""
    upper, low = _divided(group, 1000)
    high, middle = _divided(upper, 1000)
    packed: NDArray[np.uint64] = _DECLET[low.astype(np.intp)]
    packed |= _DECLET[middle.astype(np.intp)] << np.uint64(10)
    packed |= _DECLET[high.astype(np.intp)] << np.uint64(20)
    return packed


def _chunks(count: int) -> Iterator[slice]:
    for start in range(0, count, _CHUNK):
        yield slice(start, min(start + _CHUNK, count))


def _bits(words: NDArray[np.uint64], first: int, count: int) -> NDArray[np.uint64]:
    return (words >> np.uint64(first)) & np.uint64((1 << count) - 1)


def _number(bits: NDArray[np.uint64], declets: int) -> NDArray[np.uint64]:
    """The numbers in the lowest `declets` declets. All higher bits must be 0."""
    # Most columns hold small numbers: their upper declets are empty in every row.
    used = -(-int(bits.max(initial=0)).bit_length() // 10)
    result = np.zeros(len(bits), np.uint64)
    for place in reversed(range(min(declets, used))):
        result *= np.uint64(1000)
        result += _FROM_DECLET[_bits(bits, 10 * place, 10).astype(np.intp)]
    return result


def _coefficient(decimals: Decimals, index: int) -> int:
    return int(decimals.high[index]) * _LOW_RANGE + int(decimals.low[index])


def _unscaled(
    decimals: Decimals, part: slice, scale: int, precision: int, result: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Fill `result`. Returns False for values that do not fit, whose result is undefined."""
    high, low = decimals.high[part], decimals.low[part]
    zero = (high | low) == 0
    shift = decimals.exponent[part] + np.int64(scale)
    shift[zero] = 0
    fits: NDArray[np.bool_] = (decimals.kind[part] == DecimalKind.FINITE) & (shift > -_DIGITS) & (shift < precision)
    shift[~fits] = 0
    while (shift < 0).any():
        step = np.clip(-shift, 0, _LOW_DIGITS)
        power = _POWERS[step]
        # Digits that leave `high` enter `low` at its top: both are divided by the same power, of 18 digits at most.
        high, moved = np.divmod(high, power)
        low, rest = np.divmod(low, power)
        low += moved * _POWERS[_LOW_DIGITS - step]
        fits &= rest == 0
        shift += step
    room = np.minimum(precision - shift, _DIGITS)
    fits &= (high < _HIGH_LIMIT[room]) & (low < _LOW_LIMIT[room])
    negative = decimals.negative[part] & ~zero
    mask = np.zeros(len(low), np.uint64) - negative
    carry = negative.astype(np.uint64)
    for place, word in enumerate(_scaled(high, low, shift, result.shape[1])):
        result[:, place] = (word ^ mask) + carry
        carry &= result[:, place] == 0
    return fits


def _scaled(
    high: NDArray[np.uint64], low: NDArray[np.uint64], shift: NDArray[np.int64], count: int
) -> list[NDArray[np.uint64]]:
    """Coefficients x 10**shift in `count` words, the lowest first; what does not fit is cut off."""
    nothing = np.zeros_like(low)
    if not high.any() and shift.max() <= _LOW_DIGITS and (low < _LOW_LIMIT[_LOW_DIGITS - shift]).all():
        return [low * _POWERS[shift]] + [nothing] * (count - 1)
    words = _times([high] + [nothing] * (count - 1), _POWERS[_LOW_DIGITS], low)
    while shift.any():
        step = np.minimum(shift, _LOW_DIGITS)
        words = _times(words, _POWERS[step], nothing)
        shift = shift - step
    return words


def _times(
    words: list[NDArray[np.uint64]], factor: NDArray[np.uint64], carry: NDArray[np.uint64]
) -> list[NDArray[np.uint64]]:
    """Numbers of several words x factor + carry."""
    product = []
    for word in words:
        upper, lower = _multiply(word, factor)
        lower += carry
        carry = upper + (lower < carry)
        product.append(lower)
    return product


def _multiply(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The upper and the lower half of 128-bit products."""
    half, ones = np.uint64(32), np.uint64(0xFFFF_FFFF)
    a_high, a_low, b_high, b_low = a >> half, a & ones, b >> half, b & ones
    middle = a_high * b_low + ((a_low * b_low) >> half)
    other = a_low * b_high + (middle & ones)
    return a_high * b_high + (middle >> half) + (other >> half), a * b


def _misfit(decimals: Decimals, index: int, scale: int, precision: int) -> InvalidArgument:
    digits = len(str(_coefficient(decimals, index)))
    if decimals.kind[index] != DecimalKind.FINITE:
        trouble = "it is not a finite number"
    elif digits + int(decimals.exponent[index]) + scale > precision:
        trouble = "it has too many digits"
    else:
        trouble = "it has too many fraction digits"
    expected = f"a value of decimal({precision}, {scale})"
    return InvalidArgument(f"decimal at {index}: expected {expected}, found {decimals[index]}: {trouble}")


def _extreme(decimals: Decimals, numbers: NDArray[np.intp], rank: NDArray[np.int_], *, largest: bool) -> int:
    outermost = int(rank.max() if largest else rank.min())
    among = numbers[rank == outermost]
    if abs(outermost) != 1:
        return int(among[0])
    return _first_by_size(decimals, among, largest=largest == (outermost > 0))


def _first_by_size(decimals: Decimals, among: NDArray[np.intp], *, largest: bool) -> int:
    """The index of the number with the largest or smallest magnitude. `among` are finite numbers other than 0."""

    def outermost(keys: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(keys == (keys.max() if largest else keys.min()))

    if (decimals.exponent[among] != decimals.exponent[among[0]]).any():
        # Only numbers whose first digits stand in the same place can be equal: that leaves at most 34 exponents.
        high, low = decimals.high[among], decimals.low[among]
        length = np.where(high != 0, _LOW_DIGITS + _length(high), _length(low))
        among = among[outermost(decimals.exponent[among] + length)]
    found: list[tuple[Decimal, int]] = []
    for exponent in np.unique(decimals.exponent[among]):
        group = among[decimals.exponent[among] == exponent]
        group = group[outermost(decimals.high[group])]
        first = int(group[outermost(decimals.low[group])][0])
        found.append((decimals[first].copy_abs(), first))
    sizes = [size for size, _ in found]
    extreme = max(sizes) if largest else min(sizes)
    return min(index for size, index in found if size == extreme)


def _length(numbers: NDArray[np.uint64]) -> NDArray[np.intp]:
    """How many decimal digits each number has; 0 has none."""
    return np.searchsorted(_POWERS, numbers, side="right")


# The ten bits of three digits with the bits abcd efgh ijkm, by the top bits of each digit (a, e, i).
_PACKING: Final = {
    "000": "bcdfgh0jkm",
    "001": "bcdfgh100m",
    "010": "bcdjkh101m",
    "100": "jkdfgh110m",
    "110": "jkd00h111m",
    "101": "fgd01h111m",
    "011": "bcd10h111m",
    "111": "00d11h111m",
}


def _pack(number: int) -> int:
    bits = dict(zip("abcdefghijkm", "".join(f"{int(digit):04b}" for digit in f"{number:03}"), strict=True))
    bits |= {"0": "0", "1": "1"}
    return int("".join(bits[name] for name in _PACKING[bits["a"] + bits["e"] + bits["i"]]), 2)


def _unpacking() -> NDArray[np.uint64]:
    numbers = {declet: number for number, declet in enumerate(_TO_DECLET)}
    # No number packs to 24 of the declets. Each differs from a valid one only in its two top bits, which do not matter.
    return np.array([numbers.get(declet, numbers[declet & 0xFF]) for declet in range(1024)], np.uint64)


_TO_DECLET: Final = tuple(_pack(number) for number in range(1000))
_FROM_DECLET: Final = _unpacking()
_DECLET: Final = np.array(_TO_DECLET, np.uint64)
_NOTHING: Final = np.uint64(0)

_GROUP_DIGITS: Final = 9  # three declets
_GROUP: Final = 10**_GROUP_DIGITS
_GROUP_LIMIT: Final = np.array([10**k for k in range(_GROUP_DIGITS + 1)], np.uint64)

# By the five bits of the combination field. The entries for infinity and NaN are not used.
_KIND: Final = np.array([DecimalKind.FINITE] * 30 + [DecimalKind.INFINITY, DecimalKind.NAN], np.uint8)
_EXPONENT_TOP: Final = np.array([g >> 3 if g < 24 else g >> 1 & 3 for g in range(30)] + [0, 0], np.int32) << 12
_LEADING_DIGIT: Final = np.array([g & 7 if g < 24 else 8 + (g & 1) for g in range(30)] + [0, 0], np.uint64) * 10**15

_POWERS: Final = np.array([10**k for k in range(_LOW_DIGITS + 1)], np.uint64)
# A coefficient is less than 10**k if both its halves are less than these.
_HIGH_LIMIT: Final = np.array([10 ** max(k - _LOW_DIGITS, 0) for k in range(_DIGITS + 1)], np.uint64)
_LOW_LIMIT: Final = np.array([10 ** min(k, _LOW_DIGITS) for k in range(_DIGITS + 1)], np.uint64)
