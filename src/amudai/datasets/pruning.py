"""Which shards of a dataset may have rows for which a predicate is true, by facts alone."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.datasets.facts import ColumnFacts, kind_of, outward
from amudai.datasets.words import WordFilters, possible_by_words
from amudai.plan import PlainLeaf
from amudai.predicate import Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr, IsNull, IsValid
from amudai.stats import BLOOM_SEED, hash_value, probe_each
from amudai.types import BYTES, quote_name

__all__ = ["possible_shards"]

Bools: TypeAlias = npt.NDArray[np.bool_]
# The facts of a column, by its path; None if nobody knows any.
FactsLookup: TypeAlias = Callable[[str], ColumnFacts | None]


def possible_shards(bound: Bound, facts: FactsLookup, words: WordFilters, count: int) -> Bools:
    """A mask of the shards that may have rows for which the predicate is true.

    `facts` and `words` are about `count` shards.
    """
    match bound:
        case BoundAlways(value):
            return np.full(count, value)
        case BoundAnd(terms):
            found = np.ones(count, np.bool_)
            for term in terms:
                found &= possible_shards(term, facts, words, count)
            return found
        case BoundOr(terms):
            found = np.zeros(count, np.bool_)
            for term in terms:
                found |= possible_shards(term, facts, words, count)
            return found
        case BoundLeaf():
            return _leaf(bound, facts, words, count)


def _leaf(leaf: BoundLeaf, lookup: FactsLookup, words: WordFilters, count: int) -> Bools:
    asked = PlainLeaf(leaf)
    if not asked.is_single:
        return np.ones(count, np.bool_)
    possible = _by_facts(asked, lookup, count)
    if possible.any() and not asked.inverted:
        possible &= possible_by_words(asked, words, count)
    return possible


def _by_facts(asked: PlainLeaf, lookup: FactsLookup, count: int) -> Bools:
    leaf = asked.leaf
    possible = np.ones(count, np.bool_)
    facts = lookup(".".join(quote_name(node.name) for node in leaf.nodes))
    if facts is None:
        return possible
    all_null = (facts.counts >= 0) & (facts.nulls == facts.counts)
    if isinstance(asked.plain.leaf, IsNull | IsValid):
        wants_null = isinstance(asked.plain.leaf, IsNull) is not leaf.negated
        return np.asarray(facts.nulls != 0) if wants_null else np.asarray(~all_null)
    possible &= ~all_null
    if asked.inverted:
        return possible
    same = facts.kinds == kind_of(asked.node)
    if asked.between is not None:
        wanted = asked.between.possible
        out = np.zeros(count, np.bool_)
        if wanted.high is not None:
            out |= facts.low > outward(wanted.high, 1)
        if wanted.low is not None:
            out |= facts.high < outward(wanted.low, -1)
        possible &= ~(out & same)
    elif facts.first is not None and facts.last is not None and asked.node.basic_type in BYTES:
        possible &= ~_outside(asked, facts.first, facts.last, possible & same)
    if asked.keys is not None and facts.bloom is not None and asked.node.basic_type in BYTES:
        possible &= ~(_absent(asked.keys, facts.bloom, possible) & same)
    return possible


def _outside(asked: PlainLeaf, first: pa.Array, last: pa.Array, which: Bools) -> Bools:
    """A mask of the shards whose texts or bytes are all outside of what is wanted. Only those in `which` are asked."""
    outside = np.zeros(len(which), np.bool_)
    keys = None if asked.keys is None else sorted(asked.keys)
    wanted = asked.byte_range if keys is None else None
    if keys is None and wanted is None:
        return outside
    for at in np.flatnonzero(which).tolist():
        least, greatest = first[at].as_py(), last[at].as_py()
        if wanted is not None:
            outside[at] = wanted.excludes(least, greatest)
        elif keys is not None and (least is not None or greatest is not None):
            begin = 0 if least is None else bisect_left(keys, least)
            outside[at] = begin == (len(keys) if greatest is None else bisect_right(keys, greatest))
    return outside


def _absent(keys: tuple[bytes, ...], bloom: pa.Array, asked: Bools) -> Bools:
    """A mask of the shards all of whose Bloom filters rule out all keys. Only shards in `asked` are looked at."""
    wanted = np.flatnonzero(asked & np.asarray(bloom.is_valid().to_numpy(zero_copy_only=False)))
    held = bloom.take(pa.array(wanted))
    filters = held.flatten()
    hits = np.zeros(len(filters), np.bool_)
    for key in keys:
        hits |= probe_each(filters, hash_value(key, BLOOM_SEED))
    lengths = np.asarray(held.value_lengths().to_numpy(zero_copy_only=False), np.int64)
    owners = np.repeat(wanted, lengths)
    absent = np.zeros(len(asked), np.bool_)
    absent[wanted] = True
    absent[owners[hits]] = False
    return absent
