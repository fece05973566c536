"""Conversion of the values of predicates, including those of numpy, pandas and pyarrow, to plain Python values."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, TypeGuard
from uuid import UUID

import numpy as np
import pyarrow as pa

from amudai.arguments import sequence, shown
from amudai.errors import InvalidArgument
from amudai.predicate.tree import Nanoseconds, Value

__all__ = ["is_missing", "is_value", "list_of_values", "plain_value"]

_KINDS: Final = (bool, int, float, Decimal, str, bytes, datetime, date, time, timedelta, UUID, Nanoseconds)


def is_missing(value: object) -> bool:
    """Whether this is None, a null of pyarrow, or NaT of numpy or pandas, which is not equal to itself."""
    if value is None or (isinstance(value, pa.Scalar) and not value.is_valid):
        return True
    return isinstance(value, datetime | timedelta | np.datetime64 | np.timedelta64) and bool(value != value)


def is_value(value: object) -> TypeGuard[Value]:
    """Whether a column can be compared with this."""
    return isinstance(value, _KINDS)


def list_of_values(op: str, values: object) -> list[Any]:
    """The values of an iterable. Text is refused: it would be taken for a list of its characters."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidArgument(f"{op}: expected a list of values, found {shown(values)}")
    return list(sequence(values, op))


def plain_value(value: Any) -> Any:
    """The equal plain Python value, if there is one."""
    if isinstance(value, np.datetime64 | np.timedelta64) and np.datetime_data(value.dtype)[0] == "ns":
        value = pa.scalar(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        found = value.item()
        return None if isinstance(found, int) else found  # a unit for which Python has no type
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, datetime) and getattr(value, "nanosecond", False):
        # A pandas Timestamp has nanoseconds, which datetime lacks. Without a type pyarrow would cut them off.
        value = pa.scalar(value, pa.timestamp("ns", None if value.tzinfo is None else "UTC"))
    if isinstance(value, timedelta) and getattr(value, "nanoseconds", False):
        value = pa.scalar(value, pa.duration("ns"))
    if isinstance(value, pa.Scalar) and value.is_valid:
        return _plain_scalar(value)
    return value


def _plain_scalar(value: pa.Scalar) -> object:
    if isinstance(value, pa.DictionaryScalar | pa.RunEndEncodedScalar):
        return plain_value(value.value)
    kind = value.type
    if pa.types.is_temporal(kind) and getattr(kind, "unit", "") == "ns":
        count = value.cast(pa.int64()).as_py()
        return Nanoseconds(count, kind) if count % 1000 else _as_python(value.cast(_in_microseconds(kind)))
    return _as_python(value)


def _as_python(value: pa.Scalar) -> object:
    kind = value.type
    try:
        return value.as_py()
    except (OverflowError, ValueError) as error:
        if pa.types.is_timestamp(kind) and kind.tz not in (None, "UTC"):
            # At the ends of Python's years, clocks of this zone may show a year that Python does not have.
            return _as_python(value.cast(pa.timestamp(kind.unit, "UTC")))
        raise InvalidArgument(f"value: expected one that Python can hold, found a {kind}: {error}") from error


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.time64("us") if pa.types.is_time(kind) else pa.duration("us")
