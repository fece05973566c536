"""What positions are counted from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from amudai.frozen import quick_init

__all__ = ["SLOTS", "Origin", "OriginKind"]

OriginKind: TypeAlias = Literal["dataset", "shard", "stripe", "slots"]


@quick_init
@dataclass(frozen=True, slots=True)
class Origin:
    """The table, or part of one, from whose first row positions are counted.

    Sets of positions with different origins cannot be combined: row 5 of a stripe is not row 5 of its shard.

    Attributes
    ----------
    name
        What distinguishes it from others of its kind: the URL of a dataset or shard, the ordinal of a stripe.
    size
        How many positions there are.
    parent
        The origin that this one is a part of, if any.
    first
        The position of the first row in `parent`.

    Examples
    --------
    >>> shard = Origin("shard", "file:///logs.amudai.shard", 1000)
    >>> str(shard.part("stripe", "1", 400, 600))
    'stripe 1 of shard file:///logs.amudai.shard'
    """

    kind: OriginKind
    name: str
    size: int
    parent: Origin | None = None
    first: int = 0

    def part(self, kind: OriginKind, name: str, first: int, size: int) -> Origin:
        """The origin of a part: a shard of a dataset, a stripe of a shard."""
        return Origin(kind, name, size, self, first)

    def __str__(self) -> str:
        own = f"{self.kind} {self.name}".rstrip()
        return own if self.parent is None else f"{own} of {self.parent}"


# Slots are the places of values in a buffer, or of items below a list. They belong to no table.
SLOTS: Final = Origin("slots", "", (1 << 64) - 1)
