"""Fields together with their layouts, as trees."""

from __future__ import annotations

from collections.abc import Iterator

from amudai import Field, FieldLayout, ShardLayout

__all__ = ["fields_below", "require_readable"]


def fields_below(field: Field, layout: FieldLayout, depth: int = 0) -> Iterator[tuple[int, Field, FieldLayout]]:
    """A field and all fields below it, each with its depth and its layout."""
    yield depth, field, layout
    for child, below in zip(field.children, layout.children, strict=True):
        yield from fields_below(child, below, depth + 1)


def require_readable(layout: ShardLayout) -> ShardLayout:
    """The same layout; raises the first problem if there is one."""
    for problem in layout.problems:
        raise problem.error
    return layout
