"""The encodings of a field and the buffers that hold its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, Self, TypeAlias

from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.format.identity import IDENTITY_SIZE, identity_fields, identity_in
from amudai.format.message import Fact, LazyFact
from amudai.format.references import DataRef
from amudai.format.wire import amudai_pb2 as wire
from amudai.frozen import quick_init

__all__ = [
    "BufferKind",
    "DataEncoding",
    "EncodedBuffer",
    "NativeEncoding",
    "ParquetColumnChunk",
    "ParquetEncoding",
    "ParquetFileColumn",
    "UnknownEncoding",
    "checked_refs",
    "encoding_of",
    "encoding_parts",
]


class BufferKind(IntEnum):
    """What a buffer holds, numbered as in its descriptor."""

    DATA = 0
    PRESENCE = 1
    OFFSETS = 2
    VALUE_DICTIONARY = 3
    OPAQUE_DICTIONARY = 4
    RANGE_INDEX = 5


_KINDS: Final[dict[int, BufferKind]] = {kind.value: kind for kind in BufferKind}
_BLOCK_MAP_ALIGNMENT: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedBuffer(LazyFact):
    """One buffer of a field: where it is and how its blocks are stored. A kind of a later version is a plain int.

    `identity` is what lies in the file behind the buffer; None if nothing does.
    """

    kind: BufferKind | int
    buffer: DataRef | None
    block_map: DataRef | None = None
    block_count: int | None = None
    block_checksums: bool = False
    embedded_presence: bool = False
    embedded_offsets: bool = False
    buffer_id: int | None = None
    packed_group_index: int | None = None
    identity: bytes | None = None
    message: wire.EncodedBuffer | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(cls, message: wire.EncodedBuffer) -> Self:
        """The fact that `message` states."""
        has = message.HasField
        return cls.lazily(
            message,
            kind=_KINDS.get(message.kind, message.kind),
            buffer=DataRef.of(message.buffer) if has("buffer") else None,
            block_map=DataRef.of(message.block_map) if has("block_map") else None,
        )

    def parts(self) -> dict[str, Any]:
        """The fields of the message."""
        return {
            "kind": int(self.kind),  # an open enum: any number is one
            "buffer": None if self.buffer is None else self.buffer.parts(),
            "block_map": None if self.block_map is None else self.block_map.parts(),
            "block_count": self.block_count,
            "block_checksums": self.block_checksums,
            "embedded_presence": self.embedded_presence,
            "embedded_offsets": self.embedded_offsets,
            "buffer_id": self.buffer_id,
            "packed_group_index": self.packed_group_index,
            **identity_fields(self.identity),
        }

    def to_message(self) -> wire.EncodedBuffer:
        """The message that states this buffer."""
        return wire.EncodedBuffer(**self.parts())

    @property
    def extent(self) -> DataRef | None:
        """The range of the buffer and of the identity behind it."""
        buffer = self.buffer
        if buffer is None or self.identity is None:
            return buffer
        return DataRef(buffer.url, buffer.start, buffer.end + IDENTITY_SIZE)

    def block_refs(self) -> tuple[DataRef, DataRef]:
        """The whole buffer, and its block map inside it. An error if the buffer has no blocks."""
        buffer, block_map = self.buffer, self.block_map
        if buffer is None or block_map is None:
            found = "no block map" if buffer is not None else "no buffer"
            raise CorruptedData(f"EncodedBuffer: expected a buffer with a block map, found {found}")
        return checked_refs(buffer, block_map)


def checked_refs(buffer: DataRef, block_map: DataRef) -> tuple[DataRef, DataRef]:
    """A buffer and its block map. An error if the map cannot be there."""
    if not buffer.start <= block_map.start <= block_map.end <= buffer.end:
        raise CorruptedData(f"EncodedBuffer.block_map: expected a range inside {buffer}, found {block_map}")
    size = block_map.end - block_map.start
    if not size or size % _BLOCK_MAP_ALIGNMENT:
        wanted = f"a size that is a multiple of {_BLOCK_MAP_ALIGNMENT} and not 0"
        raise CorruptedData(f"EncodedBuffer.block_map: expected {wanted}, found {size}")
    return buffer, block_map


EncodedBuffer.PARTS = {
    "block_count": lambda of: of.block_count if of.HasField("block_count") else None,
    "block_checksums": lambda of: of.block_checksums,
    "embedded_presence": lambda of: of.embedded_presence,
    "embedded_offsets": lambda of: of.embedded_offsets,
    "buffer_id": lambda of: of.buffer_id if of.HasField("buffer_id") else None,
    "packed_group_index": lambda of: of.packed_group_index if of.HasField("packed_group_index") else None,
    "identity": identity_in,
}


@quick_init
@dataclass(frozen=True, slots=True)
class NativeEncoding(Fact):
    """Buffers in the format's own encodings."""

    buffers: tuple[EncodedBuffer, ...]
    packed_group: bool = False

    @classmethod
    def of(cls, message: wire.NativeDataEncoding) -> Self:
        """The fact that `message` states."""
        return cls(tuple([EncodedBuffer.of(buffer) for buffer in message.buffers]), message.packed_group)

    def parts(self) -> dict[str, Any]:
        """The fields of the message."""
        return {"buffers": [buffer.parts() for buffer in self.buffers], "packed_group": self.packed_group}

    def to_message(self) -> wire.NativeDataEncoding:
        """The message that states this encoding."""
        return wire.NativeDataEncoding(**self.parts())

    def find(self, kind: BufferKind) -> EncodedBuffer | None:
        """The first buffer of this kind; None if there is none."""
        for buffer in self.buffers:
            if buffer.kind == kind:
                return buffer
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetColumnChunk(Fact):
    """The place of a part of the column in a Parquet file."""

    storage_type: int
    schema_element_id: int
    row_group_id: int
    column_chunk_id: int
    file_url: str | None
    data_pages: tuple[int, int] | None
    data_page_count: int
    dictionary: tuple[int, int] | None
    data_page_map: DataRef | None

    @classmethod
    def of(cls, message: wire.ParquetColumnChunkRef) -> Self:
        """The fact that `message` states."""
        pages, dictionary = message.data_pages_range, message.dictionary_range
        return cls(
            storage_type=message.storage_type,
            schema_element_id=message.schema_element_id,
            row_group_id=message.row_group_id,
            column_chunk_id=message.column_chunk_id,
            file_url=message.file_url if message.HasField("file_url") else None,
            data_pages=(pages.start, pages.end) if message.HasField("data_pages_range") else None,
            data_page_count=message.data_page_count,
            dictionary=(dictionary.start, dictionary.end) if message.HasField("dictionary_range") else None,
            data_page_map=DataRef.of(message.data_page_map) if message.HasField("data_page_map") else None,
        )

    def to_message(self) -> wire.ParquetColumnChunkRef:
        """The message that states this part."""
        return wire.ParquetColumnChunkRef(
            storage_type=self.storage_type,  # type: ignore[arg-type]  # an open enum: any number is one
            schema_element_id=self.schema_element_id,
            row_group_id=self.row_group_id,
            column_chunk_id=self.column_chunk_id,
            file_url=self.file_url,
            data_pages_range=_range(self.data_pages),
            data_page_count=self.data_page_count,
            dictionary_range=_range(self.dictionary),
            data_page_map=None if self.data_page_map is None else self.data_page_map.to_message(),
        )


