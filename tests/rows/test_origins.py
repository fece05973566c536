"""Positions know what they are counted from, and sets of different origins do not mix."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.rows import SLOTS, Origin, Positions, Rows, Visibility, row_range, row_ranges

LAKE = Origin("dataset", "file:///logs/", 1000)
SHARD = LAKE.part("shard", "file:///logs/a.amudai.shard", 100, 700)
STRIPES = [
    SHARD.part("stripe", str(at), first, size) for at, (first, size) in enumerate([(0, 200), (200, 0), (200, 500)])
]
ORIGINS = [LAKE, SHARD, *STRIPES, SLOTS]


@pytest.mark.parametrize("one", ORIGINS, ids=str)
@pytest.mark.parametrize("other", ORIGINS, ids=str)
@pytest.mark.parametrize("combine", [Rows.unite, Rows.intersect, Rows.subtract], ids=lambda each: each.__name__)
def test_sets_of_different_origins_do_not_mix(
    one: Origin, other: Origin, combine: Callable[[Rows, Rows], Rows]
) -> None:
    left, right = Rows.one(3, 9, one), Rows.one(5, 12, other)
    if one is other:
        assert combine(left, right).origin is one
    else:
        with pytest.raises(TypeError, match="cannot be combined"):
            combine(left, right)
        with pytest.raises(TypeError, match="cannot be combined"):
            combine(Rows.none(one), Rows.none(other))


def test_answers_of_different_origins_do_not_mix() -> None:
    shard, stripe = Positions.surely(Rows.all(SHARD)), Positions.perhaps(Rows.all(STRIPES[0]))
    for combine in (Positions.__and__, Positions.__or__, Positions.refined):
        with pytest.raises(TypeError, match="stripe 0 of shard file:///logs/a"):
            combine(shard, stripe)


def test_the_same_origin_from_elsewhere_is_the_same() -> None:
    there = pickle.loads(pickle.dumps(SHARD))
    assert Rows.one(0, 5, SHARD).intersect(Rows.one(3, 9, there)).count == 2


@given(st.sets(st.integers(0, 699), max_size=60))
def test_rows_go_into_parts_and_come_back(positions: set[int]) -> None:
    rows = Rows.of_positions(np.array(sorted(positions), np.uint64), SHARD)
    inside = [rows.inward(stripe) for stripe in STRIPES]
    assert [each.origin for each in inside] == STRIPES
    assert inside[2].positions().tolist() == [at - 200 for at in sorted(positions) if at >= 200]
    assert Rows.concatenated([each.outward() for each in inside], SHARD).positions().tolist() == sorted(positions)
    assert rows.outward().positions().tolist() == [at + 100 for at in sorted(positions)]
    assert [Rows.extent(stripe).count for stripe in STRIPES] == [200, 0, 500]


def test_rows_are_looked_for_in_parts_of_their_origin_alone() -> None:
    with pytest.raises(TypeError, match="cannot be looked for in stripe"):
        Rows.all(LAKE).inward(STRIPES[0])
    with pytest.raises(TypeError, match="not a part of anything"):
        Rows.all(LAKE).outward()
    with pytest.raises(TypeError, match="use inward or outward"):
        Rows.all(SHARD).shifted(3)


def test_named_rows_have_the_origin_of_their_table() -> None:
    assert row_range(slice(-5, None), SHARD).positions().tolist() == [695, 696, 697, 698, 699]
    found, order = row_ranges([7, 3, 7], SHARD)
    assert (found.origin, found.positions().tolist()) == (SHARD, [3, 7])
    assert order is not None
    assert order.tolist() == [1, 0, 1]


@given(st.sets(st.integers(0, 699)), st.sets(st.integers(0, 699)), st.sets(st.integers(0, 699)))
def test_deleted_rows_are_neither_sure_nor_in_doubt(yes: set[int], maybe: set[int], deleted: set[int]) -> None:
    def rows(positions: set[int]) -> Rows:
        return Rows.of_positions(np.array(sorted(positions), np.uint64), SHARD)

    answer = Positions(rows(yes - maybe), rows(maybe))
    assert Visibility(SHARD).of(answer) is answer
    left = Visibility(SHARD, lambda _: rows(deleted)).of(answer)
    assert left.yes.positions().tolist() == sorted(yes - maybe - deleted)
    assert left.maybe.positions().tolist() == sorted(maybe - deleted)
