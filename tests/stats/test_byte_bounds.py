"""Bounds of texts and bytes that are cut: they stay bounds, and text stays text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import _kernels, col
from amudai.stats.byte_bounds import cut_down, cut_up

TALL = chr(0x10FFFF)


@given(st.binary(max_size=40), st.integers(1, 34))
def test_cut_bytes_are_bounds(value: bytes, most: int) -> None:
    low, high = cut_down(value, text=False, most=most), cut_up(value, text=False, most=most)
    assert low <= value
    assert len(low) <= most
    assert high is None or (high >= value and len(high) <= most)
    assert (high is None) == (len(value) > most and set(value[:most]) == {255})


@pytest.mark.native
@given(
    st.lists(st.none() | st.lists(st.sampled_from([b"", b"\0", b"z", b"\xff", b"a prefix "]), max_size=3).map(b"".join))
)
def test_the_slots_of_the_bounds(values: list[bytes | None]) -> None:
    texts = [value or b"" for value in values]
    offsets = np.cumsum([0, *map(len, texts)])
    data, there = np.frombuffer(b"".join(texts), np.uint8), np.array([value is not None for value in values], np.bool_)
    found = _kernels.byte_bounds(offsets, data, None, np.packbits(there, bitorder="little"), len(values))
    present = [value for value in values if value is not None]
    assert (found is None) == (not present)
    if found is not None:
        assert [values[slot] for slot in found] == [min(present), max(present)]


@given(st.text(st.sampled_from(["a", "z", "ß", "\ud7ff", "\U0001f600", TALL]), max_size=12), st.integers(4, 12))
def test_cut_texts_are_bounds_and_texts(text: str, most: int) -> None:
    value = text.encode()
    low, high = cut_down(value, text=True, most=most), cut_up(value, text=True, most=most)
    assert low.decode() <= text
    assert len(low) <= most
    if high is not None:
        assert high >= value
        assert high.decode() >= text
        assert len(high) <= most


WORDS = [f"{chr(97 + at // 100)}{at:04} {'x' * 40}" for at in range(1000)]  # a0000 to j0999


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    path = tmp_path_factory.mktemp("bounds") / "w.amudai.shard"
    return amudai.write({"word": WORDS, "raw": [word.encode() for word in WORDS]}, path, stripe_rows=100)


@pytest.mark.parametrize(
    ("where", "matches", "left"),
    [
        (col("word") == WORDS[250], lambda word: word == WORDS[250], 100),
        (col("word") < "b", lambda word: word < "b", 100),
        (col("word") <= "b", lambda word: word <= "b", 100),
        (col("word") > "i", lambda word: word > "i", 200),
        (col("word").isin([WORDS[0], "zz"]), lambda word: word == WORDS[0], 100),
        (col("word").startswith_cs("c02"), lambda word: word.startswith("c02"), 100),
        (col("word").startswith_cs("k"), lambda _: False, 0),
        (col("word") == "c", lambda _: False, 0),
        ((col("word") >= "c0299") & (col("word") < "e"), lambda word: "c0299" <= word < "e", 200),
        (col("raw") == WORDS[250].encode(), lambda word: word == WORDS[250], 100),
        (col("word") == "zzz", lambda _: False, 0),
        (col("word") == "", lambda _: False, 0),
    ],
)
def test_pruning(shard: amudai.Shard, where: amudai.Predicate, matches: Callable[[str], bool], left: int) -> None:
    plan = shard.scan(where=where).explain()
    assert plan.sure + plan.doubtful <= left
    expected = [at for at, word in enumerate(WORDS) if matches(word)]
    assert shard.scan(where=where).positions().tolist() == expected
    assert shard.count(where) == len(expected)


def test_the_root_answers_without_the_stripes(shard: amudai.Shard) -> None:
    with amudai.open(shard.url) as opened:
        scan = opened.scan(where=col("word") == "zzz")
        assert scan.count() == 0
        assert all(not stripe._fields._descriptors for stripe in opened._reader.stripes)
        assert [step.evidence for leaf in scan.explain().leaves for step in leaf.notes] == ["shard statistics"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary(), pa.binary(3000)], ids=str)
def test_bounds_of_long_values(kind: pa.DataType, tmp_path: Path) -> None:
    """They are those of the first bytes alone: only these are compared."""
    texts = [(letter * 31 + other + "z" * 2968).encode() for letter in "bca" for other in "yxz"]
    values = [text.decode() if kind == pa.string() else text for text in texts]
    shard = amudai.write(pa.table({"v": pa.array([*values, None], kind)}), tmp_path / "v.amudai.shard")
    low, high = "a" * 31 + "x", "c" * 31 + "{"
    stats = shard["v"].stats
    assert (stats.min, stats.max) == ((low, high) if kind == pa.string() else (low.encode(), high.encode()))
    assert (stats.min_is_exact, stats.max_is_exact) == (False, False)
