"""Conversion between ticks of 100 ns and Arrow's times.

A DateTime is a number of ticks from the first day of year 1, a time span a number of ticks. Arrow counts seconds to
nanoseconds from 1970. A value that the other side cannot hold raises an error; nothing is rounded. Only a caller that
stores what `nanoseconds_after` returns may have nanoseconds rounded down to ticks.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.encoding import Unit, divided_exactly
from amudai.errors import InvalidArgument

__all__ = [
    "EPOCH",
    "fits_nanoseconds",
    "from_ticks",
    "from_timespan",
    "nanoseconds_after",
    "ticks_around",
    "to_ticks",
    "to_timespan",
    "unit_of",
]

# Ticks from the first day of year 1 to the first day of 1970.
EPOCH: Final = 621_355_968_000_000_000

# The last tick of year 9999.
_LAST: Final = 3_155_378_975_999_999_999

_PER_UNIT: Final = {"s": 10_000_000, "ms": 10_000, "us": 10}
_PER_DAY: Final = 864_000_000_000
_NANOSECONDS: Final = 100
_LARGEST: Final = np.iinfo(np.int64).max // _NANOSECONDS
# The tick that the smallest number of nanoseconds is in.
_SMALLEST: Final = np.iinfo(np.int64).min // _NANOSECONDS

_CHUNK: Final = 1 << 14  # values at a time, so that the temporary arrays stay in cache

I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
Numbers = npt.NDArray[Any]


def fits_nanoseconds(low: int, high: int) -> bool:
    """Whether all ticks from 1970 in `low..high` fit into 64 bits as nanoseconds."""
    return low >= -_LARGEST and high <= _LARGEST


def from_ticks(
    ticks: npt.NDArray[np.uint64], valid: npt.NDArray[np.bool_] | None, kind: pa.DataType, after: U8 | None = None
) -> Numbers:
    """Ticks of a DateTime as the numbers of a timestamp or date type; null slots may hold anything.

    `after` has the nanoseconds by which each time is after its tick; None if they are all 0.
    """
    signed = ticks.view(np.int64)
    if len(ticks) and int(signed.min()) < 0 and _any(signed < 0, valid):
        raise InvalidArgument("datetime: expected ticks below 2**63, found more")
    if pa.types.is_timestamp(kind):
        return _counted(signed, EPOCH, valid, kind.unit, kind, after)
    if pa.types.is_date32(kind):
        return _divided(signed, EPOCH, valid, _PER_DAY, kind, after)
    if pa.types.is_date64(kind):
        return _divided(signed, EPOCH, valid, _PER_UNIT["ms"], kind, after)
    raise InvalidArgument(f"datetime: expected a timestamp or date type, found {kind}")


def from_timespan(
    ticks: I64, valid: npt.NDArray[np.bool_] | None, kind: pa.DataType, after: U8 | None = None
) -> Numbers:
    """Ticks of a time span as the numbers of a duration type. `after` is as for `from_ticks`."""
    return _counted(ticks, 0, valid, kind.unit, kind, after)


def unit_of(kind: pa.DataType) -> Unit | None:
    """The unit in which an Arrow type counts ticks; None for nanoseconds, and for types that are not times."""
    if pa.types.is_date32(kind):
        return Unit(EPOCH, _PER_DAY, "i4", is_signed=False)
    if pa.types.is_date64(kind):
        return Unit(EPOCH, _PER_UNIT["ms"], "i8", is_signed=False)
    if pa.types.is_timestamp(kind) and kind.unit != "ns":
        return Unit(EPOCH, _PER_UNIT[kind.unit], "i8", is_signed=False)
    if pa.types.is_duration(kind) and kind.unit != "ns":
        return Unit(0, _PER_UNIT[kind.unit], "i8", is_signed=True)
    return None


def to_ticks(
    numbers: I64, valid: npt.NDArray[np.bool_] | None, kind: pa.DataType, *, rounded: bool = False
) -> npt.NDArray[np.uint64]:
    """The numbers of a timestamp or date type as ticks of a DateTime; null slots become 0.

    `rounded` rounds nanoseconds down to ticks. Otherwise nanoseconds that are finer than a tick raise an error.

    >>> to_ticks(np.array([1_700_000_000_123_456_700]), None, pa.timestamp("ns"))
    array([638355968001234567], dtype=uint64)
    """
    ticks = _ticks(numbers, valid, kind, -EPOCH, _LAST - EPOCH, "outside years 1 to 9999", rounded)
    ticks += EPOCH
    if valid is not None:
        ticks[~valid] = 0
    return ticks.view(np.uint64)


def to_timespan(numbers: I64, valid: npt.NDArray[np.bool_] | None, kind: pa.DataType, *, rounded: bool = False) -> I64:
    """The numbers of a duration type as ticks of a time span; null slots become 0. `rounded` is as for `to_ticks`."""
    limits = np.iinfo(np.int64)
    ticks = _ticks(numbers, valid, kind, int(limits.min), int(limits.max), "outside 64-bit ticks of 100 ns", rounded)
    if valid is not None:
        ticks[~valid] = 0
    return ticks


def nanoseconds_after(numbers: I64) -> U8:
    """The nanoseconds by which numbers of nanoseconds are after their ticks, 0 to 99.

    >>> nanoseconds_after(np.array([1_700_000_000_123_456_789, -1]))
    array([89, 99], dtype=uint8)
    """
    found = np.empty(len(numbers), np.uint8)
    for start in range(0, len(numbers), _CHUNK):
        part = numbers[start : start + _CHUNK]
        ticks = np.floor_divide(part, np.int64(_NANOSECONDS))
        ticks *= np.int64(-_NANOSECONDS)  # wraps around for the first tick, and back again in the next line
        ticks += part
        found[start : start + _CHUNK] = ticks
    return found


def ticks_around(number: int, kind: pa.DataType) -> tuple[int, int]:
    """The last tick that is not after a number of a time type, and the first that is not before it.

    >>> ticks_around(150, pa.timestamp("ns")), ticks_around(2, pa.timestamp("us"))
    ((1, 2), (20, 20))
    """
    unit = _unit(kind)
    return (number // _NANOSECONDS, -(-number // _NANOSECONDS)) if unit is None else (number * unit, number * unit)


def _unit(kind: pa.DataType) -> int | None:
    """The ticks in a unit of a time type; None for nanoseconds, which are finer than ticks."""
    if pa.types.is_date32(kind):
        return _PER_DAY
    return _PER_UNIT.get("ms" if pa.types.is_date64(kind) else kind.unit)


def _ticks(
    numbers: I64,
    valid: npt.NDArray[np.bool_] | None,
    kind: pa.DataType,
    low: int,
    high: int,
    outside: str,
    rounded: bool,
) -> I64:
    """Arrow's numbers as ticks from the same origin, which must be in low..high. Null slots may hold anything."""
    unit = _unit(kind)
    if unit is None:
        if not rounded:
            _require_whole_ticks(numbers, valid, kind)
        return np.floor_divide(numbers, np.int64(_NANOSECONDS))
    # Checked before the multiplication, which could overflow.
    first, last = -(-low // unit), high // unit
    if len(numbers) and (int(numbers.min()) < first or int(numbers.max()) > last):
        beyond = (numbers < first) | (numbers > last)
        if _any(beyond, valid):
            raise _unstorable(numbers, beyond, valid, kind, outside)
    with np.errstate(over="ignore"):  # in null slots only
        return numbers * np.int64(unit)


def _require_whole_ticks(numbers: I64, valid: npt.NDArray[np.bool_] | None, kind: pa.DataType) -> None:
    finer = nanoseconds_after(numbers) != 0
    if _any(finer, valid):
        raise _unstorable(numbers, finer, valid, kind, "finer than 100 ns")


def _counted(
    ticks: I64, origin: int, valid: npt.NDArray[np.bool_] | None, unit: str, kind: pa.DataType, after: U8 | None
) -> Numbers:
    if unit != "ns":
        return _divided(ticks, origin, valid, _PER_UNIT[unit], kind, after)
    with np.errstate(over="ignore"):  # in null slots, and in the first tick, whose beginning is out of range
        since = ticks - np.int64(origin)
        found: Numbers = since * np.int64(_NANOSECONDS)
        if after is not None:
            found += after
    if len(since) and (int(since.min()) <= _SMALLEST or int(since.max()) >= _LARGEST):
        # In the first and in the last tick, a number that wrapped around has the wrong sign.
        outside = (since > _LARGEST) | (since < _SMALLEST)
        outside |= ((since == _LARGEST) & (found < 0)) | ((since == _SMALLEST) & (found > 0))
        if _any(outside, valid):
            raise _misfit(since, outside, valid, kind, "out of range")
    return found


def _divided(
    ticks: I64,
    origin: int,
    valid: npt.NDArray[np.bool_] | None,
    per_unit: int,
    kind: pa.DataType,
    after: U8 | None,
) -> Numbers:
    if after is not None and _any(after != 0, valid):
        with np.errstate(over="ignore"):
            raise _misfit(ticks - np.int64(origin), after != 0, valid, kind, "finer than its unit")
    quick = divided_exactly(ticks, origin, per_unit, "i4" if pa.types.is_date32(kind) else "i8")
    if quick is not None:
        return quick
    # Some values leave a remainder, which null slots may.
    with np.errstate(over="ignore"):
        since = ticks - np.int64(origin)
    whole = np.floor_divide(since, np.int64(per_unit))
    finer = whole * np.int64(per_unit) != since
    if _any(finer, valid):
        raise _misfit(since, finer, valid, kind, "finer than its unit")
    found: Numbers = whole
    return found


def _any(found: npt.NDArray[np.bool_], valid: npt.NDArray[np.bool_] | None) -> bool:
    return bool(found.any()) and (valid is None or bool((found & valid).any()))


def _misfit(ticks: I64, found: Any, valid: Any, kind: pa.DataType, reason: str) -> InvalidArgument:
    at = int(np.argmax(found if valid is None else found & valid))
    way_out = 'ask for another type, for example open(..., schema={"column": pa.int64()}) for the stored ticks'
    return InvalidArgument(f"value of {int(ticks[at])} ticks is {reason} for {kind}: {way_out}")


def _unstorable(numbers: I64, found: Any, valid: Any, kind: pa.DataType, reason: str) -> InvalidArgument:
    at = int(np.argmax(found if valid is None else found & valid))
    way_out = 'write with timestamps="int64" to keep the integers as they are'
    return InvalidArgument(f"{kind} value {int(numbers[at])} at {at} is {reason}: {way_out}")
