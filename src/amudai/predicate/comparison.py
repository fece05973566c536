"""Comparisons of a column with a value, converted to the type of the column.

A value that the type cannot represent is not rounded. The comparison becomes another one with the same answer
(`n < 5.5` is `n <= 5` for integers), or it is true for all values of the type, or for none.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isinf, isnan
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np
import pyarrow as pa

from amudai.arrow import bytes_scalar, number_scalar, value_type
from amudai.errors import InvalidArgument
from amudai.predicate.tree import CompareOp, Nanoseconds, Real, Value

__all__ = ["Comparison", "can_be_text", "comparison", "is_text", "is_uuid"]

# An operator and a value of the type. True if the comparison is true for all values of the type, False if for none.
Comparison: TypeAlias = tuple[CompareOp, pa.Scalar] | bool

_DAY: Final = 86_400 * 10**9
_NANOSECONDS: Final = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_EPOCH: Final = datetime(1970, 1, 1)
_INT64: Final = (-(2**63), 2**63 - 1)
_TEXTS: Final = frozenset({pa.lib.Type_STRING, pa.lib.Type_LARGE_STRING, pa.lib.Type_STRING_VIEW})
_BYTES: Final = frozenset({pa.lib.Type_BINARY, pa.lib.Type_LARGE_BINARY, pa.lib.Type_BINARY_VIEW})
# The operators that ask for values below the given one.
_BELOW: Final[tuple[CompareOp, ...]] = ("<", "<=")


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this type are text."""
    return value_type(kind).id in _TEXTS


def can_be_text(kind: pa.DataType) -> bool:
    """Whether text operators can be asked of this type: text, bytes, which may be UTF-8, and UUIDs as written."""
    stored = value_type(kind).id
    return stored in _TEXTS or stored in _BYTES or is_uuid(kind)


