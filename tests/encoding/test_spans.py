"""Are positions found in the blocks that hold them?"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.rows import Rows
from tests.format.test_block_map import write
from tests.kernel_modules import KERNELS

pytestmark = pytest.mark.native

SIZES = st.lists(st.tuples(st.integers(1, 9), st.integers(8, 40)), min_size=1, max_size=12)


def ends_of(sizes: list[int]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.array([0, *accumulate(sizes)], np.uint64)


def stretch(found: Any, first: int, last: int, most: int = 1 << 40) -> Any:
    return found.stretch(first, last, most)


def map_of(kernels: Any, sizes: list[tuple[int, int]], segment_size: int = 3) -> Any:
    return kernels.BlockMap(write(sizes, segment_size), 1 << 40, None, None)


@pytest.mark.slow
@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
@given(sizes=SIZES, unit=st.sampled_from([1, 8]), data=st.data())
def test_spans_are_what_walking_over_the_positions_finds(
    kernels: Any, sizes: Any, unit: int, data: st.DataObject
) -> None:
    values, offsets = ends_of([count for count, _ in sizes]), ends_of([size for _, size in sizes])
    total = int(values[-1]) * unit
    wanted = data.draw(st.sets(st.integers(0, total - 1), min_size=1, max_size=40))
    ranges = Rows.of_positions(np.array(sorted(wanted), np.uint64))
    used, begins, byte_sizes, counts, index, first, count, slots = map_of(kernels, sizes).spans(*ranges.arrays, unit)

    place = [(block, slot) for block, (held, _) in enumerate(sizes) for slot in range(held * unit)]
    expected = [place[position] for position in sorted(wanted)]
    pieces = zip(index.tolist(), first.tolist(), count.tolist(), strict=True)
    found = [(int(used[at]), slot) for at, low, length in pieces for slot in range(low, low + length)]
    assert found == expected
    assert slots == len(wanted)
    assert used.tolist() == sorted({block for block, _ in expected})
    assert begins.tolist() == [int(offsets[block]) for block in used]
    assert list(zip(counts.tolist(), byte_sizes.tolist(), strict=True)) == [sizes[block] for block in used]


@pytest.mark.slow
@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
@given(sizes=SIZES, data=st.data())
def test_the_blocks_of_neighbours(kernels: Any, sizes: Any, data: st.DataObject) -> None:
    values, offsets = ends_of([count for count, _ in sizes]), ends_of([size for _, size in sizes])
    found = map_of(kernels, sizes, data.draw(st.integers(1, 5)))
    first = data.draw(st.integers(0, int(values[-1]) - 1))
    last = data.draw(st.integers(first + 1, int(values[-1])))
    mine = [at for at in range(len(sizes)) if values[at] < last and first < values[at + 1]]
    block, slot, begin, end, bytes_of_each, counts = stretch(found, first, last)
    assert (block, slot) == (mine[0], first - int(values[mine[0]]))
    assert (begin, end) == (int(offsets[mine[0]]), int(offsets[mine[-1] + 1]))
    assert stretch(found, first, last, end - begin) is not None
    assert stretch(found, first, last, end - begin - 1) is None
    assert list(zip(counts.tolist(), bytes_of_each.tolist(), strict=True)) == [sizes[at] for at in mine]
    # The same without arrays, where one block holds all.
    alone = (block, slot, begin, end, sizes[block][0]) if len(mine) == 1 else None
    assert found.block_of(first, last) == alone
    with pytest.raises(CorruptedData, match=f"expected at most {values[-1]} in the buffer"):
        found.block_of(first, int(values[-1]) + 1)
    with pytest.raises(ValueError, match="expected at least one"):
        found.block_of(first, first)


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
@given(data=st.data())
def test_segments_are_read_in_any_order(kernels: Any, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    sizes = list(zip(rng.integers(1, 50, 90).tolist(), rng.integers(8, 999, 90).tolist(), strict=True))
    found = map_of(kernels, sizes, data.draw(st.integers(1, 40)))
    values, offsets = ends_of([count for count, _ in sizes]), ends_of([size for _, size in sizes])
    for value in rng.integers(0, int(values[-1]), 20).tolist():
        block = int(np.searchsorted(values, value, "right")) - 1
        assert stretch(found, value, value + 1)[:2] == (block, value - int(values[block]))
        ranges = Rows.of_positions(np.array([value, int(values[-1]) - 1], np.uint64))
        used, begins, *_ = found.spans(*ranges.arrays, 1)
        assert used.tolist() == sorted({block, len(sizes) - 1})
        assert begins.tolist() == offsets[used].tolist()
    assert found.values.tolist() == values.tolist()
    assert found.offsets.tolist() == offsets.tolist()


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_a_segment_that_is_wrong_is_an_error_for_those_who_ask_for_it(kernels: Any) -> None:
    sizes = [(10, 16)] * 6
    payload = bytearray(write(sizes, 2))
    payload[16] += 1  # the least number of values of the first segment
    found = kernels.BlockMap(bytes(payload), 96, 60, 6)
    assert stretch(found, 45, 50)[:4] == (4, 5, 64, 80)
    for ask in (
        lambda: stretch(found, 3, 4),
        lambda: found.values,
        lambda: found.spans(*Rows.one(19, 21).arrays, 1),
    ):
        with pytest.raises(CorruptedData, match="segment 1: expected to begin at value 22"):
            ask()


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_positions_beyond_the_blocks(kernels: Any) -> None:
    found = map_of(kernels, [(3, 8), (4, 8)])
    for unit, end in ((1, 8), (8, 57)):
        with pytest.raises(CorruptedData, match=f"expected at most {7 * unit} in the buffer, found {end}"):
            found.spans(*Rows.one(2, end).arrays, unit)
    nothing = map_of(kernels, [])
    with pytest.raises(CorruptedData, match="expected at most 0 in the buffer, found 1"):
        nothing.spans(*Rows.one(0, 1).arrays, 1)
    with pytest.raises(CorruptedData, match="expected at most 0 in the buffer, found 1"):
        stretch(nothing, 0, 1)
    with pytest.raises(ValueError, match="at least one"):
        stretch(found, 2, 2)
    assert nothing.values.tolist() == nothing.offsets.tolist() == [0]


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_more_slots_than_kernels_count(kernels: Any) -> None:
    found = map_of(kernels, [(1 << 30, 8)])
    assert found.spans(*Rows.one(5, 9).arrays, 8)[5].tolist() == [5]
    with pytest.raises(UnsupportedFeature, match="slots of a block"):
        found.spans(*Rows.one(1 << 32, (1 << 32) + 1).arrays, 8)


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_what_are_no_ranges(kernels: Any) -> None:
    found, ranges = map_of(kernels, [(3, 8)]), Rows.one(0, 2).arrays
    with pytest.raises(ValueError, match="ranges"):
        found.spans(ranges[0], np.zeros(1, np.uint64), 1)
    with pytest.raises(ValueError, match="unit"):
        found.spans(*ranges, 0)
