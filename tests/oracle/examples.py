"""The worked examples of the format: bytes, what they mean, and how an encoder makes them."""

from collections.abc import Callable
from typing import NamedTuple

from tests.oracle.binary import block_dictionary as binary_dictionary
from tests.oracle.binary import fsst
from tests.oracle.binary import lz4 as binary_lz4
from tests.oracle.binary import plain as binary_plain
from tests.oracle.binary import single_value as binary_single
from tests.oracle.binary import zstd as binary_zstd
from tests.oracle.numeric import (
    alp,
    alprd,
    block_dictionary,
    chimp,
    delta,
    ffor,
    lz4,
    patched,
    plain,
    run_length,
    single_value,
    snappy,
    sparse,
    truncate,
    zig_zag,
)


class Example(NamedTuple):
    name: str
    dtype: str
    values: list[int]
    encode: Callable[[list[int], str], bytes]
    dump: str


def bits_of_floats(*values: float) -> list[int]:
    return [alp.to_bits(value, "f8") for value in values]


SECTIONS = [
    Example(
        "truncate to delta to single value",
        "i8",
        list(range(10000001, 10064001)),
        lambda v, t: truncate.encode(v, t, "u4", lambda v, t: delta.encode(v, t, single_value.encode)),
        "0a 00 01 00 00 00 00 00 05 00 81 96 98 00 00 00 07 00 01 00 00 00",
    ),
    Example(
        "run length",
        "i2",
        [5, 5, 5, -2, -2, 5],
        run_length.encode,
        """06 00 06 00 00 00 03 00 00 00 00 00 00 00 00 00 05 00 fe ff 05 00 00 00 03 00 00 00 02 00 00 00
           01 00 00 00""",
    ),
    Example(
        "ffor of negative values",
        "i4",
        [-5, -3, -4],
        ffor.encode,
        "04 00 fb ff ff ff 02 00 54 55 55 55 56 55 55 55" + "55" * 248,
    ),
    Example(
        "ffor of one bit",
        "i8",
        [1000, 1001] * 5,
        ffor.encode,
        "04 00 e8 03 00 00 00 00 00 00 01 00 00 00 00 00"
        + "00 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00" * 5
        + "00" * 48,
    ),
    Example(
        "delta to plain",
        "u4",
        [100, 101, 103, 106, 110, 115, 121, 128],
        lambda v, t: delta.encode(v, t, plain.encode),
        """05 00 64 00 00 00 00 00 01 00 01 00 00 00 02 00 00 00 03 00 00 00 04 00 00 00 05 00 00 00 06 00
           00 00 07 00 00 00""",
    ),
    Example(
        "alp with an exception",
        "f8",
        [*bits_of_floats(1.5, 2.25), 0x7FF8000000000000, *bits_of_floats(3.75)],
        lambda v, t: alp.encode(v, t, 2, 0, lambda v, t: truncate.encode(v, t, "u2")),
        """0c 00 10 00 00 00 01 00 02 00 00 00 00 00 00 00 09 00 00 00 00 00 00 00 96 00 e1 00 96 00 77 01
           02 00 00 00 00 00 00 00 00 00 f8 7f""",
    ),
    Example(
        "block dictionary",
        "i4",
        [9, 9, -1, 9, 0],
        lambda v, t: block_dictionary.encode(v, t, plain.encode, presence=[True, True, True, True, False]),
        """0e 00 16 00 00 00 03 00 00 00 00 00 00 00 00 00 01 00 01 00 00 00 01 00 00 00 02 00 00 00 01 00
           00 00 00 00 00 00 09 00 00 00 ff ff ff ff 00 00 00 00""",
    ),
    Example(
        "sparse",
        "i4",
        [0, 0, 0, 77, 0],
        sparse.encode,
        "13 00 01 00 00 00 04 00 00 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 4d 00 00 00",
    ),
    Example(
        "lz4",
        "u1",
        [7] * 2048,
        lz4.encode,
        "11 00 00 00 00 00 00 00 00 08 00 00 1f 07 01 00 ff ff ff ff ff ff ff ee 50 07 07 07 07 07",
    ),
    Example(
        "patched",
        "u2",
        [7, 7, 900, 7],
        lambda v, t: patched.encode(v, t, 7, 0),
        "01 80 00 0a 01 00 00 00 07 00 07 00 00 00 00 00 02 7d 03",
    ),
    Example(
        "chimp",
        "f4",
        [0x3F800000, 0x3F800000, 0x3FC00000],
        chimp.encode,
        "02 80 00 00 00 00 00 00 00 00 80 3f 14 11",
    ),
    Example(
        "snappy",
        "u2",
        [258] * 16,
        snappy.encode,
        "04 80 00 00 00 00 00 00 20 04 02 01 76 02 00",
    ),
    Example(
        "zigzag to single value",
        "i2",
        [-3] * 4,
        lambda v, t: zig_zag.encode(v, t, single_value.encode),
        "12 00 01 00 00 00 00 00 07 00 05 00",
    ),
    Example(
        "alprd with an exception",
        "f8",
        [0x3FF0000000000005, 0x3FF0000000000006, 0x4008000000000007],
        lambda v, t: alprd.encode(v, t, 52, plain.encode, plain.encode, dictionary=[0x3FF, 0, 0, 0]),
        """0d 00 08 00 00 00 1a 00 00 00 01 00 34 04 00 00 ff 03 00 00 00 00 00 00 01 00 00 00 00 00 00 00
           01 00 05 00 00 00 00 00 00 00 06 00 00 00 00 00 00 00 07 00 00 00 00 00 08 00 02 00 00 00 00 04""",
    ),
]


