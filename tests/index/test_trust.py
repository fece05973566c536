"""Indexes of other writers: trusted on request, with the names and lists of the format's specification."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amudai
from amudai import HashIndex, TermIndex, col
from amudai.edit import Publication, Root
from amudai.format import AnyValue, IndexCollection, IndexDescriptor
from amudai.index.term.tree import UNKNOWN, Leaves, PositionLists, TermTree
from amudai.storage import open_store

ROWS = {"id": [at * 7919 % 500 for at in range(500)], "message": [f"word{at % 40} common" for at in range(500)]}
INDEXES: list[Any] = [HashIndex("id"), TermIndex("message", tokenizer="word")]


def foreign(shard: amudai.Shard, *, of_the_book: bool = False) -> Path:
    """The shard as if another writer had written its indexes, which do not say that they are complete."""
    path = Path(shard.url.removeprefix("file://")).with_name("foreign.amudai.shard")

    def changed(index: IndexDescriptor) -> IndexDescriptor:
        kept = [(name, value) for name, value in index.properties if name != "complete"]
        if of_the_book:
            kept = [(name, value) for name, value in kept if name != "tokenizers"]
            kept.append(("tokenizer_name", AnyValue("string", "trivial")))
        artifacts = tuple(replace(each, properties=()) for each in index.artifacts)
        return replace(index, properties=tuple(kept), artifacts=artifacts)

    store, url = open_store(path)
    with Publication(store, url, overwrite=True) as publication:
        root = Root.of(shard._reader).at(url)
        indexes = IndexCollection(tuple(map(changed, IndexCollection.decode(root.metadata.indexes)))).encode()
        publication.publish(replace(root, metadata=replace(root.metadata, indexes=indexes)))
    return path


def evidence(shard: amudai.Shard, ask: amudai.Predicate) -> set[str]:
    return {note.evidence for leaf in shard.scan(where=ask).explain().leaves for note in leaf.notes}


def test_indexes_that_do_not_say_that_they_are_complete_are_used_on_request(tmp_path: Path) -> None:
    path = foreign(amudai.write(ROWS, tmp_path / "a.amudai.shard", indexes=INDEXES))
    careful, trusting = amudai.open(path), amudai.open(path, trust_indexes=True)
    again = pickle.loads(pickle.dumps(trusting))
    for ask, name in ((col("id") == 77, "hash index"), (col("message").has("word7"), "term index")):
        expected = careful.scan(where=ask).positions().tolist()
        assert expected
        assert name not in evidence(careful, ask)
        for shard in (trusting, again):
            assert name in evidence(shard, ask)
            assert shard.scan(where=ask).positions().tolist() == expected


def test_one_tokenizer_name_is_that_of_all_fields(tmp_path: Path) -> None:
    indexes = [TermIndex("message", tokenizer="trivial")]
    path = foreign(amudai.write(ROWS, tmp_path / "a.amudai.shard", indexes=indexes), of_the_book=True)
    shard = amudai.open(path, trust_indexes=True)
    ask = col("message") == "word7 common"
    assert "term index" in evidence(shard, ask)
    assert shard.count(ask) == 13
    assert shard.count(col("message").has("word7")) == 13


def test_lists_of_unknown_rows_mean_maybe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shard = amudai.write(ROWS, tmp_path / "a.amudai.shard", indexes=INDEXES)
    plain = TermTree.lists

    def unknown(self: TermTree, leaves: Leaves, entries: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> PositionLists:
        return replace(plain(self, leaves, entries), forms=np.full(len(entries), UNKNOWN, np.uint8))

    monkeypatch.setattr(TermTree, "lists", unknown)
    assert shard.count(col("message").has("word7")) == 13
    assert shard.count(col("message").has("nothing")) == 0
    assert "term index" not in evidence(shard, col("message").has("word7"))
