"""The reader of the terms artifact: a tree of pages with the entries of terms.

Pages are records of the artifact. A group of neighbouring leaves is read like one leaf: their entries are neighbours in
the columns, and so are the lists of the entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.column import ColumnSource
from amudai.encoding import BlockBuffer, decode_few, decode_few_bytes, inflated
from amudai.errors import CorruptedData
from amudai.frozen import quick_init
from amudai.index.artifacts import IndexArtifactReader
from amudai.index.term.artifact_columns import (
    U64,
    TermsColumn,
    field_named,
    known_fields,
    numbers,
    offsets,
    only_stripe,
    present,
    terms,
)
from amudai.index.term.page_layout import PageLayout
from amudai.index.term.stored_form import TERMS_SCHEMA
from amudai.lazy import lazy
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.types import BasicType, SchemaNode

__all__ = ["UNKNOWN", "Leaves", "PositionLists", "TermTree"]

U32 = npt.NDArray[np.uint32]

# The form of a list without integers: any row of the stripe may have the term.
UNKNOWN: Final = 3
# Leaves of an index that is large enough for the native way.
_MANY_LEAVES: Final = 4
# The leaves that a scan of all terms reads at once, and the pages that stay in memory for the next question.
_GROUP: Final = 64
_KEPT: Final = 64


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class PositionLists:
    """Some position lists. List i is integers `starts[i] .. ends[i]` of the positions artifact.

    `forms[i]` says what the integers are, and `fields[i]` which field they belong to.
    """

    starts: U64
    ends: U64
    forms: npt.NDArray[np.uint8]
    fields: U32

    def take(self, chosen: npt.NDArray[np.bool_]) -> PositionLists:
        """The lists that the mask `chosen` selects."""
        return PositionLists(self.starts[chosen], self.ends[chosen], self.forms[chosen], self.fields[chosen])

    def of_field(self, schema_id: int) -> PositionLists:
        """The lists of one field."""
        if len(self.fields) == 1 and self.fields.item(0) == schema_id:
            return self
        mine = self.fields == schema_id
        return self if mine.all() else self.take(mine)

    @property
    def has_unknown(self) -> bool:
        """Whether one of the lists is of the form `UNKNOWN`."""
        forms = self.forms
        if len(forms) < 2:
            return len(forms) > 0 and forms.item(0) == UNKNOWN
        return bool((forms == UNKNOWN).any())

    @classmethod
    def joined(cls, parts: list[PositionLists]) -> PositionLists:
        """The lists of all `parts`, concatenated."""
        if len(parts) < 2:
            return parts[0] if parts else _NO_LISTS
        return cls(
            np.concatenate([part.starts for part in parts]),
            np.concatenate([part.ends for part in parts]),
            np.concatenate([part.forms for part in parts]),
            np.concatenate([part.fields for part in parts]),
        )


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Neighbouring leaf pages: records `first .. last`. Their entries begin at slot `start`."""

    first: int
    last: int
    start: int
    terms: TermsColumn


