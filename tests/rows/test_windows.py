"""The positions of a set in many windows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.rows import Origin, Positions, Rows, rows_in_windows
from tests.effort import examples

SHARD = Origin("shard", "a", 1 << 20)


def bounds(*fences: int) -> tuple[np.ndarray, np.ndarray]:
    """Windows next to each other, from fence to fence."""
    return np.array(fences[:-1], np.uint64), np.array(fences[1:], np.uint64)


def shown(rows: Rows, *fences: int) -> list[tuple[int, list[tuple[int, int]]]]:
    return [
        (window, list(zip(mine.starts.tolist(), mine.ends.tolist(), strict=True)))
        for window, mine in rows_in_windows(rows, *bounds(*fences))
    ]


def test_a_range_is_cut_where_windows_end() -> None:
    assert shown(Rows.one(3, 25, SHARD), 0, 10, 20, 30, 40) == [(0, [(3, 10)]), (1, [(10, 20)]), (2, [(20, 25)])]
    assert shown(Rows.one(10, 20, SHARD), 0, 10, 20, 30) == [(1, [(10, 20)])]


def test_windows_without_positions_are_left_out() -> None:
    rows = Rows.joined(np.array([2, 31, 45], np.uint64), np.array([5, 33, 60], np.uint64), SHARD)
    assert shown(rows, 0, 10, 20, 40, 50, 50, 50, 60, 70) == [
        (0, [(2, 5)]),
        (2, [(31, 33)]),
        (3, [(45, 50)]),
        (6, [(50, 60)]),
    ]
    assert shown(rows, 3, 3, 4) == [(1, [(3, 4)])], "an empty window inside a range"
    assert shown(Rows.none(SHARD), 0, 10, 20) == []
    assert shown(rows, 0) == []


def test_a_part_knows_its_set_and_leaves_it_as_it_is() -> None:
    rows = Rows.one(3, 25, SHARD)
    parts = [mine for _, mine in rows_in_windows(rows, *bounds(0, 10, 30))]
    assert [mine.part_of for mine in parts] == [rows, rows]
    assert [mine.intersect(rows) for mine in parts] == parts
    assert (rows.starts.tolist(), rows.ends.tolist()) == ([3], [25])


@pytest.mark.parametrize("as_bitmap", [False, True])
@given(
    positions=st.sets(st.integers(0, 3000), max_size=200),
    fences=st.lists(st.integers(0, 3100), min_size=1, max_size=40).map(sorted),
)
@examples(60)
def test_windows_hold_what_intersecting_with_each_finds(
    as_bitmap: bool, positions: set[int], fences: list[int]
) -> None:
    rows = Rows.of_positions(np.array(sorted(positions), np.uint64), SHARD)
    if as_bitmap:
        mask = np.zeros(3008, np.bool_)
        mask[sorted(positions)] = True
        rows = Rows._of_words(np.packbits(mask, bitorder="little").view(np.uint64), 0, SHARD)
    found = {window: mine.positions().tolist() for window, mine in rows_in_windows(rows, *bounds(*fences))}
    wanted = {
        window: inside
        for window, (low, high) in enumerate(pairwise(fences))
        if (inside := [position for position in sorted(positions) if low <= position < high])
    }
    assert found == wanted


def test_answers_about_ascending_rows_are_concatenated() -> None:
    one = Positions(Rows.one(0, 5, SHARD), Rows.one(5, 10, SHARD))
    two = Positions(Rows.none(SHARD), Rows.one(10, 12, SHARD))
    three = Positions(Rows.one(12, 20, SHARD), Rows.none(SHARD))
    bitmap = Positions(Rows._of_words(np.array([0b101], np.uint64), 64, SHARD), Rows.none(SHARD))
    found = Positions.concatenated([one, two, three], SHARD)
    assert (found.yes.starts.tolist(), found.yes.ends.tolist()) == ([0, 12], [5, 20])
    assert (found.maybe.starts.tolist(), found.maybe.ends.tolist()) == ([5], [12])
    mixed = Positions.concatenated([one, bitmap], SHARD)
    assert mixed.yes.positions().tolist() == [0, 1, 2, 3, 4, 64, 66]
    assert mixed.maybe.positions().tolist() == [5, 6, 7, 8, 9]
    assert not Positions.concatenated([], SHARD)
