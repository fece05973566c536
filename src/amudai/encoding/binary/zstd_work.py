"""What decompressing a Zstandard frame takes, by what its blocks say about themselves (RFC 8878, section 3.1.1)."""

from __future__ import annotations

from typing import Final, NamedTuple

import zstandard

__all__ = ["ZstdWork", "zstd_work"]

_REPEATED, _COMPRESSED = 1, 2  # types of blocks
_LONG_SEQUENCES: Final = 0x7F00


class ZstdWork(NamedTuple):
    """How many bytes of a frame are entropy-coded, and how many sequences copy the others from before."""

    literals: int
    sequences: int


def zstd_work(frame: memoryview) -> ZstdWork:
    """The work in a sound frame, without decompressing it."""
    literals = sequences = 0
    at = zstandard.frame_header_size(frame)
    is_last = False
    while not is_last:
        header = int.from_bytes(frame[at : at + 3], "little")
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        at += 3
        if kind == _COMPRESSED:
            coded, begin = _literals(frame, at)
            literals += coded
            sequences += _sequences(frame, begin)
        at += 1 if kind == _REPEATED else size
    return ZstdWork(literals, sequences)


def _literals(frame: memoryview, at: int) -> tuple[int, int]:
    """The number of entropy-coded literals of a block, and where its sequences begin."""
    kind, form = frame[at] & 3, frame[at] >> 2 & 3
    header = int.from_bytes(frame[at : at + 5], "little")
    if kind > 1:
        head, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        mask = (1 << bits) - 1
        return header >> 4 & mask, at + head + (header >> 4 + bits & mask)
    # The literals as they are, or one byte that stands for all of them.
    head, shift, bits = ((1, 3, 5), (2, 4, 12), (1, 3, 5), (3, 4, 20))[form]
    return 0, at + head + (1 if kind else header >> shift & (1 << bits) - 1)


def _sequences(frame: memoryview, at: int) -> int:
    first = frame[at]
    if first < 128:
        return first
    if first < 255:
        return (first - 128 << 8) + frame[at + 1]
    return frame[at + 1] + (frame[at + 2] << 8) + _LONG_SEQUENCES
