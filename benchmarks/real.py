"""How does the library do on real data?  python -m benchmarks.real FOLDER --loghub FOLDER [--only PART] [--rounds N]

TPC-H, flights and real logs (`real_data`) are written, read, searched, exported and ingested, by this library and by
the peer that people use for the same work. One thread on both sides, processor time, each in a process of its own, one
after the other; the least of all rounds counts. A ratio is our time or size by the peer's: less is better.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import amudai
from benchmarks import real_data

Work = Callable[[Path, Path], Callable[[], object]]
"""Makes the work, given the folder of the data and a folder to write to. Making it is not measured."""


@dataclass(frozen=True)
class Comparison:
    name: str
    ours: Work
    peer: Work
    goal: float | None
    bytes: str | None = None
    """The input, where figures of MB/s say more than seconds."""


def write_shard(name: str, **options: Any) -> Work:
    def make(data: Path, out: Path) -> Callable[[], object]:
        table = pq.read_table(data / f"{name}.parquet")
        return lambda: amudai.write(table, out / "x.amudai.shard", overwrite=True, threads=1, **options).close()

    return make


def write_parquet(name: str) -> Work:
    def make(data: Path, out: Path) -> Callable[[], object]:
        table = pq.read_table(data / f"{name}.parquet")
        return lambda: pq.write_table(table, out / "x.parquet", compression="zstd")

    return make


def shard_of(name: str, data: Path, **options: Any) -> Path:
    """A shard of a Parquet file, written once and kept beside it."""
    path = data / f"{name}{''.join(sorted(map(str, options.values())))}.amudai.shard"
    if not path.exists():
        amudai.write(pq.read_table(data / f"{name}.parquet"), path, **options).close()
    return path


def read_shard(name: str) -> Work:
    def make(data: Path, out: Path) -> Callable[[], object]:
        path = shard_of(name, data)
        return lambda: amudai.open(path).read(threads=1)

    return make


def read_parquet(name: str) -> Work:
    return lambda data, out: lambda: pq.read_table(data / f"{name}.parquet", use_threads=False)


def count_shard(data: Path, out: Path) -> Callable[[], object]:
    shard = amudai.open(shard_of("lineitem", data))
    return lambda: shard.count(amudai.col("l_quantity") == 50)


def revenue_shard(data: Path, out: Path) -> Callable[[], object]:
    """Question 6 of TPC-H."""
    shard = amudai.open(shard_of("lineitem", data))
    shipped, discount = amudai.col("l_shipdate"), amudai.col("l_discount")
    where = (shipped >= date(1994, 1, 1)) & (shipped < date(1995, 1, 1)) & (amudai.col("l_quantity") < 24)
    where = where & (discount >= Decimal("0.05")) & (discount <= Decimal("0.07"))

    def ask() -> object:
        rows = shard.scan(["l_extendedprice", "l_discount"], where=where, threads=1).to_table()
        return pc.sum(pc.multiply(rows["l_extendedprice"], rows["l_discount"]))

    return ask


def sql(text: str, fetch: str = "fetchall") -> Work:
    """A statement for DuckDB. `{data}` and `{out}` stand for the folders."""

    def make(data: Path, out: Path) -> Callable[[], object]:
        import duckdb

        connection = duckdb.connect(config={"threads": 1})
        statement = text.format(data=data, out=out)

        def run() -> object:
            answer = getattr(connection.execute(statement), fetch)()
            return answer.read_all() if isinstance(answer, pa.RecordBatchReader) else answer

        return run

    return make


def export_shard(name: str, writer_of: Any) -> Work:
    def make(data: Path, out: Path) -> Callable[[], object]:
        shard = amudai.open(shard_of(name, data))

        def export() -> None:
            with open(out / "x", "wb") as file:
                writer = writer_of(file, shard.schema.names)
                for batch in shard.scan(threads=1):
                    writer.write(batch)
                writer.close()

        return export

    return make


def read_text(name: str) -> Work:
    def make(data: Path, out: Path) -> Callable[[], object]:
        def read() -> None:
            with amudai.read_files(data / name) as source:
                for _ in source.batches():
                    pass

        return read

    return make


def ingest(name: str) -> Work:
    def make(data: Path, out: Path) -> Callable[[], object]:
        return lambda: amudai.ingest(data / name, out / "x.amudai.shard", overwrite=True, threads=1).close()

    return make


def pyarrow_csv(name: str) -> Work:
    def make(data: Path, out: Path) -> Callable[[], object]:
        import pyarrow.csv

        return lambda: pyarrow.csv.read_csv(data / name, read_options=pyarrow.csv.ReadOptions(use_threads=False))

    return make


def pyarrow_json(name: str) -> Work:
    def make(data: Path, out: Path) -> Callable[[], object]:
        import pyarrow.json

        return lambda: pyarrow.json.read_json(data / name, read_options=pyarrow.json.ReadOptions(use_threads=False))

    return make


def ingest_logs(data: Path, out: Path) -> Callable[[], object]:
    """Every log by itself, as logs of different programs are kept."""
    files = sorted((data / "logs").iterdir())

    def work() -> None:
        for file in files:
            amudai.ingest(file, out / "x.amudai.shard", overwrite=True, threads=1).close()

    return work


def read_logs(data: Path, out: Path) -> Callable[[], object]:
    files = sorted((data / "logs").iterdir())

    def work() -> None:
        for file in files:
            with amudai.read_files(file) as source:
                for _ in source.batches():
                    pass

    return work


LINES = "read_csv('{file}', columns={{'line': 'VARCHAR'}}, delim='\\0', quote='', escape='', header=false, auto_detect=false, strict_mode=false)"


def duckdb_logs(statement: str, fetch: str = "fetchall") -> Work:
    """DuckDB reads each line as one text, and finds neither times nor levels."""

    def make(data: Path, out: Path) -> Callable[[], object]:
        runs = []
        for file in sorted((data / "logs").iterdir()):
            rows = LINES.format(file=file).replace("{", "{{").replace("}", "}}")
            runs.append(sql(statement.replace("ROWS", rows), fetch)(data, out))
        return lambda: [run() for run in runs]

    return make


def copy(rows: str) -> Work:
    return sql(f"COPY (FROM {rows}) TO '{{out}}/x.parquet' (FORMAT parquet, COMPRESSION zstd)")


QUESTION_6 = """
SELECT sum(l_extendedprice * l_discount) FROM '{data}/lineitem.parquet' WHERE l_shipdate >= DATE '1994-01-01'
AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24
"""
COUNT = "SELECT count(*) FROM '{data}/lineitem.parquet' WHERE l_quantity = 50"


def comparisons() -> Iterator[Comparison]:
    yield Comparison("decimals: write money", write_shard("money"), write_parquet("money"), 1.5)
    yield Comparison("decimals: read money", read_shard("money"), read_parquet("money"), 0.7)
    yield Comparison("decimals: l_quantity = 50 by DuckDB", count_shard, sql(COUNT), 1.0)
    yield Comparison("decimals: Q6 by DuckDB", revenue_shard, sql(QUESTION_6), 1.5)
    for ending, writer_of in (("csv", amudai.CsvWriter), ("json", amudai.JsonLinesWriter)):
        peer = sql(f"COPY (FROM '{{data}}/orders.parquet') TO '{{out}}/x' (FORMAT {ending})")
        yield Comparison(f"export: orders as {ending} by DuckDB", export_shard("orders", writer_of), peer, 1.5)
    for name in ("orders", "flights"):
        for ending, by_pyarrow, form in (("csv", pyarrow_csv, "csv"), ("jsonl", pyarrow_json, "json")):
            file = f"{name}.{ending}"
            rows = f"read_{form}('{{data}}/{file}')"
            fetch = sql(f"FROM {rows}", "to_arrow_reader")
            yield Comparison(f"read: {file} by pyarrow", read_text(file), by_pyarrow(file), 1.0, file)
            yield Comparison(f"read: {file} by DuckDB", read_text(file), fetch, 1.0, file)
            yield Comparison(f"ingest: {file} by DuckDB's COPY", ingest(file), copy(rows), 1.5, file)
    lines = duckdb_logs("FROM ROWS", "to_arrow_reader")
    yield Comparison("read: logs by DuckDB (lines)", read_logs, lines, 1.0, "logs")
    to_parquet = "COPY (FROM ROWS) TO '{out}/x.parquet' (FORMAT parquet, COMPRESSION zstd)"
    yield Comparison("ingest: logs by DuckDB's COPY (lines)", ingest_logs, duckdb_logs(to_parquet), 1.5, "logs")
    for name in ("flights", "logs"):
        least = write_shard(name, profile="minimal_size")
        yield Comparison(f"minimal_size: write {name}", least, write_parquet(name), 6.0)
    for name in ("lineitem", "orders", "flights", "logs"):
        yield Comparison(f"balanced: write {name}", write_shard(name), write_parquet(name), None)
        yield Comparison(f"balanced: read {name}", read_shard(name), read_parquet(name), None)


def measure(work: Work, data: Path, repeats: int) -> float:
    """The least processor time of several runs in this process."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with tempfile.TemporaryDirectory() as out:
        run = work(data, Path(out))
        times = []
        for _ in range(repeats):
            begin = time.process_time()
            run()
            times.append(time.process_time() - begin)
    return min(times)


