"""Does the oracle read and write the worked examples of the format?"""

import struct

import pytest

from tests.oracle import block, block_map, dictionary, presence, section
from tests.oracle.binary import block_dictionary as binary_dictionary
from tests.oracle.binary import lz4 as binary_lz4
from tests.oracle.binary import region
from tests.oracle.common import ALL, OracleError, pack, size_of
from tests.oracle.examples import (
    BINARY_BLOCKS,
    BLOCK_MAPS,
    NUMERIC_BLOCKS,
    SECTIONS,
    BinaryBlock,
    Example,
    NumericBlock,
)
from tests.oracle.numeric import (
    alp,
    ffor,
    fl_bit_pack,
    plain,
    truncate,
)


@pytest.mark.parametrize("example", SECTIONS, ids=lambda example: example.name)
def test_section_example(example: Example) -> None:
    encoded = bytes.fromhex(example.dump)
    assert section.decode(encoded, len(example.values), example.dtype) == example.values
    if example.name not in ("lz4", "snappy"):  # what a compressor makes of it depends on its version
        assert example.encode(example.values, example.dtype) == encoded


@pytest.mark.parametrize("example", NUMERIC_BLOCKS, ids=lambda example: example.name)
def test_numeric_block_example(example: NumericBlock) -> None:
    encoded = bytes.fromhex(example.dump)
    assert block.decode_numeric(encoded, len(example.values), example.dtype) == example.values
    stored = [value or 0 for value in example.values]
    present = presence.encode([value is not None for value in example.values])
    assert block.build(present, example.encode(stored, example.dtype)) == encoded


def test_block_without_checksum() -> None:
    encoded = bytes.fromhex(
        "00 00 00 00 12 00 00 00 01 00 00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00"
    )
    assert block.decode_numeric(encoded, 2, "u8", checksums=False) == [0, 1]
    assert block.build(b"", plain.encode([0, 1], "u8"), checksums=False) == encoded
    with pytest.raises(OracleError, match="checksum"):
        block.decode_numeric(encoded, 2, "u8")


@pytest.mark.parametrize("example", BINARY_BLOCKS, ids=lambda example: example.name)
def test_binary_block_example(example: BinaryBlock) -> None:
    encoded = bytes.fromhex(example.dump)
    assert block.decode_binary(encoded, len(example.values), example.fixed_size) == example.values
    if example.name not in ("lz4", "zstd with nested offsets"):
        assert block.build(example.presence, example.region()) == encoded


def test_dictionary_codes_bit_packed() -> None:
    values = [None, b"a", b"a", None, b"bcd"]
    encoded = binary_dictionary.encode(values, entries=[b"", b"a", b"bcd"], nested_codes=fl_bit_pack.encode)
    assert len(encoded) == 0x128
    assert encoded[16:44] == bytes.fromhex("02 00 02 00 00 00 00 00") + pack([0, 2, 2, 0, 3], "u4")
    assert len(block.build(presence.encode([False, True, True, False, True]), encoded)) == 320


