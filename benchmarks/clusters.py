"""What do jobs of Spark on many shards cost?  python -m benchmarks.clusters [--shards N] [--rows N] [--master M]

Parts of the log dataset are written as shards. Spark compacts them to one shard with a term index, and indexes a column
of them as one shard; `amudai.compact(processes=)` does the first on this machine. Each result is compared with the rows
that were written. `python tools/engines.py` makes an environment that has pyspark: build/engines/environment.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

import amudai
import amudai.spark
from benchmarks.datasets import load


def session(master: str, folder: Path) -> Any:
    """A session of Spark whose processes talk to each other on this machine alone."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_WORKER_DIR"] = str(folder / "workers")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "600m",
        "spark.executor.memory": "600m",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


def checked(what: str, work: Callable[[], amudai.Shard], table: pa.Table, count: int) -> None:
    """Do the work, print its time, and compare the shard that it makes with the table."""
    begin = time.perf_counter()
    shard = work()
    seconds = time.perf_counter() - begin
    same = shard.read().equals(table)
    print(f"{what:<36} {seconds:6.1f} s  {len(shard.stripes):5,} stripes  rows equal: {same}", flush=True)
    if not same or len(shard.indexes) != 1 or shard.count("message has 'timeout'") != count:
        sys.exit(f"{what}: the shard is not what was written")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=1_000)
    parser.add_argument("--rows", type=int, default=100, help="rows of a shard")
    parser.add_argument("--master", default="local-cluster[2,1,1024]", help="as Spark spells it")
    options = parser.parse_args()
    table = load("logs", options.shards * options.rows)
    indexes = [amudai.TermIndex("message")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lake = folder / "lake"
        amudai.write_dataset(table, lake, rows_per_shard=options.rows).close()
        table = amudai.dataset(lake).read()
        count = amudai.dataset(lake).count("message has 'timeout'")
        begin = time.perf_counter()
        spark = session(options.master, folder)
        print(f"{'start of ' + options.master:<36} {time.perf_counter() - begin:6.1f} s", flush=True)
        works: dict[str, Callable[[], amudai.Shard]] = {
            "amudai.spark.compact": lambda: amudai.spark.compact(
                spark, lake, folder / "a.amudai.shard", indexes=indexes
            ),
            "amudai.spark.index": lambda: amudai.spark.index(spark, lake, indexes, folder / "b.amudai.shard"),
            "amudai.compact(processes=2)": lambda: amudai.compact(
                sorted(lake.iterdir()), folder / "c.amudai.shard", indexes=indexes, processes=2
            ),
        }
        for what, work in works.items():
            checked(what, work, table, count)
        spark.stop()


if __name__ == "__main__":
    main()
