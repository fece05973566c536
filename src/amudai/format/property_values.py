"""AnyValue: the value of a property, a constant or a bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, Self, TypeAlias

import numpy as np

from amudai.errors import CorruptedData, InvalidArgument, UnsupportedFeature
from amudai.format.container import Bytes
from amudai.format.message import Fact, parse
from amudai.format.references import DataRef
from amudai.format.wire import amudai_pb2 as wire
from amudai.frozen import quick_init

__all__ = [
    "AnyValue",
    "Properties",
    "ValueKind",
    "any_value",
    "any_values",
    "pairs_of",
    "properties_of",
    "python_value",
    "python_values",
    "ticks_of",
    "values_of",
]

ValueKind: TypeAlias = Literal[
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
_NANOSECONDS_OF_TICK: Final = 100
_U64: Final = 1 << 64
# A level of lists and dicts takes three levels of protobuf messages, and readers accept 100 of those.
_MAX_LEVELS: Final = 30


@quick_init
@dataclass(frozen=True, slots=True)
class AnyValue(Fact):
    """A value together with its kind.

    `value` is None, bool, int (also for `datetime`, in ticks of 100 ns from the first day of year 1, and `timespan`, in
    signed ticks), float, str, bytes (also for `decimal`, as the 16 stored bytes), a tuple of `AnyValue`, a tuple of
    (name, `AnyValue`) pairs, or a `DataRef`. A kind of a later version is `unknown` and its value is None; it cannot be
    encoded again.
    """

    kind: ValueKind
    value: object = None
    annotation: str | None = None

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The value in a payload that contains nothing else."""
        return cls.of(parse(wire.AnyValue, payload))

    @classmethod
    def of(cls, message: wire.AnyValue) -> Self:
        """The fact that `message` states."""
        stored = message.WhichOneof("kind")
        annotation = message.annotation if message.HasField("annotation") else None
        if stored is None:
            return cls("unknown", None, annotation)
        kind, read, _ = _KINDS[stored]
        value = getattr(message, stored)
        return cls(kind, value if read is None else read(value), annotation)

    def parts(self) -> dict[str, Any]:
        """The fields of the message."""
        stored, write = _STORED_AS.get(self.kind, ("", None))
        if not stored:
            raise UnsupportedFeature("AnyValue: expected a kind that this version writes, found one of a later version")
        return {stored: self.value if write is None else write(self.value), "annotation": self.annotation}

    def to_message(self) -> wire.AnyValue:
        """The message that states this value."""
        return wire.AnyValue(**self.parts())


Properties: TypeAlias = tuple[tuple[str, AnyValue], ...]


def properties_of(pairs: Sequence[wire.NameValuePair]) -> Properties:
    """Named values, in the order of the file."""
    if not pairs:
        return ()  # there are many property bags, and most of them are empty
    return tuple([(pair.name, AnyValue.of(pair.value)) for pair in pairs])


def values_of(pairs: Sequence[wire.NameValuePair]) -> dict[str, object]:
    """What `AnyValue.value` would be for each name, without the facts. If a name occurs twice, the first entry counts.

    A quick way for questions about an index, which look at its properties once.
    """
    found: dict[str, object] = {}
    for pair in pairs:
        message = pair.value
        stored = message.WhichOneof("kind")
        if stored is None:
            value = None
        else:
            read = _KINDS[stored][1]
            value = getattr(message, stored)
            if read is not None:
                value = read(value)
        found.setdefault(pair.name, value)
    return found


def pairs_of(properties: Properties) -> list[wire.NameValuePair]:
    """The messages that state named values, in the same order."""
    return [wire.NameValuePair(name=name, value=value.to_message()) for name, value in properties]


def any_value(value: object) -> AnyValue:
    """A Python value as the format stores it in a property. `python_value` is the inverse.

    Accepts None, bool, int of 64 bits, float, str, bytes, `datetime` with a time zone, `timedelta`, sequences and
    mappings of these, `AnyValue` and `DataRef`.

    >>> any_value([1, "two"])
    AnyValue(kind='list', value=(AnyValue(kind='i64', value=1, annotation=None),
    AnyValue(kind='string', value='two', annotation=None)), annotation=None)
    """
    return _any_value(value, 0)


def any_values(values: Mapping[str, object]) -> Properties:
    """A dict as a property bag, in the same order. `python_values` is the inverse."""
    return _named(values, 0)


