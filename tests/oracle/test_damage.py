"""What does the oracle say to bytes that break the format?"""

import struct
from collections.abc import Callable
from contextlib import suppress

import pytest
from pyroaring import BitMap

from tests.oracle import block, block_map, codec, dictionary, presence, section
from tests.oracle.binary import block_dictionary as binary_dictionary
from tests.oracle.binary import fsst, region
from tests.oracle.binary import lz4 as binary_lz4
from tests.oracle.binary import plain as binary_plain
from tests.oracle.binary import single_value as binary_single
from tests.oracle.binary import zstd as binary_zstd
from tests.oracle.common import OracleError, pack
from tests.oracle.examples import BINARY_BLOCKS, SECTIONS, BinaryBlock, Example
from tests.oracle.numeric import (
    alp,
    alprd,
    block_dictionary,
    delta,
    ffor,
    fl_bit_pack,
    frame_of_reference,
    lz4,
    plain,
    run_length,
    single_value,
    sparse,
    truncate,
    zig_zag,
    zstd,
)


def changed(data: bytes, at: int, replacement: bytes) -> bytes:
    return data[:at] + replacement + data[at + len(replacement) :]


RUNS = run_length.encode([1, 1, 2], "u4")
ONES = plain.encode([1, 1, 1], "u4")

