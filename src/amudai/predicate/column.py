"""How does a user ask about a column?

`col("name")` and its methods make the nodes of `tree.py`. Values become Python's own here, whoever's they were; what
cannot be a value, and the mistakes that Python's operators invite, are told at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, NoReturn, TypeGuard
from uuid import UUID

import numpy as np
import pyarrow as pa

from amudai.errors import InvalidArgument
from amudai.predicate.tree import (
    Always,
    And,
    Compare,
    CompareOp,
    IsIn,
    IsNull,
    IsValid,
    Matches,
    Nanoseconds,
    Or,
    Predicate,
    Text,
    TextOp,
    Value,
    source,
)

__all__ = ["Column", "col", "plain_value"]

_KINDS: Final = (bool, int, float, Decimal, str, bytes, datetime, date, time, timedelta, UUID, Nanoseconds)


def col(name: str) -> Column:
    """A column, to be compared.

    A dot leads into a struct (`"http.status"`), a list (any of its items) or, with `key` and `value`, a map (any of its
    entries); backticks keep a name with dots whole.

    Examples
    --------
    >>> col("message").has("timeout") & ~col("level").isin(["debug", "info"])
    col("message").has("timeout") & ~col("level").isin(["debug", "info"])
    >>> col("http.status").between(500, 599)
    (col("http.status") >= 500) & (col("http.status") <= 599)
    """
    if not isinstance(name, str):
        raise InvalidArgument(f"col: expected the name of a column, found {name!r}")
    return Column(name)


class Column:
    """A column that is to be compared. Made by `amudai.col`.

    Text operators without `_cs` ignore case. The names are those of KQL, and `docs/operators.md` says what they mean.

    Examples
    --------
    >>> amudai.col("status") >= 500
    col("status") >= 500
    >>> amudai.col("message").hasprefix("time")
    col("message").hasprefix("time")
    """

    __slots__ = ("_path",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, path: str) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"col({source(self._path)})"

    def __bool__(self) -> NoReturn:
        raise InvalidArgument(f"{self!r}: a column is no predicate: compare it, as in {self!r} == True")

    # ---- values ----

    def __eq__(self, value: object) -> Predicate:  # type: ignore[override]
        return self._compare("==", value)

    def __ne__(self, value: object) -> Predicate:  # type: ignore[override]
        return self._compare("!=", value)

    def __lt__(self, value: Value) -> Predicate:
        return self._compare("<", value)

    def __le__(self, value: Value) -> Predicate:
        return self._compare("<=", value)

    def __gt__(self, value: Value) -> Predicate:
        return self._compare(">", value)

    def __ge__(self, value: Value) -> Predicate:
        return self._compare(">=", value)

    def between(self, low: Value, high: Value) -> Predicate:
        """From `low` to `high`, both included."""
        return self._compare(">=", low) & self._compare("<=", high)

    def isin(self, values: Iterable[Value]) -> Predicate:
        """One of these values. A null is none of them, whatever they are: ask `is_null()` beside."""
        if isinstance(values, str | bytes):
            raise InvalidArgument(f"isin: expected a list of values, found {values!r}")
        return IsIn(self._path, tuple(self._value("isin", value) for value in _items("isin", values)))

    def is_null(self) -> Predicate:
        """Without a value."""
        return IsNull(self._path)

    def is_valid(self) -> Predicate:
        """With a value."""
        return IsValid(self._path)

    # ---- text ----

    def has(self, text: str) -> Predicate:
        """Holds these words, whole: `has("time")` is false for "timeout"."""
        return self._text("has", text, False)

    def has_cs(self, text: str) -> Predicate:
        """As `has`, minding case."""
        return self._text("has", text, True)

    def hasprefix(self, text: str) -> Predicate:
        """Holds words that begin so: `hasprefix("time")` is true for "read timeout"."""
        return self._text("hasprefix", text, False)

    def hasprefix_cs(self, text: str) -> Predicate:
        """As `hasprefix`, minding case."""
        return self._text("hasprefix", text, True)

    def hassuffix(self, text: str) -> Predicate:
        """Holds words that end so: `hassuffix("out")` is true for "timeout after 5 s"."""
        return self._text("hassuffix", text, False)

    def hassuffix_cs(self, text: str) -> Predicate:
        """As `hassuffix`, minding case."""
        return self._text("hassuffix", text, True)

    def contains(self, text: str) -> Predicate:
        """Holds this text anywhere."""
        return self._text("contains", text, False)

    def contains_cs(self, text: str) -> Predicate:
        """As `contains`, minding case."""
        return self._text("contains", text, True)

    def startswith(self, text: str) -> Predicate:
        """Begins with this text."""
        return self._text("startswith", text, False)

    def startswith_cs(self, text: str) -> Predicate:
        """As `startswith`, minding case."""
        return self._text("startswith", text, True)

    def endswith(self, text: str) -> Predicate:
        """Ends with this text."""
        return self._text("endswith", text, False)

    def endswith_cs(self, text: str) -> Predicate:
        """As `endswith`, minding case."""
        return self._text("endswith", text, True)

    def iequals(self, text: str) -> Predicate:
        """Is this text but for case: KQL's `=~`."""
        return self._text("equals", text, False)

    def has_any(self, texts: Iterable[str]) -> Predicate:
        """Has one of these, each as `has` understands it."""
        found = tuple(self.has(text) for text in _items("has_any", texts))
        return found[0] if len(found) == 1 else Or(found) if found else Always(False)

    def has_all(self, texts: Iterable[str]) -> Predicate:
        """Has all of these, each as `has` understands it."""
        found = tuple(self.has(text) for text in _items("has_all", texts))
        return found[0] if len(found) == 1 else And(found) if found else Always(True)

    def matches(self, pattern: str) -> Predicate:
        """Holds something that this regular expression matches, in the syntax of RE2. Case matters but for `(?i)`."""
        if not isinstance(pattern, str):
            raise InvalidArgument(f"matches: expected a regular expression, found {pattern!r}")
        return Matches(self._path, pattern)

    # ---- mistakes that are easy to make ----

    def __and__(self, other: object) -> NoReturn:
        self._refuse_operator("&")

    def __rand__(self, other: object) -> NoReturn:
        self._refuse_operator("&")

    def __or__(self, other: object) -> NoReturn:
        self._refuse_operator("|")

    def __ror__(self, other: object) -> NoReturn:
        self._refuse_operator("|")

    def __invert__(self) -> NoReturn:
        self._refuse_operator("~")

    def __contains__(self, value: object) -> NoReturn:
        raise InvalidArgument(f"in: expected {self!r}.isin(values) or {self!r}.contains(text), found Python's `in`")

    def __iter__(self) -> NoReturn:
        raise InvalidArgument(f"{self!r}: a column of a predicate holds no values: read them from the shard")

    def _refuse_operator(self, operator: str) -> NoReturn:
        raise InvalidArgument(
            f"{operator}: expected predicates, found {self!r}: put comparisons in parentheses, as in "
            f"({self!r} == 1) {operator if operator != '~' else '&'} ..."
        )

    def _compare(self, op: CompareOp, value: object) -> Predicate:
        return Compare(self._path, op, self._value(op, value))

    def _text(self, op: TextOp, text: object, case_sensitive: bool) -> Predicate:
        if not isinstance(text, str):
            raise InvalidArgument(f"{op}: expected a text, found {text!r}")
        return Text(self._path, op, str(text), case_sensitive)

    def _value(self, op: str, value: object) -> Value:
        if value is None or (isinstance(value, pa.Scalar) and not value.is_valid) or _is_no_time(value):
            raise InvalidArgument(f"{op}: expected a value, found None: ask {self!r}.is_null()")
        if isinstance(value, Column):
            raise InvalidArgument(f"{op}: expected a value, found {value!r}: columns are compared with values only")
        plain = plain_value(value)
        if not _is_value(plain):
            raise InvalidArgument(f"{op}: expected a value to compare {self!r} with, found {value!r}")
        return plain


