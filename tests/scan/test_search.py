"""Is the answer of a scan always that of reading everything?"""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai import Predicate, col
from amudai.scan.run import ScanRun, StripePart
from tests.effort import examples
from tests.oracle.predicates import rows_of
from tests.scan.tables import predicates, tables

INDEXES = [
    amudai.TermIndex("message", "level", "http.path"),
    amudai.TermIndex("tags", tokenizer="word", collation="case_insensitive"),
    amudai.TermIndex("code", tokenizer="trivial"),
    amudai.TermIndex("tags", "http.path", granularity="element", level="stripe"),
    amudai.HashIndex("level", "n", "f", "t", "http.status", "tags"),
    amudai.HashIndex("code", "tags", level="stripe"),
]
NUMBERS = itertools.count()


@st.composite
def writings(draw: st.DrawFn) -> dict[str, Any]:
    """Ways to write a shard."""
    return {
        "profile": draw(st.sampled_from(["plain", "minimal_compression", "balanced", "high_compression"])),
        "layout": draw(st.sampled_from(["single", "two-level"])),
        "stripe_rows": draw(st.sampled_from([None, None, 7, 300])),
        "indexes": draw(st.lists(st.sampled_from(INDEXES), unique=True, max_size=4)),
        "bloom": draw(st.sampled_from([[], ["level", "message"]])),
    }


