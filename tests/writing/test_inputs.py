"""Everything that can be written, and what is said while it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import amudai
from amudai.api.writing import size_of

TABLE = pa.table({"n": [1, None, 3], "t": ["a", "b", None]})


class Capsule:
    """An object that supports the PyCapsule protocol and nothing else."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return TABLE.__arrow_c_stream__(requested_schema)


class BatchCapsule:
    def __arrow_c_array__(self, requested_schema: object | None = None) -> object:
        return TABLE.to_batches()[0].__arrow_c_array__(requested_schema)


def _dataset(folder: Path) -> Any:
    pyarrow.parquet.write_table(TABLE, folder / "t.parquet")
    return pyarrow.dataset.dataset(folder / "t.parquet")


KINDS: dict[str, Callable[[Path], Any]] = {
    "dict": lambda _: TABLE.to_pydict(),
    "dict of arrays": lambda _: {"n": TABLE["n"], "t": TABLE["t"].combine_chunks()},
    "table": lambda _: TABLE,
    "batch": lambda _: TABLE.to_batches()[0],
    "reader": lambda _: TABLE.to_reader(max_chunksize=2),
    "dataset": _dataset,
    "scanner": lambda folder: _dataset(folder).scanner(),
    "generator": lambda _: (batch for batch in TABLE.to_batches(max_chunksize=1)),
    "list of tables": lambda _: [TABLE[:1], TABLE[1:]],
    "stream": lambda _: Capsule(),
    "array": lambda _: BatchCapsule(),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind(name: str, tmp_path: Path) -> None:
    shard = amudai.write(KINDS[name](tmp_path), tmp_path / "t.amudai.shard")
    assert shard.read().equals(TABLE)
    with amudai.ShardWriter(tmp_path / "u.amudai.shard", TABLE.schema) as out:
        out.write(KINDS[name](tmp_path))
        out.write(TABLE)
        assert out.num_rows == 6
    assert amudai.open(tmp_path / "u.amudai.shard").read().equals(pa.concat_tables([TABLE, TABLE]))


def test_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [1, 2, 3], "t": ["a", "b", None]})
    shard = amudai.write(frame, tmp_path / "t.amudai.shard")
    assert shard.read().to_pydict() == {"n": [1, 2, 3], "t": ["a", "b", None]}


def test_polars(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"n": [1, None, 3], "t": ["a", "b", None], "l": [[1], [], None]})
    shard = amudai.write(frame, tmp_path / "t.amudai.shard")
    assert polars.from_arrow(shard.read()).equals(frame)


def test_a_shard_from_a_shard(tmp_path: Path) -> None:
    first = amudai.write(TABLE, tmp_path / "a.amudai.shard")
    second = amudai.write(first, tmp_path / "b.amudai.shard")
    assert second.read().equals(TABLE)


def test_an_iterable_is_streamed(tmp_path: Path) -> None:
    alive: list[int] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for at in range(5):
            alive.append(out.num_rows)
            yield pa.record_batch({"n": [at]})

    with amudai.ShardWriter(tmp_path / "t.amudai.shard", pa.schema([("n", pa.int64())])) as out:
        out.write(batches())
    assert alive == [0, 1, 2, 3, 4]


def test_properties(tmp_path: Path) -> None:
    bag = {"owner": "ops", "version": 3, "ratio": -0.5, "final": True, "none": None, "raw": b"\0\xff"}
    assert amudai.write(TABLE, tmp_path / "t.amudai.shard", properties=bag).properties == bag


@pytest.mark.parametrize("profile", ["plain", "balanced"])
@pytest.mark.parametrize("stripe_rows", [None, 70_000])
def test_progress(profile: str, stripe_rows: int | None, tmp_path: Path) -> None:
    """Numbers only grow, also where a stripe ends whose values turned out to be all the same."""
    count = 200_000
    columns = {"n": np.arange(count), "same": np.full(count, 7)}
    table = pa.concat_tables([pa.table(columns).slice(at, 66_000) for at in range(0, count, 66_000)])
    seen: list[amudai.Progress] = []
    options: dict[str, Any] = {"profile": profile, "stripe_rows": stripe_rows, "progress": seen.append}
    shard = amudai.write(table, tmp_path / "t.amudai.shard", **options)
    assert seen[-1].rows == shard.num_rows == count
    assert {each.total_rows for each in seen} == {count}
    for name in ("rows", "bytes_in", "bytes_out", "seconds"):
        numbers = [getattr(each, name) for each in seen]
        assert numbers == sorted(numbers), name


def test_a_bar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    amudai.write(TABLE, tmp_path / "t.amudai.shard", progress=True)
    assert "3" in capsys.readouterr().out
    amudai.write(TABLE, tmp_path / "u.amudai.shard", progress=False)
    assert capsys.readouterr().out == ""


def test_an_error_of_the_report_ends_it(tmp_path: Path) -> None:
    def report(progress: amudai.Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        amudai.write(TABLE, tmp_path / "t.amudai.shard", progress=report)
    assert list(tmp_path.iterdir()) == []


def test_stripes(tmp_path: Path) -> None:
    table = pa.table({"n": list(range(1000))})
    shard = amudai.write(table, tmp_path / "a.amudai.shard", stripe_rows=300)
    assert [stripe.num_rows for stripe in shard.stripes] == [300, 300, 300, 100]
    assert len(amudai.write(table, tmp_path / "b.amudai.shard", stripe_rows=1000).stripes) == 1
    batches = table.to_batches(max_chunksize=100)
    cut = amudai.write(batches, tmp_path / "c.amudai.shard", stripe_bytes=1, profile="plain")
    assert cut.num_rows == 1000
    assert cut.read().equals(table)


@pytest.mark.parametrize(
    ("size", "expected"),
    [(0, 0), ("0", 0), ("1 kb", 1000), ("1.5MiB", 3 << 19), (" 2 GB ", 2 * 10**9), ("7B", 7)],
)
def test_sizes(size: int | str, expected: int) -> None:
    assert size_of(size) == expected


@pytest.mark.parametrize("size", ["", "MB", "-1MB", "1e3", "1 2", "1TBB"])
def test_no_sizes(size: str) -> None:
    with pytest.raises(amudai.InvalidArgument):
        size_of(size)