@dataclass(frozen=True, slots=True)
class ParquetFileColumn(Fact):
    """The parts of the column that one Parquet file holds."""

    file: DataRef
    chunks: tuple[ParquetColumnChunk, ...]

    @classmethod
    def of(cls, message: wire.ParquetFileColumnRef) -> Self:
        """The fact that `message` states."""
        return cls(DataRef.of(message.file_ref), tuple(ParquetColumnChunk.of(chunk) for chunk in message.column_chunks))

    def to_message(self) -> wire.ParquetFileColumnRef:
        """The message that states these parts."""
        return wire.ParquetFileColumnRef(
            file_ref=self.file.to_message(), column_chunks=[chunk.to_message() for chunk in self.chunks]
        )


@dataclass(frozen=True, slots=True)
class ParquetEncoding(Fact):
    """Values in Parquet files."""

    files: tuple[ParquetFileColumn, ...]

    @classmethod
    def of(cls, message: wire.ExternalParquetDataEncoding) -> Self:
        """The fact that `message` states."""
        return cls(tuple(ParquetFileColumn.of(column) for column in message.file_column_refs))

    def to_message(self) -> wire.ExternalParquetDataEncoding:
        """The message that states this encoding."""
        return wire.ExternalParquetDataEncoding(file_column_refs=[file.to_message() for file in self.files])


@dataclass(frozen=True, slots=True)
class UnknownEncoding:
    """An encoding of a later version. This field cannot be read; the rest of the shard can."""


DataEncoding: TypeAlias = NativeEncoding | ParquetEncoding | UnknownEncoding


def encoding_of(message: wire.DataEncoding) -> DataEncoding:
    """The fact that `message` states."""
    match message.WhichOneof("kind"):
        case "native":
            return NativeEncoding.of(message.native)
        case "parquet":
            return ParquetEncoding.of(message.parquet)
    return UnknownEncoding()


def encoding_parts(encoding: DataEncoding) -> dict[str, Any]:
    """The fields of the message of `encoding`. Raises UnsupportedFeature for an encoding of a later version."""
    match encoding:
        case NativeEncoding():
            return {"native": encoding.parts()}
        case ParquetEncoding():
            return {"parquet": encoding.to_message()}
    raise UnsupportedFeature("DataEncoding: expected a kind that this version writes, found one of a later version")


def _range(ends: tuple[int, int] | None) -> wire.UInt64Range | None:
    return None if ends is None else wire.UInt64Range(start=ends[0], end=ends[1])
