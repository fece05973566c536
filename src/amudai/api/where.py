"""The request that a user makes of a scan. `where` may be a predicate, a condition in text, or one of pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from amudai.arguments import names
from amudai.plan import OnDamage, ScanRequest
from amudai.predicate import EVERYTHING, Predicate

if TYPE_CHECKING:
    from pyarrow.compute import Expression

__all__ = ["Where", "predicate_of", "request_of"]

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


def request_of(
    columns: Sequence[str] | None,
    where: Where | None = None,
    *,
    limit: int | None = None,
    batch_rows: int | None = None,
    on_damaged_index: OnDamage = "raise",
    include_deleted: bool = False,
) -> ScanRequest:
    """The request of a scan that a user describes by the arguments of `Shard.scan`."""
    return ScanRequest(
        columns=None if columns is None else names(columns, "columns"),
        where=predicate_of(where),
        limit=limit,
        batch_rows=batch_rows,
        on_damage=on_damaged_index,
        include_deleted=include_deleted,
    )
