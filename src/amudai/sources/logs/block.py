"""Blocks of lines, and what a program finds in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import _kernels
from amudai.sources.logs.program import Program
from amudai.sources.records import Lines

__all__ = ["I64", "Block", "Flags", "LineMatches", "Picked", "block_of", "matches_in", "texts_of"]

I64 = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Picked: TypeAlias = I64 | slice
"""Some lines: their numbers, or the first ones."""

_MATCHED, _TIMED, _ZONED, _CUT = 1, 2, 4, 8


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a file, without their line ends.

    Attributes
    ----------
    first
        The number of the first line, counted from 1.
    is_ascii
        Whether all bytes are ASCII, so that all parts of lines are UTF-8.
    has_returns
        Whether there are carriage returns in line ends.
    """

    data: npt.NDArray[np.uint8]
    starts: I64
    ends: I64
    first: int
    is_ascii: bool
    has_returns: bool

    def __len__(self) -> int:
        return len(self.starts)

    def texts(self, first: Picked, last: Picked) -> pa.Array:
        """Texts from the start of each line in `first` to the end of each line in `last`."""
        return texts_of(self.data, self.starts[first], self.ends[last])

    def without_returns(self) -> Block:
        """The same lines in a text whose line ends have no carriage returns, so that lines can be joined."""
        # Each line is copied with the line feed before it, so that the copies fit together.
        offsets, data = _gathered(self.data, np.append(0, self.starts[1:] - 1), self.ends)
        starts, ends = offsets[:-1].astype(np.int64), offsets[1:].astype(np.int64)
        starts[1:] += 1
        return Block(data, starts, ends, self.first, self.is_ascii, has_returns=False)


def block_of(lines: Lines) -> Block:
    """The lines of a file."""
    return Block(lines.data, lines.starts[:-1], lines.ends, lines.first, lines.is_ascii, lines.has_returns)


@dataclass(frozen=True, slots=True)
class LineMatches:
    """What a program found in lines.

    Attributes
    ----------
    moments
        Units from 1970, or from 2000 if the shape has no year; 0 unless `timed`.
    timed
        Which lines have a valid time.
    zoned
        Which lines name a zone.
    cut
        Which times have more digits than the unit.
    from_, to
        Where each field begins and ends: a row for each field. `to` is negative for lines without the field.
    """

    matched: Flags
    moments: I64
    timed: Flags
    zoned: Flags
    cut: Flags
    from_: npt.NDArray[np.int64]
    to: npt.NDArray[np.int64]


def matches_in(data: npt.NDArray[np.uint8], starts: I64, ends: I64, program: Program, per_second: int) -> LineMatches:
    """Run a program on lines."""
    count = len(program.fields)
    flags, moments, from_, to = _kernels.match_lines(
        data, starts, ends, program.steps, program.classes, program.literals, count, per_second
    )
    shape = (count, len(starts))
    return LineMatches(
        matched=(flags & _MATCHED).view(np.bool_),
        moments=moments,
        timed=(flags & _TIMED) != 0,
        zoned=(flags & _ZONED) != 0,
        cut=(flags & _CUT) != 0,
        from_=from_.reshape(shape),
        to=to.reshape(shape),
    )


def texts_of(data: npt.NDArray[np.uint8], from_: I64, to: I64) -> pa.Array:
    """Parts of `data` as texts; null where `to` is negative. The bytes are not checked to be UTF-8."""
    offsets, values = _gathered(data, np.ascontiguousarray(from_), np.ascontiguousarray(to))
    there = to >= 0
    nulls = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(pa.string(), len(from_), [nulls, pa.py_buffer(offsets), pa.py_buffer(values)])


def _gathered(data: npt.NDArray[np.uint8], from_: I64, to: I64) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """Parts of `data` one after the other: Arrow's offsets, and the bytes."""
    offsets = _kernels.part_offsets(len(data), from_, to)
    values = _kernels.new_bytes(int(offsets[-1]))
    _kernels.gather_parts(data, from_, offsets, values)
    return offsets, values
