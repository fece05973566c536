"""Is an index with a budget within it, complete, and as exact as it may be?"""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai import TermIndex, col
from amudai.index.term import budget

ROW_COUNT = 12_000


def lines() -> Iterator[str]:
    """Common words at random, words that come in bursts, and ids."""
    dice = random.Random(11)
    common = [f"c{n}" for n in range(40)]
    for row in range(ROW_COUNT):
        words = dice.choices(common, k=6)
        words.append(f"burst{row // 700}" if dice.random() < 0.7 else "Quiet")
        yield " ".join([*words, f"id{row:x}" if row % 4 else "plain"])


LINES = list(lines())
TABLE = pa.table({"message": LINES, "n": range(ROW_COUNT)})
WORDS = ["c0", "c7", "c39", "burst3", "burst17", "quiet", "id1", "id2ee1", "plain", "absent", "c40"]
PREFIXES = ["c", "c1", "burst", "burst1", "id1", "id2e", "qui", "zzz"]


@cache
def truth(word: str, *, prefix: bool = False) -> list[int]:
    def has(line: str) -> bool:
        return any(each.startswith(word) if prefix else each == word for each in line.lower().split())

    return [row for row, line in enumerate(LINES) if has(line)]


def check(shard: amudai.Shard) -> int:
    """Every answer is that of the values; how many rows were looked at for them."""
    checked = 0
    for word in WORDS:
        scan = shard.scan(where=col("message").has(word))
        assert scan.positions().tolist() == truth(word), word
        checked += scan.explain().leaves[0].checked
        assert scan.explain().leaves[0].checked == scan.explain().doubtful
    for prefix in PREFIXES:
        scan = shard.scan(where=col("message").hasprefix(prefix))
        assert scan.positions().tolist() == truth(prefix, prefix=True), prefix
        checked += scan.explain().leaves[0].checked
    both = shard.scan(where=col("message").has_all(["c1", "burst5"]))
    assert both.positions().tolist() == sorted({*truth("c1")} & {*truth("burst5")})
    negated = shard.scan(where=~col("message").has("quiet"))
    assert negated.positions().tolist() == sorted({*range(ROW_COUNT)} - {*truth("quiet")})
    assert shard.scan(where=col("message").has("absent")).explain().doubtful == 0, "terms are all there"
    assert shard.verify().ok
    return checked


def size_of(shard: amudai.Shard) -> int:
    (index,) = shard.indexes
    assert index.size is not None
    return index.size


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    path = tmp_path_factory.mktemp("exact") / "x.amudai.shard"
    shard = amudai.write(TABLE, path, indexes=[TermIndex("message")])
    assert check(shard) == 0
    return shard


