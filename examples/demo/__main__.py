"""The demo: generate logs, write them with indexes, search them, compare with Parquet.  make demo"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import amudai
from examples.demo.figures import fill
from examples.demo.logs import make_logs
from examples.demo.measure import Result, measure
from examples.demo.report import Facts, rows_text, size_text, time_text, write_report
from examples.demo.sizes import shares
from examples.demo.tasks import tasks

T = TypeVar("T")


def main() -> int:
    """Run the demo; 0 where every answer was right."""
    options = _options()
    console = Console()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    shard, parquet = folder / "logs.amudai.shard", folder / "logs.parquet"
    start = perf_counter()

    def step(text: str, work: Callable[[], T]) -> tuple[T, float]:
        with console.status(text):
            begun = perf_counter()
            done = work()
            return done, perf_counter() - begun

    table, taken = step("making logs", lambda: make_logs(options.rows))
    console.print(
        f"Made {table.num_rows:,} log records, {size_text(table.nbytes)} as Arrow, in {time_text(taken)}: "
        "time, level, service, host, trace id, status, duration, message."
    )
    written, taken_shard = step("writing the shard with its indexes", lambda: _write_shard(table, shard))
    shard_bytes = written.size
    console.print(
        f"Wrote them as a shard, {size_text(shard_bytes)} with a term index of messages and a hash index of trace ids, "
        f"in {time_text(taken_shard)}."
    )
    _, taken_parquet = step("writing Parquet", lambda: _write_parquet(table, parquet))
    parquet_bytes = parquet.stat().st_size
    console.print(f"Wrote them as Parquet, {size_text(parquet_bytes)} with Zstandard, in {time_text(taken_parquet)}.\n")

    results = []
    for task in tasks(table):
        result, _ = step(task.name, lambda task=task: measure(task, shard, parquet))
        results.append(result)
    console.print(_summary(results))
    console.print(
        "Median of up to five runs, the file opened anew each time and in the page cache, "
        f"{os.cpu_count()} cores. Every answer is compared with that of a full scan of the table in memory.\n",
        style="dim",
    )
    facts = Facts(
        rows=table.num_rows,
        arrow_bytes=table.nbytes,
        shard_bytes=shard_bytes,
        parquet_bytes=parquet_bytes,
        shard_seconds=taken_shard,
        parquet_seconds=taken_parquet,
        parquet_columns=_columns(parquet),
        cores=os.cpu_count() or 1,
        shares=shares(written),
    )
    report = write_report(folder / "report.html", facts, results)
    wrong = [result.task.name for result in results if not result.right]
    console.print(f"Report with plots: {report}   ({perf_counter() - start:.0f} s in all)")
    if wrong:
        console.print(f"Not the answer of the full scan: {', '.join(wrong)}", style="bold red")
        return 1
    if options.figures is not None:
        fill(options.figures, facts, results)
    console.print("All answers are those of the full scan.", style="green")
    command = Path(sys.executable).with_name("amudai")
    console.print(f"Look at the shard in a browser: {command} serve {folder} --open", soft_wrap=True)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="how many log records (default: a million)")
    parser.add_argument("--folder", type=Path, default=Path("demo"), help="where the files go (default: demo)")
    parser.add_argument("--figures", type=Path, help="a page whose table of figures is to be filled")
    return parser.parse_args()


def _write_shard(table: pa.Table, path: Path) -> amudai.Shard:
    indexes = [amudai.TermIndex("message"), amudai.HashIndex("trace_id")]
    return amudai.write(table, path, indexes=indexes, overwrite=True)


def _write_parquet(table: pa.Table, path: Path) -> None:
    # Small row groups, statistics and checksums: what Parquet has to offer for searches.
    pq.write_table(table, path, compression="zstd", row_group_size=1 << 17, write_page_checksum=True)


def _columns(parquet: Path) -> dict[str, int]:
    """Bytes of each column in the Parquet file."""
    found: Counter[str] = Counter()
    metadata = pq.read_metadata(parquet)
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            column = metadata.row_group(group).column(at)
            found[column.path_in_schema] += column.total_compressed_size
    return dict(found)


def _summary(results: list[Result]) -> Table:
    table = Table(title="The same work on both", title_justify="left", header_style="bold")
    table.add_column("task")
    for name in ("rows", "amudai", "Parquet", "faster"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("right", justify="center")
    for result in results:
        table.add_row(
            result.task.name,
            rows_text(result),
            time_text(result.shard_seconds),
            time_text(result.parquet_seconds),
            f"{result.ratio:,.1f}x",
            "[green]yes[/]" if result.right else "[bold red]NO[/]",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
