"""Merging term indexes: sorted terms are merged, and their lists are taken over with other numbers.

The lists of each index are spooled as one run, in a form that a kernel merges. A list stays as it is: each belongs to
one stripe, and stripes of different shards stay different stripes. No value is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.edit import IndexPart, MergedSource
from amudai.errors import CorruptedData, InvalidArgument, UnsupportedFeature, located
from amudai.format import IndexDescriptor
from amudai.index.contract import BuildPlan, IndexSpec
from amudai.index.numbering import Numbering
from amudai.index.paths import paths_of
from amudai.index.term.artifact_columns import TermsColumn
from amudai.index.term.reader import TermReader, open_term_index
from amudai.index.term.slots import SlotMap
from amudai.index.term.spec import TermIndex
from amudai.index.term.stored_form import COLLATIONS, ELEMENT, GRANULARITIES, TOKENIZERS
from amudai.index.term.tree import Leaves, PositionLists
from amudai.index.term.tuning import tuning_of
from amudai.index.term.writing import placed, written
from amudai.shard import ArtifactSpace, ShardReader
from amudai.storage import Spool
from amudai.types import BasicType, NodePath, SchemaNode

__all__ = ["TermMerging", "term_spec"]

U64 = npt.NDArray[np.uint64]

_MAX_STRIPE: Final = 0xFFFF
_AT_ONCE: Final = 1 << 20  # integers of lists that are read at a time


def term_spec(descriptor: IndexDescriptor, shard: ShardReader) -> TermIndex | None:
    """The index that a user would ask for to get one like this; None if it is not complete, or not known in full."""
    paths = paths_of(descriptor, shard)
    properties = {name.lower(): value.value for name, value in descriptor.properties}
    collation = _name_of(COLLATIONS, properties.get("collation"))
    if paths is None or collation is None or not Numbering.of(descriptor, shard).complete:
        return None
    stored = _listed(properties.get("tokenizers"), len(paths), TOKENIZERS["word"])
    tokenizers = [_name_of(TOKENIZERS, each) for each in stored]
    granularities = _listed(properties.get("granularities"), len(paths), GRANULARITIES[0])
    if None in tokenizers or not set(granularities) <= set(GRANULARITIES):
        return None
    return TermIndex(
        *paths,
        tokenizer=[str(each) for each in tokenizers],
        collation=collation,
        granularity=[str(each) for each in granularities],
    )


class TermMerging:
    """A term index that is made of others."""

    def __init__(self, spec: IndexSpec, plan: BuildPlan, parts: Sequence[IndexPart]) -> None:
        if not isinstance(spec, TermIndex):
            raise InvalidArgument(f"index: expected a TermIndex, found {spec!r}")
        self._spec = spec
        self._plan = plan
        self._parts = parts
        self._spool = Spool(plan.temp_folder, plan.memory // 4)
        self._slots: dict[str, list[int]] = {}  # of the shards before each, for fields whose positions are slots

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Write the index and return its descriptor."""
        runs: list[tuple[int, int]] = []
        for part in self._parts:
            with located(url=part.shard.url, index=part.descriptor.index_type):
                start = end = self._spool.size
                for piece in self._run(part):
                    end = self._spool.append(piece) + len(piece)
            runs.append((start, end))
        merge = _kernels.TermListMerge([self._spool.view(start, end) for start, end in runs if start < end])
        spool = Spool(self._plan.temp_folder, self._plan.memory // 8)
        built = written(merge, spool, tuning_of(self._plan.profile))
        found = placed(built, space, self._spec, self._plan)
        self.close()
        return found

    def close(self) -> None:
        """Release memory and temporary files, finished or not."""
        self._spool.close()

    def _run(self, part: IndexPart) -> Iterator[bytes]:
        """The terms of an index with their lists, as the new shard numbers rows, stripes and fields."""
        reader = open_term_index(part.descriptor, part.shard, part.anchor)
        lists_of = _Renumbered(part, reader, self._shifts(part))
        for leaves in reader.tree.all():
            yield from lists_of.pieces(leaves)

    def _shifts(self, part: IndexPart) -> dict[int, int]:
        """What is added to the positions of each field of an index, by its new schema id."""
        shifts = dict.fromkeys(part.ids.values(), part.first_row)
        for name, path, granularity in zip(self._spec.fields, self._plan.paths, self._spec.granularities, strict=True):
            if granularity == ELEMENT:
                shifts[path[-1].schema_id] = self._slots_before(part, name, path)
        return shifts

    def _slots_before(self, part: IndexPart, name: str, path: NodePath) -> int:
        """How many slots of a field are before the first stripe of an index."""
        if name not in self._slots:
            counts = [_slots_of(source, path) for source in part.merging.sources]
            self._slots[name] = [0, *accumulate(counts)]
        own = SlotMap(part.shard, stored_path(part.source, path)[0])
        return self._slots[name][part.merging.sources.index(part.source)] + own.before(part.own_first_stripe)


def stored_path(source: MergedSource, path: NodePath) -> tuple[NodePath, NodePath]:
    """The nodes of a shard for a path of the new shard, and the nodes of the path that the shard does not have."""
    found: list[SchemaNode] = []
    below = source.columns
    for at, node in enumerate(path):
        column = next(each for each in below if each.node.schema_id == node.schema_id)
        if column.stored is None:
            return tuple(found), path[at:]
        found.append(column.stored)
        below = column.children
    return tuple(found), ()


def _slots_of(source: MergedSource, path: NodePath) -> int:
    """How many slots a field has in a shard. Where the shard lacks the field, nulls take its place."""
    stored, missing = stored_path(source, path)
    count = SlotMap(source.reader, stored).count if stored else source.reader.num_positions
    for node in missing[:-1]:
        if node.basic_type in (BasicType.LIST, BasicType.MAP):
            return 0
        count *= node.fixed_size if node.basic_type is BasicType.FIXED_SIZE_LIST else 1
    return count


class _Renumbered:
    """The lists of one index in a form that can be merged."""

    def __init__(self, part: IndexPart, reader: TermReader, shifts: dict[int, int]) -> None:
        self._reader = reader
        self._first_stripe = part.first_stripe
        stored = sorted(part.ids)
        self._stored = np.array(stored, np.uint32)
        self._ids = np.array([part.ids[each] for each in stored], np.uint32)
        self._shifts = np.array([shifts[part.ids[each]] for each in stored], np.uint64)

    def pieces(self, leaves: Leaves) -> Iterator[bytes]:
        """A group of leaves, some integers at a time."""
        bounds, stripes, lists = self._reader.tree.all_lists(leaves)
        if not len(lists.ends):
            raise CorruptedData("leaf pages: expected position lists, found none")
        if int(stripes.max()) + self._first_stripe > _MAX_STRIPE:
            raise UnsupportedFeature(f"term index: expected at most {_MAX_STRIPE + 1} stripes, found more")
        stripes = stripes + np.uint16(self._first_stripe)
        places = np.searchsorted(self._stored, lists.fields)
        if (places == len(self._stored)).any() or (self._stored[places] != lists.fields).any():
            raise CorruptedData("field_schema_id: expected indexed fields, found others")
        # Where the integers of each entry end.
        ends = lists.ends[bounds[1:].astype(np.int64) - 1]
        entry, count = 0, len(leaves.terms)
        while entry < count:
            start = int(lists.starts[int(bounds[entry])])
            last = max(entry + 1, int(np.searchsorted(ends, np.uint64(start + _AT_ONCE), "right")))
            chosen = slice(int(bounds[entry]), int(bounds[last]))
            part = _Slice(
                TermsColumn(leaves.terms.offsets[entry : last + 1], leaves.terms.data),
                bounds[entry : last + 1] - bounds[entry],
                stripes[chosen],
                self._ids[places[chosen]],
                self._shifts[places[chosen]],
                PositionLists(lists.starts[chosen], lists.ends[chosen], lists.forms[chosen], lists.fields[chosen]),
            )
            if int(ends[last - 1]) - start > _AT_ONCE:
                yield from self._long(part)
            else:
                yield self._short(part)
            entry = last

    def _short(self, part: _Slice) -> bytes:
        """Terms whose integers fit into memory together."""
        lists, counts = part.lists, part.lists.ends - part.lists.starts
        integers = self._reader.integers(int(lists.starts[0]), int(lists.ends[-1]))
        shifts = part.shifts
        integers = integers + (shifts[0] if (shifts == shifts[0]).all() else np.repeat(shifts, counts.astype(np.int64)))
        return _kernels.term_lists(
            part.terms.offsets, part.terms.data, part.bounds, part.stripes, part.ids, lists.forms, counts, integers
        )

    def _long(self, part: _Slice) -> Iterator[bytes]:
        """One term with more integers than may be read at a time."""
        offsets, data = part.terms.offsets, part.terms.data
        term = data[int(offsets[0]) : int(offsets[1])].tobytes()
        yield bytes([len(term)]) + term + _varint(len(part.stripes))
        for at in range(len(part.stripes)):
            start, end = int(part.lists.starts[at]), int(part.lists.ends[at])
            facts = (int(part.stripes[at]), int(part.ids[at]), int(part.lists.forms[at]), end - start)
            yield b"".join(map(_varint, facts))
            before = 0
            for first in range(start, end, _AT_ONCE):
                integers = self._reader.integers(first, min(first + _AT_ONCE, end)) + part.shifts[at]
                yield _kernels.list_steps(integers, before, first == start)
                before = int(integers[-1])


class _Slice:
    """Some terms of a group of leaves, with their lists."""

    __slots__ = ("bounds", "ids", "lists", "shifts", "stripes", "terms")

    def __init__(
        self,
        terms: TermsColumn,
        bounds: U64,
        stripes: npt.NDArray[np.uint16],
        ids: npt.NDArray[np.uint32],
        shifts: U64,
        lists: PositionLists,
    ) -> None:
        self.terms = terms
        self.bounds = bounds
        self.stripes = stripes
        self.ids = ids
        self.shifts = shifts
        self.lists = lists


def _varint(number: int) -> bytes:
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _name_of(names: Mapping[str, str], stored: object) -> str | None:
    return next((name for name, value in names.items() if value == stored), None)


def _listed(stored: object, count: int, missing: str) -> list[object]:
    """One setting for each field; `missing` where the descriptor has none."""
    found: list[object] = [each.value for each in stored] if isinstance(stored, tuple) else []
    return [*found[:count], *[missing] * (count - len(found))]
