"""Predicates: trees of frozen nodes, made by `column.py` and combined with `&`, `|` and `~`.

Nodes compare, hash and pickle, and print as the Python code that makes them. They know no schema: `binding.py` checks a
tree against a schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Final, Literal, NoReturn, TypeAlias
from uuid import UUID

import pyarrow as pa

from amudai.arguments import shown
from amudai.errors import InvalidArgument

__all__ = [
    "EVERYTHING",
    "Always",
    "And",
    "Compare",
    "CompareOp",
    "Interval",
    "IsIn",
    "IsNull",
    "IsValid",
    "Leaf",
    "Matches",
    "Nanoseconds",
    "Not",
    "Or",
    "Predicate",
    "Real",
    "Text",
    "TextOp",
    "Value",
    "all_of",
    "any_of",
    "source",
]


class Real(float):
    """A number and its digits as written. Float columns compare with the float, decimal columns with the digits.

    >>> Real("19.99"), Real("19.99").digits
    (19.99, Decimal('19.99'))
    """

    __slots__ = ("digits",)

    def __new__(cls, text: str) -> Real:
        """The number that `text` says."""
        found = super().__new__(cls, text)
        found.digits = Decimal(text)
        return found

    digits: Decimal

    def __reduce__(self) -> tuple[type[Real], tuple[str]]:
        return Real, (str(self.digits),)


@dataclass(frozen=True, slots=True)
class Nanoseconds:
    """A point or length of time in nanoseconds, which the microseconds of Python's own classes cannot represent."""

    count: int
    type: pa.DataType

    def __repr__(self) -> str:
        name = (
            "timestamp" if pa.types.is_timestamp(self.type) else "time64" if pa.types.is_time(self.type) else "duration"
        )
        zone = getattr(self.type, "tz", None)
        return f'pa.scalar({self.count}, pa.{name}("ns"{"" if zone is None else f", {source(zone)}"}))'


# A value that a column can be compared with.
Value: TypeAlias = bool | int | float | Decimal | str | bytes | datetime | date | time | timedelta | UUID | Nanoseconds
CompareOp: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]
TextOp: TypeAlias = Literal["has", "hasprefix", "hassuffix", "contains", "startswith", "endswith", "equals"]

# The text form has the same limit.
_MOST_LEVELS: Final = 100
_NO_TRUTH: Final = (
    "a predicate has no truth value of its own: write & | ~ for and, or, not, put comparisons in "
    "parentheses, and write between(low, high) for low <= column <= high"
)


class Predicate:
    """A condition on rows. Made by `amudai.col`.

    Predicates are combined with `&`, `|` and `~`. For each row a predicate is true, false or, if there are nulls,
    neither; combinations follow Kleene's logic. A scan returns the rows for which the predicate is true.

    Examples
    --------
    >>> from amudai import col
    >>> p = col("message").has("timeout") & (col("status") >= 500)
    >>> p
    col("message").has("timeout") & (col("status") >= 500)
    >>> ~p | col("status").is_null()
    ~(col("message").has("timeout") & (col("status") >= 500)) | col("status").is_null()
    >>> p and p
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: a predicate has no truth value of its own: write & | ~ for and, or, not ...
    """

    __slots__ = ()

    def __and__(self, other: Predicate) -> Predicate:
        if not isinstance(other, Predicate):
            _refuse_operand("&", other)
        return And((*_terms(self, And), *_terms(other, And)), max(_inside(self, And), _inside(other, And)))

    def __or__(self, other: Predicate) -> Predicate:
        if not isinstance(other, Predicate):
            _refuse_operand("|", other)
        return Or((*_terms(self, Or), *_terms(other, Or)), max(_inside(self, Or), _inside(other, Or)))

    def __rand__(self, other: object) -> NoReturn:
        _refuse_operand("&", other)

    def __ror__(self, other: object) -> NoReturn:
        _refuse_operand("|", other)

    def __invert__(self) -> Predicate:
        return self.term if isinstance(self, Not) else Not(self)

    def __bool__(self) -> NoReturn:
        raise InvalidArgument(_NO_TRUTH)

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True, repr=False)
class Compare(Predicate):
    """A column compared with a value."""

    path: str
    op: CompareOp
    value: Value

    def __str__(self) -> str:
        return f"{_column(self.path)} {self.op} {source(self.value)}"


@dataclass(frozen=True, slots=True, repr=False)
class IsIn(Predicate):
    """A column whose value is one of `values`. None of `values` is a null."""

    path: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{_column(self.path)}.isin([{', '.join(map(source, self.values))}])"


@dataclass(frozen=True, slots=True, repr=False)
class IsNull(Predicate):
    """A column without a value."""

    path: str

    def __str__(self) -> str:
        return f"{_column(self.path)}.is_null()"


@dataclass(frozen=True, slots=True, repr=False)
class IsValid(Predicate):
    """A column with a value."""

    path: str

    def __str__(self) -> str:
        return f"{_column(self.path)}.is_valid()"


