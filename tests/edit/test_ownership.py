"""Every order of write, derive and overwrite: no operation on one name harms a shard that does not refer to it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai import AmudaiError, TermIndex, col

NAMES = ("a", "b", "c")
LAYOUTS = ("single", "two-level")
NOW = timedelta(0)


def table(version: int) -> pa.Table:
    """Other rows for each version, and another number of them."""
    count = 30 + version
    return pa.table(
        {"n": range(version * 1000, version * 1000 + count), "t": [f"word{version} x{n}" for n in range(count)]}
    )


@dataclass(frozen=True)
class File:
    """A file with bytes that a shard may need: a root, or the stripe file of one."""

    kind: str
    name: str
    version: int


@dataclass(frozen=True)
class Model:
    """A shard as it should be: its rows, the file that holds them, and the files that hold its indexes."""

    version: int  # of its rows
    rows: File
    indexes: frozenset[File] = frozenset()


@dataclass(frozen=True)
class State:
    """The shards of a folder as they should be, and the files that are there."""

    shards: tuple[tuple[str, Model], ...] = ()
    there: frozenset[File] = frozenset()
    steps: int = 0

    def get(self, name: str) -> Model | None:
        return dict(self.shards).get(name)

    def with_shard(self, name: str, model: Model) -> State:
        """The state after a root of this name was published; the old root is gone."""
        there = {file for file in self.there if (file.kind, file.name) != ("root", name)}
        there.add(File("root", name, self.steps))
        if model.rows.version == self.steps:
            there.add(model.rows)
        shards = {**dict(self.shards), name: model}
        return State(tuple(sorted(shards.items())), frozenset(there), self.steps)

    def collected(self) -> State:
        """The state after garbage collection of every name: files of stripes that no shard uses are gone."""
        used = {model.rows for _, model in self.shards}
        kept = {file for file in self.there if file.kind == "root" or file in used}
        return replace(self, there=frozenset(kept))


@dataclass(frozen=True)
class Step:
    """`write` a name, or `derive` it from another."""

    to: str
    layout: str = ""
    source: str = ""


def path(folder: Path, name: str) -> Path:
    return folder / f"{name}.amudai.shard"


def steps(state: State) -> Iterator[Step]:
    """All steps that can follow; names come into use in their order, as they mean nothing."""
    known = [name for name, _ in state.shards]
    usable = NAMES[: len(known) + 1]
    for name in usable:
        yield from (Step(name, layout=layout) for layout in LAYOUTS)
        yield from (Step(name, source=source) for source in known if source != name)


def expected(state: State, step: Step) -> State | None:
    """What a step should lead to; None where it must be refused."""
    state = replace(state, steps=state.steps + 1)
    number = state.steps
    if not step.source:
        rows = File("root" if step.layout == "single" else "stripe", step.to, number)
        return state.with_shard(step.to, Model(number, rows))
    source = state.get(step.source)
    assert source is not None
    needed = {source.rows} | source.indexes
    if not needed <= state.there or any((file.kind, file.name) == ("root", step.to) for file in needed):
        return None
    return state.with_shard(
        step.to, Model(source.version, source.rows, source.indexes | {File("root", step.to, number)})
    )


def run(folder: Path, step: Step, number: int) -> None:
    if step.source:
        amudai.add_indexes(path(folder, step.source), [TermIndex("t")], path(folder, step.to), overwrite=True)
    else:
        options: dict[str, Any] = {"layout": step.layout, "overwrite": True, "threads": 1}
        amudai.write(table(number), path(folder, step.to), **options)


def outcome(scan: amudai.Scan) -> pa.Table | AmudaiError:
    try:
        return scan.to_table()
    except AmudaiError as error:
        return error


def names_a_file(error: AmudaiError, folder: Path) -> bool:
    return ".amudai." in str(error.place.get("url")) and str(folder) in str(error.place["url"])


def check(folder: Path, state: State) -> None:
    """Every shard gives exactly its rows, or an error that names the file which is not there any more."""
    for name, model in state.shards:
        shard = amudai.open(path(folder, name), threads=1)
        rows = table(model.version)
        if model.rows in state.there:
            assert shard.read().equals(rows), f"{name}: other rows"
        else:
            with pytest.raises(amudai.StorageError, match=r"made.*(overwritten|found none)") as caught:
                shard.read()
            wanted = f"{model.rows.name}.amudai.shard" if model.rows.kind == "root" else ".amudai.stripe"
            assert str(caught.value.place["url"]).endswith(wanted)
        scan = shard.scan(["n"], where=col("t").has(f"word{model.version}"))
        if {model.rows, *model.indexes} <= state.there:
            assert scan.to_table()["n"].equals(rows["n"])
        else:
            found = outcome(scan)  # an index of a root that is there may answer
            assert names_a_file(found, folder) if isinstance(found, AmudaiError) else found["n"].equals(rows["n"])


def walk(folder: Path, state: State, depth: int, collect: bool, counts: list[int]) -> None:
    if depth == 0:
        return
    for step in steps(state):
        counts[0] += 1
        copy = folder.parent / f"{folder.name}{counts[0]}"
        shutil.copytree(folder, copy)
        after = expected(state, step)
        if after is None:
            before = {each.name: each.read_bytes() for each in copy.iterdir()}
            with pytest.raises(AmudaiError):
                run(copy, step, state.steps + 1)
            assert {each.name: each.read_bytes() for each in copy.iterdir()} == before
            after = state
            counts[1] += 1
        else:
            old = state.get(step.to)
            readers = []
            if old is not None and old.rows in state.there:
                # One reader has only opened the shard, the other has read from it.
                readers = [amudai.open(path(copy, step.to), threads=1) for _ in range(1 if collect else 2)]
                readers[0].read()
            run(copy, step, after.steps)
            if collect:
                for name, _ in after.shards:
                    amudai.collect_garbage(path(copy, name), older_than=NOW)
                after = after.collected()
            for reader in readers:
                assert old is not None
                assert reader.read().equals(table(old.version)), "a reader lost the shard that it had opened"
        check(copy, after)
        walk(copy, after, depth - 1, collect, counts)
        shutil.rmtree(copy)


@pytest.mark.slow
@pytest.mark.parametrize("collect", [False, True], ids=["grace", "collected"])
def test_all_orders(tmp_path: Path, collect: bool) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    counts = [0, 0]
    walk(folder, State(), 3, collect, counts)
    assert counts[0] > 90
    assert counts[1] > 0, "no order was refused"


def test_the_shard_that_was_lost(tmp_path: Path) -> None:
    a, b = path(tmp_path, "a"), path(tmp_path, "b")
    amudai.write(table(1), a, layout="two-level")
    amudai.add_indexes(a, [TermIndex("t")], b)
    amudai.write(table(2), b, overwrite=True)
    amudai.collect_garbage(b, older_than=NOW)
    assert amudai.open(a).read().equals(table(1))
    assert amudai.open(b).read().equals(table(2))


def test_a_source_overwritten_by_one_of_the_same_size(tmp_path: Path) -> None:
    """Not even a value that changes no size, no bound and no sketch goes unnoticed."""
    a, b = path(tmp_path, "a"), path(tmp_path, "b")
    numbers = list(range(5000))
    words = ["w"] * 5000
    amudai.write({"n": numbers, "t": words}, a, profile="plain")
    amudai.add_indexes(a, [TermIndex("t")], b)
    numbers[7], numbers[8] = numbers[8], numbers[7]
    size = a.stat().st_size
    amudai.write({"n": numbers, "t": words}, a, profile="plain", overwrite=True)
    assert a.stat().st_size == size
    with pytest.raises(amudai.CorruptedData) as caught:
        amudai.open(b).read()
    assert str(caught.value).startswith("identity: expected ")
    assert f": the file was replaced or damaged (url file://{a}" in str(caught.value)


def test_a_source_overwritten_by_the_same_is_the_same(tmp_path: Path) -> None:
    a, b = path(tmp_path, "a"), path(tmp_path, "b")
    amudai.write(table(1), a)
    amudai.add_indexes(a, [TermIndex("t")], b)
    amudai.write(table(1), a, overwrite=True)
    assert amudai.open(b).read().equals(table(1))


def test_a_source_that_was_removed(tmp_path: Path) -> None:
    a, b = path(tmp_path, "a"), path(tmp_path, "b")
    amudai.write(table(1), a)
    amudai.add_indexes(a, [TermIndex("t")], b)
    a.unlink()
    with pytest.raises(
        amudai.StorageError, match="the file from which this shard was made: expected a file, found none"
    ):
        amudai.open(b).read()
    assert not amudai.open(b).verify().ok


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("old", LAYOUTS)
def test_an_interrupted_write_changes_nothing(
    tmp_path: Path, layout: Any, old: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = path(tmp_path, "a"), path(tmp_path, "b")
    amudai.write(table(1), a, layout=old)
    amudai.add_indexes(a, [TermIndex("t")], b)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    def batches() -> Iterator[pa.RecordBatch]:
        yield from table(2).to_batches()
        raise RuntimeError("the source broke")

    for target in (a, b):
        reader = pa.RecordBatchReader.from_batches(table(2).schema, batches())
        with pytest.raises(RuntimeError):
            amudai.write(reader, target, layout=layout, overwrite=True, stripe_rows=10)
        with monkeypatch.context() as patch:
            patch.setattr("amudai.storage.sealed._Local.publish", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                amudai.write(table(2), target, layout=layout, overwrite=True)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def _interrupted(publisher: object, root: str) -> None:
    raise KeyboardInterrupt
