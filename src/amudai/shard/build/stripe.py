"""Writing the buffers of a stripe to a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import xxhash

from amudai.encoding import PreparedBuffer
from amudai.format import (
    BUFFER_ALIGNMENT,
    DATA_ALIGNMENT,
    BufferKind,
    DataRef,
    EncodedBuffer,
    FieldDescriptor,
    IdentityHash,
    NativeEncoding,
    Properties,
    StripeFieldDescriptor,
    encode_block_map,
)
from amudai.shard.build.packed import super_blocks
from amudai.shard.build.prepared import PreparedField, PreparedGroup
from amudai.storage import SealedFile, Spool

__all__ = ["digest", "fields_below", "place_fields"]

_WRITE_SIZE: Final = 1 << 20  # bytes


def place_fields(
    fields: Iterable[PreparedField],
    url: str,
    out: SealedFile,
    spool: Spool,
    properties: Mapping[int, Properties],
) -> dict[int, StripeFieldDescriptor]:
    """Write the buffers of all fields, children before parents; return the descriptors of the fields by schema id."""
    placed: dict[int, StripeFieldDescriptor] = {}
    gathered = _GatheredWrites(out)
    groups: dict[PreparedGroup, EncodedBuffer] = {}
    for field in fields_below(fields):
        group = None
        if field.group is not None:
            group = groups.get(field.group) or _place_group(field.group, url, gathered, spool)
            groups[field.group] = group
        # A struct has the buffer of its group. Top-level fields have no parent, so each member refers to the buffer.
        shared = () if group is None or not field.node.children else (group,)
        buffers = tuple(
            _place(buffer, url, gathered, spool)
            if buffer.member_number is None
            else _member(buffer, buffer.member_number, None if shared else group)
            for buffer in field.buffers
        )
        is_packed = group is not None and any(each.member_number is not None for each in field.buffers)
        placed[field.node.schema_id] = StripeFieldDescriptor(
            field=_descriptor(field, properties.get(field.node.schema_id, ())),
            encodings=(NativeEncoding((*shared, *buffers), packed_group=bool(shared) or is_packed),),
        )
    gathered.flush()
    return placed


def fields_below(fields: Iterable[PreparedField]) -> Iterator[PreparedField]:
    """`fields` and all fields below them, children before parents."""
    for field in fields:
        yield from fields_below(field.children)
        yield field


def digest(fields: Iterable[PreparedField], spool: Spool, salt: bytes) -> int:
    """A hash of the values and `salt`.

    The buffers are hashed in the order of the file, because their order in the spool depends on threads.
    """
    found = xxhash.xxh3_64(salt)
    for prepared in fields_below(fields):
        constant = b"" if prepared.constant is None else prepared.constant.encode()
        found.update(f"{prepared.node.schema_id} {prepared.statistics.position_count}\0".encode() + constant)
        for buffer in prepared.buffers:
            found.update(f"{buffer.kind}\0".encode())
            if buffer.member_number is not None:
                found.update(f"member {buffer.member_number}\0".encode())
            for numbers in (*buffer.counts, *buffer.sizes):  # the block map is in the file, too
                found.update(numbers.tobytes())
            found.update(buffer.whole or b"")
            for piece in spool.pieces(buffer.extents):
                found.update(piece)
    return found.intdigest()


class _GatheredWrites:
    """Collects many small writes into few large ones: a shard may have tens of thousands of buffers."""

    def __init__(self, out: SealedFile) -> None:
        self._out = out
        self._pieces: list[bytes] = []
        self._size = 0
        self._hash = IdentityHash()

    def tell(self) -> int:
        return self._out.tell() + self._size

    def begin(self) -> int:
        """Begin a buffer; return where it starts."""
        self.align(BUFFER_ALIGNMENT)
        self._hash = IdentityHash()
        return self.tell()

    def identify(self) -> bytes:
        """Write the identity of the buffer behind it, and return the identity."""
        identity = self._hash.digest()
        self.write(identity)
        return identity

    def write(self, data: bytes) -> None:
        self._hash.update(data)
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= _WRITE_SIZE:
            self.flush()

    def align(self, to: int) -> None:
        self.write(bytes(-self.tell() % to))

    def flush(self) -> None:
        if self._size:
            self._out.write(self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces))
        self._pieces, self._size = [], 0


def _place(buffer: PreparedBuffer, url: str, out: _GatheredWrites, spool: Spool) -> EncodedBuffer:
    start = out.begin()
    if buffer.whole is not None:
        out.write(buffer.whole)
        ref = DataRef(url, start, out.tell())
        # For a range index as the reference implementation writes it. Nobody reads these three fields.
        zero = 0 if buffer.kind is BufferKind.RANGE_INDEX else None
        return EncodedBuffer(
            kind=buffer.kind,
            buffer=ref,
            block_count=zero,
            buffer_id=zero,
            packed_group_index=zero,
            identity=out.identify(),
        )
    spool.copy_to(out, buffer.extents)
    embedded = buffer.embedded_presence, buffer.embedded_offsets
    return _mapped(buffer.kind, url, start, out, _joined(buffer.counts), _joined(buffer.sizes), *embedded)


def _joined(parts: list[npt.NDArray[np.uint32]]) -> npt.NDArray[np.uint32]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, np.uint32)


def _place_group(group: PreparedGroup, url: str, out: _GatheredWrites, spool: Spool) -> EncodedBuffer:
    """Write the super-blocks of a packed group."""
    start = out.begin()
    sizes = []
    for block in super_blocks(group, spool):
        sizes.append(len(block))
        out.write(block)
    return _mapped(BufferKind.DATA, url, start, out, group.counts, sizes)


def _member(buffer: PreparedBuffer, number: int, group: EncodedBuffer | None) -> EncodedBuffer:
    """The descriptor of a buffer inside a packed group. It refers to the group's buffer if that is given."""
    return EncodedBuffer(
        kind=buffer.kind,
        buffer=None if group is None else group.buffer,
        block_map=None if group is None else group.block_map,
        block_count=sum(map(len, buffer.counts)),
        block_checksums=True,
        embedded_presence=buffer.embedded_presence,
        embedded_offsets=buffer.embedded_offsets,
        packed_group_index=number,
        identity=None if group is None else group.identity,
    )


def _mapped(
    kind: BufferKind,
    url: str,
    start: int,
    out: _GatheredWrites,
    counts: npt.ArrayLike,
    sizes: npt.ArrayLike,
    embedded_presence: bool = False,
    embedded_offsets: bool = False,
) -> EncodedBuffer:
    """Write the block map and the identity of a buffer whose blocks were written from `start` on."""
    out.align(DATA_ALIGNMENT)
    map_start = out.tell()
    out.write(encode_block_map(counts, sizes))
    end = out.tell()
    return EncodedBuffer(
        kind=kind,
        buffer=DataRef(url, start, end),
        block_map=DataRef(url, map_start, end),
        block_count=len(np.asarray(counts)),
        block_checksums=True,
        embedded_presence=embedded_presence,
        embedded_offsets=embedded_offsets,
        identity=out.identify(),
    )


def _descriptor(field: PreparedField, custom: Properties) -> FieldDescriptor:
    found = field.statistics
    return FieldDescriptor(
        position_count=found.position_count,
        null_count=found.null_count,
        constant_value=field.constant,
        dictionary_size=field.dictionary_size,
        range_stats=found.range_stats,
        type_stats=found.type_stats,
        cardinality=found.cardinality,
        bloom_filter=found.bloom_filter,
        custom=custom,
        raw_data_size=found.raw_data_size,
    )
