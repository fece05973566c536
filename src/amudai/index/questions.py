"""What can an index be asked?

Small questions about the values of one field. What a predicate means in terms of them is `scan`'s matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

__all__ = ["Between", "Every", "Keys", "Match", "Question", "Terms"]


Number = int | float | Decimal


class Match(Enum):
    """How a term must resemble the text that is looked for."""

    EQUAL = "equal"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    WITHIN = "within"


@dataclass(frozen=True, slots=True)
class Terms:
    """Rows whose field has a term that is, begins with, ends with or holds `text`.

    Attributes
    ----------
    whole
        Whether terms are whole values, or words: runs of alphanumeric code points.
    """

    text: str
    match: Match
    case_sensitive: bool
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Every:
    """Rows for which all of these are true."""

    terms: tuple[Terms, ...]


@dataclass(frozen=True, slots=True)
class Keys:
    """Rows whose field has one of these values, in the bytes that are stored: a null has none."""

    values: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """Rows whose field has a value from `low` to `high`, both included, as stored: times are ticks. None: no bound."""

    low: Number | None
    high: Number | None


Question = Terms | Every | Keys | Between
