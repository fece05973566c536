"""`col("name")`, with which users write predicates. Its operators and methods make the nodes of `tree.py`.

Values of numpy, pandas and pyarrow become plain Python values here. Objects that are not values raise an error at once,
and so do common mistakes with Python's operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.predicate.plain_values import is_missing, is_value, list_of_values, plain_value
from amudai.predicate.strings import Strings
from amudai.predicate.text_operators import TextOperators
from amudai.predicate.tree import Compare, CompareOp, IsIn, IsNull, IsValid, Predicate, Value

__all__ = ["Column", "col"]


def col(name: str) -> Column:
    """A column to write predicates with.

    A dot leads into a struct (`"http.status"`), a list (any of its items) or, with `key` and `value`, a map (any of its
    entries). Put a name that contains dots in backticks.

    Examples
    --------
    >>> col("message").has("timeout") & ~col("level").isin(["debug", "info"])
    col("message").has("timeout") & ~col("level").isin(["debug", "info"])
    >>> col("http.status").between(500, 599)
    (col("http.status") >= 500) & (col("http.status") <= 599)
    """
    if not isinstance(name, str):
        raise InvalidArgument(f"col: expected the name of a column, found {shown(name)}")
    return Column(name)


class Column(TextOperators):
    """A column in a predicate. Made by `amudai.col`.

    The text operators have the names of KQL, and ignore case unless their name ends in `_cs`. The operators of Polars
    are in `str`; they are case-sensitive, as in Polars. `docs/operators.md` shows both.

    Examples
    --------
    >>> amudai.col("status") >= 500
    col("status") >= 500
    >>> amudai.col("message").hasprefix("time")
    col("message").hasprefix("time")
    >>> amudai.col("message").str.starts_with("time")
    col("message").startswith_cs("time")
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    def str(self) -> Strings:
        """The text operators of Polars, with the same names and meaning as in Polars."""
        return Strings(self._path)

    def __bool__(self) -> NoReturn:
        raise InvalidArgument(f"{self!r}: a column is not a predicate: compare it, as in {self!r} == True")

    # ---- values ----

    def __eq__(self, value: object) -> Predicate:  # type: ignore[override]
        return _compare(self, "==", value)

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override]
        return _compare(self, "!=", value)

    def __lt__(self, value: Value) -> Predicate:
        return _compare(self, "<", value)

    def __le__(self, value: Value) -> Predicate:
        return _compare(self, "<=", value)

    def __gt__(self, value: Value) -> Predicate:
        return _compare(self, ">", value)

    def __ge__(self, value: Value) -> Predicate:
        return _compare(self, ">=", value)

    def between(self, low: Value, high: Value) -> Predicate:
        """True if the value is from `low` to `high`, both included."""
        return _compare(self, ">=", low) & _compare(self, "<=", high)

    def isin(self, values: Iterable[Value]) -> Predicate:
        """True if the value is one of `values`. Never true for a null: add `| is_null()` to get those rows too."""
        return IsIn(self._path, tuple(_value(self, "isin", value) for value in list_of_values("isin", values)))

    def is_null(self) -> Predicate:
        """True if there is no value."""
        return IsNull(self._path)

    def is_valid(self) -> Predicate:
        """True if there is a value."""
        return IsValid(self._path)

    # ---- mistakes that are easy to make ----

    def __and__(self, other: object) -> NoReturn:
        _refuse_operator(self, "&")

    def __rand__(self, other: object) -> NoReturn:
        _refuse_operator(self, "&")

    def __or__(self, other: object) -> NoReturn:
        _refuse_operator(self, "|")

    def __ror__(self, other: object) -> NoReturn:
        _refuse_operator(self, "|")

    def __invert__(self) -> NoReturn:
        _refuse_operator(self, "~")

    def __contains__(self, value: object) -> NoReturn:
        raise InvalidArgument(f"in: expected {self!r}.isin(values) or {self!r}.contains(text), found Python's `in`")

    def __iter__(self) -> NoReturn:
        raise InvalidArgument(
            f"{self!r}: a column of a predicate has no values to iterate over: read them from the shard"
        )


def _refuse_operator(column: Column, operator: str) -> NoReturn:
    raise InvalidArgument(
        f"{operator}: expected predicates, found {shown(column)}: put comparisons in parentheses, as in "
        f"({column!r} == 1) {operator if operator != '~' else '&'} ..."
    )


def _compare(column: Column, op: CompareOp, value: object) -> Predicate:
    return Compare(column._path, op, _value(column, op, value))


def _value(column: Column, op: str, value: object) -> Value:
    if is_missing(value):
        raise InvalidArgument(f"{op}: expected a value, found None: use {column!r}.is_null()")
    if isinstance(value, Column):
        raise InvalidArgument(f"{op}: expected a value, found {shown(value)}: columns can only be compared with values")
    plain = plain_value(value)
    if not is_value(plain):
        raise InvalidArgument(f"{op}: expected a value to compare {column!r} with, found {shown(value)}")
    return plain
