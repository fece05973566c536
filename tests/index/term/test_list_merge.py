"""The kernel that merges terms with their lists: however the sources are fed, nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai import CorruptedData, _kernels
from tests.effort import examples

NOTHING = np.empty(0, np.uint64)


class Stored(NamedTuple):
    """A list: how many of its first integers are copied, the ticket of these, and the others."""

    copied: int
    ticket: int
    integers: list[int]


Source = dict[bytes, list[Stored]]

integers = st.lists(st.integers(0, 999), unique=True, max_size=5).map(sorted)
lists = st.builds(
    lambda copied, ticket, own: Stored(copied, ticket if copied else 0, own if own or copied else [1]),
    st.sampled_from([0, 0, 600]),
    st.integers(1, 9),
    integers,
)
sources: st.SearchStrategy[Source] = st.dictionaries(
    st.text("ABC", min_size=1, max_size=3).map(str.encode), st.lists(lists, min_size=1, max_size=3), max_size=12
)


def batches(source: Source, number: int, size: int, *, apart: bool) -> Iterator[tuple[Any, ...]]:
    """What a source is fed: `size` terms at a time, the integers with them, or list by list behind them."""
    terms = sorted(source)
    for low in range(0, len(terms), size):
        mine = terms[low : low + size]
        held = [each for term in mine for each in source[term]]
        bounds = np.cumsum([0, *(len(source[term]) for term in mine)]).astype(np.uint64)
        chosen = [at for at, each in enumerate(held) if each.copied]
        own = [each.integers for each in held]
        yield (
            np.cumsum([0, *map(len, mine)]).astype(np.int64),
            np.frombuffer(b"".join(mine), np.uint8),
            None if len(held) == len(mine) else bounds,
            np.array([number], np.uint16),
            np.arange(len(held), dtype=np.uint32),
            np.zeros(1, np.uint8),
            np.array([1000 * number], np.uint64),
            np.array([each.copied + len(each.integers) for each in held], np.uint64),
            np.array(chosen, np.uint64),
            np.array([held[at].copied for at in chosen], np.uint64),
            np.array([held[at].ticket for at in chosen], np.uint64),
            NOTHING if apart else np.array([each for some in own for each in some], np.uint64),
        )
        for some in own if apart else []:
            if some:
                yield (np.array(some, np.uint64),)


def merged(fed: list[Iterator[tuple[Any, ...]]], terms: int, most: int) -> dict[bytes, list[tuple[int, Stored]]]:
    """Each term with the stripe and the contents of its lists, in the order of the merge."""
    merge = _kernels.TermListMerge(len(fed))
    found: dict[bytes, list[tuple[int, Stored]]] = {}
    order: list[bytes] = []
    at = -1
    while True:
        while hungry := merge.hungry:
            for source in hungry:
                batch = next(fed[source], None)
                if batch is None:
                    merge.end(source)
                elif len(batch) == 1:
                    merge.feed_integers(source, *batch)
                else:
                    merge.feed(source, *batch)
        if merge.done:
            return found
        piece = merge.next(terms, most)
        data, begins = piece.terms().tobytes(), piece.begins().tolist()
        for length in piece.lengths().tolist():
            order.append(data[:length])
            found[order[-1]] = []
            data = data[length:]
        copied, values = piece.copied().tolist(), piece.integers().tolist()
        for number, (stripe, count, ticket) in enumerate(
            zip(piece.stripes().tolist(), piece.counts().tolist(), piece.tickets().tolist(), strict=True)
        ):
            at += begins[number]
            own, values = values[: count - copied[number]], values[count - copied[number] :]
            if number == 0 and piece.continues:
                found[order[at]][-1][1].integers.extend(own)
            else:
                found[order[at]].append((stripe, Stored(copied[number], ticket, own)))


@given(st.lists(sources, max_size=4), st.integers(1, 5), st.integers(1, 4), st.booleans())
@examples(60)
def test_every_way_to_feed_gives_the_same(given: list[Source], size: int, terms: int, apart: bool) -> None:
    fed = [batches(source, number, size, apart=apart) for number, source in enumerate(given)]
    found = merged(fed, terms, 3)
    assert list(found) == sorted({term for source in given for term in source})
    for term, stored in found.items():
        assert stored == [
            (number, each._replace(integers=[1000 * number + value for value in each.integers]))
            for number, source in enumerate(given)
            for each in source.get(term, [])
        ]


def test_terms_and_integers_must_ascend() -> None:
    fed = list(batches({b"A": [Stored(0, 0, [5, 5])]}, 0, 1, apart=False))
    with pytest.raises(CorruptedData, match="expected ascending integers"):
        merged([iter(fed)], 9, 9)
    fed = [
        *batches({b"B": [Stored(0, 0, [1])]}, 0, 1, apart=False),
        *batches({b"A": [Stored(0, 0, [1])]}, 0, 1, apart=False),
    ]
    with pytest.raises(CorruptedData, match="expected an ascending order"):
        merged([iter(fed)], 9, 9)
