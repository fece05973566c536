"""Filters of the words of whole shards, so that shards without a rare word are ruled out before they are opened.

The filter of a column in a shard has the hashes of all terms of its term indexes, without regard to case. It is cut
into slices, and the hash of a word says which slice has it. The same slice of all shards is one column of the catalog,
so that a question about a word reads a small part of all filters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.index import Terms, term_hash
from amudai.plan import PlainLeaf, vocabularies
from amudai.shard import ShardReader
from amudai.stats import build_filter, probe_each
from amudai.types import BasicType, NodePath, quote_name

__all__ = [
    "MOST_SLICES",
    "MOST_WORD_BYTES",
    "WordColumn",
    "WordFilters",
    "filters_of",
    "possible_by_words",
    "slice_of",
    "slices_for",
    "words_of",
]

Bools: TypeAlias = npt.NDArray[np.bool_]
Hashes: TypeAlias = npt.NDArray[np.uint64]

# The filter of one column of one shard is not larger than this, unless the user asks for another size.
MOST_WORD_BYTES: Final = 1 << 15
# The share of words that are not in a shard and are not ruled out; the second one if the filter would be too large.
_RATES: Final = (0.001, 0.1)
# A slice is meant for about this many words of the shard with the most words.
_SLICE_WORDS: Final = 64
MOST_SLICES: Final = 64
# Mixes the bits of a hash, because filters use its halves for other purposes.
_MIXER: Final = np.uint64(0x9E3779B97F4A7C15)
_SLICE_SHIFT: Final = np.uint64(58)  # leaves six bits, enough for `MOST_SLICES`


@dataclass(frozen=True, slots=True)
class WordColumn:
    """A column of which the words are known, or the whole values if `whole`."""

    path: str
    whole: bool


# The filters of the slice of a hash, one for each shard; null for shards whose words are not known. None if no shard's
# words are known.
WordFilters: TypeAlias = Callable[[WordColumn, int], pa.Array | None]


def words_of(shard: ShardReader, paths: Mapping[str, NodePath], most_bytes: int) -> dict[WordColumn, Hashes]:
    """The hashes of the terms of columns whose term indexes cover all rows.

    Columns with more terms than fit into a filter of `most_bytes` are left out.
    """
    most_words = int(most_bytes * 8 / _bits(_RATES[-1]))
    found: dict[WordColumn, Hashes] = {}
    for path, nodes in paths.items():
        if nodes[-1].basic_type is not BasicType.STRING or not most_words:
            continue
        for known in vocabularies(shard, nodes):
            hashes = _distinct(known.hashes, most_words)
            if hashes is not None:
                found[WordColumn(path, known.whole)] = hashes
    return found


def _distinct(groups: Iterable[Hashes], most: int) -> Hashes | None:
    """The distinct hashes of all groups; None if there are more than `most`."""
    found = np.empty(0, np.uint64)
    for group in groups:
        found = np.union1d(found, group)
        if len(found) > most:
            return None
    return found


def _bits(rate: float) -> float:
    """The bits for each value of a filter with this rate of false positives."""
    return float(-np.log(rate) / np.log(2) ** 2)


def slices_for(most_words: int) -> int:
    """Into how many slices the filters of a column are cut, if the shard with the most words has `most_words`.

    >>> [slices_for(words) for words in (0, 100, 3000, 100_000)]
    [1, 1, 32, 64]
    """
    wanted = max(1, most_words // _SLICE_WORDS)
    return int(min(MOST_SLICES, 1 << (wanted.bit_length() - 1)))


def filters_of(hashes: Hashes, slices: int, most_bytes: int) -> list[bytes] | None:
    """The filter of each slice, empty for a slice without hashes; None if they are larger than `most_bytes`."""
    which = _slice_numbers(hashes, slices)
    parts = [hashes[which == number] for number in range(slices)]
    for rate in _RATES:
        found = [build_filter(part, rate, len(part)) or b"" for part in parts]
        if sum(map(len, found)) <= most_bytes:
            return found
    return None


def slice_of(value_hash: int, slices: int) -> int:
    """The number of the slice that has a hash."""
    return int(_slice_numbers(np.array([value_hash], np.uint64), slices)[0])


def _slice_numbers(hashes: Hashes, slices: int) -> npt.NDArray[np.intp]:
    return ((hashes * _MIXER) >> _SLICE_SHIFT).astype(np.intp) % slices


def possible_by_words(asked: PlainLeaf, filters: WordFilters, count: int) -> Bools:
    """A mask of the shards that may have the words without which no row matches."""
    path = ".".join(quote_name(node.name) for node in asked.leaf.nodes)
    possible = np.ones(count, np.bool_)
    for way in asked.terms:
        column = WordColumn(path, way.whole)
        groups = np.zeros(count, np.bool_)
        for group in way.questions:
            groups |= _with_all(group, column, filters, count)
        possible &= groups
    return possible


def _with_all(terms: tuple[Terms, ...], column: WordColumn, filters: WordFilters, count: int) -> Bools:
    possible = np.ones(count, np.bool_)
    for term in terms:
        value_hash = term_hash(term)
        found = None if value_hash is None else filters(column, value_hash)
        if value_hash is not None and found is not None:
            possible &= _may_have(found, value_hash)
    return possible


def _may_have(filters: pa.Array, value_hash: int) -> Bools:
    import pyarrow.compute as pc  # takes long to import, and few need it

    sizes = np.asarray(pc.binary_length(filters).fill_null(-1).to_numpy(zero_copy_only=False))
    possible: Bools = sizes != 0
    known = np.flatnonzero(sizes > 0)
    possible[known] = probe_each(filters if len(known) == len(filters) else filters.take(pa.array(known)), value_hash)
    return possible
