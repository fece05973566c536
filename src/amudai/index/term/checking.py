"""Comparing two term indexes: that of a shard, and one that was built from its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

import numpy as np

from amudai.errors import CorruptedData
from amudai.format import IndexDescriptor
from amudai.index.numbering import Numbering
from amudai.index.paths import field_paths
from amudai.index.term.reader import TermReader, open_term_index
from amudai.rows import Rows
from amudai.shard import ShardReader
from amudai.storage import Artifact
from amudai.types import find_in

__all__ = ["same_terms"]

_POSITIONS: Final = 0  # a list of rows; lists of other forms have the begin and the end of ranges
_EXACT_RANGES: Final = 1
_NO_SHIFTS: Final[Mapping[int, int]] = {}
# The rows of a term by stripe and field, and whether they are exact.
_Lists: TypeAlias = dict[tuple[int, int], tuple[bool, Rows]]


def same_terms(
    descriptor: IndexDescriptor,
    rebuilt: IndexDescriptor,
    shard: ShardReader,
    anchor: Artifact,
    own: Artifact,
    first: int,
) -> bool:
    """Raise CorruptedData if the index lacks a term or a row of a term, or has one too many.

    The first stripe that the index covers is stripe `first` of the shard.
    """
    numbering = Numbering.of(descriptor, shard)
    fields = {stored: each for each, stored in numbering.ids.items()}
    if len(fields) < len(rebuilt.indexed_fields):
        return False
    index = open_term_index(descriptor, shard, anchor)
    shifts = {}
    if first != numbering.first_stripe:
        # The index counts slots from an earlier stripe on, and the rebuilt one from the first stripe that it covers.
        if numbering.first_stripe < 0 and index.elements:
            return False  # nobody knows how many slots there were in stripes that are gone
        nodes, paths = shard.schema.fields(), field_paths(shard)
        for each, slots_of in index.elements.items():
            slots = slots_of(find_in(nodes, paths[each]))
            shifts[each] = slots.before(first) - slots.before(numbering.first_stripe)
    found = _terms(index, fields)
    expected = _terms(open_term_index(rebuilt, shard, own), {each: each for each in fields.values()}, shifts)
    one, other = next(expected, None), next(found, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0] < other[0]):
            assert one is not None
            raise CorruptedData(f"term {_shown(one[0])}: expected {_count(one[1])} rows, found no such term")
        if one is None or other[0] < one[0]:
            raise CorruptedData(f"term {_shown(other[0])}: expected no such term, found {_count(other[1])} rows")
        for key in one[1].keys() | other[1].keys():
            _compare(one[0], key, one[1].get(key), other[1].get(key))
        one, other = next(expected, None), next(found, None)
    return True


def _terms(
    reader: TermReader, fields: Mapping[int, int], shifts: Mapping[int, int] = _NO_SHIFTS
) -> Iterator[tuple[bytes, _Lists]]:
    """All terms in order, each with its lists. Lists of fields that the shard does not have any more are left out.

    `shifts` says, by field, what is added to its positions.
    """
    for leaves in reader.tree.all():
        bounds, stripes, lists = reader.tree.all_lists(leaves)
        offsets, data = leaves.terms.offsets, leaves.terms.data
        for at in range(len(leaves.terms)):
            found: _Lists = {}
            for place in range(int(bounds[at]), int(bounds[at + 1])):
                field = fields.get(int(lists.fields[place]))
                if field is None:
                    continue
                integers = reader.integers(Rows.one(int(lists.starts[place]), int(lists.ends[place])))
                form = int(lists.forms[place])
                if form != _POSITIONS and (len(integers) % 2 or (integers[::2] >= integers[1::2]).any()):
                    raise CorruptedData("position list: expected the begin and the end of each range, found others")
                rows = Rows.of_positions(np.unique(integers)) if form == _POSITIONS else _ranges(integers)
                rows = rows.shifted(shifts.get(field, 0))
                found[int(stripes[place]), field] = form in (_POSITIONS, _EXACT_RANGES), rows
            if found:
                yield data[int(offsets[at]) : int(offsets[at + 1])].tobytes(), found


def _ranges(integers: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Rows:
    return Rows.united(
        [Rows.one(low, high) for low, high in zip(integers[::2].tolist(), integers[1::2].tolist(), strict=True)]
    )


def _compare(
    term: bytes, key: tuple[int, int], expected: tuple[bool, Rows] | None, found: tuple[bool, Rows] | None
) -> None:
    wanted = Rows.none() if expected is None else expected[1]
    is_exact, rows = (True, Rows.none()) if found is None else found
    missing, more = wanted.subtract(rows), rows.subtract(wanted)
    if missing:
        first = int(missing.starts[0])
        message = f"expected row {first} and {missing.count - 1} others in stripe {key[0]}, found a list without them"
        raise CorruptedData(f"term {_shown(term)}: {message}")
    if is_exact and more:
        message = f"expected {wanted.count} rows in stripe {key[0]}, found {rows.count}, row {int(more.starts[0])} too"
        raise CorruptedData(f"term {_shown(term)}: {message}")


def _count(lists: _Lists) -> int:
    return sum(rows.count for _, rows in lists.values())


def _shown(term: bytes) -> str:
    return repr(term.decode("utf-8", "replace"))
