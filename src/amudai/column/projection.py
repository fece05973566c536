"""Which parts of a column to read, and in which form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from amudai.encoding import DecimalForm, Unit
from amudai.types import SchemaNode

__all__ = ["Projection"]


@dataclass(frozen=True, slots=True)
class Projection:
    """A column to read, and which of its children to read.

    `wide` requests 64-bit offsets, which only variable-size values and lists have. `nanoseconds` is the internal field
    with the nanoseconds after the ticks of a top-level column, if the shard has one. `unit` allows a source to count
    times in this unit instead of ticks, and `decimals` decimals in Arrow's form (`CountedValues`). `views` allows it to
    give strings as views (`ViewedValues`).
    """

    node: SchemaNode
    wide: bool = False
    children: tuple[Projection, ...] = ()
    nanoseconds: SchemaNode | None = None
    unit: Unit | None = None
    views: bool = False
    decimals: DecimalForm | None = None

    def columns(self) -> Iterator[SchemaNode]:
        """The top-level columns to read, for a projection of a top-level column."""
        yield self.node
        if self.nanoseconds is not None:
            yield self.nanoseconds

    def nodes(self) -> Iterator[SchemaNode]:
        """The column's node, that of its nanoseconds, and the nodes of all projected columns below it."""
        yield from self.columns()
        for child in self.children:
            yield from child.nodes()
