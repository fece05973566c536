"""Threads that share the work on one field: the index is that of one thread, byte by byte."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai import TermIndex, col
from amudai.index.term import builder, writing
from tests.index.term.indexed_shards import indexed

pytestmark = pytest.mark.native

WORDS = [f"word{number % 700}" for number in range(900)]


def lines(count: int) -> list[str | None]:
    """Texts of very different lengths. Some words are in nearly all, so that their lists have blocks of their own."""
    random.seed(7)
    return [
        None if number % 11 == 5 else " ".join(["common", *random.choices(WORDS, k=random.choice([0, 1, 3, 40]))])
        for number in range(count)
    ]


def columns(count: int) -> dict[str, pa.Array]:
    texts = lines(count)
    return {
        "text": pa.array(texts),
        "codes": pa.array(texts).dictionary_encode(),
        "lists": pa.array([None if text is None else text.split(" ")[:5] for text in texts]),
        "structs": pa.array([{"t": text} for text in texts]),
    }


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("stripe_rows", [None, 1500])
@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("text", {}),
        ("text", {"tokenizer": "word", "collation": "case_insensitive"}),
        ("codes", {}),
        ("lists.item", {}),
        ("lists.item", {"granularity": "element"}),
        ("structs.t", {"tokenizer": "trivial"}),
    ],
)
def test_the_bytes_do_not_depend_on_threads(
    field: str,
    options: dict[str, Any],
    stripe_rows: int | None,
    threads: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares: list[int] = []
    shared = builder._FieldTerms._shared

    def seen(self: Any, parts: Any, crew: Any) -> Any:
        shares.append(len(parts))
        return shared(self, parts, crew)

    monkeypatch.setattr(builder, "_LEAST_SHARE", 1000)
    monkeypatch.setattr(builder._FieldTerms, "_shared", seen)
    monkeypatch.setattr(writing, "_SLICE", 600)
    values = columns(4000)
    table = pa.table({name: values[name] for name in [field.split(".")[0]]})
    spec = TermIndex(field, **options)
    where = tmp_path / "a.amudai.shard"
    found = []
    for count in (1, threads):
        indexed(table, spec, where, stripe_rows=stripe_rows, threads=count)
        found.append(where.read_bytes())
        where.unlink()
        assert (not shares) is (count == 1)
    assert max(shares) > 1
    assert found[0] == found[1]


def test_values_are_indexed_before_the_writer_returns(tmp_path: Path) -> None:
    """The memory of a batch belongs to the caller, who may use it again for the next one."""
    offsets, data = np.array([0, 3, 6], np.int32), np.frombuffer(b"abcdef", np.uint8).copy()
    texts = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    batch = pa.record_batch({"text": texts})
    place = tmp_path / "a.amudai.shard"
    with amudai.ShardWriter(place, batch.schema, indexes=[TermIndex("text")], threads=2) as out:
        out.write(batch)
        data[:] = np.frombuffer(b"uvwxyz", np.uint8)
        out.write(batch)
    shard = amudai.open(place)
    assert shard["text"].terms().column("term").to_pylist() == ["abc", "def", "uvw", "xyz"]
    assert shard.scan(where=col("text").has("def")).positions().tolist() == [1]


def test_parts_of_a_batch_are_neighbours_of_about_the_same_size() -> None:
    sizes = [0, 100, 0, 0, 3, 97, 500, 0, 1, 99]
    offsets = np.cumsum([0, *sizes]).astype(np.int64) + 7
    texts = builder.Texts(offsets, np.zeros(2000, np.uint8), None, 3, None, None)
    parts = builder._TextBatch(texts, 0, 0, len(sizes)).parts(4)
    assert sum(part.texts.count for part in parts) == len(sizes)
    at = 0
    for part in parts:
        assert part.texts.validity_at == 3 + at
        assert part.texts.positions is not None
        assert part.texts.positions.tolist() == list(range(at, at + part.texts.count))
        assert part.texts.offsets[0] == offsets[at]
        at += part.texts.count
    # A quarter of the bytes is 200: the long text in the middle is a part of its own.
    assert [part.texts.size for part in parts] == [200, 500, 100]
