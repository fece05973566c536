"""What later versions may bring: ignored where values do not depend on it, refused field by field where they do."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

import amudai
from amudai.format.wire import amudai_pb2 as wire
from tests.forge import (
    Buffer,
    Column,
    Forge,
    binaries,
    booleans,
    dictionary,
    lists,
    nodes_of,
    numbers,
    open_forged,
    strings,
    structs,
)
from tests.forge.content import pairs
from tests.forge.range_index import range_index
from tests.forge.statistics import described
from tests.format import fbs
from tests.oracle import block

MESSAGES = (
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


def unknown_field(number: int = 1999, content: bytes = b"from a later version") -> bytes:
    """A field that no message has, as protobuf writes it."""
    tag, varint = number << 3 | 2, bytearray()
    while tag > 127:
        varint.append(tag % 128 | 128)
        tag >>= 7
    return bytes([*varint, tag, len(content)]) + content


def later() -> wire.AnyValue:
    """A value whose kind a later version added to its oneof."""
    return wire.AnyValue.FromString(unknown_field(77))


def index(
    *schema_ids: int, required: bool | None = None, kind: str = "later-index", **properties: object
) -> wire.IndexDescriptor:
    if required is not None:
        properties["required"] = required
    fields = [wire.IndexedField(schema_ids=[schema_id]) for schema_id in schema_ids]
    return wire.IndexDescriptor(index_type=kind, properties=pairs(properties), indexed_fields=fields)


def two_columns() -> dict[str, Column]:
    return {"a": numbers([1, 2], "i8"), "b": strings(["x", "y"])}


ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def only_b_reads(forge: Forge, match: str, refused: Sequence[str] = ("a",)) -> None:
    """Columns that use something unknown are refused, by name; `b` is read as ever."""
    shard = open_forged(forge)
    assert shard.read(["b"]).to_pylist() == [{"b": "x"}, {"b": "y"}]
    assert shard.take([1], ["b"]).to_pylist() == [{"b": "y"}]
    for columns in (*([name] for name in refused), None):
        with pytest.raises(amudai.UnsupportedFeature, match=match) as caught:
            shard.read(columns)
        assert str(caught.value.place["field"]).split(".")[0] == refused[0].split(".")[0]
    with pytest.raises(amudai.UnsupportedFeature, match=match):
        list(shard.to_reader([refused[0]]))
    with pytest.raises(amudai.UnsupportedFeature, match=match):
        shard.take([0], [refused[0]])


# ---- ignored ----


@pytest.mark.parametrize("message", MESSAGES)
def test_unknown_fields_of_messages_are_skipped(message: str) -> None:
    forge = Forge.of(two_columns(), properties={"owner": "ops"}, indexes=[index(0)], unknown={message: unknown_field()})
    forge.stripes[0].properties = {"part": 1}
    shard = open_forged(forge)
    assert shard.read().to_pylist() == ROWS
    assert shard.properties == {"owner": "ops"}
    assert shard.stripes[0].properties == {"part": 1}
    assert shard["a"].stats.max == 2
    assert len(shard.indexes) == 1


def test_unknown_fields_deep_inside_are_skipped() -> None:
    columns = two_columns()

    def grow(message: wire.StripeFieldDescriptor) -> None:
        message.field.MergeFromString(unknown_field())
        message.field.range_stats.MergeFromString(unknown_field())
        message.encodings[0].native.MergeFromString(unknown_field())
        message.encodings[0].native.buffers[0].MergeFromString(unknown_field())
        message.encodings[0].native.buffers[0].buffer.MergeFromString(unknown_field())

    columns["a"].stored.edit = grow
    assert open_forged(Forge.of(columns)).read().to_pylist() == ROWS


def test_properties_of_an_unknown_kind_have_no_value() -> None:
    properties = {"later": later(), "owner": "ops"}
    shard = open_forged(Forge.of(two_columns(), properties=properties))
    assert shard.properties == {"later": None, "owner": "ops"}
    assert shard.read().to_pylist() == ROWS


def test_a_bound_of_an_unknown_kind_does_not_stop_reading() -> None:
    columns = two_columns()
    columns["a"].stored.descriptor.range_stats.min_value.CopyFrom(later())
    assert open_forged(Forge.of(columns, fields={0: None})).read().to_pylist() == ROWS


def test_sketches_of_unknown_algorithms_are_kept_and_not_used() -> None:
    columns = two_columns()
    schema = nodes_of(columns)
    content = columns["b"].stored
    described(content, schema[1], pa.array(["x", "y"]))
    content.descriptor.cardinality.count = 2
    content.descriptor.cardinality.hll_sketch.hash_algorithm = "later"
    content.descriptor.cardinality.hll_sketch.counters = b"?"
    content.descriptor.membership_filters.sbbf.hash_algorithm = "later"
    content.descriptor.membership_filters.sbbf.data = b"?"
    shard = open_forged(Forge.of(columns, fields={1: content.descriptor}))
    assert shard.read().to_pylist() == ROWS
    assert shard["b"].stats.distinct_count == 2


def test_a_range_index_of_an_unknown_version_does_not_stop_reading() -> None:
    columns = two_columns()
    ranges = range_index([1, 2], "i8", columns["a"].basic_type)
    ranges.raw = b"\x02" + ranges.raw[1:]
    columns["a"].stored.buffers.append(ranges)
    assert open_forged(Forge.of(columns)).read().to_pylist() == ROWS


def test_an_internal_field_of_an_unknown_kind_is_hidden() -> None:
    columns = {**two_columns(), "": numbers([8, 9], "u8")}
    columns[""].internal = "Later.Kind"
    shard = open_forged(Forge.of(columns))
    assert shard.schema.names == ["a", "b"]
    assert shard.read().to_pylist() == ROWS
    with pytest.raises(amudai.InvalidArgument):
        shard.read([""])


@pytest.mark.parametrize("mark", [b"amud\x00\x02\x00\x00", b"amud\x07\xff\xff\x00"])
def test_later_minor_versions_are_read(mark: bytes) -> None:
    assert open_forged(Forge.of(two_columns(), header=mark, footer=mark)).read().to_pylist() == ROWS


# ---- indexes ----


def test_an_optional_index_of_an_unknown_type_is_listed_and_left_aside() -> None:
    optional = [index(0), index(0, 1, required=False), index(1, required=None, level=3)]
    forge = Forge.of(two_columns(), indexes=optional)
    forge.stripes[0].indexes = [index(0)]
    shard = open_forged(forge)
    assert [(found.type, found.stripe) for found in shard.indexes] == [("later-index", None)] * 3 + [("later-index", 0)]
    assert shard.indexes[1].fields == ("a", "b")
    assert shard.scan().explain().unknown_indexes == ("later-index",) * 4
    assert shard.read().to_pylist() == ROWS
    assert "index later-index" in shard.tree()


def test_a_term_index_with_an_unknown_collation_is_skipped_and_named() -> None:
    kind = "inverted-text-index-v1"
    later = index(1, kind=kind, collation="later")
    for name in ("terms", "positions"):
        later.artifacts.add(name=name)
    shard = open_forged(Forge.of(wide_columns(), indexes=[later]))
    scan = shard.scan(["a"], where=amudai.col("b").has("y"))
    assert scan.to_table()["a"].to_pylist() == list(range(1, 400, 2))
    (note,) = scan.explain().unused_indexes
    assert note == f"{kind}: term index: expected a known collation, found 'later'"
    assert f"index not used: {note}" in str(scan.explain())


def wide_columns() -> dict[str, Column]:
    """So many rows that asking an index pays."""
    return {"a": numbers(list(range(400)), "i8"), "b": strings(["x", "y"] * 200)}


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, 2, "range index version: expected 1, found 2"),
        (2, 99, "range index basic_type: expected at most 17, found 99"),
    ],
)
def test_a_range_index_of_a_later_version_is_skipped_and_named(at: int, value: int, message: str) -> None:
    columns = wide_columns()
    ranges = range_index(list(range(400)), "i8", columns["a"].basic_type)
    ranges.raw = ranges.raw[:at] + bytes([value]) + ranges.raw[at + 1 :]
    columns["a"].stored.buffers.append(ranges)
    shard = open_forged(Forge.of(columns))
    scan = shard.scan(["a"], where=amudai.col("a") >= 390)
    assert scan.to_table()["a"].to_pylist() == list(range(390, 400))
    assert scan.explain().unused_indexes == (f"range index: {message}",)
    assert shard.count("a < 5") == 5


def test_a_damaged_range_index_is_an_error_or_ignored_as_asked() -> None:
    columns = wide_columns()
    ranges = range_index(list(range(400)), "i8", columns["a"].basic_type)
    ranges.raw = ranges.raw[:50] + bytes([ranges.raw[50] ^ 1]) + ranges.raw[51:]
    columns["a"].stored.buffers.append(ranges)
    shard = open_forged(Forge.of(columns))
    with pytest.raises(amudai.CorruptedData, match="range index minima checksum") as caught:
        shard.count("a >= 390")
    assert caught.value.place["field"] == "a"
    scan = shard.scan(where=amudai.col("a") >= 390, on_damaged_index="ignore")
    with pytest.warns(RuntimeWarning, match="damaged index ignored: range index minima checksum"):
        assert scan.count() == 10
    assert len(scan.explain().unused_indexes) == 1


@pytest.mark.parametrize("value", [1, "true", None], ids=["number", "text", "null"])
def test_required_is_a_boolean_and_nothing_else(value: object) -> None:
    forge = Forge.of(two_columns(), indexes=[index(0, required=value)])  # type: ignore[arg-type]
    assert open_forged(forge).read().to_pylist() == ROWS


def test_a_required_index_of_the_shard() -> None:
    only_b_reads(Forge.of(two_columns(), indexes=[index(0, required=True)]), "required index 'later-index'")


def test_a_required_index_of_one_stripe() -> None:
    forge = Forge.of(two_columns(), two_columns())
    forge.stripes[1].indexes = [index(0, required=True)]
    shard = open_forged(forge)
    assert shard.read(rows=slice(0, 2)).to_pylist() == ROWS
    assert shard.read(["b"]).num_rows == 4
    with pytest.raises(amudai.UnsupportedFeature, match="required index") as caught:
        shard.read(["a"])
    assert caught.value.place["field"] == "a"


def test_a_required_index_in_a_stripe_descriptor() -> None:
    columns = two_columns()
    # Whatever fields it names: it is this field's index.
    columns["a"].stored.descriptor.indexes.index_descriptors.append(index(required=True))
    only_b_reads(Forge.of(columns), "required index")


def test_an_optional_index_in_a_descriptor() -> None:
    columns = two_columns()
    columns["a"].stored.descriptor.indexes.index_descriptors.append(index(0))
    assert open_forged(Forge.of(columns)).read().to_pylist() == ROWS


def test_a_required_index_covers_everything_below_its_field() -> None:
    columns = {
        "a": structs({"x": numbers([1, 2], "i8"), "y": numbers([3, 4], "i8")}),
        "b": strings(["x", "y"]),
    }
    only_b_reads(Forge.of(columns, indexes=[index(0, required=True)]), "required index", ["a.x", "a"])
    # A member's index leaves its siblings readable.
    shard = open_forged(Forge.of(columns, indexes=[index(1, required=True)]))
    assert shard.read(["a.y"]).to_pylist() == [{"a": {"y": 3}}, {"a": {"y": 4}}]
    for path in ("a.x", "a"):
        with pytest.raises(amudai.UnsupportedFeature, match="required index"):
            shard.read([path])


def test_composite_keys_are_all_covered() -> None:
    composite = index(required=True)
    composite.indexed_fields.add(schema_ids=[0, 1])
    shard = open_forged(Forge.of({**two_columns(), "c": numbers([5, 6], "i8")}, indexes=[composite]))
    assert shard.read(["c"]).to_pylist() == [{"c": 5}, {"c": 6}]
    for name in ("a", "b"):
        with pytest.raises(amudai.UnsupportedFeature, match="required index"):
            shard.read([name])


# ---- encodings ----


def with_values(column: Column, values: bytes) -> Column:
    """The column with these bytes as the values of its only block."""
    buffer = column.stored.buffers[0]
    assert buffer.blocks is not None
    ((count, _),) = buffer.blocks
    buffer.blocks = [(count, block.build(b"", values))]
    return column


@pytest.mark.parametrize("code", [20, 999, 0xFFFF])
@pytest.mark.parametrize("column", [numbers([1, 2], "i8"), numbers([1.0, 2.0], "f4"), booleans([True, False])])
def test_an_unknown_numeric_encoding(code: int, column: Column) -> None:
    with_values(column, code.to_bytes(2, "little") + bytes(16))
    only_b_reads(Forge.of({**two_columns(), "a": column}), f"encoding.*{code}")


@pytest.mark.parametrize("code", [20, 999, 0xFFFF])
@pytest.mark.parametrize("column", [strings(["p", "q"]), binaries([b"p", b"q"], fixed_size=1)])
def test_an_unknown_binary_encoding(code: int, column: Column) -> None:
    with_values(column, code.to_bytes(2, "little") + bytes(16))
    only_b_reads(Forge.of({**two_columns(), "a": column}), f"encoding.*{code}")


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (strings(["p", "q"]), 4),  # FFOR is for integers
        (strings(["p", "q"]), 18),  # so is ZigZag
        (numbers([1, 2], "i8"), 15),  # FSST is for bytes
        (numbers([1, 2], "i8"), 12),  # ALP is for floats
        (numbers([1, 2], "i8"), 2),  # FLBitPack is for unsigned integers
        (numbers([1, 2], "u8"), 18),  # ZigZag is for signed ones
        (numbers([1.0, 2.0], "f8"), 5),  # Delta is for integers
    ],
)
def test_an_encoding_of_another_type(column: Column, code: int) -> None:
    with_values(column, code.to_bytes(2, "little") + bytes(30))
    with pytest.raises((amudai.CorruptedData, amudai.UnsupportedFeature), match=f"encoding.*{code}") as caught:
        open_forged(Forge.of({"a": column})).read()
    assert (caught.value.place["field"], caught.value.place["block"]) == ("a", 0)


def test_an_unknown_encoding_inside_another() -> None:
    nested = b"\x03\x00" + bytes(14) + (555).to_bytes(2, "little") + bytes(16)  # FOR over something
    column = with_values(numbers([1, 2], "i8"), nested)
    only_b_reads(Forge.of({**two_columns(), "a": column}), "encoding.*555")


def test_an_unknown_encoding_of_codes_and_of_offsets() -> None:
    values = (999).to_bytes(2, "little") + bytes(16)
    for column in (dictionary(["p", "q"]), lists([1, 1], numbers([1, 2], "i8"))):
        only_b_reads(Forge.of({**two_columns(), "a": with_values(column, values)}), "encoding.*999")


def test_a_column_that_cannot_be_read_does_not_hide_the_others_in_a_picture() -> None:
    columns = two_columns()
    parquet = wire.DataEncoding(parquet=wire.ExternalParquetDataEncoding())
    columns["a"].stored.encodings = lambda native: [parquet]
    picture = open_forged(Forge.of(columns)).tree()
    assert "unreadable: stored values: columns of a Parquet file" in picture
    assert "b" in picture.splitlines()[-1]
    assert "plain" in picture.splitlines()[-1]


@pytest.mark.parametrize("at", [0, 1])
def test_a_buffer_of_an_unknown_kind(at: int) -> None:
    columns = two_columns()
    columns["a"].stored.buffers.insert(at, Buffer(kind=77, raw=b"later"))
    only_b_reads(Forge.of(columns), "buffers: expected kinds up to 5, found kind 77 of a later version")


# ---- types and versions ----


def test_an_unknown_basic_type() -> None:
    columns = two_columns()
    payload = fbs.build([fbs.Node("a", kind=18), fbs.Node("b", kind=10)])
    shard = open_forged(
        Forge(
            schema=nodes_of(columns),
            stripes=Forge.of(columns).stripes,
            raw_schema=payload,
        )
    )
    assert shard.read(["b"]).to_pylist() == [{"b": "x"}, {"b": "y"}]
    with pytest.raises(amudai.UnsupportedFeature, match=r"basic type of 'a': expected 0\.\.17, found 18"):
        shard.read(["a"])


@pytest.mark.parametrize("part", ["header", "footer"])
def test_another_major_version_is_refused(part: str) -> None:
    forge = Forge.of(two_columns(), **{part: b"amud\x00\x01\x00\x01"})
    with pytest.raises(amudai.UnsupportedFeature, match="expected major version 0, found 1") as caught:
        open_forged(forge)
    assert str(caught.value.place["url"]).endswith(forge.name)


def test_a_deleted_record_too_many_is_damage() -> None:
    forge = Forge.of(
        two_columns(), edits={"ShardDirectory": lambda message: setattr(message, "deleted_record_count", 3)}
    )
    with pytest.raises(amudai.CorruptedData, match="deleted_record_count: expected at most 2, found 3"):
        open_forged(forge)


def test_the_schema_decides_what_is_there_not_the_field_lists() -> None:
    # A stripe of a later shard may list more fields than this schema has.
    forge = Forge.of(two_columns())
    forge.stripes[0].slots = 5
    assert open_forged(forge).read().to_pylist() == ROWS
