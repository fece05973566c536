"""Super-blocks: the blocks of all members of a packed group for the same positions, behind a header with their sizes.

docs/format/buffers.md, "Packed groups", describes the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.errors import CorruptedData
from amudai.format.container import Bytes, check_zeros, checksum

__all__ = [
    "SUPER_BLOCK_MARK",
    "check_super_block_padding",
    "decode_super_block",
    "super_block_header",
    "super_block_header_size",
    "super_block_members",
]

# No block begins with it: it would be the size of a presence section that is larger than the block.
SUPER_BLOCK_MARK: Final = 0xFFFF_4750
_FIRST: Final = Struct("<II")  # the mark, the number of members
_WORD: Final = 4
_ALIGNMENT: Final = 8


def super_block_header_size(members: int) -> int:
    """Bytes of the header of a super-block: mark, number of members, size of each, checksum, padding.

    >>> super_block_header_size(3), super_block_header_size(4)
    (24, 32)
    """
    size = _FIRST.size + _WORD * members + _WORD
    return size + -size % _ALIGNMENT


def super_block_header(sizes: Sequence[int]) -> bytes:
    """The header of a super-block with nested blocks of these sizes.

    >>> super_block_header([32, 40]).hex(" ", 4)
    '5047ffff 02000000 20000000 28000000 e2e5fd32 00000000'
    """
    stated = _FIRST.pack(SUPER_BLOCK_MARK, len(sizes)) + np.array(sizes, "<u4").tobytes()
    stated += checksum(stated).to_bytes(_WORD, "little")
    return stated + bytes(-len(stated) % _ALIGNMENT)


def super_block_members(data: Bytes) -> int:
    """How many blocks are nested in a super-block, given its first bytes."""
    if len(data) < _FIRST.size:
        raise CorruptedData(f"super-block: expected at least {_FIRST.size} bytes, found {len(data)}")
    mark, members = map(int, _FIRST.unpack_from(data))
    if mark != SUPER_BLOCK_MARK:
        raise CorruptedData(f"super-block: expected the mark {SUPER_BLOCK_MARK:#x}, found {mark:#x}")
    if not members:
        raise CorruptedData("super-block: expected at least one nested block, found none")
    return members


def decode_super_block(data: Bytes, members: int, size: int, *, verify: bool = True) -> npt.NDArray[np.uint32]:
    """The sizes of the nested blocks of a super-block.

    Parameters
    ----------
    data
        At least the header of the super-block.
    members
        How many nested blocks all super-blocks of the group have.
    size
        Bytes of the whole super-block. The nested blocks must fill it.
    verify
        Whether the checksum of the header is compared.
    """
    found = super_block_members(data)
    if found != members:
        raise CorruptedData(f"super-block: expected {members} nested blocks as in the first one, found {found}")
    header = super_block_header_size(members)
    if min(len(data), size) < header:
        found = min(len(data), size)
        raise CorruptedData(f"super-block: expected at least {header} bytes for {members} members, found {found}")
    end = _FIRST.size + _WORD * members
    if verify:
        stated = int.from_bytes(data[end : end + _WORD], "little")
        expected = checksum(data[:end])
        if stated != expected:
            raise CorruptedData(f"super-block header checksum: expected {expected:#010x}, found {stated:#010x}")
    sizes = np.frombuffer(data, "<u4", members, _FIRST.size)
    total = header + int(sizes.sum(dtype=np.uint64))
    if total != size or not sizes.all():
        raise CorruptedData(f"super-block: expected nested blocks of {size - header} bytes, found {total - header}")
    return sizes


def check_super_block_padding(data: Bytes, members: int) -> None:
    """Raise an error if the padding of a super-block's header is not zero."""
    end = _FIRST.size + _WORD * members + _WORD
    check_zeros(data[end : super_block_header_size(members)], "super-block header padding")
