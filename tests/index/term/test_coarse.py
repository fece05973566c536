"""Does a coarse list hold every row, and does the one that saves most become coarse first?"""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai import _kernels
from tests.effort import examples

pytestmark = pytest.mark.native

EXACT, APPROXIMATE = 0, 2
LOWEST_SIZE = (1 << 64) - 1

Lists = list[tuple[int, list[int]]]


def runs_of(rows_of: dict[bytes, list[int]], cuts: list[int]) -> tuple[list[bytes], list[int]]:
    """Runs of the terms, cut at these rows, and the first row of each."""
    count = 1 + max((row for rows in rows_of.values() for row in rows), default=0)
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < count}), count]
    runs, firsts = [], []
    for first, last in pairwise(edges):
        texts = [b" ".join(term for term in rows_of if row in rows_of[term]) for row in range(first, last)]
        offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        data = np.frombuffer(b"".join(texts) or b"\0", np.uint8)[: int(offsets[-1])]
        run = _kernels.TermRun("unicode-word")
        assert run.add(offsets, data, None, 0, None, None, 0, 0, 1 << 30) == last - first
        if run.terms:
            runs.append(run.finish())
            firsts.append(first)
    return runs, firsts


def merge_of(runs: list[bytes], firsts: list[int], price: int = EXACT) -> _kernels.TermMerge:
    nothing = np.zeros(len(runs), np.uint16)
    return _kernels.TermMerge(runs, nothing, nothing.astype(np.uint32), np.array(firsts, np.uint64), price)


def merged(runs: list[bytes], firsts: list[int], price: int, step: int) -> Lists:
    """Form and integers of each list, in the order of terms."""
    merge = merge_of(runs, firsts, price)
    found: Lists = []
    while not merge.done:
        part = merge.next(3, step)
        forms, counts, integers = part.forms(), part.counts(), part.integers().tolist()
        at = 0
        for number, (form, count) in enumerate(zip(forms.tolist(), counts.tolist(), strict=True)):
            mine = integers[at : at + count]
            at += count
            if number == 0 and part.continues:
                assert found[-1][0] == form
                found[-1][1].extend(mine)
            else:
                found.append((form, mine))
    return found


ROWS = st.one_of(
    st.lists(st.integers(0, 400), min_size=1, max_size=60),
    st.builds(lambda start, size: list(range(start, start + size)), st.integers(0, 200), st.integers(1, 200)),
    st.builds(lambda start, step: list(range(start, start + 150 * step, step)), st.integers(1, 9), st.integers(1, 9)),
)


@given(
    st.dictionaries(st.sampled_from([b"a", b"b", b"c", b"d"]), ROWS.map(lambda rows: sorted(set(rows))), min_size=1),
    st.lists(st.integers(1, 400), max_size=3),
    st.integers(0, 64).map(lambda power: min(1 << power, LOWEST_SIZE)),
    st.sampled_from([1, 50, 65_536]),
)
@examples(150)
def test_coarse_lists_hold_every_row(rows_of: dict[bytes, list[int]], cuts: list[int], price: int, step: int) -> None:
    runs, firsts = runs_of(rows_of, cuts)
    lists = merged(runs, firsts, price, step)
    assert len(lists) == len(rows_of), "no term is ever left out"
    for (_, rows), (form, integers) in zip(sorted(rows_of.items()), lists, strict=True):
        if form == EXACT:
            assert integers == rows
            assert price < LOWEST_SIZE or len(rows) <= 2
            continue
        assert integers == sorted(set(integers))
        pairs = list(zip(integers[::2], integers[1::2], strict=True))
        covered = {row for start, end in pairs for row in range(start, end)}
        if form != APPROXIMATE:
            assert covered == set(rows)
            continue
        assert covered >= set(rows)
        # Rows begin and end with rows of the list, and small gaps are closed before wide ones.
        assert {start for start, _ in pairs} <= set(rows)
        assert {end - 1 for _, end in pairs} <= set(rows)
        gaps = [(after - row - 1, row + 1 in covered) for row, after in pairwise(rows)]
        closed = max((gap for gap, is_closed in gaps if is_closed and gap), default=0)
        assert all(gap > closed for gap, is_closed in gaps if not is_closed)
        assert len(integers) < len(rows)
        if price == LOWEST_SIZE:
            assert len(integers) == 2
    # Runs are how it was gathered, not what it means.
    assert lists == merged(*runs_of(rows_of, []), price, 65_536)


def test_what_lists_take_falls_as_the_price_rises() -> None:
    dice = random.Random(4)
    rows_of = {b"all": list(range(3_000)), b"half": sorted(dice.sample(range(3_000), 1_500))}
    rows_of |= {f"w{n}".encode(): sorted(dice.sample(range(3_000), 2 * n + 1)) for n in range(30)}
    prices = np.array([0, *(1 << power for power in range(8, 60)), LOWEST_SIZE], np.uint64)
    runs, firsts = runs_of(rows_of, [1_000, 1_700])
    merge = merge_of(runs, firsts)
    bits = merge.estimate(prices).tolist()
    assert merge.done
    assert bits == sorted(bits, reverse=True)
    assert bits[0] > 4 * bits[-1]
    counts = [sum(len(integers) for _, integers in merged(runs, firsts, int(price), 1_000)) for price in prices]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == sum(map(len, rows_of.values())) - 3_000 + 2, "one list is a range"


@pytest.mark.slow
def test_dense_lists_give_way_first() -> None:
    """A row in doubt is the price: long, dense lists save most for it."""
    dice = random.Random(4)
    rows_of = {b"dense": sorted(dice.sample(range(4_000), 2_000)), b"sparse": sorted(dice.sample(range(4_000), 20))}
    forms = [[form for form, _ in merged(*runs_of(rows_of, []), 1 << power, 1_000)] for power in range(8, 40, 3)]
    turned = [next(at for at, each in enumerate(forms) if each[number] == APPROXIMATE) for number in range(2)]
    assert turned[0] < turned[1]
