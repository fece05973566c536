"""Merging term indexes: sorted terms are merged, and their lists are taken over with other numbers.

The lists of each index are spooled as one run, in a form that a kernel merges. A list stays a list: each belongs to one
stripe, and stripes of different shards stay different stripes. Blocks of long lists hold a first row and differences,
so they are copied with another first row. No value is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.edit import IndexPart, MergedSource
from amudai.encoding import BlockBuffer
from amudai.errors import CorruptedData, InvalidArgument, UnsupportedFeature, located
from amudai.format import IndexDescriptor
from amudai.index.contract import BuildPlan, IndexSpec
from amudai.index.numbering import Numbering
from amudai.index.paths import paths_of
from amudai.index.term.artifact_columns import TermsColumn
from amudai.index.term.custom import Collation, Tokenizer, collation_of, tokenizer_of
from amudai.index.term.positions_writer import CopiedBlocks
from amudai.index.term.reader import TermReader, open_term_index
from amudai.index.term.slots import SlotMap
from amudai.index.term.spec import TermIndex
from amudai.index.term.stored_form import COLLATIONS, ELEMENT, GRANULARITIES, TOKENIZERS
from amudai.index.term.tree import Leaves, PositionLists
from amudai.index.term.tuning import tuning_of
from amudai.index.term.writing import placed, written
from amudai.rows import Rows
from amudai.shard import ArtifactSpace, ShardReader
from amudai.storage import Spool
from amudai.types import BasicType, NodePath, SchemaNode

__all__ = ["TermMerging", "term_spec"]

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]

_MAX_STRIPE: Final = 0xFFFF
_AT_ONCE: Final = 1 << 20  # integers of lists that are read at a time
_LEAST_COPIED: Final = 512  # shorter lists are read: they have no blocks of their own
_COPIED_BYTES: Final = 8 * 1024 * 1024  # bytes of blocks that are copied at a time
_NOTHING: Final = np.empty(0, np.uint64)


def term_spec(descriptor: IndexDescriptor, shard: ShardReader) -> TermIndex | None:
    """The index that a user would ask for to get one like this; None if it is not complete, or not known in full."""
    paths = paths_of(descriptor, shard)
    properties = {name.lower(): value.value for name, value in descriptor.properties}
    collation = _name_of(COLLATIONS, properties.get("collation"), collation_of)
    if paths is None or collation is None or not Numbering.of(descriptor, shard).complete:
        return None
    entries = len(descriptor.indexed_fields)
    stored = _listed(properties.get("tokenizers"), entries, TOKENIZERS["word"])
    tokenizers = [_name_of(TOKENIZERS, stored[entry], tokenizer_of) for entry in paths]
    granularities = [_listed(properties.get("granularities"), entries, GRANULARITIES[0])[entry] for entry in paths]
    if None in tokenizers or not set(granularities) <= set(GRANULARITIES):
        return None
    return TermIndex(
        *paths.values(),
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
        # Holds the runs to be merged, and blocks of the new index.
        self._spool = Spool(plan.temp_folder, plan.memory * 3 // 8)
        self._copies: list[CopiedBlocks] = []
        self._slots: dict[str, list[int]] = {}  # of the shards before each, for fields whose positions are slots

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Write the index and return its descriptor."""
        runs: list[list[tuple[int, int]]] = []
        for part in self._parts:
            with located(url=part.shard.url, index=part.descriptor.index_type):
                runs.append([self._spooled(piece) for piece in self._run(part)])
        merge = _kernels.TermListMerge([[self._spool.view(*piece) for piece in run] for run in runs])
        built = written(merge, self._spool, tuning_of(self._plan.profile), self._copies.__getitem__)
        found = placed(built, space, self._spec, self._plan)
        self.close()
        return found

    def close(self) -> None:
        """Release memory and temporary files, finished or not."""
        self._spool.close()

    def _spooled(self, piece: bytes) -> tuple[int, int]:
        start = self._spool.append(piece)
        return start, start + len(piece)

    def _run(self, part: IndexPart) -> Iterator[bytes]:
        """The terms of an index with their lists, as the new shard numbers rows, stripes and fields."""
        reader = open_term_index(part.descriptor, part.shard, part.anchor)
        lists_of = _Renumbered(part, reader, self._shifts(part), self._spool, self._copies)
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
    """The lists of one index in a form that can be merged.

    Blocks that are copied are appended to `spool`, and their places to `copies`. The ticket of a list is its place in
    `copies`.
    """

    def __init__(
        self, part: IndexPart, reader: TermReader, shifts: dict[int, int], spool: Spool, copies: list[CopiedBlocks]
    ) -> None:
        self._reader = reader
        self._spool = spool
        self._copies = copies
        self._first_stripe = part.first_stripe
        stored = sorted(part.ids)
        self._stored = np.array(stored, np.uint32)
        self._ids = np.array([part.ids[each] for each in stored], np.uint32)
        self._shifts = np.array([shifts[part.ids[each]] for each in stored], np.uint64)

    def pieces(self, leaves: Leaves) -> Iterator[bytes]:
        """A group of leaves, some integers at a time."""
        bounds, stripes, lists = self._reader.tree.all_lists(leaves)
        if not len(lists.ends) or (bounds[1:] <= bounds[:-1]).any():
            raise CorruptedData("terms: expected position lists for each, found one without any")
        if int(stripes.max()) + self._first_stripe > _MAX_STRIPE:
            raise UnsupportedFeature(f"term index: expected at most {_MAX_STRIPE + 1} stripes, found more")
        places = np.searchsorted(self._stored, lists.fields)
        if (places == len(self._stored)).any() or (self._stored[places] != lists.fields).any():
            raise CorruptedData("field_schema_id: expected indexed fields, found others")
        shifts = self._shifts[places]
        copied, tickets = self._copied(lists, shifts)
        found = _MovedLists(
            stripes + np.uint16(self._first_stripe),
            self._ids[places],
            lists.forms,
            shifts,
            lists.starts + copied,
            lists.ends,
            copied,
            tickets,
        )
        # How many integers that are not copied there are up to the end of each entry.
        borders = bounds.astype(np.int64)
        read = np.cumsum(found.ends - found.starts)[borders[1:] - 1]
        entry = done = 0
        while entry < len(leaves.terms):
            last = max(entry + 1, int(np.searchsorted(read, np.uint64(done + _AT_ONCE), "right")))
            chosen = found.part(int(borders[entry]), int(borders[last]))
            terms = TermsColumn(leaves.terms.offsets[entry : last + 1], leaves.terms.data)
            if int(read[last - 1]) - done > _AT_ONCE:
                yield from self._long(terms, chosen)
            else:
                yield self._short(terms, bounds[entry : last + 1] - bounds[entry], chosen)
            entry, done = last, int(read[last - 1])

    def _copied(self, lists: PositionLists, shifts: U64) -> tuple[U64, U64]:
        """For each list how many of its first integers are copied with their blocks, and the ticket of the blocks."""
        copied, tickets = np.zeros(len(lists.ends), np.uint64), np.zeros(len(lists.ends), np.uint64)
        chosen = np.flatnonzero(lists.ends - lists.starts >= np.uint64(_LEAST_COPIED))
        blocks = self._reader.blocks
        if blocks is None or not len(chosen):
            return copied, tickets
        low, high = blocks.whole_blocks(lists.starts[chosen], lists.ends[chosen])
        held = (high - low).astype(np.int64)
        borders = np.concatenate(([0], np.cumsum(held)))  # where the blocks of each list begin among all of them
        ordinals = np.arange(borders[-1], dtype=np.uint64) + np.repeat(low - borders[:-1].astype(np.uint64), held)
        found = self._shifted(blocks, ordinals, np.repeat(shifts[chosen], held))
        for at, first, last in zip(chosen.tolist(), borders[:-1].tolist(), borders[1:].tolist(), strict=True):
            copies = found.part(first, last)
            if copies is not None:
                copied[at], tickets[at] = copies.count, len(self._copies)
                self._copies.append(copies)
        return copied, tickets

    def _shifted(self, blocks: BlockBuffer, ordinals: U64, shifts: U64) -> _SpooledBlocks:
        """Append blocks with other integers to the spool, some megabytes at a time."""
        ends = np.cumsum(blocks.block_sizes(ordinals))
        parts, low, begin = [], 0, self._spool.size
        while low < len(ends):
            done = ends.item(low - 1) if low else 0
            high = max(low + 1, int(np.searchsorted(ends, np.uint64(done + _COPIED_BYTES), "right")))
            parts.append(blocks.shifted_blocks(ordinals[low:high], shifts[low:high]))
            self._spool.append(parts[-1].data)
            low = high
        return _SpooledBlocks(
            begin + np.concatenate(([0], ends.astype(np.int64))),
            np.concatenate([part.counts for part in parts] or [_NOTHING]).astype(np.uint32),
            np.concatenate([part.sizes for part in parts] or [_NOTHING]).astype(np.uint32),
            np.concatenate([part.moved for part in parts] or [_NOTHING.view(np.bool_)]),
        )

    def _short(self, terms: TermsColumn, bounds: U64, lists: _MovedLists) -> bytes:
        """Terms whose integers fit into memory together."""
        shifts = lists.shifts
        counts = lists.ends - lists.starts
        integers = self._reader.integers(Rows.joined(lists.starts, lists.ends))
        integers = integers + (shifts[0] if (shifts == shifts[0]).all() else np.repeat(shifts, counts.astype(np.int64)))
        return _kernels.term_lists(
            terms.offsets,
            terms.data,
            bounds,
            lists.stripes,
            lists.ids,
            lists.forms,
            counts + lists.copied,
            lists.copied,
            lists.tickets,
            integers,
        )

    def _long(self, terms: TermsColumn, lists: _MovedLists) -> Iterator[bytes]:
        """One term with more integers than may be read at a time."""
        offsets, data = terms.offsets, terms.data
        term = data[int(offsets[0]) : int(offsets[1])].tobytes()
        yield bytes([len(term)]) + term + _varint(len(lists.stripes))
        for at in range(len(lists.stripes)):
            start, end, copied = int(lists.starts[at]), int(lists.ends[at]), int(lists.copied[at])
            head = lists.stripes[at], lists.ids[at], lists.forms[at], end - start + copied, copied, lists.tickets[at]
            yield b"".join(_varint(int(each)) for each in head)
            before = 0
            for first in range(start, end, _AT_ONCE):
                rows = Rows.one(first, min(first + _AT_ONCE, end))
                integers = self._reader.integers(rows) + lists.shifts[at]
                yield _kernels.list_steps(integers, before, first == start)
                before = int(integers[-1])


