"""Do ranges say what the sets of their positions say?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amudai.encoding import Ranges
from tests.encoding import runs

POSITIONS = st.sets(st.integers(0, 60) | st.integers(0, 3000), max_size=40)
BOUNDS = st.integers(0, 70) | st.integers(0, 3100)


def of(positions: set[int]) -> Ranges:
    return Ranges.of_positions(np.array(sorted(positions), np.uint64))


def listed(ranges: Ranges) -> list[int]:
    """Every position in order, after a look at the form."""
    assert ranges.starts.dtype == ranges.ends.dtype == np.uint64
    assert len(ranges) == len(ranges.starts) == len(ranges.ends)
    assert (ranges.starts < ranges.ends).all()
    assert (ranges.ends[:-1] < ranges.starts[1:]).all(), "ranges ascend and do not touch"
    found = [at for s, e in zip(ranges.starts.tolist(), ranges.ends.tolist(), strict=True) for at in range(s, e)]
    assert ranges.count == len(found)
    assert ranges.end == (found[-1] + 1 if found else 0)
    return found


@runs.examples(100)
@given(BOUNDS, BOUNDS)
def test_one(start: int, end: int) -> None:
    assert listed(Ranges.one(start, end)) == list(range(start, end))


@runs.examples(100)
@given(POSITIONS)
def test_of_positions(positions: set[int]) -> None:
    assert listed(of(positions)) == sorted(positions)


@runs.examples(100)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=20))
def test_joined(steps: list[tuple[int, int]]) -> None:
    """Gaps and lengths, of which any may be 0: ranges that touch become one, empty ones go."""
    starts, ends, at = [], [], 0
    for gap, length in steps:
        starts.append(at + gap)
        ends.append(at + gap + length)
        at = ends[-1]
    expected = sorted({at for start, end in zip(starts, ends, strict=True) for at in range(start, end)})
    assert listed(Ranges.joined(np.array(starts, np.uint64), np.array(ends, np.uint64))) == expected


@runs.examples(100)
@given(POSITIONS, BOUNDS, BOUNDS)
@example({0, 1, 3}, 1, 1)  # nothing of ranges that lie around it
def test_within(positions: set[int], start: int, end: int) -> None:
    start, end = min(start, end), max(start, end)
    assert listed(of(positions).within(start, end)) == [at - start for at in sorted(positions) if start <= at < end]


@runs.examples(100)
@given(BOUNDS, BOUNDS, BOUNDS, BOUNDS)
def test_within_of_one_range(first: int, last: int, start: int, end: int) -> None:
    start, end = min(start, end), max(start, end)
    expected = [at - start for at in range(first, last) if start <= at < end]
    assert listed(Ranges.one(first, last).within(start, end)) == expected


@runs.examples(100)
@given(POSITIONS, st.integers(0, 9))
def test_times(positions: set[int], factor: int) -> None:
    expected = [at * factor + item for at in sorted(positions) for item in range(factor)]
    assert listed(of(positions).times(factor)) == expected


@runs.examples(100)
@given(POSITIONS, st.integers(1, 50))
def test_parts(positions: set[int], most: int) -> None:
    parts = of(positions).parts(most)
    assert [at for part in parts for at in listed(part)] == sorted(positions)
    assert all(part.count <= most for part in parts)
    # As few parts as there can be: all but the last are full.
    assert all(part.count == most for part in parts[:-1])


@runs.examples(100)
@given(BOUNDS, BOUNDS, st.integers(1, 50))
def test_parts_of_one_range(start: int, end: int, most: int) -> None:
    parts = Ranges.one(start, end).parts(most)
    assert [at for part in parts for at in listed(part)] == list(range(start, end))
    assert all(part.count <= most for part in parts)


@runs.examples(100)
@given(POSITIONS, st.integers(1, 9))
def test_nothing_is_changed_in_place(positions: set[int], most: int) -> None:
    ranges = of(positions)
    ranges.parts(most), ranges.within(3, 40), ranges.times(2)
    assert listed(ranges) == sorted(positions)


def test_positions_near_the_end_of_64_bits() -> None:
    last = (1 << 64) - 2
    ranges = Ranges.of_positions(np.array([0, last], np.uint64))
    assert (ranges.count, ranges.end) == (2, last + 1)
    assert ranges.within(last, last + 1).starts.tolist() == [0]


@runs.examples(200)
@given(POSITIONS, POSITIONS)
@example(set(range(9)), {3, 4})
@example({0, 1, 2, 8}, {3, 4, 9})  # they touch and make one
def test_sets(left: set[int], right: set[int]) -> None:
    a, b = of(left), of(right)
    assert listed(a.unite(b)) == sorted(left | right)
    assert listed(a.intersect(b)) == sorted(left & right)
    assert listed(a.subtract(b)) == sorted(left - right)


@runs.examples(60)
@given(st.lists(POSITIONS, max_size=9))
def test_united(parts: list[set[int]]) -> None:
    assert listed(Ranges.united([of(part) for part in parts])) == sorted(set().union(*parts))


@runs.examples(60)
@given(st.integers(0, 1 << 32), st.integers(1, 6), st.integers(0, 40), st.booleans())
def test_sets_of_which_one_is_much_larger(seed: int, longest: int, few: int, turned: bool) -> None:
    rng = np.random.default_rng(seed)
    edges = np.cumsum(rng.integers(1, longest + 1, 2 * 3000).astype(np.uint64))
    many = Ranges(edges[::2], edges[1::2])
    small = of({int(at) for at in rng.integers(0, int(edges[-1]) + 20, few)})
    a, b = (small, many) if turned else (many, small)
    left, right = set(a.positions().tolist()), set(b.positions().tolist())
    assert listed(a.unite(b)) == sorted(left | right)
    assert listed(a.intersect(b)) == sorted(left & right)
    assert listed(a.subtract(b)) == sorted(left - right)


@runs.examples(60)
@given(st.integers(0, 1 << 32), st.integers(0, 1 << 40), st.tuples(*[st.integers(1, 900)] * 4))
@example(1, 0, (1, 400, 1, 400))
@example(2, (1 << 17) - 70, (700, 1, 1, 1))
def test_sets_that_lie_close_together(seed: int, base: int, longest: tuple[int, int, int, int]) -> None:
    rng = np.random.default_rng(seed)

    def ranges(size: int, gap: int) -> Ranges:
        steps = np.stack([rng.integers(1, gap + 1, 600), rng.integers(1, size + 1, 600)], axis=1).reshape(-1)
        edges = np.cumsum(steps).astype(np.uint64) + np.uint64(base)
        return Ranges(edges[::2], edges[1::2])

    a, b = ranges(*longest[:2]), ranges(*longest[2:])
    expected = np.intersect1d(a.positions(), b.positions())
    for found in (a.intersect(b), b.intersect(a)):
        assert np.array_equal(found.positions(), expected)
        assert (found.starts[1:] > found.ends[:-1]).all()
        assert (found.starts < found.ends).all()


@runs.examples(100)
@given(POSITIONS, BOUNDS)
def test_outside(positions: set[int], end: int) -> None:
    assert listed(of(positions).outside(end)) == [at for at in range(end) if at not in positions]


@runs.examples(100)
@given(POSITIONS)
def test_positions(positions: set[int]) -> None:
    assert of(positions).positions().tolist() == sorted(positions)


@runs.examples(100)
@given(st.lists(st.booleans(), max_size=300), st.integers(0, 1 << 40))
@example([True] * 128, 7)
@example([False] * 63 + [True] * 2, 0)
def test_masks_and_bitmaps(mask: list[bool], base: int) -> None:
    expected = [base + at for at, wanted in enumerate(mask) if wanted]
    array = np.array(mask, np.bool_)
    assert listed(Ranges.from_mask(array, base)) == expected
    bitmap = pa.array(mask, pa.bool_()).buffers()[1]
    if bitmap is not None:
        assert listed(Ranges.from_mask(bitmap, base, len(mask))) == expected


@runs.examples(50)
@given(POSITIONS, st.integers(0, 1 << 40))
def test_shifted(positions: set[int], by: int) -> None:
    moved = of(positions).shifted(by)
    assert listed(moved) == [at + by for at in sorted(positions)]
    assert listed(moved.shifted(-by)) == sorted(positions)


def test_positions_may_repeat_but_not_fall() -> None:
    assert listed(Ranges.of_positions(np.array([3, 3, 4, 9, 9], np.uint64))) == [3, 4, 9]
    with pytest.raises(ValueError, match="ascending"):
        Ranges.of_positions(np.array([3, 2], np.uint64))


@pytest.mark.parametrize("kernels", runs.KERNELS, ids=lambda kernels: kernels.__name__)
def test_kernels_refuse_what_are_no_ranges(kernels: Any) -> None:
    def u8(*values: int) -> np.ndarray[Any, Any]:
        return np.array(values, np.uint64)

    for starts, ends in [(u8(2), u8(2)), (u8(0, 3), u8(3, 4)), (u8(5, 1), u8(6, 2)), (u8(1, 2), u8(9))]:
        for name in ("unite_ranges", "intersect_ranges", "subtract_ranges"):
            with pytest.raises(ValueError, match="ascending"):
                getattr(kernels, name)(u8(1), u8(4), starts, ends)
            with pytest.raises(ValueError, match="ascending"):
                getattr(kernels, name)(starts, ends, u8(1), u8(4))
    with pytest.raises(ValueError, match="too short"):
        kernels.ranges_of_bitmap(np.zeros(2, np.uint8), 3, 14, 0)
