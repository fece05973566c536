"""The writer of the terms artifact.

Terms are stored as pages of a tree, one record per page: first the leaves in the order of their terms, then the pages
above them, the root last. In the columns that a look-up reads, each leaf is a block of its own.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding import NumberEncoder, PreparedBuffer, Profile, profile_of
from amudai.format import AnyValue, BufferKind
from amudai.index.term.page_layout import PageLayout
from amudai.index.term.sections import U64, block, plain_terms, shortest_steps, term_block
from amudai.index.term.stored_form import FORMS_LOOKUP, TERMS_LOOKUP, TERMS_SCHEMA
from amudai.index.term.tuning import Tuning
from amudai.shard import BitEncoder, FieldBuildContext, PreparedField
from amudai.stats import FieldStatistics
from amudai.storage import Spool
from amudai.types import SchemaNode

__all__ = ["PagesWriter"]

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]

# Leaves that are written at a time, and lists from which on fewer are.
_LEAVES: Final = 8
_MOST_LISTS: Final = 1 << 17
# Leaves that wait until it is known whether the index has more. Of so few, terms are compressed harder.
_SMALL: Final = 32


class PagesWriter:
    """Writes the columns of the terms artifact from merged terms and the ends of their position lists."""

    def __init__(self, spool: Spool, tuning: Tuning) -> None:
        self._spool = spool
        self._tuning = tuning
        profile = profile_of("balanced")
        # Terms, their lengths, and the columns of their lists, until they fill some leaves.
        self._waiting: list[tuple[Numbers, ...]] = []
        self._waiting_terms = self._waiting_lists = 0
        self._leaf_start = 0  # where the position lists of the next leaf begin
        self._last_terms: list[bytes] = []  # the last term of each leaf
        self.pages = 0

        self._entries = self._lists = self._stripes = 0
        self._term_blocks = PreparedBuffer(BufferKind.DATA, embedded_presence=True, embedded_offsets=True)
        self._end_blocks = PreparedBuffer(BufferKind.DATA, embedded_presence=True)
        self._level = _NumberColumnWriter("u1", profile, spool)
        self._start = _NumberColumnWriter("u8", profile, spool)
        self._child = _NumberColumnWriter("u8", profile, spool)
        self._stripe = _NumberColumnWriter("u2", profile, spool)
        self._field = _NumberColumnWriter("u4", profile, spool)
        self._form = _NumberColumnWriter("u1", profile, spool)
        self._page_ends = _OffsetsWriter(profile, spool)
        self._stripe_ends = _OffsetsWriter(profile, spool)
        self._list_ends = _OffsetsWriter(profile, spool)
        self._has_lists = BitEncoder(FieldBuildContext(profile, spool), BufferKind.PRESENCE)

    @property
    def room(self) -> int:
        """How many terms may be added next."""
        return _LEAVES * self._tuning.page_terms

    @property
    def layout(self) -> PageLayout:
        """The layout of the finished pages."""
        return PageLayout(
            leaf_pages=len(self._last_terms),
            fan_out=self._tuning.fan_out,
            single_lists=self._lists == self._leaf_entries,
            only_rows=self._form.constant == 0,
        )

    @property
    def lookup(self) -> tuple[tuple[SchemaNode, BufferKind], ...]:
        """The buffers that look-ups read. Where a term may have several lists, they need more than forms."""
        has_forms = self._form.constant is None and self.layout.single_lists
        return (*TERMS_LOOKUP, *FORMS_LOOKUP) if has_forms else TERMS_LOOKUP

    def add(self, merged: _kernels.TermSlice, counts: U64, first: int) -> None:
        """Append merged terms. Their lists have `counts` integers and begin at `first` in the column of positions."""
        ends = np.cumsum(counts) + np.uint64(first)
        begins, stripes, fields, forms = merged.begins(), merged.stripes(), merged.fields(), merged.forms()
        if merged.continues:
            # The first list was appended by the call before: only its end has moved.
            self._waiting[-1][-1][-1] = ends[0]
            begins, stripes, fields, forms, ends = begins[1:], stripes[1:], fields[1:], forms[1:], ends[1:]
        lengths = merged.lengths()
        self._waiting_terms += len(lengths)
        self._waiting_lists += len(ends)
        if len(ends) or len(lengths):
            self._waiting.append((merged.terms(), lengths, begins, stripes, fields, forms, ends))
        # The last term may have more lists.
        known = self._waiting_terms if merged.whole_terms else self._waiting_terms - 1
        leaves = _LEAVES if self.pages else _SMALL
        if known >= leaves * self._tuning.page_terms or self._waiting_lists > _MOST_LISTS:
            self._end_leaves(known // self._tuning.page_terms * self._tuning.page_terms, self._tuning.level)

    def finish(self) -> tuple[PreparedField, ...]:
        """Write the pages above the leaves, and return the fields of the artifact."""
        self._end_leaves(self._waiting_terms, self._tuning.level if self.pages else self._tuning.small_level)
        level, first, below = 1, 0, self._last_terms
        while below:
            above: list[bytes] = []
            for at in range(0, len(below), self._tuning.fan_out):
                terms = below[at : at + self._tuning.fan_out]
                self._interior(level, first + at, terms)
                above.append(terms[-1])
            # The root is the last page. It is never a leaf.
            level, first, below = level + 1, first + len(below), above if len(above) > 1 else []
        return self._fields()

    def _end_leaves(self, count: int, level: int) -> None:
        """Write the first `count` terms that wait, as leaves of the usual size and perhaps one smaller one.

        `level` is Zstandard's for the terms.
        """
        if not count:
            return
        terms, lengths, begins, stripes, fields, forms, ends = self._taken(count)
        offsets = _offsets(lengths)
        borders = np.append(np.arange(0, count, self._tuning.page_terms), count)  # of the leaves, in terms
        first_of_term = begins.view(np.bool_)  # much faster than numbers
        lists = np.append(np.flatnonzero(first_of_term), len(ends))[borders]
        bytes_ = offsets[borders].astype(np.int64)
        compress = self._tuning.compress_numbers
        term_blocks, end_blocks = [], []
        for low, high, first, last, start, end in zip(
            borders[:-1], borders[1:], lists[:-1], lists[1:], bytes_[:-1], bytes_[1:], strict=True
        ):
            places = offsets[low : high + 1] - offsets[low]
            term_blocks.append(term_block(places, terms[start:end], level, compress=compress))
            end_blocks.append(block(shortest_steps(ends[first:last], compress=compress)))
        self._put(self._term_blocks, term_blocks, np.diff(borders))
        self._put(self._end_blocks, end_blocks, np.diff(lists))
        # A stripe entry begins with each term, and where the stripe changes within a term.
        first_of_stripe = first_of_term.copy()
        first_of_stripe[1:] |= stripes[1:] != stripes[:-1]
        marks = np.flatnonzero(first_of_stripe)
        of_term = np.flatnonzero(first_of_term[marks])  # the first stripe of each term
        self._stripe.append(stripes[marks])
        self._field.append(fields)
        self._form.append(forms)
        self._stripe_ends.append(self._stripes + np.append(of_term[1:], len(marks)))
        self._list_ends.append(self._lists + np.append(marks[1:], len(ends)))
        self._stripes += len(marks)
        self._lists += len(ends)
        self._child.append(np.zeros(count, np.uint64), np.zeros(count, np.bool_))
        self._has_lists.append(np.ones(count, np.bool_))
        starts = ends[lists[:-1] - 1]  # a leaf's lists begin where those of the leaf before end
        starts[0] = self._leaf_start
        self._start.append(starts)
        self._end_pages(0, np.diff(borders))
        self._last_terms += [
            terms[end - size : end].tobytes()
            for end, size in zip(bytes_[1:].tolist(), lengths[borders[1:] - 1].tolist(), strict=True)
        ]
        self._leaf_start = int(ends[-1])

    def _taken(self, count: int) -> list[Numbers]:
        """Remove and return the columns of the first `count` terms that wait, and of their lists."""
        parts = zip(*self._waiting, strict=True)
        columns = [np.concatenate(part) if len(part) > 1 else part[0] for part in parts]
        self._waiting, left = [], self._waiting_terms - count
        if left:
            size = int(columns[1][:count].sum())
            lists = int(np.flatnonzero(columns[2].view(np.bool_))[count])
            cuts = [size, count, *[lists] * 5]
            self._waiting = [tuple(column[cut:] for column, cut in zip(columns, cuts, strict=True))]
            columns = [column[:cut] for column, cut in zip(columns, cuts, strict=True)]
        self._waiting_terms = left
        self._waiting_lists -= len(columns[-1])
        return columns

    def _interior(self, level: int, first_child: int, terms: list[bytes]) -> None:
        count = len(terms)
        # Every look-up reads these few pages, so they are stored uncompressed.
        data = np.frombuffer(b"".join(terms), np.uint8)
        self._put(self._term_blocks, [plain_terms(_offsets([len(term) for term in terms]), data)], np.array([count]))
        self._child.append(np.arange(first_child, first_child + count, dtype=np.uint64))
        self._stripe_ends.append(np.full(count, self._stripes))
        self._has_lists.append(np.zeros(count, np.bool_))
        self._start.append(np.zeros(1, np.uint64), np.zeros(1, np.bool_))
        self._end_pages(level, np.array([count]))

    def _end_pages(self, level: int, counts: Numbers) -> None:
        """End pages of a level. Page `i` has `counts[i]` entries."""
        self._page_ends.append(self._entries + np.cumsum(counts))
        self._level.append(np.full(len(counts), level, np.uint8))
        self._entries += int(counts.sum())
        self.pages += len(counts)

    def _put(self, buffer: PreparedBuffer, blocks: list[bytes], counts: Numbers) -> None:
        data = b"".join(blocks)
        start = self._spool.append(data)
        sizes = np.array([len(each) for each in blocks], np.uint32)
        buffer.add(start, start + len(data), counts.astype(np.uint32), sizes)

    def _fields(self) -> tuple[PreparedField, ...]:
        level, entries, start = TERMS_SCHEMA
        entry = entries.children[0]
        term, child, stripes = entry.children
        stripe = stripes.children[0]
        stripe_id, lists = stripe.children
        item = lists.children[0]
        field, form, end = item.children
        made_item = _plain(
            item,
            self._lists,
            children=(
                self._field.finish(field),
                self._form.finish(form),
                _plain(end, self._lists, (self._end_blocks,)),
            ),
        )
        made_lists = _plain(lists, self._stripes, (self._list_ends.finish(),), (made_item,))
        made_stripe = _plain(stripe, self._stripes, children=(self._stripe.finish(stripe_id), made_lists))
        above = self._entries - self._leaf_entries
        made_stripes = PreparedField(
            stripes,
            FieldStatistics(position_count=self._entries, null_count=above),
            None,
            None,
            (self._stripe_ends.finish(), self._has_lists.finish()),
            (made_stripe,),
        )
        made_entry = _plain(
            entry,
            self._entries,
            children=(_plain(term, self._entries, (self._term_blocks,)), self._child.finish(child), made_stripes),
        )
        made_entries = _plain(entries, self.pages, (self._page_ends.finish(),), (made_entry,))
        return self._level.finish(level), made_entries, self._start.finish(start)

    @property
    def _leaf_entries(self) -> int:
        return self._child.nulls


def _offsets(lengths: npt.ArrayLike) -> U64:
    """Where terms of these lengths begin, and where the last term ends."""
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.uint64)


def _plain(
    node: SchemaNode, count: int, buffers: tuple[PreparedBuffer, ...] = (), children: tuple[PreparedField, ...] = ()
) -> PreparedField:
    """A field without nulls."""
    return PreparedField(node, FieldStatistics(position_count=count, null_count=0), None, None, buffers, children)


class _NumberColumnWriter:
    """Writes a column of numbers. If all are the same, only a constant is written."""

    def __init__(self, dtype: str, profile: Profile, spool: Spool) -> None:
        self._dtype = dtype
        self._encoder = NumberEncoder(dtype, profile, spool, PreparedBuffer(BufferKind.DATA, embedded_presence=True))
        self._same: int | None = None
        self._constant = True
        self.count = self.nulls = 0

    def append(self, values: Numbers, valid: Bools | None = None) -> None:
        """Append values. `valid` says which are not null."""
        if not len(values):
            return
        if self._constant:
            if self._same is None:
                self._same = int(values[0])
            if valid is None and (values == self._same).all() and not self.nulls:
                self.count += len(values)
                return
            if self.count:
                self._encoder.append(np.full(self.count, self._same, self._dtype))
            self._constant = False
        self.count += len(values)
        self.nulls += 0 if valid is None else len(values) - int(np.count_nonzero(valid))
        self._encoder.append(values.astype(self._dtype, copy=False), valid)

    @property
    def constant(self) -> int | None:
        """The number that all values are; None if they differ."""
        return self._same if self._constant else None

    def finish(self, node: SchemaNode) -> PreparedField:
        """Finish the column."""
        known = FieldStatistics(position_count=self.count, null_count=self.nulls)
        if self.constant is not None:
            return PreparedField(node, known, AnyValue("u64", self.constant), None, ())
        return PreparedField(node, known, None, None, (self._encoder.finish(),))


class _OffsetsWriter:
    """Writes the offsets of a list column: 0, then the end of each list."""

    def __init__(self, profile: Profile, spool: Spool) -> None:
        self._encoder = NumberEncoder("u8", profile, spool, PreparedBuffer(BufferKind.OFFSETS))
        self._encoder.append(_ZERO)

    def append(self, ends: Numbers) -> None:
        """Append the ends of lists."""
        self._encoder.append(ends.astype(np.uint64))

    def finish(self) -> PreparedBuffer:
        """Write what is left."""
        return self._encoder.finish()


_ZERO: Final = np.zeros(1, np.uint64)
