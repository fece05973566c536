"""The table of figures in the README, filled in by `python -m examples.demo --figures README.md`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from examples.demo.measure import Result
from examples.demo.report import Facts, rows_text, size_text, time_text

__all__ = ["fill"]

_PLACE = re.compile(r"(<!-- figures -->\n).*?(<!-- /figures -->)", re.S)


def fill(page: Path, facts: Facts, results: Sequence[Result]) -> None:
    """Write the table between the markers of a page."""
    lines = [
        f"| {facts.rows:,} log records, {facts.cores} cores | rows | amudai | Parquet (zstd) | faster |",
        "|---|---:|---:|---:|---:|",
        f"| size, indexes included | | {size_text(facts.shard_bytes)} | {size_text(facts.parquet_bytes)} | |",
        f"| write, indexes included | | {time_text(facts.shard_seconds)} | {time_text(facts.parquet_seconds)} | "
        f"{facts.parquet_seconds / facts.shard_seconds:.1f}x |",
    ]
    lines += [
        f"| {result.task.name} | {rows_text(result)} | {time_text(result.shard_seconds)} | "
        f"{time_text(result.parquet_seconds)} | {result.ratio:,.1f}x |"
        for result in results
    ]
    text, places = _PLACE.subn(lambda match: match[1] + "\n".join(lines) + "\n" + match[2], page.read_text())
    if places != 1:
        raise ValueError(f"{page}: expected one place for figures, found {places}")
    page.write_text(text)
