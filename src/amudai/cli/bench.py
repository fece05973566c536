"""The command `bench`: compare a shard with Parquet."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Final

import pyarrow as pa
import typer
from rich.text import Text

from amudai import AmudaiError, InvalidArgument, add_indexes, read_files, write
from amudai.asking import ParquetWriter, count_text, size_text, time_text
from amudai.cli.options import Json, Profile, profile_choice
from amudai.cli.questions import Asked, Files, questions
from amudai.cli.terminal import Bar, note, output, print_json, table

__all__ = ["run"]

# A read is not repeated after this many seconds, even if --repeat allows it.
_ENOUGH_SECONDS: Final = 3.0
# Ratios below this count as "the same".
_SAME: Final = 1.05


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison, in bytes or in seconds; None if a figure does not apply."""

    what: str
    unit: str  # "bytes" or "seconds"
    parquet: float
    shard: float
    indexed: float | None
    rows: int | None = None

    @property
    def ratio(self) -> float:
        """How many times smaller or faster than Parquet the better of the two shards is."""
        return self.parquet / max(1e-9, min(self.shard, self.indexed if self.indexed is not None else self.shard))


def run(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A Parquet, CSV, JSON lines, Arrow or log file.", show_default=False)
    ],
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option("--format", "-f", help="parquet, csv, json, arrow or log. Default: by file name."),
    ] = None,
    profile: Profile = None,
    repeat: Annotated[
        int, typer.Option("--repeat", help="Run each read up to this many times and keep the best.", min=1)
    ] = 5,
    temp_dir: Annotated[
        str | None, typer.Option("--temp-dir", metavar="FOLDER", help="Folder for temporary files.")
    ] = None,
    json: Json = False,
) -> int:
    """Compare a shard with Parquet on your own file: write both, read both, and show sizes and times."""
    with TemporaryDirectory(prefix="amudai-bench-", dir=temp_dir) as folder, Bar("measuring") as bar:
        files, lines = _written(source, format, profile_choice(profile), folder)
        asked = list(questions(files))
        for done, question in enumerate(asked):
            bar.rows(0, None, f"{done} of {len(asked)}: {question.what}")
            lines.append(_measured(question, repeat))
        schema = pa.ipc.open_file(files.arrow).schema
    if json:
        document = {"file": source, "rows": files.rows, "columns": len(schema)}
        print_json({**document, "lines": [{**asdict(line), "ratio": line.ratio} for line in lines]})
        return 0
    console = output()
    console.print(f"{source}: {count_text(files.rows, 'row')}, {count_text(len(schema), 'column')}", style="bold")
    heads = {" ": "fold", "Parquet": "right", "shard": "right", "with indexes": "right", "compared to Parquet": "left"}
    console.print(table(heads, [_shown(line) for line in lines]))
    note("best of several runs, files cached in memory, all cores; Parquet: pyarrow, zstd, page index")
    return 0


def _written(source: str, format: str | None, profile: str | dict[str, str], folder: str) -> tuple[Files, list[Row]]:  # noqa: A002
    """Write the file as Arrow, as Parquet and as shards. Returns the files, and the sizes and times of writing."""
    files = Files.below(folder)
    with read_files(source, format=format) as found, pa.ipc.new_file(files.arrow, found.schema) as plain:
        for batch in found.batches():
            plain.write_batch(batch)
            files.rows += batch.num_rows
    if not files.rows:
        raise InvalidArgument("bench: expected some rows, found none", file=source)
    begin = time.perf_counter()
    with open(files.parquet, "wb") as out:
        writer = ParquetWriter(found.schema, out)
        for batch in _batches(files.arrow):
            writer.write(batch)
        writer.close()
    parquet_seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    shard = write(_batches(files.arrow), files.shard, profile=profile)
    shard_seconds = time.perf_counter() - begin
    shard_size = shard.size
    files.choose(shard)
    indexed_size = indexed_seconds = None
    if files.specs:
        begin = time.perf_counter()
        indexed_size = add_indexes(files.shard, files.specs, files.indexed).size
        indexed_seconds = shard_seconds + time.perf_counter() - begin
    parquet_size = os.stat(files.parquet).st_size
    return files, [
        Row("size", "bytes", parquet_size, shard_size, indexed_size),
        Row("time to write", "seconds", parquet_seconds, shard_seconds, indexed_seconds),
    ]


def _batches(path: str) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(path) as source:
        reader = pa.ipc.open_file(source)
        yield from (reader.get_batch(index) for index in range(reader.num_record_batches))


def _measured(question: Asked, repeat: int) -> Row:
    rows, parquet = _best(question.parquet, repeat)
    of_shard, shard = _best(question.shard, repeat)
    of_index, indexed = _best(question.indexed, repeat) if question.indexed is not None else (rows, None)
    if not rows == of_shard == of_index:
        found = f"{rows:,} from Parquet, {of_shard:,} from the shard, {of_index:,} with indexes"
        raise AmudaiError(f"{question.what}: expected the same rows, found {found}")
    assert shard is not None
    assert parquet is not None
    return Row(question.what, "seconds", parquet, shard, indexed, rows)


def _best(ask: Any, repeat: int) -> tuple[int, float | None]:
    """The number of rows, and the shortest time."""
    times: list[float] = []
    rows = 0
    while len(times) < repeat and sum(times) < _ENOUGH_SECONDS:
        gc.collect()
        begin = time.perf_counter()
        rows = ask()
        times.append(time.perf_counter() - begin)
    return rows, min(times)


def _shown(line: Row) -> list[object]:
    show = size_text if line.unit == "bytes" else time_text
    better, worse = ("smaller", "larger") if line.unit == "bytes" else ("faster", "slower")
    ratio = line.ratio
    if 1 / _SAME < ratio < _SAME:
        verdict = Text("the same", style="dim")
    elif ratio > 1:
        verdict = Text(f"{ratio:.1f}x {better}", style="green")
    else:
        verdict = Text(f"{1 / ratio:.1f}x {worse}", style="red")
    what = line.what if line.rows is None else f"{line.what} ({count_text(line.rows, 'row')})"
    indexed = "" if line.indexed is None else show(line.indexed)
    return [what, show(line.parquet), show(line.shard), indexed, verdict]
