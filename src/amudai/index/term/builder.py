"""The builder of a term index.

The terms of each field are collected in runs. A run is sorted, and small enough for the cache of a processor while it
grows. Finished runs wait in memory or in a temporary file. At the end they are merged, once, into the two artifacts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Final, NamedTuple

import numpy as np

from amudai import _kernels
from amudai.arguments import shown
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.format import IndexDescriptor
from amudai.index.contract import BuildPlan, IndexSpec
from amudai.index.term.budget import EXACT, BuiltIndex, within_budget
from amudai.index.term.custom import custom_terms
from amudai.index.term.spec import TermIndex
from amudai.index.term.stored_form import ELEMENT, POSITIONS_SCHEMA, TERMS_SCHEMA, TOKENIZERS
from amudai.index.term.texts import Texts, exploded, require_text_path, slots_of, texts_of
from amudai.index.term.tuning import Tuning, tuning_of
from amudai.index.term.writing import placed, written
from amudai.shard import ArtifactSpace, StoredArray
from amudai.storage import Spool
from amudai.threads import Crew
from amudai.types import NodePath

__all__ = ["TermBuilder", "build_term_index"]

# A larger run would not fit into the caches of a core and would grow more slowly.
_RUN_SCRATCH: Final = 4 * 1024 * 1024
_RUN_TEXT: Final = 16 * 1024 * 1024
_LEAST_SCRATCH: Final = 64 * 1024
# Bytes of text for each of the threads that share a batch: runs of less take longer to merge.
_LEAST_SHARE: Final = 2 * 1024 * 1024
_SHARES: Final = 2  # of a batch, for each thread
# Positions of a run are numbered with 32 bits.
_RUN_POSITIONS: Final = 1 << 31
_MAX_STRIPE: Final = 0xFFFF


def build_term_index(spec: IndexSpec, plan: BuildPlan) -> TermBuilder:
    """Create the builder of a term index."""
    if not isinstance(spec, TermIndex):
        raise InvalidArgument(f"index: expected a TermIndex, found {shown(spec)}")
    return TermBuilder(spec, plan, tuning_of(plan.profile))


class _TextBatch(NamedTuple):
    """Texts of a field, their stripe, and the first position and the number of positions of the field."""

    texts: Texts
    stripe: int
    first: int
    slots: int

    def parts(self, count: int) -> list[_TextBatch]:
        """Neighbouring parts of about the same size."""
        texts = self.texts
        if texts.codes is None:
            ends = texts.offsets[0] + (int(texts.offsets[-1]) - int(texts.offsets[0])) * np.arange(1, count) // count
            cuts = np.searchsorted(texts.offsets, ends)
        else:
            cuts = texts.count * np.arange(1, count) // count
        borders = sorted({0, *map(int, cuts), texts.count})
        return [
            _TextBatch(texts.part(first, last), self.stripe, self.first, self.slots)
            for first, last in pairwise(borders)
        ]


class _RunBytes(NamedTuple):
    """A finished run, and the stripe and the first position of its terms."""

    data: bytes
    stripe: int
    first: int


@dataclass(frozen=True, slots=True)
class _FinishedRun:
    """A finished run: its place in the spool, and the stripe, the field and the first position of its terms."""

    start: int
    end: int
    stripe: int
    field: int
    first: int


class _GrowingRun:
    """A run of one field that still grows."""

    def __init__(self, tokenizer: str, limit: int) -> None:
        self._run = _kernels.TermRun(tokenizer)
        self._limit = limit
        self._text = 0
        self._stripe = self._first = 0

    def take(self, batch: _TextBatch) -> Iterator[_RunBytes]:
        """Append texts. Returns the runs that became full."""
        if batch.stripe != self._stripe or batch.first + batch.slots - self._first >= _RUN_POSITIONS:
            yield from self.finish()
        texts, at = batch.texts, 0
        while at < texts.count:
            if self._run.terms == 0:
                self._stripe, self._first = batch.stripe, batch.first
            stop = self._add(texts, at, batch.first)
            self._text += int(texts.offsets[stop] - texts.offsets[at]) if texts.codes is None else 0
            if self._run.scratch > self._limit or self._text > _RUN_TEXT:
                yield from self.finish()
            at = stop

    def _add(self, texts: Texts, at: int, first: int) -> int:
        return self._run.add(
            texts.offsets,
            texts.data,
            texts.validity,
            texts.validity_at,
            texts.codes,
            texts.positions,
            first - self._first,
            at,
            self._limit,
        )

    def finish(self) -> Iterator[_RunBytes]:
        """Finish the run as it is. Returns nothing if the run has no terms."""
        self._text = 0
        if self._run.terms:
            yield _RunBytes(self._run.finish(), self._stripe, self._first)


class _FieldTerms:
    """The terms of one field: the run that grows, and the field's position in the stream of values."""

    def __init__(self, path: NodePath, tokenizer: str, collation: str, limit: int, *, by_slot: bool) -> None:
        self.path = path
        self._custom = custom_terms(tokenizer, collation)
        self._by_slot = by_slot
        self._slots = 0  # slots of all batches so far
        # Terms that were made here are stored as they are.
        stored = TOKENIZERS["trivial" if self._custom is not None else tokenizer]
        self._new_run = partial(_GrowingRun, stored, limit)
        self._run = self._new_run()

    def take(self, values: StoredArray, stripe: int, first_row: int, crew: Crew) -> list[_RunBytes]:
        """Append a batch of values. Returns the runs that became full.

        Threads share a large batch, and each makes a run of its part. A batch never waits for the next one: its memory
        belongs to somebody else.
        """
        first, slots = first_row, values.length
        if self._by_slot:
            first, slots = self._slots, slots_of(values, self.path)
            self._slots += slots
        texts = texts_of(values, self.path, by_slot=self._by_slot)
        if texts is None:
            return []
        if self._custom is not None:
            texts = exploded(texts, self._custom)
        batch = _TextBatch(texts, stripe, first, slots)
        # More parts than threads: one of them may still be busy with reading the next batch.
        count = min(_SHARES * crew.threads, texts.size // _LEAST_SHARE) if crew.threads > 1 else 1
        return list(self._run.take(batch)) if count < 2 else self._shared(batch.parts(count), crew)

    def finish(self) -> list[_RunBytes]:
        """Finish the run as it is. Returns an empty list if the run has no terms."""
        return list(self._run.finish())

    def _shared(self, parts: Sequence[_TextBatch], crew: Crew) -> list[_RunBytes]:
        """The runs of neighbouring parts, behind the run that grew so far."""
        found: list[list[_RunBytes]] = [[] for _ in parts]

        def make(number: int) -> None:
            run = self._new_run()
            found[number] = [*run.take(parts[number]), *run.finish()]

        before = self.finish()
        crew.each(make, len(parts))
        return [*before, *(run for runs in found for run in runs)]


class TermBuilder:
    """Collects the terms of the indexed fields while the rows of a shard are written.

    Different fields may be appended on different threads: each has its own runs, and only the list of finished runs is
    shared.
    """

    def __init__(self, spec: TermIndex, plan: BuildPlan, tuning: Tuning) -> None:
        if len(plan.paths) != len(spec.fields):
            raise InvalidArgument(f"paths: expected {len(spec.fields)}, one for each field, found {len(plan.paths)}")
        for path in plan.paths:
            require_text_path(path)
        self._spec = spec
        self._plan = plan
        self._tuning = tuning
        self.fields = frozenset(path[0].schema_id for path in plan.paths)
        limit = max(_LEAST_SCRATCH, min(_RUN_SCRATCH, plan.memory // (4 * len(plan.paths) * plan.crew.threads)))
        self._gathering = [
            _FieldTerms(path, tokenizer, spec.collation, limit, by_slot=granularity == ELEMENT)
            for path, tokenizer, granularity in zip(plan.paths, spec.tokenizers, spec.granularities, strict=True)
        ]
        self._lock = Lock()
        self._begin()

    def _begin(self) -> None:
        self._spool = Spool(self._plan.temp_folder, self._plan.memory // 4)
        self._runs: list[_FinishedRun] = []

    def append(self, values: StoredArray, stripe: int, first_row: int) -> None:
        """Append values of one top-level field."""
        if stripe > _MAX_STRIPE:
            raise UnsupportedFeature(f"term index: expected at most {_MAX_STRIPE + 1} stripes, found more")
        for each in self._gathering:
            if each.path[0].schema_id == values.node.schema_id:
                self._keep(each, each.take(values, stripe, first_row, self._plan.crew))

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Merge the runs and write both artifacts."""
        for each in self._gathering:
            self._keep(each, each.finish())
        built = self._built(space)
        found = placed(built, space, self._spec, self._plan)
        self.close()
        self._begin()
        return found

    def close(self) -> None:
        """Release memory and temporary files, finished or not."""
        self._runs = []
        self._spool.close()

    def _keep(self, terms: _FieldTerms, runs: list[_RunBytes]) -> None:
        for data, stripe, first in runs:
            start = self._spool.append(data)
            run = _FinishedRun(start, start + len(data), stripe, terms.path[-1].schema_id, first)
            with self._lock:
                self._runs.append(run)

    def _built(self, space: ArtifactSpace) -> BuiltIndex:
        # Threads finish runs in any order. The merge needs the runs of a field in the order of their positions.
        runs = sorted(self._runs, key=lambda run: (run.stripe, run.field, run.first, run.start))
        if self._spec.max_bytes is None:
            return self._merged(runs, EXACT)
        return within_budget(
            self._spec.max_bytes,
            lambda price: _measured(self._merged(runs, price), space),
            lambda prices: self._merge(runs, EXACT).estimate(prices),
        )

    def _merge(self, runs: list[_FinishedRun], price: int) -> _kernels.TermMerge:
        return _kernels.TermMerge(
            [self._spool.view(run.start, run.end) for run in runs],
            np.array([run.stripe for run in runs], np.uint16),
            np.array([run.field for run in runs], np.uint32),
            np.array([run.first for run in runs], np.uint64),
            price,
        )

    def _merged(self, runs: list[_FinishedRun], price: int) -> BuiltIndex:
        # With a budget, the best index so far is kept while the next one is built.
        at_once = 1 if self._spec.max_bytes is None else 2
        spool = Spool(self._plan.temp_folder, self._plan.memory // (8 * at_once))
        return written(self._merge(runs, price), spool, self._tuning, self._plan.crew)


def _measured(built: BuiltIndex, space: ArtifactSpace) -> BuiltIndex:
    """The index with the sizes of its artifacts filled in."""
    terms, positions = space.measure([(TERMS_SCHEMA, (built.terms,)), (POSITIONS_SCHEMA, (built.positions,))])
    return replace(built, terms_size=terms, size=terms + positions)
