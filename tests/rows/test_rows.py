"""Sets of positions, as ranges and as bitmaps, beside Python's own sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amudai.rows import Rows
from tests.effort import examples
from tests.kernel_modules import KERNELS

pytestmark = pytest.mark.native

POSITIONS = st.sets(st.integers(0, 60) | st.integers(0, 3000), max_size=40)
BOUNDS = st.integers(0, 70) | st.integers(0, 3100)


def of(positions: set[int]) -> Rows:
    return Rows.of_positions(np.array(sorted(positions), np.uint64))


def listed(ranges: Rows) -> list[int]:
    """Every position in order, after a look at the form."""
    assert ranges.starts.dtype == ranges.ends.dtype == np.uint64
    assert ranges.num_ranges == len(ranges.starts) == len(ranges.ends)
    assert bool(ranges) == (ranges.count > 0)
    assert (ranges.starts < ranges.ends).all()
    assert (ranges.ends[:-1] < ranges.starts[1:]).all(), "ranges ascend and do not touch"
    found = [at for s, e in zip(ranges.starts.tolist(), ranges.ends.tolist(), strict=True) for at in range(s, e)]
    assert ranges.count == len(found)
    assert ranges.end == (found[-1] + 1 if found else 0)
    return found


@examples(100)
@given(BOUNDS, BOUNDS)
def test_one(start: int, end: int) -> None:
    assert listed(Rows.one(start, end)) == list(range(start, end))


@examples(100)
@given(POSITIONS)
def test_of_positions(positions: set[int]) -> None:
    assert listed(of(positions)) == sorted(positions)


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=20))
def test_joined(steps: list[tuple[int, int]]) -> None:
    """Gaps and lengths, of which any may be 0: ranges that touch become one, empty ones go."""
    starts, ends, at = [], [], 0
    for gap, length in steps:
        starts.append(at + gap)
        ends.append(at + gap + length)
        at = ends[-1]
    expected = sorted({at for start, end in zip(starts, ends, strict=True) for at in range(start, end)})
    assert listed(Rows.joined(np.array(starts, np.uint64), np.array(ends, np.uint64))) == expected


@examples(100)
@given(POSITIONS, BOUNDS, BOUNDS)
@example({0, 1, 3}, 1, 1)  # nothing of ranges that lie around it
def test_clip(positions: set[int], start: int, end: int) -> None:
    start, end = min(start, end), max(start, end)
    assert listed(of(positions).clip(start, end)) == [at for at in sorted(positions) if start <= at < end]


@examples(100)
@given(BOUNDS, BOUNDS, BOUNDS, BOUNDS)
def test_clip_of_one_range(first: int, last: int, start: int, end: int) -> None:
    start, end = min(start, end), max(start, end)
    expected = [at for at in range(first, last) if start <= at < end]
    assert listed(Rows.one(first, last).clip(start, end)) == expected


@examples(100)
@given(POSITIONS, st.integers(0, 9))
def test_times(positions: set[int], factor: int) -> None:
    expected = [at * factor + item for at in sorted(positions) for item in range(factor)]
    assert listed(of(positions).times(factor)) == expected


@examples(100)
@given(POSITIONS, st.integers(1, 50))
def test_parts(positions: set[int], most: int) -> None:
    parts = of(positions).parts(most)
    assert [at for part in parts for at in listed(part)] == sorted(positions)
    assert all(part.count <= most for part in parts)
    # As few parts as there can be: all but the last are full.
    assert all(part.count == most for part in parts[:-1])


@examples(100)
@given(BOUNDS, BOUNDS, st.integers(1, 50))
def test_parts_of_one_range(start: int, end: int, most: int) -> None:
    parts = Rows.one(start, end).parts(most)
    assert [at for part in parts for at in listed(part)] == list(range(start, end))
    assert all(part.count <= most for part in parts)


@examples(100)
@given(POSITIONS, st.integers(1, 9))
def test_nothing_is_changed_in_place(positions: set[int], most: int) -> None:
    ranges = of(positions)
    ranges.parts(most), ranges.clip(3, 40), ranges.times(2)
    assert listed(ranges) == sorted(positions)


def test_positions_near_the_end_of_64_bits() -> None:
    last = (1 << 64) - 2
    ranges = Rows.of_positions(np.array([0, last], np.uint64))
    assert (ranges.count, ranges.end) == (2, last + 1)
    assert ranges.clip(last, last + 1).shifted(-last).starts.tolist() == [0]


@examples(200)
@given(POSITIONS, POSITIONS)
@example(set(range(9)), {3, 4})
@example({0, 1, 2, 8}, {3, 4, 9})  # they touch and make one
def test_sets(left: set[int], right: set[int]) -> None:
    a, b = of(left), of(right)
    assert listed(a.unite(b)) == sorted(left | right)
    assert listed(a.intersect(b)) == sorted(left & right)
    assert listed(a.subtract(b)) == sorted(left - right)
    assert a.count_common(b) == len(left & right)


@examples(100)
@given(POSITIONS, POSITIONS, POSITIONS, st.integers(1, 9))
def test_parts_know_their_set(positions: set[int], gone: set[int], more: set[int], most: int) -> None:
    whole = of(positions)
    left = whole.subtract(of(gone))
    for part in left.each_part(most):
        rest = part.subtract(of(more))
        for of_part in (part, rest):
            assert listed(whole.intersect(of_part)) == listed(of_part.intersect(left)) == listed(of_part)
        assert listed(rest.intersect(of(more))) == []
        assert listed(part.intersect(of(more))) == sorted(set(listed(part)) & more)
    chosen = left.selected(np.arange(left.count) % 2 == 0)
    assert listed(chosen.intersect(whole)) == sorted(positions - gone)[::2]


def test_sets_in_between_are_not_kept() -> None:
    """What is subtracted in many steps refers to the first set alone."""
    rows = whole = Rows.one(0, 100)
    for at in range(50):
        rows = rows.subtract(Rows.one(2 * at, 2 * at + 1))
    assert rows.part_of is whole


@examples(60)
@given(st.lists(POSITIONS, max_size=9))
def test_united(parts: list[set[int]]) -> None:
    assert listed(Rows.united([of(part) for part in parts])) == sorted(set().union(*parts))


@examples(60)
@given(st.integers(0, 1 << 32), st.integers(1, 6), st.integers(0, 40), st.booleans())
def test_sets_of_which_one_is_much_larger(seed: int, longest: int, few: int, turned: bool) -> None:
    rng = np.random.default_rng(seed)
    edges = np.cumsum(rng.integers(1, longest + 1, 2 * 3000).astype(np.uint64))
    many = Rows(edges[::2], edges[1::2])
    small = of({int(at) for at in rng.integers(0, int(edges[-1]) + 20, few)})
    a, b = (small, many) if turned else (many, small)
    left, right = set(a.positions().tolist()), set(b.positions().tolist())
    assert listed(a.unite(b)) == sorted(left | right)
    assert listed(a.intersect(b)) == sorted(left & right)
    assert listed(a.subtract(b)) == sorted(left - right)
    assert a.count_common(b) == len(left & right)


@pytest.mark.slow
@examples(60)
@given(st.integers(0, 1 << 32), st.integers(0, 1 << 40), st.tuples(*[st.integers(1, 900)] * 4))
@example(1, 0, (1, 400, 1, 400))
@example(2, (1 << 17) - 70, (700, 1, 1, 1))
def test_sets_that_lie_close_together(seed: int, base: int, longest: tuple[int, int, int, int]) -> None:
    rng = np.random.default_rng(seed)

    def ranges(size: int, gap: int) -> Rows:
        steps = np.stack([rng.integers(1, gap + 1, 600), rng.integers(1, size + 1, 600)], axis=1).reshape(-1)
        edges = np.cumsum(steps).astype(np.uint64) + np.uint64(base)
        return Rows(edges[::2], edges[1::2])

    a, b = ranges(*longest[:2]), ranges(*longest[2:])
    expected = np.intersect1d(a.positions(), b.positions())
    for found in (a.intersect(b), b.intersect(a)):
        assert np.array_equal(found.positions(), expected)
        assert (found.starts[1:] > found.ends[:-1]).all()
        assert (found.starts < found.ends).all()


@examples(100)
@given(POSITIONS)
def test_positions(positions: set[int]) -> None:
    assert of(positions).positions().tolist() == sorted(positions)


@examples(100)
@given(st.lists(st.booleans(), max_size=300), st.integers(0, 1 << 40))
@example([True] * 128, 7)
@example([False] * 63 + [True] * 2, 0)
def test_masks_and_bitmaps(mask: list[bool], base: int) -> None:
    expected = [base + at for at, wanted in enumerate(mask) if wanted]
    array = np.array(mask, np.bool_)
    assert listed(Rows.of_mask(array, base)) == expected
    assert listed(Rows.of_bits(np.packbits(array, bitorder="little"), base, len(mask))) == expected


@examples(50)
@given(POSITIONS, st.integers(0, 1 << 40))
def test_shifted(positions: set[int], by: int) -> None:
    moved = of(positions).shifted(by)
    assert listed(moved) == [at + by for at in sorted(positions)]
    assert listed(moved.shifted(-by)) == sorted(positions)


def test_positions_may_repeat_but_not_fall() -> None:
    assert listed(Rows.of_positions(np.array([3, 3, 4, 9, 9], np.uint64))) == [3, 4, 9]
    with pytest.raises(ValueError, match="ascending"):
        Rows.of_positions(np.array([3, 2], np.uint64))


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
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


# ---- bitmaps ----


@st.composite
def dense(draw: st.DrawFn) -> tuple[Rows, set[int]]:
    """Enough single positions to be held as bits, starting anywhere."""
    start = draw(st.integers(0, 300) | st.integers(1 << 40, (1 << 40) + 70))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    mask = rng.random(draw(st.integers(9000, 9200))) < draw(st.sampled_from([0.3, 0.5, 0.8]))
    return Rows.of_mask(mask, start), {start + int(at) for at in np.flatnonzero(mask)}


SETS = dense() | st.tuples(POSITIONS, st.integers(0, 9000)).map(lambda each: both({at + each[1] for at in each[0]}))


def both(positions: set[int]) -> tuple[Rows, set[int]]:
    return of(positions), positions


@examples(60)
@given(dense(), SETS)
def test_bitmaps_combine_with_each_other_and_with_ranges(
    left: tuple[Rows, set[int]], right: tuple[Rows, set[int]]
) -> None:
    (a, one), (b, other) = left, right
    assert a._words is not None, "a set of many single positions is held as bits"
    for first, second, expected in ((a, b, (one, other)), (b, a, (other, one))):
        assert listed(first.unite(second)) == sorted(expected[0] | expected[1])
        assert listed(first.intersect(second)) == sorted(expected[0] & expected[1])
        assert listed(first.subtract(second)) == sorted(expected[0] - expected[1])
        assert first.count_common(second) == len(expected[0] & expected[1])


@examples(60)
@given(dense(), st.integers(0, 200), st.integers(1, 4000), st.integers(0, 1 << 32))
def test_bitmaps_are_cut_moved_and_chosen_from(rows: tuple[Rows, set[int]], skip: int, most: int, seed: int) -> None:
    found, expected = rows
    ordered = sorted(expected)
    low, high = ordered[0] + skip, ordered[-1] - skip
    assert listed(found.clip(low, high)) == [at for at in ordered if low <= at < high]
    assert [at for part in found.parts(most) for at in listed(part)] == ordered
    assert listed(found.first(most)) == ordered[:most]
    assert listed(found.shifted(64)) == [at + 64 for at in ordered]
    assert listed(found.shifted(skip)) == [at + skip for at in ordered]
    mask = np.random.default_rng(seed).random(len(ordered)) < 0.5
    assert listed(found.selected(mask)) == [at for at, wanted in zip(ordered, mask, strict=True) if wanted]
    assert listed(found.hull) == list(range(ordered[0], ordered[-1] + 1))
    assert found.is_dense
    assert found.positions().tolist() == ordered


def test_few_ranges_stay_ranges() -> None:
    mask = np.zeros(1 << 20, np.bool_)
    mask[::4096] = True
    assert Rows.of_mask(mask)._words is None
    assert not Rows.of_mask(mask).is_dense


def test_ranges_with_short_gaps_are_dense() -> None:
    whole = Rows.one(100, 5000)
    few = whole.subtract(Rows.of_positions(np.array([300, 301, 4000], np.uint64)))
    assert few.is_dense
    assert listed(few.hull) == listed(whole)
    assert not whole.is_dense  # it is its own hull
    assert not whole.subtract(Rows.one(200, 1000)).is_dense


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_kernels_refuse_bitmaps_that_are_too_short(kernels: Any) -> None:
    with pytest.raises(ValueError, match="too short"):
        kernels.align_bits(np.zeros(2, np.uint8), 17, 0)
    with pytest.raises(ValueError, match="offset"):
        kernels.align_bits(np.zeros(2, np.uint8), 16, 64)
    with pytest.raises(ValueError, match="too short"):
        kernels.few_ranges_of_bitmap(np.zeros(2, np.uint8), 17, 0, 9)
    one = np.ones(1, np.uint64)
    with pytest.raises(ValueError, match="count"):
        kernels.bits_of_ranges(one, one + one, 1 << 63, 1 << 60)
