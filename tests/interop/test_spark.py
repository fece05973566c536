"""Spark reads and writes shards, on a cluster of two executors. The traps of Python data sources are tests here."""

from __future__ import annotations

import os
import shutil
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai.storage import open_store
from tests.storage import servers

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'amudai[spark]'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Java is not installed, and Spark needs it", allow_module_level=True)

import amudai.spark  # noqa: E402 - after the checks

pytestmark = pytest.mark.slow  # a cluster takes half a minute to start

JAVA = "amudai.spark.AmudaiSource"


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> str | None:
    """The jar of the Java source; None without a compiler."""
    if shutil.which("javac") is None and "JAVA_HOME" not in os.environ:
        return None
    return amudai.spark.build_jar(tmp_path_factory.mktemp("jar") / "amudai-spark.jar")


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The URL of a folder in an object store. Processes of the cluster find the server by their environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in servers.s3_environment().items():
            patch.setenv(name, value)
        yield f"s3://{servers.BUCKET}/{uuid.uuid4().hex}"


@pytest.fixture(scope="module")
def spark(jar: str | None, bucket: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Processes that live for a minute do not earn back what the better compiler and collector cost.
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    # The workers of the cluster write their logs there.
    os.environ["SPARK_WORKER_DIR"] = str(tmp_path_factory.mktemp("workers"))
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "600m",
        "spark.executor.memory": "600m",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        # A task that takes three times as long as the others is done a second time.
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.multiplier": "3",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "2s",
        **({} if jar is None else {"spark.jars": jar}),
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    amudai.spark.register(session)
    yield session
    session.stop()


@pytest.fixture
def java(jar: str | None) -> str:
    if jar is None:
        pytest.skip("javac is not installed, and the Java source needs it")
    return JAVA


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


def test_spark_reads_a_dataset_and_a_shard_with_deleted_rows(spark: Any, lake: amudai.Dataset, tmp_path: Path) -> None:
    expected = [tuple(row.values()) for row in logs().to_pylist()]
    assert rows(spark.read.format("amudai").load(str(tmp_path / "lake"))) == expected
    left = amudai.delete(
        amudai.write(logs(), tmp_path / "all.amudai.shard"), where="a in (1, 19)", to=tmp_path / "left.amudai.shard"
    )
    assert rows(spark.read.format("amudai").load(str(tmp_path / "left.amudai.shard"))) == [
        tuple(row.values()) for row in left.read().to_pylist()
    ]


def test_a_reused_frame_gives_all_rows_again(spark: Any, lake: amudai.Dataset, tmp_path: Path) -> None:
    frame = spark.read.format("amudai").load(str(tmp_path / "lake"))
    assert [frame.where(each).count() for each in ("a in (13, 14)", "a = 1 or a = 2", "1 = 1")] == [2, 2, 20]


def test_columns_and_predicates_are_passed_explicitly(spark: Any, lake: amudai.Dataset, tmp_path: Path) -> None:
    frame = amudai.spark.read(
        spark, tmp_path / "lake", columns=["s"], where=amudai.col("s").has("fine") & (amudai.col("a") < 7)
    )
    assert frame.schema.names == ["s"]
    assert rows(frame) == [("row 0 fine",), ("row 3 fine",), ("row 6 fine",)]
    assert amudai.spark.read(spark, tmp_path / "lake", where="a = -7").count() == 0
    pruned = spark.read.format("amudai").schema("s string").load(str(tmp_path / "lake"))
    assert rows(pruned)[0] == ("row 0 fine",)
    assert "[a#" not in columns_read(pruned)


# ---- writing ----


def saved(frame: Any, target: Path, mode: str, kind: str = "amudai") -> None:
    frame.write.format(kind).mode(mode).save(str(target))


def opened(target: Path) -> amudai.Dataset | amudai.Shard:
    return amudai.open(target) if target.name.endswith(".shard") else amudai.dataset(target)


def numbers(target: Path) -> list[Any]:
    return sorted(opened(target).read(["a"])["a"].to_pylist())


def unused(folder: Path) -> set[str]:
    """The files and folders that no shard in the folder refers to."""
    shards = [amudai.open(path) for path in folder.glob("*.amudai.shard")]
    used = {path.removeprefix("file://") for shard in shards for path in (file.url for file in shard.files)}
    found = {str(path) for path in folder.rglob("*")}
    return {path for path in found if not any(each == path or each.startswith(f"{path}/") for each in used)}


@pytest.mark.parametrize("name", ["folder", "one.amudai.shard"])
def test_spark_writes_appends_and_overwrites(spark: Any, name: str, tmp_path: Path) -> None:
    target = tmp_path / "out" / name
    folder = target if name == "folder" else target.parent
    saved(spark.range(10).selectExpr("id as a", "concat('row ', id) as s").repartition(3), target, "append")
    assert numbers(target) == list(range(10))
    saved(spark.createDataFrame([(99, "more")], "a long, s string"), target, "append")
    assert numbers(target) == [*range(10), 99]
    assert unused(folder) == set()
    saved(spark.createDataFrame([(7, "new")], "a long, s string"), target, "overwrite")
    assert numbers(target) == [7]
    assert unused(folder) == set()
    saved(spark.createDataFrame([], "a long, s string"), target, "overwrite")
    assert numbers(target) == []
    assert unused(folder) == set()


def test_a_failed_job_leaves_nothing_behind(spark: Any, tmp_path: Path) -> None:
    target = tmp_path / "lake"
    frame = spark.range(10).repartition(2).selectExpr("if(id < 100, raise_error('no'), id) as id")
    with pytest.raises(Exception, match="no"):
        saved(frame, target, "append")
    assert not target.exists() or list(target.rglob("*")) == []


@pytest.mark.parametrize("accident", ["error", "killed executor", "slow attempt"])
def test_rows_come_once_whatever_happens_to_an_attempt(spark: Any, accident: str, tmp_path: Path) -> None:
    first = str(tmp_path / "first attempt")

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            if 3 in batch["a"].to_pylist():
                try:
                    os.close(os.open(first, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                if accident == "error":
                    raise RuntimeError("the first attempt fails")
                if accident == "killed executor":
                    # The parent of this process serves the executor, which is the parent of that.
                    stat = Path(f"/proc/{os.getppid()}/stat").read_text()
                    os.kill(int(stat.rpartition(")")[2].split()[1]), 9)
                time.sleep(20)

    target = tmp_path / "lake"
    frame = spark.range(0, 40, numPartitions=4).selectExpr("id as a").mapInArrow(rows, "a long")
    saved(frame, target, "append")
    assert os.path.exists(first)
    assert numbers(target) == list(range(40))
    assert unused(target) == set()


# ---- the Java source ----


def columns_read(frame: Any) -> str:
    plan = frame._jdf.queryExecution().executedPlan().toString()
    return str(plan[plan.index("BatchScan") :].splitlines()[0])


def test_the_java_source_reads_only_needed_columns(spark: Any, java: str, lake: amudai.Dataset, tmp_path: Path) -> None:
    frame = spark.read.format(java).load(str(tmp_path / "lake"))
    assert "[s#" in columns_read(frame.select("s"))
    assert "[a#" not in columns_read(frame.select("s"))
    assert "[a#" in columns_read(spark.read.format("amudai").load(str(tmp_path / "lake")).select("s"))
    assert rows(frame.select("s").where("a < 2")) == [("row 0 fine",), ("row 1 error",)]
    assert [frame.where(each).count() for each in ("a in (13, 14)", "1 = 1")] == [2, 20]
    other = frame.select("a").join(frame.select("a", "s"), "a").where("a < 3")
    assert rows(other) == [(0, "row 0 fine"), (1, "row 1 error"), (2, "row 2 error")]
    assert spark.read.format(java).option("where", "a = 7").load(str(tmp_path / "lake")).count() == 1


def test_the_java_source_writes(spark: Any, java: str, tmp_path: Path) -> None:
    for mode, expected in (("append", [0, 1, 2]), ("overwrite", [0, 1, 2])):
        saved(spark.range(3).selectExpr("id as a"), tmp_path / "lake", mode, java)
        assert numbers(tmp_path / "lake") == expected
    assert unused(tmp_path / "lake") == set()


# ---- jobs over many shards ----


def test_spark_compacts_and_indexes_many_shards(spark: Any, tmp_path: Path) -> None:
    lake = amudai.write_dataset(logs(60), tmp_path / "lake", rows_per_shard=5)
    first = tmp_path / "lake" / lake.shards[0]
    hidden = first.rename(tmp_path / "lake" / "_before.amudai.shard")
    amudai.delete(hidden, where="a = 1", to=first)
    expected = amudai.dataset(tmp_path / "lake").read()
    assert expected.num_rows == 59
    compacted = amudai.spark.compact(
        spark, tmp_path / "lake", tmp_path / "all.amudai.shard", indexes=[amudai.TermIndex("s")], tasks=3
    )
    assert compacted.read().equals(expected)
    assert len(compacted.indexes) == 1
    assert compacted.count("s has 'fine'") == 20
    assert len(list(tmp_path.glob("_all-*/*"))) == 3
    indexed = amudai.spark.index(
        spark, tmp_path / "lake", [amudai.TermIndex("s")], tmp_path / "lake" / "_indexed.amudai.shard"
    )
    assert indexed.read().equals(expected)
    assert len(indexed.indexes) == 1
    assert indexed.count("s has 'fine'") == 20
    with pytest.raises(FileExistsError):
        amudai.spark.compact(spark, tmp_path / "lake", tmp_path / "all.amudai.shard")
    with pytest.raises(Exception, match="nowhere"):
        amudai.spark.compact(spark, tmp_path / "lake", tmp_path / "bad.amudai.shard", where="nowhere = 1")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("bad", "_bad"))] == []


def test_spark_works_in_an_object_store(spark: Any, bucket: str) -> None:
    def files() -> int:
        return sum(1 for _ in open_store(f"{bucket}/x")[0].files_below(f"{bucket}/"))

    def numbers(path: str) -> list[int]:
        return sorted(row.id for row in spark.read.format("amudai").load(path).collect())

    def write(rows: range, mode: str) -> None:
        frame = spark.range(rows.start, rows.stop, 1, 2)
        frame.write.format("amudai").mode(mode).save(f"{bucket}/lake")

    write(range(20), "append")
    write(range(20, 30), "append")
    assert numbers(f"{bucket}/lake") == list(range(30))
    assert files() == 6  # two roots, each with two parts
    compacted = amudai.spark.compact(spark, f"{bucket}/lake", f"{bucket}/lake/_all.amudai.shard", tasks=2)
    assert sorted(compacted.read()["id"].to_pylist()) == list(range(30))
    indexes = [amudai.HashIndex("id")]
    indexed = amudai.spark.index(spark, f"{bucket}/lake", indexes, f"{bucket}/lake/_indexed.amudai.shard", tasks=2)
    assert len(indexed.indexes) == 1
    assert amudai.spark.read(spark, f"{bucket}/lake/_indexed.amudai.shard", where="id = 7").count() == 1
    write(range(5), "overwrite")
    assert numbers(f"{bucket}/lake") == list(range(5))


def test_types_that_spark_lacks_are_refused_by_name(spark: Any, tmp_path: Path) -> None:
    amudai.write({"t": pa.array([1], pa.time64("us")), "u": pa.array([1], pa.uint32())}, tmp_path / "t.amudai.shard")
    with pytest.raises(Exception, match="column 't': expected a type that Spark has"):
        spark.read.format("amudai").load(str(tmp_path / "t.amudai.shard"))
    assert rows(amudai.spark.read(spark, tmp_path / "t.amudai.shard", columns=["u"])) == [(1,)]
