"""References, directories, descriptors, encodings and indexes: the published bytes, and messages that cannot be."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import AmudaiError, CorruptedData
from amudai.format import (
    AnyValue,
    BooleanStats,
    BufferKind,
    DataRef,
    EncodedBuffer,
    FieldDescriptor,
    FieldList,
    IndexArtifact,
    IndexCollection,
    IndexDescriptor,
    NativeEncoding,
    ParquetEncoding,
    RangeStats,
    ShardDirectory,
    ShardProperties,
    StripeFieldDescriptor,
    StripeList,
    StripeProperties,
    UnknownEncoding,
    UrlList,
)
from amudai.format.message import parse
from amudai.format.wire import amudai_pb2 as wire


def test_the_published_reference() -> None:
    payload = bytes.fromhex(
        "0a 0f 61 2e 61 6d 75 64 61 69 2e 73 74 72 69 70 65 12 12 09 40 00 00 00 00 00 00 00 11 40 04 00 00 00 00 00 00"
    )
    ref = DataRef.of(wire.DataRef.FromString(payload))
    assert ref == DataRef("a.amudai.stripe", 64, 1088)
    assert (ref.size, ref.is_empty, str(ref)) == (1024, False, "a.amudai.stripe[64..1088]")
    for nothing in (b"", b"\x12\x00"):
        empty = DataRef.of(wire.DataRef.FromString(nothing))
        assert (empty, empty.is_empty) == (DataRef("", 0, 0), True)


def test_a_reference_that_ends_before_it_starts() -> None:
    with pytest.raises(CorruptedData, match="expected an end of at least 9, found 8"):
        DataRef.of(wire.DataRef(range=wire.UInt64Range(start=9, end=8)))


def test_the_published_field_list() -> None:
    fields = FieldList.decode(
        bytes.fromhex(
            "12 00 12 00 12 00"
            "1a 18  08 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  64 00 00 00 00 00 00 00"
            "22 18  64 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  b4 00 00 00 00 00 00 00"
        )
    )
    assert len(fields) == 3
    assert [fields.ref(slot) for slot in (0, 1, 2, 3, -1)] == [
        DataRef("", 8, 100),
        None,
        DataRef("", 100, 180),
        None,
        None,
    ]


@pytest.mark.parametrize("missing", ["url", "start", "end"])
def test_a_field_list_of_unequal_lengths(missing: str) -> None:
    lists: dict[str, Any] = {"url": [""] * 3, "start": [1, 2, 3], "end": [2, 3, 4]}
    lists[missing] = lists[missing][:2]
    with pytest.raises(CorruptedData, match="expected three lists of one length, found"):
        FieldList.decode(wire.DataRefArray(**lists).SerializeToString())


def test_a_bad_slot_of_a_field_list_harms_no_other() -> None:
    payload = wire.DataRefArray(url=["", ""], start=[8, 20], end=[10, 19]).SerializeToString()
    fields = FieldList.decode(payload)
    assert fields.ref(0) == DataRef("", 8, 10)
    with pytest.raises(CorruptedData, match="expected an end of at least 20, found 19"):
        fields.ref(1)


@pytest.mark.parametrize("payload", [b"\x0a\xff", b"\xff" * 20, b"\x13" * 1000], ids=["cut", "tag", "groups"])
@pytest.mark.parametrize(
    "decode",
    [UrlList.decode, FieldList.decode, ShardDirectory.decode, FieldDescriptor.decode, IndexCollection.decode],
)
def test_bytes_that_are_no_message(payload: bytes, decode: Any) -> None:
    with pytest.raises(CorruptedData, match="expected a protobuf message"):
        decode(payload)


def test_a_string_that_is_not_utf8() -> None:
    with pytest.raises(CorruptedData, match="expected a protobuf message"):
        UrlList.decode(b"\x0a\x02\xff\xfe")


def test_the_error_names_the_message() -> None:
    with pytest.raises(CorruptedData) as error:
        parse(wire.UrlList, b"\x0a\xff")
    assert str(error.value) == "UrlList: expected a protobuf message, found 2 other bytes"


def directory(**changes: object) -> bytes:
    ref = wire.DataRef(range=wire.UInt64Range(start=8, end=16))
    fields: dict[str, Any] = {"schema_ref": ref, "field_list_ref": ref, "stripe_list_ref": ref, "url_list_ref": ref}
    return wire.ShardDirectory(**{**fields, **changes}).SerializeToString()


@pytest.mark.parametrize("missing", ["schema_ref", "field_list_ref", "stripe_list_ref", "url_list_ref"])
def test_a_directory_needs_its_references(missing: str) -> None:
    with pytest.raises(CorruptedData, match=rf"^ShardDirectory.{missing}: expected it to be set"):
        ShardDirectory.decode(directory(**{missing: None}))


def test_a_directory_with_everything() -> None:
    ref = wire.DataRef(url="x", range=wire.UInt64Range(start=1, end=2))
    found = ShardDirectory.decode(
        directory(properties_ref=ref, indexes_ref=ref, total_record_count=9, deleted_record_count=9, stripe_count=2)
    )
    assert (found.properties, found.indexes) == (DataRef("x", 1, 2), DataRef("x", 1, 2))
    assert (found.total_records, found.deleted_records, found.stripe_count, found.raw_data_size) == (9, 9, 2, None)


def test_more_deleted_than_there_are() -> None:
    with pytest.raises(CorruptedData) as error:
        ShardDirectory.decode(directory(total_record_count=10, deleted_record_count=12))
    assert str(error.value) == "ShardDirectory.deleted_record_count: expected at most 10, found 12"


def stripes(*positions: tuple[int, int]) -> bytes:
    return wire.StripeList(
        stripes=[
            wire.StripeDirectory(field_list_ref=wire.DataRef(), shard_position=position, total_record_count=count)
            for position, count in positions
        ]
    ).SerializeToString()


def test_stripes_that_follow_each_other() -> None:
    found = StripeList.decode(stripes((0, 4), (4, 0), (4, 3)), 3)
    found.check_positions(7)
    assert [(stripe.shard_position, stripe.total_records) for stripe in found] == [(0, 4), (4, 0), (4, 3)]
    StripeList.decode(b"", 0).check_positions(0)


@pytest.mark.parametrize(
    ("positions", "total", "message"),
    [
        (((1, 4),), 4, "StripeDirectory.shard_position: expected 0, found 1 (stripe 0)"),
        (((0, 4), (5, 1)), 5, "StripeDirectory.shard_position: expected 4, found 5 (stripe 1)"),
        (((0, 4), (3, 1)), 5, "StripeDirectory.shard_position: expected 4, found 3 (stripe 1)"),
        (((0, 4), (4, 1)), 6, "StripeList: expected 6 records in all stripes, found 5"),
        (((0, 2**64 - 1), (2**64 - 1, 1)), 0, f"StripeList: expected 0 records in all stripes, found {2**64}"),
    ],
)
def test_stripes_that_do_not(positions: tuple[tuple[int, int], ...], total: int, message: str) -> None:
    found = StripeList.decode(stripes(*positions), len(positions))
    with pytest.raises(CorruptedData) as error:
        found.check_positions(total)
    assert str(error.value) == message


def test_a_stripe_list_of_another_length() -> None:
    with pytest.raises(CorruptedData, match="expected 2 stripes, found 1"):
        StripeList.decode(stripes((0, 4)), 2)
    with pytest.raises(CorruptedData, match=r"StripeDirectory\.field_list_ref: expected it to be set"):
        StripeList.decode(b"\x0a\x00", 1)


def test_the_published_properties() -> None:
    found = ShardProperties.decode(
        bytes.fromhex("0a 09 09 00 00 b3 a6 9e a1 da 08 12 09 09 00 00 b3 a6 9e a1 da 08 22 08 0a 01 6b 12 03 42 01 76")
    )
    assert (found.creation_min, found.creation_max) == (638000000000000000, 638000000000000000)
    assert (found.standard, found.custom) == ((), (("k", AnyValue("string", "v")),))
    nothing = ShardProperties.decode(b"")
    assert (nothing.creation_min, nothing.creation_max, nothing.custom) == (None, None, ())
    pair = wire.NameValuePair(name="n", value=wire.AnyValue(i64_value=-1))
    stripe = StripeProperties.decode(wire.StripeProperties(standard_properties=[pair]).SerializeToString())
    assert (stripe.standard, stripe.custom) == ((("n", AnyValue("i64", -1)),), ())


def test_the_published_all_null_descriptor() -> None:
    found = FieldDescriptor.decode(
        bytes.fromhex(
            "09 04 00 00 00 00 00 00 00 11 04 00 00 00 00 00 00 00 1a 02 0a 00 32 04 10 01 20 01"
            "c9 02 00 00 00 00 00 00 00 00"
        )
    )
    assert (found.position_count, found.null_count, found.raw_data_size) == (4, 4, 0)
    assert found.constant_value == AnyValue("null")
    assert found.range_stats == RangeStats(min=None, min_inclusive=True, max=None, max_inclusive=True)


def test_the_published_constant_field() -> None:
    found = StripeFieldDescriptor.decode(
        bytes.fromhex("0a 16 09 03 00 00 00 00 00 00 00 11 00 00 00 00 00 00 00 00 1a 02 20 05 12 02 0a 00")
    )
    assert found.encodings == (NativeEncoding(()),)
    assert (found.field.position_count, found.field.null_count) == (3, 0)
    assert found.field.constant_value == AnyValue("i64", 5)


def test_the_published_buffer() -> None:
    found = EncodedBuffer.of(
        wire.EncodedBuffer.FromString(
            bytes.fromhex(
                "12 14 12 12 09 40 00 00 00 00 00 00 00 11 d0 00 00 00 00 00 00 00"
                "1a 14 12 12 09 60 00 00 00 00 00 00 00 11 d0 00 00 00 00 00 00 00"
                "21 01 00 00 00 00 00 00 00 28 01 30 01"
            )
        )
    )
    assert found == EncodedBuffer(
        kind=BufferKind.DATA,
        buffer=DataRef("", 64, 208),
        block_map=DataRef("", 96, 208),
        block_count=1,
        block_checksums=True,
        embedded_presence=True,
        embedded_offsets=False,
        buffer_id=None,
        packed_group_index=None,
    )
    assert found.block_refs() == (DataRef("", 64, 208), DataRef("", 96, 208))


def span(start: int, end: int) -> wire.DataRef:
    return wire.DataRef(range=wire.UInt64Range(start=start, end=end))


@pytest.mark.parametrize(
    ("buffer", "message"),
    [
        (wire.EncodedBuffer(), "found no buffer"),
        (wire.EncodedBuffer(buffer=span(64, 128)), "found no block map"),
        (wire.EncodedBuffer(buffer=span(64, 128), block_map=span(56, 128)), r"found \[56..128\]"),
        (wire.EncodedBuffer(buffer=span(64, 128), block_map=span(72, 136)), r"found \[72..136\]"),
        (wire.EncodedBuffer(buffer=span(64, 128), block_map=span(128, 128)), "found 0$"),
        (wire.EncodedBuffer(buffer=span(64, 128), block_map=span(70, 128)), "found 58$"),
    ],
)
def test_a_buffer_without_a_place_for_its_blocks(buffer: wire.EncodedBuffer, message: str) -> None:
    with pytest.raises(CorruptedData, match=message):
        EncodedBuffer.of(buffer).block_refs()


def test_what_a_later_version_wrote_is_kept_and_stepped_over() -> None:
    buffers = [wire.EncodedBuffer(kind=99), wire.EncodedBuffer(kind=1), wire.EncodedBuffer(kind=1, block_count=7)]
    message = wire.StripeFieldDescriptor(
        field=wire.FieldDescriptor(position_count=1),
        encodings=[wire.DataEncoding(native=wire.NativeDataEncoding(buffers=buffers, packed_group=True))],
    )
    payload = message.SerializeToString() + b"\x12\x04\x9a\x01\x01x"  # a second encoding, of the unknown kind 19
    found = StripeFieldDescriptor.decode(payload)
    native, unknown = found.encodings
    assert unknown == UnknownEncoding()
    assert isinstance(native, NativeEncoding)
    assert native.packed_group
    assert [buffer.kind for buffer in native.buffers] == [99, BufferKind.PRESENCE, BufferKind.PRESENCE]
    assert native.find(BufferKind.PRESENCE) is native.buffers[1]
    assert native.find(BufferKind.DATA) is None
    field = FieldDescriptor.decode(b"\x09" + bytes(8) + b"\xaa\x06\x03new")  # field 101 of a later version
    assert field.message.SerializeToString().endswith(b"\xaa\x06\x03new")


def test_a_parquet_encoding() -> None:
    chunk = wire.ParquetColumnChunkRef(
        storage_type=6, row_group_id=3, data_pages_range=wire.UInt64Range(start=4, end=9)
    )
    column = wire.ParquetFileColumnRef(file_ref=wire.DataRef(url="t.parquet"), column_chunks=[chunk])
    message = wire.StripeFieldDescriptor(
        field=wire.FieldDescriptor(),
        encodings=[wire.DataEncoding(parquet=wire.ExternalParquetDataEncoding(file_column_refs=[column]))],
    )
    (found,) = StripeFieldDescriptor.decode(message.SerializeToString()).encodings
    assert isinstance(found, ParquetEncoding)
    (file,) = found.files
    assert file.file.url == "t.parquet"
    assert [(part.storage_type, part.row_group_id, part.data_pages, part.dictionary) for part in file.chunks] == [
        (6, 3, (4, 9), None)
    ]


def test_a_descriptor_that_cannot_be() -> None:
    with pytest.raises(CorruptedData, match=r"StripeFieldDescriptor\.field: expected it to be set"):
        StripeFieldDescriptor.decode(b"")
    with pytest.raises(CorruptedData) as error:
        FieldDescriptor.decode(wire.FieldDescriptor(position_count=3, null_count=4).SerializeToString())
    assert str(error.value) == "FieldDescriptor.null_count: expected at most 3, found 4"


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("string_stats", {"min_size": 1, "min_non_empty_size": 2, "max_size": 3, "ascii_count": 0}),
        ("list_stats", {"min_length": 0, "min_non_empty_length": 2, "max_length": 3}),
        ("boolean_stats", {"true_count": 1, "false_count": 2}),
        ("decimal_stats", {"zero_count": 1, "positive_count": 2, "negative_count": 3, "nan_count": 4}),
        ("binary_stats", {"min_length": 0, "min_non_empty_length": 2, "max_length": 3}),
        (
            "floating_stats",
            {
                "zero_count": 1,
                "positive_count": 2,
                "negative_count": 3,
                "nan_count": 4,
                "positive_infinity_count": 5,
                "negative_infinity_count": 6,
            },
        ),
    ],
)
def test_statistics_of_a_type(name: str, numbers: dict[str, int]) -> None:
    stats: Message = getattr(wire.FieldDescriptor(), name).__class__(**numbers)
    found = FieldDescriptor.decode(wire.FieldDescriptor(**{name: stats}).SerializeToString()).type_stats
    assert found is not None
    assert {key: getattr(found, key) for key in numbers} == numbers
    assert type(found).__name__.lower() == name.replace("_", "")


def test_statistics_that_are_absent() -> None:
    found = FieldDescriptor.decode(wire.FieldDescriptor(string_stats=wire.StringStats()).SerializeToString()).type_stats
    assert (found.min_non_empty_size, found.ascii_count) == (None, None)  # type: ignore[union-attr]
    assert FieldDescriptor.decode(b"").type_stats is None
    boolean = FieldDescriptor.decode(wire.FieldDescriptor(boolean_stats=wire.BooleanStats()).SerializeToString())
    assert boolean.type_stats == BooleanStats(true_count=0, false_count=0)


def test_sketches() -> None:
    sketch = wire.HllSketchV1(hash_algorithm="xxh3_64", hash_seed=7, bits_per_index=4, counters=bytes(range(16)))
    bloom = wire.SplitBlockBloomFilter(
        num_blocks=1, target_fpp=0.01, num_values=3, hash_algorithm="xxh3_64", hash_seed=9, data=bytes(32)
    )
    found = FieldDescriptor.decode(
        wire.FieldDescriptor(
            cardinality=wire.CardinalityInfo(count=12, is_estimate=True, hll_sketch=sketch),
            membership_filters=wire.MembershipFilters(sbbf=bloom),
        ).SerializeToString()
    )
    assert found.cardinality is not None
    assert found.cardinality.sketch is not None
    assert found.bloom_filter is not None
    assert (found.cardinality.count, found.cardinality.is_estimate) == (12, True)
    assert (found.cardinality.sketch.hash_seed, found.cardinality.sketch.counters) == (7, bytes(range(16)))
    assert (found.bloom_filter.num_blocks, found.bloom_filter.hash_seed, found.bloom_filter.data) == (1, 9, bytes(32))
    emptied = FieldDescriptor.decode(bytes.fromhex("3a 00")).cardinality
    assert emptied is not None
    assert (emptied.count, emptied.is_estimate, emptied.sketch) == (None, False, None)


INDEX_COLLECTION = bytes.fromhex("""
    0a ea 01 0a 16 69 6e 76 65 72 74 65 64 2d 74 65 78 74 2d 69 6e 64 65 78 2d 76 31 12 26 0a 09 63
    6f 6c 6c 61 74 69 6f 6e 12 19 42 17 75 6e 69 63 6f 64 65 2d 63 61 73 65 2d 70 72 65 73 65 72 76
    69 6e 67 12 2c 0a 0a 74 6f 6b 65 6e 69 7a 65 72 73 12 1e a2 01 1b 0a 0e 42 0c 75 6e 69 63 6f 64
    65 2d 77 6f 72 64 0a 09 42 07 74 72 69 76 69 61 6c 1a 06 0a 04 00 00 00 00 1a 06 0a 04 01 00 00
    00 22 30 0a 05 74 65 72 6d 73 1a 27 0a 11 66 69 6c 65 3a 2f 2f 2f 74 2f 78 2e 74 65 72 6d 73 12
    12 09 00 02 00 00 00 00 00 00 11 00 04 00 00 00 00 00 00 22 38 0a 09 70 6f 73 69 74 69 6f 6e 73
    1a 2b 0a 15 66 69 6c 65 3a 2f 2f 2f 74 2f 78 2e 70 6f 73 69 74 69 6f 6e 73 12 12 09 00 01 00 00
    00 00 00 00 11 80 02 00 00 00 00 00 00
