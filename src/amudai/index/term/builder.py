"""The builder of a term index.

The terms of each field are collected in runs. A run is sorted, and small enough for the cache of a processor while it
grows. Finished runs wait in memory or in a temporary file. At the end they are merged, once, into the two artifacts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

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
from amudai.types import NodePath

__all__ = ["TermBuilder", "build_term_index"]

# A larger run would not fit into the caches of a core and would grow more slowly.
_RUN_SCRATCH: Final = 4 * 1024 * 1024
_RUN_TEXT: Final = 16 * 1024 * 1024
_LEAST_SCRATCH: Final = 64 * 1024
# Positions of a run are numbered with 32 bits.
_RUN_POSITIONS: Final = 1 << 31
_MAX_STRIPE: Final = 0xFFFF


def build_term_index(spec: IndexSpec, plan: BuildPlan) -> TermBuilder:
    """Create the builder of a term index."""
    if not isinstance(spec, TermIndex):
        raise InvalidArgument(f"index: expected a TermIndex, found {shown(spec)}")
    return TermBuilder(spec, plan, tuning_of(plan.profile))


@dataclass(frozen=True, slots=True)
class _FinishedRun:
    """A finished run: its place in the spool, and the stripe, the field and the first position of its terms."""

    start: int
    end: int
    stripe: int
    field: int
    first: int


class _GrowingRun:
    """The run of one field that still grows, and the field's position in the stream of values."""

    def __init__(self, path: NodePath, tokenizer: str, collation: str, limit: int, *, by_slot: bool) -> None:
        self.path = path
        self._custom = custom_terms(tokenizer, collation)
        self.by_slot = by_slot
        self.slots = 0  # slots of all batches so far
        # Terms that were made here are stored as they are.
        self._run = _kernels.TermRun(TOKENIZERS["trivial" if self._custom is not None else tokenizer])
        self._limit = limit
        self._text = 0
        self._stripe = self._first = 0

    def take(self, values: StoredArray, stripe: int, first_row: int) -> list[tuple[bytes, int, int]]:
        """Append a batch of values. Returns the runs that became full, each with its stripe and its first position."""
        done = []
        first, count = first_row, values.length
        if self.by_slot:
            first, count = self.slots, slots_of(values, self.path)
            self.slots += count
        if stripe != self._stripe or first + count - self._first >= _RUN_POSITIONS:
            done += self.finish()
        texts = texts_of(values, self.path, by_slot=self.by_slot)
        if texts is not None and self._custom is not None:
            texts = exploded(texts, self._custom)
        at = 0
        while texts is not None and at < texts.count:
            if self._run.terms == 0:
                self._stripe, self._first = stripe, first
            stop = self._add(texts, at, first)
            self._text += int(texts.offsets[stop] - texts.offsets[at]) if texts.codes is None else 0
            if self._run.scratch > self._limit or self._text > _RUN_TEXT:
                done += self.finish()
            at = stop
        return done

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

    def finish(self) -> list[tuple[bytes, int, int]]:
        """Finish the run as it is. Returns an empty list if the run has no terms."""
        self._text = 0
        return [(self._run.finish(), self._stripe, self._first)] if self._run.terms else []


class TermBuilder:
    """Collects the terms of the indexed fields while the rows of a shard are written.

    Different fields may be appended on different threads: each has its own growing run, and only the list of finished
    runs is shared.
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
        limit = max(_LEAST_SCRATCH, min(_RUN_SCRATCH, plan.memory // (4 * len(plan.paths))))
        self._gathering = [
            _GrowingRun(path, tokenizer, spec.collation, limit, by_slot=granularity == ELEMENT)
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
                self._keep(each, each.take(values, stripe, first_row))

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

    def _keep(self, growing: _GrowingRun, runs: list[tuple[bytes, int, int]]) -> None:
        for data, stripe, first in runs:
            start = self._spool.append(data)
            run = _FinishedRun(start, start + len(data), stripe, growing.path[-1].schema_id, first)
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
        return written(self._merge(runs, price), spool, self._tuning)


def _measured(built: BuiltIndex, space: ArtifactSpace) -> BuiltIndex:
    """The index with the sizes of its artifacts filled in."""
    terms, positions = space.measure([(TERMS_SCHEMA, (built.terms,)), (POSITIONS_SCHEMA, (built.positions,))])
    return replace(built, terms_size=terms, size=terms + positions)