def test_rows_with_ffor_offsets() -> None:
    values = [b"row-%03d" % i for i in range(400)]
    encoded = binary_lz4.encode(values, nested_offsets=ffor.encode)
    _, payload_size, _, _ = struct.unpack_from("<HIBB", encoded)
    offsets = encoded[8 + (payload_size + 7) // 8 * 8 :]
    assert offsets[:16] == bytes.fromhex("04 00" + "00" * 8 + "0c" + "00" * 5)
    assert len(offsets) == 16 + 1536
    assert region.decode(encoded, 400, None, [True] * 400) == values


@pytest.mark.parametrize(
    ("dump", "present", "negated"),
    [
        ("03 01 3a 30 00 00 01 00 00 00 00 00 00 00 10 00 00 00 03 00", [i != 3 for i in range(200)], True),
        ("03 00 3a 30 00 00 01 00 00 00 00 00 00 00 10 00 00 00 96 00", [i == 150 for i in range(200)], False),
        ("03 01 3a 30 00 00 01 00 00 00 00 00 00 00 10 00 00 00 07 00", [i != 7 for i in range(200)], True),
    ],
)
def test_roaring_example(dump: str, present: list[bool], negated: bool) -> None:
    assert presence.decode(bytes.fromhex(dump), 200) == present
    assert presence.encode(present, presence.ROARING, negated) == bytes.fromhex(dump)


@pytest.mark.parametrize("name", BLOCK_MAPS)
def test_block_map_example(name: str) -> None:
    blocks, dump = BLOCK_MAPS[name]
    assert block_map.decode(bytes.fromhex(dump)) == blocks
    assert block_map.encode(blocks) == bytes.fromhex(dump)


def test_block_map_of_two_segments() -> None:
    tail = """00 00 20 00 00 00 00 00 00 00 40 00 00 00 00 00 00 08 00 00 00 10 00 00 08 08 01 00 00 00 00 00
              00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 20 00 00 00 00 00 00 08 20 00 00 00 00 00
              00 00 00 00 00 00 00 00 20 08 00 00 00 00 00 00 48 08 00 00 00 00 00 00 00 08 20 00 00 00 00 00
              01 04 00 00 00 00 00 00 02 00 00 00 00 00 00 00 00 04 00 00 00 00 00 00 00 10 40 00 00 00 00 00"""
    encoded = block_map.encode([(2048, 4096)] * 1025)
    assert len(encoded) == 2208
    assert encoded[0x820:] == bytes.fromhex(tail)
    assert block_map.decode(encoded) == [(2048, 4096)] * 1025


def test_dictionary_example() -> None:
    values = [b"aaa", b"abcdefghijk", None, b"1234567"]
    parts = {
        0x000: """0a 04 00 00 00 01 02 00 00 00 00 00 00 00 80 00 00 00 00 00 00 00 f0 00 00 00 00 00 00 00 f0 00
                  00 00 00 00 00 00 70 01 00 00 00 00 00 00 70 01 00 00 00 00 00 00 d0 01 00 00 00 00 00 00 00 00""",
        0x07C: "d6 23 15 9f",
        0x080: """15 00 00 00 00 00 00 00 61 61 61 61 62 63 64 65 66 67 68 69 6a 6b 31 32 33 34 35 36 37 00 00 00""",
        0x0EC: "be a9 72 0d",
        0x0F0: """28 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 0e 00 00 00 00 00 00 00
                  0e 00 00 00 00 00 00 00 15 00 00 00 00 00 00 00""",
        0x16C: "a8 7d 35 88",
        0x170: "0c 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
        0x1CC: "6f 5d 7b a1",
    }
    encoded = bytearray(512)
    for at, dump in parts.items():
        part = bytes.fromhex(dump)
        encoded[at : at + len(part)] = part
    assert dictionary.decode(bytes(encoded)) == values
    assert dictionary.decode_sorted_ids(bytes(encoded)) == [3, 0, 1]
    assert dictionary.encode(values) == encoded


def test_dictionary_of_guids() -> None:
    encoded = dictionary.encode([bytes(range(16)), None], "Guid", 16)
    assert encoded[:14] == bytes.fromhex("0b 02 00 00 00 01 01 00 00 00 10 00 00 00")
    assert struct.unpack_from("<6Q", encoded, 14) == (128, 240, 240, 240, 240, 320)
    assert len(encoded) == 320
    assert encoded[124:128] == bytes.fromhex("31 f6 61 36")
    assert dictionary.decode(encoded) == [bytes(range(16)), None]
    assert dictionary.decode_sorted_ids(encoded) == [0]
    assert dictionary.decode_sorted_ids(dictionary.encode([b"x"], sorted_ids=False)) is None


# ALP's powers of ten

F32 = """3f800000 3f800000 41200000 3dcccccd 42c80000 3c23d70a 447a0000 3a83126f 461c4000 38d1b717 47c35000 3727c5ac
49742400 358637bd 4b189680 33d6bf95 4cbebc20 322bcc77 4e6e6b28 3089705f 501502f9 2edbe6ff"""
F64 = """3ff0000000000000 3ff0000000000000 4024000000000000 3fb999999999999a 4059000000000000 3f847ae147ae147b
408f400000000000 3f50624dd2f1a9fc 40c3880000000000 3f1a36e2eb1c432d 40f86a0000000000 3ee4f8b588e368f1
412e848000000000 3eb0c6f7a0b5ed8d 416312d000000000 3e7ad7f29abcaf48 4197d78400000000 3e45798ee2308c3a
41cdcd6500000000 3e112e0be826d695 4202a05f20000000 3ddb7cdfd9d7bdbb 42374876e8000000 3da5fd7fe1796495
426d1a94a2000000 3d719799812dea11 42a2309ce5400000 3d3c25c268497682 42d6bcc41e900000 3d06849b86a12b9b
430c6bf526340000 3cd203af9ee75616 4341c37937e08000 3c9cd2b297d889bc 4376345785d8a000 3c670ef54646d497
43abc16d674ec800 3c32725dd1d243ac 43e158e460913d00 3bfd83c94fb6d2ac 4415af1d78b58c40 3bc79ca10c924223
444b1ae4d6e2ef50 3b92e3b40a0e9b4f 4480f0cf064dd592 3b5e392010175ee6 44b52d02c7e14af6 3b282db34012b251"""


@pytest.mark.parametrize(("dtype", "table"), [("f4", F32), ("f8", F64)])
def test_powers_of_ten(dtype: str, table: str) -> None:
    expected = [int(word, 16) for word in table.split()]
    assert [alp.to_bits(value, dtype) for value in alp.F10[dtype]] == expected[::2]
    assert [alp.to_bits(value, dtype) for value in alp.IF10[dtype]] == expected[1::2]


def test_catalogs_name_every_encoding_by_its_code() -> None:
    for code, module in section.CATALOG.items():
        assert code in (module.CODES if module is truncate else [module.CODE])
    for code, module in region.CATALOG.items():
        assert code == module.CODE


def test_types() -> None:
    assert [size_of(dtype) for dtype in ALL] == [1, 2, 4, 8, 1, 2, 4, 8, 4, 8]
