"""Which fields are wanted, and how?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amudai.types import SchemaNode

__all__ = ["Projection"]


@dataclass(frozen=True, slots=True)
class Projection:
    """A wanted field and those of its children that are wanted.

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
