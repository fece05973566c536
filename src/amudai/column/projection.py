"""Which parts of a column to read, and the width of their offsets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amudai.types import SchemaNode

__all__ = ["Projection"]


@dataclass(frozen=True, slots=True)
class Projection:
    """A column to read, and which of its children to read.

    `wide` requests 64-bit offsets, which only variable-size values and lists have.
    """

    node: SchemaNode
    wide: bool = False
    children: tuple[Projection, ...] = ()

    def nodes(self) -> Iterator[SchemaNode]:
        """The column's node and the nodes of all projected columns below it."""
        yield self.node
        for child in self.children:
            yield from child.nodes()
