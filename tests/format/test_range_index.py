"""Range indexes: the published ones, and those that contradict themselves or the schema."""

from __future__ import annotations

import struct

import pytest

from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, UnsupportedFeature
from amudai.format import RangeIndexHeader, checksum, encode_range_index
from amudai.types import DECIMAL, BasicType, SchemaNode

INT32 = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT32, signed=True)
UINT8 = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT8)
STRING = SchemaNode(schema_id=0, name="n", basic_type=BasicType.STRING)
FIXED = SchemaNode(schema_id=0, name="n", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=12)
DECIMALS = SchemaNode(schema_id=0, name="n", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=16, extension=DECIMAL)

EXAMPLE_1 = bytes.fromhex("""
    01 00 04 01 03 00 00 00 00 00 00 00 18 00 00 00 00 00 00 00 18 00 00 00 00 00 00 00 10 00 00 00
    00 00 00 00 00 01 00 00 00 00 00 00 06 00 00 00 01 00 ec ff ff ff 00 00 00 00 00 00 84 3d 8a 76
    00 00 00 00 06 00 00 00 01 00 0a 00 00 00 00 00 00 00 00 00 3d e7 82 1f 00 00 00 00 04 00 00 00
    01 00 01 00 73 0d 55 23 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
""")

EXAMPLE_2 = bytes.fromhex("""
    01 00 02 01 2c 01 00 00 00 00 00 00 10 00 00 00 00 00 00 00 10 00 00 00 00 00 00 00 00 00 00 00
    00 00 00 00 00 01 00 00 00 00 00 00 04 00 00 00 01 00 00 05 d6 33 11 42 00 00 00 00 04 00 00 00
    01 00 ff 09 18 d7 6a 42 00 00 00 00 00 00 00 00
""") + bytes(48)


def test_the_published_index_with_nulls() -> None:
    header = RangeIndexHeader.decode(EXAMPLE_1[:40], INT32, expected_span=3)
    assert header == RangeIndexHeader(span=3, logical_block_size=256, width=4, has_checksum=True, sizes=(24, 24, 16))
    assert header.logical_block_count == 1
    minima, maxima, counts = header.payloads(EXAMPLE_1)
    assert (minima, maxima, counts) == (EXAMPLE_1[40:64], EXAMPLE_1[64:88], EXAMPLE_1[88:104])
    assert struct.unpack_from("<i", minima, 10) == (-20,)
    assert struct.unpack_from("<i", maxima, 10) == (10,)
    assert struct.unpack_from("<H", counts, 10) == (1,)


def test_the_published_index_without() -> None:
    header = RangeIndexHeader.decode(EXAMPLE_2, UINT8, expected_span=300)
    assert (header.logical_block_count, header.width) == (2, 1)
    minima, maxima, counts = header.payloads(memoryview(EXAMPLE_2))
    assert (minima[10:12], maxima[10:12], counts) == (b"\x00\x05", b"\xff\x09", b"")


def block(content: bytes) -> bytes:
    """One plain block of u8."""
    out = struct.pack("<IIH", 0, 2 + len(content), 1) + content
    out += bytes(-(len(out) + 4) % 8)
    return out + struct.pack("<I", checksum(out))


def test_the_published_indexes_are_written() -> None:
    bounds = [block(struct.pack("<i", bound)) for bound in (-20, 10)]
    assert encode_range_index(INT32, 3, *bounds, block(struct.pack("<H", 1))) == EXAMPLE_1
    assert encode_range_index(UINT8, 300, block(b"\x00\x05"), memoryview(block(b"\xff\x09"))) == EXAMPLE_2
    assert RangeIndexHeader.decode(EXAMPLE_1, INT32).encode(INT32) == EXAMPLE_1[:40]
    decimals = encode_range_index(DECIMALS, 100, block(bytes(32)), block(bytes(32)), logical_block_size=64)
    header = RangeIndexHeader.decode(decimals, DECIMALS, expected_span=100)
    assert (header.width, header.logical_block_count) == (16, 2)
    assert [bytes(payload) for payload in header.payloads(decimals)] == [block(bytes(32)), block(bytes(32)), b""]


