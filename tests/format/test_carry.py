"""Messages that go from one root to another: which unknown fields are kept, which are refused, what is renamed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor

from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.format import StripeDirectory, StripeList, carried, unknown_fields, unknown_fields_of_stripes
from amudai.format.references import DataRef
from amudai.format.wire import amudai_pb2 as wire

SCALARS = {"varint": b"\xf8\x7c\x05", "fixed32": b"\xfd\x7c\x01\x02\x03\x04", "fixed64": b"\xf9\x7c" + bytes(8)}
OTHERS = {"bytes": b"\xfa\x7c\x03new", "group": b"\xfb\x7c\xfc\x7c"}  # all of them field 1999
EVERYTHING = {**SCALARS, **OTHERS}

# As the table in docs/format/container.md has them.
REFERENCES = {"DataRef", "UInt64Range"}
PLACES = {
    "AnyValue",
    "DataEncoding",
    "DataRefArray",
    "EncodedBuffer",
    "ExternalParquetDataEncoding",
    "IndexArtifact",
    "IndexCollection",
    "IndexDescriptor",
    "NativeDataEncoding",
    "ParquetColumnChunkRef",
    "ParquetFileColumnRef",
    "ShardDirectory",
    "StripeDirectory",
    "StripeFieldDescriptor",
    "StripeList",
    "UrlList",
}
MESSAGES: dict[str, Descriptor] = dict(wire.DESCRIPTOR.message_types_by_name)


def test_the_table_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "format" / "container.md").read_text()
    rows = [line for line in page.splitlines() if line.endswith("| refused |") or "may hold a reference |" in line]
    assert [set(re.findall("`([A-Za-z0-9]+)`", row)) for row in rows] == [REFERENCES, PLACES]
    assert set(MESSAGES) >= REFERENCES | PLACES


def same(reference: str) -> str:
    return reference


@pytest.mark.parametrize("kind", sorted(MESSAGES))
@pytest.mark.parametrize("what", EVERYTHING)
def test_an_unknown_field_of_every_message(kind: str, what: str) -> None:
    unknown = EVERYTHING[what]
    if kind in REFERENCES or (kind in PLACES and what in OTHERS):
        for refuse in (lambda: carried(kind, unknown, same), lambda: unknown_fields(kind, unknown)):
            with pytest.raises(UnsupportedFeature) as caught:
                refuse()
            expected = f"{kind}: expected no unknown field that may refer to other bytes, found field 1999"
            assert str(caught.value) == expected
    else:
        assert carried(kind, unknown, same) == unknown
        assert unknown_fields(kind, unknown) == unknown


@pytest.mark.parametrize("kind", sorted(MESSAGES))
def test_unknown_fields_are_found_inside_every_message(kind: str) -> None:
    """Each message field of a message holds one, at any depth."""
    for field in MESSAGES[kind].fields:
        if field.message_type is None:
            continue
        inner = field.message_type.name
        for what, unknown in EVERYTHING.items():
            payload = _nested(field.number, unknown)
            if inner in REFERENCES or (inner in PLACES and what in OTHERS):
                with pytest.raises(UnsupportedFeature, match=f"^{inner}: .* found field 1999$"):
                    carried(kind, payload, same)
            else:
                assert carried(kind, payload, same) == payload
                assert unknown_fields(kind, payload) == b""


def _nested(number: int, content: bytes) -> bytes:
    tag, found = number << 3 | 2, bytearray()
    while tag > 127:
        found.append(tag % 128 | 128)
        tag >>= 7
    return bytes([*found, tag, len(content)]) + content


def test_known_fields_stay_beside_unknown_ones() -> None:
    payload = wire.StringStats(min_size=1, max_size=9).SerializeToString() + OTHERS["bytes"]
    assert carried("StringStats", payload, same) == payload
    assert unknown_fields("StringStats", payload) == OTHERS["bytes"]


def test_unknown_fields_of_stripes() -> None:
    ref = DataRef("", 8, 16)
    stripes = [
        StripeDirectory(field_list=ref, shard_position=0, total_records=3, unknown=SCALARS["varint"]),
        StripeDirectory(field_list=ref, shard_position=3, total_records=1),
    ]
    payload = StripeList(stripes).encode()
    assert unknown_fields_of_stripes(payload) == [SCALARS["varint"], b""]
    assert unknown_fields("StripeList", payload) == b""
    assert StripeList.decode(payload, 2)[0].total_records == 3


def span(url: str, start: int, end: int) -> wire.DataRef:
    return wire.DataRef(url=url, range=wire.UInt64Range(start=start, end=end))


def renamed(reference: str, identified: bool = False) -> str:
    return f"new-{reference or 'root'}"


def test_every_reference_is_renamed_wherever_it_is() -> None:
    value = wire.AnyValue(data_ref=span("v", 1, 2))
    pair = wire.NameValuePair(name="n", value=wire.AnyValue(list_value=wire.ListValue(elements=[value])))
    index = wire.IndexDescriptor(properties=[pair], artifacts=[wire.IndexArtifact(data_ref=span("i", 3, 4))])
    buffer = wire.EncodedBuffer(buffer=span("", 64, 128), block_map=span("", 100, 128))
    chunk = wire.ParquetColumnChunkRef(file_url="t.parquet", data_page_map=span("m", 5, 6))
    column = wire.ParquetFileColumnRef(file_ref=wire.DataRef(url="p.parquet"), column_chunks=[chunk])
    descriptor = wire.StripeFieldDescriptor(
        field=wire.FieldDescriptor(
            constant_value=value,
            range_stats=wire.RangeStats(min_value=value),
            indexes=wire.IndexCollection(index_descriptors=[index]),
            custom_properties=[pair],
        ),
        encodings=[
            wire.DataEncoding(native=wire.NativeDataEncoding(buffers=[buffer])),
            wire.DataEncoding(parquet=wire.ExternalParquetDataEncoding(file_column_refs=[column])),
        ],
    )
    seen: list[str] = []

    def rename(reference: str, identified: bool) -> str:
        seen.append(reference)
        return renamed(reference)

    found = wire.StripeFieldDescriptor.FromString(
        carried("StripeFieldDescriptor", descriptor.SerializeToString(), rename)
    )
    assert sorted(seen) == ["", "", "i", "m", "p.parquet", "t.parquet", "v", "v", "v", "v"]
    native, parquet = found.encodings
    assert native.native.buffers[0].block_map == span("new-root", 100, 128)
    assert parquet.parquet.file_column_refs[0].file_ref.url == "new-p.parquet"
    assert found.field.indexes.index_descriptors[0].artifacts[0].data_ref == span("new-i", 3, 4)


def test_an_empty_reference_is_left_alone() -> None:
    payload = wire.EncodedBuffer(buffer=span("gone", 5, 5)).SerializeToString()
    assert carried("EncodedBuffer", payload, renamed) == payload


def test_bytes_that_are_no_message() -> None:
    with pytest.raises(CorruptedData, match="FieldDescriptor: expected a protobuf message"):
        carried("FieldDescriptor", b"\x0a\xff", same)
