r"""Templates: the text form of line shapes.

A template looks like a regular expression, with times and fields:

- `{pid:int}` is a field of digits, `{took:float}` one of a number, `{host}` one without spaces. `{user=[^@]+}` says
  what a field is made of.
- `%Y %y %m %d %H %M %S` are parts of a time with a fixed number of digits; `%-d` has one or two digits, `%e` perhaps a
  space before them. `%b` is the name of a month, `%p` AM or PM, `%f` a fraction of a second, `%-f` a number of
  milliseconds, `%z` a zone, `%Z` a zone or a known name of one. `%E` is seconds from 1970, or milli-, micro- or
  nanoseconds, which the number of digits tells.
- `%L` is the name of a level, such as `INFO`.
- `(a|b)` are alternatives, `(a)?` and `[a-z]*` repetitions, `.*?` is everything up to the text that follows, and `.*`
  is the rest of the line. `%q` is everything up to a quote that no backslash escapes. `^` goes back to the start.

The first way to match counts: a repetition takes what it can, and an alternative that fits is never left again. So a
line is read once, at a speed that a regular expression does not reach.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["Group", "Kind", "LiteralText", "Named", "Node", "Op", "Run", "Step", "TemplateField", "parsed"]

Kind: TypeAlias = Literal["text", "int", "float", "guess"]


@dataclass(frozen=True, slots=True)
class TemplateField:
    """A part of a line that becomes a column. The type of kind "guess" comes from the values in the sample."""

    name: str
    kind: Kind = "text"


class Op:
    """The numbers of the steps in cpp/text/line_program.hpp."""

    LITERAL, RUN, FIND, REST, OPEN, CLOSE, CHOICE, COMMIT = range(8)
    NUMBER, MONTH_NAME, FRACTION, ZONE, EPOCH, HALF_DAY, WORD, QUOTED, START, END = range(8, 18)
    DATE, CLOCK = range(18, 20)


@dataclass(frozen=True, slots=True)
class LiteralText:
    """These bytes."""

    value: bytes


@dataclass(frozen=True, slots=True)
class Run:
    """From `least` to `most` bytes of a class, as many as there are."""

    members: frozenset[int]
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the program that needs no more than numbers."""

    op: int
    x: int = 0
    least: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """The first alternative that fits."""

    alternatives: tuple[tuple[Node, ...], ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """The nodes of a field."""

    field: TemplateField
    nodes: tuple[Node, ...]


Node: TypeAlias = "LiteralText | Run | Step | Group | Named"

_MANY: Final = (1 << 31) - 1
_ANY: Final = frozenset(range(256))
_DIGITS: Final = frozenset(string.digits.encode())
_SPACES: Final = frozenset(b" \t\v\f\r")
_WORD: Final = frozenset((string.ascii_letters + string.digits + "_").encode()) | frozenset(range(128, 256))
_CLASSES: Final = {"d": _DIGITS, "s": _SPACES, "w": _WORD, "S": _ANY - _SPACES, "D": _ANY - _DIGITS, "W": _ANY - _WORD}
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r"}
_DEFAULTS: Final[dict[str, str]] = {"int": r"\d{1,18}", "float": r"-?\d+(\.\d+)?", "text": r"\S+", "guess": r"\S+"}

_YEAR, _SHORT_YEAR, _MONTH, _DAY, _HOUR, _MINUTE, _SECOND, _MILLISECOND = range(8)
_TIMES: Final[dict[str, tuple[Node, ...]]] = {
    "Y": (Step(Op.NUMBER, _YEAR, 4, 4),),
    "y": (Step(Op.NUMBER, _SHORT_YEAR, 2, 2),),
    "m": (Step(Op.NUMBER, _MONTH, 2, 2),),
    "d": (Step(Op.NUMBER, _DAY, 2, 2),),
    "H": (Step(Op.NUMBER, _HOUR, 2, 2),),
    "M": (Step(Op.NUMBER, _MINUTE, 2, 2),),
    "S": (Step(Op.NUMBER, _SECOND, 2, 2),),
    "-m": (Step(Op.NUMBER, _MONTH, 1, 2),),
    "-d": (Step(Op.NUMBER, _DAY, 1, 2),),
    "-H": (Step(Op.NUMBER, _HOUR, 1, 2),),
    "-M": (Step(Op.NUMBER, _MINUTE, 1, 2),),
    "-S": (Step(Op.NUMBER, _SECOND, 1, 2),),
    "-f": (Step(Op.NUMBER, _MILLISECOND, 1, 3),),
    "e": (Run(frozenset(b" "), 0, 1), Step(Op.NUMBER, _DAY, 1, 2)),
    "b": (Step(Op.MONTH_NAME),),
    "p": (Step(Op.HALF_DAY),),
    "f": (Step(Op.FRACTION),),
    "z": (Step(Op.ZONE),),
    "Z": (Step(Op.ZONE, 1),),
    "E": (Step(Op.EPOCH),),
    "q": (Step(Op.QUOTED),),
    "L": (Step(Op.WORD),),
}


class _TemplateParser:
    """Reads the text of a template."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def template(self) -> tuple[Node, ...]:
        alternatives = self._alternatives()
        if self._at < len(self._text):
            raise self._error("the end")
        return alternatives[0] if len(alternatives) == 1 else (Group(alternatives),)

    def _error(self, expected: str) -> ValueError:
        return ValueError(f"template: expected {expected} at {self._at} of {self._text!r}")

    def _peek(self, size: int = 1) -> str:
        return self._text[self._at : self._at + size]

    def _next(self) -> str:
        if self._at == len(self._text):
            raise self._error("more")
        self._at += 1
        return self._text[self._at - 1]

    def _take(self, wanted: str) -> bool:
        if not self._text.startswith(wanted, self._at):
            return False
        self._at += len(wanted)
        return True

    def _alternatives(self) -> tuple[tuple[Node, ...], ...]:
        found = [self._sequence()]
        while self._take("|"):
            found.append(self._sequence())
        return tuple(found)

    def _sequence(self) -> tuple[Node, ...]:
        nodes: list[Node] = []
        while self._peek() not in ("", ")", "|", "}"):
            nodes.extend(self._item())
        return tuple(_merged(nodes))

    def _item(self) -> tuple[Node, ...]:
        character = self._next()
        if character == "{":
            return (self._named(),)
        if character == "(":
            alternatives = self._alternatives()
            if not self._take(")"):
                raise self._error("a closing parenthesis")
            return (Group(alternatives, optional=self._take("?")),)
        if character == "%":
            name = self._next()
            name += self._next() if name == "-" else ""
            if name not in _TIMES:
                raise self._error(f"a part of a time, not %{name},")
            return _TIMES[name]
        if character == "^":
            return (Step(Op.START),)
        members = self._members(character)
        return (self._repeated(members, character == "."),)

    def _members(self, character: str) -> frozenset[int]:
        if character == ".":
            return _ANY
        if character == "\\":
            name = self._next()
            return _CLASSES.get(name) or frozenset(_ESCAPES.get(name, name).encode())
        if character == "[":
            return self._class()
        return frozenset(character.encode())

    def _class(self) -> frozenset[int]:
        inverted = self._take("^")
        members: set[int] = set()
        while not self._take("]"):
            character = self._next()
            if character == "\\":
                members |= self._members(character)
            elif self._peek() == "-" and self._peek(2) != "-]":
                self._next()
                members |= set(range(ord(character), ord(self._next()) + 1))
            else:
                members |= set(character.encode())
        return _ANY - members if inverted else frozenset(members)

    def _repeated(self, members: frozenset[int], is_any: bool) -> Node:
        if is_any and self._take("*?"):
            return Step(Op.FIND)
        if is_any and self._take("*"):
            return Step(Op.REST)
        least, most = 1, 1
        if self._take("*"):
            least, most = 0, _MANY
        elif self._take("+"):
            least, most = 1, _MANY
        elif self._take("?"):
            least, most = 0, 1
        elif self._peek() == "{" and self._peek(2)[1:].isdigit():
            end = self._text.index("}", self._at)
            bounds = self._text[self._at + 1 : end].split(",")
            least, most = int(bounds[0]), int(bounds[-1])
            self._at = end + 1
        if (least, most) == (1, 1) and len(members) == 1:
            return LiteralText(bytes(members))
        return Run(members, least, most)

    def _named(self) -> Named:
        end = min((place for place in (self._text.find(mark, self._at) for mark in "=}") if place >= 0), default=-1)
        if end < 0:
            raise self._error("a closing brace after")
        name, _, kind = self._text[self._at : end].partition(":")
        chosen: Kind = (
            "int" if kind == "int" else "float" if kind == "float" else "guess" if kind == "guess" else "text"
        )
        self._at = end
        if self._take("="):
            alternatives = self._alternatives()
            nodes: tuple[Node, ...] = alternatives[0] if len(alternatives) == 1 else (Group(alternatives),)
        else:
            nodes = _TemplateParser(_DEFAULTS[chosen]).template()
        if not self._take("}"):
            raise self._error("a closing brace")
        return Named(TemplateField(name, chosen), nodes)


def _merged(nodes: Iterable[Node]) -> Iterator[Node]:
    """The nodes, with neighbouring texts in one."""
    text = b""
    for node in nodes:
        if isinstance(node, LiteralText):
            text += node.value
            continue
        if text:
            yield LiteralText(text)
            text = b""
        yield node
    if text:
        yield LiteralText(text)


def parsed(template: str) -> tuple[Node, ...]:
    """The nodes of a template."""
    return _TemplateParser(template).template()
