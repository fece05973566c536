"""What `where` may be: a predicate, a condition in text, or an expression of pyarrow."""

from __future__ import annotations

from typing import TypeAlias

import pyarrow.compute as pc

from amudai.predicate import EVERYTHING, Predicate, from_expression, parse_where

__all__ = ["Where", "predicate_of"]

Where: TypeAlias = Predicate | str | pc.Expression


def predicate_of(where: Where | None) -> Predicate:
    """The predicate that `where` stands for; None stands for all rows.

    >>> predicate_of("status >= 500")
    col("status") >= 500
    """
    if where is None:
        return EVERYTHING
    if isinstance(where, str):
        return parse_where(where)
    if isinstance(where, pc.Expression):
        return from_expression(where)
    return where  # anything that is no predicate is refused when it is bound to the columns
