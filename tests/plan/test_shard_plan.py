"""Plans: evidence by the names of leaves, and the one place where visibility is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

import amudai
from amudai import col
from amudai.plan import ScanRequest
from amudai.rows import Rows, Visibility
from amudai.shard import ShardReader

ROWS = 3000


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    data = {"n": list(range(ROWS)), "text": [f"{'even' if n % 2 == 0 else 'odd'} {n}" for n in range(ROWS)]}
    place = tmp_path_factory.mktemp("plan") / "x.amudai.shard"
    return amudai.write(data, place, stripe_rows=1024, indexes=[amudai.TermIndex("text")])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Visibility]:
    """Every third row is deleted; the list gets an entry each time that somebody asks which rows are live."""
    seen: list[Visibility] = []

    def visibility(reader: ShardReader) -> Visibility:
        deleted = Rows.united([Rows.one(n, n + 1, reader.origin) for n in range(0, ROWS, 3)], reader.origin)
        seen.append(Visibility(reader.origin, lambda _: deleted))
        return seen[-1]

    monkeypatch.setattr(ShardReader, "visibility", property(visibility))
    return seen


LIVE = [n for n in range(ROWS) if n % 3]


def test_visibility_is_asked_once_and_rows_that_are_not_live_are_gone(
    shard: amudai.Shard, asked: list[Visibility]
) -> None:
    found = {
        "read": lambda: shard.read(["n"])["n"].to_pylist(),
        "scan": lambda: shard.scan(["n"], where=col("text").has("odd") | (col("n") >= 0)).to_table()["n"].to_pylist(),
        "positions": lambda: shard.scan().positions().tolist(),
        "reader": lambda: shard.to_reader(["n"], batch_rows=100).read_all()["n"].to_pylist(),
        "field": lambda: shard["n"].read().to_pylist(),
    }
    for name, ask in found.items():
        asked.clear()
        assert ask() == LIVE, name
        assert len(asked) == 1, name


def test_deleted_rows_are_subtracted_after_evidence_and_before_the_limit(
    shard: amudai.Shard, asked: list[Visibility]
) -> None:
    odd = [n for n in LIVE if n % 2]
    scan = shard.scan(["n"], where=col("text").has("odd"), limit=7)
    assert scan.to_table()["n"].to_pylist() == odd[:7]
    assert shard.scan(where=col("text").has("odd")).count() == len(odd)
    assert shard.scan(where=col("n") < 100, limit=40).count() == 40
    assert shard.take([1, 2, 4])["n"].to_pylist() == [1, 2, 4]
    assert asked


def test_the_same_leaf_twice_has_evidence_twice(shard: amudai.Shard) -> None:
    leaf = col("n") < 1536
    scan = shard.scan(where=(leaf & col("text").has("odd")) | (leaf & col("text").has("even")))
    assert scan.count() == 1536
    plan = scan._run.plan
    assert list(plan.leaves) == ["1", "2", "3", "4"]
    assert [evidence.positions.count for name in "13" if (evidence := plan.evidence(name))] == [1536, 1536]
    assert len(scan.explain().leaves) == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"limit": -1}, "limit: expected at least 0, found -1"),
        ({"batch_rows": 0}, "batch_rows: expected at least 1, found 0"),
        ({"on_damage": "shrug"}, "on_damaged_index: expected raise or ignore, found 'shrug'"),
    ],
)
def test_requests_that_mean_nothing_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(amudai.InvalidArgument, match=message):
        ScanRequest(**wrong)  # type: ignore[arg-type]


def test_a_plan_is_made_without_reading(shard: amudai.Shard) -> None:
    opened = amudai.open(shard.url)
    before = opened.requests.requests
    opened.scan(["n"])
    assert opened.requests.requests - before <= 3, "schema and properties, of the root alone"
    assert Path(shard.url.removeprefix("file://")).exists()
