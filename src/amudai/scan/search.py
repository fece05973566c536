"""How is a predicate answered?

First all evidence is asked, which leaves rows that match, and rows in doubt. Those in doubt are checked on their
values, a part after the other, on several threads; then the other columns are read, for rows that match and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from typing import Final

import pyarrow as pa

from amudai.arrow import ArrowFields
from amudai.column import ColumnSource, Projection
from amudai.errors import InvalidArgument
from amudai.lazy import lazy
from amudai.predicate import Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr
from amudai.rows import Positions, Rows
from amudai.scan.check import Checker
from amudai.scan.columns import Selected
from amudai.scan.evidence import Facts
from amudai.scan.execute import prepare, read_batch, read_table, require_scannable
from amudai.scan.open_indexes import OnDamage, open_indexes, unknown_indexes
from amudai.scan.prune import Known, Pruner
from amudai.scan.receipt import Explanation, LeafReport, Note
from amudai.scan.threads import in_order
from amudai.shard import ShardReader, StripeReader

__all__ = ["Search"]

# Rows of a part: what is held in memory for each thread, and what is checked beyond a limit at most.
PART_ROWS: Final = 1 << 17
FIRST_PART: Final = 1 << 12  # with a limit: the first rows are often enough
SERIAL_ROWS: Final = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Some rows of one stripe, still counted from the shard's first: those that match, and those in doubt."""

    stripe: StripeReader
    positions: Positions


class Search:
    """One scan of a shard: planned once, then run as often as it is asked.

    Parameters
    ----------
    select
        Returns the columns of the result. It is called when the columns are first needed: a count never needs them.
    rows
        The positions that the scan looks at; no row outside of them is found.
    batch_rows
        The most rows of a batch; None for the size of a part.
    """

    def __init__(
        self,
        reader: ShardReader,
        fields: ArrowFields,
        bound: Bound,
        select: Callable[[], tuple[Sequence[Selected], pa.Schema]],
        *,
        rows: Rows,
        limit: int | None,
        batch_rows: int | None,
        threads: int,
        on_damage: OnDamage,
    ) -> None:
        if limit is not None and limit < 0:
            raise InvalidArgument(f"limit: expected at least 0, found {limit}")
        if batch_rows is not None and batch_rows < 1:
            raise InvalidArgument(f"batch_rows: expected at least 1, found {batch_rows}")
        if on_damage not in ("raise", "ignore"):
            raise InvalidArgument(f"on_damaged_index: expected raise or ignore, found {on_damage!r}")
        self._reader = reader
        self._fields = fields
        self.bound = bound
        self._select = select
        self._within = rows
        self.limit = limit
        self._batch_rows = batch_rows
        self._threads = threads
        self._on_damage = on_damage
        self._clock = _Clock()
        self._found: int | None = None
        self._before = (reader.store.counters.requests, reader.store.counters.bytes, reader.decoded.blocks)

    @lazy
    def _selected(self) -> tuple[Sequence[Selected], pa.Schema]:
        return self._select()

    @property
    def columns(self) -> Sequence[Selected]:
        """The columns of the result."""
        return self._selected[0]

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns."""
        return self._selected[1]

    # ---- the plan ----

    @lazy
    def _pruner(self) -> Pruner:
        wanted = any(facts.keys is not None or facts.terms for facts in self._leaves)
        indexes = open_indexes(self._reader, self._on_damage) if wanted else ()
        return Pruner(self._leaves, indexes, self._prepare)

    def _prepare(self) -> None:
        prepare(self._reader, [facts.column for facts in self._leaves], self._within, prefetch=False)

    @lazy
    def _leaves(self) -> tuple[Facts, ...]:
        return tuple(Facts(leaf, self._reader, self._fields) for leaf in _leaves(self.bound))

    @lazy
    def plan(self) -> Positions:
        """The rows that match and those in doubt, by evidence alone."""
        with self._clock.phase("plan"):
            if isinstance(self.bound, BoundAlways):
                self._reader.require_rows()
                return Positions.surely(self._within) if self.bound.value else Positions.none(self._reader.origin)
            require_scannable(self._reader, [node for facts in self._leaves for node in facts.leaf.nodes])
            return self._pruner.prune(self.bound, self._within)

    @lazy
    def _work(self) -> Positions:
        """The plan; where nothing is in doubt, without the rows beyond the limit."""
        plan = self.plan
        return plan if plan.maybe else Positions.surely(_first(plan.yes, self.limit))

    @lazy
    def _checker(self) -> Checker:
        return Checker(self.bound, self._pruner.known)

    # ---- rows ----

    def rows(self) -> Rows:
        """All rows that match, up to the limit."""
        if not self._work.maybe:
            return self._noted(self._work.yes)
        pieces: list[Rows] = []
        count = 0
        for rows in in_order(self._matching, self._parts(), self._pool()):
            pieces.append(rows)
            count += rows.count
            if self.limit is not None and count >= self.limit:
                break
        return self._noted(_first(Rows.concatenated(pieces, self._reader.origin), self.limit))

    def count(self) -> int:
        """How many rows match, up to the limit."""
        return self.rows().count

    def table(self) -> pa.Table:
        """The columns of all rows that match."""
        rows = self.rows()
        with self._clock.phase("read"):
            return read_table(self._reader, self.columns, self.schema, rows, self._threads)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The columns of the rows that match, in batches of at most `batch_rows` rows."""
        # Where nothing is in doubt, all candidates are read, and it pays to fetch their small buffers together.
        prepare(self._reader, self.columns, self._work.candidates, prefetch=not self._work.maybe)
        left = self.limit
        found = 0
        for batches in in_order(self._read, self._parts(), self._pool()):
            for batch in batches:
                if left is not None:
                    batch = batch.slice(0, left)
                    left -= batch.num_rows
                found += batch.num_rows
                yield from _cut(batch, self._batch_rows)
            if left == 0:
                break
        self._found = found

    def _read(self, part: _Part) -> list[pa.RecordBatch]:
        rows = self._matching(part)
        if not rows:
            return []
        stripe = part.stripe
        inside = rows.inward(stripe.origin)
        with self._clock.phase("read"):
            return read_batch(stripe, self.columns, self.schema, inside)

    def _matching(self, part: _Part) -> Rows:
        if not part.positions.maybe:
            return part.positions.yes
        with self._clock.phase("check"):
            return part.positions.yes.unite(self._checker.true_rows(part.stripe, part.positions.maybe))

    def _parts(self) -> Iterator[_Part]:
        plan = self._work
        candidates = plan.candidates
        # Where nothing is in doubt, a part is a batch. Otherwise many rows are checked for a few that match.
        most = PART_ROWS if plan.maybe or self._batch_rows is None else self._batch_rows
        size = most if self.limit is None else min(most, max(FIRST_PART, self.limit))
        if len(self._reader.stripes) == 1 and candidates.count <= size:
            yield _Part(self._reader.stripes[0], plan)
            return
        for stripe in self._reader.stripes:
            mine = candidates.intersect(stripe.extent)
            for rows in _growing(mine, size, most):
                yield _Part(stripe, plan.within(rows))

    def _pool(self) -> int:
        return 1 if self.plan.count <= SERIAL_ROWS else self._threads

    def _noted(self, rows: Rows) -> Rows:
        self._found = rows.count
        return rows

    # ---- what happened ----

    def explanation(self) -> Explanation:
        """The plan, and what running it took, as far as it has been run."""
        plan = self.plan
        counters = self._reader.store.counters
        return Explanation(
            where=str(self.bound),
            total_rows=self._within.count,
            sure=plan.yes.count,
            doubtful=plan.maybe.count,
            found=self._found,
            limit=self.limit,
            leaves=tuple(self._report(leaf) for leaf in {id(leaf): leaf for leaf in _leaves(self.bound)}.values()),
            unknown_indexes=unknown_indexes(self._reader),
            columns=tuple(self.schema.names),
            blocks_decoded=self._reader.decoded.blocks - self._before[2],
            blocks=self._blocks(),
            requests=counters.requests - self._before[0],
            bytes=counters.bytes - self._before[1],
            seconds=self._clock.seconds(),
        )

    def _report(self, leaf: BoundLeaf) -> LeafReport:
        known: Known | None = self._pruner.known.get(id(leaf))
        if known is None:
            return LeafReport(str(leaf), 0, (), 0, 0)
        checked = self._checker.checked.get(id(leaf), 0)
        notes = tuple(map(Note.of, known.steps))
        return LeafReport(str(leaf), known.rows.count, notes, known.positions.maybe.count, checked)

    def _blocks(self) -> int:
        """How many blocks the columns of the scan have."""
        return sum(source.block_count() for source in self._touched())

    def _touched(self) -> Iterator[ColumnSource]:
        """All columns that the scan may read, in each stripe."""
        wanted = {column.projection.node.schema_id: column for column in self.columns}
        wanted |= {facts.leaf.nodes[0].schema_id: facts.column for facts in self._leaves}
        for stripe in self._reader.stripes:
            for column in wanted.values():
                yield from _wanted(stripe.column(column.projection.node), column.projection)