@pytest.mark.slow
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), wheres=st.lists(predicates(), min_size=1, max_size=6), writing=writings(), data=st.data())
def test_any_predicate_gives_the_rows_of_a_full_read(
    tmp_path: Path, table: pa.Table, wheres: list[Predicate], writing: dict[str, Any], data: st.DataObject
) -> None:
    if writing["stripe_rows"] is not None:
        # At most a dozen stripes: hundreds take minutes, and show no more.
        writing["stripe_rows"] = max(writing["stripe_rows"], -(-table.num_rows // 12))
    shard = amudai.write(table, tmp_path / f"{next(NUMBERS)}.amudai.shard", **writing)
    rows = table.to_pylist()
    for where in wheres:
        expected = rows_of(where, rows)
        threads = data.draw(st.sampled_from([1, 3]))
        assert shard.scan(where=where, threads=threads).positions().tolist() == expected, where
        assert shard.scan(where=where).count() == len(expected)
        scan = shard.scan(["n", "message"], where=where)
        wanted = table.select(["n", "message"]).take(pa.array(expected, pa.int64()))
        assert scan.to_table().equals(wanted)
        assert pa.Table.from_batches(list(scan), scan.schema).equals(wanted)
        limit = data.draw(st.integers(0, 5))
        assert shard.scan(where=where, limit=limit).positions().tolist() == expected[:limit]
        explained = scan.explain()
        assert explained.found == len(expected)
        assert explained.sure <= len(expected) <= explained.sure + explained.doubtful
        start, stop = sorted((data.draw(st.integers(0, len(rows))), data.draw(st.integers(0, len(rows)))))
        inside = [row for row in expected if start <= row < stop]
        size = data.draw(st.sampled_from([1, 2, 7, 100]))
        some = shard.scan(["n", "message"], where, slice(start, stop), batch_rows=size, threads=threads)
        wanted = table.select(["n", "message"]).take(pa.array(inside, pa.int64()))
        assert some.positions().tolist() == inside
        assert some.to_table().equals(wanted)
        batches = list(some)
        assert all(0 < batch.num_rows <= size for batch in batches)
        assert pa.Table.from_batches(batches, some.schema).equals(wanted)
        assert some.explain().total_rows == stop - start
        few = shard.scan(["n"], where, range(start, stop), limit=limit, batch_rows=size)
        assert few.positions().tolist() == inside[:limit]
        assert sum(batch.num_rows for batch in few) == few.count() == len(inside[:limit])


@pytest.mark.slow
def test_large_parts_and_threads_keep_the_order(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    count = 400_000
    table = pa.table({"n": rng.integers(0, 1000, count), "word": rng.choice(["red", "green", "blue"], count)})
    shard = amudai.write(table, tmp_path / "x.amudai.shard", stripe_rows=150_000)
    where = (col("n") < 500) & col("word").has("GREEN")
    expected = np.flatnonzero((table["n"].to_numpy() < 500) & (table["word"].to_numpy(zero_copy_only=False) == "green"))
    for threads in (1, 4):
        scan = shard.scan(where=where, threads=threads)
        assert scan.positions().tolist() == expected.tolist()
        assert scan.to_table().equals(table.take(pa.array(expected)))
        assert pa.Table.from_batches(list(scan)).equals(table.take(pa.array(expected)))
    few = shard.scan(where=where, limit=10)
    assert few.positions().tolist() == expected[:10].tolist()
    assert few.explain().leaves[0].checked < count // 2, "a limit stops early"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (None, [150, 150, 150, 50, 100]),
        (col("n") >= 0, [150, 150, 150, 50, 100]),
        (col("odd") == 1, [150, 100, 50]),
        (col("n") >= 790, [10, 100]),
    ],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_batches_have_at_most_the_rows_asked_for(
    where: Predicate | None, expected: list[int], threads: int, tmp_path: Path
) -> None:
    table = pa.table({"n": range(1000), "odd": [n % 2 for n in range(1000)]})
    shard = amudai.write(table, tmp_path / "x.amudai.shard", stripe_rows=800)
    scan = shard.scan(where=where, rows=slice(300, 900), batch_rows=150, threads=threads)
    batches = list(scan)
    kept = [n for n in range(300, 900) if where is None or n in shard.scan(["n"], where).positions()]
    assert [n for batch in batches for n in batch["n"].to_pylist()] == kept
    assert [batch.num_rows for batch in batches] == expected
    assert scan.count() == len(kept)


def test_a_scan_of_some_rows_reads_no_others(tmp_path: Path) -> None:
    noise = np.random.default_rng(3)
    table = pa.table({"n": noise.random(200_000), "s": [f"{value:x}" for value in noise.integers(0, 1 << 60, 200_000)]})
    amudai.write(table, tmp_path / "x.amudai.shard", stripe_rows=50_000, layout="two-level")
    shard = amudai.open(tmp_path / "x.amudai.shard")
    scan = shard.scan(["n"], col("s").contains("7f"), slice(60_000, 61_000))
    expected = [row for row in range(60_000, 61_000) if "7f" in table["s"][row].as_py()]
    assert scan.positions().tolist() == expected
    why = scan.explain()
    assert why.total_rows == 1000
    assert why.leaves[0].checked == 1000
    assert why.bytes < 300_000
    assert why.blocks_decoded < 3


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_nothing_lies_beyond_infinity_whatever_an_index_says(kind: pa.DataType, tmp_path: Path) -> None:
    values = [float("-inf")] * 512 + [1.0] * 600 + [float("inf")] * 300
    shard = amudai.write(pa.table({"f": pa.array(values, kind)}), tmp_path / "f.amudai.shard")
    for bound in (float("-inf"), float("inf")):
        for where in (col("f") < bound, col("f") <= bound, col("f") > bound, col("f") >= bound, col("f") == bound):
            assert shard.scan(where=where).positions().tolist() == rows_of(where, [{"f": value} for value in values])


def test_count_reads_no_other_column(tmp_path: Path) -> None:
    count = 100_000
    table = pa.table({"n": np.arange(count), "noise": np.random.default_rng(1).random(count)})
    path = tmp_path / "x.amudai.shard"
    amudai.write(table, path)
    shard = amudai.open(path)
    scan = shard.scan(where=(col("n") >= 256) & (col("n") < 512))
    assert scan.count() == 256
    why = scan.explain()
    assert (why.sure, why.doubtful, why.blocks_decoded) == (256, 0, 0), "the range index alone"
    assert why.bytes < 20_000
    assert scan.to_table()["n"].to_pylist() == list(range(256, 512))


@pytest.mark.slow
def test_an_abandoned_scan_frees_its_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads are shared and stay; what ran on them for this scan has ended, and nothing more begins."""
    begun: list[int] = []
    ended: list[int] = []
    read = ScanRun._read_part

    def noted(run: ScanRun, part: StripePart) -> list[pa.RecordBatch]:
        begun.append(1)
        try:
            return read(run, part)
        finally:
            ended.append(1)

    monkeypatch.setattr(ScanRun, "_read_part", noted)
    table = pa.table({"n": np.arange(600_000) % 97, "text": pa.array([f"row {n}" for n in range(600_000)])})
    shard = amudai.write(table, tmp_path / "x.amudai.shard", stripe_rows=50_000)
    batches = iter(shard.scan(where=col("text").contains("7"), threads=3))
    next(batches)
    del batches
    count = len(begun)
    assert len(ended) == count < 12, "of twelve parts"
    time.sleep(0.1)
    assert len(begun) == count


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (col("statsu") == 3, "status"),
        (col("status") == "x", "status"),
        (col("message") > 3, "message"),
        (col("status").has("x"), "status"),
    ],
)
def test_nonsense_is_refused_when_the_scan_is_made(where: Predicate, message: str) -> None:
    shard = amudai.open("tests/fixtures/sample.amudai.shard")
    with pytest.raises(amudai.InvalidArgument, match=message):
        shard.scan(where=where)


@pytest.mark.parametrize(
    "options",
    [
        {"limit": -1},
        {"batch_rows": 0},
        {"rows": slice(0, 9, 2)},
        {"rows": range(401)},
        {"rows": [1, 2]},
        {"on_damaged_index": "maybe"},
        {"where": "status"},
        {"where": 3},
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any]) -> None:
    shard = amudai.open("tests/fixtures/sample.amudai.shard")
    with pytest.raises(amudai.InvalidArgument):
        shard.scan(**options)


def test_expressions_of_pyarrow_are_taken() -> None:
    import pyarrow.compute as pc

    shard = amudai.open("tests/fixtures/sample.amudai.shard")
    table = shard.read()
    where = (pc.field("status") >= 500) & pc.field("level").isin(["ERROR"])
    assert shard.scan(where=where).to_table().equals(table.filter(where))


@pytest.mark.slow
def test_words_of_one_field_are_looked_up_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    words = np.array(["timeout", "disk full", "full disk", "gateway", "reset"])
    messages = [" ".join(rng.choice(words, 3)) for _ in range(5000)]
    rows = [{"message": message} for message in messages]
    shard = amudai.write(
        pa.table({"message": messages}), tmp_path / "m.amudai.shard", indexes=[amudai.TermIndex("message")]
    )
    message = col("message")

    assert shard.scan(where=message.has("Timeout") & message.has("gate") & message.has("reset")).count() == 0
    where = message.has("Timeout") & message.has("gateway") & message.hasprefix("res") & ~message.has("disk")
    scan = shard.scan(where=where)
    assert scan.positions().tolist() == rows_of(where, rows)
    first, second, third, fourth = scan.explain().leaves
    assert [note.evidence for note in first.notes] == ["term index, all words"]
    assert (second.notes, second.checked) == ((), 0)
    assert [note.evidence for note in third.notes] == ["term index"], "there may be many that begin so"
    assert [note.evidence for note in fourth.notes] == ["term index"], "what a row must not have is asked alone"

    where = message.has("disk full") & message.has("timeout")
    scan = shard.scan(where=where)
    assert scan.positions().tolist() == rows_of(where, rows)
    first, second = scan.explain().leaves
    assert first.checked > 0, "an index knows words, not which follows which"
    assert second.checked == 0

    nothing = shard.scan(where=message.has("disk") & message.has("nowhere"))
    assert nothing.count() == 0
    assert nothing.explain().sure == nothing.explain().doubtful == 0
