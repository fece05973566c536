"""Indexes of merged shards: every way to carry them along gives the same answers."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.edit import Publication, Root
from amudai.errors import CorruptedData, InvalidArgument, UnsupportedFeature
from amudai.format import AnyValue, IndexCollection, IndexDescriptor, MovedIndex, any_value
from amudai.index import index_type
from amudai.shard import ShardReader
from amudai.storage import LocalStore, file_url
from tests.effort import examples

WORDS = ["disk", "full", "Disk", "error", "timeout", "10.0.0.1", "é", "x" * 140, "zz"]
QUESTIONS = [
    "text has 'disk'",
    "text has 'disk' and text has 'full'",
    "text hasprefix 'ti'",
    "text contains 'rro'",
    "not text has 'error'",
    "tags has 'zz'",
    "n == 3",
    "n in (1, 7)",
    "text has 'timeout' and n == 3",
    "text has_cs 'Disk'",
]
How = Literal["merge", "keep", "rebuild", "drop"]
WAYS: tuple[How, ...] = ("merge", "keep", "rebuild")


def table(rows: int, seed: int, *, extra: bool = False) -> pa.Table:
    pick = random.Random(seed)
    texts = [None if pick.random() < 0.1 else " ".join(pick.choices(WORDS, k=pick.randint(0, 4))) for _ in range(rows)]
    columns = {
        "text": pa.array(texts, pa.string()),
        "n": pa.array([pick.choice([None, *range(8)]) for _ in range(rows)], pa.int64()),
        "tags": pa.array(
            [pick.choice([None, pick.choices(WORDS, k=pick.randint(0, 3))]) for _ in range(rows)], pa.list_(pa.string())
        ),
    }
    found = pa.table({name: columns[name] for name in sorted(columns, reverse=bool(seed % 2))})
    return found.append_column("extra", pa.array([seed] * rows)) if extra else found


def indexes(level: str = "shard") -> list[object]:
    return [
        amudai.TermIndex("text", "tags", granularity=["record", "element"], level=level),
        amudai.HashIndex("n", level=level),
    ]


def answers(shard: amudai.Shard) -> dict[str, list[int]]:
    return {question: shard.scan(where=question).positions().tolist() for question in QUESTIONS}


def from_indexes(shard: amudai.Shard) -> None:
    """The answers of the indexes alone, beside those of the values."""
    plain = shard.read()
    for question in QUESTIONS:
        scan = shard.scan(where=question)
        assert scan.count() == len(scan.positions())
    explained = str(shard.scan(where="text has 'disk' and n == 3").explain())
    assert len(plain) < 64 or "index" in explained


@pytest.mark.slow
@pytest.mark.parametrize("level", ["shard", "stripe"])
@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_every_question_has_the_same_answer_with_and_without_indexes(level: str, layout: str, tmp_path: Path) -> None:
    tables = [table(400, 1), table(300, 2, extra=True), table(0, 3), table(250, 5)]
    options = {"layout": layout, "stripe_rows": 150}
    indexed = [
        amudai.write(each, tmp_path / f"i{at}", indexes=indexes(level), **options)  # type: ignore[arg-type]
        for at, each in enumerate(tables)
    ]
    plain = amudai.write(pa.concat_tables(tables, promote_options="default"), tmp_path / "plain")
    expected = answers(plain)
    for how in WAYS:
        merged = amudai.merge(indexed, to=tmp_path / how, indexes=how)
        assert answers(merged) == expected, how
        assert merged.verify().ok
        from_indexes(merged)
        again = amudai.merge([indexed[3], merged], to=tmp_path / f"{how}2", indexes=how)
        shifted = {key: [250 + row for row in rows] for key, rows in expected.items()}
        first = answers(indexed[3])
        assert answers(again) == {key: first[key] + shifted[key] for key in expected}, how


@examples(15)
@given(
    sizes=st.lists(st.integers(0, 200), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
    how=st.sampled_from(WAYS),
    stripe_rows=st.sampled_from([None, 70]),
)
def test_answers_do_not_depend_on_how_indexes_are_carried(
    sizes: list[int], seed: int, how: How, stripe_rows: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("carried")
    tables = [table(size, seed + at) for at, size in enumerate(sizes)]
    shards = [
        amudai.write(each, folder / str(at), indexes=indexes(), stripe_rows=stripe_rows)  # type: ignore[arg-type]
        for at, each in enumerate(tables)
    ]
    plain = amudai.write(pa.concat_tables(tables, promote_options="default"), folder / "plain")
    merged = amudai.merge(shards, to=folder / "all", indexes=how)
    assert answers(merged) == answers(plain)


@pytest.mark.slow
def test_a_merged_index_is_the_index_that_would_be_built(tmp_path: Path) -> None:
    shards = [amudai.write(table(5000, at), tmp_path / str(at), indexes=indexes(), stripe_rows=2000) for at in range(3)]
    merged, rebuilt = (amudai.merge(shards, to=tmp_path / how, indexes=how) for how in ("merge", "rebuild"))
    assert [(each.type, each.fields) for each in merged.indexes] == [
        (each.type, each.fields) for each in rebuilt.indexes
    ]
    for one, other in zip(merged.indexes, rebuilt.indexes, strict=True):
        assert one.size is not None
        assert other.size is not None
        assert abs(one.size - other.size) < other.size / 50  # lists that end in a short block may end in another
    assert answers(merged) == answers(rebuilt)


def test_long_lists_are_copied_with_their_blocks(tmp_path: Path) -> None:
    rows = 40_000
    texts = [f"every {'odd' if at % 2 else 'even'} {'rare' if at % 997 == 0 else ''}" for at in range(rows)]
    shards = [
        amudai.write({"text": texts}, tmp_path / str(at), indexes=[amudai.TermIndex("text")], stripe_rows=15_000)
        for at in range(2)
    ]
    merged = amudai.merge(shards, to=tmp_path / "all")
    for word, expected in (("every", 2 * rows), ("odd", rows), ("rare", 2 * 41)):
        assert merged.scan(where=amudai.col("text").has(word)).count() == expected
    found = merged.scan(where=amudai.col("text").has("odd")).positions()
    assert found[:3].tolist() == [1, 3, 5]
    assert found[-1] == 2 * rows - 1
    assert merged.verify().ok


def test_more_integers_than_are_read_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from amudai.encoding import BlockBuffer
    from amudai.index.term import merge_sources

    monkeypatch.setattr(merge_sources, "_LEAST_MEMORY", 1)
    monkeypatch.setattr(merge_sources, "_MOST_MEMORY", 1600)
    monkeypatch.setattr(BlockBuffer, "whole_blocks", lambda _, starts, ends: (starts * 0, starts * 0))
    shards = [amudai.write(table(900, at), tmp_path / str(at), indexes=indexes()) for at in range(2)]
    merged = amudai.merge(shards, to=tmp_path / "all")
    rebuilt = amudai.merge(shards, to=tmp_path / "anew", indexes="rebuild")
    assert answers(merged) == answers(rebuilt)


def test_doubtful_lists_stay_doubtful(tmp_path: Path) -> None:
    texts = [f"w{at % 7} {'x' if at % 3 else 'y'}" for at in range(3000)]
    spec = amudai.TermIndex("text", max_bytes=5900)
    shards = [amudai.write({"text": texts}, tmp_path / str(at), indexes=[spec]) for at in range(2)]
    merged = amudai.merge(shards, to=tmp_path / "all")
    for word in ("w3", "x", "y"):
        expected = [at for at, text in enumerate(texts + texts) if word in text.split()]
        assert merged.scan(where=amudai.col("text").has(word)).positions().tolist() == expected


def test_an_index_that_one_shard_lacks(tmp_path: Path) -> None:
    one = amudai.write(table(100, 1), tmp_path / "1", indexes=indexes())
    two = amudai.write(table(100, 2), tmp_path / "2", indexes=[amudai.HashIndex("n")])
    with pytest.raises(InvalidArgument) as caught:
        amudai.merge([one, two], to=tmp_path / "all")
    message = str(caught.value)
    assert "expected TermIndex(fields=('text', 'tags.item')" in message
    assert f"as in {one.url}, found none in {two.url}" in message
    assert not (tmp_path / "all").exists()
    expected = answers(amudai.merge([one, two], to=tmp_path / "plain", indexes="drop"))
    for how in ("keep", "rebuild"):
        merged = amudai.merge([one, two], to=tmp_path / how, indexes=how)
        assert answers(merged) == expected
    assert len(amudai.open(tmp_path / "plain").indexes) == 0
    assert [index.type for index in amudai.open(tmp_path / "keep").indexes] == [
        "inverted-text-index-v1",
        "field-hashing-index",
        "field-hashing-index",
    ]
    with pytest.raises(InvalidArgument, match="over all rows, found it over some of the rows of "):
        amudai.merge([tmp_path / "keep"], to=tmp_path / "again")


def test_another_tokenizer_is_another_index(tmp_path: Path) -> None:
    one = amudai.write({"text": ["a b"]}, tmp_path / "1", indexes=[amudai.TermIndex("text", tokenizer="word")])
    two = amudai.write({"text": ["a b"]}, tmp_path / "2", indexes=[amudai.TermIndex("text", tokenizer="log")])
    with pytest.raises(InvalidArgument, match=r"tokenizers=\('word',\)"):
        amudai.merge([one, two], to=tmp_path / "all")


def test_values_that_are_stored_again_have_other_hashes(tmp_path: Path) -> None:
    spec = [amudai.HashIndex("n")]
    one = amudai.write(pa.table({"n": pa.array([1, 2], pa.int32())}), tmp_path / "1", indexes=spec)
    two = amudai.write(pa.table({"n": pa.array([2, 3], pa.int64())}), tmp_path / "2", indexes=spec)
    with pytest.raises(InvalidArgument, match="expected columns of one type"):
        amudai.merge([one, two], to=tmp_path / "all", widen=True)
    merged = amudai.merge([one, two], to=tmp_path / "all", widen=True, indexes="rebuild")
    assert merged.scan(where="n == 2").positions().tolist() == [1, 2]


@pytest.mark.parametrize("level", ["shard", "stripe"])
@pytest.mark.parametrize(("narrow", "wide"), [("int32", "int64"), ("uint8", "int32"), ("float", "double")])
def test_kept_indexes_leave_out_columns_that_are_stored_again(
    tmp_path: Path, level: str, narrow: str, wide: str
) -> None:
    numbers = [at * 7 % 200 for at in range(2000)]  # so many that neither statistics nor ranges tell
    spec = amudai.HashIndex("n", "text", level=level)
    for name, kind in (("narrow", narrow), ("wide", wide)):
        rows = {"n": pa.array(numbers).cast(kind), "text": [f"t{at}" for at in numbers]}
        amudai.write(rows, tmp_path / name, indexes=[spec], stripe_rows=700)
    sources = [tmp_path / "wide", tmp_path / "narrow"]
    merged = amudai.merge(sources, to=tmp_path / "all", widen=True, indexes="keep")
    expected = [at for at, number in enumerate(numbers * 2) if number == 14]
    assert merged.scan(where=amudai.col("n") == 14).positions().tolist() == expected
    assert merged.lookup("n", [14]).to_pylist() == [expected]
    assert merged.scan(where=amudai.col("text") == "t14").positions().tolist() == expected
    fields = [index.fields for index in merged.indexes]
    assert fields.count(("n", "text")) == fields.count(("text",)) == (1 if level == "shard" else 3)
    fewer = amudai.compact(sources, tmp_path / "fewer", widen=True, where=amudai.col("n") == 14)
    assert fewer.read()["n"].to_pylist() == [14] * len(expected)


def test_moved_indexes_say_how_they_are_numbered(tmp_path: Path) -> None:
    one = amudai.write(table(100, 2), tmp_path / "1", indexes=indexes("stripe"), stripe_rows=60)
    two = amudai.write(table(100, 1), tmp_path / "2", indexes=indexes("stripe"), stripe_rows=60)
    merged = amudai.merge([one, two], to=tmp_path / "all")
    stripes = merged._reader.stripes
    assert MovedIndex.of(stripes[0].indexes.descriptors[0]) is None
    moved = MovedIndex.of(stripes[3].indexes.descriptors[1])
    assert moved is not None
    assert (moved.first_row, moved.first_stripe, moved.rows, moved.complete) == (100, 2, None, True)
    own = [node.schema_id for node in two._reader.schema.fields() if node.name == "n"]
    assert moved.fields == (tuple(own),)
    # A reader that does not know the property must not take the index for complete.
    assert "complete" not in dict(stripes[3].indexes.descriptors[1].properties)
    assert [(file.kind, file.owned) for file in merged.files] == [("root", True), ("other", False), ("other", False)]


def test_a_damaged_note_of_a_move_is_an_error() -> None:
    for value in ("nonsense", {"first_row": 1}, {"first_row": -1, "first_stripe": 0, "rows": 1, "fields": [[0]]}):
        index = IndexDescriptor(
            index_type="t", properties=(("moved", any_value(value)),), indexed_fields=((0,),), artifacts=()
        )
        with pytest.raises(CorruptedData, match="index property moved: expected numbers of rows and fields"):
            MovedIndex.of(index)


def test_required_indexes_are_not_dropped(tmp_path: Path) -> None:
    one = amudai.write({"n": [1, 2, 3]}, tmp_path / "1")
    root = Root.of(ShardReader(one.url)).at(file_url(tmp_path / "2"))
    index = IndexDescriptor(
        index_type="example-index-v1",
        properties=(("required", AnyValue("bool", True)),),
        indexed_fields=((0,),),
        artifacts=(),
    )
    metadata = replace(root.metadata, indexes=IndexCollection((index,)).encode())
    with Publication(LocalStore(), root.url) as publication:
        publication.publish(replace(root, metadata=metadata))
    for how in ("merge", "keep", "rebuild", "drop"):
        with pytest.raises(UnsupportedFeature, match="index"):
            amudai.merge([one, tmp_path / "2"], to=tmp_path / "all", indexes=how)  # type: ignore[arg-type]


def test_types_can_merge() -> None:
    for name in ("inverted-text-index-v1", "field-hashing-index"):
        kind = index_type(name)
        assert kind is not None
        assert kind.merge is not None
