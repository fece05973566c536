"""Facts become bytes and facts again; what the reference wrote comes out as it went in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.format import (
    BUFFER_ALIGNMENT,
    DATA_ALIGNMENT,
    FOOTER,
    HEADER,
    AnyValue,
    BufferKind,
    DataRef,
    EncodedBuffer,
    FieldDescriptor,
    FieldList,
    IndexCollection,
    NativeEncoding,
    RangeStats,
    ShardDirectory,
    ShardProperties,
    ShardSchema,
    StringStats,
    StripeDirectory,
    StripeFieldDescriptor,
    StripeList,
    StripeProperties,
    UnknownEncoding,
    UrlList,
    directory_range,
    encode_block_map,
    encode_dictionary,
    encode_range_index,
    encode_schema,
    frame,
    frame_directory,
    unframe,
)
from amudai.format.encodings import encoding_parts
from amudai.format.indexes import IndexArtifact
from amudai.format.message import Fact
from amudai.format.wire import amudai_pb2 as wire
from amudai.types import BasicType, SchemaNode
from tests import golden
from tests.format import facts
from tests.format.test_messages import INDEX_COLLECTION
from tests.format.walk import walk
from tests.format.worked_example import SHARD

STORED: list[tuple[Any, Callable[[bytes], object]]] = [
    (facts.VALUES, AnyValue.decode),
    (facts.REFS, lambda payload: DataRef.of(wire.DataRef.FromString(payload))),
    (facts.URL_LISTS, UrlList.decode),
    (facts.directories(), ShardDirectory.decode),
    (facts.STRIPE_PROPERTIES, StripeProperties.decode),
    (facts.SHARD_PROPERTIES, ShardProperties.decode),
    (facts.descriptors(), FieldDescriptor.decode),
    (facts.STRIPE_FIELDS, StripeFieldDescriptor.decode),
    (facts.BUFFERS, lambda payload: EncodedBuffer.of(wire.EncodedBuffer.FromString(payload))),
    (facts.NATIVE, lambda payload: NativeEncoding.of(wire.NativeDataEncoding.FromString(payload))),
    (facts.COLLECTIONS, IndexCollection.decode),
    (facts.ARTIFACTS, lambda payload: IndexArtifact.of(wire.IndexArtifact.FromString(payload))),
]


@pytest.mark.parametrize(("strategy", "decode"), STORED, ids=[str(at) for at in range(len(STORED))])
@settings(deadline=None)
@given(data=st.data())
def test_what_is_encoded_is_decoded(strategy: Any, decode: Callable[[bytes], object], data: st.DataObject) -> None:
    fact: Fact = data.draw(strategy)
    payload = fact.encode()
    assert isinstance(payload, bytes)
    found = decode(payload)
    assert found == fact
    assert type(found) is type(fact)
    assert found.encode() == payload  # type: ignore[attr-defined]


@settings(deadline=None)
@given(stripes=facts.STRIPE_LISTS)
def test_a_list_of_stripes(stripes: StripeList) -> None:
    assert StripeList.decode(stripes.encode(), len(stripes)) == stripes


@settings(deadline=None)
@given(refs=st.lists(facts.maybe(facts.REFS), max_size=5))
def test_a_field_list(refs: list[DataRef | None]) -> None:
    fields = FieldList.from_refs(refs)
    again = FieldList.decode(fields.encode())
    for found in (fields, again):
        assert len(found) == len(refs)
        slots = [found.ref(slot) for slot in range(len(refs))]
        assert slots == [None if ref is None or ref.is_empty else ref for ref in refs]


def test_the_published_field_list() -> None:
    refs = [DataRef("", 8, 100), None, DataRef("", 100, 180)]
    assert FieldList.from_refs(refs).encode() == bytes.fromhex(
        "12 00 12 00 12 00"
        "1a 18  08 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  64 00 00 00 00 00 00 00"
        "22 18  64 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  b4 00 00 00 00 00 00 00"
    )
    assert FieldList.from_refs([]).encode() == b""


def test_the_published_references() -> None:
    assert DataRef("a.amudai.stripe", 64, 1088).encode() == bytes.fromhex(
        "0a 0f 61 2e 61 6d 75 64 61 69 2e 73 74 72 69 70 65 12 12 09 40 00 00 00 00 00 00 00 11 40 04 00 00 00 00 00 00"
    )
    assert DataRef("", 0, 0).encode() == b"\x12\x00"


def test_the_published_buffer() -> None:
    buffer = EncodedBuffer(
        kind=BufferKind.DATA,
        buffer=DataRef("", 64, 1024),
        block_map=DataRef("", 960, 1024),
        block_count=1,
        block_checksums=True,
        embedded_presence=True,
    )
    assert buffer.encode() == bytes.fromhex(
        "12 14 12 12 09 40 00 00 00 00 00 00 00 11 00 04 00 00 00 00 00 00"
        "1a 14 12 12 09 c0 03 00 00 00 00 00 00 11 00 04 00 00 00 00 00 00"
        "21 01 00 00 00 00 00 00 00 28 01 30 01"
    )


def test_a_range_index_states_its_zeros() -> None:
    buffer = EncodedBuffer(
        kind=BufferKind.RANGE_INDEX, buffer=DataRef("", 64, 128), block_count=0, buffer_id=0, packed_group_index=0
    )
    assert buffer.encode() == bytes.fromhex(
        "08 05 12 14 12 12 09 40 00 00 00 00 00 00 00 11 80 00 00 00 00 00 00 00"
        "21 00 00 00 00 00 00 00 00 a5 01 00 00 00 00 ad 01 00 00 00 00"
    )


def test_the_published_all_null_descriptor() -> None:
    descriptor = FieldDescriptor(
        position_count=4,
        null_count=4,
        constant_value=AnyValue("null"),
        range_stats=RangeStats(min=None, max=None),
        raw_data_size=0,
    )
    assert descriptor.encode() == bytes.fromhex(
        "09 04 00 00 00 00 00 00 00 11 04 00 00 00 00 00 00 00 1a 02 0a 00 32 04 10 01 20 01"
        "c9 02 00 00 00 00 00 00 00 00"
    )


def test_the_published_properties() -> None:
    ticks = 638_000_000_000_000_000
    custom = (("k", AnyValue("string", "v")),)
    assert ShardProperties(creation_min=ticks, creation_max=ticks, custom=custom).encode() == bytes.fromhex(
        "0a 09 09 00 00 b3 a6 9e a1 da 08 12 09 09 00 00 b3 a6 9e a1 da 08 22 08 0a 01 6b 12 03 42 01 76"
    )
    assert ShardProperties().encode() == StripeProperties().encode() == b""


def test_the_published_index_collection() -> None:
    assert IndexCollection.decode(INDEX_COLLECTION).encode() == INDEX_COLLECTION


def test_statistics_that_are_there_but_empty() -> None:
    descriptor = FieldDescriptor(
        position_count=0,
        type_stats=StringStats(min_size=0, min_non_empty_size=None, max_size=0, ascii_count=0),
    )
    assert descriptor.encode() == bytes.fromhex("a2 01 09 21 00 00 00 00 00 00 00 00")
    emptied = bytes.fromhex("3a 00")
    assert FieldDescriptor.decode(emptied).encode() == emptied


def test_what_a_later_version_wrote_is_not_dropped_in_silence() -> None:
    with pytest.raises(UnsupportedFeature, match="found one of a later version"):
        AnyValue("unknown").encode()
    with pytest.raises(UnsupportedFeature, match="found one of a later version"):
        encoding_parts(UnknownEncoding())


def test_nesting_ends() -> None:
    value = AnyValue("bool", True)
    for _ in range(2_000):
        value = AnyValue("list", (value,))
    with pytest.raises(InvalidArgument, match="AnyValue: expected a message of fewer than 100 levels"):
        value.encode()


def test_the_worked_example_is_written() -> None:
    """Byte for byte, from facts alone."""
    bound = AnyValue("i64", 42)
    descriptor = FieldDescriptor(
        position_count=3,
        null_count=0,
        constant_value=bound,
        range_stats=RangeStats(min=bound, max=bound),
        raw_data_size=24,
    )
    out = bytearray(HEADER)

    def put(payload: bytes) -> DataRef:
        start = len(out)
        out.extend(frame(payload))
        return DataRef("", start, len(out))

    stripe_field = put(StripeFieldDescriptor(field=descriptor, encodings=(NativeEncoding(()),)).encode())
    stripe_fields = put(FieldList.from_refs([stripe_field]).encode())
    stripe = StripeDirectory(field_list=stripe_fields, shard_position=0, total_records=3, raw_data_size=24)
    stripe_list = put(StripeList([stripe]).encode())
    urls = put(UrlList(()).encode())
    fields = put(FieldList.from_refs([put(descriptor.encode())]).encode())
    schema = put(encode_schema([SchemaNode(schema_id=0, name="x", basic_type=BasicType.INT64, signed=True)]))
    directory = ShardDirectory(
        schema=schema,
        field_list=fields,
        stripe_list=stripe_list,
        url_list=urls,
        total_records=3,
        stripe_count=1,
        raw_data_size=24,
    )
    out += frame_directory(directory.encode()) + FOOTER
    assert len(out) == 529
    assert bytes(out) == SHARD


def frames(path: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """Every message of a shard: its name, its payload, and the result of decoding and encoding it."""
    content = path.read_bytes()

    def payload(ref: DataRef) -> bytes:
        assert ref.url.rsplit("/", 1)[-1] in ("", path.name)
        return bytes(unframe(content[ref.start : ref.end], "any"))

    start, end = directory_range(content[-65536:], len(content))
    stored = bytes(unframe(content[start:end], "any"))
    directory = ShardDirectory.decode(stored)
    yield "ShardDirectory", stored, directory.encode()
    assert content[start:] == frame_directory(stored) + FOOTER
    stored = payload(directory.schema)
    yield "Schema", stored, encode_schema(ShardSchema(stored).fields())
    stored = payload(directory.url_list)
    yield "UrlList", stored, UrlList.decode(stored).encode()
    if directory.properties is not None:
        stored = payload(directory.properties)
        yield "ShardProperties", stored, ShardProperties.decode(stored).encode()
    stored = payload(directory.stripe_list)
    stripes = StripeList.decode(stored, directory.stripe_count)
    yield "StripeList", stored, stripes.encode()
    lists: list[tuple[DataRef, type[FieldDescriptor] | type[StripeFieldDescriptor]]] = [
        (directory.field_list, FieldDescriptor)
    ]
    for stripe in stripes:
        lists.append((stripe.field_list, StripeFieldDescriptor))
        if stripe.properties is not None:
            stored = payload(stripe.properties)
            yield "StripeProperties", stored, StripeProperties.decode(stored).encode()
    for ref, kind in lists:
        stored = payload(ref)
        fields = FieldList.decode(stored)
        refs = [fields.ref(slot) for slot in range(len(fields))]
        yield "FieldList", stored, FieldList.from_refs(refs).encode()
        for slot in refs:
            if slot is not None:
                stored = payload(slot)
                yield kind.__name__, stored, without_memory(kind.decode(stored)).encode()


def buffers(path: Path) -> Iterator[tuple[BufferKind, bytes, bytes]]:
    """Every block map, dictionary and range index: its bytes, and the result of decoding and encoding it."""
    files: dict[str, bytes] = {}

    def read(ref: DataRef) -> bytes:
        name = ref.url.rsplit("/", 1)[-1] or path.name
        if name not in files:
            files[name] = (path.parent / name).read_bytes()
        return files[name][ref.start : ref.end]

    found = walk(path.read_bytes(), lambda ref: memoryview(read(ref)))
    for (ordinal, schema_id), descriptor in found.stripe_fields.items():
        node = found.schema.node(schema_id)
        assert node is not None
        (encoding,) = descriptor.encodings
        assert isinstance(encoding, NativeEncoding)
        for buffer in encoding.buffers:
            kind = BufferKind(buffer.kind)
            assert buffer.buffer is not None
            if kind is BufferKind.VALUE_DICTIONARY:
                stored, dictionary = read(buffer.buffer), found.dictionaries[ordinal, schema_id]
                yield (
                    kind,
                    stored,
                    encode_dictionary(
                        node,
                        value_count=dictionary.value_count,
                        data=dictionary.values,
                        offsets=dictionary.offsets,
                        null_id=dictionary.null_id,
                        sorted_ids=dictionary.sorted_ids,
                    ),
                )
            elif kind is BufferKind.RANGE_INDEX:
                stored, header = read(buffer.buffer), found.range_indexes[ordinal, schema_id]
                minima, maxima, invalid = header.payloads(stored)
                yield kind, stored, encode_range_index(node, header.span, minima, maxima, invalid or None)
            else:
                whole, part = buffer.block_refs()
                block_map = found.block_maps[ordinal, schema_id, kind]
                assert part.start - whole.start == -(-int(block_map.offsets[-1]) // DATA_ALIGNMENT) * DATA_ALIGNMENT
                assert whole.start % BUFFER_ALIGNMENT == 0
                stored = read(DataRef(whole.url, part.start, part.end))
                yield kind, stored, encode_block_map(np.diff(block_map.values), np.diff(block_map.offsets))


def without_memory(fact: FieldDescriptor | StripeFieldDescriptor) -> Fact:
    """The descriptor as a writer makes it: without the message that it was decoded from."""
    if isinstance(fact, FieldDescriptor):
        return replace(fact, message=None)
    return replace(fact, field=replace(fact.field, message=None))


@pytest.mark.parametrize("path", golden.SHARDS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_golden_messages_come_out_as_they_went_in(path: Path) -> None:
    kinds = set()
    for kind, stored, encoded in frames(path):
        assert encoded == stored, kind
        kinds.add(kind)
    assert {"ShardDirectory", "Schema", "UrlList", "StripeList", "FieldList"} <= kinds


def test_golden_buffers_come_out_as_they_went_in() -> None:
    kinds = set()
    for path in golden.SHARDS:
        for kind, stored, encoded in buffers(path):
            assert encoded == stored, f"{path.name}: {kind}"
            kinds.add(kind)
    assert kinds == set(BufferKind) - {BufferKind.OPAQUE_DICTIONARY}
