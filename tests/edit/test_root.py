"""Roots as values: what a root holds, the results of operations on it, and unknown content that is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

import amudai
from amudai import HashIndex, TermIndex, col
from amudai.edit import Root, with_indexes
from amudai.format import FieldDescriptor, IndexCollection, IndexDescriptor, StripeFieldDescriptor
from amudai.format.wire import amudai_pb2 as wire
from amudai.shard import ShardReader
from tests import golden
from tests.forge import Column, Forge, numbers, strings
from tests.forge.content import pairs

SCALAR = b"\xf9\x7c" + bytes(range(1, 9))  # field 1999, fixed64
MESSAGE = b"\xfa\x7c\x03new"  # field 1999, three bytes that may be a message


def columns() -> dict[str, Column]:
    return {"a": numbers([1, 2], "i8"), "b": strings(["x", "y"])}


def forged(folder: Path, *stripes: dict[str, Column], **options: Any) -> Path:
    forge = Forge.of(*(stripes or (columns(),)), **options)
    for name, content in forge.files().items():
        (folder / name).write_bytes(content)
    return folder / forge.name


def derived(source: Path) -> tuple[amudai.Shard, dict[str, bytes]]:
    """A shard with one more index, and the payloads of its messages by kind; the last of each kind."""
    target = source.with_name("derived.amudai.shard")
    shard = amudai.add_indexes(source, [TermIndex("b")], target)
    return shard, payloads(ShardReader(target))


def payloads(reader: ShardReader) -> dict[str, bytes]:
    directory, stripe = reader.directory, reader.stripes[0].directory
    places = {
        "ShardDirectory": reader.directory_place,
        "StripeList": directory.stripe_list,
        "UrlList": directory.url_list,
        "ShardProperties": directory.properties,
        "IndexCollection": directory.indexes,
        "DataRefArray": directory.field_list,
        "StripeProperties": stripe.properties,
        "DataRefArray of a stripe": stripe.field_list,
        "Schema": directory.schema,
    }
    found = {kind: bytes(reader.payload(ref, kind, reader.root)[0]) for kind, ref in places.items() if ref is not None}
    for kind, listed in (("FieldDescriptor", "DataRefArray"), ("StripeFieldDescriptor", "DataRefArray of a stripe")):
        array = wire.DataRefArray.FromString(found[listed])
        found[kind] = bytes(reader.root.read(array.start[0] + 4, array.end[0] - 4))
    return found


# ---- unknown fields ----

FRAMED = (
    "ShardDirectory",
    "ShardProperties",
    "StripeList",
    "UrlList",
    "DataRefArray",
    "FieldDescriptor",
    "StripeFieldDescriptor",
    "StripeProperties",
    "IndexCollection",
)


def with_everything(folder: Path, **options: Any) -> Path:
    index = wire.IndexDescriptor(index_type="later-index", indexed_fields=[wire.IndexedField(schema_ids=[0])])
    forge = Forge.of(columns(), properties={"owner": "ops"}, indexes=[index], **options)
    forge.stripes[0].properties = {"part": 1}
    path = folder / forge.name
    path.write_bytes(forge.root())
    return path


@pytest.mark.parametrize("kind", FRAMED)
def test_unknown_numbers_are_kept_in_every_message(tmp_path: Path, kind: str) -> None:
    shard, found = derived(with_everything(tmp_path, unknown={kind: SCALAR}))
    assert SCALAR in found[kind]
    if kind == "DataRefArray":
        assert SCALAR in found["DataRefArray of a stripe"]
    assert shard.read().to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert shard.properties == {"owner": "ops"}
    assert shard.stripes[0].properties == {"part": 1}
    assert shard.indexes[0].type == "later-index"
    assert shard.scan(where=col("b").has("y")).positions().tolist() == [1]
    again = amudai.add_indexes(shard, [HashIndex("a")], tmp_path / "again.amudai.shard")
    assert SCALAR in payloads(again._reader)[kind]


@pytest.mark.parametrize("kind", FRAMED)
def test_unknown_fields_that_may_be_references(tmp_path: Path, kind: str) -> None:
    source = with_everything(tmp_path, unknown={kind: MESSAGE})
    if kind in ("ShardProperties", "StripeProperties", "FieldDescriptor"):
        assert MESSAGE in derived(source)[1][kind]
        return
    with pytest.raises(amudai.UnsupportedFeature, match=f"^{kind}: .* found field 1999") as caught:
        derived(source)
    assert source.name in str(caught.value)
    assert [each.name for each in tmp_path.iterdir()] == [source.name], "nothing was written"


def stripe_directory(message: Message) -> Message:
    assert isinstance(message, wire.StripeList)
    return message.stripes[0]


@pytest.mark.parametrize(("unknown", "kept"), [(SCALAR, True), (MESSAGE, False)])
def test_unknown_fields_of_a_stripe_directory(tmp_path: Path, unknown: bytes, kept: bool) -> None:
    def grow(message: Message) -> None:
        stripe_directory(message).MergeFromString(unknown)

    source = with_everything(tmp_path, edits={"StripeList": grow})
    if kept:
        stripe = stripe_directory(wire.StripeList.FromString(derived(source)[1]["StripeList"]))
        assert unknown in stripe.SerializeToString()
    else:
        with pytest.raises(amudai.UnsupportedFeature, match=r"^StripeDirectory: .* found field 1999"):
            derived(source)


INSIDE: dict[str, Callable[[wire.StripeFieldDescriptor], Message]] = {
    "FieldDescriptor": lambda message: message.field,
    "RangeStats": lambda message: message.field.range_stats,
    "CardinalityInfo": lambda message: message.field.cardinality,
    "HllSketchV1": lambda message: message.field.cardinality.hll_sketch,
    "MembershipFilters": lambda message: message.field.membership_filters,
    "SplitBlockBloomFilter": lambda message: message.field.membership_filters.sbbf,
    "DataEncoding": lambda message: message.encodings[0],
    "NativeDataEncoding": lambda message: message.encodings[0].native,
    "EncodedBuffer": lambda message: message.encodings[0].native.buffers[0],
    "DataRef": lambda message: message.encodings[0].native.buffers[0].buffer,
    "UInt64Range": lambda message: message.encodings[0].native.buffers[0].buffer.range,
}
REFUSED = {"DataEncoding", "NativeDataEncoding", "EncodedBuffer", "DataRef", "UInt64Range"}


@pytest.mark.parametrize("kind", INSIDE)
@pytest.mark.parametrize("unknown", [SCALAR, MESSAGE], ids=["number", "message"])
def test_unknown_fields_inside_descriptors(tmp_path: Path, kind: str, unknown: bytes) -> None:
    content = columns()
    content["a"].stored.edit = lambda message: INSIDE[kind](message).MergeFromString(unknown) and None
    source = forged(tmp_path, content)
    if kind in ("DataRef", "UInt64Range") or (kind in REFUSED and unknown == MESSAGE):
        with pytest.raises(amudai.UnsupportedFeature, match=f"^{kind}: .* found field 1999"):
            derived(source)
        return
    shard, found = derived(source)
    message = wire.StripeFieldDescriptor.FromString(found["StripeFieldDescriptor"])
    assert unknown in INSIDE[kind](message).SerializeToString()
    assert shard.read(["a"])["a"].to_pylist() == [1, 2]


def test_the_schema_is_kept_as_it_is(tmp_path: Path) -> None:
    source = tmp_path / "x.amudai.shard"
    amudai.write({"b": ["x"], "n": [1]}, source)
    assert derived(source)[1]["Schema"] == payloads(ShardReader(source))["Schema"]


def test_indexes_of_fields_are_taken_over(tmp_path: Path) -> None:
    artifact = wire.IndexArtifact(name="piece", data_ref=wire.DataRef(range=wire.UInt64Range(start=8, end=16)))
    index = wire.IndexDescriptor(index_type="later-index", properties=pairs({"level": 3}), artifacts=[artifact])
    content = columns()
    content["a"].stored.descriptor.indexes.index_descriptors.append(index)
    source = forged(tmp_path, content)
    message = wire.StripeFieldDescriptor.FromString(derived(source)[1]["StripeFieldDescriptor"])
    (found,) = message.field.indexes.index_descriptors
    assert found.artifacts[0].data_ref.url == source.name, "the bytes stay in the file of the source"
    assert found.properties == index.properties


# ---- the value ----


def test_a_root_says_what_the_shard_says(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write({"n": range(10), "t": list("abcdefghij")}, path, layout="two-level", stripe_rows=4)
    root = Root.of(ShardReader(path))
    assert (root.url, root.name) == (f"file://{path}", "x.amudai.shard")
    assert [stripe.rows for stripe in root.metadata.stripes] == [4, 4, 2]
    assert [stripe.deleted for stripe in root.metadata.stripes] == [0, 0, 0]
    assert set(root.files) == root.owned == root.metadata.urls == {each.name for each in tmp_path.glob("*.stripe")}
    first, _ = root.metadata.fields
    assert first is not None
    assert FieldDescriptor.decode(first).position_count == 10
    stored = root.metadata.stripes[2].fields[1]
    assert stored is not None
    assert StripeFieldDescriptor.decode(stored).field.position_count == 2
    assert root == Root.of(ShardReader(path))


def test_operations_leave_the_root_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write({"n": [1, 2]}, path)
    root = Root.of(ShardReader(path))
    index = IndexDescriptor(index_type="t", indexed_fields=((0,),), artifacts=())
    new = with_indexes(root, IndexCollection((index,)), [IndexCollection((index, index))])
    assert root == Root.of(ShardReader(path))
    assert list(IndexCollection.decode(new.metadata.indexes)) == [index]
    assert list(IndexCollection.decode(new.metadata.stripes[0].indexes)) == [index, index]
    more = with_indexes(new, IndexCollection((index,)), [IndexCollection(())])
    assert list(IndexCollection.decode(more.metadata.indexes)) == [index, index]


def test_a_root_at_another_place(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write({"n": [1, 2]}, path, layout="two-level")
    root = Root.of(ShardReader(path))
    moved = root.at(f"file://{tmp_path}/y.amudai.shard")
    assert (moved.name, moved.owned, moved.files) == ("y.amudai.shard", frozenset(), root.files)
    with pytest.raises(amudai.InvalidArgument, match="expected a place in the folder of the shard"):
        root.at("file:///elsewhere/y.amudai.shard")
    single = tmp_path / "s.amudai.shard"
    amudai.write({"n": [1, 2]}, single)
    with pytest.raises(amudai.InvalidArgument, match="refers to the bytes of this file"):
        Root.of(ShardReader(single)).at(f"file://{single}")


@pytest.mark.parametrize("case", golden.CASES, ids=lambda case: case.name)
def test_roots_of_the_reference_are_taken_over(case: golden.Case) -> None:
    root = Root.of(ShardReader(case.root))
    reader = ShardReader(case.root)
    assert root.owned == frozenset()
    assert [stripe.rows for stripe in root.metadata.stripes] == [stripe.num_rows for stripe in reader.stripes]
    assert root.name not in root.metadata.urls or root.name in root.files
