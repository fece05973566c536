"""The types of CSV columns, inferred from their texts."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from amudai.errors import InvalidSchema
from amudai.sources.contract import MixedZones
from amudai.sources.exact import FIRST_ROUNDED, trouble_with
from amudai.sources.times import has_mixed_zones, time_type

__all__ = ["FALSE", "NULLS", "TRUE", "inferred_type", "without_nulls"]

# Texts that mean null, besides the empty text. In columns of text they are texts.
NULLS: Final = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("N/A", "NA", "NULL", "NaN", "n/a", "nan", "null"),
)
TRUE: Final = ("true", "True", "TRUE")
FALSE: Final = ("false", "False", "FALSE")

# What fits a 64-bit integer and is written as one writes it.
_INTEGER: Final = r"^(?:0|-?[1-9][0-9]{0,17})$"
# Identifiers rather than quantities: a number would lose the zeros, the sign, or digits.
_IDENTIFIER: Final = r"^(?:\+|-?0[0-9xX]|-?[0-9]{19,}$)"
# Enough to see that a column is text.
_HEAD: Final = 64


def inferred_type(name: str, texts: pa.ChunkedArray, nulls: pa.Array, decimal: str, mixed: MixedZones) -> pa.DataType:
    """The type that holds all texts of a column without a change. None of the texts is null.

    Whole numbers of up to 18 digits are `int64`, other numbers `double`, `true` and `false` booleans, times and dates
    what `times.py` says. A column is text if some value fits none of these, or has a leading zero, a plus sign or more
    than 18 digits, or if doubles would round whole numbers or cannot hold a number. A column in which all texts mean
    null is null.
    """
    try:
        head = _type(texts[:_HEAD], nulls, decimal)
        return head if pa.types.is_string(head) else _type(texts, nulls, decimal)
    except _ZonesDiffer as error:
        if mixed == "text":
            return pa.string()
        way_out = f'set the type of column {name!r} (types= or --type); mixed_zones="text" keeps such columns as text'
        message = f"column {name!r}: expected times that all name a zone, or none, found both: {way_out}"
        raise InvalidSchema(message) from error


class _ZonesDiffer(Exception):
    """Some times of a column name a zone, and others do not."""


def without_nulls(texts: pa.Array, nulls: pa.Array) -> pa.Array:
    """The texts, null where they mean null."""
    return pc.if_else(pc.is_in(texts, nulls), None, texts)


def _type(texts: pa.ChunkedArray, nulls: pa.Array, decimal: str) -> pa.DataType:
    values = without_nulls(texts.unique(), nulls).drop_null()
    if not len(values):
        return pa.null()
    # Blanks around numbers have no meaning, as in pyarrow's reader.
    trimmed = pc.ascii_trim_whitespace(values)
    if _all(trimmed, _INTEGER):
        return pa.int64()
    numbers = _numbers(trimmed, decimal)
    if numbers is not None:
        return pa.string() if _loses(trimmed, numbers, decimal) else pa.float64()
    if pc.all(pc.is_in(values, pa.array([*TRUE, *FALSE]))).as_py():
        return pa.bool_()
    if not _all(values, r"^\d{4}-"):
        return pa.string()
    kind = time_type(values)
    if kind is None and has_mixed_zones(values):
        raise _ZonesDiffer
    return kind or pa.string()


def _all(values: pa.Array, pattern: str) -> bool:
    found: bool = pc.all(pc.match_substring_regex(values, pattern)).as_py()
    return found


def _numbers(values: pa.Array, decimal: str) -> pa.Array | None:
    if decimal != ".":
        if pc.any(pc.match_substring(values, ".")).as_py():
            return None
        values = pc.replace_substring(values, decimal, ".")
    try:
        return values.cast(pa.float64())
    except pa.ArrowInvalid:
        return None


def _loses(values: pa.Array, numbers: pa.Array, decimal: str) -> bool:
    if pc.any(pc.match_substring_regex(values, _IDENTIFIER)).as_py():
        return True
    large = values.filter(pc.greater_equal(pc.abs(numbers), FIRST_ROUNDED))
    return any(trouble_with(value, decimal) for value in large.to_pylist())