def _is_no_time(value: object) -> bool:
    """Whether this is the null of numpy's or pandas' times, which is not itself."""
    return isinstance(value, datetime | timedelta | np.datetime64 | np.timedelta64) and bool(value != value)


def _is_value(value: object) -> TypeGuard[Value]:
    return isinstance(value, _KINDS)


def plain_value(value: Any) -> Any:
    """Python's own value of the same meaning, where there is one."""
    if isinstance(value, np.datetime64 | np.timedelta64) and np.datetime_data(value.dtype)[0] == "ns":
        value = pa.scalar(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        found = value.item()
        return None if isinstance(found, int) else found  # a unit for which Python has no type
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, datetime) and getattr(value, "nanosecond", False):
        value = pa.scalar(value)  # pandas' Timestamp counts finer than the class that it is made from
    if isinstance(value, timedelta) and getattr(value, "nanoseconds", False):
        value = pa.scalar(value)
    if isinstance(value, pa.Scalar) and value.is_valid:
        return _plain_scalar(value)
    return value


def _plain_scalar(value: pa.Scalar) -> object:
    kind = value.type
    if pa.types.is_temporal(kind) and getattr(kind, "unit", "") == "ns":
        count = value.cast(pa.int64()).as_py()
        return Nanoseconds(count, kind) if count % 1000 else value.cast(_in_microseconds(kind)).as_py()
    return value.as_py()


def _in_microseconds(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.time64("us") if pa.types.is_time(kind) else pa.duration("us")


def _items(op: str, values: object) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable) or isinstance(values, Column):
        raise InvalidArgument(f"{op}: expected a list of values, found {values!r}")
    return list(values)