def python_value(value: AnyValue) -> object:
    """The value as a Python user expects it.

    Datetimes and timespans that Python cannot hold (finer than microseconds, or after the year 9999) stay ticks,
    decimals stay 16 bytes, references stay `DataRef`.

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
    """A property bag as a dict. If a name occurs twice, the first entry counts."""
    bag: dict[str, object] = {}
    for name, value in pairs:
        if name not in bag:
            bag[name] = python_value(value)
    return bag


def _any_value(value: object, level: int) -> AnyValue:
    if level > _MAX_LEVELS:
        raise InvalidArgument(f"value: expected at most {_MAX_LEVELS} levels of lists and dicts, found more")
    match value:
        case AnyValue():
            return value
        case None:
            return AnyValue("null")
        case bool() | np.bool_():
            return AnyValue("bool", bool(value))
        case int() | np.integer():
            return _integer(int(value))
        case float() | np.floating():
            return AnyValue("double", float(value))
        case str():
            return AnyValue("string", _text(value))
        case bytes() | bytearray() | memoryview():
            return AnyValue("bytes", bytes(value))
        case datetime() if value == value:  # not pandas' NaT
            return AnyValue("datetime", ticks_of(value))
        case timedelta():
            return AnyValue("timespan", _span_ticks(value))
        case DataRef():
            return AnyValue("data_ref", value)
        case Mapping():
            return AnyValue("struct", _named(value, level))
        case list() | tuple():
            return AnyValue("list", tuple([_any_value(element, level + 1) for element in value]))
    kinds = "None, bool, int, float, str, bytes, datetime, timedelta, or lists and dicts of these"
    raise InvalidArgument(f"value: expected {kinds}, found {type(value).__name__}")


def _named(values: Mapping[Any, object], level: int) -> Properties:
    pairs = []
    for name, value in values.items():
        if not isinstance(name, str):
            raise InvalidArgument(f"name of a value: expected str, found {type(name).__name__}")
        pairs.append((_text(name), _any_value(value, level + 1)))
    return tuple(pairs)


def _integer(value: int) -> AnyValue:
    if -(1 << 63) <= value < 1 << 63:
        return AnyValue("i64", value)
    if 0 < value < _U64:
        return AnyValue("u64", value)
    raise InvalidArgument(f"value: expected an integer of 64 bits, found one of {value.bit_length()}")


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"text: expected Unicode, found a lone surrogate at {error.start}") from error
    return value


def ticks_of(value: datetime) -> int:
    """The ticks of 100 ns from the first day of year 1 to a time, which must have a time zone."""
    offset = value.utcoffset()
    if offset is None:
        raise InvalidArgument(f"datetime: expected one with a time zone, found {value.isoformat()}")
    # From its parts: a pandas timestamp is a datetime, but the difference of the two fails.
    seconds = 86_400 * (value.toordinal() - 1) + 3_600 * value.hour + 60 * value.minute + value.second
    ticks = _ticks_of(seconds, value.microsecond, getattr(value, "nanosecond", 0)) - _span_ticks(offset)
    if ticks < 0:
        raise InvalidArgument(f"datetime: expected the year 1 or later in UTC, found {value.isoformat()}")
    return ticks


def _span_ticks(value: timedelta) -> int:
    ticks = _ticks_of(86_400 * value.days + value.seconds, value.microseconds, getattr(value, "nanoseconds", 0))
    if not -(1 << 63) <= ticks < 1 << 63:
        raise InvalidArgument(f"timedelta: expected less than 2**63 ticks of 100 ns, found {value}")
    return ticks


def _ticks_of(seconds: int, microseconds: int, nanoseconds: int) -> int:
    if nanoseconds % _NANOSECONDS_OF_TICK:
        raise InvalidArgument(f"time: expected whole ticks of 100 ns, found {nanoseconds} ns beside them")
    whole = _TICKS_OF_MICROSECOND * (1_000_000 * seconds + microseconds)
    return whole + nanoseconds // _NANOSECONDS_OF_TICK


def _signed(message: wire.TimeSpan) -> int:
    # The field is unsigned: a negative time span is stored as two's complement.
    ticks = message.ticks
    return ticks - (1 << 64) if ticks >> 63 else ticks


def _decimal(stored: bytes) -> bytes:
    if len(stored) != _DECIMAL_SIZE:
        raise CorruptedData(f"AnyValue.decimal_value: expected {_DECIMAL_SIZE} bytes, found {len(stored)}")
    return stored


# How values are read from a message and written to one; None for those that are the same there.
_KINDS: Final[Mapping[str, tuple[ValueKind, Callable[..., object] | None, Callable[..., object] | None]]] = {
    "null_value": ("null", lambda _: None, lambda _: wire.UnitValue()),
    "bool_value": ("bool", None, None),
    "u64_value": ("u64", None, None),
    "i64_value": ("i64", None, None),
    "double_value": ("double", None, None),
    "datetime_value": ("datetime", lambda message: message.ticks, lambda ticks: wire.DateTimeUtc(ticks=ticks)),
    "timespan_value": ("timespan", _signed, lambda ticks: wire.TimeSpan(ticks=ticks % _U64)),
    "string_value": ("string", None, None),
    "bytes_value": ("bytes", None, None),
    "decimal_value": ("decimal", _decimal, _decimal),
    "list_value": (
        "list",
        lambda message: tuple(AnyValue.of(element) for element in message.elements),
        lambda elements: wire.ListValue(elements=[element.to_message() for element in elements]),
    ),
    "struct_value": (
        "struct",
        lambda message: properties_of(message.fields),
        lambda properties: wire.StructValue(fields=pairs_of(properties)),
    ),
    "data_ref": ("data_ref", DataRef.of, DataRef.to_message),
}
_STORED_AS: Final = {kind: (stored, write) for stored, (kind, _, write) in _KINDS.items()}
