"""Adding, dropping and renaming columns: the others stay as they are, and nothing that is unknown is lost."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import HashIndex, TermIndex, col
from amudai.arrow import schema_nodes, to_storage
from amudai.edit import Publication, Root, add_columns, first_free_id, with_indexes
from amudai.encoding import profile_of
from amudai.errors import InvalidArgument, MissingColumn, UnsupportedFeature
from amudai.format import AnyValue, IndexCollection, IndexDescriptor, changeable_schema, encode_schema
from amudai.format.wire import amudai_pb2 as wire
from amudai.index import Keys, Match, Question, Terms, index_type
from amudai.shard import BuildOptions, ShardBuilder, ShardMetadata, ShardReader
from amudai.types import BasicType, ExtensionProperty, SchemaNode, find_in, nodes_below, quote_name, with_first_id
from tests import golden
from tests.effort import examples
from tests.forge import Forge, numbers
from tests.writing.exact import assert_exact


def built(publication: Publication, nodes: tuple[SchemaNode, ...], *stripes: pa.Table) -> ShardMetadata:
    """The metadata of new fields that are written to the root of a publication."""
    builder = ShardBuilder(nodes, publication.sealing, publication.file, BuildOptions(profile=profile_of("balanced")))
    for stripe in stripes:
        columns = [stripe.column(at).combine_chunks() for at in range(stripe.num_columns)]
        work = [partial(to_storage, column, node, node.name) for column, node in zip(columns, nodes, strict=True)]
        builder.append(work, stripe.num_rows)
        builder.end_stripe()
    metadata = builder.finish()
    builder.close()
    return metadata


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_fields_of_another_builder_follow_those_of_a_root(tmp_path: Path, layout: str) -> None:
    old = pa.table({"a": [1, 2, 3], "s": [{"x": "p"}, None, {"x": "q"}]})
    source = amudai.write(old, tmp_path / "old.amudai.shard", stripe_rows=2, layout=layout)
    target = tmp_path / "new.amudai.shard"
    more = pa.table({"b": [[1], None, [2, 3]], "c": ["u", None, "w"]})
    reader = ShardReader(tmp_path / "old.amudai.shard")
    with Publication(reader.store, target.as_uri()) as publication:
        root = Root.of(reader).at(target.as_uri())
        nodes = with_first_id(schema_nodes(more.schema), first_free_id(root))
        added = built(publication, nodes, more[:2], more[2:])
        arrow = pa.schema([*old.schema, *more.schema])
        publication.publish(add_columns(root, added, arrow))
    new = amudai.open(target)
    assert_exact(new.read(), pa.Table.from_arrays([*old.columns, *more.columns], schema=arrow))
    assert new.verify().ok
    assert_exact(source.read(), old)
    ids = [node.schema_id for node in ShardReader(target).schema.fields()]
    assert ids == [0, 1, 3, 5]
    assert new["c"].stats.null_count == 1
    assert (new["b.item"].stats.min, new["b.item"].stats.max) == (1, 3)


def test_internal_fields_may_be_absent_from_a_stripe(tmp_path: Path) -> None:
    amudai.write({"a": [1, 2, 3]}, tmp_path / "old.amudai.shard", stripe_rows=2)
    target = tmp_path / "new.amudai.shard"
    reader = ShardReader(tmp_path / "old.amudai.shard")
    flags = pa.table({"": [True, False, False]})
    with Publication(reader.store, target.as_uri()) as publication:
        root = Root.of(reader).at(target.as_uri())
        node = SchemaNode(schema_id=first_free_id(root), name="", basic_type=BasicType.BOOLEAN, internal="test.Flag")
        added = built(publication, (node,), flags[:2], flags[2:])
        first, second = added.stripes
        added = replace(added, stripes=(first, replace(second, fields=(None, None))))
        publication.publish(add_columns(root, added))
    reader = ShardReader(target)
    assert amudai.open(target).read().to_pydict() == {"a": [1, 2, 3]}
    assert amudai.open(target).verify().ok
    (stored,) = (each for each in reader.schema.fields() if each.internal)
    assert stored == node
    assert reader.stripes[1].descriptor(stored) is None


def test_stripes_of_other_lengths_are_refused(tmp_path: Path) -> None:
    amudai.write({"a": [1, 2, 3]}, tmp_path / "old.amudai.shard", stripe_rows=2)
    target = tmp_path / "new.amudai.shard"
    reader = ShardReader(tmp_path / "old.amudai.shard")
    more = pa.table({"b": [1, 2, 3]})
    with Publication(reader.store, target.as_uri()) as publication:
        root = Root.of(reader).at(target.as_uri())
        added = built(publication, with_first_id(schema_nodes(more.schema), first_free_id(root)), more)
        with pytest.raises(InvalidArgument, match="expected stripes of 2, 1 rows, found 3"):
            add_columns(root, added)


def test_properties_of_extension_types_are_kept() -> None:
    node = SchemaNode(
        schema_id=0,
        name="x",
        basic_type=BasicType.STRING,
        extension="Foreign",
        extension_properties=(ExtensionProperty("unit", 1, b"ms"), ExtensionProperty("note", 0, b"")),
    )
    assert changeable_schema(encode_schema((node,))) == (node,)


TABLE = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5], pa.int64()),
        "at": pa.array([1, 150, None, 250, 399], pa.timestamp("ns")),
        "word": ["disk full", None, "all well", "disk", "full"],
        "http": [
            {"status": 200, "path": "/a"},
            None,
            {"status": 404, "path": "/b"},
            {"status": 500, "path": None},
            None,
        ],
        "tags": [["x"], [], None, ["y", "z"], ["x"]],
    }
)
INDEXES = [TermIndex("word"), HashIndex("word", "id", "http.path", "tags"), HashIndex("id", level="stripe")]


@pytest.fixture(params=["single", "two-level"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> amudai.Shard:
    place = tmp_path / "source.amudai.shard"
    return amudai.write(TABLE, place, stripe_rows=2, layout=request.param, indexes=INDEXES)


def ids(shard: amudai.Shard) -> dict[str, int]:
    return {node.name: node.schema_id for node in nodes_below(ShardReader(shard.url).schema.fields()) if node.name}


def check(new: amudai.Shard, expected: pa.Table, source: amudai.Shard) -> None:
    assert_exact(new.read(), expected)
    assert new.schema.equals(expected.schema)
    assert new.verify().ok
    assert_exact(source.read(), TABLE)
    stays = set(ids(new)) & set(ids(source))
    assert {name: ids(new)[name] for name in stays} == {name: ids(source)[name] for name in stays}


def positions(shard: amudai.Shard, where: amudai.Predicate) -> list[int]:
    found = shard.scan(where=where).positions().tolist()
    assert found == sorted(found)
    return found


def hashed(shard: amudai.Shard, column: str, value: bytes) -> list[int] | None:
    """The rows that a hash index of the shard names for a value; None if no such index covers the column."""
    return asked(shard, column, Keys((value,)))


def worded(shard: amudai.Shard, column: str, word: str) -> list[int] | None:
    """The rows that a term index of the shard names for a word; None if no such index covers the column."""
    return asked(shard, column, Terms(word, Match.EQUAL, case_sensitive=False))


def asked(shard: amudai.Shard, column: str, question: Question) -> list[int] | None:
    reader = ShardReader(shard.url)
    path = find_in(reader.schema.fields(), column)
    while path[-1].children:
        path = (*path, path[-1].children[0])
    for descriptor in reader.indexes:
        found = index_type(descriptor.index_type)
        assert found is not None
        answer = found.open(descriptor, reader, reader.index_anchor).answer(path, question)
        if answer is not None:
            return list(answer.yes.unite(answer.maybe).positions().tolist())
    return None


@pytest.mark.slow
def test_columns_are_added_with_statistics_and_indexes(source: amudai.Shard, tmp_path: Path) -> None:
    text = pa.array(["one", "two words", None, "two", "five"])
    numbers = pa.chunked_array([[1, None], [3], [4, 5]], pa.int16())
    when = pa.array([7, 107, 100, None, 12345], pa.timestamp("ns"))
    new = amudai.with_columns(
        source,
        {"text": text, "n": iter(numbers.chunks), "when": when, "plain": [1.5, 2, 3, 4, 5]},
        tmp_path / "new.amudai.shard",
        indexes=[TermIndex("text"), HashIndex("n", level="stripe")],
    )
    expected = TABLE
    for name, column in {"text": text, "n": numbers, "when": when, "plain": pa.array([1.5, 2, 3, 4, 5])}.items():
        expected = expected.append_column(name, column)
    check(new, expected, source)
    assert (new["n"].stats.min, new["n"].stats.max, new["n"].stats.null_count) == (1, 5, 1)
    assert positions(new, col("text").has("two")) == worded(new, "text", "two") == [1, 3]
    assert positions(new, col("n") == 4) == [3]
    assert [(index.fields, index.stripe) for index in new.indexes if "n" in index.fields] == [
        (("n",), 0),
        (("n",), 1),
        (("n",), 2),
    ]
    assert positions(new, col("word").has("disk")) == worded(new, "word", "disk") == [0, 3]
    assert positions(new, (col("plain") > 2.5) & (col("id") < 5)) == [2, 3]


@pytest.mark.slow
def test_a_column_is_replaced_at_its_place(source: amudai.Shard, tmp_path: Path) -> None:
    values = pa.array(["a", "b", "c", "d", "e"])
    with pytest.raises(InvalidArgument, match="column 'at': expected none of this name yet: replace=True replaces it"):
        amudai.with_columns(source, {"at": values}, tmp_path / "new.amudai.shard")
    new = amudai.with_columns(source, {"at": values}, tmp_path / "new.amudai.shard", replace=True)
    assert_exact(new.read(), TABLE.set_column(1, "at", values))
    assert "at:nanoseconds" not in ids(new)
    assert new.verify().ok
    again = amudai.with_columns(new, {"word": values}, tmp_path / "again.amudai.shard", replace=True)
    assert_exact(again.read(), TABLE.set_column(1, "at", values).set_column(2, "word", values))
    assert again.verify().ok
    assert positions(again, col("word") == "d") == [3]
    assert positions(again, col("word").has("disk")) == []
    assert [index.fields for index in again.indexes if index.stripe is None] == [("id", "http.path", "tags.item")]


@pytest.mark.slow
def test_dropped_columns_leave_the_others(source: amudai.Shard, tmp_path: Path) -> None:
    new = amudai.drop_columns(source, ["id", "at", "http.status"], tmp_path / "new.amudai.shard")
    http = pa.array([None if each is None else {"path": each["path"]} for each in TABLE["http"].to_pylist()])
    check(new, TABLE.drop_columns(["id", "at"]).set_column(1, "http", http), source)
    assert "at:nanoseconds" not in ids(new)
    assert [index.fields for index in new.indexes] == [("word",), ("word", "http.path", "tags.item")]
    assert positions(new, col("http.path") == "/b") == [2]
    assert hashed(new, "http.path", b"/b") == [2]
    assert hashed(new, "word", b"full") == [4]
    assert positions(new, col("word") == "full") == [4]
    with pytest.raises(MissingColumn):
        new.read(["id"])
    added = amudai.with_columns(new, {"id": ["a", "b", "c", "d", "e"]}, tmp_path / "added.amudai.shard")
    assert added["id"].read().to_pylist() == ["a", "b", "c", "d", "e"]
    assert ids(added)["id"] > max(ids(source).values())
    assert positions(added, col("id") == "c") == [2]
    assert added.verify().ok


@pytest.mark.parametrize("level", ["shard", "stripe"])
@pytest.mark.parametrize("change", ["drop", "replace", "move"])
def test_an_index_that_lost_a_column_has_only_the_terms_of_the_others(tmp_path: Path, level: str, change: str) -> None:
    rows = 700  # enough terms and rows for lists of their own
    words = [f"delta w{at}" if at % 3 == 0 else f"beta v{at}" for at in range(rows)]
    others = pa.array([f"delta u{at}" if at % 2 == 0 else "gamma" for at in range(rows)])
    source = amudai.write(
        {"word": words, "other": others}, tmp_path / "a", indexes=[TermIndex("other", "word", level=level)]
    )
    to = tmp_path / "b"
    if change == "replace":
        new = amudai.with_columns(source, {"other": others}, to, replace=True)
    else:
        new = amudai.drop_columns(source, ["other"], to)
    if change == "move":
        new = amudai.merge([new, new], tmp_path / "c", indexes="keep")
        words *= 2
    expected = [at for at, word in enumerate(words) if word.startswith("delta")]
    assert positions(new, col("word").has("delta")) == expected
    assert new.scan(where=col("word").has("delta")).explain().doubtful == 0
    assert new.count(col("word").has("gamma")) == new.count(col("word").has("u4")) == 0
    assert {"gamma", "u4"}.isdisjoint(new["word"].terms().column(0).to_pylist())


@pytest.mark.slow
def test_renamed_columns_keep_their_values_and_indexes(source: amudai.Shard, tmp_path: Path) -> None:
    names = {"word": "text", "at": "id", "id": "at", "http": "web", "http.path": "place", "tags": "labels"}
    new = amudai.rename_columns(source, names, tmp_path / "new.amudai.shard")
    web = [
        None if each is None else {"status": each["status"], "place": each["path"]}
        for each in TABLE["http"].to_pylist()
    ]
    expected = TABLE.rename_columns(["at", "id", "text", "web", "labels"]).set_column(3, "web", pa.array(web))
    assert_exact(new.read(), expected)
    assert new.verify().ok
    assert_exact(source.read(), TABLE)
    old_ids, new_ids = ids(source), ids(new)
    assert [new_ids[name] for name in ("text", "id", "at", "web", "labels")] == [
        old_ids[name] for name in ("word", "at", "id", "http", "tags")
    ]
    assert new_ids["id:nanoseconds"] == old_ids["at:nanoseconds"]
    assert positions(new, col("text") == "full") == hashed(new, "text", b"full") == [4]
    assert positions(new, col("at") == 3) == hashed(new, "at", (3).to_bytes(8, "little")) == [2]
    assert positions(new, col("web.place") == "/b") == hashed(new, "web.place", b"/b") == [2]
    assert hashed(new, "labels", b"x") == [0, 4]
    assert positions(new, col("text").has("disk")) == worded(new, "text", "disk") == [0, 3]
    back = amudai.rename_columns(
        new,
        {"text": "word", "at": "id", "id": "at", "web": "http", "web.place": "path", "labels": "tags"},
        tmp_path / "back.amudai.shard",
    )
    check(back, TABLE, source)
    assert hashed(back, "http.path", b"/b") == [2]


@pytest.mark.slow
def test_what_cannot_be_added(source: amudai.Shard, tmp_path: Path) -> None:
    to = tmp_path / "new.amudai.shard"
    refused: list[tuple[dict[str, Any], str]] = [
        ({}, "columns: expected at least one, found none"),
        ({"x": [1, 2]}, "column 'x': expected 5 values, one for each position, found 2"),
        ({"x": [1] * 6}, "column 'x': expected 5 values, one for each position, found 6"),
        ({"x": iter([pa.array([1, 2])])}, "column 'x': expected 5 values, one for each position, found 2"),
        ({"x": iter([pa.array([1] * 6)])}, "column 'x': expected 5 values, one for each position, found more"),
        ({"x": iter([])}, "column 'x': expected at least one array or batch, found an empty iterator"),
        ({"x": iter([pa.array([1] * 5), pa.array(["a"])])}, "column 'x': expected arrays of int64, found string"),
        ({"x": TABLE.to_reader()}, "column 'x': expected a stream of one column, found 5 columns"),
        ({"x": [1] * 5, "y": iter([pa.array([1])])}, "column 'y': expected as many values as 'x' has, found 1"),
        ({"at:nanoseconds": [1] * 5}, "columns: expected different names, found 'at:nanoseconds' twice"),
        ({1: [1] * 5}, "columns: expected names as keys, found 1"),  # type: ignore[dict-item]
    ]
    for columns, message in refused:
        with pytest.raises(InvalidArgument, match=re.escape(message)):
            amudai.with_columns(source, columns, to)
    with pytest.raises(MissingColumn):
        amudai.with_columns(source, {"x": ["a"] * 5}, to, indexes=[TermIndex("word")])
    with pytest.raises(InvalidArgument, match=r"^to: expected another place than the shard"):
        amudai.with_columns(source, {"x": [1] * 5}, source.url)
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(InvalidArgument, match="expected allow= to permit it"):
        amudai.with_columns(source, {"x": [1] * 5}, tmp_path / "elsewhere" / "new.amudai.shard")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not to.exists()
    assert_exact(source.read(), TABLE)


def test_columns_change_in_another_folder(source: amudai.Shard, tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    added = amudai.with_columns(source, {"x": [1, 2, 3, 4, 5]}, place / "added.amudai.shard", allow=[tmp_path])
    assert_exact(added.read(), TABLE.append_column("x", pa.array([1, 2, 3, 4, 5])))
    # An opened shard brings along what it may refer to.
    renamed = amudai.rename_columns(added, {"x": "y"}, place / "renamed.amudai.shard")
    dropped = amudai.drop_columns(renamed, ["y"], place / "dropped.amudai.shard")
    assert_exact(dropped.read(), TABLE)
    with pytest.raises(amudai.StorageError, match="allow= permits"):
        amudai.open(place / "dropped.amudai.shard").read()


def test_what_cannot_be_dropped_or_renamed(source: amudai.Shard, tmp_path: Path) -> None:
    to = tmp_path / "new.amudai.shard"
    for columns, message in (
        (["at:nanoseconds"], "column 'at:nanoseconds': expected one of id, at, word"),
        (["tags.item"], "column 'tags.item': expected a column or a member of a struct, found one below a list"),
        (["http.status", "http.path"], "columns of 'http': expected a member to remain: drop the struct itself"),
        ("id", "columns: expected a list of names, found the name 'id'"),
    ):
        with pytest.raises(InvalidArgument, match=re.escape(message)):
            amudai.drop_columns(source, columns, to)
    for names, message in (
        ({"id": "word"}, "columns: expected different names, found 'word' twice"),
        ({"http.path": "status"}, "columns: expected different names, found 'status' twice"),
        ({"id": "at:nanoseconds"}, "columns: expected different names, found 'at:nanoseconds' twice"),
        ({"id": ""}, "columns: expected a new name for 'id', found ''"),
    ):
        with pytest.raises(InvalidArgument, match=re.escape(message)):
            amudai.rename_columns(source, names, to)
    assert not to.exists()


def test_lengths_with_deleted_rows_are_explained(tmp_path: Path) -> None:
    def delete_one(message: Any) -> None:
        (message.stripes[0] if isinstance(message, wire.StripeList) else message).deleted_record_count = 1

    forge = Forge.of({"a": numbers([1, 2, 3], "i8")}, edits=dict.fromkeys(("ShardDirectory", "StripeList"), delete_one))
    (tmp_path / forge.name).write_bytes(forge.root())
    message = "found 2, one for each row that is not deleted: deleted rows need a value, too"
    with pytest.raises(InvalidArgument, match=message):
        amudai.with_columns(tmp_path / forge.name, {"x": [1, 2]}, tmp_path / "new.amudai.shard")


def test_unknown_indexes_over_changed_columns_go_and_required_ones_are_an_error(tmp_path: Path) -> None:
    place = tmp_path / "source.amudai.shard"
    amudai.write({"a": [1, 2], "b": [3, 4], "c": [5, 6]}, place)

    def with_index(name: str, *properties: tuple[str, AnyValue]) -> Path:
        made = IndexDescriptor(index_type="foreign", properties=properties, indexed_fields=((0,), (1,)), artifacts=())
        root = with_indexes(Root.of(ShardReader(place)), IndexCollection((made,)), [IndexCollection(())])
        with Publication(ShardReader(place).store, (tmp_path / name).as_uri()) as publication:
            publication.publish(root.at((tmp_path / name).as_uri()))
        return tmp_path / name

    optional = with_index("optional.amudai.shard")
    required = with_index("required.amudai.shard", ("required", AnyValue("bool", True)))
    to = tmp_path / "new.amudai.shard"
    kept = amudai.drop_columns(optional, ["c"], tmp_path / "kept.amudai.shard")
    assert [index.fields for index in kept.indexes] == [("a", "b")]
    assert amudai.drop_columns(optional, ["a"], tmp_path / "dropped.amudai.shard").indexes == ()
    assert amudai.rename_columns(optional, {"b": "x"}, tmp_path / "renamed.amudai.shard").indexes == ()
    with pytest.raises(UnsupportedFeature, match="expected no required index over a column that is dropped"):
        amudai.drop_columns(required, ["a"], to)
    with pytest.raises(UnsupportedFeature, match="expected no required index over a column that is renamed"):
        amudai.rename_columns(required, {"b": "x"}, to)
    assert [index.fields for index in amudai.drop_columns(required, ["c"], to).indexes] == [("a", "b")]


def test_unknown_fields_stay_when_columns_change(tmp_path: Path) -> None:
    """A field of a later version in the index of another column, and in the properties of the shard."""
    later = b"\xf9\x7c" + bytes(range(1, 9))  # field 1999, fixed64
    place = tmp_path / "source.amudai.shard"
    amudai.write({"a": ["p", "q"], "b": ["r", "s"]}, place, indexes=[TermIndex("a"), TermIndex("b")])
    root = Root.of(ShardReader(place))
    collection = wire.IndexCollection.FromString(root.metadata.indexes)
    collection.index_descriptors[0].MergeFromString(later)
    metadata = replace(
        root.metadata, indexes=collection.SerializeToString(), properties=root.metadata.properties + later
    )
    unknown = tmp_path / "unknown.amudai.shard"
    with Publication(ShardReader(place).store, unknown.as_uri()) as publication:
        publication.publish(replace(root, metadata=metadata).at(unknown.as_uri()))
    for name, change in (
        ("1", lambda to: amudai.drop_columns(unknown, ["b"], to)),
        ("2", lambda to: amudai.rename_columns(unknown, {"a": "x"}, to)),
        ("3", lambda to: amudai.with_columns(unknown, {"c": [1, 2]}, to)),
    ):
        new = Root.of(ShardReader(change(tmp_path / f"{name}.amudai.shard").url)).metadata
        assert later in wire.IndexCollection.FromString(new.indexes).index_descriptors[0].SerializeToString()
        assert later in new.properties


@pytest.mark.slow
@pytest.mark.parametrize("case", golden.CASES, ids=lambda case: case.name)
def test_columns_of_shards_of_the_reference(case: golden.Case, tmp_path: Path) -> None:
    for file in case.root.parent.iterdir():
        shutil.copy(file, tmp_path)
    source = amudai.open(tmp_path / case.root.name)
    before = source.read()
    if not before.num_columns:
        return
    first = before.column_names[0]
    new = amudai.with_columns(source, {"added": np.arange(len(before))}, tmp_path / "1.amudai.shard")
    expected = before.append_column("added", pa.array(np.arange(len(before))))
    assert_exact(new.read(), expected)
    new = amudai.rename_columns(new, {quote_name(first): "renamed"}, tmp_path / "2.amudai.shard")
    expected = expected.rename_columns(["renamed", *expected.column_names[1:]])
    assert_exact(new.read(), expected)
    new = amudai.drop_columns(new, ["renamed"], tmp_path / "3.amudai.shard")
    assert_exact(new.read(), expected.drop_columns(["renamed"]))
    assert_exact(amudai.open(case.root).read(), before)


KINDS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int32(), st.integers(-100, 100)),
    (pa.string(), st.text(st.sampled_from("ab é"), max_size=4)),
    (pa.timestamp("ns"), st.integers(-(10**9), 10**9)),
    (pa.list_(pa.string()), st.lists(st.sampled_from(["x", "y", None]), max_size=3)),
    (
        pa.struct([("p", pa.int64()), ("q", pa.list_(pa.bool_()))]),
        st.fixed_dictionaries({"p": st.integers(0, 9), "q": st.none()}),
    ),
    (pa.float64(), st.floats(allow_nan=False)),
]


@st.composite
def arrays(draw: st.DrawFn, rows: int) -> pa.Array:
    kind, values = draw(st.sampled_from(KINDS))
    return pa.array(draw(st.lists(st.none() | values, min_size=rows, max_size=rows)), kind)


@pytest.mark.slow
@examples(40)
@given(
    data=st.data(),
    rows=st.integers(0, 7),
    stripe_rows=st.sampled_from([None, 1, 3]),
    layout=st.sampled_from(["single", "two-level"]),
)
def test_any_changes_of_columns(data: st.DataObject, rows: int, stripe_rows: int | None, layout: Any) -> None:
    names = [f"c{at}" for at in range(5)]
    table = pa.table({name: data.draw(arrays(rows)) for name in names[:3]})
    with TemporaryDirectory() as folder:
        shard = amudai.write(
            table, f"{folder}/0.amudai.shard", stripe_rows=stripe_rows, layout=layout, indexes=_indexes(table)
        )
        seen = [(shard, table)]
        for number in range(1, data.draw(st.integers(2, 4))):
            to = f"{folder}/{number}.amudai.shard"
            free = [name for name in names if name not in table.column_names]
            what = data.draw(st.sampled_from(["add", "drop", "rename", "replace"]))
            if what == "drop" and table.num_columns > 1:
                name = data.draw(st.sampled_from(table.column_names))
                shard, table = amudai.drop_columns(shard, [name], to), table.drop_columns([name])
            elif what == "rename":
                old = data.draw(st.sampled_from(table.column_names))
                new = data.draw(st.sampled_from([*free, old]))
                renamed = [new if name == old else name for name in table.column_names]
                shard, table = amudai.rename_columns(shard, {old: new}, to), table.rename_columns(renamed)
            elif what == "replace":
                name, array = data.draw(st.sampled_from(table.column_names)), data.draw(arrays(rows))
                shard = amudai.with_columns(shard, {name: array}, to, replace=True)
                table = table.set_column(table.column_names.index(name), name, array)
            elif free:
                added = pa.table({free[0]: data.draw(arrays(rows))})
                shard = amudai.with_columns(shard, added.to_reader(), to, indexes=_indexes(added))
                table = table.append_column(free[0], added[0])
            seen.append((shard, table))
        for each, expected in seen:
            assert_exact(each.read(), expected)
            assert each.verify().ok
            for name in expected.column_names:
                if pa.types.is_string(expected.schema.field(name).type):
                    for value in {*expected[name].to_pylist()} - {None}:
                        where = [at for at, found in enumerate(expected[name].to_pylist()) if found == value]
                        assert positions(each, col(name) == value) == where
                        found = hashed(each, name, value.encode())
                        assert found is None or set(where) <= set(found)


def _indexes(table: pa.Table) -> list[Any]:
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    return [HashIndex(*texts), TermIndex(texts[0], level="stripe")] if texts else []


# ---- with deletes and merges ----


@pytest.mark.slow
def test_columns_of_a_shard_with_deleted_rows(source: amudai.Shard, tmp_path: Path) -> None:
    fewer = amudai.delete(source, positions=[1, 4], to=tmp_path / "fewer.amudai.shard")
    new = amudai.with_columns(fewer, {"n": [10, 11, 12, 13, 14]}, tmp_path / "added.amudai.shard")
    assert new.read(["n"]).to_pydict() == {"n": [10, 12, 13]}
    new = amudai.with_columns(new, {"word": list("abcde")}, tmp_path / "replaced.amudai.shard", replace=True)
    new = amudai.rename_columns(
        amudai.drop_columns(new, ["id"], tmp_path / "dropped.amudai.shard"),
        {"word": "w"},
        tmp_path / "renamed.amudai.shard",
    )
    assert (new.num_rows, new.num_positions) == (3, 5)
    assert new.read(["w", "n"]).to_pydict() == {"w": ["a", "c", "d"], "n": [10, 12, 13]}
    assert new.count(where=col("w") == "b") == 0
    assert new.verify().ok
    back = amudai.undelete(new, to=tmp_path / "back.amudai.shard")
    assert back.read(["w"]).to_pydict() == {"w": list("abcde")}


@pytest.mark.slow
@pytest.mark.parametrize("indexes", ["keep", "rebuild", "drop"])
def test_merged_shards_whose_columns_were_dropped_and_renamed(
    source: amudai.Shard, tmp_path: Path, indexes: Any
) -> None:
    dropped = amudai.drop_columns(source, ["id", "tags"], tmp_path / "dropped.amudai.shard")
    renamed = amudai.rename_columns(dropped, {"word": "text"}, tmp_path / "renamed.amudai.shard")
    merged = amudai.merge([renamed, renamed], tmp_path / "merged.amudai.shard", indexes=indexes)
    expected = renamed.read()
    assert_exact(merged.read(), pa.concat_tables([expected, expected]))
    assert merged.verify().ok
    assert positions(merged, col("text") == "full") == [4, 9]
    assert positions(merged, col("text").has("disk")) == [0, 3, 5, 8]
    again = amudai.rename_columns(merged, {"text": "w", "http": "web"}, tmp_path / "again.amudai.shard")
    again = amudai.with_columns(again, {"id": list(range(10))}, tmp_path / "more.amudai.shard")
    assert positions(again, col("w") == "full") == [4, 9]
    assert positions(again, col("web.path") == "/b") == [2, 7]
    assert again["id"].read().to_pylist() == list(range(10))
    assert again.verify().ok


def test_new_columns_with_indexes_in_their_descriptors(tmp_path: Path) -> None:
    """The shard must say which descriptors have indexes, or nobody looks for them."""
    old = amudai.write({"n": [1, 2, 3]}, tmp_path / "old.amudai.shard", indexes=[amudai.HashIndex("n", level="field")])
    indexes = [amudai.TermIndex("w", level="field"), amudai.HashIndex("id", level="field")]
    new = {"w": ["p q", "q r", "s"], "id": ["x", "y", "z"]}
    shard = amudai.with_columns(old, new, to=tmp_path / "new.amudai.shard", indexes=indexes)
    assert sorted(each.fields for each in shard.indexes) == [("id",), ("n",), ("w",)]
    assert shard["w"].terms().to_pydict()["term"][0] == "q"
    assert shard.verify(deep=True).ok
