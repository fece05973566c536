"""The report of a scan: what ruled rows out, what was read, and how long it took."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Self

from amudai.storage import Meter, metered

if TYPE_CHECKING:
    from amudai.plan import EvidenceStep

__all__ = ["Explanation", "LeafReport", "Note", "Receipt"]


@dataclass(frozen=True, slots=True)
class Note:
    """What one piece of evidence said about a comparison.

    Attributes
    ----------
    ruled_out
        Rows that were in doubt before, and for which the comparison is not true.
    settled
        Rows that were in doubt before, and for which the comparison is true.
    """

    evidence: str
    ruled_out: int
    settled: int

    @classmethod
    def of(cls, step: EvidenceStep) -> Self:
        """The note about a step of pruning."""
        before, after = step.before, step.after
        return cls(step.evidence, before.count - after.count, after.yes.count - before.yes.count)


@dataclass(frozen=True, slots=True)
class LeafReport:
    """What became of one comparison of a predicate.

    Attributes
    ----------
    asked
        Rows that the comparisons before this one left.
    notes
        What each piece of evidence said.
    doubtful
        Rows that all evidence left in doubt.
    checked
        Rows whose values were read and compared.
    """

    text: str
    asked: int
    notes: tuple[Note, ...]
    doubtful: int
    checked: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a scan is going to do or, once it has run, what it did.

    Attributes
    ----------
    total_rows, sure, doubtful
        Rows that the scan searches (all rows of the shard, unless the scan names `rows`); of these, the rows that match
        by evidence alone, and the rows that must be checked. All other rows are ruled out or deleted.
    deleted
        Rows that evidence did not rule out and that are left out because they are deleted.
    found
        Rows that matched; None before the scan has run.
    unknown_indexes, unused_indexes
        The types of indexes that this version does not know; and indexes that it knows but could not use, because they
        are of a later version or damaged, each with the reason.
    blocks_decoded, blocks
        Decoded blocks of the columns of this scan, and how many blocks these columns have. A block counts each time
        that it is decoded.
    requests, bytes
        Requests to storage, and the bytes that they returned. Other work on the same shard does not count.
    seconds
        Time by phase (plan, check, read), summed over all threads.
    shards, shards_ruled_out
        For a dataset: how many shards it has, and how many of them were ruled out without opening them, by what. Their
        rows count as ruled out. None for a single shard.

    Examples
    --------
    >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> why = shard.scan(where=amudai.col("status") >= 600).explain()
    >>> why.total_rows, why.sure, why.doubtful
    (400, 0, 0)
    >>> print(why)  # doctest: +ELLIPSIS
    col("status") >= 600
    ├─ col("status") >= 600: asked about 400 rows
    │    statistics: 400 ruled out
    └─ 400 of 400 rows ruled out, 0 match by evidence, 0 to be checked
    ...
    """

    where: str
    total_rows: int
    sure: int
    doubtful: int
    deleted: int
    found: int | None
    limit: int | None
    leaves: tuple[LeafReport, ...]
    unknown_indexes: tuple[str, ...]
    unused_indexes: tuple[str, ...]
    columns: tuple[str, ...]
    blocks_decoded: int
    blocks: int
    requests: int
    bytes: int
    seconds: dict[str, float]
    shards: int | None = None
    shards_ruled_out: dict[str, int] | None = None

    @property
    def ruled_out(self) -> int:
        """Rows that evidence alone ruled out."""
        return self.total_rows - self.sure - self.doubtful - self.deleted

    def to_dict(self) -> dict[str, object]:
        """The explanation as plain Python values."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [self.where]
        for leaf in self.leaves:
            lines.append(f"├─ {leaf.text}: asked about {_rows(leaf.asked)}")
            lines += [f"│    {_noted(note)}" for note in leaf.notes]
            if leaf.checked:
                lines.append(f"│    values: {_rows(leaf.checked)} checked")
        if self.shards is not None:
            lines.append(f"├─ {self.shards:,} shards")
            for name, count in (self.shards_ruled_out or {}).items():
                lines.append(f"│    {name}: {count:,} ruled out without opening them")
        lines += [f"├─ index of unknown type {name!r}: not used" for name in self.unknown_indexes]
        lines += [f"├─ index not used: {note}" for note in self.unused_indexes]
        lines.append(
            f"└─ {self.ruled_out:,} of {self.total_rows:,} rows ruled out, {self.sure:,} match by evidence, "
            f"{self.doubtful:,} to be checked"
        )
        if self.deleted:
            lines.append(f"   {_rows(self.deleted)} deleted")
        if self.found is not None:
            limit = f" (limit {self.limit:,})" if self.limit is not None else ""
            lines.append(f"   {_rows(self.found)} found{limit}")
        lines.append(f"   {self.blocks_decoded:,} blocks decoded, of {self.blocks:,} in all")
        lines.append(f"   {self.bytes:,} bytes in {self.requests:,} requests")
        lines.append("   " + ", ".join(f"{phase} {seconds * 1e3:.2f} ms" for phase, seconds in self.seconds.items()))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape  # only notebooks ask for it

        parts = [("ruled out", self.ruled_out, "#90a4ae"), ("match", self.sure, "#2e9e4f")]
        parts += [("deleted", self.deleted, "#6d4c41")] if self.deleted else []
        parts.append(("to be checked" if self.found is None else "checked", self.doubtful, "#e0a100"))
        bar = "".join(
            f'<span title="{name}: {_rows(rows)}" style="background:{color};flex:{rows} 0 3px"></span>'
            for name, rows, color in parts
            if rows
        )
        legend = " ".join(
            f'<span style="margin-right:1.2em"><b style="color:{color}">■</b> {_rows(rows)} {name}</span>'
            for name, rows, color in parts
        )
        return (
            f"<div><code>{escape(self.where)}</code>"
            f'<div style="display:flex;height:.9em;max-width:40em;margin:.4em 0">{bar}</div>'
            f"<div>{legend}</div>{self._leaves_html()}"
            f"<details><summary>more</summary><pre>{escape(str(self))}</pre></details></div>"
        )

    def _leaves_html(self) -> str:
        from html import escape

        rows = []
        for leaf in self.leaves:
            said = [escape(_noted(note)) for note in leaf.notes]
            said += [f"values: {_rows(leaf.checked)} checked"] if leaf.checked else []
            cells = (f"<code>{escape(leaf.text)}</code>", f"{_rows(leaf.asked)} asked about", "<br>".join(said))
            rows.append("".join(f'<td style="text-align:left;vertical-align:top">{cell}</td>' for cell in cells))
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>" if rows else ""


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _noted(note: Note) -> str:
    said = []
    if note.ruled_out:
        said.append(f"{note.ruled_out:,} ruled out")
    if note.settled:
        said.append(f"{note.settled:,} match")
    return f"{note.evidence}: {', '.join(said) or 'nothing new'}"


class Receipt:
    """The time by phase and the requests to storage of one scan, summed over its threads."""

    def __init__(self) -> None:
        self.meter = Meter()
        self._seconds = {"plan": 0.0, "check": 0.0, "read": 0.0}
        self._lock = Lock()

    def phase(self, name: str) -> _Phase:
        """A context manager: what this thread does inside counts for a phase of the scan."""
        return _Phase(self, name)

    def add(self, name: str, seconds: float) -> None:
        """Add to the time of a phase."""
        with self._lock:
            self._seconds[name] += seconds

    def seconds(self) -> dict[str, float]:
        """The time of each phase so far."""
        with self._lock:
            return dict(self._seconds)


class _Phase(metered):
    __slots__ = ("_begin", "_name", "_receipt")

    def __init__(self, receipt: Receipt, name: str) -> None:
        self._receipt, self._name, self._meter = receipt, name, receipt.meter

    def __enter__(self) -> None:
        metered.__enter__(self)
        self._begin = perf_counter()

    def __exit__(self, *error: object) -> None:
        self._receipt.add(self._name, perf_counter() - self._begin)
        metered.__exit__(self, *error)
