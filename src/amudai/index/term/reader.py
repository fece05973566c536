"""The reader of a term index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import and_
from typing import Final

import numpy as np
import pyarrow as pa

from amudai import _kernels
from amudai.column import ColumnSource
from amudai.encoding import BlockBuffer, allocate, decode_numbers, open_numbers
from amudai.errors import CorruptedData, UnsupportedFeature, located
from amudai.format import IndexDescriptor
from amudai.frozen import quick_init
from amudai.index.artifacts import IndexArtifactReader
from amudai.index.contract import TermCounts, Vocabulary
from amudai.index.numbering import Numbering
from amudai.index.questions import Every, IndexQuestion, Match, Question, Terms
from amudai.index.term.artifact_columns import U64, field_named, known_fields, only_stripe, present
from amudai.index.term.custom import OPERATORS, Collation, collation_of, folded_term, is_unicode, tokenizer_of
from amudai.index.term.slots import SlotMap
from amudai.index.term.stored_form import COLLATIONS, ELEMENT, GRANULARITIES, MAYBE_CUT, POSITIONS_SCHEMA, TOKENIZERS
from amudai.index.term.tree import UNKNOWN, Leaves, PositionLists, TermTree
from amudai.index.term.vocabulary import LEAST_FOLDED, hashed_terms
from amudai.lazy import lazy
from amudai.rows import Positions, Rows
from amudai.shard import ShardReader
from amudai.storage import Artifact
from amudai.types import BasicType, NodePath

__all__ = ["TermReader", "open_term_index"]

_APPROXIMATE: Final = 2
_ARTIFACTS: Final = 2
# Up to this many numbers are allocated faster by numpy, from memory that the process has.
_FEW: Final = 1024
# For a few values this is much faster than the method `any`.
_any: Final = np.logical_or.reduce
_EVERYWHERE: Final = np.empty(0, np.uint64), np.empty(0, np.uint64)


def open_term_index(
    descriptor: IndexDescriptor, shard: ShardReader, anchor: Artifact, *, trust: bool = False
) -> TermReader:
    """Open a term index. The first question opens its artifacts.

    Parameters
    ----------
    trust
        Treat an index of unknown origin as complete: a term that it does not have is in no row.
    """
    if len(descriptor.artifacts) < _ARTIFACTS:
        raise CorruptedData(f"term index: expected two artifacts, found {len(descriptor.artifacts)}", url=anchor.url)
    terms, positions = descriptor.artifacts[:_ARTIFACTS]
    stored = descriptor.values
    properties = {name.lower(): value for name, value in stored.items()}
    collation = properties.get("collation")
    form = collation_of(collation)
    if collation not in COLLATIONS.values() and form is None:
        raise UnsupportedFeature(f"term index: expected a known collation, found {collation!r}", url=anchor.url)
    listed = properties.get("tokenizers")
    # The format's specification has one name for all fields.
    names = (
        [each.value for each in listed]
        if isinstance(listed, tuple)
        else [properties.get("tokenizer_name")] * len(descriptor.indexed_fields)
    )
    stated = properties.get("granularities")
    sizes = [each.value for each in stated] if isinstance(stated, tuple) else []
    numbering = Numbering.of(descriptor, shard, stored)
    tokenizers: dict[int, str] = {}
    elements: dict[int, Callable[[NodePath], SlotMap]] = {}
    for at, schema_ids in enumerate(descriptor.indexed_fields):
        name = names[at] if at < len(names) and isinstance(names[at], str) else TOKENIZERS["word"]
        granularity = sizes[at] if at < len(sizes) else GRANULARITIES[0]
        # An entry with several fields cannot answer for one of them.
        is_known = name in TOKENIZERS.values() or tokenizer_of(name) is not None
        if len(schema_ids) == 1 and is_known and granularity in GRANULARITIES:
            tokenizers[schema_ids[0]] = str(name)
            if granularity == ELEMENT:
                elements[schema_ids[0]] = partial(SlotMap, shard)
    return TermReader(
        IndexArtifactReader(terms, shard, anchor),
        IndexArtifactReader(positions, shard, anchor),
        tokenizers,
        numbering=numbering,
        case_sensitive=collation == COLLATIONS["case_preserving"],
        collation=form,
        own=numbering.complete,
        trust=trust or shard.trust_indexes,
        elements=elements,
    )


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class MatchingLists:
    """The position lists for a question: `yes` for rows that surely match, `maybe` for rows that perhaps do."""

    yes: PositionLists
    maybe: PositionLists

    @property
    def is_one(self) -> bool:
        """Whether there is exactly one list, of single rows that surely match."""
        return len(self.yes.starts) == 1 and not self.yes.forms.item(0) and not len(self.maybe.starts)


class TermReader:
    """An open term index.

    Parameters
    ----------
    terms, positions
        The two artifacts of the index.
    tokenizers
        The tokenizer of each covered field, by schema id.
    numbering
        The numbers of rows and fields in the index.
    case_sensitive
        Whether the index keeps the upper and lower case of terms.
    collation
        The collation of another package; None for those of this library.
    own
        Whether this library wrote the index, so that it has every term of every row.
    elements
        For each field whose positions are slots, by schema id: makes the map from slots to rows.
    """

    def __init__(
        self,
        terms: IndexArtifactReader,
        positions: IndexArtifactReader,
        tokenizers: Mapping[int, str],
        *,
        numbering: Numbering,
        case_sensitive: bool,
        own: bool,
        collation: Collation | None = None,
        trust: bool = False,
        elements: Mapping[int, Callable[[NodePath], SlotMap]] | None = None,
    ) -> None:
        self._terms = terms
        self._positions = positions
        self._tokenizers = tokenizers
        self._numbering = numbering
        self._origin = numbering.origin if numbering.origin.parent is None else numbering.origin.parent
        self._elements = elements or {}
        self._slots: dict[int, SlotMap] = {}
        self._case_sensitive = case_sensitive
        self._collation = collation
        self._own = own
        self._answers = own or trust

    @lazy
    def _tree(self) -> TermTree:
        only = next(iter(self._numbering.ids.values()), None) if self._numbering.single else None
        return TermTree(self._terms, is_own=self._own, only_field=only)

    @property
    def elements(self) -> Mapping[int, Callable[[NodePath], SlotMap]]:
        """For each field whose positions are slots, by schema id: makes the map from slots to rows."""
        return self._elements

    @property
    def tree(self) -> TermTree:
        """The terms with the places of their position lists."""
        return self._tree

    def integers(self, rows: Rows) -> U64:
        """The integers at these places of the column of all position lists."""
        if not rows:
            return np.empty(0, np.uint64)
        with located(url=self._positions.file.url):
            if self._blocks is None:
                found: U64 = present(self._integers, rows)
                return found
            return decode_numbers(self._blocks, rows, "u8", nullable=False).numbers("u8")

    @property
    def blocks(self) -> BlockBuffer | None:
        """The blocks of all position lists, if this library wrote the index."""
        return self._blocks

    @lazy
    def _blocks(self) -> BlockBuffer | None:
        """The buffer of all position lists, if this library wrote the index."""
        found = self._positions.lookup(1) if self._own else None
        return None if found is None else found[0]

    @lazy
    def _integers(self) -> ColumnSource:
        """The column of all position lists."""
        shard = self._positions.shard
        stripe = only_stripe(shard)
        assert stripe is not None
        node = field_named(known_fields(shard, POSITIONS_SCHEMA), "position", BasicType.INT64)
        return stripe.column(node)

    def answer(self, path: NodePath, question: Question, rows: Rows | None = None) -> Positions | None:
        """The rows of the shard for which the answer is yes or maybe; None if this index cannot tell."""
        if not self._answers:
            return None
        match question:
            case IndexQuestion():
                return self._asked(path, question, rows)
            case Terms() | Every():
                asked = question.terms if isinstance(question, Every) else (question,)
                for each in asked:
                    if not self._knows(path, each):
                        return None
                return self._all(path, asked, rows)
        return None

    def _asked(self, path: NodePath, question: IndexQuestion, rows: Rows | None) -> Positions | None:
        """The answer of a tokenizer of another package: rows that have all terms that it requires. All are doubtful."""
        tokenizer = tokenizer_of(self._tokenizers.get(path[-1].schema_id))
        operator = "equals" if question.operator in ("==", "in") else question.operator
        if tokenizer is None or operator not in OPERATORS:
            return None
        found = Positions.none(self._origin)
        for value in question.values:
            terms = [term for term in tokenizer.required(operator, value) if term and is_unicode(term)]
            asked = [Terms(term, Match.EQUAL, question.case_sensitive) for term in dict.fromkeys(terms)]
            answer = self._all(path, asked, rows) if asked else None
            if answer is None:
                return None
            found = found | answer.unsure()
        return found

    def _all(self, path: NodePath, asked: Sequence[Terms], rows: Rows | None) -> Positions | None:
        """The rows that have all these terms; None if this index cannot tell."""
        if self._collation is None:
            return self._rows_with(path, asked, rows)
        forms = [replace(each, text=folded_term(self._collation, each.text), case_sensitive=True) for each in asked]
        kept = [each for each in forms if each.text]  # a term that folds to nothing is not in the index
        answer = self._rows_with(path, kept, rows) if kept else None
        return None if answer is None else answer.unsure()

    def _rows_with(self, path: NodePath, asked: Sequence[Terms], rows: Rows | None) -> Positions | None:
        found: list[MatchingLists] = []
        for each in asked:
            lists = self._lists(path[-1].schema_id, each)
            if not len(lists.yes.starts) and not len(lists.maybe.starts):
                return Positions.none(self._origin)
            if lists.yes.has_unknown or lists.maybe.has_unknown:
                return None  # any row may have the term
            found.append(lists)
        slots = self._slots_of(path)
        if slots is None:
            single = [lists.yes for lists in found if lists.is_one]
            if len(single) == len(found):
                return Positions.surely(self._common(single, rows))
        return reduce(and_, (self._rows_of(lists, slots) for lists in found))

    def term_counts(self, path: NodePath, prefix: str) -> Iterator[TermCounts] | None:
        """The terms of a field that begin with `prefix`, without regard to case, and the numbers of their rows.

        None if the index does not have all terms of the field.
        """
        known = path[-1].schema_id in self._tokenizers and self._answers
        return self._term_counts(path, prefix.encode()) if known else None

    def vocabulary(self, path: NodePath) -> Vocabulary | None:
        """All terms of a field, without their rows; None if the index does not have all terms of the field."""
        tokenizer = self._tokenizers.get(path[-1].schema_id)
        if tokenizer not in TOKENIZERS.values() or self._collation is not None or not self._answers:
            return None  # terms of other packages are not the words of a question
        return Vocabulary(tokenizer == TOKENIZERS["trivial"], self._hashes(self._numbering.ids[path[-1].schema_id]))

    def _hashes(self, stored_id: int) -> Iterator[U64]:
        with located(url=self._terms.file.url):
            for leaves in self._tree.all():
                found = hashed_terms(leaves.terms.offsets, leaves.terms.data)
                if not self._numbering.single:
                    bounds, _, lists = self._tree.all_lists(leaves)
                    before = np.append(0, np.cumsum(lists.fields == stored_id))
                    edges = bounds.astype(np.int64)
                    found = found[before[edges[1:]] > before[edges[:-1]]]
                yield found

    def _term_counts(self, path: NodePath, prefix: bytes) -> Iterator[TermCounts]:
        stored_id, slots = self._numbering.ids[path[-1].schema_id], self._slots_of(path)
        groups = self._tree.range(prefix, prefix=True) if prefix else ((each, 0, None) for each in self._tree.all())
        for leaves, low, high in groups:
            bounds, _, lists = self._tree.all_lists(leaves)
            mine = lists.fields == stored_id
            rows = np.zeros(len(mine), np.uint64)
            rows[mine] = self._counts(lists.take(mine), slots)
            # Entry i has the lists bounds[i] .. bounds[i + 1].
            edges = bounds.astype(np.int64)
            totals = np.append(np.uint64(0), np.cumsum(rows))
            vague = np.append(0, np.cumsum(mine & (lists.forms >= _APPROXIMATE)))
            counts, exact = totals[edges[1:]] - totals[edges[:-1]], vague[edges[1:]] == vague[edges[:-1]]
            terms = leaves.terms
            offsets = pa.py_buffer(np.ascontiguousarray(terms.offsets, np.int64))
            found = pa.Array.from_buffers(pa.large_binary(), len(terms), [None, offsets, pa.py_buffer(terms.data)])
            chosen = np.arange(low, len(terms) if high is None else high)
            chosen = chosen[counts[chosen] > 0]
            yield TermCounts(found.take(pa.array(chosen)), counts[chosen], exact[chosen])

    def _counts(self, lists: PositionLists, slots: SlotMap | None) -> U64:
        """How many rows each list has."""
        found = lists.ends - lists.starts
        each = np.ones(len(lists.starts), np.bool_) if slots is not None else lists.forms != 0
        for at in np.flatnonzero(each).tolist():
            chosen = np.zeros(len(lists.starts), np.bool_)
            chosen[at] = True
            is_unknown = lists.forms.item(at) == UNKNOWN
            found[at] = self._origin.size if is_unknown else self._rows(lists.take(chosen), slots).count
        return found

    def _knows(self, path: NodePath, question: Terms) -> bool:
        tokenizer = self._tokenizers.get(path[-1].schema_id)
        if tokenizer is None or not question.text or tokenizer not in TOKENIZERS.values():
            return False
        if self._collation is not None and question.match is not Match.EQUAL:
            return False  # a part of a term may have another form than the same part of the whole term
        return (tokenizer == TOKENIZERS["trivial"]) == question.whole

    def _lists(self, schema_id: int, question: Terms) -> MatchingLists:
        """The position lists of the entries that surely match, and of those that perhaps match."""
        try:
            text = question.text.encode()
        except UnicodeEncodeError:
            # Half a surrogate pair: no stored text has it.
            return MatchingLists(PositionLists.joined([]), PositionLists.joined([]))
        # A case-insensitive index has one spelling for all forms of a term, so only folded forms can be compared.
        folded = not question.case_sensitive or not self._case_sensitive
        words = self._tokenizers[schema_id] == TOKENIZERS["log"]
        stored_id = self._numbering.ids[schema_id]
        yes: list[PositionLists] = []
        maybe: list[PositionLists] = []
        tree = self._tree
        with located(url=self._terms.file.url):
            key = _shared_beginning(question.text, text, folded)
            is_exact = key is None and question.match is Match.EQUAL
            exact = tree.exact(text, folded=folded, words=words) if is_exact else None
            if exact is not None and len(exact.starts):
                yes.append(exact.of_field(stored_id))
            for leaves, low, high in self._candidates(text, question, key) if exact is None else ():
                terms = leaves.terms
                found = _kernels.match_terms(
                    terms.offsets, terms.data, low, high, text, question.match.value, folded, words
                )
                for entries, kept in zip(found, (yes, maybe), strict=True):
                    if len(entries):
                        kept.append(tree.lists(leaves, entries).of_field(stored_id))
        if question.case_sensitive and not self._case_sensitive:
            yes, maybe = [], yes + maybe
        return MatchingLists(PositionLists.joined(yes), PositionLists.joined(maybe))

    def _candidates(self, text: bytes, question: Terms, key: bytes | None) -> Iterator[tuple[Leaves, int, int]]:
        """Groups of leaves, each with the range of entries that may match. `key` is as `_shared_beginning` says."""
        if question.match is Match.EQUAL or question.match is Match.PREFIX:
            if key is None:
                return self._tree.range(text, prefix=question.match is Match.PREFIX)
            return self._tree.range(key, prefix=True)
        return ((leaves, 0, len(leaves.terms)) for leaves in self._tree.all())

    def _slots_of(self, path: NodePath) -> SlotMap | None:
        begin = self._elements.get(path[-1].schema_id)
        return None if begin is None else self._slots.setdefault(path[-1].schema_id, begin(path))

    def _rows_of(self, found: MatchingLists, slots: SlotMap | None) -> Positions:
        """The rows of lists in any form."""
        approximate = found.yes.forms == _APPROXIMATE
        yes, maybe = found.yes.take(~approximate), PositionLists.joined([found.maybe, found.yes.take(approximate)])
        sure = self._rows(yes, slots)
        return Positions(sure, self._rows(maybe, slots).subtract(sure))

    def _rows(self, lists: PositionLists, slots: SlotMap | None) -> Rows:
        """The rows of all lists. The lists hold rows, or slots if `slots` is given."""
        if not len(lists.starts):
            return Rows.none(self._origin)
        if slots is not None:
            before = slots.before(self._numbering.first_stripe)
            return slots.rows(self._read(lists, slots.count - before).shifted(before))
        return self._read_rows(lists)

    def _read_rows(self, lists: PositionLists) -> Rows:
        origin = self._numbering.origin
        return self._numbering.outward(self._read(lists, origin.size).counted_from(origin))

    def _common(self, parts: Sequence[PositionLists], wanted: Rows | None) -> Rows:
        """The rows that are in all `parts`, each of which is a single list. Rows outside `wanted` may be left out."""
        with located(url=self._positions.file.url):
            lists = []
            for part in parts:
                self._require(part)
                start, end = part.starts.item(0), part.ends.item(0)
                found = None if self._blocks is None else open_numbers(self._blocks, start, end, "u8")
                if found is None:
                    return reduce(Rows.intersect, map(self._read_rows, parts))
                lists.append((*found, end - start))
            # A single range usually covers all rows. Restricting the lists to it would take time and change nothing.
            among = self._numbering.inward(wanted) if wanted is not None and wanted.num_ranges > 1 else None
            least = min([count for _, _, count in lists])
            starts, ends = _allocate(least + 1), _allocate(least + 1)
            outer = _EVERYWHERE if among is None else among.arrays
            origin = self._numbering.origin
            count = _kernels.common_rows(lists, origin.size, *outer, starts, ends)
        return self._numbering.outward(Rows(starts[:count], ends[:count], origin, among))

    def _read(self, lists: PositionLists, most: int) -> Rows:
        """The positions of all lists. Raises CorruptedData if a position is not below `most`."""
        with located(url=self._positions.file.url):
            self._require(lists)
            starts, ends, forms = lists.starts, lists.ends, lists.forms
            if len(starts) > 1:
                order = np.argsort(starts, kind="stable")
                starts, ends, forms = starts[order], ends[order], forms[order]
                if _any(starts[1:] < ends[:-1]):
                    raise CorruptedData("position lists: expected no overlap, found two lists that overlap")
            wanted = Rows.joined(starts, ends)
            if self._blocks is None:
                integers = present(self._integers, wanted)
            else:
                integers = decode_numbers(self._blocks, wanted, "u8", nullable=False).numbers("u8")
            begin, stop = _allocate(len(integers) + 1), _allocate(len(integers) + 1)
            pairs = (forms != 0).view(np.uint8)
            found = _kernels.row_ranges(integers, ends - starts, pairs, most, begin, stop)
        return Rows(begin[:found], stop[:found])

    def _require(self, lists: PositionLists) -> None:
        """Raise CorruptedData if a list ends behind the last integer of the artifact."""
        blocks = self._blocks
        count = self._positions.shard.num_positions if blocks is None else blocks.values
        last = lists.ends.item(0) if len(lists.ends) == 1 else int(np.maximum.reduce(lists.ends))
        if last > count:
            raise CorruptedData(f"pos_list_end_offset: expected at most {count}, found {last}")


def _allocate(count: int) -> U64:
    if count <= _FEW:
        return np.empty(count, np.uint64)
    # Arrow's pool reuses its memory. Fresh pages would cost more than filling them.
    room: U64 = allocate(count, "u8")[1]
    return room


def _shared_beginning(text: str, stored: bytes, folded: bool) -> bytes | None:
    """The beginning that `text` shares with every cut term that may stand for it; None if `text` is too short.

    A cut term is a beginning of the text, which has the bytes `stored`. Before folding it may have had up to twice the
    bytes.
    """
    if not folded:
        return stored[:MAYBE_CUT].decode(errors="ignore").encode() if len(stored) >= MAYBE_CUT else None
    if len(stored) <= LEAST_FOLDED and len(_kernels.fold(stored)) <= LEAST_FOLDED:
        return None
    size = 0
    for at, each in enumerate(text):
        size += len(_kernels.fold(each.encode()))
        if size > LEAST_FOLDED:
            return text[:at].encode()
    return None
