"""Packed groups of a stripe that is built: where their blocks end, and writing their super-blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import BlockEnds, PreparedBuffer, Profile
from amudai.format import super_block_header
from amudai.shard.build.prepared import PreparedField, PreparedGroup
from amudai.shard.build.stored import StoredArray
from amudai.storage import Spool
from amudai.types import WIDTHS, BasicType

__all__ = ["PACKABLE", "GroupRequest", "block_ends", "extend", "packed", "row_bytes", "super_blocks"]

# Types whose values can be in super-blocks: one value for each position of the group.
PACKABLE: Final = frozenset(
    {
        *WIDTHS,
        BasicType.BOOLEAN,
        BasicType.STRING,
        BasicType.BINARY,
        BasicType.FIXED_SIZE_BINARY,
        BasicType.GUID,
    }
)


@dataclass(frozen=True, slots=True)
class GroupRequest:
    """The packed groups that a shard is written with.

    Attributes
    ----------
    tops
        Groups of top-level fields: the schema ids of their members.
    structs
        The schema ids of the members of each packed struct, by the schema id of the struct.
    """

    tops: tuple[tuple[int, ...], ...] = ()
    structs: Mapping[int, frozenset[int]] = field(default_factory=dict)


def block_ends(profile: Profile, members: int) -> BlockEnds:
    """The ends of the blocks of a new group. A member has, on average, as many bytes in a block as text would have."""
    return BlockEnds(profile.block_values, max(1, members) * profile.text_bytes)


def extend(ends: BlockEnds, members: Iterable[StoredArray], rows: int) -> None:
    """Decide where blocks end in the next rows, given the values of the members."""
    sizes = np.zeros(rows, np.int64)
    for values in members:
        sizes += row_bytes(values)
    ends.extend(sizes)


def row_bytes(values: StoredArray) -> npt.NDArray[np.int64] | int:
    """The bytes of each value, or of all values if they are the same."""
    if values.dictionary is not None:
        lengths = row_bytes(values.dictionary.values)
        if not isinstance(lengths, int) and not len(lengths):
            return 0  # no entries: every value is null
        return lengths if isinstance(lengths, int) else lengths[values.dictionary.codes]
    if values.offsets is not None:
        return np.diff(values.offsets).astype(np.int64)
    kind = values.node.basic_type
    return WIDTHS.get(kind, values.node.fixed_size or 1)


def packed(
    fields: Sequence[PreparedField], ends: BlockEnds, positions: int, own: Sequence[PreparedBuffer] = ()
) -> PreparedGroup | None:
    """The group of fields with this many positions, and of buffers of their parent; None if no field has blocks.

    Their buffers are numbered in the order of the super-blocks.
    """
    found = [buffer for each in fields for buffer in each.buffers if buffer.whole is None]
    if not found or not positions:
        return None
    found += own
    for number, buffer in enumerate(found):
        buffer.member_number = number
    counts = np.diff([0, *ends.positions, positions])
    return PreparedGroup(tuple(found), counts[counts > 0])


def super_blocks(group: PreparedGroup, spool: Spool) -> Iterator[bytes]:
    """The super-blocks of a group, one by one."""
    sizes = [np.concatenate(buffer.sizes) for buffer in group.buffers]
    starts = [_block_starts(buffer, mine) for buffer, mine in zip(group.buffers, sizes, strict=True)]
    for block in range(len(group.counts)):
        mine = [int(each[block]) for each in sizes]
        nested = [
            piece
            for each, size in zip(starts, mine, strict=True)
            for piece in spool.pieces([(each[block], each[block] + size)])
        ]
        yield b"".join((super_block_header(mine), *nested))


def _block_starts(buffer: PreparedBuffer, sizes: npt.NDArray[np.uint32]) -> list[int]:
    """Where each block begins in the spool. No block lies in two extents."""
    starts: list[int] = []
    extents = iter(buffer.extents)
    at = end = 0
    for size in sizes.tolist():
        if at == end:
            at, end = next(extents)
        starts.append(at)
        at += size
    return starts
