"""Reading many small columns of a stripe at once, or a few marks of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from amudai.encoding import (
    SMALL_COLUMNS_MEMORY,
    Values,
    decode_small_columns,
    small_kind,
    small_marks,
    small_size,
)
from amudai.errors import AmudaiError
from amudai.format import IDENTITY_SIZE, FieldList, PlainBuffer, payload_spans, plain_buffer, unframe
from amudai.limits import Limits
from amudai.rows import Rows
from amudai.storage import Artifact
from amudai.types import BasicType, SchemaNode

__all__ = ["SmallBatch", "marked_slots", "small_batches", "small_values"]

# Rows of a column whose values take less time to decode than a call for them.
SMALL_ROWS: Final = 1 << 14
# Bytes of a buffer that is small. LZ4 decompresses a byte to 255 at most.
_SMALL_BUFFER: Final = 256 * 1024
_LEAST_MEMORY: Final = 256 * _SMALL_BUFFER
# Bytes that may be read in order to read one of them.
_SPARSE: Final = 4
# Rows of a column of bits in which marks are looked for at once: a megabyte of bits.
_MARKED_ROWS: Final = 1 << 23
# Longer descriptors are decoded one by one: what they hold may have to be counted.
_LONG: Final = 64 * 1024


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
) -> list[Values | None]:
    """All values of the columns of a batch, in a stripe of `rows` rows. None for each that must be read alone.

    `fields` are the references to the descriptors and the file that has them, `artifact` returns the file that a
    reference names. Nothing is raised for damage: a column that is damaged must be read alone, and that says what is
    wrong.
    """
    nodes, kinds = batch.nodes, batch.kinds
    try:
        described = _payloads(nodes, fields, artifact, verify)
        if described is None:
            return [None] * len(nodes)
        data, spans = described
        buffers = [plain_buffer(data[start:end], rows) if end - start <= _LONG else None for start, end in spans]
        url = next((buffer.url for buffer in buffers if buffer is not None), None)
        values: list[Values | None] = [None] * len(nodes)
        if url is None:
            return values
        places, columns = [], []
        for at, buffer in enumerate(buffers):
            if buffer is not None and buffer.url == url and buffer.end - buffer.start <= _SMALL_BUFFER:
                places.append(at)
                columns.append(buffer)
        file = artifact(url, fields[1])
        first, last = _hull(columns)
        if last > file.size:
            last -= IDENTITY_SIZE  # no identity is behind the last buffer
        if not columns or last > file.size or last - first > _SPARSE * sum(each.end - each.start for each in columns):
            return values
        wanted = [kinds[at] for at in places]
        decoded = decode_small_columns(file.read(first, last), first, wanted, columns, rows, verify, limits)
        for at, each in zip(places, decoded, strict=True):
            values[at] = each
        return values
    except AmudaiError:
        return [None] * len(nodes)


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
        if ref is None or ref.size > _LONG:
            return None
        payload = unframe(artifact(ref.url, anchor).read(ref.start, ref.end), "StripeFieldDescriptor", verify)
        buffer = plain_buffer(payload, rows)
        if buffer is None or buffer.end - buffer.start > _SMALL_BUFFER:
            return None
        limits.require_values(rows, buffer.end - buffer.start)
        file = artifact(buffer.url, anchor)
        data = file.read(buffer.start, min(buffer.end + IDENTITY_SIZE, file.size))
        return small_marks(data, buffer.start, buffer, rows, verify)
    except AmudaiError:
        return None


def _hull(buffers: Sequence[PlainBuffer]) -> tuple[int, int]:
    """Where the first of the buffers begins and the last of them ends, with the identity behind it."""
    first = min((buffer.start for buffer in buffers), default=0)
    return first, max((buffer.end for buffer in buffers), default=first) + IDENTITY_SIZE


def _payloads(
    nodes: Sequence[SchemaNode],
    fields: tuple[FieldList, Artifact],
    artifact: Callable[[str, Artifact], Artifact],
    verify: bool,
) -> tuple[memoryview, list[tuple[int, int]]] | None:
    """The descriptors of columns, read at once: their bytes, and where the payload of each begins and ends.

    None if they are not all in one place, or one of them is not sound.
    """
    listed, anchor = fields
    refs = [listed.ref(node.schema_id) for node in nodes]
    known = [ref for ref in refs if ref is not None]
    if len(known) < len(refs) or any(ref.url != known[0].url for ref in known):
        return None
    file = artifact(known[0].url, anchor)
    first, last = min(ref.start for ref in known), max(ref.end for ref in known)
    if last > file.size or last - first > _SPARSE * sum(ref.size for ref in known):
        return None
    data = file.read(first, last)
    found = payload_spans(data, [(ref.start - first, ref.end - first) for ref in known], verify)
    return None if found is None else (data, found)
