"""How do ticks of 100 ns become Arrow's times?

A DateTime counts ticks from the first day of year 1, a time span counts ticks. Arrow counts seconds to nanoseconds from
1970. Nothing is rounded: a value that the Arrow type cannot hold is an error that says so.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.errors import InvalidArgument

__all__ = ["EPOCH", "fits_nanoseconds", "from_ticks", "from_timespan"]

# Ticks from the first day of year 1 to that of 1970.
EPOCH: Final = 621_355_968_000_000_000

_PER_UNIT: Final = {"s": 10_000_000, "ms": 10_000, "us": 10}
_PER_DAY: Final = 864_000_000_000
_NANOSECONDS: Final = 100
_LARGEST: Final = np.iinfo(np.int64).max // _NANOSECONDS

I64 = npt.NDArray[np.int64]


def fits_nanoseconds(low: int, high: int) -> bool:
    """Whether ticks from 1970 in this range can be counted in nanoseconds."""
    return low >= -_LARGEST and high <= _LARGEST


def from_ticks(ticks: npt.NDArray[np.uint64], valid: npt.NDArray[np.bool_] | None, kind: pa.DataType) -> I64:
    """Ticks of a DateTime as the numbers of a timestamp or date type; null slots may hold anything."""
    if len(ticks) and bool(_any(ticks > np.uint64(np.iinfo(np.int64).max), valid)):
        raise InvalidArgument("datetime: expected ticks below 2**63, found more")
    since = ticks.view(np.int64) - EPOCH
    if pa.types.is_timestamp(kind):
        return _counted(since, valid, kind.unit, kind)
    if pa.types.is_date32(kind):
        return _divided(since, valid, _PER_DAY, kind)
    if pa.types.is_date64(kind):
        return _divided(since, valid, _PER_UNIT["ms"], kind)
    raise InvalidArgument(f"datetime: expected a timestamp or date type, found {kind}")


def from_timespan(ticks: I64, valid: npt.NDArray[np.bool_] | None, kind: pa.DataType) -> I64:
    """Ticks of a time span as the numbers of a duration type."""
    return _counted(ticks, valid, kind.unit, kind)


def _counted(ticks: I64, valid: npt.NDArray[np.bool_] | None, unit: str, kind: pa.DataType) -> I64:
    if unit != "ns":
        return _divided(ticks, valid, _PER_UNIT[unit], kind)
    outside = (ticks > _LARGEST) | (ticks < -_LARGEST)
    if _any(outside, valid):
        raise _misfit(ticks, outside, valid, kind, "out of range")
    with np.errstate(over="ignore"):  # in null slots only
        return ticks * np.int64(_NANOSECONDS)


def _divided(ticks: I64, valid: npt.NDArray[np.bool_] | None, per_unit: int, kind: pa.DataType) -> I64:
    whole = np.floor_divide(ticks, np.int64(per_unit))
    finer = whole * np.int64(per_unit) != ticks
    if _any(finer, valid):
        raise _misfit(ticks, finer, valid, kind, "finer than its unit")
    return whole


def _any(found: npt.NDArray[np.bool_], valid: npt.NDArray[np.bool_] | None) -> bool:
    return bool(found.any()) and (valid is None or bool((found & valid).any()))


def _misfit(ticks: I64, found: Any, valid: Any, kind: pa.DataType, reason: str) -> InvalidArgument:
    at = int(np.argmax(found if valid is None else found & valid))
    way_out = 'ask for another type, for example open(..., schema={"column": pa.int64()}) for the stored ticks'
    return InvalidArgument(f"value of {int(ticks[at])} ticks is {reason} for {kind}: {way_out}")
