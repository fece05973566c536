"""Decoding many small columns at once: a call of a kernel for each would take longer than the decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import _kernels
from amudai.encoding.decode import SLACK, allocate
from amudai.encoding.decoded import Values
from amudai.limits import Limits
from amudai.rows import Rows
from amudai.storage import count_blocks
from amudai.types import WIDTHS, BasicType, SchemaNode

__all__ = ["SMALL_COLUMNS_MEMORY", "SmallColumns", "decode_small_columns", "small_kind", "small_marks", "small_size"]

# Bytes of values that are decoded at once. They share memory, so a column that is kept keeps all of them.
SMALL_COLUMNS_MEMORY: Final = 1 << 20

_KINDS: Final = {BasicType.STRING: "t4", BasicType.BINARY: "b4"}  # offsets of four bytes
_BYTES: Final = "tb"
_PLACE: Final = 11  # numbers that the kernel takes for a column: those of its buffer, and two places in the output
_ALIGNMENT: Final = 64  # as Arrow recommends
# Bytes that are left free at the beginning, for the description of a record batch, and for each of its columns.
_ROOM: Final = 256
_ROOM_OF_COLUMN: Final = 64
# Strings take up to this many times their encoded bytes, as a rule.
_SPARE: Final = 6


def small_kind(node: SchemaNode) -> str | None:
    """How the kernel names the values of a column; None if it does not read such columns."""
    return node.dtype if node.basic_type in WIDTHS else _KINDS.get(node.basic_type)


def small_size(kind: str, count: int) -> int:
    """Bytes of the values or offsets of a column, and of its validity."""
    values, validity = _sizes(kind, count)
    return values + validity


def _sizes(kind: str, count: int) -> tuple[int, int]:
    return _aligned(int(kind[1]) * (count + (kind[0] in _BYTES))), _aligned(_bitmap(count))


def _bitmap(count: int) -> int:
    return (count + 7) // 8 + 1  # kernels may touch one byte more


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


@dataclass(frozen=True, slots=True, eq=False)
class SmallColumns:
    """Decoded columns of `length` values each, in memory that they share.

    Attributes
    ----------
    memory
        Values, offsets, validity and the bytes of strings.
    room
        The beginning of the memory, which is free for a description of what follows.
    nulls
        How many values of each column are null; `_kernels.NOT_READ` for a column that must be read alone: because of
        its encodings, or because it is damaged.
    values, validity, texts
        Where values or offsets, validity bitmaps, and the bytes of strings begin.
    sizes
        How many bytes the values or offsets of each column take, and the bytes of its strings; the latter are 0 for
        numbers.
    is_text
        Which columns have offsets.
    """

    length: int
    memory: pa.Buffer
    room: npt.NDArray[np.uint8]
    nulls: npt.NDArray[np.uint64]
    values: npt.NDArray[np.int64]
    validity: npt.NDArray[np.int64]
    texts: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    is_text: npt.NDArray[np.bool_]

    @property
    def is_read(self) -> npt.NDArray[np.bool_]:
        """Which columns are decoded."""
        found: npt.NDArray[np.bool_] = self.nulls != np.uint64(_kernels.NOT_READ)
        return found

    def column(self, at: int) -> Values:
        """One of the columns that are decoded."""
        memory, nulls = self.memory, int(self.nulls[at])
        validity = memory.slice(int(self.validity[at]), _bitmap(self.length)) if nulls else None
        size, text = self.sizes[at].tolist()
        values = memory.slice(int(self.values[at]), size)
        if not self.is_text[at]:
            return Values(self.length, nulls, validity, values)
        return Values(self.length, nulls, validity, memory.slice(int(self.texts[at]), text), values)


def decode_small_columns(
    data: memoryview,
    origin: int,
    kinds: Sequence[str],
    buffers: npt.NDArray[np.uint64],
    count: int,
    verify: bool,
    limits: Limits,
) -> SmallColumns:
    """The values of columns of `count` values each, whose buffers are in `data`.

    `kinds` has the kind of each column, `buffers` the numbers of each as `PlainBuffers` has them. `origin` is the place
    of `data` in its file.
    """
    sizes = {kind: _sizes(kind, count) for kind in set(kinds)}
    each = np.array([sizes[kind] for kind in kinds], np.int64)
    room = _ROOM + _ROOM_OF_COLUMN * len(kinds)
    ends = room + each.sum(axis=1).cumsum()
    values, validity = ends - each.sum(axis=1), ends - each[:, 1]
    is_text = np.array([kind[0] in _BYTES for kind in kinds], np.bool_)
    places = np.empty((len(kinds), _PLACE), np.uint64)
    places[:, :-2] = buffers
    places[:, :4] -= np.uint64(origin)
    places[:, -2], places[:, -1] = values, validity
    size = int(ends[-1])
    # Memory that is not used costs nothing.
    spare = min(_SPARE * int((buffers[is_text, 1] - buffers[is_text, 0]).sum()), SMALL_COLUMNS_MEMORY)
    memory, out = allocate(size + spare + SLACK, "u1", limits)
    reader = _kernels.SmallColumns(data, "".join(kinds), count, verify)
    nulls, lengths, blocks = reader.decode(places, out[:size])
    count_blocks(blocks)
    text_sizes = lengths.astype(np.int64)
    apart = (text_sizes + (_ALIGNMENT - 1)) & -_ALIGNMENT
    texts = size + apart.cumsum() - apart
    total = size + int(apart.sum()) + SLACK
    if total > len(out):
        before = out
        memory, out = allocate(total, "u1", limits)
        out[:size] = before[:size]
    is_read = reader.decode_bytes(out, texts.astype(np.uint64), out)
    nulls[(is_read == 0) & is_text] = _kernels.NOT_READ
    out[total - SLACK : total] = 0
    widths = np.array([int(kind[1]) for kind in kinds], np.int64)
    taken = np.stack((widths * (count + is_text), text_sizes), axis=1)
    return SmallColumns(count, memory.slice(0, total), out[:room], nulls, values, validity, texts, taken, is_text)


def small_marks(data: memoryview, origin: int, numbers: Sequence[int], count: int, verify: bool) -> Rows | None:
    """The slots of a column of `count` bits whose bit is set, if they are few. Its buffer is in `data`.

    `numbers` are those of its buffer, as `PlainBuffers` has them. `origin` is the place of `data` in its file. None if
    the column must be read in another way: because of its encodings, because many bits are set, or because it is
    damaged.
    """
    found = _kernels.small_marks(data, tuple(numbers), origin, count, Rows.most_ranges(count), verify)
    if found is None:
        return None
    starts, ends, blocks = found
    count_blocks(blocks)
    return Rows(starts, ends)
