"""A little walk through a shard: everything that `format` can read, from the tail to the last block map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from amudai.format import (
    BlockMap,
    BufferKind,
    DataRef,
    EncodedBuffer,
    FieldDescriptor,
    FieldList,
    IndexCollection,
    NativeEncoding,
    RangeIndexHeader,
    ShardDirectory,
    ShardProperties,
    ShardSchema,
    StripeFieldDescriptor,
    StripeList,
    StripeProperties,
    UrlList,
    ValueDictionary,
    check_header,
    decode_block_map,
    directory_range,
    unframe,
)
from amudai.types import BasicType, SchemaNode

Read = Callable[[DataRef], memoryview]


@dataclass
class Walk:
    """What was met on the way."""

    directory: ShardDirectory
    schema: ShardSchema
    urls: UrlList
    stripes: StripeList
    properties: ShardProperties | None = None
    indexes: IndexCollection | None = None
    stripe_properties: list[StripeProperties | None] = field(default_factory=list)
    shard_fields: dict[int, FieldDescriptor] = field(default_factory=dict)
    stripe_fields: dict[tuple[int, int], StripeFieldDescriptor] = field(default_factory=dict)
    block_maps: dict[tuple[int, int, BufferKind], BlockMap] = field(default_factory=dict)
    dictionaries: dict[tuple[int, int], ValueDictionary] = field(default_factory=dict)
    range_indexes: dict[tuple[int, int], RangeIndexHeader] = field(default_factory=dict)


def walk(data: bytes, read_other: Read | None = None) -> Walk:
    """Read all of a shard file; `read_other` gives the bytes of references with a URL."""
    view = memoryview(data)

    def read(ref: DataRef) -> memoryview:
        if ref.url and read_other is not None:
            return read_other(ref)
        return view[ref.start : ref.end]

    def message(ref: DataRef, what: str) -> memoryview:
        return unframe(read(ref), what)

    check_header(view)
    start, end = directory_range(view[-65536:], len(view))
    directory = ShardDirectory.decode(unframe(view[start:end], "ShardDirectory"))
    stripes = StripeList.decode(message(directory.stripe_list, "StripeList"), directory.stripe_count)
    stripes.check_positions(directory.total_records)
    found = Walk(
        directory=directory,
        schema=ShardSchema(message(directory.schema, "Schema")),
        urls=UrlList.decode(message(directory.url_list, "UrlList")),
        stripes=stripes,
    )
    if directory.properties is not None:
        found.properties = ShardProperties.decode(message(directory.properties, "ShardProperties"))
    if directory.indexes is not None:
        found.indexes = IndexCollection.decode(message(directory.indexes, "IndexCollection"))
    nodes = [node for field in found.schema.fields() for node in subtree(field)]
    shard_list = FieldList.decode(message(directory.field_list, "DataRefArray"))
    for node in nodes:
        if (ref := shard_list.ref(node.schema_id)) is not None:
            found.shard_fields[node.schema_id] = FieldDescriptor.decode(message(ref, "FieldDescriptor"))
    for ordinal, stripe in enumerate(found.stripes):
        properties = stripe.properties
        found.stripe_properties.append(
            None if properties is None else StripeProperties.decode(message(properties, "StripeProperties"))
        )
        stripe_list = FieldList.decode(message(stripe.field_list, "DataRefArray"))
        for node in nodes:
            if (ref := stripe_list.ref(node.schema_id)) is not None:
                descriptor = StripeFieldDescriptor.decode(message(ref, "StripeFieldDescriptor"))
                found.stripe_fields[ordinal, node.schema_id] = descriptor
                _walk_buffers(found, ordinal, node, descriptor, read)
    return found


def subtree(node: SchemaNode) -> list[SchemaNode]:
    return [node] + [below for child in node.children for below in subtree(child)]


def _walk_buffers(found: Walk, ordinal: int, node: SchemaNode, descriptor: StripeFieldDescriptor, read: Read) -> None:
    field = descriptor.field
    for encoding in descriptor.encodings:
        for buffer in encoding.buffers if isinstance(encoding, NativeEncoding) else ():
            match buffer.kind:
                case BufferKind.DATA | BufferKind.PRESENCE | BufferKind.OFFSETS as kind:
                    found.block_maps[ordinal, node.schema_id, BufferKind(kind)] = _block_map(
                        buffer, node, field.position_count, read
                    )
                case BufferKind.VALUE_DICTIONARY if buffer.buffer is not None:
                    found.dictionaries[ordinal, node.schema_id] = ValueDictionary.decode(
                        read(buffer.buffer), node, expected_count=field.dictionary_size, sorted_ids=True
                    )
                case BufferKind.RANGE_INDEX if buffer.buffer is not None:
                    content = read(buffer.buffer)
                    header = RangeIndexHeader.decode(content, node, expected_span=field.position_count)
                    header.payloads(content)
                    found.range_indexes[ordinal, node.schema_id] = header


def _block_map(buffer: EncodedBuffer, node: SchemaNode, positions: int, read: Read) -> BlockMap:
    whole, part = buffer.block_refs()
    if buffer.kind is BufferKind.OFFSETS:
        values = positions + 1
    elif buffer.kind is BufferKind.PRESENCE or node.basic_type is BasicType.BOOLEAN:
        values = -(-positions // 8)
    else:
        values = positions
    content = read(DataRef(whole.url, part.start, part.end))
    room = part.start - whole.start
    return decode_block_map(content, data_size=room, expected_values=values, expected_blocks=buffer.block_count)
