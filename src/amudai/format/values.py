"""What value does a property, a constant or a bound hold?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, Self, TypeAlias

from amudai.errors import CorruptedData
from amudai.format.references import DataRef
from amudai.format.wire import amudai_pb2 as wire

__all__ = ["AnyValue", "Kind", "Properties", "properties_of", "python_value", "python_values"]

Kind: TypeAlias = Literal[
    "null",
    "bool",
    "u64",
    "i64",
    "double",
    "datetime",
    "timespan",
    "string",
    "bytes",
    "decimal",
    "list",
    "struct",
    "data_ref",
    "unknown",
]

_DECIMAL_SIZE: Final = 16
_FIRST: Final = datetime(1, 1, 1, tzinfo=UTC)
_TICKS_OF_DATETIME: Final = 3_155_378_976_000_000_000  # the first tick of the year 10000
_TICKS_OF_MICROSECOND: Final = 10


@dataclass(frozen=True, slots=True)
class AnyValue:
    """A value that says its own kind.

    `value` is None, bool, int (also for `datetime` and `timespan`: ticks of 100 ns, from the first day of year 1 and
    signed), float, str, bytes (also for `decimal`: the 16 stored bytes), a tuple of `AnyValue`, a tuple of
    (name, `AnyValue`) pairs, or a `DataRef`. A kind of a later version is `unknown` and its value None.
    """

    kind: Kind
    value: object = None
    annotation: str | None = None

    @classmethod
    def of(cls, message: wire.AnyValue) -> Self:
        """The fact that `message` states."""
        stored = message.WhichOneof("kind")
        annotation = message.annotation if message.HasField("annotation") else None
        if stored is None:
            return cls("unknown", None, annotation)
        kind, read = _KINDS[stored]
        return cls(kind, read(getattr(message, stored)), annotation)


Properties: TypeAlias = tuple[tuple[str, AnyValue], ...]


def properties_of(pairs: Iterable[wire.NameValuePair]) -> Properties:
    """A bag of named values, in the order of the file."""
    return tuple((pair.name, AnyValue.of(pair.value)) for pair in pairs)


def python_value(value: AnyValue) -> object:
    """The value as a Python user expects it.

    Datetimes and timespans that Python cannot hold (it stops at microseconds and at the year 9999) stay ticks, decimals
    stay 16 bytes, references stay `DataRef`.

    >>> python_value(AnyValue("timespan", 15_000_000))
    datetime.timedelta(seconds=1, microseconds=500000)
    """
    inner = value.value
    match value.kind:
        case "datetime" if isinstance(inner, int):
            if inner < _TICKS_OF_DATETIME and inner % _TICKS_OF_MICROSECOND == 0:
                return _FIRST + timedelta(microseconds=inner // _TICKS_OF_MICROSECOND)
        case "timespan" if isinstance(inner, int):
            if inner % _TICKS_OF_MICROSECOND == 0:
                return timedelta(microseconds=inner // _TICKS_OF_MICROSECOND)
        case "list" if isinstance(inner, tuple):
            return [python_value(element) for element in inner]
        case "struct" if isinstance(inner, tuple):
            return python_values(inner)
    return inner


def python_values(pairs: Properties) -> dict[str, object]:
    """A property bag as a dict; of two entries with one name the first counts."""
    bag: dict[str, object] = {}
    for name, value in pairs:
        if name not in bag:
            bag[name] = python_value(value)
    return bag


def _signed(message: wire.TimeSpan) -> int:
    # The field is unsigned, a negative span is its two's complement.
    ticks = message.ticks
    return ticks - (1 << 64) if ticks >> 63 else ticks


def _decimal(stored: bytes) -> bytes:
    if len(stored) != _DECIMAL_SIZE:
        raise CorruptedData(f"AnyValue.decimal_value: expected {_DECIMAL_SIZE} bytes, found {len(stored)}")
    return stored


def _same(value: object) -> object:
    return value


_KINDS: Final[Mapping[str, tuple[Kind, Callable[..., object]]]] = {
    "null_value": ("null", lambda _: None),
    "bool_value": ("bool", _same),
    "u64_value": ("u64", _same),
    "i64_value": ("i64", _same),
    "double_value": ("double", _same),
    "datetime_value": ("datetime", lambda message: message.ticks),
    "timespan_value": ("timespan", _signed),
    "string_value": ("string", _same),
    "bytes_value": ("bytes", _same),
    "decimal_value": ("decimal", _decimal),
    "list_value": ("list", lambda message: tuple(AnyValue.of(element) for element in message.elements)),
    "struct_value": ("struct", lambda message: properties_of(message.fields)),
    "data_ref": ("data_ref", DataRef.of),
}