@pytest.fixture(scope="module")
def least(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many bytes it takes at least, as the error says it."""
    folder = tmp_path_factory.mktemp("least")
    with pytest.raises(
        amudai.InvalidArgument, match=r"max_bytes: expected at least \d+ for these terms, found 1"
    ) as caught:
        amudai.write(TABLE, folder / "x.amudai.shard", indexes=[TermIndex("message", max_bytes=1)])
    assert list(folder.iterdir()) == []
    found = re.search(r"at least (\d+)", str(caught.value))
    assert found is not None
    return int(found[1])


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.6, 0.9])
def test_it_fits_and_is_complete(tmp_path: Path, exact: amudai.Shard, least: int, share: float) -> None:
    most = least + int(share * (size_of(exact) - least))
    shard = amudai.write(TABLE, tmp_path / "x.amudai.shard", indexes=[TermIndex("message", max_bytes=most)])
    assert least <= size_of(shard) <= most
    assert check(shard) > 0
    scans = [shard.scan(where=col("message").has(word)) for word in WORDS]
    assert all(scan.count() == len(truth(word)) for scan, word in zip(scans, WORDS, strict=True))
    coarse = [scan.explain() for scan in scans if scan.explain().doubtful]
    assert coarse
    assert all(f"values: {why.doubtful:,} rows checked" in str(why) and not why.sure for why in coarse)


@pytest.mark.slow
def test_more_bytes_mean_less_doubt(tmp_path: Path, exact: amudai.Shard, least: int) -> None:
    checked = []
    for number in range(6):
        most = least + number * (size_of(exact) - least) // 5
        index = TermIndex("message", max_bytes=most)
        checked.append(check(amudai.write(TABLE, tmp_path / f"{number}.amudai.shard", indexes=[index])))
    assert checked == sorted(checked, reverse=True)
    assert checked[0] > 1.5 * checked[3] > 1.5 * checked[4] > checked[5] == 0


def test_one_byte_less_is_refused(tmp_path: Path, least: int) -> None:
    path = tmp_path / "x.amudai.shard"
    with pytest.raises(amudai.InvalidArgument, match=f"at least {least} for these terms, found {least - 1}"):
        amudai.write(TABLE, path, indexes=[TermIndex("message", max_bytes=least - 1)], layout="single")
    assert list(tmp_path.iterdir()) == []
    assert size_of(amudai.write(TABLE, path, indexes=[TermIndex("message", max_bytes=least)])) == least


@pytest.mark.slow
def test_enough_changes_nothing(tmp_path: Path, exact: amudai.Shard) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write(TABLE, path, indexes=[TermIndex("message", max_bytes=size_of(exact))])
    assert path.read_bytes() == Path(exact.url.removeprefix("file://")).read_bytes()
    shard = amudai.write(
        TABLE, tmp_path / "y.amudai.shard", indexes=[TermIndex("message", max_bytes=size_of(exact) - 1)]
    )
    assert size_of(shard) < size_of(exact)


@pytest.mark.slow
@pytest.mark.parametrize("memory_limit", ["512MB", "1MB"])
def test_files_beside_the_root_fit_as_they_are(tmp_path: Path, exact: amudai.Shard, memory_limit: str) -> None:
    most = size_of(exact) * 2 // 3
    options: dict[str, Any] = {"layout": "two-level", "stripe_rows": 5_000, "memory_limit": memory_limit}
    shard = amudai.write(TABLE, tmp_path / "x.amudai.shard", indexes=[TermIndex("message", max_bytes=most)], **options)
    assert sum(each.stat().st_size for each in tmp_path.glob("*.amudai.index")) <= most
    assert check(shard) > 0


@pytest.mark.slow
def test_each_stripe_keeps_to_it(tmp_path: Path, exact: amudai.Shard) -> None:
    most = size_of(exact) // 4
    index = TermIndex("message", max_bytes=most, level="stripe")
    shard = amudai.write(TABLE, tmp_path / "x.amudai.shard", indexes=[index], stripe_rows=4_000)
    assert [index.stripe for index in shard.indexes] == [0, 1, 2]
    assert all(index.size is not None and index.size <= most for index in shard.indexes)
    assert check(shard) > 0


def test_a_stripe_that_cannot_keep_to_it_ends_the_writing(tmp_path: Path) -> None:
    index = TermIndex("message", max_bytes=100, level="stripe")
    with amudai.ShardWriter(tmp_path / "x.amudai.shard", TABLE.schema, indexes=[index]) as out:
        out.write(TABLE.slice(0, 100))
        with pytest.raises(amudai.InvalidArgument, match="max_bytes"):
            out.end_stripe()
        with pytest.raises(amudai.InvalidArgument, match="refused"):
            out.write(TABLE.slice(100, 100))
        out.abandon()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_elements_keep_to_it(tmp_path: Path) -> None:
    tags = [line.split()[:3] if row % 5 else [] for row, line in enumerate(LINES)]
    table = pa.table({"tags": pa.array(tags)})
    wide = amudai.write(table, tmp_path / "w.amudai.shard", indexes=[TermIndex("tags", granularity="element")])
    most = size_of(wide) // 2
    index = TermIndex("tags", granularity="element", max_bytes=most)
    shard = amudai.write(table, tmp_path / "x.amudai.shard", indexes=[index], stripe_rows=5_000)
    assert size_of(shard) <= most
    scan = shard.scan(where=col("tags").has("c7"))
    assert scan.positions().tolist() == [row for row, each in enumerate(tags) if "c7" in each]
    assert scan.explain().sure == 0 < scan.explain().leaves[0].checked


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(tmp_path: Path, exact: amudai.Shard) -> None:
    written = []
    for threads in (1, 3):
        folder = tmp_path / str(threads)
        folder.mkdir()
        index = TermIndex("message", max_bytes=size_of(exact) // 2)
        amudai.write(TABLE, folder / "x.amudai.shard", indexes=[index], layout="two-level", threads=threads)
        written.append({each.name: each.read_bytes() for each in folder.iterdir()})
    assert written[0] == written[1]


@pytest.mark.slow
def test_indexes_that_are_added_keep_to_it(tmp_path: Path, exact: amudai.Shard) -> None:
    plain = amudai.write(TABLE, tmp_path / "plain.amudai.shard", stripe_rows=7_000)
    most = size_of(exact) // 2
    shard = amudai.add_indexes(plain, [TermIndex("message", max_bytes=most)], tmp_path / "x.amudai.shard")
    assert size_of(shard) <= most
    assert check(shard) > 0
    with pytest.raises(amudai.InvalidArgument, match="max_bytes"):
        amudai.add_indexes(plain, [TermIndex("message", max_bytes=10)], tmp_path / "y.amudai.shard")
    assert not (tmp_path / "y.amudai.shard").exists()


@pytest.mark.parametrize("values", [[], [None, None], ["", "!"], ["one"], ["one", "one two"]])
def test_small_indexes_have_a_least_size_too(tmp_path: Path, values: list[str | None]) -> None:
    table = pa.table({"t": pa.array(values, pa.string())})
    with pytest.raises(amudai.InvalidArgument, match="max_bytes: expected at least"):
        amudai.write(table, tmp_path / "x.amudai.shard", indexes=[TermIndex("t", max_bytes=1)])
    shard = amudai.write(table, tmp_path / "x.amudai.shard", indexes=[TermIndex("t", max_bytes="1MB")])
    assert shard.scan(where=col("t").has("one")).count() == len([each for each in values if each and "one" in each])


@pytest.mark.slow
def test_few_tries_are_enough(tmp_path: Path, exact: amudai.Shard, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def counting(most: int, make: Any, estimate: Any) -> budget.BuiltIndex:
        return budget.within_budget(most, lambda price: (tries.append(price), make(price))[1], estimate)

    monkeypatch.setattr("amudai.index.term.builder.within_budget", counting)
    for number, share in enumerate((0.05, 0.2, 0.5, 0.8)):
        tries.clear()
        most = least + int(share * (size_of(exact) - least))
        amudai.write(TABLE, tmp_path / f"{number}.amudai.shard", indexes=[TermIndex("message", max_bytes=most)])
        assert len(tries) <= 9
        assert len(set(tries)) == len(tries)


def test_specs_are_checked_values() -> None:
    spec = TermIndex("a", max_bytes="1.5 MiB")
    assert spec.max_bytes == 3 << 19
    assert pickle.loads(pickle.dumps(spec)) == spec == TermIndex("a", max_bytes=3 << 19)
    assert "max_bytes=1572864" in repr(spec)
    for wrong in (0, -5, "0MB"):
        with pytest.raises(amudai.InvalidArgument, match="max_bytes: expected at least 1"):
            TermIndex("a", max_bytes=wrong)
    for wrong in ("much", 1.5, ["1MB"]):
        with pytest.raises(amudai.InvalidArgument, match="size: expected a number of bytes"):
            TermIndex("a", max_bytes=wrong)  # type: ignore[arg-type]
