"""The run of a scan of a dataset: shards that cannot match are left out, the others are scanned on several threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow import ArrowFields, concatenated, without_rows
from amudai.datasets.constants import paths_of, settled
from amudai.datasets.members import Members, columns_of_member
from amudai.datasets.pruning import possible_shards
from amudai.datasets.schema_fields import SchemaFields
from amudai.errors import AmudaiError, ReplacedFile, located
from amudai.lazy import lazy
from amudai.plan import ScanRequest, ScanTask, ShardPlan, select
from amudai.predicate import Always, Predicate, bind
from amudai.rows import Rows
from amudai.scan import Explanation, LeafReport, Note, Receipt, ResultColumns, ScanRun
from amudai.threads import in_order
from amudai.types import parse_path

__all__ = ["DatasetRun"]

# A shard with at most this many rows is read by one thread. The rows of larger shards are read by several.
_SMALL: Final = 1 << 18
# The runs of this many shards are kept, so that they can be explained.
_MOST_RUNS: Final = 256


class DatasetRun:
    """Runs a request for the rows of a dataset. Rows come in the order of the shards.

    The constructor binds the predicate to the columns of the dataset: a missing column is an error here.

    Parameters
    ----------
    rows
        The positions to look at, counted over all shards in their order; None for all.
    """

    def __init__(self, members: Members, request: ScanRequest, rows: range | None, threads: int) -> None:
        self.members = members
        self.request = request
        self.threads = threads
        self._rows = rows
        self._bound = bind(request.where, members.fields)
        if request.columns is not None:
            _ = self.schema  # a wrong name is an error at once
        self._receipt = Receipt()
        self._runs: dict[int, ScanRun] = {}
        self._lock = Lock()
        self._found: int | None = None

    @lazy
    def schema(self) -> pa.Schema:
        """The names and types of the columns of the result."""
        if self.request.columns is None:
            return self.members.schema
        return pa.schema([column.field for column in select(self.members.fields, self.request.columns)])

    @property
    def limit(self) -> int | None:
        """The most rows that the run finds."""
        return self.request.limit

    @property
    def where(self) -> str:
        """The predicate as text."""
        return str(self._bound)

    # ---- which shards ----

    @lazy
    def _kept(self) -> tuple[list[int], dict[str, int]]:
        """The shards that may match, and how many others were ruled out by what."""
        with self._receipt.phase("plan"):
            return self._pruned()

    def _pruned(self) -> tuple[list[int], dict[str, int]]:
        members = self.members
        candidates = list(range(len(members)))
        ruled_out: dict[str, int] = {}
        if self._rows is not None:
            starts = members.starts
            inside = (starts[1:] > self._rows.start) & (starts[:-1] < self._rows.stop)
            candidates = np.flatnonzero(inside).tolist() if len(self._rows) else []
        if isinstance(self.request.where, Always):
            return (candidates if self.request.where.value else []), ruled_out
        groups: dict[tuple[int, tuple[object, ...]], list[int]] = {}
        for index in candidates:
            groups.setdefault(self._group(index), []).append(index)
        kept: list[int] = []
        by_folder = by_facts = 0
        for indexes in groups.values():
            where = self._where(indexes[0])
            if isinstance(where, Always):
                kept += indexes if where.value else []
                by_folder += 0 if where.value else len(indexes)
                continue
            mine = np.array(indexes, np.intp)
            known = members.known[mine]
            possible = np.ones(len(mine), np.bool_)
            if known.any():
                bound = bind(where, members.own_fields(members.schema_number(indexes[0])))
                those = mine[known]
                with located(url=members.found.catalog):
                    facts, words = members.facts(those), members.word_filters(those)
                    possible[known] = possible_shards(bound, facts, words, len(those))
            kept += mine[possible].tolist()
            by_facts += int((~possible).sum())
        if by_folder:
            ruled_out["folders and columns"] = by_folder
        if by_facts:
            ruled_out["catalog"] = by_facts
        return sorted(kept), ruled_out

    @lazy
    def _constant_names(self) -> tuple[str, ...]:
        """The columns of the predicate that may be constant in a shard."""
        steps = {parse_path(path) for path in paths_of(self.request.where)}
        return tuple(sorted(step[0] for step in steps if len(step) == 1))

    def _group(self, index: int) -> tuple[int, tuple[object, ...]]:
        """Shards of one group have the same columns, and the same values where the predicate asks for constants."""
        constants = self.members.constants(index)
        values = tuple(constants.get(name) for name in self._constant_names)
        return self.members.schema_number(index), values

    def _where(self, index: int) -> Predicate:
        """What is left of the predicate for the rows of a shard."""
        own = self.members.own_fields(self.members.schema_number(index))
        constants = self.members.constants(index)
        return settled(self.request.where, constants, lambda path: _is_stored(own, path))

    # ---- one shard ----

    def _run(self, index: int, threads: int, limit: int | None) -> tuple[ScanRun, ResultColumns]:
        members = self.members
        with self._receipt.phase("plan"):
            reader = members.expected_reader(index)
            own, constants = members.own_fields(members.schema_number(index)), members.constants(index)
            columns = columns_of_member(self.request.columns, members.fields, own, constants)
            request = replace(self.request, columns=columns, where=self._where(index), limit=limit)
            rows = Rows.all(reader.origin)
            if self._rows is not None:
                start, count = int(members.starts[index]), int(members.positions[index])
                if reader.num_positions != count:
                    message = (
                        f"rows: expected a shard of {count} rows, found {reader.num_positions}: it was overwritten"
                    )
                    raise ReplacedFile(f"{message}; refresh() gives a dataset with its new rows", url=reader.url)
                first, last = max(0, self._rows.start - start), min(reader.num_positions, self._rows.stop - start)
                rows = Rows.one(first, last, reader.origin)
            plan = ShardPlan(reader, ArrowFields(reader), request, rows)
        run = ScanRun(plan, threads, self._receipt)
        with self._lock:
            if len(self._runs) < _MOST_RUNS:
                self._runs[index] = run
        return run, ResultColumns(self.schema, constants)

    # ---- results ----

    def count(self) -> int:
        """How many rows match, up to the limit."""
        found = 0
        for count in in_order(lambda index: self._run(index, 1, self.limit)[0].count(), self._kept[0], self.threads):
            found += count
            if self.limit is not None and found >= self.limit:
                found = self.limit
                break
        self._found = found
        return found

    def positions(self) -> pa.Table:
        """The names of the shards and the positions in them of all rows that match, up to the limit."""
        names: list[str] = []
        codes: list[npt.NDArray[np.int32]] = []
        found: list[npt.NDArray[np.uint64]] = [np.zeros(0, np.uint64)]
        left = self.limit
        kept = self._kept[0]
        for index, rows in zip(
            kept, in_order(lambda each: self._run(each, 1, self.limit)[0].positions(), kept, self.threads), strict=False
        ):
            rows = rows if left is None else rows[:left]
            if len(rows):
                codes.append(np.full(len(rows), len(names), np.int32))
                names.append(self.members.shards[index].name)
                found.append(rows)
            left = None if left is None else left - len(rows)
            if left == 0:
                break
        indices = pa.array(np.concatenate([np.zeros(0, np.int32), *codes]))
        shard = pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))
        position = pa.array(np.concatenate(found))
        self._found = len(position)
        return pa.table({"shard": shard, "position": position})

    def table(self) -> pa.Table:
        """All rows that match, up to the limit."""
        parts = [without_rows(self.schema)]
        left = self.limit
        for part in in_order(self._table, self._kept[0], self.threads):
            part = part if left is None else part.slice(0, min(left, part.num_rows))
            parts.append(part)
            left = None if left is None else left - part.num_rows
            if left == 0:
                break
        self._found = sum(part.num_rows for part in parts)
        return concatenated(parts)

    def _table(self, index: int) -> pa.Table:
        run, result = self._run(index, 1, self.limit)
        return result.table(run)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows that match, in batches."""
        left = self.limit
        found = 0
        for index, part in zip(self._kept[0], in_order(self._read, self._kept[0], self.threads), strict=False):
            batches: Iterator[pa.RecordBatch]
            if part is None:
                run, result = self._run(index, self.threads, left)
                batches = result.batches(run)
            else:
                batches = iter(part)
            for batch in batches:
                if left is not None:
                    batch = batch.slice(0, left)
                    left -= batch.num_rows
                found += batch.num_rows
                if batch.num_rows:
                    yield batch
            if left == 0:
                break
        self._found = found

    def _read(self, index: int) -> list[pa.RecordBatch] | None:
        """The batches of a small shard; None for a large one, whose batches are not held in memory together."""
        run, result = self._run(index, 1, self.limit)
        return list(result.batches(run)) if run.plan.rows.count <= _SMALL else None

    # ---- tasks ----

    def tasks(self, count: int) -> tuple[tuple[ScanTask, ...], ...]:
        """About `count` tasks. A task may have parts of several small shards, and a large shard several tasks."""
        kept = self._kept[0]
        share = max(1, -(-count // max(1, len(kept))))
        planned = in_order(lambda each: self._parts(each, share), kept, self.threads)
        parts = [part for found in planned for part in found]
        size = -(-sum(part.end - part.start for part in parts) // count)
        grouped: list[list[ScanTask]] = []
        filled = size
        for part in parts:
            if filled >= size:
                grouped.append([])
                filled = 0
            grouped[-1].append(part)
            filled += part.end - part.start
        return tuple(tuple(group) for group in grouped)

    def _parts(self, index: int, count: int) -> list[ScanTask]:
        run, _ = self._run(index, 1, self.limit)
        constants = tuple(
            (name, value) for name, value in self.members.constants(index).items() if name in self.schema.names
        )
        return [replace(part, result=self.schema, constants=constants) for parts in run.tasks(count) for part in parts]

    # ---- report ----

    def explanation(self) -> Explanation:
        """What rules shards and rows out, and what runs have done so far."""
        kept, ruled_out = self._kept
        explained = list(in_order(self._explained, kept, self.threads))
        leaves: dict[str, LeafReport] = {}
        for each in explained:
            for leaf in each.leaves:
                leaves[leaf.text] = _added(leaves[leaf.text], leaf) if leaf.text in leaves else leaf
        positions = self.members.positions
        total = int(positions.sum()) if self._rows is None else len(self._rows)
        meter = self._receipt.meter
        return Explanation(
            where=self.where,
            total_rows=total,
            sure=sum(each.sure for each in explained),
            doubtful=sum(each.doubtful for each in explained),
            deleted=sum(each.deleted for each in explained),
            found=self._found,
            limit=self.limit,
            leaves=tuple(leaves.values()),
            unknown_indexes=tuple(dict.fromkeys(name for each in explained for name in each.unknown_indexes)),
            unused_indexes=tuple(dict.fromkeys(name for each in explained for name in each.unused_indexes)),
            columns=tuple(self.schema.names),
            blocks_decoded=meter.blocks,
            blocks=sum(each.blocks for each in explained),
            requests=meter.requests,
            bytes=meter.bytes,
            seconds=self._receipt.seconds(),
            shards=len(self.members),
            shards_ruled_out=ruled_out,
        )

    def _explained(self, index: int) -> Explanation:
        run = self._runs.get(index)
        return (run if run is not None else self._run(index, 1, self.limit)[0]).explanation()


def _is_stored(own: SchemaFields, path: str) -> bool:
    try:
        own.find(path)
    except AmudaiError:
        return False
    return True


def _added(one: LeafReport, other: LeafReport) -> LeafReport:
    notes: dict[str, Note] = {note.evidence: note for note in one.notes}
    for note in other.notes:
        known = notes.get(note.evidence, Note(note.evidence, 0, 0))
        notes[note.evidence] = Note(note.evidence, known.ruled_out + note.ruled_out, known.settled + note.settled)
    return LeafReport(
        one.text,
        one.asked + other.asked,
        tuple(notes.values()),
        one.doubtful + other.doubtful,
        one.checked + other.checked,
    )