class NumericBlock(NamedTuple):
    name: str
    dtype: str
    values: list[int | None]
    encode: Callable[[list[int], str], bytes]
    dump: str


NUMERIC_BLOCKS = [
    NumericBlock(
        "single value",
        "i8",
        [42] * 5,
        single_value.encode,
        "00 00 00 00 0a 00 00 00 07 00 2a 00 00 00 00 00 00 00 00 00 ac f6 e4 5b",
    ),
    NumericBlock(
        "plain with a null",
        "i4",
        [7, None, -1],
        plain.encode,
        """04 00 00 00 0e 00 00 00 02 01 00 01 00 00 00 00 01 00 07 00 00 00 00 00 00 00 ff ff ff ff 00 00
           00 00 00 00 a0 66 47 f2""",
    ),
    NumericBlock(
        "nulls only",
        "i2",
        [None] * 4,
        single_value.encode,
        "01 00 00 00 04 00 00 00 01 00 00 00 00 00 00 00 07 00 00 00 9b ee 07 f5",
    ),
    NumericBlock(
        "plain",
        "i4",
        [1, 2, 3],
        plain.encode,
        "00 00 00 00 0e 00 00 00 01 00 01 00 00 00 02 00 00 00 03 00 00 00 00 00 00 00 00 00 8e 54 bc ea",
    ),
    NumericBlock(
        "plain with another null",
        "i4",
        [1, None, 3],
        plain.encode,
        """04 00 00 00 0e 00 00 00 02 01 00 01 00 00 00 00 01 00 01 00 00 00 00 00 00 00 03 00 00 00 00 00
           00 00 00 00 82 03 c9 3b""",
    ),
    NumericBlock(
        "bits of a presence buffer", "u1", [0xDF, 3], plain.encode, "00 00 00 00 04 00 00 00 01 00 df 03 48 11 51 76"
    ),
    NumericBlock(
        "offsets of lists",
        "u8",
        [0, 2, 2, 5],
        plain.encode,
        """00 00 00 00 22 00 00 00 01 00 00 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 02 00 00 00 00 00
           00 00 05 00 00 00 00 00 00 00 00 00 96 a8 30 41""",
    ),
    NumericBlock(
        "codes of a value dictionary",
        "u4",
        [0, 1, 0, 2, 3],
        plain.encode,
        """00 00 00 00 16 00 00 00 01 00 00 00 00 00 01 00 00 00 00 00 00 00 02 00 00 00 03 00 00 00 00 00
           00 00 00 00 6f fb 37 84""",
    ),
]


class BinaryBlock(NamedTuple):
    name: str
    fixed_size: int | None
    values: list[bytes | None]
    presence: bytes
    region: Callable[[], bytes]
    dump: str


URLS = [b"http://www.a.com/", b"http://a.com/b", b""]
SYMBOLS = [b"//", b"http:", b"www.", b".com/", b"a"]
REPEATED = [b"abc" * 7, b"abc", b"abc" * 4]
LETTERS = [bytes([letter]) * 4 for letter in b"abcdefgh"]

