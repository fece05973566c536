"""Reading many small columns of a stripe at once, or a few marks of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from amudai.encoding import (
    SMALL_COLUMNS_MEMORY,
    SmallColumns,
    decode_small_columns,
    small_kind,
    small_marks,
    small_size,
)
from amudai.errors import AmudaiError
from amudai.format import IDENTITY_SIZE, FieldList, PlainBuffers, plain_buffers
from amudai.limits import Limits
from amudai.rows import Rows
from amudai.storage import Artifact
from amudai.types import BasicType, SchemaNode

__all__ = ["SmallBatch", "SmallValues", "marked_slots", "small_batches", "small_values"]

U64: TypeAlias = npt.NDArray[np.uint64]

# Rows of a column whose values take less time to decode than a call for them.
SMALL_ROWS: Final = 1 << 14
# Bytes of a buffer that is small. LZ4 decompresses a byte to 255 at most.
_SMALL_BUFFER: Final = 256 * 1024
_LEAST_MEMORY: Final = 256 * _SMALL_BUFFER
# Bytes that may be read in order to read one of them.
_SPARSE: Final = 4
# Rows of a column of bits in which marks are looked for at once: a megabyte of bits.
_MARKED_ROWS: Final = 1 << 23


class SmallValues(NamedTuple):
    """Values of columns of a batch: their places in the batch, and the columns themselves."""

    places: list[int]
    decoded: SmallColumns


class SmallBatch(NamedTuple):
    """Columns that are read together: their places among all columns, their nodes, and the kinds of their values."""

    places: list[int]
    nodes: list[SchemaNode]
    kinds: list[str]


def small_batches(nodes: Sequence[SchemaNode], rows: int, limits: Limits) -> list[SmallBatch]:
    """The columns among `nodes` that can be read together, a batch at a time; none if the limits are tight."""
    if not 0 < rows <= SMALL_ROWS or min(limits.most_block_memory, limits.most_memory) < _LEAST_MEMORY:
        return []
    batches: list[SmallBatch] = []
    left = 0
    known: dict[tuple[BasicType, bool], tuple[str | None, int]] = {}
    for at, node in enumerate(nodes):
        alike = node.basic_type, node.signed
        found = known.get(alike)
        if found is None:
            kind = small_kind(node)
            found = known[alike] = kind, 0 if kind is None else small_size(kind, rows)
        kind, size = found
        if kind is None:
            continue
        if left < size or not batches:
            batches.append(SmallBatch([], [], []))
            left = max(size, SMALL_COLUMNS_MEMORY)
        batch = batches[-1]
        batch.places.append(at)
        batch.nodes.append(node)
        batch.kinds.append(kind)
        left -= size
    return batches


def small_values(
    batch: SmallBatch,
    rows: int,
    fields: tuple[FieldList, Artifact],
    artifact: Callable[[str, Artifact], Artifact],
    verify: bool,
    limits: Limits,
) -> SmallValues | None:
    """All values of the columns of a batch, in a stripe of `rows` rows, except of those that must be read alone.

    None if all of them must.

    `fields` are the references to the descriptors and the file that has them, `artifact` returns the file that a
    reference names. Nothing is raised for damage: a column that is damaged must be read alone, and that says what is
    wrong.
    """
    try:
        listed, anchor = fields
        found = _plain_buffers(listed.places([node.schema_id for node in batch.nodes]), rows, anchor, artifact, verify)
        if found is None:
            return None
        starts, ends = found.numbers[:, 0], found.numbers[:, 1]
        places = np.flatnonzero(found.is_plain & (ends - starts <= _SMALL_BUFFER))
        if not len(places):
            return None
        file = artifact(found.url, anchor)
        buffers = found.numbers[places]
        first, last = int(buffers[:, 0].min()), int(buffers[:, 1].max()) + IDENTITY_SIZE
        if last > file.size:
            last -= IDENTITY_SIZE  # no identity is behind the last buffer
        if last > file.size or last - first > _SPARSE * int((buffers[:, 1] - buffers[:, 0]).sum()):
            return None
        kinds = [batch.kinds[at] for at in places.tolist()]
        decoded = decode_small_columns(file.read(first, last), first, kinds, buffers, rows, verify, limits)
        return SmallValues(places.tolist(), decoded)
    except AmudaiError:
        return None


def marked_slots(
    node: SchemaNode,
    rows: int,
    fields: tuple[FieldList, Artifact],
    artifact: Callable[[str, Artifact], Artifact],
    verify: bool,
    limits: Limits,
) -> Rows | None:
    """The slots of a boolean column, in a stripe of `rows` rows, that are true. Parameters are as in `small_values`.

    None if the column must be read in the usual way: that succeeds, or says what is wrong.
    """
    if not 0 < rows <= _MARKED_ROWS or min(limits.most_block_memory, limits.most_memory) < _LEAST_MEMORY:
        return None
    listed, anchor = fields
    try:
        ref = listed.ref(node.schema_id)
        if ref is None:
            return None
        place = ref.url, np.array([ref.start], np.uint64), np.array([ref.end], np.uint64)
        found = _plain_buffers(place, rows, anchor, artifact, verify)
        if found is None or not found.is_plain.all():
            return None
        (numbers,) = found.numbers.tolist()
        start, end = numbers[:2]
        if end - start > _SMALL_BUFFER:
            return None
        limits.require_values(rows, end - start)
        file = artifact(found.url, anchor)
        return small_marks(file.read(start, min(end + IDENTITY_SIZE, file.size)), start, numbers, rows, verify)
    except AmudaiError:
        return None


def _plain_buffers(
    descriptors: tuple[str, U64, U64] | None,
    rows: int,
    anchor: Artifact,
    artifact: Callable[[str, Artifact], Artifact],
    verify: bool,
) -> PlainBuffers | None:
    """Where the values of columns are, by their descriptors, which are read at once.

    `descriptors` are the file that has them, and where each begins and ends. None if they are not all in one place, or
    the frame of one of them is not sound.
    """
    if descriptors is None:
        return None
    url, starts, ends = descriptors
    file = artifact(url, anchor)
    first, last = int(starts.min()), int(ends.max())
    if last > file.size or last - first > _SPARSE * int((ends - starts).sum()):
        return None
    origin = np.uint64(first)
    return plain_buffers(file.read(first, last), starts - origin, ends - origin, rows, verify)