def seconds(name: str, side: str, data: Path, repeats: int) -> float:
    """What `measure` finds in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.real", str(data), "--work", name, side, "--repeats", str(repeats)]
    environment = {**os.environ, "AMUDAI_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{name}, {side}: {done.stderr}")
    return float(done.stdout)


def size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(each.stat().st_size for each in path.rglob("*"))


def sizes(data: Path) -> Iterator[tuple[str, int, int, float | None]]:
    """Name, our bytes, Parquet's bytes, and the goal for their ratio, if there is one."""
    for name, goal in (("money", 1.2), ("lineitem", 0.96), ("orders", 1.01), ("flights", 1.05), ("logs", 1.29)):
        yield f"size: {name}", size(shard_of(name, data)), size(data / f"{name}.parquet"), goal
    yield "size: money, int64", size(shard_of("money", data, decimals="int64")), size(data / "money.parquet"), 1.0
    for name in ("flights", "logs"):
        yield (
            f"size: {name}, minimal_size",
            size(shard_of(name, data, profile="minimal_size")),
            size(data / f"{name}.parquet"),
            None,
        )
    for name, goal in (("logs1", 2.6), ("logs50", 2.0)):
        lines = pq.read_table(data / f"{name}.parquet", columns=["line"])
        with tempfile.TemporaryDirectory() as out:
            pq.write_table(lines, Path(out) / "x.parquet", compression="zstd")
            amudai.write(lines, Path(out) / "x.amudai.shard", indexes=[amudai.TermIndex("line")]).close()
            yield (
                f"size: {name} with term index",
                size(Path(out) / "x.amudai.shard"),
                size(Path(out) / "x.parquet"),
                goal,
            )


