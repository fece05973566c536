"""What cannot be kept is refused with a reason, and nothing appears."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai import InvalidArgument, InvalidSchema, StorageError
from tests.writing.exact import names

COLUMNS: dict[str, tuple[pa.Array, str]] = {
    "before year 1": (pa.array([-62135596801], pa.timestamp("s")), 'timestamps="int64"'),
    "after year 9999": (pa.array([2932897], pa.date32()), 'timestamps="int64"'),
    "long duration": (pa.array([2**62], pa.duration("s")), 'timestamps="int64"'),
    "nested": (pa.array([[{"t": 2**60}]], pa.list_(pa.struct([("t", pa.timestamp("us"))]))), "nested.item.t"),
    "not UTF-8": (
        pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]),
        "UTF-8",
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("threads", [1, 2])
def test_values_that_cannot_be_kept(name: str, threads: int, tmp_path: Path) -> None:
    column, reason = COLUMNS[name]
    table = pa.table({"sound": [1], name: column})
    target = tmp_path / "t.amudai.shard"
    with pytest.raises(InvalidArgument) as caught:
        amudai.write(table, target, threads=threads)
    text = str(caught.value)
    assert reason in text
    assert name in text
    assert target.name in text
    assert names(tmp_path) == []


SCHEMAS: dict[str, pa.Schema] = {
    "two of a name": pa.schema([("a", pa.int64()), ("a", pa.int64())]),
    "two members of a name": pa.schema([("s", pa.struct([("a", pa.int64()), ("a", pa.string())]))]),
    "no name": pa.schema([("", pa.int64())]),
    "lists of nothing": pa.schema([("l", pa.list_(pa.int64(), 0))]),
    "the name of a hidden field": pa.schema([("at", pa.timestamp("ns")), ("at:nanoseconds", pa.int64())]),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_that_cannot_be_kept(name: str, tmp_path: Path) -> None:
    schema = SCHEMAS[name]
    with pytest.raises(InvalidSchema):
        amudai.ShardWriter(tmp_path / "t.amudai.shard", schema)
    empty = pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
    with pytest.raises(InvalidSchema):
        amudai.write(empty, tmp_path / "t.amudai.shard")
    assert names(tmp_path) == []


def test_too_deep(tmp_path: Path) -> None:
    kind: pa.DataType = pa.int64()
    for _ in range(70):
        kind = pa.list_(kind)
    with pytest.raises(InvalidSchema, match="levels"):
        amudai.write(pa.table({"deep": pa.nulls(1, kind)}), tmp_path / "t.amudai.shard")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "tiny"},
        {"layout": "three-level"},
        {"stripe_rows": 0},
        {"stripe_rows": -1},
        {"memory_limit": "lots"},
        {"stripe_bytes": "1 parsec"},
        {"bloom": ["nobody"]},
        {"timestamps": "iso"},
        {"decimals": "float"},
        {"progress": "yes"},
    ],
    ids=str,
)
def test_options_are_checked(options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        amudai.write({"a": [1]}, tmp_path / "t.amudai.shard", **options)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "other",
    [
        pa.table({"b": [1]}),
        pa.table({"a": ["x"]}),
        pa.table({"a": pa.array([1], pa.int32())}),
        pa.table({"a": [1], "b": [2]}),
        pa.table({}),
        {"a": pa.array([1], pa.int8())},
        {"b": [1]},
        [pa.record_batch({"a": [1]}), pa.record_batch({"a": [1.5]})],
    ],
    ids=["name", "type", "width", "more", "none", "dict type", "dict name", "second batch"],
)
def test_another_schema(other: Any, tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    with pytest.raises(InvalidSchema):
        _write_both(target, {"a": [1, 2]}, other)
    assert names(tmp_path) == []
    assert amudai.write({"a": [1]}, target).num_rows == 1


def _write_both(target: Path, first: Any, second: Any) -> None:
    with amudai.ShardWriter(target, pa.schema([("a", pa.int64())])) as out:
        out.write(first)
        out.write(second)


def test_a_refused_batch_ends_the_shard(tmp_path: Path) -> None:
    """Some columns of the batch were taken and others were not, so the writer can no longer finish the shard."""
    schema = pa.schema([("n", pa.int64()), ("t", pa.timestamp("s")), ("m", pa.int64())])
    for threads in (1, 3):
        out = amudai.ShardWriter(tmp_path / "t.amudai.shard", schema, threads=threads)
        out.write({"n": [1], "t": [100], "m": [1]})
        with pytest.raises(InvalidArgument, match="int64"):
            out.write({"n": [2], "t": [2**40], "m": [2]})
        with pytest.raises(InvalidArgument):
            out.write({"n": [3], "t": [300], "m": [3]})
        with pytest.raises(InvalidArgument):
            out.close()
        assert names(tmp_path) == []


def test_a_refused_schema_changes_nothing(tmp_path: Path) -> None:
    """The batch was not touched: the shard goes on without it."""
    with amudai.ShardWriter(tmp_path / "t.amudai.shard", pa.schema([("n", pa.int64())])) as out:
        out.write({"n": [1]})
        with pytest.raises(InvalidSchema):
            out.write({"m": [1]})
        out.write({"n": [2]})
    assert amudai.open(tmp_path / "t.amudai.shard").read().to_pydict() == {"n": [1, 2]}


def test_after_the_end(tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    with amudai.ShardWriter(target, pa.schema([("n", pa.int64())])) as out:
        out.write({"n": [1]})
    before = target.read_bytes()
    with pytest.raises(InvalidArgument):
        out.write({"n": [2]})
    out.close()
    out.abandon()
    assert target.read_bytes() == before


def test_abandoned(tmp_path: Path) -> None:
    out = amudai.ShardWriter(tmp_path / "t.amudai.shard", pa.schema([("n", pa.int64())]), layout="two-level")
    out.write({"n": [1]})
    out.abandon()
    out.close()
    assert names(tmp_path) == []


@pytest.mark.parametrize("data", [3, "a.csv", b"bytes", [1, 2], {"a": 1}, {"a": [1], "b": [1, 2]}, {1: [2]}, []])
def test_no_data(data: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        amudai.write(data, tmp_path / "t.amudai.shard")
    assert names(tmp_path) == []


def _broken(error: BaseException) -> Iterator[pa.RecordBatch]:
    for at in range(3):
        yield pa.record_batch({"n": list(range(at, at + 1000))})
    raise error


@pytest.mark.parametrize("layout", ["single", "two-level"])
@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()], ids=["error", "interrupt"])
@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_an_error_of_the_caller(error: BaseException, layout: str, old: bool, tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    if old:
        amudai.write({"n": [7]}, target, layout=layout)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(type(error)):
        amudai.write(_broken(error), target, layout=layout, overwrite=old, stripe_rows=700, memory_limit="1MB")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        amudai.write({"a": [1]}, tmp_path / "nowhere" / "t.amudai.shard")
    with pytest.raises(StorageError):
        amudai.write({"a": [1]}, tmp_path, overwrite=True)
    assert names(tmp_path) == []