class TermTree:
    """An open terms artifact. Questions read what they need; single pages stay in memory.

    Parameters
    ----------
    is_own
        Whether this library wrote the artifact. Then its properties replace some of its columns.
    only_field
        The schema id of the indexed field, if the index was built over a single field.
    """

    def __init__(self, artifact: IndexArtifactReader, *, is_own: bool, only_field: int | None) -> None:
        self._artifact = artifact
        self._is_own = is_own
        self._only_field = only_field
        self._pages: dict[int, TermsColumn] = {}

    # ---- columns ----

    @property
    def _shard(self) -> ShardReader:
        return self._artifact.shard

    @lazy
    def _lookup(self) -> list[BlockBuffer] | None:
        """Of our own artifact: the buffers that look-ups read."""
        return self._artifact.lookup(2, 3) if self._is_own else None

    @lazy
    def _quick(self) -> _kernels.TermLookup | None:
        """Finds terms in one native call; None if a term may have several lists, or if the index is small.

        A small index is read by the other way in fewer requests: whole buffers at a time.
        """
        artifact = self._artifact
        places = artifact.places(2, 3) if self._is_own and self._only_field is not None else None
        if places is None:
            return None
        pages, ends = places[:2]
        layout = PageLayout.of(artifact.values, pages.blocks)
        if layout is None or layout.leaf_pages < _MANY_LEAVES or not (layout.single_lists and layout.only_rows):
            return None
        file, limits = artifact.file, artifact.limits
        if file.tag is None and pages.identity is not None:
            return None  # each read must compare the identity
        limits.require_values(pages.values, pages.end - pages.start)
        limits.require_values(ends.values, ends.end - ends.start)
        most = limits.most_memory, limits.most_block_memory
        return _kernels.TermLookup(
            file.read, inflated, pages, ends, layout.leaf_pages, layout.fan_out, artifact.verify, *most
        )

    @lazy
    def _forms(self) -> BlockBuffer | None:
        """The forms of the lists, if they differ and the artifact says where they are."""
        if self._lookup is None or len(self._lookup) < 3:
            return None
        ends, forms = self._lookup[1:]
        if forms.values != ends.values:
            raise CorruptedData(f"repr_type: expected {ends.values} values, found {forms.values}")
        return forms

    @lazy
    def _known(self) -> tuple[BlockBuffer, BlockBuffer, PageLayout] | None:
        """Of our own artifact: the terms, one block per page, the ends of the lists, and the layout of the pages."""
        found = self._lookup
        if found is None:
            return None
        pages, ends = found[:2]
        layout = PageLayout.of(self._artifact.values, pages.block_map.block_count)
        return None if layout is None else (pages, ends, layout)

    @property
    def _layout(self) -> PageLayout | None:
        known = self._known
        return None if known is None else known[2]

    @lazy
    def _simple_field(self) -> npt.NDArray[np.uint32] | None:
        """The only field, if every term is known to have one list, of single rows; None otherwise."""
        layout, field = self._layout, self._only_field
        if layout is None or field is None or not (layout.single_lists and layout.only_rows):
            return None
        return np.array([field], np.uint32)

    @lazy
    def _page_count(self) -> int:
        layout = self._layout
        return self._shard.num_positions if layout is None else layout.level_starts[-1]

    @lazy
    def _stripe(self) -> StripeReader | None:
        return only_stripe(self._shard)

    @lazy
    def _fields(self) -> tuple[SchemaNode, ...]:
        return known_fields(self._shard, TERMS_SCHEMA)

    def _column(self, name: str, basic_type: BasicType) -> ColumnSource:
        assert self._stripe is not None
        return self._stripe.column(field_named(self._fields, name, basic_type))

    @lazy
    def _entry(self) -> ColumnSource:
        """The entries of pages, each with its term, its child page and its lists."""
        return _member(self._column("entries", BasicType.LIST), "item", BasicType.STRUCT)

    @lazy
    def _stripe_lists(self) -> ColumnSource:
        """The stripes of each entry."""
        return _member(self._entry, "term_positions", BasicType.LIST)

    @lazy
    def _field_lists(self) -> ColumnSource:
        """The fields of each stripe of an entry."""
        return _member(_member(self._stripe_lists, "item", BasicType.STRUCT), "fields", BasicType.LIST)

    @lazy
    def _list(self) -> ColumnSource:
        """The position lists, each with its field, its form and its end."""
        return _member(self._field_lists, "item", BasicType.STRUCT)

    @lazy
    def _terms(self) -> ColumnSource:
        return _member(self._entry, "term", BasicType.BINARY)

    @lazy
    def _slots(self) -> U64:
        """Where the entries of each page begin, and where those of the last page end."""
        if self._known is not None:
            return self._known[0].block_map.values
        pages = self._page_count
        return offsets(self._column("entries", BasicType.LIST), 0, pages, self._terms.position_count)

    @lazy
    def _levels(self) -> npt.NDArray[np.uint8]:
        if self._layout is not None:
            return self._layout.levels
        return present(self._column("level", BasicType.INT8), Rows.one(0, self._page_count))

    @lazy
    def _starts(self) -> U64:
        """Where the position lists of each page begin; 0 for pages without lists."""
        column = self._column("pos_list_start_offset", BasicType.INT64)
        values, valid = numbers(column, Rows.one(0, self._page_count))
        if valid is not None and not valid[self._levels == 0].all():
            raise CorruptedData("pos_list_start_offset: expected a value for each leaf, found a null")
        return values

    # ---- pages ----

    def exact(self, text: bytes, *, folded: bool, words: bool) -> PositionLists | None:
        """The position lists of the terms that equal `text`, case-folded if `folded`; None if `range` must find them.

        No term may be cut that could stand for the text.
        """
        found = None if self._quick is None else self._quick.find(text, folded, words)
        if found is None:
            return None
        starts, ends = found
        count = len(starts)
        assert self._only_field is not None
        fields = np.full(count, self._only_field, np.uint32)
        return PositionLists(starts, ends, _ROWS if count == 1 else np.zeros(count, np.uint8), fields)

    def range(self, text: bytes, *, prefix: bool) -> Iterator[tuple[Leaves, int, int]]:
        """The entries that equal `text`, or begin with it if `prefix`, ignoring case.

        Yields leaves, each with the range of its entries.
        """
        if not self._page_count:
            return
        record, size = self._descend(text), 1
        while record < self._page_count:
            leaves = self._leaves(record, size)
            page = leaves.terms
            low, high = _kernels.term_range(page.offsets, page.data, text, prefix)
            if low < high:
                yield leaves, low, high
            # A range that reaches the end of these leaves continues in the next one. Then read more leaves at a time.
            if high < len(page.offsets) - 1:
                return
            record, size = self._next_leaf(leaves.last), min(2 * size, _GROUP)

    def all(self, group: int = _GROUP) -> Iterator[Leaves]:
        """All leaves, in groups of at most `group`."""
        if not self._page_count:
            return
        is_leaf = self._levels == 0
        edges = np.flatnonzero(np.diff(is_leaf, prepend=False, append=False))
        for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            for low in range(first, last, group):
                yield self._leaves(low, min(group, last - low))

    def _leaves(self, record: int, size: int) -> Leaves:
        """The leaf at `record`, and the leaves right behind it, up to `size` leaves."""
        start = self._slots.item(record)
        if size == 1:
            return Leaves(record, record + 1, start, self._page(record))
        others = np.flatnonzero(self._levels[record : record + size])
        last = record + (int(others[0]) if len(others) else min(size, self._page_count - record))
        return Leaves(record, last, start, self._read_terms(start, int(self._slots[last])))

    def _descend(self, text: bytes) -> int:
        """The record of the leaf that would hold `text`."""
        layout, record = self._layout, self._page_count - 1
        level = self._level(record) if layout is None else len(layout.level_sizes) - 1
        while level:
            page = self._page(record)
            last = len(page.offsets) - 2
            if last < 0:
                raise CorruptedData(f"page {record}: expected entries, found none")
            low, _ = _kernels.term_range(page.offsets, page.data, text, False)
            entry = low if low < last else last
            if layout is None:
                record = self._child(record, entry)
                below = self._level(record) if record < self._page_count else level
            else:
                record = layout.child(record, entry)
                below = level - 1 if record < layout.level_starts[level] else level
            if below >= level:
                raise CorruptedData(f"child_position: expected a page below level {level}, found {record}")
            level = below
        return record

    def _level(self, record: int) -> int:
        return int(self._levels[record])

    def _child(self, record: int, entry: int) -> int:
        slot = int(self._slots[record]) + entry
        column = _member(self._entry, "child_position", BasicType.INT64)
        return int(present(column, Rows.one(slot, slot + 1))[0])

    def _next_leaf(self, record: int) -> int:
        behind = np.flatnonzero(self._levels[record:] == 0)
        return record + int(behind[0]) if len(behind) else self._page_count

    def _page(self, record: int) -> TermsColumn:
        found = self._pages.get(record)
        if found is None:
            slots = self._slots
            found = self._read_terms(slots.item(record), slots.item(record + 1))
            if len(self._pages) >= _KEPT:
                self._pages.clear()
            self._pages[record] = found
        return found

    def _read_terms(self, start: int, end: int) -> TermsColumn:
        if start >= end:
            return TermsColumn(np.zeros(1, np.int64), _NO_BYTES)
        found = None if self._known is None else decode_few_bytes(self._known[0], start, end)
        return terms(self._terms, start, end) if found is None else TermsColumn(*found)

    # ---- lists ----

    def lists(self, leaves: Leaves, entries: U32) -> PositionLists:
        """The position lists of `entries`, which ascend, of a group of leaves."""
        field = self._simple_field
        if len(entries) == 1 and field is not None and (number := leaves.start + entries.item(0)):
            ends = self._list_ends(number - 1, number + 1)
            if ends.item(0) >= ends.item(1):
                raise _not_ascending()
            return PositionLists(ends[:1], ends[1:], _ROWS, field)
        count = len(leaves.terms)
        first, bounds = self._bounds(leaves, count)
        if len(entries) == 1 and bounds is None:
            low, high = int(entries[0]), int(entries[0]) + 1
        elif bounds is None:
            low, high = 0, count
        else:
            low, high = 0, int(bounds[-1])
        found = self._read_lists(leaves, first, low, high)
        if bounds is None:
            chosen = entries.astype(np.int64) - low
        else:
            # Entry i has the lists bounds[i] .. bounds[i + 1].
            sizes = bounds[entries.astype(np.int64) + 1] - bounds[entries]
            before = np.cumsum(sizes) - sizes
            chosen = np.repeat(bounds[entries] - before, sizes) + np.arange(int(sizes.sum()))
        return PositionLists(found.starts[chosen], found.ends[chosen], found.forms[chosen], found.fields[chosen])

    def all_lists(self, leaves: Leaves) -> tuple[U64, npt.NDArray[np.uint16], PositionLists]:
        """All lists of a group of leaves.

        Returns where the lists of each entry begin among them and where those of the last entry end, the stripe of each
        list, and the lists. Each list begins where the list before it ends.
        """
        count = len(leaves.terms)
        stripe_ids = _member(_member(self._stripe_lists, "item", BasicType.STRUCT), "stripe_id", BasicType.INT16)
        if self._layout is not None and self._layout.single_lists:
            first, last = leaves.start, leaves.start + count
            single = present(stripe_ids, Rows.one(first, last)).astype(np.uint16, copy=False)
            return np.arange(count + 1, dtype=np.uint64), single, self._read_lists(leaves, first, 0, count)
        of_entry = offsets(self._stripe_lists, leaves.start, leaves.start + count, stripe_ids.position_count)
        low, high = int(of_entry[0]), int(of_entry[-1])
        of_stripe = offsets(self._field_lists, low, high, self._list.position_count)
        stripes = np.repeat(present(stripe_ids, Rows.one(low, high)), np.diff(of_stripe).astype(np.int64))
        first = int(of_stripe[0])
        found = self._read_lists(leaves, first, 0, int(of_stripe[-1]) - first)
        bounds = of_stripe[(of_entry - of_entry[0]).astype(np.int64)] - of_stripe[0]
        return bounds.astype(np.uint64), stripes.astype(np.uint16), found

    def _bounds(self, leaves: Leaves, count: int) -> tuple[int, npt.NDArray[np.int64] | None]:
        """The first list of a group, and where the lists of each entry begin; None if each entry has one list."""
        start = leaves.start
        if self._layout is not None and self._layout.single_lists:
            return start, None
        stripe_count = _member(self._stripe_lists, "item", BasicType.STRUCT).position_count
        of_entry = offsets(self._stripe_lists, start, start + count, stripe_count)
        of_stripe = offsets(self._field_lists, int(of_entry[0]), int(of_entry[-1]), self._list.position_count)
        bounds = of_stripe[(of_entry - of_entry[0]).astype(np.int64)]
        return int(bounds[0]), (bounds - bounds[0]).astype(np.int64)

    def _read_lists(self, leaves: Leaves, first: int, low: int, high: int) -> PositionLists:
        """Lists `low .. high` of a group whose first list has the number `first`."""
        # A list begins where the list before it ends. For the first list of a page, the page has the beginning.
        before = 1 if low or (self._layout is not None and first) else 0
        ends = self._list_ends(first + low - before, first + high)
        starts = np.empty(high - low, np.uint64)
        if before:
            starts[:], ends = ends[:-1], ends[1:]
        elif len(starts):
            starts[0], starts[1:] = self._starts[leaves.first] if first else 0, ends[:-1]
        count, wanted = high - low, Rows.one(first + low, first + high)
        if self._layout is not None and self._only_field is not None:
            fields = np.full(count, self._only_field, np.uint32)
        else:
            fields = present(_member(self._list, "field_schema_id", BasicType.INT32), wanted)
        if self._layout is not None and self._layout.only_rows:
            forms = np.zeros(count, np.uint8)
        elif self._layout is not None and self._forms is not None:
            forms = decode_few(self._forms, first + low, first + high, "u1")
        else:
            forms = present(_member(self._list, "repr_type", BasicType.INT8), wanted)
        if len(forms) and int(forms.max()) > _LAST_FORM:
            raise CorruptedData(f"repr_type: expected 0..{_LAST_FORM}, found {forms.max()}")
        if ((starts > ends) | ((starts == ends) & (forms != UNKNOWN))).any():
            raise _not_ascending()
        return PositionLists(starts, ends, forms, fields)

    def _list_ends(self, first: int, last: int) -> U64:
        """The ends of lists `first .. last`."""
        if self._known is not None:
            return decode_few(self._known[1], first, last, "u8")
        return present(_member(self._list, "pos_list_end_offset", BasicType.INT64), Rows.one(first, last))


def _member(column: ColumnSource, name: str, basic_type: BasicType) -> ColumnSource:
    """The column with this name right below `column`."""
    return column.child_of(field_named(column.node.children, name, basic_type))


def _not_ascending() -> CorruptedData:
    return CorruptedData("pos_list_end_offset: expected an ascending sequence")


_LAST_FORM: Final = 3
_ROWS: Final = np.zeros(1, np.uint8)
_NO_BYTES: Final = np.empty(0, np.uint8)
_NO_NUMBERS: Final = np.empty(0, np.uint64)
_NO_LISTS: Final = PositionLists(_NO_NUMBERS, _NO_NUMBERS, np.empty(0, np.uint8), np.empty(0, np.uint32))
