"""The numbers of rows and fields in an index, which may have been built for another shard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from amudai.format import COMPLETE, MOVED, IndexDescriptor, MovedIndex
from amudai.rows import Origin, Rows
from amudai.shard import ShardReader

__all__ = ["Numbering"]


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """How the rows and fields of an index relate to those of the shard that has it.

    Attributes
    ----------
    origin
        What the rows in the index are counted from: the shard, or a part of it.
    ids
        The schema id in the index for each schema id of the shard that the index covers.
    composites
        Of entries with several fields: the schema ids in the index, by those of the shard.
    first_stripe
        The number of the index's stripe 0 in the shard.
    complete
        Whether the index has every value of the rows that it covers.
    single
        Whether the index was built over one field. If it was built over several, it still has the values of those that
        were dropped since.
    """

    origin: Origin
    ids: Mapping[int, int]
    first_stripe: int
    complete: bool
    composites: Mapping[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)
    single: bool = False

    @classmethod
    def of(
        cls, descriptor: IndexDescriptor, shard: ShardReader, stated: Mapping[str, object] | None = None
    ) -> Numbering:
        """The numbering of an index of `shard`. `stated` are the values of its properties, if they are known."""
        stated = descriptor.values if stated is None else stated
        covered = [ids[0] for ids in descriptor.indexed_fields if len(ids) == 1]
        single = len(descriptor.indexed_fields) == 1  # the entries of dropped fields stay, without ids
        moved = MovedIndex.of(descriptor) if MOVED in stated else None
        if moved is None:
            # This library spells the name as the format does. Of another writer any case is accepted.
            complete = stated.get(COMPLETE) is True or any(
                value is True and name.lower() == COMPLETE for name, value in stated.items()
            )
            several = {ids: ids for ids in map(tuple, descriptor.indexed_fields) if len(ids) > 1}
            return cls(shard.origin, dict(zip(covered, covered, strict=True)), 0, complete, several, single)
        size = max(0, shard.num_positions - moved.first_row) if moved.rows is None else moved.rows
        origin = shard.origin.part("shard", "of the index", moved.first_row, size)
        pairs = list(zip(map(tuple, descriptor.indexed_fields), map(tuple, moved.fields), strict=True))
        ids = {own[0]: stored[0] for own, stored in pairs if len(own) == len(stored) == 1}
        several = {own: stored for own, stored in pairs if len(own) == len(stored) > 1}
        return cls(origin, ids, moved.first_stripe, moved.complete, several, single)

    def outward(self, rows: Rows) -> Rows:
        """Rows of the index, counted from `origin`, as rows of the shard."""
        if self.origin.parent is None:
            return rows
        # Rows of stripes that the shard does not have any more are in no index of another stripe.
        return (rows if self.origin.first >= 0 else rows.clip(-self.origin.first, self.origin.size)).outward()

    def inward(self, rows: Rows) -> Rows:
        """Rows of the shard as rows of the index. Those that the index does not cover are left out."""
        return rows if self.origin.parent is None else rows.inward(self.origin)