@dataclass(frozen=True, slots=True, eq=False)
class _SpooledBlocks:
    """Blocks in a spool: where each begins and the last ends, their values and bytes, and which were shifted."""

    places: npt.NDArray[np.int64]
    counts: U32
    sizes: U32
    moved: npt.NDArray[np.bool_]

    def part(self, first: int, last: int) -> CopiedBlocks | None:
        """Blocks `first .. last`, up to the first that was not shifted; None if there is none."""
        moved = self.moved[first:last]
        last = last if moved.all() else first + int(np.argmin(moved))
        if first == last:
            return None
        counts = self.counts[first:last]
        return CopiedBlocks(
            self.places.item(first), self.places.item(last), int(counts.sum()), counts, self.sizes[first:last]
        )


@dataclass(frozen=True, slots=True, eq=False)
class _MovedLists:
    """Lists with their numbers in the new shard.

    List i is read from integers `starts[i] .. ends[i]`, without those that are copied with their blocks.
    """

    stripes: npt.NDArray[np.uint16]
    ids: U32
    forms: npt.NDArray[np.uint8]
    shifts: U64
    starts: U64
    ends: U64
    copied: U64
    tickets: U64

    def part(self, first: int, last: int) -> _MovedLists:
        """Lists `first .. last`."""
        return _MovedLists(*(getattr(self, each.name)[first:last] for each in fields(self)))


def _varint(number: int) -> bytes:
    found = bytearray()
    while number >= 0x80:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _name_of(
    names: Mapping[str, str], stored: object, registered: Callable[[object], Tokenizer | Collation | None]
) -> str | None:
    """The name for users of a stored name: that of this library, or of a package that is registered."""
    own = next((name for name, value in names.items() if value == stored), None)
    if own is not None:
        return own
    found = registered(stored)
    return None if found is None else found.name


def _listed(stored: object, count: int, missing: str) -> list[object]:
    """One setting for each field; `missing` where the descriptor has none."""
    found: list[object] = [each.value for each in stored] if isinstance(stored, tuple) else []
    return [*found[:count], *[missing] * (count - len(found))]
