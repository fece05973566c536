"""Lists of rows and lists of ranges in one index: look-ups find the forms of lists without opening the artifact."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai import col
from amudai.errors import CorruptedData
from amudai.format import LOOKUP, AnyValue, lookup_buffers
from amudai.index import Match, Terms
from amudai.index.term.reader import TermReader, open_term_index

ROWS = 20_000
# `served` is in every row, and so a range; `rare` in three rows.
TEXTS = [f"served {at * 2654435761 % (1 << 32):08x}" + " rare" * (at % 7000 == 17) for at in range(ROWS)]


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    target = tmp_path_factory.mktemp("forms") / "t.amudai.shard"
    return amudai.write(pa.table({"text": TEXTS}), target, indexes=[amudai.TermIndex("text")])


def test_an_index_says_where_its_forms_are_if_they_differ(shard: amudai.Shard, tmp_path: Path) -> None:
    (index,) = shard._reader.indexes
    terms, positions = index.artifacts
    found = lookup_buffers(terms.values)
    assert found is not None
    assert len(found) == 3
    assert found[2].values == found[1].values > ROWS
    assert len(lookup_buffers(positions.values) or ()) == 1
    alike = amudai.write({"text": ["a", "b c"]}, tmp_path / "alike", indexes=[amudai.TermIndex("text")])
    assert len(lookup_buffers(next(iter(alike._reader.indexes)).artifacts[0].values) or ()) == 2


def reader_of(shard: amudai.Shard, stated: bytes | None = None) -> TermReader:
    """The reader of the index; with `stated`, as if the terms artifact had this property."""
    reader = shard._reader
    (index,) = reader.indexes
    if stated is not None:
        terms, positions = index.artifacts
        others = tuple(each for each in terms.properties if not each[0].startswith(LOOKUP))
        terms = replace(terms, properties=(*others, (LOOKUP, AnyValue("bytes", stated))))
        index = replace(index, artifacts=(terms, positions))
    return open_term_index(index, reader, reader.index_anchor)


@pytest.mark.parametrize("word", ["rare", "served", f"{3 * 2654435761 % (1 << 32):08x}", "none"])
@pytest.mark.parametrize("buffers", [2, 3])
def test_lists_of_either_form_are_found(shard: amudai.Shard, word: str, buffers: int) -> None:
    (index,) = shard._reader.indexes
    stated = next(value.value for name, value in index.artifacts[0].properties if name == LOOKUP)
    assert isinstance(stated, bytes)
    reader = reader_of(shard, stated[: 40 * buffers])
    found = reader.answer(shard._reader.schema.fields()[:1], Terms(word, Match.EQUAL, True))
    assert found is not None
    assert not found.maybe
    assert found.yes.positions().tolist() == [row for row, text in enumerate(TEXTS) if word in text.split()]
    # Two buffers are what older indexes have: then the artifact is opened to look at the forms.
    assert ("shard" in vars(reader._terms)) == (buffers == 2 and word != "none")


def test_forms_of_another_number_are_refused(shard: amudai.Shard) -> None:
    (index,) = shard._reader.indexes
    stated = next(value.value for name, value in index.artifacts[0].properties if name == LOOKUP)
    assert isinstance(stated, bytes)
    reader = reader_of(shard, stated[:80] + stated[:40])  # the terms, as if they were forms
    with pytest.raises(CorruptedData, match=r"repr_type: expected .* values, found"):
        reader.answer(shard._reader.schema.fields()[:1], Terms("rare", Match.EQUAL, True))


def test_the_scan_finds_the_same(shard: amudai.Shard) -> None:
    assert shard.scan(where=col("text").has("rare")).positions().tolist() == [17, 7017, 14017]
    assert shard.scan(where=col("text").has("served") & col("text").has("rare")).count() == 3
    assert shard.scan(where=col("text").has("served")).count() == ROWS
