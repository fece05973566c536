"""The rows that match words or conditions: those of a page, how many there are, and when they were.

The rows of a table are searched in pieces, so that the first rows come soon and a query can be stopped. What the search
for the page found is not searched again for the count: shards of a large folder are opened once for a question.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.web.asked import AskedScan
from amudai.web.folder import Snapshot, quoted, time_column
from amudai.web.histogram import Histogram, Stretches, bins_between, stretches_of
from amudai.web.parts import Counted, Part, Place
from amudai.web.question import PAGE_ROWS, Question
from amudai.web.receipt import AnswerReceipt
from amudai.web.workers import Job

__all__ = ["MatchingRows"]

# The first piece of rows that is searched: small, so that the first rows come soon.
_FIRST_PIECE: Final = 1 << 16
_LARGER: Final = 4
_MOST_PIECE: Final = 1 << 20
# The most shards whose rows are in one piece: a dataset keeps the scans of these, to explain them.
_MOST_SHARDS: Final = 100
# Seconds after which a histogram that takes long is drawn again.
_REDRAWN: Final = 0.5
# Positions are looked up in the range index if it decides this share of the rows. Otherwise times are read in one go.
_WORTH: Final = 0.5


class MatchingRows:
    """The search for the rows that match. `page` comes first, then `counted`."""

    def __init__(
        self, question: Question, snapshot: Snapshot, asked: AskedScan, job: Job, receipt: AnswerReceipt
    ) -> None:
        self._question = question
        self._snapshot = snapshot
        self._asked = asked
        self._job = job
        self._receipt = receipt
        self._shards = snapshot.readable(question.shard)
        self._starts = np.concatenate([[0], np.cumsum([facts.positions for facts in self._shards], dtype=np.int64)])
        # All rows before this one have been searched, and these match.
        self._searched = 0
        self._found: list[Any] = []
        self._inside: dict[int, Stretches] = {}

    # ---- the page ----

    def page(self) -> Iterator[tuple[pa.Table, tuple[Place, ...], bool]]:
        """The rows of the page, some at a time, and whether there are more behind them."""
        asked, receipt = self._asked, self._receipt
        skip, left = self._question.page * PAGE_ROWS, PAGE_ROWS
        total, start, size = int(self._starts[-1]), 0, _FIRST_PIECE
        if asked.is_any and all(facts.rows == facts.positions for facts in self._shards):
            # Every position is a row that matches.
            start, skip, size = skip, 0, PAGE_ROWS + 1
        while start < total:
            self._job.check()
            stop, most = self._stop(start, size), skip + left + 1
            scan = asked.scan([], range(start, stop), most)
            found = scan.positions()
            wanted = _sliced(found, skip, left)
            more = len(found) > skip + len(wanted)
            skip = max(0, skip - len(found))
            if len(wanted):
                begin = time.perf_counter()
                table = asked.take(wanted)
                receipt.taken("rows of the page", time.perf_counter() - begin)
                left -= len(wanted)
                yield table, self._places(wanted), more
            if len(found) < most and start == self._searched:
                self._found.append(found)
                self._searched = stop
                receipt.add(scan.explain())
            else:
                receipt.cost(scan.explain())
            if more or (left == 0 and stop == total):
                return
            start, size = stop, min(_MOST_PIECE, size * _LARGER)

    def _stop(self, start: int, size: int) -> int:
        """The end of a piece that begins with a row."""
        shard = int(np.searchsorted(self._starts, start, "right")) - 1
        return min(start + size, int(self._starts[min(shard + _MOST_SHARDS, len(self._shards))]))

    def _places(self, found: Any) -> tuple[Place, ...]:
        if isinstance(found, pa.Table):
            shown = {name: self._name(name) for name in found["shard"].unique().to_pylist()}
            names = [shown[name] for name in found["shard"].to_pylist()]
            return tuple(zip(names, found["position"].to_pylist(), strict=True))
        name = self._question.shard or self._shards[0].name
        return tuple((name, int(position)) for position in found)

    def _name(self, name: str) -> str:
        return self._snapshot.shown_name(self._question.shard, name)

    # ---- all rows ----

    def counted(self, more: bool) -> Iterator[Part]:
        """The number of rows that match, and their histogram."""
        column = time_column(self._asked.table.schema)
        histogram = self._empty_histogram(column)
        rows, drawn = 0, time.monotonic()
        rows += sum(map(len, self._found))
        if histogram is not None and rows:
            known = self._stretches(histogram, 0, self._searched, inside=False)
            for found in self._found:
                self._place(histogram, found, known)
        total, start = int(self._starts[-1]), self._searched
        while start < total:
            self._job.check()
            stop = self._stop(start, _MOST_PIECE)
            rows += self._count(histogram, start, stop)
            start = stop
            if time.monotonic() - drawn > _REDRAWN:
                yield Counted(rows, False, more)
                if histogram is not None:
                    yield histogram
                drawn = time.monotonic()
        yield Counted(rows, True, more)
        if histogram is not None:
            histogram.is_partial = False
            yield histogram

    def _count(self, histogram: Histogram | None, start: int, stop: int) -> int:
        """Count the rows of a piece that match, and add them to the histogram."""
        asked, within = self._asked, range(start, stop)
        known = None if histogram is None else self._stretches(histogram, start, stop, inside=True)
        only = None if known is None else known.only_bin
        found: Any
        if histogram is None or known is None or only is not None:
            scan = asked.scan([], within)
            rows = scan.count()
            if histogram is not None and only is not None:
                histogram.add_count(only, rows)
        elif known.known_share >= _WORTH:
            scan = asked.scan([], within)
            found = scan.positions()
            rows = len(found)
            self._place(histogram, found, known)
        else:
            scan = asked.scan([quoted(histogram.column)], within)
            rows = 0
            for batch in scan:
                self._job.check()
                rows += batch.num_rows
                histogram.add_times(batch.column(0))
        self._receipt.add(scan.explain())
        return rows

    def _stretches(self, histogram: Histogram, start: int, stop: int, *, inside: bool) -> Stretches:
        """The stretches of these rows. `inside` looks into shards, too, once for each."""
        first, last = (int(np.searchsorted(self._starts, row, "right")) - 1 for row in (start, stop - 1))
        parts = []
        for at in range(first, last + 1):
            found = self._inside.get(at)
            if found is None:
                name = self._shards[at].name
                found = stretches_of(self._snapshot, name, histogram.column, histogram.bins, inside=inside)
                if inside:
                    self._inside = {at: found}  # the next piece may have other rows of this shard
            parts.append((int(self._starts[at]), found))
        return Stretches.joined(parts).within(start, stop)

    def _place(self, histogram: Histogram, found: Any, known: Stretches) -> None:
        """Add rows to a histogram, by their stretches. The times of rows at the borders of bins are read."""
        bins = known.bins_of(self._numbers(found))
        histogram.add_bins(bins[bins >= 0])
        at_border = np.flatnonzero(bins < 0)
        if len(at_border):
            self._job.check()
            begin = time.perf_counter()
            rest = found.take(at_border) if isinstance(found, pa.Table) else found[at_border]
            table = self._asked.table.take(rest, [quoted(histogram.column)])
            histogram.add_times(table.column(0))
            self._receipt.taken("times", time.perf_counter() - begin)

    def _numbers(self, found: Any) -> npt.NDArray[np.int64]:
        """The numbers of rows in the table, from the shards and the positions that a scan found."""
        if not isinstance(found, pa.Table):
            return np.asarray(found, np.int64)
        by_name = {facts.name: start for facts, start in zip(self._shards, self._starts[:-1].tolist(), strict=True)}
        positions = np.asarray(found["position"].to_numpy(), np.int64)
        shards = found["shard"].combine_chunks()
        if isinstance(shards, pa.ChunkedArray):  # of no chunk
            return positions
        firsts = np.array([by_name[self._name(name)] for name in shards.dictionary.to_pylist()], np.int64)
        return np.asarray(positions + firsts[shards.indices.to_numpy()], np.int64)

    def _empty_histogram(self, column: str | None) -> Histogram | None:
        """A histogram over the times that statistics name, within the stretch that the question names."""
        if column is None:
            return None
        question = self._question
        known = [facts.times for facts in self._shards if facts.time_column == column]
        bounds = [each for each in known if each is not None]
        if not bounds:
            return None
        first, last = min(each.first for each in bounds), max(each.last for each in bounds)
        if question.since:
            first = max(first, _micros(question.since))
        if question.until:
            last = min(last, _micros(question.until) - 1)
        return Histogram(column, bins_between(first, last)) if first <= last else None


def _sliced(found: Any, skip: int, most: int) -> Any:
    return found.slice(skip, most) if isinstance(found, pa.Table) else found[skip : skip + most]


def _micros(text: str) -> int:
    return int(np.datetime64(text.removesuffix("Z").replace(" ", "T"), "us").astype(np.int64))
