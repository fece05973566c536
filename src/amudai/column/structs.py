"""Struct columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from amudai.column.column_values import ColumnValues, StoredValues
from amudai.column.containers import ContainerSource
from amudai.column.context import ColumnContext
from amudai.column.layout import BufferLayout, ColumnLayout
from amudai.column.packed import open_group
from amudai.column.projection import Projection
from amudai.encoding import SuperBlocks, Values
from amudai.format import BufferKind, DataRef, EncodedBuffer
from amudai.lazy import lazy
from amudai.rows import Rows

__all__ = ["StructSource"]


class StructSource(ContainerSource):
    """Structs: their own nulls, and a column for each member. Some members may be a packed group."""

    STORAGE: ClassVar[str] = "struct"
    CAN_BE_PACKED: ClassVar[bool] = True

    def _set_up(self) -> None:
        # The buffer of a packed group holds values of the members, and none of the struct.
        is_packed = self._encoding.packed_group
        self._packed = self._buffers.pop(BufferKind.DATA, None) if is_packed else None
        if is_packed and self._packed is None:
            raise self._error("packed group: expected a buffer of kind DATA, found none")

    @lazy
    def _group(self) -> SuperBlocks | None:
        return None if self._packed is None else open_group(self._context, self._packed, self.position_count)

    def _group_of(self, buffer: EncodedBuffer) -> SuperBlocks | None:
        is_member = self._packed is not None and buffer.buffer is None and buffer.packed_group_index is not None
        return self._group if is_member else super()._group_of(buffer)

    def _is_group(self, buffer: EncodedBuffer) -> bool:
        return buffer is self._packed

    @lazy
    def _child_context(self) -> ColumnContext:
        return replace(self._context, group=self._group)

    @property
    def is_stored(self) -> bool:
        """Whether reading the column reads buffers of its own."""
        return self._packed is not None or super().is_stored

    def prefetch(self) -> Iterator[DataRef]:
        """The buffers that reading the column needs and that have not been read yet."""
        yield from super().prefetch()
        extent = None if self._packed is None else self._packed.extent
        if extent is not None and "_group" not in self.__dict__ and extent not in self._context.prefetched:
            yield extent

    def describe(self, *, blocks: bool = False) -> ColumnLayout:
        """How the column is stored. `blocks` includes each block, which reads all blocks."""
        found = super().describe(blocks=blocks)
        if self._group is None:
            return found
        with self.place():
            group = self._group
            start, _ = group.ref
            shared = BufferLayout("packed group", group.url, start, group.overhead(), group.block_map.block_count)
        others = (each for each in found.buffers if each.kind != "data")
        return replace(found, storage="packed struct", buffers=(shared, *others))

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        self._check_end(rows)
        if self._group is not None:
            for at in range(len(projection.children)):
                self._group.expect(at)  # any members: only their number counts
        validity, nulls = self._presence(rows)
        return StoredValues(Values(rows.count, nulls, validity), self._read_children(rows, projection))
