"""Arguments of the wrong kind: our error, which names the argument. Numbers are never rounded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import amudai
from amudai.errors import InvalidArgument
from tests.damage.lies import specimen_of
from tests.forge import Forge, numbers

SAMPLE = "tests/fixtures/sample.amudai.shard"
c = amudai.col


@pytest.fixture
def shard() -> amudai.Shard:
    return amudai.open(Path(__file__).parents[2] / SAMPLE)


NUMBERS: dict[str, Callable[[amudai.Shard, Any], object]] = {
    "limit": lambda shard, value: shard.scan(limit=value).count(),
    "limit of search": lambda shard, value: shard.search("failed", limit=value).count(),
    "batch_rows": lambda shard, value: list(shard.scan(batch_rows=value)),
    "batch_rows of a reader": lambda shard, value: shard.to_reader(batch_rows=value),
    "batch_rows of a field": lambda shard, value: shard["status"].to_reader(batch_rows=value),
    "threads": lambda shard, value: shard.read(threads=value),
    "threads of take": lambda shard, value: shard.take([0], threads=value),
    "threads of open": lambda shard, value: amudai.open(shard.url, threads=value),
    "count of head": lambda shard, value: shard.head(value),
    "count of sample": lambda shard, value: shard.sample(value),
    "count of sample where": lambda shard, value: shard.sample(value, where="status >= 500"),
    "seed": lambda shard, value: shard.sample(1, seed=value),
    "count of tasks": lambda shard, value: shard.scan().tasks(value),
    "fields": lambda shard, value: shard.tree(fields=value),
    "stripes": lambda shard, value: shard.inspect(stripes=[value]),
}


@pytest.mark.parametrize("value", ["3", 1.5, 2.0, float("nan"), True, b"1", [1], -1], ids=repr)
@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_whole_number(shard: amudai.Shard, name: str, value: Any) -> None:
    with pytest.raises(InvalidArgument, match=rf"^{name.split()[0]}: expected"):
        NUMBERS[name](shard, value)


@pytest.mark.parametrize("value", [1, np.int64(1), np.uint8(1)], ids=repr)
@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "stripes"])
def test_whole_numbers(shard: amudai.Shard, name: str, value: Any) -> None:
    NUMBERS[name](shard, value)


@pytest.mark.parametrize("rows", [slice(0.0, 2), slice(0, "2"), slice(0, 1.5), slice(0, 2, 2), 3, [1], "all"], ids=repr)
def test_rows_that_are_no_rows(shard: amudai.Shard, rows: Any) -> None:
    with pytest.raises(InvalidArgument, match="rows: expected"):
        shard.read(rows=rows)


@pytest.mark.parametrize("name", ["stripe_rows", "threads"])
@pytest.mark.parametrize("value", ["3", 1.5, True, float("nan"), 0])
def test_numbers_of_writers(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(InvalidArgument, match=f"{name}: expected"):
        amudai.write({"n": [1]}, tmp_path / "x.amudai.shard", **{name: value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": 3}, "columns: expected a list"),
        ({"columns": "status"}, "columns: expected a list of names"),
        ({"columns": [3]}, "columns: expected names"),
        ({"where": 3}, "where: expected a predicate"),
    ],
)
def test_lists_that_are_no_lists(shard: amudai.Shard, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        shard.read(**options)


@pytest.mark.parametrize("location", [3, None, 1.5, ["x"]], ids=repr)
def test_locations(location: Any) -> None:
    with pytest.raises(InvalidArgument, match="location: expected a path or a URL"):
        amudai.open(location)


@pytest.mark.parametrize("schema", [3, {"status": 3}, {3: pa.int64()}, [("status", pa.int64())]], ids=repr)
def test_schemas(schema: Any) -> None:
    with pytest.raises(InvalidArgument, match="schema: expected"):
        amudai.open(Path(__file__).parents[2] / SAMPLE, schema=schema)


def test_bloom_and_sizes(tmp_path: Path) -> None:
    for options in ({"bloom": 3}, {"bloom": "n"}, {"memory_limit": -1}, {"memory_limit": True}, {"stripe_bytes": 1.5}):
        with pytest.raises(InvalidArgument, match="expected"):
            amudai.write({"n": [1]}, tmp_path / "x.amudai.shard", **options)  # type: ignore[arg-type]


# ---- depth ----


def _nested(levels: int) -> amudai.Predicate:
    found = c("status") == 0
    for at in range(levels):
        found = (found | (c("status") == at)) & (c("level") != "q")
    return found


def test_predicates_that_are_too_deep(shard: amudai.Shard) -> None:
    assert shard.count(_nested(50)) == 0
    with pytest.raises(InvalidArgument, match="at most 100 levels"):
        _nested(51)


@pytest.mark.slow
def test_long_chains_are_not_deep(shard: amudai.Shard) -> None:
    anything = c("status") == 200
    everything = pc.field("status") == 200
    for at in range(2000):
        anything = anything | (c("status") == at + 1000)
        everything = everything | (pc.field("status") == at + 1000)
    assert shard.count(anything) == shard.count(everything) == shard.count("status = 200")
    negated = pc.field("status") == 200
    for _ in range(2001):
        negated = ~negated
    assert shard.count(negated) == shard.count("status != 200")


def test_values_that_are_too_deep_to_print() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(InvalidArgument, match="expected a value to compare"):
        _ = c("status") == deep


# ---- values that Python cannot hold ----


def test_a_time_outside_of_the_day(tmp_path: Path) -> None:
    late = pa.array([86_400_000_000 + 5, 3], pa.int64()).cast(pa.time64("us"))
    shard = amudai.write(pa.table({"t": late}), tmp_path / "t.amudai.shard")
    assert shard["t"].stats.max == 86_400_000_005
    assert "86400000005" in repr(shard["t"].stats)
    assert "86400000005" in shard.tree()
    assert shard.read()["t"].chunk(0).cast(pa.int64()).to_pylist() == [86_400_000_005, 3]


def test_bitmaps_end_with_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is not cleared before values are decoded into it: what it held before must not be seen."""
    from amudai.encoding import decode

    allocate = decode.allocate
    forge = Forge.of({"n": numbers([1, None, 3, *range(8)], "i8"), "m": numbers([None, 5] * 5 + [7], "i2")})
    seen = []
    for filling in (0x00, 0xFF, 0xA5):

        def filled(*arguments: Any, filling: int = filling) -> tuple[pa.Buffer, Any]:
            buffer, values = allocate(*arguments)
            np.frombuffer(buffer, np.uint8)[:] = filling
            return buffer, values

        monkeypatch.setattr(decode, "allocate", filled)
        table = specimen_of(forge).open().read()
        seen.append([buffer.to_pybytes() for column in table.columns for buffer in column.chunk(0).buffers() if buffer])
    assert seen[0] == seen[1] == seen[2]
    assert [buffer[1:] for buffer in seen[0] if len(buffer) == 3] == [b"\x07\x00", b"\x06\x00"]
