"""Are bits read from every offset into every offset?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai import encoding as package
from amudai.errors import CorruptedData
from amudai.rows import Rows
from tests.effort import examples
from tests.encoding import runs
from tests.encoding.runs import Block, Opened
from tests.oracle import block, presence
from tests.oracle.numeric import block_dictionary, delta, fl_bit_pack, lz4, plain, run_length, sparse, zstd

pytestmark = pytest.mark.native

ENCODERS = [
    plain.encode,
    fl_bit_pack.encode,
    zstd.encode,
    lz4.encode,
    run_length.encode,
    sparse.encode,
    lambda values, dtype: delta.encode(values, dtype, plain.encode),
    lambda values, dtype: block_dictionary.encode(values, dtype, fl_bit_pack.encode),
]
COUNTS = [3, 1, 130, 5, 2, 1100, 1, 64]  # bytes of each block

Bools = npt.NDArray[np.bool_]


def bit_blocks(bits: Bools, counts: Sequence[int]) -> list[Block]:
    """Bits, lowest first, as bytes in blocks of these sizes, each in another encoding."""
    values = np.packbits(bits, bitorder="little").tolist()
    blocks, at = [], 0
    for index, count in enumerate(counts):
        data = ENCODERS[index % len(ENCODERS)](values[at : at + count], "u1")
        blocks.append(Block(block.build(b"", data), count))
        at += count
    return blocks


@pytest.fixture(scope="module")
def bits() -> Bools:
    return np.random.default_rng(1).random(8 * sum(COUNTS)) < 0.5


@pytest.fixture(scope="module")
def opened(bits: Bools) -> list[Opened]:
    found = runs.open_all(bit_blocks(bits, COUNTS))
    for run in found:
        run.inflate(run.kernels.numeric_frames(run.blocks, "u1"))
    return found


def decode(run: Opened, spans: Sequence[runs.Span], at: int) -> tuple[Bools, int]:
    """The bits, and how many of them are set; bits on either side stay what they were."""
    count, behind = runs.size_of(spans), 11
    out = np.full((at + count + behind + 7) // 8, 0xA5, np.uint8)
    before = np.unpackbits(out, bitorder="little")
    found = run.kernels.decode_bits(run.blocks, *run.spans(spans, unit=8), out, at)
    after = np.unpackbits(out, bitorder="little")
    np.testing.assert_array_equal(after[:at], before[:at])
    np.testing.assert_array_equal(after[at + count :], before[at + count :])
    return after[at : at + count].astype(np.bool_), found


@pytest.mark.slow
def test_every_offset_and_length(bits: Bools, opened: list[Opened]) -> None:
    for run in opened:
        for first in (*range(17), *range(8 * 134 - 9, 8 * 134 + 9)):
            for count in (*range(1, 34), 63, 64, 65, 200):
                found, ones = decode(run, [(first, first + count)], (first + count) % 9)
                np.testing.assert_array_equal(found, bits[first : first + count])
                assert ones == np.count_nonzero(found)


def test_every_place_in_the_output(bits: Bools, opened: list[Opened]) -> None:
    for run in opened:
        for at in range(20):
            for first in (0, 3, 7, 29):
                found, ones = decode(run, [(first, first + 150)], at)
                np.testing.assert_array_equal(found, bits[first : first + 150])
                assert ones == np.count_nonzero(found)


def test_patterns(bits: Bools, opened: list[Opened]) -> None:
    rng = np.random.default_rng(2)
    buffer = runs.buffer_of(bit_blocks(bits, COUNTS))
    for _, spans in runs.patterns([8 * count for count in COUNTS], rng):
        expected = bits[runs.positions_of(spans)]
        for run in opened:
            found, ones = decode(run, spans, int(rng.integers(20)))
            np.testing.assert_array_equal(found, expected)
            assert ones == np.count_nonzero(expected)
        bitmap, ones = package.decode_bits(buffer, runs.ranges_of(spans))
        np.testing.assert_array_equal(runs.bits_to_bools(bitmap, 0, len(expected)), expected)
        assert ones == np.count_nonzero(expected)


@examples(100)
@given(data=st.data())
def test_any_bits(data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 20), min_size=1, max_size=5))
    total = 8 * sum(counts)
    seed, density = data.draw(st.integers(0, 1 << 30)), data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    bits = np.random.default_rng(seed).random(total) < density
    cuts = sorted(data.draw(st.sets(st.integers(0, total), min_size=2, max_size=12)))
    spans = runs.joined(list(zip(cuts[::2], cuts[1::2], strict=False)))
    bitmap, ones = package.decode_bits(runs.buffer_of(bit_blocks(bits, counts)), runs.ranges_of(spans))
    expected = bits[runs.positions_of(spans)]
    np.testing.assert_array_equal(runs.bits_to_bools(bitmap, 0, len(expected)), expected)
    assert ones == np.count_nonzero(expected)


def test_no_bits() -> None:
    buffer = runs.buffer_of(bit_blocks(np.ones(8, np.bool_), [1]))
    assert package.decode_bits(buffer, Rows.one(3, 3))[1] == 0


def test_positions_behind_the_last_byte_are_refused() -> None:
    buffer = runs.buffer_of(bit_blocks(np.ones(24, np.bool_), [3]))
    assert package.decode_bits(buffer, Rows.one(0, 24))[1] == 24
    with pytest.raises(CorruptedData, match="expected at most 24"):
        package.decode_bits(buffer, Rows.one(20, 25))


def test_bits_are_never_null() -> None:
    data = plain.encode([255, 255], "u1")
    there = runs.buffer_of([Block(block.build(presence.encode([True, True], presence.PLAIN), data), 2)])
    assert package.decode_bits(there, Rows.one(0, 16))[1] == 16
    absent = runs.buffer_of([Block(block.build(presence.encode([True, False]), data), 2)])
    with pytest.raises(CorruptedData, match="expected no nulls"):
        package.decode_bits(absent, Rows.one(0, 8))
