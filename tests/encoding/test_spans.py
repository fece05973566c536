"""Are positions found in the blocks that hold them?"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.encoding import Ranges
from amudai.errors import CorruptedData, UnsupportedFeature
from tests.encoding.runs import KERNELS

SIZES = st.lists(st.tuples(st.integers(1, 9), st.integers(8, 40)), min_size=1, max_size=12)


def ends_of(sizes: list[int]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.array([0, *accumulate(sizes)], np.uint64)


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
@given(sizes=SIZES, unit=st.sampled_from([1, 8]), data=st.data())
def test_spans_are_what_walking_over_the_positions_finds(
    kernels: Any, sizes: Any, unit: int, data: st.DataObject
) -> None:
    values, offsets = ends_of([count for count, _ in sizes]), ends_of([size for _, size in sizes])
    total = int(values[-1]) * unit
    wanted = data.draw(st.sets(st.integers(0, total - 1), min_size=1, max_size=40))
    ranges = Ranges.of_positions(np.array(sorted(wanted), np.uint64))
    used, begins, byte_sizes, counts, index, first, count, slots = kernels.block_spans(
        values, offsets, *ranges.arrays, unit
    )

    place = [(block, slot) for block, (held, _) in enumerate(sizes) for slot in range(held * unit)]
    expected = [place[position] for position in sorted(wanted)]
    pieces = zip(index.tolist(), first.tolist(), count.tolist(), strict=True)
    found = [(int(used[at]), slot) for at, low, length in pieces for slot in range(low, low + length)]
    assert found == expected
    assert slots == len(wanted)
    assert used.tolist() == sorted({block for block, _ in expected})
    assert begins.tolist() == [int(offsets[block]) for block in used]
    assert list(zip(counts.tolist(), byte_sizes.tolist(), strict=True)) == [sizes[block] for block in used]


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_positions_beyond_the_blocks(kernels: Any) -> None:
    values, offsets = ends_of([3, 4]), ends_of([8, 8])
    for unit, end in ((1, 8), (8, 57)):
        with pytest.raises(CorruptedData, match=f"expected at most {7 * unit} in the buffer, found {end}"):
            kernels.block_spans(values, offsets, *Ranges.one(2, end).arrays, unit)


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_more_slots_than_kernels_count(kernels: Any) -> None:
    values, offsets = ends_of([1 << 33]), ends_of([8])
    assert kernels.block_spans(values, offsets, *Ranges.one(5, 9).arrays, 1)[5].tolist() == [5]
    with pytest.raises(UnsupportedFeature, match="slots of a block"):
        kernels.block_spans(values, offsets, *Ranges.one(1 << 32, (1 << 32) + 1).arrays, 1)


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_arrays_that_are_no_blocks(kernels: Any) -> None:
    good, ranges = ends_of([3, 4]), Ranges.one(0, 2).arrays
    for values, offsets in ((good, good[:2]), (good[1:], good[1:]), (good[:0], good[:0]), (good, good[[0, 2, 1]])):
        with pytest.raises(ValueError, match="ascending ends"):
            kernels.block_spans(np.ascontiguousarray(values), np.ascontiguousarray(offsets), *ranges, 1)
    with pytest.raises(ValueError, match="ranges"):
        kernels.block_spans(good, good, ranges[0], np.zeros(1, np.uint64), 1)
