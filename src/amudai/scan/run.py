"""The run of a scan of one shard. The plan is made once and can be run many times.

Rows in doubt are checked part by part, on several threads. Then the columns of the result are read, only for the rows
that match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow import least_bits, rows_without_columns, table_without_columns
from amudai.collection import MANY_COLUMNS, uncollected
from amudai.column import ColumnSource, Projection
from amudai.errors import located
from amudai.plan import (
    ScanTask,
    SelectedColumn,
    ShardPlan,
    prepare_columns,
    read_arrays,
    read_small_columns,
    rows_by_stripe,
)
from amudai.rows import Positions, Rows
from amudai.scan.receipt import Explanation, LeafReport, Note, Receipt
from amudai.shard import StripeReader
from amudai.storage import metered
from amudai.threads import Crew, Each, in_order, one_by_one

__all__ = ["ScanRun"]

# Rows that a thread checks and reads at a time, and so holds in memory.
PART_ROWS: Final = 1 << 17
# Rows that a thread checks at a time if no value takes much memory or time, and only positions are kept.
LIGHT_PART: Final = 1 << 20
# The same if the rows that match are read: reading some rows of a column takes nearly as long as reading many.
LIGHT_READ: Final = 1 << 18
# Parts for each thread, at least, so that all threads end at about the same time.
PARTS_PER_THREAD: Final = 4
# Rows of a part if blocks are larger than a part, at most.
LARGEST_PART: Final = 1 << 24
# Rows of the first part if there is a limit: the first rows are often enough.
FIRST_PART: Final = 1 << 12
# Rows of a chunk of a table: many, to keep the overhead of Python small, and a multiple of all block sizes in use.
CHUNK_ROWS: Final = 1 << 20
# Bytes of values of a chunk of the largest column at least, and its rows, if chunks are made for several threads.
LEAST_CHUNK: Final = 9 << 18
LEAST_CHUNK_ROWS: Final = 1 << 16
# Up to this many rows that match in a part are read together with those of the parts behind it: reading few rows of a
# column takes as long as reading one.
FEW_ROWS: Final = 1 << 10
# Parts whose few rows are read together, at most: a caller must not wait long for rows that were found.
MOST_TOGETHER: Final = 8
# Fewer rows to check, or values to read, take less time than starting a thread.
SERIAL_ROWS: Final = 1 << 14
SERIAL_VALUES: Final = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class StripePart:
    """Some rows of one stripe, counted from the start of the shard: those that match, and those in doubt."""

    stripe: StripeReader
    positions: Positions


class _PartResult(NamedTuple):
    """What a part of a scan gives: batches, or the few rows that match and are still to be read."""

    stripe: StripeReader
    few: Rows | None
    batches: list[pa.RecordBatch]


class _Chunk(NamedTuple):
    """Rows of a stripe, and a column to read of them."""

    stripe: StripeReader
    rows: Rows
    column: SelectedColumn

    def read(self) -> list[pa.Array]:
        return read_arrays(self.stripe, self.column, self.rows)


class ScanRun:
    """Runs a plan on up to `threads` threads and keeps a receipt, which it may share with other runs."""

    def __init__(self, plan: ShardPlan, threads: int, receipt: Receipt | None = None) -> None:
        self.plan = plan
        self.threads = threads
        self._receipt = Receipt() if receipt is None else receipt
        self._found: int | None = None
        self._crew: Crew | None = None  # of the batches, if several threads read them

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns of the result."""
        with self._receipt.phase("plan"):
            return self.plan.schema

    def rows(self) -> Rows:
        """All rows that match, up to the limit."""
        work, limit = self._work(), self.plan.request.limit
        if not work.maybe:
            found = work.yes
        else:
            parts: list[Rows] = []
            count = 0
            most = self._checked_rows(work)
            for rows in in_order(self._matching, self._parts(work, self._asked(), most), self._pool(work)):
                parts.append(rows)
                count += rows.count
                if limit is not None and count >= limit:
                    break
            found = Rows.concatenated(parts, work.origin)
        found = found if limit is None else found.first(limit)
        self._found = found.count
        return found

    def count(self) -> int:
        """How many rows match, up to the limit."""
        with self._receipt.phase("plan"):
            found = self.plan.count
        if found is None:
            return self.rows().count
        self._found = found
        return found

    def positions(self) -> npt.NDArray[np.uint64]:
        """The positions of all rows that match, up to the limit."""
        found = self.rows()
        with located(url=self.plan.shard.url):
            self.plan.shard.limits.require_memory(found.count, 64)
        return found.positions()

    def table(self) -> pa.Table:
        """The columns of all rows that match, with one or a few chunks for each stripe."""
        names = self.plan.request.columns
        count = len(self.plan.shard.schema) if names is None else len(names)
        count *= self.plan.shard.directory.stripe_count
        if count < MANY_COLUMNS:
            return self._table()
        with uncollected(count):
            return self._table()

    def _table(self) -> pa.Table:
        rows = self.rows()
        with self._receipt.phase("read"):
            selected, schema = self.plan.columns, self.plan.schema
            if rows.count > CHUNK_ROWS:
                with located(url=self.plan.shard.url):
                    self.plan.shard.limits.require_memory(
                        rows.count, 1 + sum(least_bits(column.field.type) for column in selected)
                    )
            if not selected:
                return table_without_columns(rows.count, schema)
            small: dict[int, list[pa.Array]] = {}
            if rows.count <= CHUNK_ROWS:
                small = read_small_columns(self.plan.shard, selected, rows, self._each_of_table)
            if sum(map(len, small.values())) > len(small):  # several stripes: the memory of one is limited elsewhere
                with located(url=self.plan.shard.url):
                    taken = sum(array.nbytes for arrays in small.values() for array in arrays)
                    self.plan.shard.limits.require_memory(taken, 8)
            columns = [column for at, column in enumerate(selected) if at not in small]
            stripes = prepare_columns(self.plan.shard, columns, rows, prefetch=True)
            chunks = [
                (stripe, chunk)
                for stripe, mine in stripes
                for chunk in mine.parts(self._chunk_rows(stripe, mine, columns))
            ]
            work = [_Chunk(*chunk, column) for column in columns for chunk in chunks]
            is_serial = self.threads == 1 or rows.count * len(columns) <= SERIAL_VALUES
            if is_serial:
                arrays = self._within_memory(map(_Chunk.read, work), len(chunks))
        if not is_serial:
            arrays = self._within_memory(in_order(self._read_chunk, work, self.threads, len(work) + 1), len(chunks))
        chunked = []
        for index, column in enumerate(columns):
            mine = arrays[index * len(chunks) : (index + 1) * len(chunks)]
            chunked.append(pa.chunked_array([array for several in mine for array in several], column.field.type))
        if small:
            others = iter(chunked)
            chunked = [
                pa.chunked_array(small[at], column.field.type) if at in small else next(others)
                for at, column in enumerate(selected)
            ]
        return pa.Table.from_arrays(chunked, schema=schema)

    def _each_of_table(self, work: Callable[[int], object], count: int) -> None:
        self._each_metered(Crew(self.threads), work, count)

    def _each_metered(self, crew: Crew, work: Callable[[int], object], count: int) -> None:
        """Call `work` with 0..count on the threads of a crew, inside a phase of this one."""

        def metered_work(index: int) -> None:
            with metered(self._receipt.meter):
                work(index)

        crew.each(metered_work, count)

    def _within_memory(self, reading: Iterable[list[pa.Array]], chunks: int) -> list[list[pa.Array]]:
        """The arrays of all columns. An error if they take more memory than the limits of the shard allow."""
        if chunks == 1:
            return list(reading)  # each chunk is checked where it is decoded
        arrays: list[list[pa.Array]] = []
        taken = 0
        for read in reading:
            arrays.append(read)
            taken += sum(array.get_total_buffer_size() for array in read)
            with located(url=self.plan.shard.url):
                self.plan.shard.limits.require_memory(taken, 8)
        return arrays

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The columns of the rows that match, in batches of at most `batch_rows` rows."""
        work, request = self._work(), self.plan.request
        with self._receipt.phase("read"):
            # If nothing is in doubt, all candidates are read, and it pays to fetch their small buffers together.
            prepare_columns(self.plan.shard, self.plan.columns, work.candidates, prefetch=not work.maybe)
        left = request.limit
        found = 0
        columns = [*self.plan.columns, *(self._asked() if work.maybe else ())]
        parts, threads = self._parts(work, columns), self._pool(work)
        crew = self._crew = None if threads == 1 else Crew(threads, joins=False)
        results = map(self._read_part, parts) if crew is None else crew.in_order(self._read_part, parts)
        for batches in self._few_together(results):
            for batch in batches:
                if left is not None:
                    batch = batch.slice(0, left)
                    left -= batch.num_rows
                found += batch.num_rows
                self.plan.shard.require_work(found)  # a shard of some bytes can have rows without end
                yield from _cut(batch, request.batch_rows or PART_ROWS)
            if left == 0:
                break
        self._found = found

    # ---- work, each call on one thread ----

    def _work(self) -> Positions:
        with self._receipt.phase("plan"):
            return self.plan.work

    def _pool(self, work: Positions) -> int:
        return 1 if work.count <= SERIAL_ROWS else self.threads

    def _checked_rows(self, work: Positions) -> int:
        """Rows of a part that is only checked."""
        if work.count <= PART_ROWS:
            return PART_ROWS  # there is one part in each stripe anyway
        share = work.candidates.count // (PARTS_PER_THREAD * self.threads) if self.threads > 1 else LIGHT_PART
        return max(PART_ROWS, min(LIGHT_PART, share)) if self._is_light() else PART_ROWS

    def _is_light(self) -> bool:
        """Whether rows in doubt are checked with little memory and time, as far as the first stripe tells."""
        return all(self.plan.checker.is_light(stripe) for stripe in self.plan.shard.stripes[:1])

    def _parts(
        self, work: Positions, columns: Sequence[SelectedColumn], most: int | None = None
    ) -> Iterator[StripePart]:
        """The rows in doubt and those that match, in parts of up to `most`. `columns` are what is read of them."""
        request, stripes = self.plan.request, self.plan.shard.stripes
        candidates = work.candidates
        # If nothing is in doubt, a part is a batch. Otherwise a part is larger, as few of its rows may match.
        if most is None:
            if work.maybe:
                most = LIGHT_READ if work.count > PART_ROWS and self._is_light() else PART_ROWS
            else:
                most = PART_ROWS if request.batch_rows is None else request.batch_rows
        size = most if request.limit is None else min(most, max(FIRST_PART, request.limit))
        if len(stripes) == 1 and candidates.count <= size:
            yield StripePart(stripes[0], work)
            return
        for stripe, mine in rows_by_stripe(self.plan.shard, candidates):
            largest = max(most, self._block_rows(stripe, columns)) if mine.count > most else most
            for rows in _growing(mine, size if largest == most else largest, largest):
                yield StripePart(stripe, work.within(rows))

    def _chunk_rows(self, stripe: StripeReader, rows: Rows, columns: Sequence[SelectedColumn]) -> int:
        """Rows of a chunk of a table. Chunks are smaller if there are fewer of them than keep all threads busy."""
        most = CHUNK_ROWS
        if self.threads > 1 and columns:
            sizes = [_row_bytes(stripe, column) for column in columns]
            share = rows.count * sum(sizes) / (PARTS_PER_THREAD * self.threads)
            chunk = int(max(LEAST_CHUNK, share) / max(sizes))
            most = min(CHUNK_ROWS, max(LEAST_CHUNK_ROWS, 1 << max(0, chunk.bit_length() - 1)))
        return most if rows.count <= most else max(most, self._block_rows(stripe, columns))

    @staticmethod
    def _block_rows(stripe: StripeReader, columns: Iterable[SelectedColumn]) -> int:
        """Rows of the largest blocks, if they exceed a part: reading a part of one takes as long as all of it."""
        if stripe.num_rows <= PART_ROWS:
            return 0
        most = 0
        for source, projection in _sources(stripe, columns):
            for each in _wanted(source, projection):
                # Blocks below a list hold items, not rows.
                if each.position_count == stripe.num_rows:
                    most = max(most, each.block_rows)
        return min(most, LARGEST_PART) if most > PART_ROWS else 0

    def _matching(self, part: StripePart) -> Rows:
        if not part.positions.maybe:
            return part.positions.yes
        with self._receipt.phase("check"):
            return part.positions.yes.unite(self.plan.checker.true_rows(part.stripe, part.positions.maybe))

    def _read_part(self, part: StripePart) -> _PartResult:
        rows = self._matching(part)
        # A limit is reached soonest if all rows are read at once.
        if part.positions.maybe and rows.count <= FEW_ROWS and self.plan.request.limit is None:
            return _PartResult(part.stripe, rows, [])
        return _PartResult(part.stripe, None, self._read_matching(part.stripe, rows, self._crew))

    def _few_together(self, results: Iterable[_PartResult]) -> Iterator[list[pa.RecordBatch]]:
        """The batches of all parts. Few rows of neighbouring parts are read together, the first ones at once."""
        waiting: list[Rows] = []
        stripe: StripeReader | None = None
        most = 1
        for found in results:
            if stripe is not None and waiting and (found.few is None or found.stripe is not stripe):
                yield self._read_matching(stripe, Rows.concatenated(waiting))
                waiting = []
            stripe = found.stripe
            if found.few is None:
                yield found.batches
            elif found.few or waiting:
                waiting.append(found.few)
                if len(waiting) >= most:
                    yield self._read_matching(stripe, Rows.concatenated(waiting))
                    waiting, most = [], min(2 * most, MOST_TOGETHER)
        if stripe is not None and waiting:
            yield self._read_matching(stripe, Rows.concatenated(waiting))

    def _read_matching(self, stripe: StripeReader, rows: Rows, crew: Crew | None = None) -> list[pa.RecordBatch]:
        if not rows:
            return []
        each = one_by_one
        # A thread that has no part left helps with the columns of another part: the last parts end at the same time.
        if crew is not None and rows.count * len(self.plan.columns) > SERIAL_VALUES:
            each = partial(self._each_metered, crew)
        with self._receipt.phase("read"):
            return self._read_batches(stripe, rows.inward(stripe.origin), each)

    def _read_batches(self, stripe: StripeReader, rows: Rows, each: Each) -> list[pa.RecordBatch]:
        """Rows of a stripe. There are several batches if the values are too long for the offsets of one."""
        columns = self.plan.columns
        if not columns:
            return [rows_without_columns(rows.count)]
        arrays: list[list[pa.Array]] = [[] for _ in columns]
        too_long: list[int] = []

        def read(at: int) -> None:
            if not too_long:
                arrays[at] = read_arrays(stripe, columns[at], rows)
                too_long.extend([at] if len(arrays[at]) > 1 else ())

        each(read, len(columns))
        if too_long:
            halves = rows.parts((rows.count + 1) // 2)
            return [batch for half in halves for batch in self._read_batches(stripe, half, each)]
        return [pa.RecordBatch.from_arrays([chunk for [chunk] in arrays], schema=self.plan.schema)]

    def _read_chunk(self, chunk: _Chunk) -> list[pa.Array]:
        with self._receipt.phase("read"):
            return chunk.read()

    # ---- tasks ----

    def tasks(self, count: int) -> tuple[tuple[ScanTask, ...], ...]:
        """About `count` tasks, each of one part. Their concatenated results are the rows of the plan."""
        plan, shard = self.plan, self.plan.shard.portable()
        return tuple(
            (ScanTask(shard=shard, request=plan.request, start=start, end=end, types=plan.fields.wanted),)
            for start, end in plan.stretches(count)
        )

    # ---- report ----

    @property
    def limit(self) -> int | None:
        """The most rows that the run finds."""
        return self.plan.request.limit

    @property
    def where(self) -> str:
        """The predicate as text."""
        return str(self.plan.bound)

    def explanation(self) -> Explanation:
        """The plan, and what its runs have done so far."""
        plan = self.plan
        with self._receipt.phase("plan"):
            positions, names = plan.positions, tuple(plan.schema.names)
        meter = self._receipt.meter
        return Explanation(
            where=str(plan.bound),
            total_rows=plan.rows.count,
            sure=positions.yes.count,
            doubtful=positions.maybe.count,
            deleted=plan.hidden,
            found=self._found,
            limit=plan.request.limit,
            leaves=tuple(self._report(name, str(question.leaf)) for name, question in plan.leaves.items()),
            unknown_indexes=plan.unknown_indexes,
            unused_indexes=plan.unused_indexes,
            columns=names,
            blocks_decoded=meter.blocks,
            blocks=sum(source.block_count() for source in self._touched()),
            requests=meter.requests,
            bytes=meter.bytes,
            seconds=self._receipt.seconds(),
        )

    def _report(self, name: str, text: str) -> LeafReport:
        known = self.plan.evidence(name)
        if known is None:
            return LeafReport(text, 0, (), 0, 0)
        notes = tuple(map(Note.of, known.steps))
        checked = self.plan.checker.checked.get(name, 0)
        return LeafReport(text, known.rows.count, notes, known.positions.maybe.count, checked)

    def _touched(self) -> Iterator[ColumnSource]:
        """All columns that the scan may read, in each stripe."""
        for stripe in self.plan.shard.stripes:
            for source, projection in _sources(stripe, [*self.plan.columns, *self._asked()]):
                yield from _wanted(source, projection)

    def _asked(self) -> list[SelectedColumn]:
        """The columns of the predicate."""
        return [each.column for each in self.plan.leaves.values()]


def _row_bytes(stripe: StripeReader, column: SelectedColumn) -> float:
    """About how many bytes the values of a row take, as far as types and descriptors tell."""
    stored = 0
    for node in column.projection.nodes():
        descriptor = stripe.descriptor(node)
        stored += 0 if descriptor is None else descriptor.field.raw_data_size or 0
    return max(least_bits(column.field.type) / 8, stored / max(1, stripe.num_positions))


def _sources(stripe: StripeReader, columns: Iterable[SelectedColumn]) -> Iterator[tuple[ColumnSource, Projection]]:
    """The top-level columns of a stripe, each once, and which parts of them are read."""
    for column in {column.projection.node.schema_id: column for column in columns}.values():
        yield stripe.column(column.projection.node), column.projection
        if column.projection.nanoseconds is not None:
            yield stripe.column(column.projection.nanoseconds), Projection(column.projection.nanoseconds)


def _wanted(source: ColumnSource, projection: Projection) -> Iterator[ColumnSource]:
    """A column and the columns below it that a projection includes."""
    yield source
    for child in projection.children:
        yield from _wanted(source.child_of(child.node), child)


def _growing(rows: Rows, size: int, most: int) -> Iterator[Rows]:
    """The rows in parts: the first has `size` rows, each next part twice as many, up to `most`."""
    while rows and size < most:
        first = rows.first(size)
        yield first
        rows = rows.subtract(first)
        size *= 2
    if rows:
        yield from rows.each_part(most)


def _cut(batch: pa.RecordBatch, size: int | None) -> Iterator[pa.RecordBatch]:
    """The rows of a batch in batches of at most `size` rows. A batch without rows gives none."""
    if batch.num_rows and (size is None or batch.num_rows <= size):
        yield batch
    elif size is not None:
        yield from (batch.slice(at, size) for at in range(0, batch.num_rows, size))
