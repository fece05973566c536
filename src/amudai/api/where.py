"""What `where` may be: a predicate, a condition in text, or an expression of pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from amudai.predicate import EVERYTHING, Predicate

if TYPE_CHECKING:
    from pyarrow.compute import Expression

__all__ = ["Where", "predicate_of"]

Where: TypeAlias = "Predicate | str | Expression"


def predicate_of(where: Where | None) -> Predicate:
    """The predicate that `where` stands for; None stands for all rows.

    >>> predicate_of("status >= 500")
    col("status") >= 500
    """
    # What reads text and expressions is imported by those who use it: pyarrow.compute alone takes long.
    if where is None:
        return EVERYTHING
    if isinstance(where, str):
        from amudai.predicate import parse_where

        return parse_where(where)
    if not isinstance(where, Predicate):
        from pyarrow.compute import Expression

        if isinstance(where, Expression):
            from amudai.predicate import from_expression

            return from_expression(where)
    return where  # anything that is no predicate is refused when it is bound to the columns
