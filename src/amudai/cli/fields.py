"""Which fields are there, and how deep?"""

from __future__ import annotations

from collections.abc import Iterator

from amudai.api import Field

__all__ = ["fields_below"]


def fields_below(field: Field, depth: int) -> Iterator[tuple[int, Field]]:
    """A field and all below it, each with its depth."""
    yield depth, field
    for child in field.children:
        yield from fields_below(child, depth + 1)
