"""Facts and the protobuf messages that state them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar

from google.protobuf.message import DecodeError, EncodeError, Message

from amudai.errors import CorruptedData, InvalidArgument
from amudai.format.container import Bytes

__all__ = ["Fact", "LazyFact", "parse", "require", "same_names", "serialized"]

M = TypeVar("M", bound=Message)


class Fact(ABC):
    """The content of a message: `of` and `decode` read it from a message, `to_message` and `encode` write it."""

    __slots__ = ()

    @abstractmethod
    def to_message(self) -> Message:
        """The message that states this fact. None is left out, 0 is not."""

    def encode(self) -> bytes:
        """The payload of the message. Equal facts give equal bytes."""
        try:
            return self.to_message().SerializeToString(deterministic=True)
        except (EncodeError, DecodeError, RecursionError) as error:
            # DecodeError: protobuf serialises a message to copy it into another.
            raise _too_deep(type(self).__name__) from error
        except ValueError as error:
            # The facts of several shards are sums: counts that are not true may not fit.
            expected = f"{type(self).__name__}: expected numbers of at most 64 bits, as no true shard exceeds"
            raise CorruptedData(f"{expected}, found {error}") from error


class LazyFact(Fact):
    """A fact whose attributes are decoded at their first use: a scan needs few of them.

    It is a dataclass with slots, one of them `message`. `PARTS` says how each of the others is decoded.
    """

    __slots__ = ()

    PARTS: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    @classmethod
    def lazily(cls, message: Message, **known: object) -> Self:
        """The fact that `message` states. `known` are attributes that are decoded already."""
        fact = cls.__new__(cls)
        object.__setattr__(fact, "message", message)
        for name, value in known.items():
            object.__setattr__(fact, name, value)
        return fact

    def whole(self) -> Self:
        """The same fact with all attributes decoded, so that errors are raised now rather than later."""
        for name in self.PARTS:
            getattr(self, name)
        return self

    if not TYPE_CHECKING:  # otherwise mypy would accept every misspelt attribute

        def __getattr__(self, name: str) -> object:
            read = self.PARTS.get(name)
            if read is None:
                raise AttributeError(name)
            found = read(self.message)
            object.__setattr__(self, name, found)
            return found


def parse(kind: type[M], payload: Bytes) -> M:
    """`payload` as a message of `kind`. The only place where protobuf's own errors are handled."""
    try:
        return kind.FromString(bytes(payload))
    except (DecodeError, ValueError, RecursionError) as error:
        # ValueError and RecursionError: protobuf's pure-Python implementation, for bad UTF-8 and deep nesting.
        found = f"{kind.DESCRIPTOR.name}: expected a protobuf message, found {len(payload)} other bytes"
        raise CorruptedData(found) from error


def serialized(message: Message) -> bytes:
    """The payload of a message."""
    try:
        return message.SerializeToString(deterministic=True)
    except (EncodeError, RecursionError) as error:
        raise _too_deep(message.DESCRIPTOR.name) from error


def _too_deep(name: str) -> InvalidArgument:
    return InvalidArgument(f"{name}: expected a message of fewer than 100 levels, found more")


def require(message: Message, field: str) -> None:
    """Raise CorruptedData if a message lacks the submessage `field`."""
    if not message.HasField(field):
        raise CorruptedData(f"{message.DESCRIPTOR.name}.{field}: expected it to be set, found nothing")


def same_names(kind: type[M], fact: Any) -> M:
    """A message of `kind`, with the attributes of a dataclass that have the names of its fields."""
    names = _NAMES.get(type(fact))
    if names is None:
        names = _NAMES[type(fact)] = tuple(each.name for each in fields(fact))
    return kind(**{name: getattr(fact, name) for name in names})


_NAMES: Final[dict[type, tuple[str, ...]]] = {}  # the names of the fields of dataclasses, which are slow to find