@pytest.mark.parametrize(
    ("node", "span", "payloads", "size", "message"),
    [
        (STRING, 1, (16, 16), 256, "range index of string: expected numbers, times or decimals"),
        (FIXED, 1, (16, 16), 256, "expected numbers, times or decimals"),
        (INT32, 0, (16, 16), 256, "expected at least one slot"),
        (INT32, 1, (16, 16), 0, "in blocks of 1..65535 and a power of two, found 1 slots in blocks of 0"),
        (INT32, 1, (16, 16), 50, "a power of two, found 1 slots in blocks of 50"),
        (INT32, 1, (16, 16), 65536, "in blocks of 1..65535"),
        (INT32, 1, (0, 16), 256, "minima: expected a block of at least 12 bytes, found 0"),
        (INT32, 1, (16, 8), 256, "maxima: expected a block of at least 12 bytes, found 8"),
        (INT32, 1, (16, 16, 0), 256, "invalid counts: expected a block of at least 12 bytes, found 0"),
    ],
)
def test_an_index_that_no_reader_takes(
    node: SchemaNode, span: int, payloads: tuple[int, ...], size: int, message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        encode_range_index(node, span, *map(bytes, payloads), logical_block_size=size)


def changed(at: int, form: str, value: int) -> bytes:
    out = bytearray(EXAMPLE_1)
    struct.pack_into(form, out, at, value)
    return bytes(out)


@pytest.mark.parametrize(
    ("buffer", "node", "message"),
    [
        (EXAMPLE_1[:39], INT32, "header: expected 40 bytes, found 39"),
        (EXAMPLE_1, UINT8, r"basic_type: expected 2 \(uint8\), found 4"),
        (changed(2, "<B", 10), STRING, r"basic_type: expected 10 \(string\), found 10"),
        (changed(2, "<B", 9), FIXED, "basic_type: expected 9 .* found 9"),
        (changed(3, "<B", 2), INT32, "has_checksum: expected 0 or 1, found 2"),
        (changed(4, "<Q", 0), INT32, "expected no zero, found span 0"),
        (changed(12, "<Q", 0), INT32, "expected no zero, found .* payloads of 0 and 24 bytes"),
        (changed(20, "<Q", 0), INT32, "expected no zero, found .* payloads of 24 and 0 bytes"),
        (changed(36, "<H", 0), INT32, "expected no zero, found span 3, block size 0"),
        (changed(38, "<H", 1), INT32, "padding: expected 0, found 1"),
        (changed(12, "<Q", 2**64 - 1), INT32, rf"expected {2**64 + 79}\.\.{2**64 + 142} bytes, found 128"),
        (changed(28, "<Q", 0), INT32, "expected zeros after byte 88, found other bytes"),
        (EXAMPLE_1 + bytes(64), INT32, r"expected 104\.\.167 bytes, found 192"),
        (changed(12, "<Q", 7), INT32, "minima: expected at least 12 bytes, found 7"),
        (changed(28, "<Q", 11), INT32, "invalid counts: expected at least 12 bytes, found 11"),
        (changed(50, "<B", 0), INT32, "minima checksum: expected 0x768a3d84, found"),
        (changed(74, "<B", 0), INT32, "maxima checksum"),
        (changed(98, "<B", 0), INT32, "invalid counts checksum"),
    ],
)
def test_an_index_that_cannot_be(buffer: bytes, node: SchemaNode, message: str) -> None:
    with pytest.raises(CorruptedData, match=message):
        RangeIndexHeader.decode(buffer, node).payloads(buffer)


def test_another_span_than_the_field_has() -> None:
    with pytest.raises(CorruptedData, match=r"^range index span: expected 4, found 3$"):
        RangeIndexHeader.decode(EXAMPLE_1, INT32, expected_span=4)


def test_a_version_of_the_future() -> None:
    with pytest.raises(UnsupportedFeature, match=r"^range index version: expected 1, found 2$"):
        RangeIndexHeader.decode(changed(0, "<H", 2), INT32)


def test_variations() -> None:
    assert RangeIndexHeader.decode(changed(2, "<B", 9), DECIMALS).width == 16
    blocks_of_100 = RangeIndexHeader.decode(changed(36, "<H", 2), INT32)
    assert blocks_of_100.logical_block_count == 2
    unsigned = changed(50, "<B", 0)
    assert RangeIndexHeader.decode(unsigned, INT32).payloads(unsigned, verify=False)[0][10] == 0
    bare = changed(3, "<B", 0)
    bare = bare[:50] + b"\x00" + bare[51:]
    assert RangeIndexHeader.decode(bare, INT32).payloads(bare)[0][10] == 0


def test_every_flipped_bit_and_every_cut() -> None:
    sound = RangeIndexHeader.decode(EXAMPLE_1, INT32).payloads(EXAMPLE_1)
    for at in range(len(EXAMPLE_1)):
        for bit in range(8):
            damaged = changed(at, "<B", EXAMPLE_1[at] ^ 1 << bit)
            try:
                found = RangeIndexHeader.decode(damaged, INT32, expected_span=3).payloads(damaged)
            except AmudaiError:
                continue
            # All of it is one logical block, whatever its size; and without the checksums nothing else is noticed.
            assert found == sound or at == 3, at
        if at < 104:
            with pytest.raises(CorruptedData):
                RangeIndexHeader.decode(EXAMPLE_1[:at], INT32).payloads(EXAMPLE_1[:at])
