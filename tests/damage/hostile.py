"""Blocks that nobody makes by accident: sound envelopes and checksums around claims that cannot be true."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import zstandard
from pyroaring import BitMap

from tests.damage.blocks import changed
from tests.oracle import block, codec, presence
from tests.oracle.binary import block_dictionary as binary_dictionary
from tests.oracle.binary import fsst, lz4_shared, zstd_shared
from tests.oracle.binary import lz4 as binary_lz4
from tests.oracle.binary import plain as binary_plain
from tests.oracle.binary import single_value as binary_single
from tests.oracle.binary import snappy as binary_snappy
from tests.oracle.binary import zstd as binary_zstd
from tests.oracle.common import ALL, UNSIGNED, align8, bits_of, make_header, pack, pad8, size_of
from tests.oracle.numeric import (
    alp,
    alprd,
    block_dictionary,
    chimp,
    delta,
    ffor,
    fl_bit_pack,
    frame_of_reference,
    lz4,
    patched,
    pco,
    plain,
    run_length,
    single_value,
    snappy,
    sparse,
    truncate,
    zig_zag,
    zstd,
)

MANY = 4_000_000_000


@dataclass(frozen=True)
class Numbers:
    """A section of numbers, and how many of them its block map says there are."""

    dtype: str
    section: bytes
    count: int = 3


@dataclass(frozen=True)
class Binaries:
    """A region of byte values; `size` is None for values of any length."""

    region: bytes
    count: int = 3
    size: int | None = None


def _ones(dtype: str) -> bytes:
    return single_value.encode([1], dtype)


def _lz4(payload: str, size: int) -> bytes:
    """A section with this LZ4 block, which claims to hold `size` bytes."""
    return make_header(lz4.CODE, lz4.FIELDS) + struct.pack("<I", size) + bytes.fromhex(payload)


def _run_length(runs: int, values: bytes, lengths: bytes) -> bytes:
    header = make_header(run_length.CODE, run_length.FIELDS, len(values), runs, 1, 1)
    return header + pad8(values) + lengths


def _sparse(filled: int, positions: bytes, values: bytes) -> bytes:
    return make_header(sparse.CODE, sparse.FIELDS, filled, len(positions), 1, 1) + pad8(positions) + values


def _dictionary(entries: int, codes: bytes, values: bytes, nested: bool) -> bytes:
    return make_header(block_dictionary.CODE, block_dictionary.FIELDS, len(codes), entries, nested) + codes + values


def _widths() -> dict[str, Numbers]:
    found = {}
    for dtype in UNSIGNED:
        bits = bits_of(dtype)
        for width in (0, bits + 1, 255):
            packed = make_header(fl_bit_pack.CODE, fl_bit_pack.FIELDS, width) + bytes(128 * width)
            found[f"bit pack of {width} in {dtype}"] = Numbers(dtype, packed)
            header = make_header(ffor.CODE, ffor.FIELDS[dtype[1]], 1, width)
            found[f"ffor of {width} in {dtype}"] = Numbers(dtype, header + bytes(128 * width))
        short = fl_bit_pack.encode([1] * 1024, dtype)
        found[f"bit pack without its second chunk in {dtype}"] = Numbers(dtype, short, 1025)
        found[f"bit pack of billions in {dtype}"] = Numbers(dtype, short, MANY)
    return found


def _depths() -> dict[str, Numbers]:
    levels = {
        "for": (frame_of_reference.encode([1], "u8", lambda v, t: b""), "u8"),
        "delta": (delta.encode([1], "i8", lambda v, t: b""), "i8"),
        "delta of bytes": (delta.encode([1], "u1", lambda v, t: b""), "u1"),
    }
    found = {f"100 of {name}": Numbers(t, header * 100 + _ones(t), 1000) for name, (header, t) in levels.items()}
    cascade = plain.encode([1, 2, 3], "u4")
    lengths = pack([1, 1, 1], "u4")
    for _ in range(100):
        head = make_header(run_length.CODE, run_length.FIELDS, len(cascade), 3, 1, 0)
        cascade = head + pad8(cascade) + lengths
    found["100 of run length"] = Numbers("u4", cascade)
    cascade = plain.encode([1, 2, 3], "u4")
    for _ in range(100):
        cascade = _run_length(3, _ones("u4"), cascade)
    found["100 of run length in lengths"] = Numbers("u4", cascade)
    cascade = plain.encode([1, 2, 3], "u4")
    for _ in range(100):
        cascade = _dictionary(3, plain.encode([1, 2, 3], "u4"), cascade, nested=True)
    found["100 of dictionaries"] = Numbers("u4", cascade)
    cascade = plain.encode([0, 1, 2], "u4")
    for _ in range(100):
        cascade = _sparse(3, cascade, plain.encode([0, 1, 2], "u4"))
    found["100 of sparse"] = Numbers("u4", cascade)
    # Headers of two bytes more or less at every level: no section begins where the reference would put it.
    odd = plain.encode([1, 1, 1], "u4")
    for _ in range(14):
        odd = _run_length(3, _ones("u4"), odd)
    left = make_header(alprd.CODE, alprd.FIELDS, len(odd), 10, 0, 16, 1) + pack([0], "u2") + odd
    found["run lengths off their place, 14 deep"] = Numbers("f4", left + _ones("u4"))
    return found


def _claims() -> dict[str, Numbers]:
    """More values than the bytes can hold, by a factor of billions."""
    found = {}
    for dtype in ALL:
        one = _ones(dtype)
        found[f"runs {dtype}"] = Numbers(dtype, _run_length(MANY, one, _ones("u4")))
        found[f"runs of billions {dtype}"] = Numbers(dtype, _run_length(MANY, one, _ones("u4")), MANY)
        found[f"entries {dtype}"] = Numbers(dtype, _dictionary(MANY, _ones("u4"), one, nested=True))
        found[f"entries of billions {dtype}"] = Numbers(dtype, _dictionary(MANY, _ones("u4"), one, nested=True), MANY)
        found[f"raw entries {dtype}"] = Numbers(dtype, _dictionary(MANY, _ones("u4"), bytes(64), nested=False), MANY)
        found[f"positions {dtype}"] = Numbers(dtype, _sparse(MANY, _ones("u4"), one))
        found[f"positions of billions {dtype}"] = Numbers(dtype, _sparse(MANY, _ones("u4"), one), MANY)
        size = size_of(dtype)
        found[f"lz4 {dtype}"] = Numbers(
            dtype, _lz4("1f 00 01 00 ff ff ff ff 00", 0xFFFFFFFF // size * size), MANY // size
        )
        bomb = make_header(zstd.CODE, zstd.FIELDS) + codec.zstd_compress(bytes(1000))
        found[f"zstd {dtype}"] = Numbers(dtype, bomb, MANY)
        head = make_header(snappy.CODE, snappy.FIELDS)
        found[f"snappy {dtype}"] = Numbers(dtype, head + _varint(MANY * size) + bytes(20), MANY)
    return found


def _exceptions() -> dict[str, Numbers]:
    tenths = [alp.to_bits(value / 10, "f8") for value in (1, 2, 3)]
    odd = [*tenths[:2], 1 << 63]
    sound = alp.encode(odd, "f8", 1, 0, plain.encode)
    left = alprd.encode([5, 6, 1 << 63 | 7], "f8", 52, plain.encode, plain.encode, [0])
    position = len(sound) - 12
    last = len(left) - 6
    return {
        "alp with more exceptions than values": Numbers("f8", changed(sound, 6, "H", 4)),
        "alp with 65535 exceptions": Numbers("f8", changed(sound, 6, "H", 65535)),
        "alp exception at n": Numbers("f8", changed(sound, position, "I", 3)),
        "alp exception at 2**32 - 1": Numbers("f8", changed(sound, position, "I", 0xFFFFFFFF)),
        "alp integers of 4 GiB": Numbers("f8", changed(sound, 2, "I", 0xFFFFFFFF)),
        "alp exponent 24": Numbers("f8", changed(sound, 8, "B", 24)),
        "alp factor 255": Numbers("f8", changed(sound, 9, "B", 255)),
        "alprd with more exceptions than values": Numbers("f8", changed(left, 10, "H", 4)),
        "alprd exception at n": Numbers("f8", changed(left, last, "I", 3)),
        "alprd right width 64": Numbers("f8", changed(left, 12, "B", 64)),
        "alprd right bits beyond their width": Numbers("f8", changed(left, 12, "B", 1)),
        "alprd of nine entries": Numbers("f8", changed(left, 13, "B", 9)),
        "alprd index": Numbers(
            "f8", alprd.encode([0] * 3, "f8", 52, lambda v, t: plain.encode([0, 0, 1], t), plain.encode, [0])
        ),
        "sparse position at n": Numbers("u4", sparse.encode([0, 0, 0, 9], "u4")),
        "more sparse positions than values": Numbers("u4", sparse.encode([1, 2, 3, 4], "u4")),
        "code beyond the entries": Numbers("u4", _dictionary(1, plain.encode([1, 0, 2], "u4"), pack([7], "u4"), False)),
        "run lengths of too few": Numbers("u4", run_length.encode([1, 1], "u4")),
        "run lengths that wrap": Numbers("u4", _run_length(2, _ones("u4"), plain.encode([0xFFFFFFFF, 4], "u4"))),
        "truncate cut": Numbers("i8", truncate.encode([1, 2, 3], "i8", "u2")[:-1]),
        "zigzag cut": Numbers("i8", zig_zag.encode([1, 2, 3], "i8")[:-1]),
        "unknown code": Numbers("u4", pack([4711], "u2") + bytes(40)),
        "code 0": Numbers("u4", bytes(40)),
        "code of byte values": Numbers("u4", pack([15], "u2") + bytes(40)),
        "no code": Numbers("u4", b"\1"),
        "nothing": Numbers("u4", b""),
    }


def _patched() -> dict[str, Numbers]:
    def made(width: int, excess: int, exceptions: int, tail: bytes, dtype: str = "u4", count: int = 3) -> Numbers:
        fields = patched.FIELDS[dtype[1]]
        return Numbers(dtype, make_header(patched.CODE, fields, width, excess, exceptions, 5, 1) + tail, count)

    return {
        "patched width 33": made(33, 0, 0, bytes(13)),
        "patched width 255": made(255, 0, 0, bytes(96)),
        "patched exceptions of 33 bits": made(0, 33, 1, bytes(6)),
        "patched with more exceptions than values": made(0, 8, 4, bytes(5)),
        "patched with billions of exceptions": made(0, 1, 0xFFFFFFFF, bytes(5)),
        "patched without its exceptions": made(0, 8, 1, b""),
        "patched with more behind it": made(0, 8, 1, bytes(3)),
        "patched position beyond the last": made(0, 8, 1, b"\3\0"),
        "patched positions that repeat": made(0, 8, 2, b"\5\1\1"),
        "patched positions that descend": made(0, 8, 2, b"\1\1\1"),
        "patched of billions": made(8, 0, 0, bytes(300), count=MANY),
        "patched header cut": Numbers("u8", made(0, 0, 0, b"", "u4").section, 3),
    }


def _chimps() -> dict[str, Numbers]:
    head = make_header(chimp.CODE, chimp.FIELDS)
    three = chimp.encode([1, 2, 3], "f4")
    return {
        "chimp of nothing": Numbers("f4", head),
        "chimp of half a value": Numbers("f8", head + bytes(4)),
        "chimp cut": Numbers("f4", three[:-1]),
        "chimp with more behind it": Numbers("f4", three + b"\0"),
        "chimp with leading zeros of no difference": Numbers("f4", head + bytes(4) + b"\2" + bytes(8)),
        "chimp with a difference of no bits": Numbers("f4", head + bytes(4) + b"\1" + bytes(8)),
        "chimp with a difference of too many bits": Numbers("f4", head + bytes(4) + b"\xfd\xff" + bytes(8)),
        "chimp of billions": Numbers("f4", three, MANY),
    }


def _snappy(block: str) -> bytes:
    return make_header(snappy.CODE, snappy.FIELDS) + bytes.fromhex(block)


def _varint(number: int) -> bytes:
    groups = []
    while number >= 0x80:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def _compressed() -> dict[str, Numbers]:
    plenty = zstandard.ZstdCompressor().compress(bytes(1 << 30))
    wide = struct.pack("<IBB", 0xFD2FB528, 0, (31 - 10) << 3) + bytes.fromhex("01 00 00")
    stated = struct.pack("<IBQ", 0xFD2FB528, 0b11100000, 1 << 60) + bytes.fromhex("01 00 00")
    head = make_header(zstd.CODE, zstd.FIELDS)
    return {
        # Literals, then a match: distance, length. 12 bytes are three of u4.
        "lz4 distance 0": Numbers("u4", _lz4("10 41 00 00 50 41 41 41 41 41", 12)),
        "lz4 distance beyond the start": Numbers("u4", _lz4("10 41 02 00 50 41 41 41 41 41", 12)),
        "lz4 distance 65535": Numbers("u4", _lz4("40 41 41 41 41 ff ff 50 41 41 41 41 41", 12)),
        "lz4 cut in a length": Numbers("u4", _lz4("ff ff ff ff", 12)),
        "lz4 cut in literals": Numbers("u4", _lz4("c0 41 41", 12)),
        "lz4 cut in a distance": Numbers("u4", _lz4("10 41 01", 12)),
        "lz4 cut behind a match": Numbers("u4", _lz4("17 41 01 00", 12)),
        "lz4 with overlong literals": Numbers("u4", _lz4("d0" + "41" * 13, 12)),
        "lz4 with an overlong match": Numbers("u4", _lz4("1f 41 01 00 ff ff ff 00", 12)),
        "lz4 with more behind it": Numbers("u4", _lz4("c0" + "41" * 12 + "10 41", 12)),
        "lz4 of nothing": Numbers("u4", _lz4("", 12)),
        "lz4 of another size": Numbers("u4", _lz4("c0" + "41" * 12, 13)),
        "zstd bomb": Numbers("u4", head + plenty),
        "zstd bomb without its size": Numbers("u4", head + codec.zstd_compress(bytes(1 << 24))),
        "zstd of a window of 2 GiB": Numbers("u4", head + wide),
        "zstd that states 2**60 bytes": Numbers("u4", head + stated),
        "zstd of noise": Numbers("u4", head + bytes(range(100))),
        "zstd of nothing": Numbers("u4", head),
        "zstd cut": Numbers("u4", zstd.encode([1, 2, 3], "u4")[:-1]),
        "zstd with more behind it": Numbers("u4", zstd.encode([1, 2, 3], "u4") + b"\0"),
        "zstd with another frame behind it": Numbers("u4", zstd.encode([1, 2, 3], "u4") + codec.zstd_compress(b"a")),
        "snappy distance 0": Numbers("u4", _snappy("0c 0f 41 41 41 41 1d 00")),
        "snappy distance beyond the start": Numbers("u4", _snappy("0c 0c 41 41 41 41 11 05")),
        "snappy cut in its size": Numbers("u4", _snappy("ff")),
        "snappy of a size without end": Numbers("u4", _snappy("ff ff ff ff ff ff 01")),
        "snappy cut in literals": Numbers("u4", _snappy("0c 2c 41 41")),
        "snappy cut in a length": Numbers("u4", _snappy("0c f4 41")),
        "snappy cut in a copy": Numbers("u4", _snappy("0c 00 41 02 01")),
        "snappy with overlong literals": Numbers("u4", _snappy("0c 30" + "41" * 13)),
        "snappy with an overlong copy": Numbers("u4", _snappy("0c 00 41 fe 01 00")),
        "snappy with more behind it": Numbers("u4", _snappy("0c 2c" + "41" * 12 + "00 41")),
        "snappy of another size": Numbers("u4", _snappy("0d 2c" + "41" * 12)),
        "snappy of nothing": Numbers("u4", _snappy("")),
        "pco of nothing": Numbers("u4", make_header(pco.CODE, pco.FIELDS)),
        "pco of noise": Numbers("u4", make_header(pco.CODE, pco.FIELDS) + bytes(range(100))),
        "pco cut": Numbers("u4", pco.encode(list(range(3)), "u4")[:-1]),
        "pco with more behind it": Numbers("u4", pco.encode(list(range(3)), "u4") + b"\0"),
        "pco of another type": Numbers("u4", pco.encode(list(range(3)), "f8")),
        "sized zstd with more behind it": Numbers("u4", head + zstandard.ZstdCompressor().compress(bytes(12)) + b"\0"),
    }


NUMBERS: dict[str, Numbers] = {
    **_widths(),
    **_depths(),
    **_claims(),
    **_exceptions(),
    **_compressed(),
    **_patched(),
    **_chimps(),
}


def _roaring(*words: int, tail: bytes = b"") -> bytes:
    return bytes([presence.ROARING, 1]) + pack(list(words), "u4") + tail


def _runs(*runs: tuple[int, int], key: int = 0) -> bytes:
    """A bitmap of one run container: first position and length - 1 of each run."""
    flat = [number for run in runs for number in run]
    return _roaring(presence.COOKIE_WITH_RUNS, tail=b"\1" + pack([key, 0, len(runs), *flat], "u2"))


PRESENCE: dict[str, bytes] = {
    "unknown kind": b"\4",
    "bytes of too few": b"\2\1\1",
    "bytes of too many": b"\2\1\1\1\1",
    "roaring of nothing": b"\3",
    "roaring without a cookie": b"\3\1",
    "roaring of another cookie": _roaring(0, 0),
    "roaring of 65536 containers": _roaring(presence.COOKIE, 65536),
    "roaring of 2**32 - 1 containers": _roaring(presence.COOKIE, 0xFFFFFFFF),
    "roaring of 65536 containers with runs": _roaring(0xFFFF << 16 | presence.COOKIE_WITH_RUNS, tail=bytes(8192)),
    "roaring position at n": bytes([3, 1]) + BitMap([3]).serialize(),
    "roaring position far away": bytes([3, 0]) + BitMap([0xFFFFFFFF]).serialize(),
    "roaring array out of order": bytes([3, 1]) + BitMap([0, 2]).serialize()[:-4] + pack([2, 0], "u2"),
    "roaring array with a repetition": bytes([3, 1]) + BitMap([0, 2]).serialize()[:-4] + pack([2, 2], "u2"),
    "roaring containers out of order": _roaring(presence.COOKIE, 2, tail=pack([1, 0, 0, 0], "u2") + bytes(8 + 4)),
    "roaring run beyond its container": _runs((65535, 65535)),
    "roaring run beyond n": _runs((1, 2)),
    "roaring runs that overlap": _runs((0, 1), (1, 1)),
    "roaring runs out of order": _runs((2, 0), (0, 0)),
    "roaring runs of the last container": _runs((0, 0), key=65535),
    "roaring bitmap cut": bytes([3, 1]) + BitMap(range(0, 20000, 2)).serialize()[:-1],
    "roaring bitmap of another cardinality": changed(
        bytes([3, 1]) + BitMap(range(0, 20000, 2)).serialize(), 2 + 8 + 2, "H", 5000
    ),
    "roaring array cut": bytes([3, 1]) + BitMap([0, 2]).serialize()[:-1],
}


def _fsst(symbols: list[bytes], stream: bytes, offsets: list[int], lengths: bytes | None = None) -> bytes:
    table = b"".join(symbol.ljust(8, b"\0") for symbol in symbols)
    table += bytes(len(symbol) for symbol in symbols) if lengths is None else lengths
    header = make_header(fsst.CODE, fsst.FIELDS, len(symbols), len(stream), 0, 8)
    return header + pad8(table + stream) + pack(offsets, "u8")


def _symbols() -> dict[str, Binaries]:
    two = [b"ab", b"c"]
    long = bytes([0]) * 100
    return {
        "fsst code without symbol": Binaries(_fsst(two, b"\0\2\0", [0, 2, 4, 6])),
        "fsst code without symbol among many": Binaries(_fsst(two, long + b"\7" + long, [0, 2, 4, 400])),
        "fsst code 254": Binaries(_fsst(two, b"\xfe", [0, 0, 0, 1])),
        "fsst dangling escape": Binaries(_fsst(two, b"\0\0\xff", [0, 2, 4, 5])),
        "fsst dangling escape behind many": Binaries(_fsst(two, long + b"\xff", [0, 2, 4, 201])),
        "fsst symbol of 0 bytes": Binaries(_fsst(two, b"\0", [0, 0, 0, 2], b"\2\0")),
        "fsst symbol of 9 bytes": Binaries(_fsst(two, b"\0", [0, 0, 0, 2], b"\2\x09")),
        "fsst symbol of 255 bytes": Binaries(_fsst(two, b"\0", [0, 0, 0, 2], b"\xff\1")),
        "fsst stream too short": Binaries(_fsst(two, b"\0", [0, 0, 0, 3])),
        "fsst stream too long": Binaries(_fsst(two, b"\0\0", [0, 0, 0, 2])),
        "fsst stream that ends inside a symbol": Binaries(_fsst(two, b"\0\0", [0, 0, 0, 3])),
        "fsst without symbols": Binaries(_fsst([], b"\0", [0, 0, 0, 1])),
        "fsst of 255 symbols, cut": Binaries(changed(_fsst(two, b"\0", [0, 0, 0, 2]), 2, "B", 255)),
        "fsst of 4 GiB": Binaries(changed(_fsst(two, b"\0", [0, 0, 0, 2]), 3, "I", 0xFFFFFFFF)),
        "fsst that claims 4 GiB": Binaries(_fsst(two, b"\0", [0, 0, 0, 1 << 32])),
    }


def _offsets() -> dict[str, Binaries]:
    bad = {
        "descending": [0, 4, 2, 6],
        "beyond the data": [0, 2, 4, 7],
        "far beyond the data": [0, 2, 4, 1 << 40],
        "of 2**64 - 1": [0, 0, 0, (1 << 64) - 1],
        "that wrap": [0, (1 << 64) - 2, 2, 6],
        "that do not begin with 0": [1, 2, 4, 6],
        "that end too early": [0, 2, 4, 5],
    }
    found: dict[str, Binaries] = {}
    for what, offsets in bad.items():
        stored = pack(offsets, "u8")
        compressed = codec.zstd_compress(b"abcdef")
        framed = make_header(binary_zstd.CODE, binary_zstd.FIELDS, len(compressed), 8, 0) + pad8(compressed)
        squeezed = codec.lz4_compress(b"abcdef")
        packed = make_header(binary_lz4.CODE, binary_lz4.FIELDS, len(squeezed), 8, 0) + pad8(squeezed)
        found[f"plain, offsets {what}"] = Binaries(binary_plain.encode([b"ab"] * 3)[:3] + stored + b"abcdef")
        found[f"zstd, offsets {what}"] = Binaries(framed + stored)
        found[f"lz4, offsets {what}"] = Binaries(packed + stored)
        found[f"fsst, offsets {what}"] = Binaries(_fsst([b"abcdef"], b"\0", offsets))
        nested = changed(framed, 7, "B", 1) + plain.encode(offsets, "u8")
        found[f"zstd, nested offsets {what}"] = Binaries(nested)
    return found


def _lengths(codes: bytes, lengths: bytes, entries: int, nested: bool, data: bytes = b"abcdef") -> bytes:
    fields = binary_dictionary.FIELDS
    header = make_header(binary_dictionary.CODE, fields, len(codes), len(lengths), entries, nested)
    return header + pad8(codes) + lengths + data


def _far_match() -> bytes:
    """A block whose first match begins one byte before the dictionary."""
    distance = len(codec.DICTIONARY) + 1
    content = b"\x00" + distance.to_bytes(2, "little") + b"\x50abcde"
    payload = (9).to_bytes(4, "little") + content
    header = make_header(lz4_shared.CODE, lz4_shared.FIELDS, len(payload), 8, 0, codec.DICTIONARY_CHECKSUM, 0)
    return header + pad8(payload) + pack([0, 3, 6, 9], "u8")


def _entries() -> dict[str, Binaries]:
    codes = plain.encode([1, 2, 3], "u4")
    ones = _ones("u4")
    return {
        "dictionary code beyond the entries": Binaries(_lengths(codes, pack([2, 2], "u4"), 2, False)),
        "dictionary lengths beyond the entries": Binaries(_lengths(codes, pack([2, 2, 3], "u4"), 3, False)),
        "dictionary lengths that wrap": Binaries(_lengths(codes, pack([0xFFFFFFFF, 0xFFFFFFFF, 8], "u4"), 3, False)),
        "dictionary with too few lengths": Binaries(_lengths(codes, pack([2, 2], "u4"), 3, False)),
        "dictionary of billions": Binaries(_lengths(ones, ones, MANY, True)),
        "dictionary of billions in billions": Binaries(_lengths(ones, ones, MANY, True), MANY),
        "raw dictionary of billions": Binaries(_lengths(ones, pack([1], "u4"), MANY, False)),
        "dictionary of billions of nothing": Binaries(_lengths(ones, b"", MANY, False), size=0),
        "dictionary of a fixed size, cut": Binaries(_lengths(codes, b"", 3, False, b"ab" * 2), size=2),
        "dictionary without codes": Binaries(_lengths(b"", pack([2] * 3, "u4"), 3, False)),
        "dictionary with 4 GiB of codes": Binaries(
            changed(_lengths(codes, pack([2] * 3, "u4"), 3, False), 2, "I", 1 << 31)
        ),
        "dictionary with 4 GiB of lengths": Binaries(
            changed(_lengths(codes, pack([2] * 3, "u4"), 3, False), 6, "I", 0xFFFFFFFF)
        ),
        "single value of another size": Binaries(binary_single.encode([b"abc"]), size=4),
        "plain of another size": Binaries(binary_plain.encode([b"ab"] * 3, 2), size=3),
        "plain of the other width": Binaries(binary_plain.encode([b"ab"] * 3), size=2),
        "lz4 of a fixed size that claims 4 GiB": Binaries(
            changed(binary_lz4.encode([b"ab"] * 3, 2), 8, "I", 0xFFFFFFFF), size=2
        ),
        "lz4 of billions": Binaries(changed(binary_lz4.encode([b"a"] * 3, 1), 8, "I", MANY), MANY, 1),
        "zstd of billions": Binaries(binary_zstd.encode([b"a"] * 3, 1), MANY, 1),
        "zstd of 4 GiB": Binaries(changed(binary_zstd.encode([b"ab"] * 3), 2, "I", 0xFFFFFFFF)),
        "snappy of billions": Binaries(binary_snappy.encode([b"a"] * 3, 1), MANY, 1),
        "snappy of 4 GiB": Binaries(changed(binary_snappy.encode([b"ab"] * 3), 2, "I", 0xFFFFFFFF)),
        "snappy of another size": Binaries(changed(binary_snappy.encode([b"ab"] * 3), 8, "B", 7)),
        **{
            f"{name}, {what}": Binaries(changed(module.encode([b"lorem ipsum", b"lorem", b""]), at, "I", number))
            for name, module in {"zstd_shared": zstd_shared, "lz4_shared": lz4_shared}.items()
            for what, at, number in (("another dictionary", 8, 7), ("a payload of 4 GiB", 2, 0xFFFFFFFF))
        },
        "lz4_shared, a match before the dictionary": Binaries(_far_match()),
        "patched code of bytes": Binaries(patched.encode([1, 2, 3], "u4")),
        "code of numbers": Binaries(ffor.encode([1, 2, 3], "u4")),
        "unknown code of bytes": Binaries(pack([4711], "u2") + bytes(40)),
        "no code of bytes": Binaries(b"\1"),
    }


BINARIES: dict[str, Binaries] = {**_symbols(), **_offsets(), **_entries()}


def _envelope(presence_size: int, values_size: int, body: bytes) -> bytes:
    content = struct.pack("<II", presence_size, values_size) + body
    return content + block.checksum(content).to_bytes(4, "little")


PLAIN = plain.encode([1, 2, 3], "u4")

# Whole blocks, checksum included, and the number of values that their block map claims.
ENVELOPES: dict[str, tuple[int, bytes]] = {
    "no bytes": (3, b""),
    "seven bytes": (3, bytes(7)),
    "a checksum only": (3, block.checksum(b"").to_bytes(4, "little")),
    "half an envelope": (3, bytes(4) + block.checksum(bytes(4)).to_bytes(4, "little")),
    "presence of 4 GiB": (3, _envelope(0xFFFFFFFF, len(PLAIN), PLAIN)),
    "values of 4 GiB": (3, _envelope(0, 0xFFFFFFFF, PLAIN)),
    "both of 4 GiB": (3, _envelope(0xFFFFFFFF, 0xFFFFFFFF, PLAIN)),
    "presence to the end": (3, _envelope(align8(len(PLAIN)), len(PLAIN), pad8(PLAIN))),
    "values one byte too long": (3, _envelope(0, len(PLAIN) + 1, PLAIN)),
    "another checksum": (3, block.build(b"", PLAIN)[:-1] + b"\0"),
    "no values": (0, block.build(b"", PLAIN)),
    "2**32 values": (1 << 32, block.build(b"", PLAIN)),
    "2**61 values": (1 << 61, block.build(b"", plain.encode([], "u8"))),
    "2**64 - 1 values": ((1 << 64) - 1, block.build(b"", single_value.encode([1], "u4"))),
}
