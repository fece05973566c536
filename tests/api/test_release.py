"""Files of shards: how long a shard keeps them, and which columns a caller may name."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import amudai
from amudai import Shard, TermIndex, col

NOW = timedelta(0)
ROWS = {
    "number": list(range(4000)),
    "text": [f"word{n % 50} x{n}" for n in range(4000)],
    "list": [[n] for n in range(4000)],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.amudai.shard"
    amudai.write(ROWS, path, layout="two-level", stripe_rows=1000, indexes=[TermIndex("text")])
    return path


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Without the collector of cycles, only what is in no cycle is freed."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


USES: dict[str, Callable[[Shard], object]] = {
    "open": lambda shard: shard.num_rows,
    "read": lambda shard: shard.read(),
    "take": lambda shard: shard.take([1, 3999]),
    "begin to iterate": lambda shard: next(iter(shard)),
    "range": lambda shard: shard.count(where=(col("number") > 100) & (col("number") < 2500)),
    "term": lambda shard: shard.scan(where=col("text").has("word7")).to_table(),
    "explain": lambda shard: shard.scan(where=col("text").has("word7")).explain(),
    "stripes": lambda shard: [stripe.properties for stripe in shard.stripes],
    "field": lambda shard: (repr(shard["number"]), shard["text"].read(slice(0, 3))),
    "inspect": lambda shard: shard.inspect(blocks=True),
    "verify": lambda shard: shard.verify(),
}


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("use", USES)
def test_a_dropped_shard_closes_its_files_at_once(path: Path, use: str) -> None:
    before = _open_files(path.parent)
    shard = amudai.open(path)
    USES[use](shard)
    assert _open_files(path.parent) > before
    del shard
    assert _open_files(path.parent) == before


def _open_files(folder: Path) -> int:
    """How many descriptors, and mappings of files, this process has in a folder."""
    found = 0
    for number in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{number}").startswith(str(folder))
        except OSError:
            continue  # the descriptor of the listing itself
    return found


def test_a_stripe_keeps_its_shard(path: Path) -> None:
    stripe = amudai.open(path).stripes[1]
    assert (stripe.first_row, stripe.properties) == (1000, {})


def test_a_shard_that_was_overwritten_can_be_read_on(path: Path) -> None:
    """Nothing of it was read before, or only the first stripe, or everything."""
    fresh, begun, read = (amudai.open(path) for _ in range(3))
    begun.head(3)
    read.read()
    for first in (1, 2):
        other = {name: values[first:] for name, values in ROWS.items()}
        amudai.write(other, path, layout="two-level", stripe_rows=1000, overwrite=True)
        amudai.collect_garbage(path)
    for shard in (fresh, begun, read):
        assert shard.read().to_pydict() == ROWS
        assert shard.scan(where=col("text").has("word7")).positions().tolist() == list(range(7, 4000, 50))
    late = amudai.open(path)
    amudai.write(ROWS, path, layout="two-level", overwrite=True)
    assert amudai.collect_garbage(path, older_than=NOW)
    with pytest.raises(amudai.StorageError, match=r"\.amudai\.stripe"):
        late.read()


def test_a_column_that_is_named_twice_is_there_twice(path: Path) -> None:
    shard = amudai.open(path)
    names = ["number", "text", "number"]
    where = col("number") >= 3990
    for table in (
        shard.read(names),
        shard.to_table(names),
        shard.scan(names).to_table(),
        shard.scan(names, where=where).to_table(),
        shard.head(5, names),
        shard.take([3, 1, 3], names),
        shard.sample(5, columns=names, seed=1),
    ):
        assert table.column_names == names
        assert table.column(0).equals(table.column(2))
        assert table.num_rows
        numbers = table.column(0).to_pylist()
        assert table.column(1).to_pylist() == [ROWS["text"][number] for number in numbers]
    for batch in shard.scan(names, where=where):
        assert batch.schema.names == names
        assert batch.column(0).equals(batch.column(2))
    assert shard.read(["number", "number"]).to_pandas().columns.tolist() == ["number", "number"]


def test_members_of_a_struct_are_named_once(tmp_path: Path) -> None:
    rows = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    shard = amudai.write({"s": rows}, tmp_path / "s.amudai.shard")
    assert shard.read(["s.a", "s.b", "s.a"]).column("s").to_pylist() == rows
    assert shard.read(["s.a", "s"]).column_names == ["s"]
    assert [column.to_pylist() for column in shard.read(["s", "s"]).columns] == [rows, rows]
