"""What does a predicate written as text ask?

`status >= 500 and message has "timeout"`: the operators of the tree in the words of SQL and KQL. `docs/where.md` has
the grammar. A text that is none is an error that points at the place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Final, NoReturn, TypeVar

import pyarrow as pa

from amudai.errors import InvalidArgument
from amudai.predicate.column import Column, col
from amudai.predicate.tree import Always, Nanoseconds, Predicate, Real, Value

__all__ = ["parse_where"]

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

# Words that may follow a column, with `!` or `not` in front for the opposite.
_TEXT_OPS: Final = {
    f"{op}{case}": f"{op}{case}"
    for op in ("has", "hasprefix", "hassuffix", "contains", "startswith", "endswith")
    for case in ("", "_cs")
}
_COMPARISONS: Final[dict[str, Callable[[Column, Value], Predicate]]] = {
    "=": Column.__eq__,
    "==": Column.__eq__,
    "!=": Column.__ne__,
    "<>": Column.__ne__,
    "<": Column.__lt__,
    "<=": Column.__le__,
    ">": Column.__gt__,
    ">=": Column.__ge__,
}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_RESERVED: Final = frozenset({"and", "or", "not", "true", "false", "null"})
_FUNCTIONS: Final = frozenset({"datetime", "decimal"})
_OPERATORS: Final = (
    "=, !=, <, <=, >, >=, =~, between, in, is null, has, hasprefix, hassuffix, contains, startswith, endswith, "
    "has_any, has_all, matches, like or ilike"
)
# Parentheses and negations inside each other: each takes a few calls.
_DEEPEST: Final = 100


def parse_where(text: str) -> Predicate:
    """The predicate that a text writes down.

    >>> parse_where('status >= 500 and not (message has "timeout" or level in ("debug", "info"))')
    (col("status") >= 500) & ~(col("message").has("timeout") | col("level").isin(["debug", "info"]))
    >>> parse_where("status >= and level = 'info'")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: where: expected a value, found `and`
      status >= and level = 'info'
                ^^^
    """
    return _Parser(text).whole()


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of the text; `value` is that of texts and numbers."""

    kind: str  # "name", "number", "text", "mark" or "end"
    text: str
    start: int
    value: Value | None = None

    @property
    def word(self) -> str:
        """A name in lower case, if it may be a word of the grammar; otherwise the text itself."""
        return self.text.lower() if self.kind == "name" else self.text if self.kind == "mark" else ""

    @property
    def shown(self) -> str:
        return "the end" if self.kind == "end" else self.text if self.kind == "text" else f"`{self.text}`"


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self._at = 0
        self._depth = 0

    # ---- characters into tokens ----

    def _split(self) -> list[_Token]:
        tokens: list[_Token] = []
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
                    token = _Token(kind, found[0], at)
            tokens.append(token)
            at += len(token.text)
            if token.word in _FUNCTIONS and (inner := self._called(tokens)) is not None:
                tokens[-1] = inner
                at = inner.start + len(inner.text)
        return [*tokens, _Token("end", "", len(self._text))]

    def _quoted(self, found: re.Match[str]) -> _Token:
        start, quote = found.start(), found[0][-1]
        if found[0].startswith("@"):  # verbatim: a quote is written twice, and nothing else is special
            closed = re.compile(f"(?:[^{quote}]|{quote}{quote})*{quote}").match(self._text, found.end())
            if closed is None:
                self._fail(f"a closing {quote}", "none", start, len(self._text))
            inner = closed[0][:-1].replace(quote * 2, quote)
            return _Token("text", self._text[start : closed.end()], start, inner)
        parts: list[str] = []
        at = found.end()
        while at < len(self._text):
            character = self._text[at]
            if character == quote:
                return _Token("text", self._text[start : at + 1], start, "".join(parts))
            if character == "\\":
                escape = _ESCAPE.match(self._text, at)
                if escape is None:
                    hint = "an escape such as \\n, \\\\ or \\u00e9 (@ before the quote takes everything as it is)"
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

    def _number(self, found: re.Match[str]) -> _Token:
        token = _Token("number", found[0], found.start())
        return _Token("number", found[0], found.start(), self._value_of(token))

    def _value_of(self, token: _Token) -> Value:
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

    def _called(self, tokens: list[_Token]) -> _Token | None:
        """`datetime(...)` and `decimal(...)`: what stands in the parentheses is not split."""
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
        return _Token("text", self._text[name.start : last + 1], name.start, value)

    def _tried(self, token: _Token, make: Callable[[], T]) -> T:
        try:
            return make()
        except (ValueError, ArithmeticError):
            return self._fail("a number", token.shown, token.start, token.start + len(token.text))

    # ---- tokens into a tree ----

    def whole(self) -> Predicate:
        found = self._any_of()
        if self._now.kind != "end":
            self._expected("`and`, `or` or the end")
        return found

    @property
    def _now(self) -> _Token:
        return self._tokens[self._at]

    def _next(self) -> _Token:
        token = self._now
        self._at += 1
        return token

    def _take(self, *words: str) -> bool:
        """Step over the next token if it is one of these."""
        if self._now.word in words:
            self._at += 1
            return True
        return False

    def _require(self, word: str) -> None:
        if not self._take(word):
            self._expected(f"`{word}`")

    def _any_of(self) -> Predicate:
        found = self._all_of()
        while self._take("or", "||"):
            found = found | self._all_of()
        return found

    def _all_of(self) -> Predicate:
        found = self._negated()
        while self._take("and", "&&"):
            found = found & self._negated()
        return found

    def _negated(self) -> Predicate:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._expected(f"at most {_DEEPEST} parentheses and negations inside each other")
        try:
            if self._take("not", "!"):
                return ~self._negated()
            if self._take("("):
                found = self._any_of()
                self._require(")")
                return found
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Predicate:
        token = self._now
        if token.word in ("true", "false") and self._tokens[self._at + 1].word not in _COMPARISONS:
            self._at += 1
            return Always(token.word == "true")
        if self._is_value():
            return self._mirrored()
        if token.kind != "name" or token.word in _RESERVED:
            self._expected("a column")
        self._at += 1
        column = col(token.text)
        negated = self._take("!", "not")
        found = self._asked(column, negated)
        return ~found if negated else found

    def _asked(self, column: Column, negated: bool) -> Predicate:
        """What is asked of a column, without the negation that stood in front."""
        token = self._now
        if token.word in _COMPARISONS and not negated:
            self._at += 1
            return _COMPARISONS[token.word](column, self._value())
        if token.word in ("=~", "!~") and not negated:
            self._at += 1
            found = column.iequals(self._string())
            return found if token.word == "=~" else ~found
        self._at += 1
        match token.word:
            case "is" if not negated:
                inverted = self._take("not")
                self._require("null")
                return column.is_valid() if inverted else column.is_null()
            case "between":
                return self._between(column)
            case "in":
                if self._take("~"):
                    return _joined([column.iequals(text) for text in self._list(self._string)])
                return column.isin(self._list(self._value))
            case "has_any":
                return column.has_any(self._list(self._string))
            case "has_all":
                return column.has_all(self._list(self._string))
            case "like" | "ilike" as word:
                return self._like(column, word)
            case "matches":
                self._take("regex")
                return column.matches(self._string())
            case word if word in _TEXT_OPS:
                found_text: Predicate = getattr(column, _TEXT_OPS[word])(self._string())
                return found_text
        self._at -= 1
        return self._expected(_OPERATORS if not negated else "between, in, has or another word operator")

    def _like(self, column: Column, word: str) -> Predicate:
        at, pattern = self._at, self._string()
        escape = self._string() if self._take("escape") else None
        try:
            return column.like(pattern, escape=escape) if word == "like" else column.ilike(pattern, escape=escape)
        except InvalidArgument as error:
            token = self._tokens[at]
            return self._fail_with(error.message, token.start, token.start + len(token.text))

    def _between(self, column: Column) -> Predicate:
        """`between A and B`, or as KQL writes it, `between (A .. B)`."""
        if self._take("("):
            low = self._value()
            self._require("..")
            high = self._value()
            self._require(")")
        else:
            low = self._value()
            self._require("and")
            high = self._value()
        return column.between(low, high)

    def _mirrored(self) -> Predicate:
        """`500 <= status` is `status >= 500`."""
        value, token = self._value(), self._next()
        if token.word not in _COMPARISONS:
            self._at -= 1
            self._expected("a comparison such as = or <=")
        name = self._now
        if name.kind != "name" or name.word in _RESERVED:
            self._expected("a column")
        self._at += 1
        return _COMPARISONS[_MIRRORED.get(token.word, token.word)](col(name.text), value)

    # ---- values ----

    def _is_value(self) -> bool:
        token = self._now
        return token.kind in ("text", "number") or token.word in ("+", "-", "true", "false", "null")

    def _value(self) -> Value:
        token = self._now
        if token.word in ("true", "false"):
            self._at += 1
            return token.word == "true"
        if token.word in ("+", "-"):
            self._at += 1
            return self._signed(negative=token.word == "-")
        if token.word == "null":
            self._expected("a value (`is null` asks for nulls)")
        if token.value is None:
            hint = "a value" if token.kind != "name" or token.word in _RESERVED else 'a value (texts stand in "quotes")'
            self._expected(hint)
        self._at += 1
        return token.value

    def _signed(self, *, negative: bool) -> Value:
        token = self._now
        if token.kind != "number" or token.value is None:
            self._expected("a number")
        self._at += 1
        if not negative:
            return token.value
        if isinstance(token.value, Real):
            return Real("-" + token.text.replace("_", ""))
        return -token.value  # type: ignore[operator]  # integers and time spans alone are numbers here

    def _string(self) -> str:
        token = self._now
        if not isinstance(token.value, str):
            self._expected("a text in quotes")
        self._at += 1
        return token.value

    def _list(self, item: Callable[[], T]) -> list[T]:
        self._require("(")
        found = [item()]
        while self._take(","):
            found.append(item())
        if not self._take(")"):
            self._expected("`,` or `)`")
        return found

    # ---- errors ----

    def _expected(self, expected: str) -> NoReturn:
        token = self._now
        self._fail(expected, token.shown, token.start, token.start + max(1, len(token.text)))

    def _fail(self, expected: str, found: str, start: int, end: int) -> NoReturn:
        self._fail_with(f"expected {expected}, found {found}", start, end)

    def _fail_with(self, message: str, start: int, end: int) -> NoReturn:
        """An error with the line of the text that holds the place, and marks below it."""
        line_start = self._text.rfind("\n", 0, start) + 1
        line = self._text[line_start:].split("\n", 1)[0]
        before = re.sub(r"[^\t]", " ", self._text[line_start:start])
        marks = "^" * max(1, min(end, line_start + len(line)) - start)
        raise InvalidArgument(f"where: {message}\n  {line}\n  {before}{marks}")


def _joined(terms: list[Predicate]) -> Predicate:
    found = terms[0]
    for term in terms[1:]:
        found = found | term
    return found


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
    """A point in time; in nanoseconds where Python's own class is too coarse."""
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
