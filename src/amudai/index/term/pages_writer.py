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
from amudai.index.term.stored_form import TERMS_SCHEMA
from amudai.index.term.tuning import Tuning
from amudai.shard import BitEncoder, FieldBuildContext, PreparedField
from amudai.stats import FieldStatistics
from amudai.storage import Spool
from amudai.types import SchemaNode

__all__ = ["PagesWriter"]

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[Any]


class PagesWriter:
    """Writes the columns of the terms artifact from merged terms and the ends of their position lists."""

    def __init__(self, spool: Spool, tuning: Tuning) -> None:
        self._spool = spool
        self._tuning = tuning
        profile = profile_of("balanced")
        self._leaf: list[tuple[Numbers, ...]] = []
        self._leaf_terms = 0
        self._leaf_start = 0  # where the position lists of the open leaf begin
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
        """How many more terms fit into the open leaf."""
        return self._tuning.page_terms - self._leaf_terms

    @property
    def layout(self) -> PageLayout:
        """The layout of the finished pages."""
        return PageLayout(
            leaf_pages=len(self._last_terms),
            fan_out=self._tuning.fan_out,
            single_lists=self._lists == self._leaf_entries,
            only_rows=self._form.constant == 0,
        )

    def add(self, merged: _kernels.TermSlice, counts: U64, first: int) -> None:
        """Append merged terms. Their lists have `counts` integers and begin at `first` in the column of positions."""
        ends = np.cumsum(counts) + np.uint64(first)
        begins, stripes, fields, forms = merged.begins(), merged.stripes(), merged.fields(), merged.forms()
        if merged.continues:
            # The first list was appended by the call before: only its end has moved.
            self._leaf[-1][-1][-1] = ends[0]
            begins, stripes, fields, forms, ends = begins[1:], stripes[1:], fields[1:], forms[1:], ends[1:]
        lengths = merged.lengths()
        self._leaf_terms += len(lengths)
        if len(ends):
            self._leaf.append((merged.terms(), lengths, begins, stripes, fields, forms, ends))
        if self._leaf_terms >= self._tuning.page_terms and merged.whole_terms:
            self._end_leaf()

    def finish(self) -> tuple[PreparedField, ...]:
        """Write the pages above the leaves, and return the fields of the artifact."""
        self._end_leaf()
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

    def _end_leaf(self) -> None:
        if not self._leaf:
            return
        columns = [np.concatenate(parts) if len(parts) > 1 else parts[0] for parts in zip(*self._leaf, strict=True)]
        terms, lengths, begins, stripes, fields, forms, ends = columns
        count = len(lengths)
        tuning = self._tuning
        self._put(
            self._term_blocks,
            term_block(_offsets(lengths), terms, tuning.level, compress=tuning.compress_numbers),
            count,
        )
        self._put(self._end_blocks, block(shortest_steps(ends, compress=tuning.compress_numbers)), len(ends))
        # A stripe entry begins with each term, and where the stripe changes within a term.
        first_of_stripe = begins.astype(np.bool_)
        first_of_stripe[1:] |= stripes[1:] != stripes[:-1]
        marks = np.flatnonzero(first_of_stripe)
        of_term = np.flatnonzero(begins[marks])  # the first stripe of each term
        self._stripe.append(stripes[marks])
        self._field.append(fields)
        self._form.append(forms)
        self._stripe_ends.append(self._stripes + np.append(of_term[1:], len(marks)))
        self._list_ends.append(self._lists + np.append(marks[1:], len(ends)))
        self._stripes += len(marks)
        self._lists += len(ends)
        self._child.append(np.zeros(count, np.uint64), np.zeros(count, np.bool_))
        self._has_lists.append(np.ones(count, np.bool_))
        self._end_page(0, count, self._leaf_start)
        self._last_terms.append(terms[len(terms) - int(lengths[-1]) :].tobytes())
        self._leaf_start = int(ends[-1])
        self._leaf, self._leaf_terms = [], 0

    def _interior(self, level: int, first_child: int, terms: list[bytes]) -> None:
        count = len(terms)
        # Every look-up reads these few pages, so they are stored uncompressed.
        data = np.frombuffer(b"".join(terms), np.uint8)
        self._put(self._term_blocks, plain_terms(_offsets([len(term) for term in terms]), data), count)
        self._child.append(np.arange(first_child, first_child + count, dtype=np.uint64))
        self._stripe_ends.append(np.full(count, self._stripes))
        self._has_lists.append(np.zeros(count, np.bool_))
        self._end_page(level, count, None)

    def _end_page(self, level: int, count: int, start: int | None) -> None:
        self._entries += count
        self.pages += 1
        self._page_ends.append(np.array([self._entries]))
        self._level.append(np.array([level], np.uint8))
        self._start.append(np.array([start or 0], np.uint64), None if start is not None else np.zeros(1, np.bool_))

    def _put(self, buffer: PreparedBuffer, data: bytes, count: int) -> None:
        start = self._spool.append(data)
        buffer.add(start, start + len(data), np.array([count], np.uint32), np.array([len(data)], np.uint32))

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
