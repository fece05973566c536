"""The base class of columns in native buffers: opening the buffers, nulls, descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.column.context import ColumnContext
from amudai.column.contract import ColumnSource
from amudai.column.layout import BlockLayout, BufferLayout, CheckedBuffers, ColumnLayout
from amudai.column.packed import open_group
from amudai.encoding import (
    BlockBuffer,
    MemberBlocks,
    RangeIndex,
    SuperBlocks,
    Values,
    check_identity,
    decode_bits,
    decode_range_index,
    describe_binary,
    describe_each,
    describe_numbers,
)
from amudai.errors import UnsupportedFeature, located
from amudai.format import (
    BufferKind,
    DataRef,
    EncodedBuffer,
    FieldDescriptor,
    LookupBuffer,
    NativeEncoding,
    RangeIndexHeader,
    SharedDictionary,
    ValueDictionary,
    check_dictionary_padding,
    check_shared_padding,
    without_identity,
)
from amudai.rows import Rows
from amudai.storage import Artifact
from amudai.types import BasicType, SchemaNode

__all__ = ["Form", "NativeSource"]

Form: TypeAlias = tuple[str | None, int | None]
"""What blocks hold: the type of numbers, or None for bytes; and the size of a value if it is fixed."""

_IN_BLOCKS: Final = (BufferKind.DATA, BufferKind.OFFSETS, BufferKind.PRESENCE)
_READ_FOR_VALUES: Final = frozenset({*_IN_BLOCKS, BufferKind.VALUE_DICTIONARY, BufferKind.OPAQUE_DICTIONARY})


class NativeSource(ColumnSource):
    """A column in buffers of the format's own encodings. Buffers are opened when they are first needed.

    `REQUIRED` lists the kinds of buffers that a column of this class must have. `CAN_BE_PACKED` says whether the column
    may be a packed group, or a member of one that has no parent.
    """

    REQUIRED: ClassVar[tuple[BufferKind, ...]] = ()
    CAN_BE_PACKED: ClassVar[bool] = False

    def __init__(
        self, context: ColumnContext, node: SchemaNode, path: str, field: FieldDescriptor, encoding: NativeEncoding
    ) -> None:
        super().__init__(context, node, path, field.position_count, field.null_count)
        self._field = field
        self._encoding = encoding
        self._buffers: dict[BufferKind, EncodedBuffer] = {}
        for buffer in encoding.buffers:
            if not isinstance(buffer.kind, BufferKind):
                # The values may mean something else without it.
                message = (
                    f"buffers: expected kinds up to {max(BufferKind)}, found kind {buffer.kind} of a later version"
                )
                raise UnsupportedFeature(message)
            self._buffers.setdefault(buffer.kind, buffer)  # the first of several buffers of a kind counts
        for kind in self.REQUIRED:
            if kind not in self._buffers:
                raise self._error(f"buffers: expected one of kind {kind.name}, found none")
        self._opened: dict[BufferKind, BlockBuffer] = {}
        if encoding.packed_group and not self.CAN_BE_PACKED:
            raise UnsupportedFeature(f"packed group: expected one of a struct or of single values, found one of {node}")
        if (
            encoding.packed_group
            and node.basic_type is not BasicType.STRUCT
            and all(buffer.packed_group_index is None for buffer in encoding.buffers)
        ):
            raise self._error("packed group: expected a buffer with a packed_group_index, found none")
        self._set_up()

    def _set_up(self) -> None:
        """The end of construction, for classes that take some of the buffers for another purpose."""

    @property
    def is_stored(self) -> bool:
        """Whether reading the column reads buffers of its own."""
        return bool(self._buffers)

    # ---- buffers ----

    def _blocks(self, kind: BufferKind) -> BlockBuffer:
        """The buffer of this kind, opened."""
        found = self._opened.get(kind)
        return self._open(kind) if found is None else found

    def _open(self, kind: BufferKind) -> BlockBuffer:
        context, buffer = self._context, self._buffers[kind]
        group = self._group_of(buffer)
        if group is not None:
            return self._opened.setdefault(kind, self._member(group, kind, buffer))
        made = BlockBuffer(
            context.artifact(buffer.buffer),
            buffer,
            self._values_of(kind),
            context.verify,
            is_metered=True,
            limits=context.limits,
            read_dictionary=self._shared if self._has_shared(kind) else None,
        )
        if context.prefetched:
            whole = context.prefetched.get(buffer.extent)
            if whole is not None:
                made.keep(whole)
        return self._opened.setdefault(kind, made)  # another thread may have opened it at the same time

    def _has_shared(self, kind: BufferKind) -> bool:
        """Whether the blocks of the buffer of this kind may share a dictionary."""
        return kind is BufferKind.DATA and BufferKind.OPAQUE_DICTIONARY in self._buffers

    def _shared(self) -> SharedDictionary:
        """The dictionary that blocks of the DATA buffer share."""
        buffer = self._buffers[BufferKind.OPAQUE_DICTIONARY]
        ref = buffer.extent
        if ref is None:
            raise self._error("buffers: expected an OPAQUE_DICTIONARY with a reference, found none")
        with located(url=self._context.artifact(ref).url, range=f"{ref.start}..{ref.end}", buffer="OPAQUE_DICTIONARY"):
            self._context.limits.require_block(ref.size)
            return SharedDictionary.decode(self._whole(buffer, ref), self._context.verify)

    def _group_of(self, buffer: EncodedBuffer) -> SuperBlocks | None:
        """The packed group that holds the blocks of a buffer; None if the buffer has its own blocks."""
        if buffer.packed_group_index is None or buffer.kind not in _IN_BLOCKS:
            return None
        if buffer.buffer is not None:
            return open_group(self._context, buffer, self.position_count) if self._is_group(buffer) else None
        group = self._context.group
        if group is None:
            raise self._error("packed_group_index: expected a parent that is a packed group, found none")
        if group.values != self.position_count:
            raise self._error(f"packed group: expected {self.position_count} positions, found {group.values}")
        return group

    def _is_group(self, buffer: EncodedBuffer) -> bool:
        """Whether a buffer refers to the super-blocks of a packed group."""
        is_referred = buffer.packed_group_index is not None and buffer.kind is not BufferKind.RANGE_INDEX
        return self._encoding.packed_group and is_referred

    def _member(self, group: SuperBlocks, kind: BufferKind, buffer: EncodedBuffer) -> MemberBlocks:
        """The blocks of a buffer in the super-blocks of a group."""
        number = buffer.packed_group_index
        assert number is not None
        values, unit = self._values_of(kind), self._positions_of(kind)
        return MemberBlocks(group, buffer, number, values, unit, is_metered=True)

    def _whole(self, buffer: EncodedBuffer, ref: DataRef) -> memoryview:
        """All bytes of a buffer that is not stored in blocks. `ref` is its extent. An error if they are others."""
        found = self._context.prefetched.get(ref)
        if found is None:
            found = self._context.artifact(ref).read(ref.start, ref.end)
        return without_identity(found, buffer.identity)

    def _values_of(self, kind: BufferKind) -> int:
        """How many values the buffer of this kind holds."""
        if kind is BufferKind.PRESENCE:
            return (self.position_count + 7) // 8
        return self.position_count + 1 if kind is BufferKind.OFFSETS else self.position_count

    def _form_of(self, kind: BufferKind) -> Form:
        """What the blocks of the buffer of this kind hold."""
        if kind is BufferKind.PRESENCE:
            return "u1", None
        return ("u8", None) if kind is BufferKind.OFFSETS else self._data_form()

    def _data_form(self) -> Form:
        """What the blocks of the DATA buffer hold."""
        return None, None

    def _block_buffers(self) -> Iterator[tuple[BufferKind, BlockBuffer]]:
        """Every buffer of blocks that the column has."""
        for kind in _IN_BLOCKS:
            if kind in self._buffers:
                yield kind, self._blocks(kind)

    # ---- nulls ----

    def _presence(self, rows: Rows) -> tuple[pa.Buffer | None, int]:
        """The validity bitmap of a separate PRESENCE buffer, or None if no row is null, and how many rows are null."""
        if BufferKind.PRESENCE not in self._buffers:
            return None, 0
        bitmap, present = decode_bits(self._blocks(BufferKind.PRESENCE), rows)
        nulls = rows.count - present
        return (bitmap, nulls) if nulls else (None, 0)

    def _with_presence(self, values: Values, rows: Rows) -> Values:
        """Values with the nulls of a separate PRESENCE buffer, which the format allows for any values."""
        if BufferKind.PRESENCE not in self._buffers:
            return values
        validity, nulls = self._presence(rows)
        if validity is None:
            return values
        if values.validity is not None:
            both = np.frombuffer(validity, np.uint8) & np.frombuffer(values.validity, np.uint8)[: validity.size]
            present = np.unpackbits(both, count=values.length, bitorder="little")
            validity, nulls = pa.py_buffer(both), values.length - int(present.sum())
        return Values(values.length, nulls, validity, values.data, values.offsets)

    # ---- storage ----

    def range_index(self) -> RangeIndex | None:
        """The column's range index, read from storage at each call; None if it has none."""
        buffer = self._buffers.get(BufferKind.RANGE_INDEX)
        ref = None if buffer is None else buffer.extent
        if buffer is None or ref is None:
            return None
        with self.place(), located(url=self._context.artifact(ref).url, range=f"{ref.start}..{ref.end}"):
            data = self._whole(buffer, ref)
            return decode_range_index(data, self.node, self.position_count, self._context.verify, self._context.limits)

    @property
    def block_rows(self) -> int:
        """About how many positions the largest blocks have, as far as the descriptor tells; 0 if unknown."""
        counts = [buffer.block_count for kind, buffer in self._buffers.items() if kind in _IN_BLOCKS]
        return self.position_count // min((count for count in counts if count), default=self.position_count + 1)

    def prefetch(self) -> Iterator[DataRef]:
        """The buffers that reading the column needs and that have not been read yet."""
        for kind, buffer in self._buffers.items():
            ref = buffer.extent
            opened = BufferKind.DATA if kind is BufferKind.OPAQUE_DICTIONARY else kind
            if kind not in _READ_FOR_VALUES or opened in self._opened or ref is None:
                continue
            if self._is_group(buffer) and buffer.packed_group_index is not None:
                open_group(self._context, buffer, self.position_count).expect(buffer.packed_group_index)
            if ref not in self._context.prefetched:
                yield ref

    def block_starts(self) -> npt.NDArray[np.uint64]:
        """The positions at which damage of one block may begin or end. Reads the block maps of the column's buffers."""
        starts = [np.empty(0, np.uint64)]
        for kind, buffer in self._block_buffers():
            starts += self._starts_of(kind, buffer)
        return np.unique(np.concatenate(starts))

    def _starts_of(self, kind: BufferKind, buffer: BlockBuffer) -> list[npt.NDArray[np.uint64]]:
        """The positions at which damage of one block of the buffer may begin or end."""
        begins = buffer.block_map.values[:-1].astype(np.uint64)
        starts = [begins * np.uint64(self._positions_of(kind))]
        if kind is BufferKind.OFFSETS:
            starts.append(begins[begins > 0] - np.uint64(1))  # the end of a list is the next offset
        return starts

    def _positions_of(self, kind: BufferKind) -> int:
        """How many positions one value of the buffer stands for."""
        return 8 if kind is BufferKind.PRESENCE else 1

    def block_count(self) -> int:
        """How many blocks the column's own buffers have. Reads their block maps."""
        return sum(buffer.block_map.block_count for _, buffer in self._block_buffers())

    def encodings(self) -> Counter[str]:
        """The cascades of encodings of the column's blocks, and how many blocks use each."""
        found: Counter[str] = Counter()
        with self.place():
            for kind, buffer in self._block_buffers():
                found.update(self._cascades(kind, buffer))
        return found

    def _cascades(self, kind: BufferKind, buffer: BlockBuffer) -> Counter[str]:
        dtype, size = self._form_of(kind)
        return describe_binary(buffer, size) if dtype is None else describe_numbers(buffer, dtype)

    def describe(self, *, blocks: bool = False) -> ColumnLayout:
        """How the column is stored. `blocks` includes each block, which reads all blocks."""
        opened = dict(self._block_buffers()) if blocks else {}
        found = []
        for buffer in self._encoding.buffers:
            kind, ref = buffer.kind, buffer.buffer
            assert isinstance(kind, BufferKind)
            is_first = self._buffers.get(kind) is buffer
            group = self._group_of(buffer) if is_first else None
            name = kind.name.lower().replace("_", " ")
            listed: tuple[BlockLayout, ...] = ()
            count = buffer.block_count
            if kind in opened and is_first:
                listed = self._block_layouts(kind, opened[kind])
                count = len(listed)
            if group is not None:
                with self.place(), located(buffer=kind.name):
                    size, (start, _) = self._blocks(kind).size, group.ref
                found.append(BufferLayout(name, group.url, start, size, count, listed, buffer.packed_group_index))
            elif ref is not None:
                found.append(BufferLayout(name, self._context.artifact(ref).url, ref.start, ref.size, count, listed))
        return ColumnLayout(self.STORAGE, self.position_count, self.null_count, tuple(found))

    def _block_layouts(self, kind: BufferKind, buffer: BlockBuffer) -> tuple[BlockLayout, ...]:
        values = buffer.block_map.values.tolist()
        with self.place(), located(buffer=kind.name):
            begins, sizes = buffer.block_places()
            cascades = describe_each(buffer, *self._form_of(kind))
        return tuple(
            BlockLayout(at, values[at], values[at + 1] - values[at], begins.item(at), sizes.item(at), cascade)
            for at, cascade in enumerate(cascades)
        )

    def check(self) -> CheckedBuffers:
        """Read everything in the column's own buffers, and raise the first error."""
        blocks = 0
        for _, opened in self._block_buffers():
            blocks += sum(len(each) for each in opened.all_blocks())
            opened.check_padding()
        files: dict[str, Artifact] = {}
        lookups = []
        for buffer in self._encoding.buffers:
            kind, ref = buffer.kind, buffer.extent
            if ref is None:
                continue
            artifact = self._context.artifact(ref)
            files.setdefault(artifact.url, artifact)
            if self._is_group(buffer):
                open_group(self._context, buffer, self.position_count).check()
                continue
            with located(url=artifact.url, range=f"{ref.start}..{ref.end}"):
                _check_identity(artifact, buffer)
            if isinstance(kind, BufferKind) and buffer.block_map is not None:
                lookup = LookupBuffer.of(buffer, self._values_of(kind))
                lookups += [] if lookup is None else [lookup]
            if kind is BufferKind.RANGE_INDEX:
                data = self._whole(buffer, ref)
                RangeIndexHeader.decode(data, self.node, expected_span=self.position_count).payloads(data)
            elif kind is BufferKind.VALUE_DICTIONARY:
                data = self._whole(buffer, ref)
                ValueDictionary.decode(data, self.node, sorted_ids=True)
                check_dictionary_padding(data)
            elif kind is BufferKind.OPAQUE_DICTIONARY:
                data = self._whole(buffer, ref)
                SharedDictionary.decode(data)
                check_shared_padding(data)
        return CheckedBuffers(blocks, tuple(files.values()), tuple(lookups))


def _check_identity(artifact: Artifact, buffer: EncodedBuffer) -> None:
    """Raise CorruptedData if the content of a buffer has another identity than its descriptor notes."""
    if buffer.buffer is not None and buffer.identity is not None:
        check_identity(artifact, buffer.buffer, buffer.identity)
