"""The data source of Spark, called as Spark calls it, without a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'amudai[spark]'")

from amudai.interop.spark_source import AmudaiSource
from amudai.interop.spark_writer import AmudaiWriter

SCHEMA = pa.schema({"a": pa.int64()})


def batches(*rows: int) -> Any:
    return iter([pa.record_batch({"a": pa.array(rows, pa.int64())})] if rows else [])


def writer(target: Path, *, overwrite: bool = False) -> AmudaiWriter:
    return AmudaiWriter(str(target), {}, SCHEMA, overwrite)


def numbers(target: Path) -> list[Any]:
    opened = amudai.open(target) if target.name.endswith(".shard") else amudai.dataset(target)
    return opened.read()["a"].to_pylist()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_commit_publishes_what_its_messages_name(tmp_path: Path) -> None:
    """What becomes of attempts that are lost, late or fail is tested with the parts of jobs: test_staged_parts.py."""
    target = tmp_path / "lake"
    job = writer(target)
    job.write(batches(1, 2))
    job.commit([job.write(batches(3, 4)), job.write(batches()), None, job.write(batches(1, 2))])
    assert numbers(target) == [3, 4, 1, 2]
    assert len(files(target)) == 3


@pytest.mark.parametrize("name", ["lake", "one.amudai.shard"])
def test_overwriting_removes_what_earlier_jobs_wrote(name: str, tmp_path: Path) -> None:
    target = tmp_path / "out" / name
    folder = target if name == "lake" else target.parent
    for rows in ((1, 2), (3, 4)):
        job = writer(target)
        job.commit([job.write(batches(*rows))])
    assert numbers(target) == [1, 2, 3, 4]
    job = writer(target, overwrite=True)
    job.commit([job.write(batches(5, 6))])
    assert numbers(target) == [5, 6]
    assert len(files(folder)) == 2
    job = writer(target, overwrite=True)
    job.commit([])
    assert numbers(target) == []
    assert len(files(folder)) == 1
    assert len(list(folder.iterdir())) == 1


def test_files_that_another_shard_refers_to_stay(tmp_path: Path) -> None:
    job = writer(tmp_path / "one.amudai.shard")
    job.commit([job.write(batches(1, 2))])
    amudai.merge([tmp_path / "one.amudai.shard"], to=tmp_path / "other.amudai.shard")
    job = writer(tmp_path / "one.amudai.shard", overwrite=True)
    job.commit([job.write(batches(5, 6))])
    assert numbers(tmp_path / "one.amudai.shard") == [5, 6]
    assert numbers(tmp_path / "other.amudai.shard") == [1, 2]


def test_aborting_removes_all_attempts(tmp_path: Path) -> None:
    job = writer(tmp_path / "lake")
    job.write(batches(1, 2))
    job.abort([None])
    assert list((tmp_path / "lake").iterdir()) == []


def test_columns_without_nulls_are_read_as_others(tmp_path: Path) -> None:
    """Spark refuses batches whose columns may have nulls where the schema of the source says that none has."""
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.string())])
    path = tmp_path / "a.amudai.shard"
    amudai.write(pa.table({"a": [1, 2], "b": ["x", None]}, schema=schema), path)
    source = AmudaiSource({"path": str(path)})
    assert [field.nullable for field in source.schema()] == [True, True]
    reader = source.reader(source.schema())
    found = [batch for part in reader.partitions() for batch in reader.read(part)]
    assert [field.nullable for batch in found for field in batch.schema] == [True, True]
    assert pa.Table.from_batches(found).to_pydict() == {"a": [1, 2], "b": ["x", None]}
