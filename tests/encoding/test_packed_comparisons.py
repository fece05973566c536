"""Are packed numbers and codes compared, chunk by chunk and without unpacking them, as their values are?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from amudai import encoding as package
from amudai.errors import CorruptedData
from tests.encoding import runs
from tests.encoding.checks import compare_numbers
from tests.encoding.runs import Block, Opened
from tests.oracle import block
from tests.oracle.common import bits_of, make_header
from tests.oracle.numeric import block_dictionary, ffor, fl_bit_pack, plain

pytestmark = pytest.mark.native

COUNT = 2 * 1024 + 100  # whole chunks, and some values of another one


def drawn(width: int, dtype: str) -> list[int]:
    """Numbers of so many bits, the largest among them."""
    raw = np.random.default_rng(width).integers(0, 1 << 64, COUNT, dtype=np.uint64)
    numbers = [int(each) >> (64 - width) for each in raw]
    numbers[1030] = (1 << width) - 1
    return numbers


def one_block(data: bytes, count: int = COUNT) -> list[Opened]:
    return runs.open_all([Block(block.build(b"", data), count)])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["u2", "u4", "u8"])
def test_every_width(dtype: str) -> None:
    for width in range(1, bits_of(dtype) + 1):
        values = drawn(width, dtype)
        known = np.array(values, dtype)
        opened = one_block(fl_bit_pack.encode(values, dtype, width))
        some = sorted([values[3], values[1500]])
        for low, high in [(some[0], some[1]), (some[0], some[0]), (0, some[0]), (some[1], (1 << width) - 1)]:
            wanted = package.NumberRanges(np.array([low], dtype), np.array([high], dtype))
            held = (known >= low) & (known <= high)
            for first, last in [(0, COUNT), (5, COUNT), (1024, 2048), (64, 1100)]:
                for run in opened:
                    found = compare_numbers(run, [(first, last)], wanted, False, 3)
                    np.testing.assert_array_equal(found, held[first:last], f"{width} bits, {low}..{high}")


def compare_codes(run: Opened, answers: list[int], first: int, last: int) -> list[bool]:
    out = np.zeros(last // 8 + 9, np.uint8)
    where = run.spans([(first, last)])
    count = run.kernels.compare_codes(run.blocks, *where, np.array(answers, np.uint8), out, 0)
    found = np.unpackbits(out, bitorder="little")[: last - first].astype(np.bool_)
    assert count == np.count_nonzero(found)
    return list(map(bool, found))


ANSWERS = {
    "neighbours": [0, 0, 1, 1, 1, 0, 0, 0, 0],
    "one": [0, 0, 0, 0, 0, 0, 0, 0, 1],
    "apart": [1, 0, 0, 1, 0, 0, 1, 0, 0],
    "none": [0] * 9,
    "all": [1] * 9,
}
# The codes 0..8 as distances from different references. From the last two they wrap around.
FRAMES: dict[str, Any] = {
    "packed": fl_bit_pack.encode,
    "frame at 0": lambda codes, dtype: ffor.encode(codes, dtype, 0, 9),
    "frame at -1": lambda codes, dtype: ffor.encode(codes, dtype, (1 << 32) - 1, 5),
    "frame of the whole type": lambda codes, dtype: ffor.encode(codes, dtype, 8, 32),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("kind", ANSWERS)
def test_codes_of_a_dictionary(frame: str, kind: str) -> None:
    codes = [each % 9 for each in drawn(7, "u4")]
    answers = ANSWERS[kind]
    for run in one_block(FRAMES[frame](codes, "u4")):
        for first, last in [(0, COUNT), (7, 2050), (1024, 2048)]:
            assert compare_codes(run, answers, first, last) == [answers[code] == 1 for code in codes[first:last]]


@pytest.mark.parametrize("place", [0, 1500, COUNT - 1])
@pytest.mark.parametrize("frame", ["packed", "frame at 0", "frame at -1"])
@pytest.mark.parametrize("kind", ANSWERS)
def test_a_code_without_an_entry(kind: str, frame: str, place: int) -> None:
    codes = [3] * COUNT
    codes[0], codes[1], codes[place] = 8, 0, 9
    for run in one_block(FRAMES[frame](codes, "u4")):
        with pytest.raises(CorruptedData, match=r"dictionary code: expected 0\.\.8, found 9"):
            compare_codes(run, ANSWERS[kind], 0, COUNT)


@pytest.mark.parametrize("width", [4, 9])
@pytest.mark.parametrize("wanted", [(20, 40), (10, 10), (11, 12)], ids=["neighbours", "one", "none"])
def test_codes_of_a_block(width: int, wanted: tuple[int, int]) -> None:
    low, high = wanted
    values = [10 * (1 + each % 6) for each in drawn(7, "i8")]
    entries = [10, 20, 30, 40, 50, 60]
    ranges = package.NumberRanges(np.array([low], np.int64), np.array([high], np.int64))

    def stored(codes: list[int]) -> bytes:
        first = fl_bit_pack.encode(codes, "u4", width)
        second = plain.encode(entries, "i8")
        return (
            make_header(block_dictionary.CODE, block_dictionary.FIELDS, len(first), len(entries), True) + first + second
        )

    codes = [value // 10 for value in values]
    for run in one_block(stored(codes)):
        found = compare_numbers(run, [(0, COUNT)], ranges, False, 0)
        assert found.tolist() == [low <= value <= high for value in values]
    codes[2047] = 7
    for run in one_block(stored(codes)):
        with pytest.raises(CorruptedData, match=r"block_dictionary code: expected 0\.\.6, found 7"):
            compare_numbers(run, [(0, COUNT)], ranges, False, 0)
