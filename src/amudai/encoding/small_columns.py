"""Decoding many small columns at once: a call of a kernel for each would take longer than the decoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from amudai import _kernels
from amudai.encoding.decode import SLACK, allocate
from amudai.encoding.decoded import Values
from amudai.format import PlainBuffer
from amudai.limits import Limits
from amudai.rows import Rows
from amudai.storage import count_blocks
from amudai.types import WIDTHS, BasicType, SchemaNode

__all__ = ["SMALL_COLUMNS_MEMORY", "decode_small_columns", "small_kind", "small_marks", "small_size"]

# Bytes of values that are decoded at once. They share memory, so a column that is kept keeps all of them.
SMALL_COLUMNS_MEMORY: Final = 1 << 20

_KINDS: Final = {BasicType.STRING: "t4", BasicType.BINARY: "b4"}  # offsets of four bytes
_BYTES: Final = "tb"
_PLACE: Final = 11  # numbers that the kernel takes for a column: those of its buffer, and two places in the output
_ALIGNMENT: Final = 64  # as Arrow recommends


def small_kind(node: SchemaNode) -> str | None:
    """How the kernel names the values of a column; None if it does not read such columns."""
    return node.dtype if node.basic_type in WIDTHS else _KINDS.get(node.basic_type)


def small_size(kind: str, count: int) -> int:
    """Bytes of the values or offsets of a column, and of its validity."""
    values, validity = _sizes(kind, count)
    return values + validity


def _sizes(kind: str, count: int) -> tuple[int, int]:
    return _aligned(int(kind[1]) * (count + (kind[0] in _BYTES))), _aligned((count + 7) // 8 + 1)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def decode_small_columns(
    data: memoryview,
    origin: int,
    kinds: Sequence[str],
    buffers: Sequence[PlainBuffer],
    count: int,
    verify: bool,
    limits: Limits,
) -> list[Values | None]:
    """The values of columns of `count` values each, whose buffers are in `data`.

    `kinds` has the kind of each column. `origin` is the place of `data` in its file. None stands for a column that must
    be read alone: because of its encodings, or because it is damaged.
    """
    sizes = {kind: _sizes(kind, count) for kind in set(kinds)}
    each = np.array([sizes[kind] for kind in kinds], np.uint64)
    ends = each.sum(axis=1).cumsum()
    places = np.empty((len(kinds), _PLACE), np.uint64)
    places[:, :-2] = [buffer.numbers for buffer in buffers]
    places[:, :4] -= np.uint64(origin)
    places[:, -2] = ends - each.sum(axis=1)
    places[:, -1] = ends - each[:, 1]
    memory, out = allocate(int(ends[-1]), "u1", limits)
    reader = _kernels.SmallColumns(data, "".join(kinds), count, verify)
    nulls, lengths, blocks = reader.decode(places, out)
    count_blocks(blocks)
    text_ends = lengths.cumsum()
    text_starts = text_ends - lengths
    total = int(text_ends[-1])
    texts, text = allocate(total + SLACK, "u1", limits)
    is_read = reader.decode_bytes(out, text_starts, text)
    nulls[(is_read == 0) & [kind[0] in _BYTES for kind in kinds]] = _kernels.NOT_READ
    bitmap = (count + 7) // 8 + 1
    found: list[Values | None] = []
    listed = zip(kinds, nulls.tolist(), *places[:, -2:].T.tolist(), text_starts.tolist(), lengths.tolist(), strict=True)
    for kind, missing, values_at, validity_at, start, length in listed:
        if missing == _kernels.NOT_READ:
            found.append(None)
            continue
        validity = memory.slice(validity_at, bitmap) if missing else None
        if kind[0] in _BYTES:
            offsets = memory.slice(values_at, 4 * (count + 1))
            found.append(Values(count, missing, validity, texts.slice(start, length), offsets))
        else:
            found.append(Values(count, missing, validity, memory.slice(values_at, int(kind[1]) * count)))
    return found


def small_marks(data: memoryview, origin: int, buffer: PlainBuffer, count: int, verify: bool) -> Rows | None:
    """The slots of a column of `count` bits whose bit is set, if they are few. Its buffer is in `data`.

    `origin` is the place of `data` in its file. None if the column must be read in another way: because of its
    encodings, because many bits are set, or because it is damaged.
    """
    found = _kernels.small_marks(data, buffer.numbers, origin, count, Rows.most_ranges(count), verify)
    if found is None:
        return None
    starts, ends, blocks = found
    count_blocks(blocks)
    return Rows(starts, ends)
