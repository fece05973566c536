"""Schemas are written as the reference writes them, and one that cannot be read back is not written."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amudai.errors import InvalidSchema
from amudai.format import ShardSchema, encode_schema
from amudai.format.flat import FlatTable
from amudai.format.schema_writer import hash_lookup
from amudai.types import DECIMAL, TIMESPAN, BasicType, SchemaNode
from tests.format import fbs

INT = BasicType.INT64
LEAVES = (
    BasicType.UNIT,
    BasicType.BOOLEAN,
    BasicType.INT8,
    BasicType.INT64,
    BasicType.FLOAT32,
    BasicType.BINARY,
    BasicType.STRING,
    BasicType.DATETIME,
)


def node(name: str, kind: BasicType = INT, *children: SchemaNode, **facts: object) -> SchemaNode:
    return SchemaNode(schema_id=0, name=name, basic_type=kind, children=children, **facts)  # type: ignore[arg-type]


def numbered(*fields: SchemaNode) -> tuple[SchemaNode, ...]:
    """The same fields with ids that count depth first."""
    count = [0]

    def number(field: SchemaNode) -> SchemaNode:
        schema_id = count[0]
        count[0] += 1
        return replace(field, schema_id=schema_id, children=tuple(number(child) for child in field.children))

    return tuple(number(field) for field in fields)


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
LABELS = st.sampled_from(["", "", TIMESPAN, "other"])


@st.composite
def leaves(draw: st.DrawFn) -> SchemaNode:
    kind = draw(st.sampled_from(LEAVES))
    fixed = draw(st.sampled_from([0, 1, 16, 2**32 - 1]))
    plain = node("", kind, signed=draw(st.booleans()), extension=draw(LABELS))
    return draw(
        st.sampled_from(
            [
                plain,
                node("", BasicType.GUID, fixed_size=16),
                node("", BasicType.FIXED_SIZE_BINARY, fixed_size=16, extension=DECIMAL),
                node("", BasicType.FIXED_SIZE_BINARY, fixed_size=fixed),
            ]
        )
    )


@st.composite
def named(draw: st.DrawFn, inner: st.SearchStrategy[SchemaNode], most: int = 14) -> tuple[SchemaNode, ...]:
    names = draw(st.lists(TEXT.filter(bool), unique=True, max_size=most))
    aliases = st.lists(TEXT, max_size=2).map(tuple)
    return tuple(replace(draw(inner), name=name, aliases=draw(aliases)) for name in names)


def nested(inner: st.SearchStrategy[SchemaNode]) -> st.SearchStrategy[SchemaNode]:
    return st.one_of(
        inner.map(lambda item: node("", BasicType.LIST, replace(item, name=""))),
        inner.map(lambda item: node("", BasicType.FIXED_SIZE_LIST, replace(item, name="item"), fixed_size=3)),
        st.tuples(inner, inner).map(lambda pair: node("", BasicType.MAP, *pair)),
        named(inner).map(lambda children: node("", BasicType.STRUCT, *children)),
        named(inner).map(lambda children: node("", BasicType.UNION, *children)),
    )


@pytest.mark.slow
@settings(deadline=None)
@given(fields=named(st.recursive(leaves(), nested, max_leaves=8)), internal=st.booleans())
def test_what_is_written_is_read(fields: tuple[SchemaNode, ...], internal: bool) -> None:
    if internal:
        fields = (*fields, node("", BasicType.BOOLEAN, internal="Kusto.Amudai.DeletedRecord"))
    fields = numbered(*fields)
    payload = encode_schema(fields)
    schema = ShardSchema(payload)
    assert schema.fields() == fields
    assert schema.id_count == sum(1 for _ in nodes(fields))
    for field in fields:
        found = ShardSchema(payload).find(field.name)
        assert found == field
    assert schema.find("no such field") is None
    assert encode_schema(schema.fields()) == payload
    check_tables(payload, fields)


def nodes(fields: tuple[SchemaNode, ...]) -> list[SchemaNode]:
    return [below for field in fields for below in [field, *nodes(field.children)]]


def check_tables(payload: bytes, fields: tuple[SchemaNode, ...]) -> None:
    """What the reader of this library does not look at: parents, lookups of nested fields, empty properties."""
    root = FlatTable.root(memoryview(payload))
    tables = root.tables(0)
    assert tables is not None
    assert root.table(2) is not None
    for at, field in enumerate(fields):
        table = tables[at].table(0)
        assert table is not None
        check_table(table, field, 0xFFFF_FFFF)


def check_table(table: FlatTable, field: SchemaNode, parent: int) -> None:
    assert table.u32(2) == parent
    assert (table.texts(4) is None) == (not field.aliases)
    extended = table.table(8)
    assert (extended is None) == (not field.extension)
    if extended is not None:
        properties = extended.tables(1)
        assert properties is not None
        assert len(properties) == 0
    lookup = table.table(9)
    names = [child.name for child in field.children]
    wanted = field.basic_type in (BasicType.STRUCT, BasicType.UNION) and len(set(names) - {""}) >= 10
    assert (lookup is not None) == wanted
    if lookup is not None:
        buckets, entries = lookup.u32s(0), lookup.u32s(1)
        assert buckets is not None
        assert entries is not None
        expected = fbs.hash_lookup([name.encode() for name in names])
        assert (buckets.tolist(), entries.tolist()) == expected
    children = table.tables(5)
    assert children is not None
    for at, child in enumerate(field.children):
        check_table(children[at], child, field.schema_id)


@pytest.mark.parametrize(
    ("names", "buckets", "entries"),
    [
        ([f"c{at}" for at in range(12)], [0, 0, 1, 2, 3, 3, 7, 9, 12], [11, 1, 8, 0, 2, 5, 10, 3, 7, 4, 6, 9]),
        (["id", "source", "props"], [0, 1, 3], [2, 0, 1]),
        ([f"f{at}" for at in range(7)], [0, 1, 2, 4, 7], [4, 0, 1, 6, 2, 3, 5]),
        ([], [0, 0, 0], []),
    ],
)
def test_published_lookups(names: list[str], buckets: list[int], entries: list[int]) -> None:
    found = hash_lookup(names)
    assert (found[0].tolist(), found[1].tolist()) == (buckets, entries)


@given(names=st.lists(TEXT, max_size=40))
def test_any_lookup(names: list[str]) -> None:
    found = hash_lookup(names)
    assert (found[0].tolist(), found[1].tolist()) == fbs.hash_lookup([name.encode() for name in names])


def test_no_fields() -> None:
    schema = ShardSchema(encode_schema([]))
    assert (schema.fields(), schema.id_count, schema.find("x")) == ((), 0, None)


def test_a_lookup_counts_different_names_only() -> None:
    unnamed = [node(""), node("")]
    for count, expected in ((9, False), (10, True)):
        children = [node(f"c{at}") for at in range(count)]
        fields = numbered(node("u", BasicType.UNION, *children, *unnamed))
        check_tables(encode_schema(fields), fields)
        root = FlatTable.root(memoryview(encode_schema(fields))).tables(0)
        assert root is not None
        data_type = root[0].table(0)
        assert data_type is not None
        assert (data_type.table(9) is not None) is expected


def test_equal_strings_are_stored_once() -> None:
    fields = numbered(*(node(f"l{at}", BasicType.LIST, node("item", extension="item")) for at in range(5)))
    assert encode_schema(fields).count(b"item\0") == 1


def test_what_is_not_set_is_not_stored() -> None:
    """A vtable ends with the last slot that is there: here `children`, which is slot 5."""
    payload = encode_schema(numbered(node("x", BasicType.STRING)))
    table = FlatTable.root(memoryview(payload)).tables(0)
    assert table is not None
    vtable = struct.pack("<HH6H", 16, 17, 16, 0, 4, 8, 0, 12)
    assert payload.count(vtable) == 1


def test_the_widest_field_is_aligned_in_the_buffer() -> None:
    for name in ("g", "gu", "gui", "guid", "guids"):
        payload = encode_schema(numbered(node(name, BasicType.GUID), node("n")))
        assert payload.count(struct.pack("<Q", 16)) == 1
        assert payload.index(struct.pack("<Q", 16)) % 8 == 0
        assert [field.fixed_size for field in ShardSchema(payload).fields()] == [16, 0]


def deep(levels: int) -> SchemaNode:
    field = node("leaf")
    for _ in range(levels - 1):
        field = node("s", BasicType.STRUCT, field)
    return field


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([node("a"), node("b"), node("a")], "fields of schema: expected different names, found 'a' twice"),
        ([node("")], "fields of schema: expected names, found one that is empty"),
        ([node("s", BasicType.STRUCT, node("a"), node("a"))], "fields of struct 's': expected different names"),
        ([node("s", BasicType.STRUCT, node(""))], "fields of struct 's': expected names, found one that is empty"),
        ([node("u", BasicType.UNION, node("a"), node("a"))], "fields of union 'u': expected different names"),
        ([node("l", BasicType.LIST)], "list field 'l': expected 1 children, found 0"),
        ([node("m", BasicType.MAP, node(""))], "map field 'm': expected 2 children, found 1"),
        ([node("n", INT, node(""))], "int64 field 'n': expected 0 children, found 1"),
        ([node("g", BasicType.GUID, fixed_size=8)], "fixed size of guid 'g': expected 16, found 8"),
        ([node("b", BasicType.FIXED_SIZE_BINARY, fixed_size=2**32)], "fixed size of 'b': expected 0..4294967295"),
        ([node("b", BasicType.FIXED_SIZE_BINARY, fixed_size=-1)], "fixed size of 'b': expected 0..4294967295"),
        ([node("a\ud800")], "schema text: expected Unicode, found 'a\\ud800', which has a lone surrogate"),
        ([node("l", BasicType.LIST, node("", internal="x"))], "expected internal fields at the top only"),
        ([deep(65)], "schema of 'leaf': expected at most 64 levels, found more"),
    ],
)
def test_a_schema_that_cannot_be(fields: list[SchemaNode], message: str) -> None:
    with pytest.raises(InvalidSchema) as error:
        encode_schema(numbered(*fields))
    assert str(error.value).startswith(message) or message in str(error.value)


def test_depth_ends_where_the_reader_ends() -> None:
    fields = numbered(deep(64))
    assert ShardSchema(encode_schema(fields)).fields() == fields


def test_ids_that_do_not_count_depth_first() -> None:
    with pytest.raises(InvalidSchema, match="schema id of 'b': expected 1, found 0"):
        encode_schema([node("a"), node("b")])
    first, second = numbered(node("s", BasicType.STRUCT, node("a")), node("b"))
    with pytest.raises(InvalidSchema, match="schema id of 'b': expected 0, found 2"):
        encode_schema([second, first])