BINARY_BLOCKS = [
    BinaryBlock(
        "plain",
        None,
        [b"ab", None, b"c"],
        bytes([2, 1, 0, 1]),
        lambda: binary_plain.encode([b"ab", b"", b"c"]),
        """04 00 00 00 26 00 00 00 02 01 00 01 00 00 00 00 01 00 08 00 00 00 00 00 00 00 00 02 00 00 00 00
           00 00 00 02 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 61 62 63 00 00 00 00 00 00 ae 07 d8 cc""",
    ),
    BinaryBlock(
        "single value",
        None,
        [b"hi"] * 4,
        b"",
        lambda: binary_single.encode([b"hi"] * 4),
        "00 00 00 00 04 00 00 00 07 00 68 69 2e 1b 58 c8",
    ),
    BinaryBlock(
        "single value, nulls only",
        None,
        [None] * 1000,
        bytes([1]),
        lambda: binary_single.encode([b""] * 1000),
        "01 00 00 00 02 00 00 00 01 00 00 00 00 00 00 00 07 00 00 00 4c 0d 10 dd",
    ),
    BinaryBlock(
        "block dictionary",
        None,
        [None, b"a", b"a", None, b"bcd"],
        bytes([2, 0, 1, 1, 0, 1]),
        lambda: binary_dictionary.encode([None, b"a", b"a", None, b"bcd"], entries=[b"", b"a", b"bcd"]),
        """06 00 00 00 38 00 00 00 02 00 01 01 00 01 00 00 0e 00 16 00 00 00 0c 00 00 00 03 00 00 00 00 00
           01 00 00 00 00 00 02 00 00 00 02 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 00 00 01 00 00 00
           03 00 00 00 61 62 63 64 00 00 00 00 12 3c e3 83""",
    ),
    BinaryBlock(
        "fsst",
        None,
        [*URLS],
        b"",
        lambda: fsst.encode(URLS, symbols=SYMBOLS),
        """00 00 00 00 68 00 00 00 0f 00 05 0b 00 00 00 00 08 00 00 00 00 00 00 00 2f 2f 00 00 00 00 00 00
           68 74 74 70 3a 00 00 00 77 77 77 2e 00 00 00 00 2e 63 6f 6d 2f 00 00 00 61 00 00 00 00 00 00 00
           02 05 04 05 01 01 00 02 04 03 01 00 04 03 ff 62 00 00 00 00 00 00 00 00 11 00 00 00 00 00 00 00
           1f 00 00 00 00 00 00 00 1f 00 00 00 00 00 00 00 00 00 00 00 09 04 27 0b""",
    ),
    BinaryBlock(
        "lz4",
        None,
        [*REPEATED],
        b"",
        lambda: binary_lz4.encode(REPEATED),
        """00 00 00 00 40 00 00 00 11 00 11 00 00 00 08 00 24 00 00 00 3f 61 62 63 03 00 09 50 62 63 61 62
           63 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 15 00 00 00 00 00 00 00 18 00 00 00 00 00 00 00
           24 00 00 00 00 00 00 00 00 00 00 00 88 d2 d3 88""",
    ),
    BinaryBlock(
        "zstd with nested offsets",
        None,
        [*LETTERS],
        b"",
        lambda: binary_zstd.encode(LETTERS, nested_offsets=lambda v, t: delta.encode(v, t, single_value.encode)),
        """00 00 00 00 52 00 00 00 10 00 29 00 00 00 08 01 28 b5 2f fd 00 58 01 01 00 61 61 61 61 62 62 62
           62 63 63 63 63 64 64 64 64 65 65 65 65 66 66 66 66 67 67 67 67 68 68 68 68 00 00 00 00 00 00 00
           05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 07 00 04 00 00 00 00 00 00 00 00 00 d1 c2 a7 fa""",
    ),
    BinaryBlock(
        "plain of one size",
        4,
        [b"\0\1\2\3", None, b"\xff\xfe\xfd\xfc"],
        bytes([2, 1, 0, 1]),
        lambda: binary_plain.encode([b"\0\1\2\3", bytes(4), b"\xff\xfe\xfd\xfc"], 4),
        """04 00 00 00 0f 00 00 00 02 01 00 01 00 00 00 00 01 00 00 00 01 02 03 00 00 00 00 ff fe fd fc 00
           00 00 00 00 7f a6 3d 44""",
    ),
    BinaryBlock(
        "block dictionary of one size",
        4,
        [b"\x11" * 4, b"\x22" * 4, b"\x11" * 4],
        b"",
        lambda: binary_dictionary.encode([b"\x11" * 4, b"\x22" * 4, b"\x11" * 4], 4),
        """00 00 00 00 28 00 00 00 0e 00 0e 00 00 00 00 00 00 00 02 00 00 00 00 00 01 00 01 00 00 00 02 00
           00 00 01 00 00 00 00 00 11 11 11 11 22 22 22 22 00 00 00 00 9c dc e9 29""",
    ),
]


BLOCK_MAPS = {
    "empty": ([], "00" * 40 + "00 04 00 00 00 00 00 00 00 00 00 00 00 00 00 00"),
    "a": (
        [(100, 200), (150, 250), (200, 300)],
        """00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 64 00 00 00 c8 00 00 00 08 08 03 00 00 32 64 00
           00 32 64 00 00 00 00 00 00 00 00 00 00 00 00 00 c2 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00
           28 00 00 00 00 00 00 00 c2 01 00 00 00 00 00 00 03 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00
           00 04 00 00 00 00 00 00 ee 02 00 00 00 00 00 00""",
    ),
    "b": (
        [(2048, 4128), (2048, 4120), (2048, 3992), (904, 9000)],
        """00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 88 03 00 00 98 0f 00 00 10 10 04 00 78 04 78 04
           78 04 00 00 88 00 80 00 00 00 90 13 00 00 00 00 00 00 00 00 00 00 00 00 88 1b 00 00 00 00 00 00
           00 00 00 00 00 00 00 00 30 00 00 00 00 00 00 00 88 1b 00 00 00 00 00 00 04 00 00 00 00 00 00 00
           01 00 00 00 00 00 00 00 00 04 00 00 00 00 00 00 f8 52 00 00 00 00 00 00""",
    ),
    "one block": (
        [(3, 32)],
        """00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 03 00 00 00 20 00 00 00 08 08 01 00 00 00 00 00
           00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
           28 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00
           00 04 00 00 00 00 00 00 20 00 00 00 00 00 00 00""",
    ),
}
