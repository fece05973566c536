"""Deleting rows and taking deletes back, against a list of rows."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import HashIndex, Predicate, TermIndex, col
from amudai.plan import shard_plan
from amudai.shard import StripeReader
from amudai.storage import MemoryStore
from tests.edit.ways import COUNTS, WAYS
from tests.effort import examples

WORDS = ("disk", "net", "fan")
INDEXES = [TermIndex("t"), HashIndex("k"), TermIndex("t", level="stripe", tokenizer="word")]

Row = dict[str, Any]


def rows_of(count: int) -> list[Row]:
    return [{"n": n, "t": f"{WORDS[n % 3]} {n}", "k": None if n % 7 == 0 else f"key {n % 5}"} for n in range(count)]


def table_of(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), pa.schema([("n", pa.int64()), ("t", pa.string()), ("k", pa.string())]))


# Predicates, each with the same question in Python.
ASKED: list[tuple[Predicate | str, Callable[[Row], bool]]] = [
    (col("t").has("disk"), lambda row: row["t"].startswith("disk")),
    (col("k") == "key 3", lambda row: row["k"] == "key 3"),
    ("n < 10", lambda row: row["n"] < 10),
    (col("t").has("net") & (col("n") >= 5), lambda row: row["t"].startswith("net") and row["n"] >= 5),
    (col("k").is_null(), lambda row: row["k"] is None),
    ("n > 100000", lambda row: False),
    (~col("k").isin(["key 1", "key 2"]), lambda row: row["k"] not in (None, "key 1", "key 2")),
]


def check(shard: amudai.Shard, rows: Sequence[Row], gone: set[int]) -> None:
    """Every way to the rows of a shard gives those that are not in `gone`."""
    live = [row for row in rows if row["n"] not in gone]
    numbers = [row["n"] for row in live]
    assert shard.read().to_pylist() == live
    for name, way in WAYS.items():
        if name != "tasks":
            assert way(shard) == numbers, name
    for name, count in COUNTS.items():
        assert count(shard) == len(live), name
    assert shard.scan().positions().tolist() == numbers
    assert shard.num_positions == len(rows)
    assert sum(stripe.num_rows for stripe in shard.stripes) == len(live)
    for where, holds in ASKED:
        expected = [row["n"] for row in live if holds(row)]
        assert shard.scan(["n"], where=where).to_table()["n"].to_pylist() == expected
        assert shard.count(where) == len(expected)
        assert shard.scan(where=where, limit=2).positions().tolist() == expected[:2]
        everything = [row["n"] for row in rows if holds(row)]
        assert shard.scan(where=where, include_deleted=True).positions().tolist() == everything
    for position in sorted(gone)[:3]:
        with pytest.raises(amudai.InvalidArgument, match=f"expected rows that are not deleted, found {position} "):
            shard.take([position])
        assert shard.take([position], include_deleted=True).to_pylist() == [rows[position]]
    assert shard.read(include_deleted=True).to_pylist() == list(rows)
    assert shard.verify().ok


Step = tuple[str, Any]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("delete"), st.lists(st.integers(0, 10**6), max_size=12)),
        st.tuples(st.just("delete where"), st.integers(0, len(ASKED) - 1)),
        st.tuples(st.just("undelete"), st.lists(st.integers(0, 10**6), max_size=12)),
        st.tuples(st.just("undelete where"), st.integers(0, len(ASKED) - 1)),
        st.tuples(st.just("undelete all"), st.none()),
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.slow
@examples(25)
@given(
    count=st.integers(1, 90),
    stripe_rows=st.sampled_from([7, 64, None]),
    layout=st.sampled_from(["single", "two-level"]),
    has_indexes=st.booleans(),
    steps=STEPS,
)
def test_any_sequence_of_deletes(
    count: int, stripe_rows: int | None, layout: Any, has_indexes: bool, steps: list[Step]
) -> None:
    rows = rows_of(count)
    store = MemoryStore()
    indexes = INDEXES if has_indexes else []
    shard = amudai.write(table_of(rows), "a/0", store=store, stripe_rows=stripe_rows, layout=layout, indexes=indexes)
    gone: set[int] = set()
    for number, (verb, what) in enumerate(steps, 1):
        to = f"a/{number}"
        if verb.endswith("where"):
            where, holds = ASKED[what]
            chosen = {row["n"] for row in rows if holds(row)}
            change = amudai.delete if verb == "delete where" else amudai.undelete
            shard = change(shard, where, to=to, store=store)
        elif verb == "undelete all":
            chosen = set(range(count))
            shard = amudai.undelete(shard, to=to, store=store)
        else:
            positions = [each % count for each in what]
            chosen = set(positions)
            change = amudai.delete if verb == "delete" else amudai.undelete
            shard = change(shard, positions=positions, to=to, store=store)
        gone = gone | chosen if verb.startswith("delete") else gone - chosen
        check(shard, rows, gone)
        assert (shard._reader.deleted_marker is None) == (not gone)
    check(amudai.open("a/0", store=store), rows, set())


@pytest.mark.slow
def test_quickly_in_both_layouts(tmp_path: Path) -> None:
    rows = rows_of(40)
    for layout in ("single", "two-level"):
        first = tmp_path / f"{layout}.amudai.shard"
        shard = amudai.write(table_of(rows), first, stripe_rows=16, layout=layout, indexes=INDEXES)  # type: ignore[arg-type]
        fewer = amudai.delete(shard, col("t").has("disk"), to=tmp_path / f"{layout} 1.amudai.shard")
        gone = {row["n"] for row in rows if row["t"].startswith("disk")}
        check(fewer, rows, gone)
        more = amudai.undelete(fewer, positions=[0, 3, 4], to=tmp_path / f"{layout} 2.amudai.shard")
        check(more, rows, gone - {0, 3})
        check(amudai.open(first), rows, set())
        check(fewer, rows, gone)  # still open, still the same


def test_a_stripe_without_deletes_has_no_markers(tmp_path: Path) -> None:
    shard = amudai.write(table_of(rows_of(30)), tmp_path / "a", stripe_rows=10)
    fewer = amudai.delete(shard, positions=[12, 13], to=tmp_path / "b")
    marker = fewer._reader.deleted_marker
    assert marker is not None
    assert (marker.name, str(marker)) == ("", "boolean")
    assert [stripe.descriptor(marker) is None for stripe in fewer._reader.stripes] == [True, False, True]
    assert [stripe.num_rows for stripe in fewer.stripes] == [10, 8, 10]
    # The new root has all markers. It does not need the root before it.
    amudai.delete(fewer, positions=[0], to=tmp_path / "c").close()
    (tmp_path / "b").unlink()
    again = amudai.open(tmp_path / "c")
    assert again.verify().ok
    assert again.scan().positions().tolist() == [n for n in range(30) if n not in (0, 12, 13)]


def test_deleting_nothing_gives_a_shard_without_markers(tmp_path: Path) -> None:
    shard = amudai.write(table_of(rows_of(5)), tmp_path / "a")
    for number, options in enumerate(({"where": "n > 99"}, {"positions": []})):
        same = amudai.delete(shard, to=tmp_path / f"{number}", **options)  # type: ignore[arg-type]
        check(same, rows_of(5), set())
        assert same._reader.deleted_marker is None


def test_everything_can_be_deleted(tmp_path: Path) -> None:
    shard = amudai.write(table_of(rows_of(20)), tmp_path / "a", stripe_rows=8, indexes=INDEXES)
    check(amudai.delete(shard, "n >= 0", to=tmp_path / "b"), rows_of(20), set(range(20)))


@pytest.mark.parametrize(
    "positions",
    [[3, 1, 3], (1, 3), np.array([3, 1], np.uint8), pa.array([1, 3]), pa.chunked_array([[1], [3]]), range(1, 4, 2)],
    ids=lambda value: type(value).__name__,
)
def test_positions_are_any_integers(tmp_path: Path, positions: Any) -> None:
    shard = amudai.write({"n": list(range(5))}, tmp_path / "a")
    assert amudai.delete(shard, positions=positions, to=tmp_path / "b").scan().positions().tolist() == [0, 2, 4]


def test_wrong_arguments(tmp_path: Path) -> None:
    shard = amudai.write({"n": list(range(5))}, tmp_path / "a")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "delete: expected where or positions, found neither"),
        ({"where": "n = 1", "positions": [1]}, "delete: expected where or positions, found both"),
        ({"positions": [5]}, "rows: expected 0..4, found 5"),
        ({"positions": [-1]}, "rows: expected 0..4, found -1"),
        ({"positions": [0.5]}, "rows: expected a sequence of integers"),
        ({"where": "m = 1"}, "column 'm'"),
    ]
    for options, message in wrong:
        with pytest.raises(amudai.InvalidArgument, match=message):
            amudai.delete(shard, to=tmp_path / "b", **options)
    with pytest.raises(amudai.InvalidArgument, match="undelete: expected where, positions or neither, found both"):
        amudai.undelete(shard, "n = 1", [1], to=tmp_path / "b")
    with pytest.raises(amudai.InvalidArgument, match="to: expected another place than the shard"):
        amudai.delete(shard, "n = 1", to=tmp_path / "a", overwrite=True)
    with pytest.raises(amudai.StorageError):
        amudai.delete(shard, "n = 1", to=tmp_path / "a" / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]
    amudai.delete(shard, "n = 1", to=tmp_path / "b")
    with pytest.raises(amudai.StorageError):
        amudai.delete(shard, "n = 1", to=tmp_path / "b")
    assert amudai.delete(shard, "n = 2", to=tmp_path / "b", overwrite=True).scan().positions().tolist() == [0, 1, 3, 4]


def test_indexes_that_decide_everything_know_nothing_of_deletes(tmp_path: Path) -> None:
    """No value is read to count a word, and the deleted rows are still left out."""
    shard = amudai.write(table_of(rows_of(3000)), tmp_path / "a", indexes=[TermIndex("t")])
    fewer = amudai.delete(shard, positions=range(0, 3000, 6), to=tmp_path / "b")
    scan = fewer.scan(where=col("t").has("disk"))
    assert scan.count() == 500
    told = scan.explain()
    assert (told.sure, told.doubtful, told.deleted) == (500, 0, 500)
    assert fewer["n"].stats.count == 3000  # statistics speak of all positions


def test_indexes_are_added_to_a_shard_with_deletes(tmp_path: Path) -> None:
    rows = rows_of(50)
    shard = amudai.write(table_of(rows), tmp_path / "a", stripe_rows=20)
    fewer = amudai.delete(shard, "n < 25", to=tmp_path / "b")
    check(amudai.add_indexes(fewer, INDEXES, tmp_path / "c"), rows, set(range(25)))


def test_written_again_without_the_deleted_rows(tmp_path: Path) -> None:
    shard = amudai.write(table_of(rows_of(50)), tmp_path / "a")
    fewer = amudai.delete(shard, "n < 25", to=tmp_path / "b")
    assert amudai.write(fewer, tmp_path / "c").num_positions == 25


@pytest.mark.slow
def test_tasks_in_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_plan, "_LEAST_TASK_ROWS", 64)
    shard = amudai.write(table_of(rows_of(900)), tmp_path / "a", stripe_rows=400, indexes=INDEXES)
    fewer = amudai.delete(shard, col("t").has("fan"), to=tmp_path / "b")
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        for options in ({}, {"where": col("t").has("net") | (col("n") < 90)}, {"include_deleted": True}):
            scan = fewer.scan(["n"], **options)  # type: ignore[arg-type]
            tables = list(pool.map(amudai.Task.to_table, scan.tasks(4)))
            assert len(tables) > 2
            assert pa.concat_tables(tables).equals(scan.to_table())
    assert fewer.count() == 600


@pytest.mark.slow
def test_large_deletes_are_bitmaps_and_small_ones_few_bytes(tmp_path: Path) -> None:
    count = 200_000
    shard = amudai.write({"n": np.arange(count)}, tmp_path / "a")
    random = np.random.default_rng(5)
    some = random.choice(count, count // 1000, replace=False)
    fewer = amudai.delete(shard, positions=some, to=tmp_path / "b")
    assert (tmp_path / "b").stat().st_size < 5000
    expected = np.setdiff1d(np.arange(count), some)
    assert np.array_equal(fewer.read()["n"].to_numpy(), expected)
    many = random.choice(count, count // 3, replace=False)
    half = amudai.delete(fewer, positions=many, to=tmp_path / "c")
    assert np.array_equal(half["n"].read().to_numpy(), np.setdiff1d(expected, many))
    assert half.count("n >= 100000") == int((np.setdiff1d(expected, many) >= 100_000).sum())
    assert half._reader.deleted._words is not None


def test_counters_and_indexes_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"n": list(range(1000)), "text": [f"word{row % 3}" for row in range(1000)]}
    whole = amudai.write(rows, tmp_path / "whole.amudai.shard", indexes=[amudai.TermIndex("text")], stripe_rows=300)
    gone = {3, 4, 5, 299, 300, 999}
    path = tmp_path / "fewer.amudai.shard"
    amudai.delete(whole, positions=sorted(gone), to=path)
    with amudai.open(path) as fewer:
        expected = sum(row % 3 == 0 for row in range(1000) if row not in gone)
        assert fewer.count(amudai.col("text").has("word0")) == expected
        assert fewer.count(amudai.col("text").has("word0"), include_deleted=True) == 334
        assert fewer.scan(where=amudai.col("text").has("word0"), limit=5).count() == 5
        assert fewer.scan(limit=10).count() == 10
        assert fewer.count(rows=slice(0, 10)) == 7
        assert fewer.count(include_deleted=True) == 1000

    def refuse(*_: object) -> None:
        raise AssertionError("markers were read")

    monkeypatch.setattr(StripeReader, "marked", refuse)
    with amudai.open(path) as fewer:
        scan = fewer.scan()
        assert scan.count() == fewer.count() == 994
        with pytest.raises(AssertionError, match="markers were read"):
            fewer.count(rows=slice(0, 10))


def test_a_count_compares_counters_with_statistics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = amudai.write({"n": [1, 2, 3]}, tmp_path / "whole.amudai.shard")
    fewer = amudai.delete(whole, positions=[1], to=tmp_path / "fewer.amudai.shard")
    monkeypatch.setattr("amudai.shard.reader.true_count", lambda _: 2)
    with pytest.raises(amudai.CorruptedData, match="expected 1 markers, found statistics of 2"):
        fewer.count()


PATTERNS: dict[str, Sequence[int]] = {
    "single": [5],
    "the first and the last": [0, 99_999],
    "whole bytes": [*range(8, 16), *range(64, 80)],
    "across bytes": [*range(5, 19), *range(4093, 4101), *range(99_990, 100_000)],
    "across blocks": range(30_000, 40_000),
    "every second of some": range(200, 700, 2),
    "far apart": range(7, 100_000, 997),
    "all but one": [n for n in range(100_000) if n != 77],
    "every third": range(0, 100_000, 3),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_markers_are_found_without_being_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    gone = np.array(PATTERNS[pattern])
    whole = amudai.write({"n": np.arange(100_000)}, tmp_path / "whole.amudai.shard")
    path = tmp_path / "fewer.amudai.shard"
    amudai.delete(whole, positions=gone, to=path)
    found = {}
    for lane in ("short", "usual"):
        if lane == "usual":
            monkeypatch.setattr("amudai.shard.stripe.marked_slots", lambda *_: None)
        with amudai.open(path) as shard:
            assert np.array_equal(shard["n"].read().to_numpy(), np.setdiff1d(np.arange(100_000), gone))
            found[lane] = shard._reader.deleted.positions().tolist()
    assert found["short"] == found["usual"] == gone.tolist()


def test_damaged_markers_are_named(tmp_path: Path) -> None:
    whole = amudai.write({"n": np.arange(10_000)}, tmp_path / "whole.amudai.shard")
    path = tmp_path / "fewer.amudai.shard"
    amudai.delete(whole, positions=[3, 4, 7000], to=path)
    with amudai.open(path) as shard:
        layout = shard._reader.stripes[0].column(shard._reader.deleted_marker).describe()
    data = bytearray(path.read_bytes())
    data[layout.buffers[0].start + 9] ^= 1
    path.write_bytes(data)
    with (
        amudai.open(path) as shard,
        pytest.raises(amudai.CorruptedData, match=r"block checksum.*field Kusto\.Amudai\.DeletedRecord"),
    ):
        shard.read()


def test_few_deletes_among_many_rows_of_every_layout(tmp_path: Path) -> None:
    """Blocks are decoded with the rows between, and these left out: numbers, dictionaries, times, bits, lists."""
    rows = 30_000
    pick = np.random.default_rng(3)
    lists = [None if n % 11 == 0 else [f"tag {each % 7}" for each in range(n, n + n % 4)] for n in range(rows)]
    table = pa.table(
        {
            "status": pa.array(pick.choice([200, 404, 500, 2_000_000_000], rows), pa.int64()),
            "number": pa.array(pick.integers(0, 1 << 40, rows), mask=pick.random(rows) < 0.1),
            "time": pa.array(pick.integers(0, 1 << 50, rows), pa.timestamp("us")),
            "flag": pa.array(pick.random(rows) < 0.3),
            "word": pa.array(pick.choice(WORDS, rows)),
            "tags": pa.array(lists, pa.list_(pa.string())),
        }
    )
    gone = np.unique(np.concatenate(([0, 1, rows - 1], pick.choice(rows, 40, replace=False))))
    whole = amudai.write(table, tmp_path / "a.amudai.shard", stripe_rows=20_000)
    shard = amudai.delete(whole, positions=gone, to=tmp_path / "b.amudai.shard")
    live = table.filter(np.isin(np.arange(rows), gone, invert=True))
    assert shard.read().equals(live)
    found = shard.scan(where="status == 404 and flag == true").to_table()
    assert found.equals(live.filter((pc.field("status") == 404) & pc.field("flag")))
