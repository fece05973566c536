"""Measures one point of a growth curve in a process of its own (started by growth.py; see processes.py)."""

from __future__ import annotations

import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import amudai
from amudai import col
from benchmarks import datasets, growth_data
from benchmarks.growth_data import COMMON, NEEDLE, SCHEMA, STATUS, STEP
from benchmarks.processes import Reporter, processor_time, receive, timed

INDEXES = (amudai.TermIndex("message"), amudai.HashIndex("trace_id"))
Works = dict[str, Callable[[], object]]


class Meter:
    """Runs works and says what each costs."""

    def __init__(self, reporter: Reporter, seconds: float) -> None:
        self._reporter = reporter
        self._seconds = seconds

    def once(self, name: str, work: Callable[[], object]) -> None:
        self._reporter.begin()
        wall, cpu, found = timed(work)
        self._reporter.end()
        self._say(name, [(wall, cpu)], found)

    def repeated(self, works: Works) -> None:
        """Each work several times, as long as there is time. The first run is the one whose memory counts."""
        for name, work in works.items():
            self._reporter.begin()
            wall, cpu, found = timed(work)
            self._reporter.end()
            runs, end = [(wall, cpu)], time.perf_counter() + self._seconds
            while len(runs) < 7 and time.perf_counter() < end:
                wall, cpu, _ = timed(work)
                runs.append((wall, cpu))
            self._say(name, runs, found)

    def streamed(self, name: str, write: Callable[[], tuple[float, object]]) -> None:
        """Work that makes its input on the way, and says how much of the processor time was its own."""
        self._reporter.begin()
        begin = time.perf_counter()
        cpu, found = write()
        wall = time.perf_counter() - begin
        self._reporter.end()
        self._say(name, [(wall, cpu)], found)

    def process(self) -> None:
        """The most memory of the whole process, files that it maps included."""
        self._reporter.say(work="process", maxrss=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)

    def _say(self, name: str, runs: list[tuple[float, float]], found: object) -> None:
        self._reporter.say(work=name, runs=runs, found=found)


def write_logs(path: Path, rows: int, options: dict[str, Any], **more: Any) -> tuple[float, dict[str, Any]]:
    """Processor time of writing alone, and what to ask for."""
    busy, middle = 0.0, int(rows * 0.613)
    known: dict[str, Any] = {}
    begin = processor_time()
    with amudai.ShardWriter(path, SCHEMA, indexes=INDEXES, overwrite=True, **options, **more) as out:
        busy += processor_time() - begin
        at = 0
        for batch in growth_data.log_batches(rows):
            if at <= middle < at + batch.num_rows:
                known["trace"] = batch["trace_id"][middle - at].as_py()
            at += batch.num_rows
            begin = processor_time()
            out.write(batch)
            busy += processor_time() - begin
        begin = processor_time()
    busy += processor_time() - begin
    known["bytes"] = path.stat().st_size
    return busy, known


def counted(shard: Any, columns: list[str] | None = None, where: Any = None) -> int:
    """Rows of a scan that keeps nothing."""
    return sum(batch.num_rows for batch in shard.scan(columns, where=where))


def log_works(path: Path, rows: int, trace: str) -> Works:
    """Questions to logs. All but the last three have answers of the same size, however many rows there are."""
    first = datasets.EPOCH_US + int(rows * 0.4) * STEP
    begin, end = (np.datetime64(first + more, "us").item() for more in (0, min(rows, 1000) * STEP))
    text = ["timestamp", "message"]
    return {
        "open": lambda: amudai.open(path).num_rows,
        "a rare word": lambda: counted(amudai.open(path), text, col("message").has(NEEDLE)),
        "an absent word": lambda: amudai.open(path).count(col("message").has("zzyzx")),
        "a trace": lambda: counted(amudai.open(path), text, col("trace_id") == trace),
        "1,000 rows by time": lambda: counted(
            amudai.open(path), text, (col("timestamp") >= begin) & (col("timestamp") < end)
        ),
        "10 rows by position": lambda: amudai.open(path).take(np.linspace(0, rows - 1, 10).astype(np.int64)).num_rows,
        "count a common word": lambda: amudai.open(path).count(col("message").has(COMMON)),
        "count a status": lambda: amudai.open(path).count(col("status") == STATUS),
        "read all": lambda: counted(amudai.open(path)),
    }


def rows(meter: Meter, folder: Path, size: int, options: dict[str, Any]) -> None:
    path, known = folder / "logs.amudai.shard", {}

    def write() -> tuple[float, object]:
        cpu, found = write_logs(path, size, options)
        known.update(found)
        return cpu, found["bytes"]

    meter.streamed("write", write)
    meter.repeated(log_works(path, size, known["trace"]))


STRIPE_ROWS_IN_ALL = 200_000