INVALID: dict[str, tuple[bytes, str]] = {
    "no code": (b"\1", "u4"),
    "code 0": (bytes(20), "u4"),
    "code 15": (bytes.fromhex("0f 00") + bytes(30), "u4"),
    "code 20": (bytes.fromhex("14 00") + bytes(30), "u4"),
    "plain too short": (ONES[:-1], "u4"),
    "plain too long": (ONES + b"\0", "u4"),
    "bit pack for signed": (fl_bit_pack.encode([1, 1, 1], "u4"), "i4"),
    "bit pack width 0": (changed(fl_bit_pack.encode([1, 1, 1], "u4"), 2, b"\0"), "u4"),
    "bit pack width 33": (changed(fl_bit_pack.encode([1, 1, 1], "u4", 32), 2, b"\x21") + bytes(128), "u4"),
    "bit pack without chunk": (fl_bit_pack.encode([], "u4"), "u4"),
    "bit pack cut": (fl_bit_pack.encode([1, 1, 1], "u4")[:-1], "u4"),
    "ffor for floats": (ffor.encode([1, 1, 1], "u4"), "f4"),
    "ffor width 0": (changed(ffor.encode([1, 1, 1], "u4"), 6, b"\0"), "u4"),
    "for with a short section": (frame_of_reference.encode([1, 1], "u4", plain.encode), "u4"),
    "for without section": (frame_of_reference.encode([1, 1, 1], "u4", lambda v, t: b""), "u4"),
    "delta of too few": (delta.encode([1, 1], "u4", plain.encode), "u4"),
    "runs of too few": (run_length.encode([1, 1], "u4"), "u4"),
    "runs of too many": (run_length.encode([1, 1, 2, 2], "u4"), "u4"),
    "runs without lengths": (RUNS[:-1], "u4"),
    "runs without values": (changed(RUNS, 6, b"\3"), "u4"),
    "runs with a wrong size": (changed(RUNS, 2, b"\7"), "u4"),
    "runs beyond the oracle": (changed(run_length.encode([1], "u4", single_value.encode), 6, b"\xff" * 4), "u4"),
    "single value too short": (single_value.encode([1], "u4")[:-1], "u4"),
    "truncate for unsigned": (truncate.encode([1, 1, 1], "i4", "u1"), "u4"),
    "truncate for one byte": (truncate.encode([1, 1, 1], "i4", "u1"), "i1"),
    "truncate to a wider type": (truncate.encode([1, 1, 1], "i8", "u8"), "i4"),
    "truncate raw too long": (truncate.encode([1, 1, 1, 1], "i4", "u1"), "i4"),
    "zigzag for unsigned": (zig_zag.encode([1, 1, 1], "i4"), "u4"),
    "zigzag raw too short": (zig_zag.encode([1, 1], "i4"), "i4"),
    "alp for integers": (alp.encode([0, 0, 0], "f4", 1, 0, plain.encode), "u4"),
    "alp exponent 11": (changed(alp.encode([0, 0, 0], "f4", 1, 0, plain.encode), 8, b"\x0b"), "f4"),
    "alp factor 24": (changed(alp.encode([0, 0, 0], "f8", 1, 0, plain.encode), 9, b"\x18"), "f8"),
    "alp exception too far": (alp.encode([0, 0, 0, 1 << 31], "f4", 1, 0, lambda v, t: plain.encode(v[:3], t)), "f4"),
    "alp exceptions cut": (alp.encode([0, 0, 1 << 31], "f4", 1, 0, plain.encode)[:-1], "f4"),
    "alp exceptions with more": (alp.encode([0, 0, 1 << 31], "f4", 1, 0, plain.encode) + b"\0", "f4"),
    "alprd nine entries": (
        alprd.encode([0, 0, 0], "f4", 16, plain.encode, plain.encode, list(range(9))),
        "f4",
    ),
    "alprd index": (
        alprd.encode([0, 0, 0], "f4", 16, lambda v, t: plain.encode([1] * 3, t), plain.encode, [0]),
        "f4",
    ),
    "alprd exceptions with more": (alprd.encode([0, 0, 1], "f4", 16, plain.encode, plain.encode, [7]) + b"\0", "f4"),
    "alprd right bits": (changed(alprd.encode([0, 0, 0], "f4", 16, plain.encode, plain.encode), 12, b"\x20"), "f4"),
    "dictionary code": (block_dictionary.encode([1, 2, 3], "u4", lambda v, t: plain.encode([1, 2, 4], t)), "u4"),
    "dictionary cut": (block_dictionary.encode([1, 2, 3], "u4", plain.encode)[:-1], "u4"),
    "zstd of too few": (zstd.encode([1, 1], "u4"), "u4"),
    "zstd cut": (zstd.encode([1, 1, 1], "u4")[:-1], "u4"),
    "zstd with more": (zstd.encode([1, 1, 1], "u4") + b"\0", "u4"),
    "zstd without frame": (zstd.encode([], "u4")[:8], "u4"),
    "lz4 of too many": (lz4.encode([1, 1, 1, 1], "u4"), "u4"),
    "lz4 cut": (lz4.encode([1, 1, 1], "u4")[:-1], "u4"),
    "lz4 with more": (lz4.encode([1, 1, 1], "u4") + b"\0", "u4"),
    "lz4 with a wrong size": (changed(lz4.encode([1, 1], "u4"), 8, b"\x0c"), "u4"),
    "sparse position": (sparse.encode([0, 0, 0, 1], "u4"), "u4"),
    "sparse cut": (sparse.encode([1, 0, 1], "u4")[:-1], "u4"),
    "nested too deeply": (bytes.fromhex("03 00 00 00 00 00 00 00") * 5000, "u4"),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_section(name: str) -> None:
    encoded, dtype = INVALID[name]
    with pytest.raises(OracleError):
        section.decode(encoded, 3, dtype)


def test_what_readers_skip() -> None:
    assert section.decode(single_value.encode([4], "u2") + b"more", 3, "u2") == [4, 4, 4]
    assert section.decode(RUNS + b"more", 3, "u4") == [1, 1, 2]
    assert section.decode(sparse.encode([0, 3, 0], "u4") + b"more", 3, "u4") == [0, 3, 0]
    assert section.decode(block_dictionary.encode([4, 3, 4], "u4", plain.encode) + b"more", 3, "u4") == [4, 3, 4]
    assert section.decode(alp.encode([0, 0, 0], "f4", 1, 0, plain.encode) + b"more", 3, "f4") == [0, 0, 0]
    assert section.decode(alprd.encode([5, 5, 5], "f4", 16, plain.encode, plain.encode) + b"x", 3, "f4") == [5, 5, 5]
    two_frames = zstd.encode([1], "u4") + codec.zstd_compress(pack([2, 3], "u4"))
    assert section.decode(two_frames, 3, "u4") == [1, 2, 3]


SYMBOL_TABLE = fsst.encode([b"abc", b"ab", b""], symbols=[b"ab", b"c"])

INVALID_REGIONS: dict[str, tuple[bytes, int | None]] = {
    "no code": (b"\1", None),
    "code of numbers": (run_length.encode([1, 1, 1], "u4"), None),
    "plain for another size": (binary_plain.encode([b"abc"] * 3), 3),
    "plain without offsets": (binary_plain.encode([b"abc"] * 3, 3), None),
    "plain cut": (binary_plain.encode([b"abc"] * 3)[:-1], None),
    "plain with more": (binary_plain.encode([b"abc"] * 3) + b"\0", None),
    "plain of one size cut": (binary_plain.encode([b"abc"] * 3, 3)[:-1], 3),
    "plain first offset": (changed(binary_plain.encode([b"abc"] * 3), 3, b"\1"), None),
    "plain decreasing": (changed(binary_plain.encode([b"abc"] * 3), 11, b"\7"), None),
    "single value of another size": (binary_single.encode([b"abc"]), 4),
    "dictionary code": (binary_dictionary.encode([b"a"] * 3, nested_codes=lambda v, t: plain.encode([2] * 3, t)), None),
    "dictionary without entries": (binary_dictionary.encode([None] * 3, entries=[]), None),
    "dictionary cut": (binary_dictionary.encode([b"a", b"bc", None])[:-1], None),
    "dictionary of one size cut": (binary_dictionary.encode([b"aa", b"bc", None], 2)[:-1], 2),
    "dictionary lengths": (changed(binary_dictionary.encode([b"a", b"bc", None]), 6, b"\7"), None),
    "fsst code": (changed(SYMBOL_TABLE, 16 + 18, b"\2"), None),
    "fsst dangling escape": (changed(SYMBOL_TABLE, 16 + 20, b"\xff"), None),
    "fsst symbol of 0 bytes": (changed(SYMBOL_TABLE, 16 + 16, b"\0"), None),
    "fsst symbol of 9 bytes": (changed(SYMBOL_TABLE, 16 + 16, b"\x09"), None),
    "fsst codes cut": (changed(SYMBOL_TABLE, 3, b"\xff"), None),
    "fsst offset width": (changed(SYMBOL_TABLE, 8, b"\4"), None),
    "zstd cut": (changed(binary_zstd.encode([b"abc"] * 3), 2, b"\5"), None),
    "zstd of another size": (binary_zstd.encode([b"abc"] * 4, 3), 3),
    "zstd without padding": (binary_zstd.encode([b"abc"] * 3, 3)[:-1], 3),
    "lz4 of another size": (binary_lz4.encode([b"abc"] * 4, 3), 3),
    "lz4 without block": (changed(binary_lz4.encode([b""] * 3), 2, b"\4"), None),
    "lz4 offsets too many": (binary_lz4.encode([b"abc"] * 3) + bytes(8), None),
    "lz4 offsets too few": (binary_lz4.encode([b"abc"] * 2), None),
    "lz4 offset width": (changed(binary_lz4.encode([b"abc"] * 3), 6, b"\0"), None),
    "truncated offsets": (
        binary_lz4.encode([b""] * 3, nested_offsets=lambda v, t: truncate.encode(v, "i8", "u1")),
        None,
    ),
}


@pytest.mark.parametrize("name", INVALID_REGIONS)
def test_invalid_region(name: str) -> None:
    encoded, fixed_size = INVALID_REGIONS[name]
    with pytest.raises(OracleError):
        region.decode(encoded, 3, fixed_size, [True] * 3)


@pytest.mark.parametrize(
    "encoded",
    [b"\4", b"\2\1\1", b"\2\1\1\1\1", b"\3", b"\3\1", b"\3\1" + bytes(8), b"\3\0" + BitMap([3]).serialize()],
)
def test_invalid_presence(encoded: bytes) -> None:
    with pytest.raises(OracleError):
        presence.decode(encoded, 3)


@pytest.mark.parametrize("encoded", [b"", b"abc", bytes(4), bytes(7)])
def test_invalid_block(encoded: bytes) -> None:
    with pytest.raises(OracleError):
        block.open_block(encoded)
    with pytest.raises(OracleError):
        block.open_block(encoded, checksums=False)


def test_block_of_wrong_sizes() -> None:
    for sizes in [(1, 0), (0, 1), (9, 0), (1 << 31, 1 << 31)]:
        with pytest.raises(OracleError):
            block.open_block(struct.pack("<II", *sizes), checksums=False)
    sound = block.build(b"", plain.encode([1], "u4"), checksums=False)
    assert block.decode_numeric(sound + bytes(80), 1, "u4", checksums=False) == [1]


def sweep(encoded: bytes, decode: Callable[[bytes], object]) -> None:
    """Every flipped bit is an `OracleError` or goes through; nothing else may happen."""
    decode(encoded)
    for at in range(min(len(encoded), 160)):
        for bit in range(8):
            with suppress(OracleError):
                decode(changed(encoded, at, bytes([encoded[at] ^ 1 << bit])))


@pytest.mark.parametrize("example", SECTIONS[1:], ids=lambda example: example.name)
def test_damaged_section(example: Example) -> None:
    count = len(example.values)
    sweep(bytes.fromhex(example.dump), lambda data: section.decode(data, count, example.dtype))


@pytest.mark.slow
@pytest.mark.parametrize("example", BINARY_BLOCKS, ids=lambda example: example.name)
def test_damaged_region(example: BinaryBlock) -> None:
    count = len(example.values)
    sweep(example.region(), lambda data: region.decode(data, count, example.fixed_size, [True] * count))


def test_damaged_rest() -> None:
    sweep(block_map.encode([(3, 32), (5, 800), (1, 8)], 2), block_map.decode)
    sweep(dictionary.encode([b"a", None, b"bc"]), dictionary.decode)
    sweep(presence.encode([True, False] * 20, presence.ROARING), lambda data: presence.decode(data, 40))
    runs = presence.encode([False] * 20 + [True] * 20, presence.ROARING, runs=True)
    sweep(runs, lambda data: presence.decode(data, 40))
