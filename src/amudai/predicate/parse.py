"""The parser of predicates that are written as text, such as `status >= 500 and message has "timeout"`.

The syntax combines SQL and KQL; `docs/where.md` has the grammar. A syntax error points at its place in the text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn, TypeVar

from amudai.errors import InvalidArgument
from amudai.predicate.column import Column, col
from amudai.predicate.tree import Always, Predicate, Real, Value
from amudai.predicate.where_tokens import Token, fail, tokens_of

__all__ = ["parse_where"]

T = TypeVar("T")

# Words that may follow a column. `!` or `not` in front negates them.
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
_OPERATORS: Final = (
    "=, !=, <, <=, >, >=, =~, between, in, is null, has, hasprefix, hassuffix, contains, startswith, endswith, "
    "has_any, has_all, matches, like or ilike"
)
# The deepest nesting of parentheses and negations: each level takes a few recursive calls.
_DEEPEST: Final = 100


def parse_where(text: str) -> Predicate:
    """Parse a predicate.

    >>> parse_where('status >= 500 and not (message has "timeout" or level in ("debug", "info"))')
    (col("status") >= 500) & ~(col("message").has("timeout") | col("level").isin(["debug", "info"]))
    >>> parse_where("status >= and level = 'info'")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: where: expected a value, found `and`
      status >= and level = 'info'
                ^^^
    """
    return _PredicateParser(text).whole()


class _PredicateParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._at = 0
        self._depth = 0

    # ---- tokens into a tree ----

    def whole(self) -> Predicate:
        found = self._any_of()
        if self._now.kind != "end":
            self._expected("`and`, `or` or the end")
        return found

    @property
    def _now(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._now
        self._at += 1
        return token

    def _take(self, *words: str) -> bool:
        """Skip the next token if it is one of `words`. Returns whether it was."""
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
            self._expected(f"at most {_DEEPEST} nested parentheses and negations")
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
        """The operator behind a column and its operands. The caller has taken the `not` in front, and applies it."""
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
            return self._fail(error.message, self._tokens[at])

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
            hint = "a value" if token.kind != "name" or token.word in _RESERVED else 'a value (put text in "quotes")'
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
        self._fail(f"expected {expected}, found {token.shown}", token)

    def _fail(self, message: str, token: Token) -> NoReturn:
        fail(self._text, message, token.start, token.start + max(1, len(token.text)))


def _joined(terms: list[Predicate]) -> Predicate:
    found = terms[0]
    for term in terms[1:]:
        found = found | term
    return found
