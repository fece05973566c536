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
from amudai.index.contract import BuildPlan, IndexSpec, Path
from amudai.index.term.layout import Layout
from amudai.index.term.names import (
    COLLATIONS,
    INDEX_TYPE,
    POSITIONS,
    POSITIONS_SCHEMA,
    TERMS,
    TERMS_SCHEMA,
    TOKENIZERS,
)
from amudai.index.term.pages import PagesWriter
from amudai.index.term.positions import PositionsWriter
from amudai.index.term.spec import TermIndex
from amudai.index.term.texts import Texts, require_text_path, texts_of
from amudai.index.term.tuning import Tuning, tuning_of
from amudai.shard.build import ArtifactSpace, BuildOptions, PreparedStripe, StoredArray, StripeBuilder
from amudai.storage import Spool
from amudai.types import SchemaNode

__all__ = ["TermBuilder", "build_term_index"]

# More does not fit into the caches of a core, and makes gathering slower.
_RUN_SCRATCH: Final = 4 * 1024 * 1024
_RUN_TEXT: Final = 16 * 1024 * 1024
_LEAST_SCRATCH: Final = 64 * 1024
# Rows of a run are numbered with 32 bits.
_RUN_ROWS: Final = 1 << 31
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
    first_row: int


class _Gathering:
    """The run of one field that still grows."""

    def __init__(self, path: Path, tokenizer: str, limit: int) -> None:
        self.path = path
        self._run = _kernels.TermRun(tokenizer)
        self._limit = limit
        self._text = 0
        self._stripe = self._first_row = 0

    def take(self, values: StoredArray, stripe: int, first_row: int) -> list[tuple[bytes, int, int]]:
        """Take the values of a batch; runs that have become full, with stripe and first row of each."""
        done = []
        if stripe != self._stripe or first_row + values.length - self._first_row >= _RUN_ROWS:
            done += self.finish()
        texts = texts_of(values, self.path)
        at = 0
        while texts is not None and at < texts.count:
            if self._run.terms == 0:
                self._stripe, self._first_row = stripe, first_row
            stop = self._add(texts, at, first_row)
            self._text += int(texts.offsets[stop] - texts.offsets[at]) if texts.codes is None else 0
            if self._run.scratch > self._limit or self._text > _RUN_TEXT:
                done += self.finish()
            at = stop
        return done

    def _add(self, texts: Texts, at: int, first_row: int) -> int:
        return self._run.add(
            texts.offsets,
            texts.data,
            texts.validity,
            texts.validity_at,
            texts.codes,
            texts.rows,
            first_row - self._first_row,
            at,
            self._limit,
        )

    def finish(self) -> list[tuple[bytes, int, int]]:
        """The run as it is; none where nothing was gathered."""
        self._text = 0
        return [(self._run.finish(), self._stripe, self._first_row)] if self._run.terms else []


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
            _Gathering(path, TOKENIZERS[tokenizer], limit)
            for path, tokenizer in zip(plan.paths, spec.tokenizers, strict=True)
        ]
        self._spool = Spool(plan.temp_folder, plan.memory // 4)
        self._made = Spool(plan.temp_folder, plan.memory // 8)
        self._runs: list[_Run] = []
        self._lock = Lock()

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
        self._gathering = []
        terms, positions, layout = self._merged()
        placed = space.place(TERMS, TERMS_SCHEMA, [terms])
        return IndexDescriptor(
            index_type=INDEX_TYPE,
            properties=any_values(
                {
                    "collation": COLLATIONS[self._spec.collation],
                    "tokenizers": [TOKENIZERS[name] for name in self._spec.tokenizers],
                    # The reference loses rows of some terms: only an index that says this proves absence.
                    "complete": True,
                }
            ),
            indexed_fields=tuple((path[-1].schema_id,) for path in self._plan.paths),
            artifacts=(
                replace(placed, properties=() if layout is None else layout.properties),
                space.place(POSITIONS, POSITIONS_SCHEMA, [positions]),
            ),
        )

    def close(self) -> None:
        """Let go of everything, finished or not."""
        self._gathering = []
        self._runs = []
        self._spool.close()
        self._made.close()

    def _keep(self, gathered: _Gathering, runs: list[tuple[bytes, int, int]]) -> None:
        for data, stripe, first_row in runs:
            start = self._spool.append(data)
            run = _Run(start, start + len(data), stripe, gathered.path[-1].schema_id, first_row)
            with self._lock:
                self._runs.append(run)

    def _merged(self) -> tuple[PreparedStripe, PreparedStripe, Layout | None]:
        # Threads finish runs in any order; those of one field come in the order of their rows.
        runs = sorted(self._runs, key=lambda run: (run.stripe, run.field, run.first_row, run.start))
        if not runs:
            return _empty(TERMS_SCHEMA), _empty(POSITIONS_SCHEMA), None
        merge = _kernels.TermMerge(
            [self._spool.view(run.start, run.end) for run in runs],
            np.array([run.stripe for run in runs], np.uint16),
            np.array([run.field for run in runs], np.uint32),
            np.array([run.first_row for run in runs], np.uint64),
        )
        pages, positions = PagesWriter(self._made, self._tuning), PositionsWriter(self._made, self._tuning)
        while not merge.done:
            piece = merge.next(pages.room, _SLICE)
            counts = piece.counts()
            first = positions.count
            positions.add(piece.integers(), counts, piece.is_long(), piece.continues)
            pages.add(piece, counts, first)
        fields = pages.finish()
        made = positions.finish(POSITIONS_SCHEMA[0])
        return (
            PreparedStripe(fields, pages.pages, self._made),
            PreparedStripe((made,), positions.count, self._made),
            pages.layout,
        )


def _empty(schema: tuple[SchemaNode, ...]) -> PreparedStripe:
    """A stripe without rows; the few bytes that it has stay in memory."""
    return StripeBuilder(schema, BuildOptions(profile=profile_of("balanced"))).prepared()