""")


def test_the_published_index_collection() -> None:
    tokenizers = (AnyValue("string", "unicode-word"), AnyValue("string", "trivial"))
    expected = IndexDescriptor(
        index_type="inverted-text-index-v1",
        properties=(
            ("collation", AnyValue("string", "unicode-case-preserving")),
            ("tokenizers", AnyValue("list", tokenizers)),
        ),
        indexed_fields=((0,), (1,)),
        artifacts=(
            IndexArtifact(name="terms", properties=(), data=DataRef("file:///t/x.terms", 0x200, 0x400)),
            IndexArtifact(name="positions", properties=(), data=DataRef("file:///t/x.positions", 0x100, 0x280)),
        ),
        index_size=None,
    )
    found = IndexCollection.decode(INDEX_COLLECTION)
    assert list(found) == [expected]
    assert len(found) == 1
    assert not expected.required


@pytest.mark.parametrize(
    ("value", "required"),
    [
        ({"bool_value": True}, True),
        ({"bool_value": False}, False),
        ({"u64_value": 1}, False),
        ({"string_value": "true"}, False),
    ],
)
def test_an_index_is_required_where_a_bool_says_so(value: dict[str, Any], required: bool) -> None:
    pair = wire.NameValuePair(name="required", value=wire.AnyValue(**value))
    assert IndexDescriptor.of(wire.IndexDescriptor(properties=[pair])).required is required


def test_the_values_of_the_properties_of_an_index() -> None:
    later = wire.NameValuePair(name="later", value=wire.AnyValue())  # of a kind that this version does not know
    texts = wire.ListValue(elements=[wire.AnyValue(string_value="x")])
    pairs = [
        wire.NameValuePair(name="complete", value=wire.AnyValue(bool_value=True)),
        wire.NameValuePair(name="complete", value=wire.AnyValue(bool_value=False)),
        wire.NameValuePair(name="names", value=wire.AnyValue(list_value=texts, annotation="a")),
        wire.NameValuePair(name="nothing", value=wire.AnyValue(null_value=wire.UnitValue())),
        later,
    ]
    expected = {"complete": True, "names": (AnyValue("string", "x"),), "nothing": None, "later": None}
    read = IndexDescriptor.of(wire.IndexDescriptor(properties=pairs))
    assert read.values == expected
    assert IndexArtifact.of(wire.IndexArtifact(properties=pairs)).values == expected
    # Facts that are decoded, and those that were made or changed.
    assert (read.properties, read.values)[1] == expected
    assert replace(read, properties=(("n", AnyValue("u64", 1)),)).values == {"n": 1}
    assert IndexArtifact(name="a", data=DataRef("", 0, 1)).values == {}
    decimal = wire.NameValuePair(name="d", value=wire.AnyValue(decimal_value=b"short"))
    with pytest.raises(CorruptedData, match="expected 16 bytes"):
        _ = IndexDescriptor.of(wire.IndexDescriptor(properties=[decimal])).values


def test_the_published_indexed_field() -> None:
    field = wire.IndexedField.FromString(bytes.fromhex("0a 08 01 00 00 00 02 00 00 00"))
    assert IndexDescriptor.of(wire.IndexDescriptor(indexed_fields=[field])).indexed_fields == ((1, 2),)


DECODERS = [
    UrlList.decode,
    FieldList.decode,
    ShardDirectory.decode,
    lambda payload: StripeList.decode(payload, 1),
    ShardProperties.decode,
    StripeProperties.decode,
    FieldDescriptor.decode,
    StripeFieldDescriptor.decode,
    IndexCollection.decode,
]


@pytest.mark.parametrize("decode", DECODERS)
@given(payload=st.binary(max_size=100))
def test_any_bytes(decode: Any, payload: bytes) -> None:
    with suppress(AmudaiError):
        decode(payload)


def test_every_flipped_bit_of_a_message_with_everything() -> None:
    value = wire.AnyValue(list_value=wire.ListValue(elements=[wire.AnyValue(decimal_value=bytes(16))]), annotation="a")
    pair = wire.NameValuePair(name="n", value=value)
    buffer = wire.EncodedBuffer(kind=2, buffer=span(64, 128), block_map=span(72, 128), block_count=1, buffer_id=0)
    index = wire.IndexDescriptor(index_type="t", properties=[pair], artifacts=[wire.IndexArtifact(data_ref=span(8, 9))])
    payload = wire.StripeFieldDescriptor(
        field=wire.FieldDescriptor(
            position_count=9,
            null_count=1,
            constant_value=value,
            range_stats=wire.RangeStats(min_value=value, max_value=value),
            indexes=wire.IndexCollection(index_descriptors=[index]),
            standard_properties=[pair],
            floating_stats=wire.FloatingStats(nan_count=3),
            custom_properties=[pair],
        ),
        encodings=[wire.DataEncoding(native=wire.NativeDataEncoding(buffers=[buffer]))],
    ).SerializeToString()
    for at in range(len(payload)):
        for bit in range(8):
            with suppress(AmudaiError):
                StripeFieldDescriptor.decode(payload[:at] + bytes([payload[at] ^ 1 << bit]) + payload[at + 1 :])
        with suppress(AmudaiError):
            StripeFieldDescriptor.decode(payload[:at])
