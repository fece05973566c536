"""The report: one HTML file that loads nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import amudai
from examples.demo.charts import Bar, Part, log_bars, stacked_bars
from examples.demo.measure import Result
from examples.demo.sizes import Share

__all__ = ["Facts", "rows_text", "size_text", "time_text", "write_report"]


@dataclass(frozen=True, slots=True)
class Facts:
    """The size of the data and the files, and the time it took to write them."""

    rows: int
    arrow_bytes: int
    shard_bytes: int
    parquet_bytes: int
    shard_seconds: float
    parquet_seconds: float
    parquet_columns: dict[str, int]
    cores: int
    shares: Sequence[Share]


def size_text(size: float) -> str:
    """A size for people.

    >>> size_text(96_200_000)
    '96.2 MB'
    """
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"


def time_text(seconds: float) -> str:
    """A time for people.

    >>> time_text(0.00042), time_text(0.0123), time_text(2.5)
    ('0.42 ms', '12.3 ms', '2.50 s')
    """
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds < 0.01 else f"{seconds * 1e3:.1f} ms"


def write_report(path: Path, facts: Facts, results: Sequence[Result]) -> Path:
    """Write the page; returns its path."""
    right = all(result.right for result in results)
    parts = [
        "<h1>Amudai beside Parquet</h1>",
        f"<p>{facts.rows:,} log records, {size_text(facts.arrow_bytes)} as Arrow. "
        f"As a shard {size_text(facts.shard_bytes)}, indexes included, written in {time_text(facts.shard_seconds)}; as "
        f"Parquet (Zstandard) {size_text(facts.parquet_bytes)}, written in {time_text(facts.parquet_seconds)}. "
        f"{facts.cores} cores.</p>",
        f'<p class="{"good" if right else "bad"}">{_verdict(results)}</p>',
        "<h2>The same work on both</h2>",
        _results_table(results),
        '<p class="note">Median of up to five runs, each with the file opened anew and in the page cache. Amudai '
        "compares checksums in every run; Parquet does so in the last task only. Its text filters are the cheapest "
        "that give the same rows here: they mind case and know no words. Searches on Parquet are done in two ways, all "
        "columns at once or those of the filter first, and the quicker one counts.</p>",
        "<h2>Time by task, logarithmic</h2>",
        log_bars(
            [result.task.name for result in results],
            ["amudai", "Parquet"],
            [(result.shard_seconds, result.parquet_seconds) for result in results],
            _short_time,
        ),
        "<h2>Who ruled rows out</h2>",
        f'<p class="note">Of {facts.rows:,} rows, by the evidence that spoke first. Only what no evidence decides '
        "is read and compared.</p>",
        _pruned(results, facts.rows),
        "<h2>Where the bytes are</h2>",
        '<p class="note">Columns by the encoding of their blocks and, in brackets, what they take in Parquet; '
        "then the indexes, which Parquet does not have.</p>",
        _sizes(facts),
    ]
    colours = "\n".join(f".s{at} {{ fill: var(--c{at % 12}); background: var(--c{at % 12}) }}" for at in range(20))
    page = _PAGE.replace("%SERIES%", colours).replace("%BODY%", "\n".join(parts))
    path.write_text(page, encoding="utf-8")
    return path


def _verdict(results: Sequence[Result]) -> str:
    wrong = [result.task.name for result in results if not result.right]
    if wrong:
        return f"Not the answer of the full scan: {escape(', '.join(wrong))}."
    return f"All {len(results)} answers are those of a full scan of the table in memory, on both sides."


def _results_table(results: Sequence[Result]) -> str:
    rows = "".join(
        f"<tr><td>{escape(result.task.name)}<br><code>{escape(result.task.asked)}</code></td>"
        f"<td>{rows_text(result)}</td><td>{time_text(result.shard_seconds)}</td>"
        f"<td>{time_text(result.parquet_seconds)}</td><td>{result.ratio:,.1f}x</td>"
        f"<td>{'yes' if result.right else 'NO'}</td></tr>"
        for result in results
    )
    head = "".join(f"<th>{name}</th>" for name in ("task", "rows", "amudai", "Parquet", "faster", "right"))
    return f"<table><tr>{head}</tr>{rows}</table>"


def rows_text(result: Result) -> str:
    """How many rows were found; nothing where the answer is a yes or no."""
    return "" if result.rows is None else f"{result.rows:,}"


def _short_time(seconds: float) -> str:
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 0.9995:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _pruned(results: Sequence[Result], rows: int) -> str:
    searched = [(result, result.why) for result in results if result.why is not None]
    found = [(result, *_by_evidence(why)) for result, why in searched]
    names = sorted({name for _, by, _ in found for name in by})
    series = [*names, "read and compared", "match"]
    bars = []
    for result, by, checked in found:
        match = result.rows or 0
        amounts = {**by, "read and compared": rows - sum(by.values()) - match, "match": match}
        parts = [Part(amounts.get(name, 0), name, f"{name}: {amounts.get(name, 0):,} rows") for name in series]
        bars.append(Bar(result.task.name, parts, f"{result.rows:,} found, {checked:,} read"))
    return stacked_bars(bars, series)


def _by_evidence(why: amudai.Explanation) -> tuple[Counter[str], int]:
    """Rows ruled out by each kind of evidence, and rows whose values had to be read for the predicate."""
    by: Counter[str] = Counter()
    for leaf in why.leaves:
        for note in leaf.notes:
            if note.ruled_out:
                by[note.evidence] += note.ruled_out
    return by, max((leaf.checked for leaf in why.leaves), default=0)


def _sizes(facts: Facts) -> str:
    totals: Counter[str] = Counter()
    for share in facts.shares:
        totals.update(share.bytes)
    series = [name for name, _ in totals.most_common() if totals[name]]
    bars = [
        Bar(
            share.name,
            [
                Part(size, name, f"{share.name}, {name}: {size_text(size)}")
                for name, size in share.bytes.items()
                if size
            ],
            size_text(share.total) + _beside(facts.parquet_columns.get(share.name)),
        )
        for share in facts.shares
    ]
    return stacked_bars(bars, series)


def _beside(size: int | None) -> str:
    return "" if size is None else f" ({size_text(size)})"


_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Amudai beside Parquet</title>
<style>
:root { color-scheme: light dark; --back: #ffffff; --text: #1c2430; --soft: #5b6675; --line: #d5dbe3; --box: #f3f5f8;
  --c0: #0b7285; --c1: #e8890c; --c2: #5f3dc4; --c3: #2f9e44; --c4: #c2255c; --c5: #1971c2; --c6: #868e96;
  --c7: #846358; --c8: #a9a100; --c9: #343a40; --c10: #74b816; --c11: #f06595; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14181e; --text: #e4e8ee; --soft: #9aa6b5; --line: #333c48; --box: #1d232b;
    --c0: #3bc9db; --c1: #ffa94d; --c2: #9775fa; --c3: #69db7c; --c4: #f783ac; --c5: #74c0fc; --c6: #adb5bd;
    --c7: #c2a094; --c8: #d8d04a; --c9: #f1f3f5; --c10: #c0eb75; --c11: #faa2c1; } }
body { background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; max-width: 960px;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .3rem } h2 { font-size: 1.15rem; margin: 2.2rem 0 .5rem }
code { font: 12px/1.4 ui-monospace, monospace; color: var(--soft); overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: right; vertical-align: top;
  font-variant-numeric: tabular-nums; white-space: nowrap }
th:first-child, td:first-child { text-align: left; white-space: normal; width: 55% }
svg { width: 100%; height: auto; display: block }
text { font: 13px system-ui, sans-serif; fill: var(--text) } .label { text-anchor: end }
.tick { text-anchor: middle; fill: var(--soft); font-size: 11px } .value { font-size: 12px; fill: var(--soft) }
.grid { stroke: var(--line) } .note { color: var(--soft); font-size: 14px }
.good, .bad { padding-left: .7rem; border-left: 4px solid var(--c3) } .bad { border-color: var(--c4) }
.legend { font-size: 13px } .legend span { display: inline-block; margin-right: 1.2rem }
.legend i { display: inline-block; width: 11px; height: 11px; margin-right: .4rem; border-radius: 2px }
%SERIES%
</style>
%BODY%
</html>
"""
