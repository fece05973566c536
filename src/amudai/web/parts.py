"""What an answer consists of: columns, rows, numbers of rows, a histogram, and the receipt."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from amudai.web.histogram import Histogram
from amudai.web.receipt import AnswerReceipt

__all__ = ["AnswerRows", "Columns", "Counted", "Part", "Place"]

# The name of a shard, and the position of a row in it.
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the rows that follow, and all columns that there are to choose from."""

    schema: pa.Schema
    every: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Rows that match. `places` are the shard and the position of each; None for rows of a query."""

    table: pa.Table
    first: int
    places: tuple[Place, ...] | None


@dataclass(frozen=True, slots=True)
class Counted:
    """How many rows match so far, whether these are all, and whether there is another page."""

    rows: int
    is_final: bool
    more: bool


Part = Columns | AnswerRows | Counted | Histogram | AnswerReceipt
