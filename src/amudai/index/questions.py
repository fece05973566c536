"""The questions that an index can answer.

They are small questions about the values of one field. `predicate` and `plan` translate predicates into them.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any

from amudai.frozen import quick_init
from amudai.types import NodePath

if TYPE_CHECKING:
    from amudai.shard import StoredArray  # with what writes shards, which readers do not need

__all__ = ["Between", "CompositeKeys", "Every", "IndexQuestion", "Keys", "Match", "Question", "StoredKeys", "Terms"]


Number = int | float | Decimal


class Match(Enum):
    """How a term must match the text of a question."""

    EQUAL = "equal"
    PREFIX = "prefix"
    SUFFIX = "suffix"
    WITHIN = "within"


@quick_init
@dataclass(frozen=True, slots=True)
class Terms:
    """Rows whose field has a term that equals, begins with, ends with or contains `text`, as `match` says.

    Attributes
    ----------
    whole
        True if a term is a whole value; False if a term is a word, a run of alphanumeric code points.
    """

    text: str
    match: Match
    case_sensitive: bool
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Every:
    """Rows for which all of these questions are true."""

    terms: tuple[Terms, ...]


@dataclass(frozen=True, slots=True)
class Keys:
    """Rows whose field has one of these values, given as stored bytes. A null matches no value."""

    values: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StoredKeys:
    """Rows whose field has one of many values, given as the field stores them, without nulls."""

    values: StoredArray


@dataclass(frozen=True, slots=True)
class CompositeKeys:
    """Rows that have given values in several fields at once.

    Attributes
    ----------
    paths
        The nodes from a top-level field down to each field.
    values
        The wanted combinations: for each field a value, given as stored bytes.
    """

    paths: tuple[NodePath, ...]
    values: tuple[tuple[bytes, ...], ...]


@dataclass(frozen=True, slots=True)
class Between:
    """Rows whose field has a value from `low` to `high`, both included. None: no bound. Times are in ticks."""

    low: Number | None
    high: Number | None


@dataclass(frozen=True, slots=True)
class IndexQuestion:
    """Rows for which an operator of a predicate is true. It is never negated.

    Attributes
    ----------
    operator
        `==`, `<`, `<=`, `>`, `>=`; `in`; `equals`, `has`, `hasprefix`, `hassuffix`, `contains`, `startswith`,
        `endswith`; `matches` for a regular expression.
    values
        What the column is compared with, as Python values: several for `in`, one for all others.
    case_sensitive
        Whether the case of text matters.

    Examples
    --------
    >>> amudai.IndexQuestion("endswith", (".log",)).case_sensitive
    True
    """

    operator: str
    values: tuple[Any, ...]
    case_sensitive: bool = True


Question = Terms | Every | Keys | StoredKeys | CompositeKeys | Between | IndexQuestion
