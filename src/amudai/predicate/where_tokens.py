"""The tokens of a predicate that is written as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Final, NoReturn, TypeVar

import pyarrow as pa

from amudai.errors import InvalidArgument
from amudai.predicate.tree import Nanoseconds, Real, Value

__all__ = ["Token", "fail", "tokens_of"]

T = TypeVar("T")

_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>(?:0[xX][0-9a-fA-F]+|(?:\d[\d_]*(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)[A-Za-z_]*)
  | (?P<text>@?["'])
  | (?P<name>(?:`[^`]*`|[^\W\d][\w@$]*)(?:\.(?:`[^`]*`|\w[\w@$]*))*)
  | (?P<mark>==|!=|<>|<=|>=|=~|!~|&&|\|\||\.\.|[=<>!(),~+-])
    """,
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\(?:([\\\"'/ntr0])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_PLAIN: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_MICROSECONDS: Final = {"d": 86_400 * 10**6, "h": 3_600 * 10**6, "m": 60 * 10**6, "s": 10**6, "ms": 10**3, "us": 1}

_FUNCTIONS: Final = frozenset({"datetime", "decimal"})


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the text. Texts and numbers have a `value`."""

    kind: str  # "name", "number", "text", "mark" or "end"
    text: str
    start: int
    value: Value | None = None

    @property
    def word(self) -> str:
        """The word of the grammar that this may be: a name in lower case, or a mark. Empty for other tokens."""
        return self.text.lower() if self.kind == "name" else self.text if self.kind == "mark" else ""

    @property
    def shown(self) -> str:
        """The token as errors show it."""
        return "the end" if self.kind == "end" else self.text if self.kind == "text" else f"`{self.text}`"


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, with an end token behind them."""
    return _Splitter(text).tokens()


def fail(text: str, message: str, start: int, end: int) -> NoReturn:
    """Raise an error that shows the line of the text, with `start` to `end` underlined."""
    line_start = text.rfind("\n", 0, start) + 1
    line = text[line_start:].split("\n", 1)[0]
    before = re.sub(r"[^\t]", " ", text[line_start:start])
    marks = "^" * max(1, min(end, line_start + len(line)) - start)
    raise InvalidArgument(f"where: {message}\n  {line}\n  {before}{marks}")


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text

    def tokens(self) -> list[Token]:
        tokens: list[Token] = []
        at = 0
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None or found.lastgroup is None:
                character = self._text[at]
                expected = "a closing backtick" if character == "`" else "a name, a value or an operator"
                self._fail(expected, f"`{character}`" if character != "`" else "none", at, at + 1)
            match found.lastgroup:
                case "space":
                    at = found.end()
                    continue
                case "text":
                    token = self._quoted(found)
                case "number":
                    token = self._number(found)
                case kind:
                    token = Token(kind, found[0], at)
            tokens.append(token)
            at += len(token.text)
            if token.word in _FUNCTIONS and (inner := self._called(tokens)) is not None:
                tokens[-1] = inner
                at = inner.start + len(inner.text)
        return [*tokens, Token("end", "", len(self._text))]

    def _quoted(self, found: re.Match[str]) -> Token:
        start, quote = found.start(), found[0][-1]
        if found[0].startswith("@"):  # verbatim text: two quotes stand for one, and nothing else is special
            closed = re.compile(f"(?:[^{quote}]|{quote}{quote})*{quote}").match(self._text, found.end())
            if closed is None:
                self._fail(f"a closing {quote}", "none", start, len(self._text))
            inner = closed[0][:-1].replace(quote * 2, quote)
            return Token("text", self._text[start : closed.end()], start, inner)
        parts: list[str] = []
        at = found.end()
        while at < len(self._text):
            character = self._text[at]
            if character == quote:
                return Token("text", self._text[start : at + 1], start, "".join(parts))
            if character == "\\":
                escape = _ESCAPE.match(self._text, at)
                if escape is None:
                    hint = "an escape such as \\n, \\\\ or \\u00e9 (@ before the quote switches escapes off)"
                    self._fail(hint, f"`{self._text[at : at + 2]}`", at, at + 2)
                parts.append(self._unescaped(escape))
                at = escape.end()
            else:
                parts.append(character)
                at += 1
        return self._fail(f"a closing {quote}", "none", start, len(self._text))

    def _unescaped(self, escape: re.Match[str]) -> str:
        if escape[1]:
            return _PLAIN.get(escape[1], escape[1])
        code = int(escape[2] or escape[3] or escape[4], 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            self._fail("the code of a character", f"`{escape[0]}`", escape.start(), escape.end())
        return chr(code)

    def _number(self, found: re.Match[str]) -> Token:
        token = Token("number", found[0], found.start())
        return Token("number", found[0], found.start(), self._value_of(token))

    def _value_of(self, token: Token) -> Value:
        text = token.text.replace("_", "") if not token.text.endswith("_") and "__" not in token.text else "?"
        if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
            return int(text, 16)
        if text.isdigit():
            return self._tried(token, lambda: int(text))
        if re.fullmatch(r"[\d.]+(?:[eE][+-]?\d+)?", text):
            number = self._tried(token, lambda: Real(text))
            if number in (float("inf"), float("-inf")):
                self._fail("a number that 64 bits can hold", token.shown, token.start, token.start + len(token.text))
            return number
        span = re.fullmatch(r"([\d.]+)(d|h|m|s|ms|us)", text)
        if span is None:
            hint = "a number such as 500, 1_000, 2.5e3 or 0xff, or a time such as 30s, 5m or 1h"
            self._fail(hint, token.shown, token.start, token.start + len(token.text))
        return self._tried(token, lambda: _span(span[1], span[2]))

    def _called(self, tokens: list[Token]) -> Token | None:
        """`datetime(...)` or `decimal(...)` as one token; None if the name is not followed by a parenthesis."""
        name = tokens[-1]
        open_at = name.start + len(name.text)
        if not self._text[open_at:].lstrip().startswith("("):
            return None  # a column of that name
        first = self._text.index("(", open_at) + 1
        last = self._text.find(")", first)
        if last < 0:
            self._fail("a closing parenthesis", "none", first - 1, len(self._text))
        inner = self._text[first:last].strip().strip("\"'")
        make: Callable[[str], Value] = _instant if name.word == "datetime" else _decimal
        try:
            value = make(inner)
        except (ValueError, ArithmeticError):
            example = "2026-01-31T10:00:00Z" if name.word == "datetime" else "19.99"
            self._fail(f"{name.word}({example}) or the like", f"`{inner}`", first, last)
        return Token("text", self._text[name.start : last + 1], name.start, value)

    def _tried(self, token: Token, make: Callable[[], T]) -> T:
        try:
            return make()
        except (ValueError, ArithmeticError):
            return self._fail("a number", token.shown, token.start, token.start + len(token.text))

    def _fail(self, expected: str, found: str, start: int, end: int) -> NoReturn:
        fail(self._text, f"expected {expected}, found {found}", start, end)


def _span(number: str, unit: str) -> timedelta:
    found = Decimal(number) * _MICROSECONDS[unit]
    if found != found.to_integral_value():
        raise ValueError(number)  # finer than a microsecond
    return timedelta(microseconds=int(found))


def _decimal(text: str) -> Decimal:
    try:
        found = Decimal(text.replace("_", ""))
    except InvalidOperation as error:
        raise ValueError(text) from error
    if not found.is_finite():
        raise ValueError(text)
    return found


def _instant(text: str) -> Value:
    """A point in time, as `Nanoseconds` if datetime is too coarse."""
    head, dot, tail = text.partition(".")
    digits = tail[: len(tail) - len(tail.lstrip("0123456789"))]
    if not dot or len(digits) <= 6 or not digits[6:].strip("0"):
        rest = tail[len(digits) :]
        return datetime.fromisoformat(f"{head}.{digits[:6].ljust(6, '0')}{rest}" if dot else text)
    if len(digits) > 9:
        raise ValueError(text)
    whole = datetime.fromisoformat(f"{head}{tail[len(digits) :]}")
    kind = pa.timestamp("ns", None if whole.tzinfo is None else "UTC")
    seconds = pa.scalar(whole, pa.timestamp("s", kind.tz)).cast(pa.int64()).as_py()
    return Nanoseconds(seconds * 10**9 + int(digits.ljust(9, "0")), kind)
