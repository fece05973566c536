"""Indexes in the descriptors of fields: written, found, verified, and kept by every operation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai import col
from amudai.edit import Naming, Publication, Root
from amudai.format import IndexCollection, StripeFieldDescriptor
from amudai.shard import ShardReader
from amudai.storage import open_store

INDEXES = [amudai.TermIndex("text", level="field"), amudai.HashIndex("tags.item", level="field")]


def table(first: int = 0, count: int = 300) -> pa.Table:
    rows = range(first, first + count)
    return pa.table({"n": list(rows), "text": [f"w{at} all" for at in rows], "tags": [[f"t{at}", "x"] for at in rows]})


def finds(shard: amudai.Shard, n: int) -> str:
    """Both indexes find a row without a look at values. Returns what the search says of itself."""
    for where in (col("text").has(f"w{n}"), col("tags") == f"t{n}"):
        found = shard.scan(["n"], where=where)
        assert found.to_table()["n"].to_pylist() == [n]
        said = str(found.explain())
        assert "index" in said, said
    assert shard.verify(deep=True).ok
    return said


@pytest.mark.parametrize("way", ["write", "two-level", "add"])
def test_an_index_of_a_field_is_in_its_descriptor(tmp_path: Path, way: str) -> None:
    place = tmp_path / "a.amudai.shard"
    if way == "add":
        plain = amudai.write(table(), tmp_path / "plain.amudai.shard", stripe_rows=100)
        shard = amudai.add_indexes(plain, INDEXES, place)
    else:
        layout = "two-level" if way == "two-level" else "single"
        shard = amudai.write(table(), place, indexes=INDEXES, stripe_rows=100, layout=layout)
    reader = ShardReader(shard.url)
    assert not len(reader.indexes)
    text = reader.schema.find("text")
    assert text is not None
    assert [each.indexed_fields for each, _ in reader.field_indexes((text,))] == [((text.schema_id,),)]
    assert [(each.fields, each.stripe) for each in shard.indexes] == [(("text",), None), (("tags.item",), None)]
    finds(shard, 250)
    assert shard["text"].terms(prefix="w29", limit=1)["term"].to_pylist() == ["w29"]


def test_operations_keep_them_among_the_indexes_of_the_shard(tmp_path: Path) -> None:
    one = amudai.write(table(), tmp_path / "one.amudai.shard", indexes=INDEXES)
    two = amudai.write(table(300), tmp_path / "two.amudai.shard", indexes=INDEXES)
    for policy in ("merge", "keep", "rebuild"):
        both = amudai.merge([one, two], tmp_path / f"{policy}.amudai.shard", indexes=policy)  # type: ignore[arg-type]
        finds(both, 450)
    fewer = amudai.delete(one, positions=[3], to=tmp_path / "fewer.amudai.shard")
    finds(fewer, 250)
    renamed = amudai.rename_columns(one, {"n": "number", "text": "words"}, to=tmp_path / "renamed.amudai.shard")
    assert renamed.scan(["number"], where=col("words").has("w9")).to_table()["number"].to_pylist() == [9]
    assert {each.fields for each in renamed.indexes} == {("words",), ("tags.item",)}
    left = amudai.drop_columns(one, ["text"], to=tmp_path / "left.amudai.shard")
    assert [each.fields for each in left.indexes] == [("tags.item",)]
    finds(amudai.copy(one, tmp_path / "copy.amudai.shard"), 250)
    finds(amudai.compact([one, two], to=tmp_path / "compact.amudai.shard"), 450)


def test_a_field_level_index_of_a_stripe_is_read_and_moves_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This library writes none, so that one is moved to the descriptor here, as another writer would have it."""
    spec = amudai.TermIndex("text", level="stripe")
    made = amudai.write(table(), tmp_path / "made.amudai.shard", indexes=[spec], stripe_rows=100)
    reader = ShardReader(made.url)
    store, url = open_store(tmp_path / "other.amudai.shard")
    root = Root.of(reader, Naming(url=url, store=store))
    stripes = []
    for stripe in root.metadata.stripes:
        (index,) = IndexCollection.decode(stripe.indexes)
        at = index.indexed_fields[0][0]
        payload = stripe.fields[at]
        assert payload is not None
        descriptor = StripeFieldDescriptor.decode(payload)
        field = replace(descriptor.field, indexes=IndexCollection((index,)), message=None)
        fields = (*stripe.fields[:at], replace(descriptor, field=field).encode(), *stripe.fields[at + 1 :])
        stripes.append(replace(stripe, fields=fields, indexes=b""))
    with Publication(store, url) as publication:
        publication.publish(replace(root, metadata=replace(root.metadata, stripes=tuple(stripes))))
    monkeypatch.setattr(ShardReader, "is_own", property(lambda _: False))
    other = amudai.open(tmp_path / "other.amudai.shard")
    found = other.scan(["n"], where=col("text").has("w250"))
    assert found.to_table()["n"].to_pylist() == [250]
    assert "index of the field: 299 ruled out" in str(found.explain())
    assert other.verify(deep=True).ok
    first = amudai.write(table(900, 5), tmp_path / "first.amudai.shard")
    both = amudai.merge([first, other], tmp_path / "both.amudai.shard")
    assert [each.stripe for each in both.indexes] == [1, 2, 3]
    assert both.scan(["n"], where=col("text").has("w250")).to_table()["n"].to_pylist() == [250]
    assert both.verify(deep=True).ok


def test_an_index_of_a_field_has_one_field(tmp_path: Path) -> None:
    for spec in (amudai.TermIndex("n", "text", level="field"), amudai.HashIndex(("n", "text"), level="field")):
        with pytest.raises(amudai.InvalidArgument, match='expected one field for level="field", found 2'):
            amudai.write(table(), tmp_path / "x.amudai.shard", indexes=[spec])


def test_a_shard_without_rows(tmp_path: Path) -> None:
    shard = amudai.write(table().slice(0, 0), tmp_path / "none.amudai.shard", indexes=INDEXES)
    assert shard.count(col("text").has("w1")) == 0
    assert shard.verify(deep=True).ok
