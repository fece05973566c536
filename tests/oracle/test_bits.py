"""Do the bits of a chunk stand where the format says?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.oracle import bits
from tests.oracle.block import checksum
from tests.oracle.common import UNSIGNED, OracleError, bits_of, unpack

# Word bits, bit width, the first 8 bytes and the checksum of a packed chunk of v[i] = (i * 0x9E3779B97F4A7C15) mod 2^W.
VECTORS = [
    (8, 1, "00ff00ff00ff00ff", "08040c57"),
    (8, 3, "006d92ff2449b6db", "67ae5f13"),
    (8, 5, "00b54aff9429de73", "d18572c9"),
    (8, 7, "00952abf54e97e93", "3ad3f940"),
    (8, 8, "00152a3f54697e93", "77fa631e"),
    (16, 1, "0000ffff0000ffff", "fc576e85"),
    (16, 3, "00006ddb9224ffff", "625d725e"),
    (16, 7, "0000954a2a95bfdf", "717f21f8"),
    (16, 11, "000015ac2a503ffc", "0e45513b"),
    (16, 13, "000015bc2a583ff4", "aa8d14e5"),
    (16, 16, "0000157c2af83f74", "9db18465"),
    (32, 3, "000000006ddbb66d", "8563200d"),
    (32, 11, "0000144015ac7445", "c95130f9"),
    (32, 17, "00000015157c2a0d", "a4e16495"),
    (32, 31, "00000000157c4aff", "a25dc33d"),
    (32, 32, "00000000157c4a7f", "138f15d4"),
    (64, 1, "0000000000000000", "ee760ce9"),
    (64, 7, "0000000000000040", "66e17344"),
    (64, 17, "00000015005400fc", "74ded6c5"),
    (64, 33, "0000000000157c4a", "dc574c58"),
    (64, 47, "0000000000004005", "3123ff48"),
    (64, 64, "0000000000000000", "73db4f5e"),
]


@pytest.mark.parametrize(("word", "width", "start", "total"), VECTORS)
def test_vector(word: int, width: int, start: str, total: str) -> None:
    values = [i * 0x9E3779B97F4A7C15 % (1 << width) for i in range(1024)]
    packed = bits.pack_chunk(values, width, f"u{word // 8}")
    assert len(packed) == 128 * width
    assert packed[:8].hex() == start
    assert f"{checksum(packed):08x}" == total
    assert bits.unpack_chunk(packed, width, f"u{word // 8}") == values


def test_words_of_ascending_values() -> None:
    words = unpack(bits.pack_chunk(list(range(1024)), 10, "u4"), 320, "u4")
    assert [words[0], words[1], words[32], words[319]] == [0x10020000, 0x50120401, 0x0A020060, 0xFFF7FBFE]


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_every_value_has_one_place(dtype: str) -> None:
    word = bits_of(dtype)
    places = [bits.index(row, lane) for row in range(word) for lane in range(1024 // word)]
    assert sorted(places) == list(range(1024))


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_every_width_comes_back(dtype: str) -> None:
    for width in range(1, bits_of(dtype) + 1):
        values = [(i * i + 7) * 0x9E3779B97F4A7C15 % (1 << width) for i in range(1024)]
        assert bits.unpack_chunk(bits.pack_chunk(values, width, dtype), width, dtype) == values


@examples(20)
@given(count=st.sampled_from([0, 1, 2, 1023, 1024, 1025, 2049]), filler=st.integers(0, 7))
def test_tails_are_filled_and_dropped(count: int, filler: int) -> None:
    values = [i % 8 for i in range(count)]
    packed = bits.pack_all(values, 3, "u2", filler)
    assert len(packed) == (count + 1023) // 1024 * 384
    assert bits.unpack_all(packed, count, 3, "u2") == values
    assert bits.unpack_all(packed + bytes(384), count, 3, "u2") == values


@pytest.mark.parametrize(
    ("data", "count", "width"), [(384, 1025, 3), (383, 3, 3), (0, 1, 3), (0, 0, 0), (17 * 128, 1, 17)]
)
def test_wrong_sizes_are_errors(data: int, count: int, width: int) -> None:
    with pytest.raises(OracleError):
        bits.unpack_all(bytes(data), count, width, "u2")
