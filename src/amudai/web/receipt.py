"""The receipt of a question: what ruled rows out, what was read, and how long it took."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from amudai import Explanation, QueryExplanation

__all__ = ["AnswerReceipt", "LeafTotal"]


@dataclass(slots=True)
class LeafTotal:
    """What became of one condition: rows that it was asked about, and rows ruled out and settled by each evidence."""

    text: str
    asked: int = 0
    ruled_out: dict[str, int] = field(default_factory=dict)
    settled: dict[str, int] = field(default_factory=dict)
    checked: int = 0


class AnswerReceipt:
    """Sums up the explanations of all scans that an answer needed."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self.first_rows: float | None = None
        self.bytes = self.requests = self.blocks_decoded = 0
        self.seconds: dict[str, float] = {}
        self.asked: QueryExplanation | None = None
        self._begin_evidence()

    def _begin_evidence(self) -> None:
        self.leaves: dict[str, LeafTotal] = {}
        self.total_rows = self.ruled_out = self.sure = self.doubtful = self.deleted = self.found = 0
        self.shards = 0
        self.shards_ruled_out: dict[str, int] = {}
        self.unused: dict[str, None] = {}

    def first_page(self) -> None:
        """The rows of the page are there."""
        self.first_rows = time.perf_counter() - self._begin

    @property
    def elapsed(self) -> float:
        """Seconds since the question was asked."""
        return time.perf_counter() - self._begin

    def taken(self, what: str, seconds: float) -> None:
        """Add the time of reading rows by their positions."""
        self.seconds[what] = self.seconds.get(what, 0.0) + seconds

    def cost(self, why: Explanation) -> None:
        """Add what a scan cost, but not what it ruled out: another scan covers the same rows."""
        self.bytes += why.bytes
        self.requests += why.requests
        self.blocks_decoded += why.blocks_decoded
        for phase, seconds in why.seconds.items():
            self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds

    def add(self, why: Explanation) -> None:
        """Add a scan."""
        self.cost(why)
        self.total_rows += why.total_rows
        self.ruled_out += why.ruled_out
        self.sure += why.sure
        self.doubtful += why.doubtful
        self.deleted += why.deleted
        self.found += why.found or 0
        for leaf in why.leaves:
            total = self.leaves.setdefault(leaf.text, LeafTotal(leaf.text))
            total.asked += leaf.asked
            total.checked += leaf.checked
            for note in leaf.notes:
                total.ruled_out[note.evidence] = total.ruled_out.get(note.evidence, 0) + note.ruled_out
                total.settled[note.evidence] = total.settled.get(note.evidence, 0) + note.settled
        self.shards = max(self.shards, why.shards or 0)
        for name, count in (why.shards_ruled_out or {}).items():
            self.shards_ruled_out[name] = self.shards_ruled_out.get(name, 0) + count
        self.unused.update(dict.fromkeys([*why.unused_indexes, *why.unknown_indexes]))

    def query(self, why: QueryExplanation) -> None:
        """Add a query in KQL or SQL, with its scans. The last one says what was ruled out: it covers the most rows."""
        self.asked = why
        self._begin_evidence()
        for scan in why.scans:
            self.add(scan)