def _goal(ratio: float | None) -> str:
    return "" if ratio is None else f"  goal {ratio}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--loghub", type=Path, default=Path("loghub"))
    parser.add_argument("--scale", type=float, default=0.5, help="of TPC-H; 0.5 has 3 million rows of lineitem")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=2, help="in each process")
    parser.add_argument("--only", default="", help="comparisons whose name has this part")
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    known = {each.name: each for each in comparisons()}
    if options.work:
        name, side = options.work
        print(measure(getattr(known[name], side), options.folder, options.repeats))
        return
    real_data.prepare(options.folder, options.loghub, options.scale)
    if options.only in "size":
        for name, ours, peer, goal in sizes(options.folder):
            print(f"{name:45} {ours:12,} {peer:12,} bytes  {ours / peer:6.3f}{_goal(goal)}", flush=True)
    for each in known.values():
        if options.only not in each.name:
            continue
        found: dict[str, list[float]] = {"ours": [], "peer": []}
        for _ in range(options.rounds):
            for side, times in found.items():
                times.append(seconds(each.name, side, options.folder, options.repeats))
        ours, peer = min(found["ours"]), min(found["peer"])
        line = f"{each.name:45} {ours:11.3f}s {peer:11.3f}s  {ours / peer:6.2f}{_goal(each.goal)}"
        if each.bytes:
            line += f"  ({size(options.folder / each.bytes) / ours / 1e6:.0f} MB/s)"
        print(line, flush=True)


if __name__ == "__main__":
    main()
