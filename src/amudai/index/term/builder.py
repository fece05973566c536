"""How is a term index built?

Each field gathers terms into runs: sorted, and small enough to be gathered in a processor's cache. Runs wait in memory
or in a temporary file; at the end they are merged, once, into the two artifacts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

import numpy as np

from amudai import _kernels
from amudai.encoding import profile_of
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.format import IndexDescriptor, any_values
from amudai.index.contract import BuildPlan, IndexSpec
from amudai.index.term.budget import EXACT, Made, within_budget
from amudai.index.term.names import (
    COLLATIONS,
    ELEMENT,
    INDEX_TYPE,
    POSITIONS,
    POSITIONS_LOOKUP,
    POSITIONS_SCHEMA,
    TERMS,
    TERMS_LOOKUP,
    TERMS_SCHEMA,
    TOKENIZERS,
)
from amudai.index.term.pages import PagesWriter
from amudai.index.term.positions import PositionsWriter
from amudai.index.term.spec import TermIndex
from amudai.index.term.texts import Texts, require_text_path, slots_of, texts_of
from amudai.index.term.tuning import Tuning, tuning_of
from amudai.shard import ArtifactSpace, BuildOptions, PreparedStripe, StoredArray, StripeBuilder
from amudai.storage import Spool
from amudai.types import NodePath, SchemaNode

__all__ = ["TermBuilder", "build_term_index"]

# More does not fit into the caches of a core, and makes gathering slower.
_RUN_SCRATCH: Final = 4 * 1024 * 1024
_RUN_TEXT: Final = 16 * 1024 * 1024
_LEAST_SCRATCH: Final = 64 * 1024
# Positions of a run are numbered with 32 bits.
_RUN_POSITIONS: Final = 1 << 31
_MAX_STRIPE: Final = 0xFFFF
# Integers of a step of the merge.
_SLICE: Final = 65_536


def build_term_index(spec: IndexSpec, plan: BuildPlan) -> TermBuilder:
    """Begin a term index."""
    if not isinstance(spec, TermIndex):
        raise InvalidArgument(f"index: expected a TermIndex, found {spec!r}")
    return TermBuilder(spec, plan, tuning_of(plan.profile))


@dataclass(frozen=True, slots=True)
class _Run:
    """Where a run lies in the spool, and whose terms it holds."""

    start: int
    end: int
    stripe: int
    field: int
    first: int


class _Gathering:
    """The run of one field that still grows."""

    def __init__(self, path: NodePath, tokenizer: str, limit: int, *, by_slot: bool) -> None:
        self.path = path
        self.by_slot = by_slot
        self.slots = 0  # of all batches so far
        self._run = _kernels.TermRun(tokenizer)
        self._limit = limit
        self._text = 0
        self._stripe = self._first = 0

    def take(self, values: StoredArray, stripe: int, first_row: int) -> list[tuple[bytes, int, int]]:
        """Take the values of a batch; runs that have become full, with stripe and first position of each."""
        done = []
        first, count = first_row, values.length
        if self.by_slot:
            first, count = self.slots, slots_of(values, self.path)
            self.slots += count
        if stripe != self._stripe or first + count - self._first >= _RUN_POSITIONS:
            done += self.finish()
        texts = texts_of(values, self.path, by_slot=self.by_slot)
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
        """The run as it is; none where nothing was gathered."""
        self._text = 0
        return [(self._run.finish(), self._stripe, self._first)] if self._run.terms else []


class TermBuilder:
    """Sees the rows of a shard, and adds a term index to it.

    Fields may come on different threads: each gathers by itself, and only the list of finished runs is shared.
    """

    def __init__(self, spec: TermIndex, plan: BuildPlan, tuning: Tuning) -> None:
        if len(plan.paths) != len(spec.fields):
            raise InvalidArgument(f"paths: expected {len(spec.fields)} as there are fields, found {len(plan.paths)}")
        for path in plan.paths:
            require_text_path(path)
        self._spec = spec
        self._plan = plan
        self._tuning = tuning
        self.fields = frozenset(path[0].schema_id for path in plan.paths)
        limit = max(_LEAST_SCRATCH, min(_RUN_SCRATCH, plan.memory // (4 * len(plan.paths))))
        self._gathering = [
            _Gathering(path, TOKENIZERS[tokenizer], limit, by_slot=granularity == ELEMENT)
            for path, tokenizer, granularity in zip(plan.paths, spec.tokenizers, spec.granularities, strict=True)
        ]
        self._lock = Lock()
        self._begin()

    def _begin(self) -> None:
        self._spool = Spool(self._plan.temp_folder, self._plan.memory // 4)
        self._runs: list[_Run] = []

    def append(self, values: StoredArray, stripe: int, first_row: int) -> None:
        """Take values of one top-level field."""
        if stripe > _MAX_STRIPE:
            raise UnsupportedFeature(f"term index: expected at most {_MAX_STRIPE + 1} stripes, found more")
        for each in self._gathering:
            if each.path[0].schema_id == values.node.schema_id:
                self._keep(each, each.take(values, stripe, first_row))

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Merge the runs, and write both artifacts."""
        for each in self._gathering:
            self._keep(each, each.finish())
        made = self._made(space)
        with made.spool:
            terms = space.place(TERMS, TERMS_SCHEMA, [made.terms], TERMS_LOOKUP)
            layout = () if made.layout is None else (*made.layout.properties, *terms.properties)
            positions = space.place(POSITIONS, POSITIONS_SCHEMA, [made.positions], POSITIONS_LOOKUP)
        self.close()
        self._begin()
        return IndexDescriptor(
            index_type=INDEX_TYPE,
            properties=any_values(self._properties()),
            indexed_fields=tuple((path[-1].schema_id,) for path in self._plan.paths),
            artifacts=(replace(terms, properties=layout), positions),
        )

    def _properties(self) -> dict[str, object]:
        found: dict[str, object] = {
            "collation": COLLATIONS[self._spec.collation],
            "tokenizers": [TOKENIZERS[name] for name in self._spec.tokenizers],
            # The reference loses rows of some terms: only an index that says this proves absence.
            "complete": True,
        }
        if ELEMENT in self._spec.granularities:
            found["granularities"] = list(self._spec.granularities)
        return found

    def close(self) -> None:
        """Let go of everything, finished or not."""
        self._runs = []
        self._spool.close()

    def _keep(self, gathered: _Gathering, runs: list[tuple[bytes, int, int]]) -> None:
        for data, stripe, first in runs:
            start = self._spool.append(data)
            run = _Run(start, start + len(data), stripe, gathered.path[-1].schema_id, first)
            with self._lock:
                self._runs.append(run)

    def _made(self, space: ArtifactSpace) -> Made:
        # Threads finish runs in any order; those of one field come in the order of their positions.
        runs = sorted(self._runs, key=lambda run: (run.stripe, run.field, run.first, run.start))
        if self._spec.max_bytes is None:
            return self._merged(runs, EXACT)
        return within_budget(
            self._spec.max_bytes,
            lambda price: _measured(self._merged(runs, price), space),
            lambda prices: self._merge(runs, EXACT).estimate(prices),
        )

    def _merge(self, runs: list[_Run], price: int) -> _kernels.TermMerge:
        return _kernels.TermMerge(
            [self._spool.view(run.start, run.end) for run in runs],
            np.array([run.stripe for run in runs], np.uint16),
            np.array([run.field for run in runs], np.uint32),
            np.array([run.first for run in runs], np.uint64),
            price,
        )

    def _merged(self, runs: list[_Run], price: int) -> Made:
        # With a budget, the best one so far waits while the next is made.
        at_once = 1 if self._spec.max_bytes is None else 2
        spool = Spool(self._plan.temp_folder, self._plan.memory // (8 * at_once))
        if not runs:
            return Made(_empty(TERMS_SCHEMA), _empty(POSITIONS_SCHEMA), None, spool)
        merge = self._merge(runs, price)
        pages, positions = PagesWriter(spool, self._tuning), PositionsWriter(spool, self._tuning)
        while not merge.done:
            piece = merge.next(pages.room, _SLICE)
            counts = piece.counts()
            first = positions.count
            positions.add(piece.integers(), counts, piece.is_long(), piece.continues)
            pages.add(piece, counts, first)
        fields = pages.finish()
        made = positions.finish(POSITIONS_SCHEMA[0])
        return Made(
            PreparedStripe(fields, pages.pages, spool),
            PreparedStripe((made,), positions.count, spool),
            pages.layout,
            spool,
        )


def _measured(made: Made, space: ArtifactSpace) -> Made:
    """The same, with its sizes."""
    terms, positions = space.measure([(TERMS_SCHEMA, (made.terms,)), (POSITIONS_SCHEMA, (made.positions,))])
    return replace(made, terms_size=terms, size=terms + positions)


def _empty(schema: tuple[SchemaNode, ...]) -> PreparedStripe:
    """A stripe without rows; the few bytes that it has stay in memory."""
    return StripeBuilder(schema, BuildOptions(profile=profile_of("balanced"))).prepared()