@dataclass(frozen=True, slots=True, repr=False)
class Text(Predicate):
    """A column whose text contains or begins with `text`, and so on. `docs/operators.md` explains the operators."""

    path: str
    op: TextOp
    text: str
    case_sensitive: bool

    def __str__(self) -> str:
        if self.op == "equals":
            if self.case_sensitive:
                return f"{_column(self.path)} == {source(self.text)}"
            return f"{_column(self.path)}.iequals({source(self.text)})"
        return f"{_column(self.path)}.{self.op}{'_cs' if self.case_sensitive else ''}({source(self.text)})"


@dataclass(frozen=True, slots=True, repr=False)
class Matches(Predicate):
    """A column whose text contains a match of a regular expression in RE2 syntax."""

    path: str
    pattern: str

    def __str__(self) -> str:
        return f"{_column(self.path)}.matches({source(self.pattern)})"


@dataclass(frozen=True, slots=True, repr=False)
class And(Predicate):
    """True if all terms are true."""

    terms: tuple[Predicate, ...]
    levels: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        _set_levels(self, self.terms)

    def __str__(self) -> str:
        return " & ".join(map(_operand, self.terms)) if len(self.terms) > 1 else f"And(({_listed(self.terms)}))"


@dataclass(frozen=True, slots=True, repr=False)
class Or(Predicate):
    """True if any term is true."""

    terms: tuple[Predicate, ...]
    levels: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        _set_levels(self, self.terms)

    def __str__(self) -> str:
        if len(self.terms) < 2:
            return f"Or(({_listed(self.terms)}))"
        return " | ".join(str(term) if _is_product(term) else _operand(term) for term in self.terms)


@dataclass(frozen=True, slots=True, repr=False)
class Not(Predicate):
    """The opposite of the term. If the term is neither true nor false, so is this."""

    term: Predicate
    levels: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        _set_levels(self, (self.term,))

    def __str__(self) -> str:
        return f"~{_operand(self.term)}"


@dataclass(frozen=True, slots=True, repr=False)
class Always(Predicate):
    """True for all rows, or false for all rows."""

    value: bool

    def __str__(self) -> str:
        return f"Always({self.value})"


# The predicate of a scan that has none.
EVERYTHING: Final = Always(True)


@dataclass(frozen=True, slots=True, repr=False)
class Interval(Predicate):
    """A column between two values. `binding.py` makes it of two comparisons, so that the column is asked once."""

    path: str
    low: Compare
    high: Compare

    def __str__(self) -> str:
        return f"({self.low}) & ({self.high})"


Leaf: TypeAlias = Compare | Interval | IsIn | IsNull | IsValid | Text | Matches


def all_of(terms: Iterable[Predicate]) -> Predicate:
    """True if all of two or more terms are true."""
    return And(tuple(each for term in terms for each in _terms(term, And)))


def any_of(terms: Iterable[Predicate]) -> Predicate:
    """True if any of two or more terms is true."""
    return Or(tuple(each for term in terms for each in _terms(term, Or)))


def _set_levels(predicate: And | Or | Not, terms: tuple[Predicate, ...]) -> None:
    """Note how deep a tree is, if it is not known. Each level takes a few recursive calls, and those are limited."""
    levels = predicate.levels or 1 + max((_levels(term) for term in terms), default=0)
    if levels > _MOST_LEVELS:
        raise InvalidArgument(f"predicate: expected at most {_MOST_LEVELS} levels of and, or and not, found more")
    object.__setattr__(predicate, "levels", levels)


def _levels(predicate: Predicate) -> int:
    return predicate.levels if isinstance(predicate, And | Or | Not) else 0


def _inside(predicate: Predicate, kind: type[And] | type[Or]) -> int:
    """The levels of a join of this kind that takes in the terms of `predicate`. Terms need not be looked at again."""
    is_same = isinstance(predicate, kind) and len(predicate.terms) > 1
    return _levels(predicate) if is_same else _levels(predicate) + 1


def _terms(predicate: Predicate, kind: type[And] | type[Or]) -> tuple[Predicate, ...]:
    return predicate.terms if isinstance(predicate, kind) and len(predicate.terms) > 1 else (predicate,)


def _refuse_operand(operator: str, other: object) -> NoReturn:
    raise InvalidArgument(f"{operator}: expected predicates, found {shown(other)}: put comparisons in parentheses")


def _column(path: str) -> str:
    return f"col({source(path)})"


def _is_product(predicate: Predicate) -> bool:
    return isinstance(predicate, And) and len(predicate.terms) > 1


def _operand(predicate: Predicate) -> str:
    """A predicate as an operand, in parentheses if Python needs them."""
    compares = isinstance(predicate, Compare) or (isinstance(predicate, Text) and str(predicate)[-1] != ")")
    joins = isinstance(predicate, And | Or) and len(predicate.terms) > 1
    return f"({predicate})" if compares or joins else str(predicate)


def _listed(terms: tuple[Predicate, ...]) -> str:
    return "".join(f"{term}, " for term in terms)


def source(value: Value) -> str:
    """A value as Python source; text in double quotes."""
    if isinstance(value, str):
        inner = repr("'" + value)  # with a single quote inside, repr takes double quotes, unless both kinds are inside
        return f'"{inner[2:-1]}"' if inner[0] == '"' else repr(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    return repr(value)