def _wanted(source: ColumnSource, projection: Projection) -> Iterator[ColumnSource]:
    """A column and the columns below it that a projection asks for."""
    yield source
    for child in projection.children:
        yield from _wanted(source.child_of(child.node), child)


def _leaves(bound: Bound) -> Iterator[BoundLeaf]:
    match bound:
        case BoundLeaf():
            yield bound
        case BoundAnd(terms) | BoundOr(terms):
            for term in terms:
                yield from _leaves(term)
        case BoundAlways():
            return


def _growing(rows: Rows, size: int, most: int) -> Iterator[Rows]:
    """The rows in parts: the first has `size` rows, each later one twice as many as the one before, up to `most`."""
    if not rows.count:
        return
    if size >= most:
        yield from rows.each_part(most)
        return
    first = next(rows.each_part(size))
    yield first
    yield from _growing(rows.subtract(first), 2 * size, most)


def _cut(batch: pa.RecordBatch, size: int | None) -> Iterator[pa.RecordBatch]:
    """The rows of a batch in batches of at most `size` rows; none where it has no rows."""
    for at in range(0, batch.num_rows, size or max(1, batch.num_rows)):
        yield batch.slice(at, size) if size is not None and size < batch.num_rows else batch


def _first(rows: Rows, limit: int | None) -> Rows:
    return rows if limit is None else rows.first(limit)


class _Clock:
    """Time by phase, of all threads together."""

    def __init__(self) -> None:
        self._seconds = {"plan": 0.0, "check": 0.0, "read": 0.0}
        self._lock = Lock()

    def phase(self, name: str) -> _Phase:
        """What is done in it belongs to a phase."""
        return _Phase(self, name)

    def add(self, name: str, seconds: float) -> None:
        """Count time of a phase."""
        with self._lock:
            self._seconds[name] += seconds

    def seconds(self) -> dict[str, float]:
        with self._lock:
            return dict(self._seconds)


class _Phase:
    def __init__(self, clock: _Clock, name: str) -> None:
        self._clock, self._name = clock, name

    def __enter__(self) -> None:
        self._begin = perf_counter()

    def __exit__(self, *_: object) -> None:
        self._clock.add(self._name, perf_counter() - self._begin)