def comparison(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    """The exact comparison of a column of this type with this value."""
    stored = value_type(kind)
    for fits, convert in _KINDS:
        if fits(stored):
            return convert(op, value, kind, path)
    raise InvalidArgument(f"column {path!r}: expected a type that can be compared with {value!r}, found {kind}")


def _refuse(path: str, kind: pa.DataType, expected: str, value: Value) -> InvalidArgument:
    shown = f"{value!r} ({type(value).__name__})"
    return InvalidArgument(f"column {path!r} of type {kind}: expected {expected} to compare with, found {shown}")


# ---- numbers ----


def _number(value: Value, kind: pa.DataType, path: str) -> Fraction | float:
    """The number without rounding: a `Fraction` if it is finite, a `float` for infinities and NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _refuse(path, kind, "a number", value)
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else float(value)
    return float(value) if isinstance(value, float) and (isnan(value) or isinf(value)) else Fraction(value)


def _boolean(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    if not isinstance(value, bool):
        raise _refuse(path, kind, "True or False", value)
    return op, pa.scalar(value)


def _integer(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    stored = value_type(kind)
    bits, signed = stored.bit_width, pa.types.is_signed_integer(stored)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return _on_grid(op, _number(value, kind, path), low, high, lambda number: number_scalar(number, stored))


def _decimal(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    stored = value_type(kind)
    most = 10**stored.precision - 1
    number = _number(value.digits if isinstance(value, Real) else value, kind, path)
    if isinstance(number, Fraction):
        number *= Fraction(10) ** stored.scale

    def scalar(unscaled: int) -> pa.Scalar:
        digits = tuple(map(int, str(abs(unscaled))))
        return pa.scalar(Decimal((int(unscaled < 0), digits, -stored.scale)), stored)

    return _on_grid(op, number, -most, most, scalar)


def _quotient(number: int, step: int) -> int | Fraction:
    """`number / step`, as an int if it is a whole number."""
    count, rest = divmod(number, step)
    return Fraction(number, step) if rest else count


def _on_grid(
    op: CompareOp, number: int | Fraction | float, low: int, high: int, scalar: Callable[[int], pa.Scalar]
) -> Comparison:
    """The comparison of the integers from `low` to `high` with a number."""
    if isinstance(number, float):
        return _with_non_finite(op, number)
    if op in ("==", "!="):
        if number.denominator == 1 and low <= number <= high:
            return op, scalar(int(number))
        return op == "!="
    if number > high or number < low:
        return (number > high) == (op in _BELOW)
    if number.denominator == 1:
        return op, scalar(int(number))
    return ("<=", scalar(floor(number))) if op in _BELOW else (">=", scalar(ceil(number)))


def _with_non_finite(op: CompareOp, number: float) -> bool:
    """The comparison of any finite number with an infinity or NaN."""
    if isnan(number) or op in ("==", "!="):
        return op == "!="
    return (number > 0) == (op in _BELOW)


def _float(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    stored = value_type(kind)
    number = _number(value, kind, path)
    dtype = np.dtype(f"f{stored.bit_width // 8}").type
    if isinstance(number, float):
        return (op == "!=") if isnan(number) else (op, number_scalar(dtype(number), stored))
    nearest = _nearest(number, dtype)
    if not np.isinf(nearest) and Fraction(float(nearest)) == number:
        return op, number_scalar(nearest, stored)
    if op in ("==", "!="):
        return op == "!="
    above = (bool(np.isinf(nearest)) and nearest > 0) or (not np.isinf(nearest) and Fraction(float(nearest)) > number)
    with np.errstate(over="ignore"):
        if op in _BELOW:
            return "<=", number_scalar(np.nextafter(nearest, dtype(-np.inf)) if above else nearest, stored)
        return ">=", number_scalar(nearest if above else np.nextafter(nearest, dtype(np.inf)), stored)


def _nearest(number: Fraction, dtype: type[np.floating]) -> np.floating:
    """A float of this type that is next to the number: no other float lies between them."""
    try:
        with np.errstate(over="ignore"):
            return dtype(float(number))
    except OverflowError:
        return dtype(np.inf if number > 0 else -np.inf)


# ---- text and bytes ----


def _text(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    if not isinstance(value, str):
        raise _refuse(path, kind, "a text", value)
    try:
        return op, bytes_scalar(value.encode(), value_type(kind))
    except UnicodeEncodeError:
        raise _refuse(path, kind, "a text that can be written as UTF-8", value) from None


def _bytes(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    if not isinstance(value, bytes):
        raise _refuse(path, kind, "bytes", value)
    return op, bytes_scalar(value, value_type(kind))


def _fixed_bytes(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    stored = value_type(kind)
    if is_uuid(kind):
        value = _uuid(value, kind, path)
    elif not isinstance(value, bytes):
        raise _refuse(path, kind, "bytes", value)
    width = stored.byte_width
    if len(value) != width and op in ("==", "!="):
        return op == "!="
    if len(value) > width:  # the first `width` bytes of the value sort before the value
        op = "<=" if op in _BELOW else ">"
    elif len(value) < width:  # everything that begins with the value sorts behind it
        op = "<" if op in _BELOW else ">="
    return op, bytes_scalar(value[:width].ljust(width, b"\0"), stored)


def is_uuid(kind: pa.DataType) -> bool:
    """Whether values of this type are UUIDs."""
    while pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    return isinstance(kind, pa.UuidType)


def _uuid(value: Value, kind: pa.DataType, path: str) -> bytes:
    try:
        if isinstance(value, UUID):
            return value.bytes
        if isinstance(value, str):
            return UUID(value).bytes
        if isinstance(value, bytes):
            return UUID(bytes=value).bytes
    except ValueError:
        pass
    raise _refuse(path, kind, "a UUID", value)


# ---- time ----


def _timestamp(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    stored = value_type(kind)
    number = _instant(value, kind, path, stored.tz is not None)
    step = _NANOSECONDS[stored.unit]
    return _on_grid(op, _quotient(number, step), *_INT64, lambda count: number_scalar(count, stored))


def _date(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    stored = value_type(kind)
    number = Fraction(_instant(value, kind, path, False), _DAY)

    def scalar(days: int) -> pa.Scalar:
        return number_scalar(days, pa.date32()).cast(stored)

    return _on_grid(op, number, -(2**31), 2**31 - 1, scalar)


def _instant(value: Value, kind: pa.DataType, path: str, zoned: bool) -> int:
    """The point in time as nanoseconds since 1970."""
    if isinstance(value, Nanoseconds) and pa.types.is_timestamp(value.type):
        return _same_zoning(value.count, value.type.tz is not None, zoned, value, kind, path)
    nanoseconds = 0
    if isinstance(value, str):
        found, nanoseconds = _parsed(value, kind, path)
    elif isinstance(value, datetime):
        found = value
    elif isinstance(value, date):
        found = datetime(value.year, value.month, value.day)
    else:
        raise _refuse(path, kind, "a point in time (datetime, date or ISO 8601 text)", value)
    aware = found.utcoffset() is not None
    if aware:
        found = found.astimezone(UTC).replace(tzinfo=None)
    number = (found.replace(tzinfo=None) - _EPOCH) // timedelta(microseconds=1) * 1000 + nanoseconds
    return _same_zoning(number, aware, zoned, value, kind, path)


def _same_zoning(number: int, aware: bool, zoned: bool, value: Value, kind: pa.DataType, path: str) -> int:
    """The number, unless it has a time zone and the column has none. Without a zone, it is UTC."""
    if aware and not zoned:
        raise _refuse(path, kind, "a point in time without a time zone", value)
    return number


def _parsed(text: str, kind: pa.DataType, path: str) -> tuple[datetime, int]:
    """Parse an ISO 8601 text. Returns the point in time to the microsecond, and the remaining nanoseconds."""
    head, dot, tail = text.strip().partition(".")
    digits = tail[: len(tail) - len(tail.lstrip("0123456789"))]
    try:
        if not dot:
            return datetime.fromisoformat(head), 0
        if not digits or len(digits) > 9:
            raise ValueError("fraction of a second")
        exact = digits.ljust(9, "0")
        return datetime.fromisoformat(f"{head}.{exact[:6]}{tail[len(digits) :]}"), int(exact[6:])
    except ValueError:
        raise _refuse(path, kind, "a point in time (datetime, date or ISO 8601 text)", text) from None


def _time_of_day(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    stored = value_type(kind)
    expected = "a time of day without a time zone (time or ISO 8601 text)"
    if isinstance(value, Nanoseconds) and pa.types.is_time(value.type):
        number = value.count
    else:
        if isinstance(value, str):
            try:
                value = time.fromisoformat(value)
            except ValueError:
                raise _refuse(path, kind, expected, value) from None
        if not isinstance(value, time) or value.tzinfo is not None:
            raise _refuse(path, kind, expected, value)
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        number = (seconds * 10**6 + value.microsecond) * 1000
    limits = (0, _DAY // _NANOSECONDS[stored.unit] - 1)
    return _on_grid(
        op, _quotient(number, _NANOSECONDS[stored.unit]), *limits, lambda count: number_scalar(count, stored)
    )


def _duration(op: CompareOp, value: Value, kind: pa.DataType, path: str) -> Comparison:
    stored = value_type(kind)
    if isinstance(value, Nanoseconds) and pa.types.is_duration(value.type):
        number = value.count
    elif isinstance(value, timedelta):
        number = value // timedelta(microseconds=1) * 1000
    else:
        raise _refuse(path, kind, "a length of time (timedelta)", value)
    step = _NANOSECONDS[stored.unit]
    return _on_grid(op, _quotient(number, step), *_INT64, lambda count: number_scalar(count, stored))


_Convert: TypeAlias = Callable[[CompareOp, Value, pa.DataType, str], Comparison]
_KINDS: Final[tuple[tuple[Callable[[pa.DataType], bool], _Convert], ...]] = (
    (pa.types.is_boolean, _boolean),
    (pa.types.is_integer, _integer),
    (pa.types.is_floating, _float),
    (pa.types.is_decimal, _decimal),
    (is_text, _text),
    (pa.types.is_binary, _bytes),
    (pa.types.is_large_binary, _bytes),
    (pa.types.is_binary_view, _bytes),
    (pa.types.is_fixed_size_binary, _fixed_bytes),
    (pa.types.is_timestamp, _timestamp),
    (pa.types.is_date, _date),
    (pa.types.is_time, _time_of_day),
    (pa.types.is_duration, _duration),
)
