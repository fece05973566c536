"""The words of shards in a catalog: a shard without a rare word is not opened, and none that has it is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import HashIndex, Predicate, TermIndex, col
from amudai.datasets.words import filters_of, slice_of, slices_for
from amudai.stats import probe
from tests.effort import examples

LONG = "x" * 130


def saved(folder: Path, tables: dict[str, dict[str, Any]], word_bytes: int | None = None, **options: Any) -> None:
    for name, rows in tables.items():
        amudai.write(rows, folder / f"{name}.amudai.shard", **options)
    lake = amudai.dataset(folder, catalog="ignore")
    lake.save_catalog() if word_bytes is None else lake.save_catalog(word_bytes=word_bytes)


def opened(folder: Path, where: str | Predicate) -> list[str]:
    """The shards that are not ruled out, and a check that the answer is that of a dataset without a catalog."""
    lake = amudai.dataset(folder)
    scan = lake.scan(where=where)
    assert scan.positions().equals(amudai.dataset(folder, catalog="ignore").scan(where=where).positions())
    return [lake.shards[at].removesuffix(".amudai.shard") for at in scan._run._kept[0]]  # type: ignore[union-attr]


MESSAGES = {
    "a": {"message": ["Read TIMEOUT after 5 s", "ok"], "service": ["Web", "db"]},
    "b": {"message": ["ok", None], "service": ["web front", None]},
    "c": {"message": [f"Straße {LONG}", "connection reset by 10.0.0.7"], "service": ["cache", "cache"]},
}


def test_a_word_opens_only_shards_that_may_have_it(tmp_path: Path) -> None:
    saved(tmp_path, MESSAGES, indexes=[TermIndex("message"), TermIndex("service", tokenizer="trivial")])
    for where, expected in {
        "message has 'timeout'": ["a"],
        "message has_cs 'timeout'": ["a"],
        "message has 'ok'": ["a", "b"],
        "message has 'read timeout'": ["a"],
        "message has 'ok timeout'": ["a"],
        "message has 'nowhere'": [],
        "message has 'STRASSE'": [],
        "message has 'STRAßE'": ["c"],
        "message contains 'read timeout aft'": ["a"],
        "message has 'timeout' or message has 'reset'": ["a", "c"],
        "message has '10.0.0.7'": ["c"],
        "message = 'ok'": ["a", "b"],
        "message like '% reset %'": ["c"],
        f"message has '{LONG}'": ["a", "b", "c"],  # terms of this length may have been cut
        "message contains 'imeou'": ["a", "b", "c"],
        "not (message has 'timeout')": ["a", "b", "c"],
        "service = 'cache'": ["c"],
        "service = 'Cache'": [],  # a Bloom filter of whole values says so
        "service has 'front'": ["a", "b", "c"],
    }.items():
        found = opened(tmp_path, where)
        assert found == expected, where


def test_shards_without_a_whole_index_are_always_opened(tmp_path: Path) -> None:
    saved(tmp_path, {"indexed": {"message": ["one"]}}, indexes=[TermIndex("message")])
    saved(tmp_path, {"hashed": {"message": ["one"]}}, indexes=[HashIndex("message")])
    saved(tmp_path, {"plain": {"message": ["one"]}})
    saved(tmp_path, {"other": {"n": [1]}})
    assert opened(tmp_path, "message has 'one'") == ["hashed", "indexed", "plain"]
    assert opened(tmp_path, "message has 'two'") == ["hashed", "plain"]


@pytest.mark.parametrize("level", ["stripe", "shard"])
def test_indexes_of_stripes_and_of_merged_parts_count_together(level: str, tmp_path: Path) -> None:
    folder, parts = tmp_path / "lake", tmp_path / "parts"
    for path in (folder, parts):
        path.mkdir()
    indexes = [TermIndex("message", level=level)]
    rows = {"message": [f"common word{n}" for n in range(20)]}
    amudai.write(rows, folder / "striped.amudai.shard", indexes=indexes, stripe_rows=10)
    for number in range(2):
        more = {"message": [f"common part{number}"]}
        amudai.write(more, parts / f"{number}.amudai.shard", indexes=indexes)
    sources = [parts / "0.amudai.shard", parts / "1.amudai.shard"]
    amudai.merge(sources, folder / "merged.amudai.shard", allow=[parts.as_uri() + "/"])
    amudai.dataset(folder, allow=[parts.as_uri() + "/"]).save_catalog()
    assert opened(folder, "message has 'word13'") == ["striped"]
    assert opened(folder, "message has 'part1'") == ["merged"]
    assert opened(folder, "message has 'common'") == ["merged", "striped"]


def test_an_index_of_several_fields_keeps_their_words_apart(tmp_path: Path) -> None:
    rows = {"title": ["alpha"], "body": ["beta"], "http": [{"url": "gamma"}]}
    saved(tmp_path, {"one": rows}, indexes=[TermIndex("title", "body", "http.url")])
    assert opened(tmp_path, "title has 'alpha'") == ["one"]
    assert opened(tmp_path, "title has 'beta'") == opened(tmp_path, "body has 'alpha'") == []
    assert opened(tmp_path, "http.url has 'gamma'") == ["one"]
    assert opened(tmp_path, "http.url has 'beta'") == []


@pytest.mark.slow
def test_the_size_of_filters_is_bounded(tmp_path: Path) -> None:
    rows = {"message": [f"word{n}" for n in range(1000)]}
    sizes = {}
    for word_bytes, ruled_out in ((0, False), (100, False), (800, True), (4096, True)):
        folder = tmp_path / str(word_bytes)
        folder.mkdir()
        saved(folder, {"many": rows}, word_bytes, indexes=[TermIndex("message")])
        absent = [opened(folder, f"message has 'other{n}'") for n in range(20)]
        assert (absent.count([]) > 10) is ruled_out
        assert opened(folder, "message has 'word7'") == ["many"]
        sizes[word_bytes] = (folder / "_catalog.amudai.shard").stat().st_size
    assert sizes[0] <= sizes[100] < sizes[800] < sizes[4096] < sizes[0] + 4096 + 20_000
    with pytest.raises(amudai.InvalidArgument, match="word_bytes"):
        amudai.dataset(folder).save_catalog(word_bytes=-1)


@pytest.mark.slow
@pytest.mark.parametrize("words", [1, 70, 5000])
def test_few_words_that_are_absent_pass_a_filter(words: int) -> None:
    hashes = np.random.default_rng(words).integers(0, 2**64, words + 20_000, np.uint64)
    slices = slices_for(words)
    filters = filters_of(hashes[:words], slices, 1 << 20)
    assert filters is not None
    assert sum(map(len, filters)) <= 32 * slices + words * 2
    passed = [bool(part := filters[slice_of(each, slices)]) and probe(part, each) for each in hashes.tolist()]
    assert all(passed[:words])
    assert sum(passed[words:]) < 20_000 * 0.005


# U+017F is another letter s: it folds to the same.
WORDS = st.sampled_from(
    ["ok", "OK", "Ärger", "ärger", "\u017ftop", "STOP", "a.b", "10.0.0.1", "日本", "İx", LONG, LONG + "y", "k"]
)
TEXTS = st.lists(WORDS, max_size=4).map(" ".join)


@examples(60)
@given(
    rows=st.lists(st.lists(st.none() | TEXTS, min_size=1, max_size=3), min_size=1, max_size=4),
    op=st.sampled_from(["has", "has_cs", "hasprefix", "contains", "startswith", "==", "has_any", "matches", "ilike"]),
    text=TEXTS,
    negated=st.booleans(),
)
def test_words_never_rule_out_a_row_that_matches(
    rows: list[list[str | None]], op: str, text: str, negated: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("lake")
    tables = {str(number): {"message": pa.array(each, pa.string())} for number, each in enumerate(rows)}
    saved(folder, tables, indexes=[TermIndex("message")])
    message = col("message")
    where: Predicate
    match op:
        case "==":
            where = message == text
        case "has_any":
            where = message.has_any(text.split() or ["k"])
        case "matches":
            where = message.matches(text.replace(".", "[.]"))
        case "ilike":
            where = message.ilike(f"%{text}%")
        case _:
            where = getattr(message, op)(text)
    opened(folder, ~where if negated else where)