def stripes(meter: Meter, folder: Path, size: int, options: dict[str, Any]) -> None:
    """The same rows, in more and more stripes."""
    path, known, total = folder / "logs.amudai.shard", {}, max(size, STRIPE_ROWS_IN_ALL)

    def write() -> tuple[float, object]:
        cpu, found = write_logs(path, total, options, stripe_rows=-(-total // size))
        known.update(found)
        return cpu, found["bytes"]

    meter.streamed("write", write)
    works = log_works(path, total, known["trace"])
    meter.repeated(works)


def columns(meter: Meter, folder: Path, size: int, options: dict[str, Any]) -> None:
    path, table = folder / "wide.amudai.shard", datasets.wide(1000, columns=size)
    two = [table.column_names[size // 3], table.column_names[-1]]
    number = table.column_names[size // 2 - size // 2 % 4 + 1]  # every fourth column has numbers from 0 to 99
    meter.once("write", lambda: amudai.write(table, path, overwrite=True, **options).num_rows)
    meter.repeated(
        {
            "open": lambda: amudai.open(path).num_rows,
            "names": lambda: len(amudai.open(path).schema.names),
            "two columns": lambda: amudai.open(path).read(two).num_rows,
            "count in one column": lambda: amudai.open(path).count(col(number) == 7),
            "10 rows of two columns": lambda: amudai.open(path).take(np.arange(0, 1000, 100), two).num_rows,
            "10 rows of all columns": lambda: amudai.open(path).take(np.arange(0, 1000, 100)).num_columns,
            "read all": lambda: amudai.open(path).read().num_columns,
        }
    )


SHARD_ROWS, DIFFERENT, WITHOUT_CATALOG = 500, 40, 1000


def shards(meter: Meter, folder: Path, size: int, options: dict[str, Any]) -> None:
    """Small shards, most of them copies of `DIFFERENT` others; one of them has the word and the trace."""
    lake = folder / "lake"
    lake.mkdir()
    batches = growth_data.log_batches(SHARD_ROWS * (DIFFERENT + 1), SHARD_ROWS)
    for number, batch in zip(range(size), batches):
        if number:  # only the first shard has the needle
            message = pa.compute.replace_substring(batch["message"], NEEDLE, "haystack")
            batch = batch.set_column(batch.schema.get_field_index("message"), "message", message)
        else:
            trace = batch["trace_id"][7].as_py()
        amudai.write(batch, lake / f"{number:05}.amudai.shard", indexes=INDEXES, **options).close()
    for number in range(DIFFERENT + 1, size):
        shutil.copyfile(lake / f"{1 + number % DIFFERENT:05}.amudai.shard", lake / f"{number:05}.amudai.shard")

    def ask(where: Any, catalog: str) -> int:
        return amudai.dataset(lake, catalog=catalog).scan(["timestamp"], where=where).count()

    def save() -> int:
        amudai.dataset(lake, catalog="ignore").save_catalog()
        return (lake / "_catalog.amudai.shard").stat().st_size

    meter.once("save a catalog", save)
    works: Works = {
        "a rare word": lambda: ask(col("message").has(NEEDLE), "check"),
        "a rare word, trusting": lambda: ask(col("message").has(NEEDLE), "trust"),
        "a trace": lambda: ask(col("trace_id") == trace, "check"),
    }
    if size <= WITHOUT_CATALOG:
        works["a rare word, no catalog"] = lambda: ask(col("message").has(NEEDLE), "ignore")
        works["read all"] = lambda: counted(amudai.dataset(lake))
    meter.repeated(works)


def matches(meter: Meter, folder: Path, size: int, options: dict[str, Any]) -> None:
    """One shard with words and keys that occur once, ten times and so on, up to every row. `size` is how many rows it has."""
    path = folder / "matches.amudai.shard"
    schema = SCHEMA.append(pa.field("key", pa.string()))
    indexes = (amudai.TermIndex("message"), amudai.HashIndex("key"))
    powers = [10**power for power in range(len(str(size)))]
    with amudai.ShardWriter(path, schema, indexes=indexes, overwrite=True, **options) as out:
        at = 0
        for batch in growth_data.log_batches(size):
            places = np.arange(at, at + batch.num_rows)
            message, key = batch["message"], np.char.mod("id%d", places).astype(object)
            for offset, power in enumerate(powers):
                step = size // power
                message = datasets._cat(message, datasets._pick(["", f" hits{power}"], places % step == 0))
                if step >= len(powers):  # each key has an offset of its own, so that no row has two
                    key[places % step == offset] = f"key{power}"
            at += batch.num_rows
            columns = [*batch.columns[:-1], message, pa.array(key, pa.string())]
            out.write(pa.RecordBatch.from_arrays(columns, schema=schema))
    for power in powers:
        word, key_is = col("message").has(f"hits{power}"), col("key") == f"key{power}"
        works: Works = {
            "count rows of a word": lambda word=word: amudai.open(path).count(word),
            "positions of a word": lambda word=word: len(amudai.open(path).scan(where=word).positions()),
            "read rows of a word": lambda word=word: counted(amudai.open(path), ["message"], word),
        }
        if size // power >= len(powers):
            works["read rows of a key"] = lambda key_is=key_is: counted(amudai.open(path), ["message"], key_is)
        meter.repeated({f"{name}|{power}": work for name, work in works.items()})


AXES = {each.__name__: each for each in (rows, columns, stripes, shards, matches)}


def main() -> None:
    job, reporter = receive()
    meter = Meter(reporter, job["seconds"])
    with tempfile.TemporaryDirectory(dir=job["folder"]) as folder:
        AXES[job["axis"]](meter, Path(folder), job["size"], job["options"])
    meter.process()


if __name__ == "__main__":
    main()
