"""Spark reads and writes shards. The traps of Python data sources are tests here."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'amudai[spark]'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java is not installed, and Spark needs it", allow_module_level=True)

import amudai.spark  # noqa: E402 - after the checks

pytestmark = pytest.mark.slow  # a session takes some ten seconds to start


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "600m",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.task.maxFailures": "2",
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder.master("local[2,2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    amudai.spark.register(session)
    yield session
    session.stop()


def logs(count: int = 20) -> pa.Table:
    return pa.table(
        {
            "a": pa.array(range(count), pa.int64()),
            "s": [f"row {n} {'error' if n % 3 else 'fine'}" for n in range(count)],
        }
    )


@pytest.fixture
def lake(tmp_path: Path) -> amudai.Dataset:
    return amudai.write_dataset(logs(), tmp_path / "lake", rows_per_shard=5)


def rows(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def test_spark_reads_a_dataset_and_a_shard(spark: Any, lake: amudai.Dataset, tmp_path: Path) -> None:
    expected = [tuple(row.values()) for row in logs().to_pylist()]
    assert rows(spark.read.format("amudai").load(str(tmp_path / "lake"))) == expected
    amudai.write(logs(), tmp_path / "one.amudai.shard")
    frame = spark.read.format("amudai").load(str(tmp_path / "one.amudai.shard"))
    assert rows(frame) == expected
    assert frame.where("a > 12 and s like '%error%'").count() == sum(1 for n in range(13, 20) if n % 3)


def test_a_reused_frame_gives_all_rows_again(spark: Any, lake: amudai.Dataset, tmp_path: Path) -> None:
    frame = spark.read.format("amudai").load(str(tmp_path / "lake"))
    assert [frame.where(each).count() for each in ("a in (13, 14)", "a = 1 or a = 2", "a > 12", "1 = 1")] == [
        2,
        2,
        7,
        20,
    ]
    assert frame.count() == 20


def test_columns_and_predicates_are_passed_explicitly(spark: Any, lake: amudai.Dataset, tmp_path: Path) -> None:
    frame = amudai.spark.read(
        spark, tmp_path / "lake", columns=["s"], where=amudai.col("s").has("fine") & (amudai.col("a") < 7)
    )
    assert frame.schema.names == ["s"]
    assert rows(frame) == [("row 0 fine",), ("row 3 fine",), ("row 6 fine",)]
    assert amudai.spark.read(spark, tmp_path / "lake", where="a = 7").count() == 1
    assert amudai.spark.read(spark, tmp_path / "lake", where="a = -7").count() == 0
    pruned = spark.read.format("amudai").schema("s string").load(str(tmp_path / "lake"))
    assert rows(pruned)[0] == ("row 0 fine",)


@pytest.mark.parametrize("name", ["folder", "one.amudai.shard"])
def test_spark_writes_appends_and_overwrites(spark: Any, name: str, tmp_path: Path) -> None:
    target = tmp_path / name
    frame = spark.createDataFrame([(n, f"row {n}") for n in range(10)], "a long, s string").repartition(3)
    frame.write.format("amudai").mode("append").save(str(target))

    def stored() -> list[Any]:
        opened = amudai.dataset(target) if name == "folder" else amudai.open(target)
        return sorted(opened.read(["a"])["a"].to_pylist())

    assert stored() == list(range(10))
    spark.createDataFrame([(99, "more")], "a long, s string").write.format("amudai").mode("append").save(str(target))
    assert stored() == [*range(10), 99]
    assert spark.read.format("amudai").load(str(target)).count() == 11
    spark.createDataFrame([(7, "new")], "a long, s string").write.format("amudai").mode("overwrite").save(str(target))
    assert stored() == [7]
    empty = spark.createDataFrame([], "a long, s string")
    empty.write.format("amudai").mode("overwrite").save(str(target))
    assert stored() == []


def test_a_failed_job_leaves_nothing_behind(spark: Any, tmp_path: Path) -> None:
    target = tmp_path / "lake"
    frame = spark.range(10).repartition(2).selectExpr("if(id < 100, raise_error('no'), id) as id")
    with pytest.raises(Exception, match="no"):
        frame.write.format("amudai").mode("append").save(str(target))
    assert not target.exists() or [path for path in target.rglob("*") if path.is_file()] == []


def test_types_that_spark_lacks_are_refused_by_name(spark: Any, tmp_path: Path) -> None:
    amudai.write({"t": pa.array([1], pa.time64("us")), "u": pa.array([1], pa.uint32())}, tmp_path / "t.amudai.shard")
    with pytest.raises(Exception, match="column 't': expected a type that Spark has"):
        spark.read.format("amudai").load(str(tmp_path / "t.amudai.shard"))
    assert rows(amudai.spark.read(spark, tmp_path / "t.amudai.shard", columns=["u"])) == [(1,)]
