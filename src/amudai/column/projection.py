"""The wanted columns of a read: which members, and how wide their offsets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amudai.types import SchemaNode

__all__ = ["Projection"]


@dataclass(frozen=True, slots=True)
class Projection:
    """A wanted column and those of its children that are wanted.

    `wide` asks for 64-bit offsets, which only variable-size values and lists have.
    """

    node: SchemaNode
    wide: bool = False
    children: tuple[Projection, ...] = ()

    def nodes(self) -> Iterator[SchemaNode]:
        """Its node and all below it that are wanted."""
        yield self.node
        for child in self.children:
            yield from child.nodes()
