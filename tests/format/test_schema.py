"""The schema: what it says, how a name is found, and buffers that no writer would write."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import AmudaiError, CorruptedData, UnsupportedFeature, located
from amudai.format import ShardSchema, changeable_schema
from amudai.format.flat import FlatTable
from amudai.types import BasicType, SchemaNode
from tests.effort import examples
from tests.format.fbs import Node, build, hash_lookup

INT = BasicType.INT64


def test_what_a_schema_says() -> None:
    payload = build(
        [
            Node("id", INT, signed=True),
            Node(
                "p",
                BasicType.STRUCT,
                [
                    Node("a", BasicType.STRING, aliases=["alpha", "ä"]),
                    Node("l", BasicType.LIST, [Node("", BasicType.INT32)]),
                ],
            ),
            Node(
                "m",
                BasicType.MAP,
                [
                    Node("", BasicType.STRING),
                    Node("", BasicType.FIXED_SIZE_BINARY, fixed_size=16, label="KustoDecimal"),
                ],
            ),
            Node("g", BasicType.GUID, fixed_size=16),
            Node("", BasicType.BOOLEAN, internal="Kusto.Amudai.DeletedRecord"),
        ]
    )
    schema = ShardSchema(payload)
    item = SchemaNode(schema_id=4, name="", basic_type=BasicType.INT32)
    text = SchemaNode(schema_id=2, name="a", basic_type=BasicType.STRING, aliases=("alpha", "ä"))
    items = SchemaNode(schema_id=3, name="l", basic_type=BasicType.LIST, children=(item,))
    key = SchemaNode(schema_id=6, name="", basic_type=BasicType.STRING)
    value = SchemaNode(
        schema_id=7, name="", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=16, extension="KustoDecimal"
    )
    expected = (
        SchemaNode(schema_id=0, name="id", basic_type=INT, signed=True),
        SchemaNode(schema_id=1, name="p", basic_type=BasicType.STRUCT, children=(text, items)),
        SchemaNode(schema_id=5, name="m", basic_type=BasicType.MAP, children=(key, value)),
        SchemaNode(schema_id=8, name="g", basic_type=BasicType.GUID, fixed_size=16),
        SchemaNode(schema_id=9, name="", basic_type=BasicType.BOOLEAN, internal="Kusto.Amudai.DeletedRecord"),
    )
    assert schema.fields() == expected
    assert (len(schema), schema.id_count) == (5, 10)
    assert schema.names() == ("id", "p", "m", "g", "")
    assert [schema.node(at) for at in range(10)] == [
        expected[0], expected[1], text, items, item, expected[2], key, value, expected[3], expected[4],
    ]  # fmt: skip
    assert schema.node(10) is None


@pytest.mark.parametrize("order", [range(10), range(9, -1, -1)])
def test_a_node_is_found_without_decoding_the_others(order: range) -> None:
    payload = build([Node(f"c{at}", BasicType.LIST, [Node("", INT)]) for at in range(5)])
    for schema_id in order:
        found = ShardSchema(payload).node(schema_id)
        assert found is not None
        assert found.schema_id == schema_id
    assert ShardSchema(payload).node(10) is None
    assert ShardSchema(build([])).node(0) is None


def test_ids_in_another_order_are_found_too() -> None:
    schema = ShardSchema(build([Node("a", schema_id=2), Node("b", schema_id=0), Node("c", schema_id=1)]))
    assert [schema.node(at).name for at in range(3)] == ["b", "c", "a"]  # type: ignore[union-attr]


@pytest.mark.parametrize("lookup", [True, False], ids=["lookup", "scan"])
def test_names(lookup: bool) -> None:
    names = ["id", "source", "props", "", "ключ", "id2"]
    schema = ShardSchema(build([Node(name) for name in names], lookup=lookup))
    for index, name in enumerate(names):
        found = schema.find(name)
        assert found is schema.field(index)
    for missing in ("ID", "sourc", "source ", "\ud800", "x" * 10_000):
        assert schema.find(missing) is None


def test_published_lookups() -> None:
    assert hash_lookup([f"c{at}".encode() for at in range(12)]) == (
        [0, 0, 1, 2, 3, 3, 7, 9, 12],
        [11, 1, 8, 0, 2, 5, 10, 3, 7, 4, 6, 9],
    )
    assert hash_lookup([b"id", b"source", b"props"]) == ([0, 1, 3], [2, 0, 1])


def test_a_sound_lookup_has_the_last_word() -> None:
    buckets, entries = hash_lookup([b"a", b"b"])
    sound = ShardSchema(build([Node("a"), Node("b")], lookup=(buckets, entries)))
    assert sound.find("a") is sound.field(0)
    turned = [buckets[0], buckets[-1] - buckets[1], buckets[-1]]  # every field in the other bucket
    if turned != buckets:
        assert ShardSchema(build([Node("a"), Node("b")], lookup=(turned, entries[::-1]))).find("a") is None


@pytest.mark.parametrize(
    "lookup",
    [
        ([], []),
        ([0], [0, 1, 2]),
        ([0, 1, 2, 3], [0, 1, 2]),  # three buckets
        ([0, 4, 3], [0, 1, 2]),
        ([0, 2, 1], [0, 1, 2]),
        ([1, 2, 3], [0, 1, 2]),
        ([0, 0, 0], [0, 1, 2]),
        ([0, 1, 0xFFFF_FFFF], [0, 1, 2]),
        ([0, 1, 3], [0, 1, 3]),
        ([0, 1, 3], [0, 1, 0xFFFF_FFFF]),
        ([0, 1, 3], [0, 1, 1]),  # field 2 would never be found
        ([0, 1, 3], [0, 1]),
    ],
)
def test_a_lookup_that_is_not_sound_is_not_asked(lookup: tuple[list[int], list[int]]) -> None:
    schema = ShardSchema(build([Node("a"), Node("b"), Node("c")], lookup=lookup))
    assert [schema.find(name) is schema.field(at) for at, name in enumerate("abc")] == [True] * 3
    assert schema.find("d") is None


def test_of_two_fields_with_one_name_the_first_counts() -> None:
    for lookup in (True, False):
        schema = ShardSchema(build([Node("a"), Node("b"), Node("a")], lookup=lookup))
        assert schema.find("a") is schema.field(0)


def test_a_guid_without_a_size_has_sixteen_bytes() -> None:
    assert ShardSchema(build([Node("g", BasicType.GUID)])).field(0).fixed_size == 16
    empty = ShardSchema(build([Node("l", BasicType.FIXED_SIZE_LIST, [Node("", INT)])])).field(0)
    assert empty.fixed_size == 0


@pytest.mark.parametrize(
    ("field", "message"),
    [
        (Node("x", BasicType.LIST), "list field 'x': expected 1 children, found 0"),
        (
            Node("x", BasicType.FIXED_SIZE_LIST, [Node(), Node()]),
            "fixed_size_list field 'x': expected 1 children, found 2",
        ),
        (Node("x", BasicType.MAP, [Node()]), "map field 'x': expected 2 children, found 1"),
        (Node("x", INT, [Node()]), "int64 field 'x': expected 0 children, found 1"),
        (Node("x", BasicType.GUID, fixed_size=8), "fixed size of guid 'x': expected 16, found 8"),
        (
            Node("x", BasicType.FIXED_SIZE_BINARY, fixed_size=2**32),
            "fixed size of 'x': expected at most 4294967295, found 4294967296",
        ),
        (Node("x", schema_id=7), "schema id of 'x': expected at most 0, found 7"),
        (Node(None), "DataType.field_name: expected it to be set, found nothing"),
        (Node("x", INT, None), "DataType.children: expected it to be set, found nothing"),
        (Node(b"\xff\xfe"), "schema string at 104: expected UTF-8, found invalid start byte"),
    ],
)
def test_a_field_that_cannot_be(field: Node, message: str) -> None:
    children = len(field.children or ())
    schema = ShardSchema(build([field], id_count=1 + children, lookup=False))
    with pytest.raises(CorruptedData) as error:
        schema.field(0)
    assert str(error.value).split(" at ")[0] == message.split(" at ")[0]


def test_ids_that_are_not_unique() -> None:
    struct_field = Node("s", BasicType.STRUCT, [Node("a", schema_id=1), Node("b", schema_id=1)])
    with pytest.raises(CorruptedData, match="expected one of its own, found 1 a second time"):
        ShardSchema(build([struct_field])).field(0)
    twice = ShardSchema(build([Node("a", schema_id=0), Node("b", schema_id=0)]))
    assert twice.field(1).name == "b"
    with pytest.raises(CorruptedData, match="schema id 0: expected one node, found 'a' and 'b'"):
        twice.fields()
    with pytest.raises(CorruptedData, match="expected at most 4294967294, found 4294967295"):
        ShardSchema(build([Node("a", schema_id=0xFFFF_FFFF)], id_count=0)).field(0)


def test_a_type_of_a_later_version_harms_no_other_field() -> None:
    schema = ShardSchema(build([Node("old"), Node("new", 18)]))
    assert schema.find("old") is not None
    assert schema.names() == ("old", "new")
    for _ in range(1000):  # asking again and again changes nothing
        with pytest.raises(UnsupportedFeature, match=r"basic type of 'new': expected 0\.\.17, found 18"):
            schema.find("new")


def test_what_one_shard_decoded_serves_all_of_the_same_schema() -> None:
    payload = build([Node("a"), Node("b", 18)])
    one, other = (ShardSchema(bytearray(payload), located(url=url)) for url in ("one", "other"))
    assert one.find("a") is other.find("a")
    assert ShardSchema(build([Node("a"), Node("b")])).find("a") is not one.find("a")
    for schema, url in ((one, "one"), (other, "other")):
        with pytest.raises(UnsupportedFeature) as error:
            schema.find("b")
        assert error.value.place["url"] == url


def test_a_schema_does_not_change_with_the_bytes_that_it_was_given() -> None:
    payload = bytearray(build([Node("unlike all others")]))
    schema = ShardSchema(payload)
    payload[:] = bytes(len(payload))
    assert schema.names() == ("unlike all others",)
    assert ShardSchema(build([Node("unlike all others")])).names() == ("unlike all others",)


def test_large_schemas_are_not_kept_for_others() -> None:
    payload = build([Node("x" * 70_000)])
    assert ShardSchema(payload).field(0) is not ShardSchema(payload).field(0)


@pytest.mark.slow
def test_two_of_ten_thousand_columns_cost_two() -> None:
    fields = [Node(f"column {at}", INT if at in (7, 9_999) else 200) for at in range(10_000)]
    schema = ShardSchema(build(fields))
    assert [schema.find(f"column {at}").schema_id for at in (9_999, 7)] == [9_999, 7]  # type: ignore[union-attr]
    assert schema.node(7) is schema.field(7)
    with pytest.raises(UnsupportedFeature):  # all others cannot even be read
        schema.field(8)


def test_depth_ends() -> None:
    def deep(levels: int) -> Node:
        node = Node("leaf", INT)
        for _ in range(levels - 1):
            node = Node("s", BasicType.STRUCT, [node])
        return node

    assert ShardSchema(build([deep(64)])).field(0).schema_id == 0
    with pytest.raises(CorruptedData, match="expected at most 64 levels"):
        ShardSchema(build([deep(65)])).field(0)
    with pytest.raises(CorruptedData, match="expected at most 64 levels"):
        ShardSchema(build([deep(300)])).field(0)


# ---- buffers written by hand: every word is where the comment says ----


def words(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


def vtable(*slots: int, size: int) -> bytes:
    return struct.pack(f"<{2 + len(slots)}H", 4 + 2 * len(slots), size, *slots)


@pytest.mark.parametrize("length", range(4))
def test_a_buffer_too_short_for_a_root(length: int) -> None:
    with pytest.raises(CorruptedData, match=r"^FlatBuffers reference at 0"):
        ShardSchema(bytes(length))


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (words(0), "expected a distance within"),  # the root refers to itself
        (words(0, 0), "expected a distance within 4..4, found 0"),
        (words(0xFFFF_FFFF, 0), "expected a distance within 4..4, found 4294967295"),
        (words(4, 0), "FlatBuffers table at 4: expected its vtable|FlatBuffers vtable"),
        (words(4, 0x8000_0000, 0), "expected its vtable within 0..8, found 2147483652"),
        (words(4, 5, 0), "expected its vtable within 0..8, found -1"),
        (words(4, 4, 0), "expected a size within"),  # the vtable is the root offset: sizes 4 and 0
        (words(4, 0xFFFF_FFFC) + vtable(size=4)[:2] + b"\x01\x00", "expected a size within 4..8, found 1"),
        (words(4, 0xFFFF_FFFC) + struct.pack("<HH", 5, 4), "an even size within 4..4, found 5"),
        (words(4, 0xFFFF_FFFC) + struct.pack("<HH", 2, 4), "an even size within 4..4, found 2"),
        (words(4, 0xFFFF_FFFC) + struct.pack("<HH", 6, 4), "an even size within 4..4, found 6"),
        (words(4, 0xFFFF_FFFC) + struct.pack("<HH", 4, 9), "a size within 4..8, found 9"),
        (words(4, 0xFFFF_FFFC) + vtable(size=4), "Schema.fields: expected it to be set"),
        (words(4, 0xFFFF_FFFC) + vtable(3, size=8), "slot 0: expected 4..4, found 3"),
        (words(4, 0xFFFF_FFFC) + vtable(5, size=8), "slot 0: expected 4..4, found 5"),
        (words(4, 0xFFFF_FFF8, 0) + vtable(4, size=8), "expected a distance within"),  # fields refer to themselves
        (words(4, 0xFFFF_FFF4, 4, 0xFFFF_FFFF) + vtable(4, size=8), "vector at 12: expected at most 1 elements"),
    ],
)
def test_a_buffer_by_hand(payload: bytes, message: str) -> None:
    with pytest.raises(CorruptedData, match=message):
        ShardSchema(payload)


def doubling(levels: int) -> bytes:
    """A struct whose two children are one table, whose two children are one table, and so on: 2^levels nodes."""
    out = bytearray(words(0))
    table_vtable = vtable(16, 20, 0, 4, 0, 8, size=24)

    # Each level: the table (24 bytes), its vtable (16), its children vector (12); the next level follows.
    def level(last: bool) -> bytes:
        table = struct.pack("<iIIIIi", -24, 0, 0, 0, BasicType.STRUCT, 0)
        children = words(0) if last else words(2, 8, 4)
        return table + table_vtable + children

    fields_vtable, field_vtable = vtable(4, size=8), vtable(4, size=8)
    root = struct.pack("<iI", -8, 12) + fields_vtable + b"\0\0" + words(1, 4)
    field = struct.pack("<iI", -8, 12) + field_vtable + b"\0\0"
    out[:4] = words(4)
    out += root + field
    for at in range(levels):
        start = len(out)
        out += level(at == levels - 1)
        struct.pack_into("<I", out, start + 8, 40 - 8)  # children, from their slot
    name_at = len(out)
    out += words(0)
    for at in range(levels):
        start = len(root) + 4 + len(field) + at * 52
        struct.pack_into("<I", out, start + 4, name_at - start - 4)
    return bytes(out)


def test_children_that_are_shared() -> None:
    assert ShardSchema(doubling(1)).field(0).basic_type is BasicType.STRUCT
    with pytest.raises(CorruptedData, match="schema id of '': expected one of its own, found 0 a second time"):
        ShardSchema(doubling(40)).field(0)


def test_fields_that_are_shared_do_not_grow_beyond_the_payload() -> None:
    wide = Node("wide", BasicType.STRUCT, [Node(f"c{at}") for at in range(500)])
    payload = bytearray(build([wide, *(Node(str(at)) for at in range(500))], id_count=0, lookup=False))
    (root,) = struct.unpack_from("<I", payload)
    vector = root + 4 + struct.unpack_from("<I", payload, root + 4)[0]  # the only slot in the table
    assert struct.unpack_from("<I", payload, vector) == (501,)
    first = vector + 4 + struct.unpack_from("<I", payload, vector + 4)[0]
    for at in range(vector + 4, vector + 4 + 4 * 501, 4):
        struct.pack_into("<I", payload, at, first - at)
    schema = ShardSchema(bytes(payload))
    assert len(schema.field(500).children) == 500
    with pytest.raises(CorruptedData, match=f"schema: expected nodes of {len(payload)} bytes at most"):
        schema.fields()


def test_names_that_overlap_do_not_grow_beyond_the_payload() -> None:
    payload = bytearray(build([Node("x" * 1000), *(Node(str(at)) for at in range(70))], lookup=False))
    # Every name becomes another window on the same bytes: a length of 513 at every fourth of them.
    text = payload.index(b"x" * 1000)
    payload[text : text + 1000] = struct.pack("<I", 0x201) * 250
    fields = FlatTable.root(memoryview(bytes(payload))).tables(0)
    assert fields is not None
    for index in range(1, 71):
        data_type = fields[index].table(0)
        assert data_type is not None
        slot = data_type._field(3, 4)
        assert slot is not None
        struct.pack_into("<I", payload, slot, text + 4 * index - slot)
    schema = ShardSchema(bytes(payload))
    assert len(schema.field(1).name) == 0x201
    with pytest.raises(CorruptedData, match="schema strings: expected at most"):
        schema.names()


def damaged(change: Callable[[bytearray], None]) -> None:
    payload = bytearray(SMALL)
    change(payload)
    with suppress(AmudaiError):
        schema = ShardSchema(bytes(payload))
        schema.find("a")
        schema.node(3)
        schema.fields()


SMALL = build(
    [
        Node("a", INT, signed=True),
        Node(
            "s",
            BasicType.STRUCT,
            [Node("b", BasicType.STRING, aliases=["c"]), Node("d", BasicType.GUID, fixed_size=16)],
        ),
        Node("t", INT, label="KustoTimeSpan", internal="Kind"),
    ]
)


@pytest.mark.slow
def test_every_flipped_bit() -> None:
    for at in range(len(SMALL)):
        for bit in range(8):
            damaged(lambda payload, at=at, bit=bit: payload.__setitem__(at, payload[at] ^ 1 << bit))  # type: ignore[misc]


def test_every_cut() -> None:
    for length in range(len(SMALL)):
        damaged(lambda payload, length=length: payload.__delitem__(slice(length, None)))  # type: ignore[misc]


@examples(300)
@given(st.data())
def test_any_words_anywhere(data: st.DataObject) -> None:
    changes = data.draw(
        st.lists(
            st.tuples(
                st.integers(0, len(SMALL) // 4 - 1),
                st.sampled_from([0, 1, 4, 8, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFFC]),
            ),
            max_size=4,
        )
    )

    def change(payload: bytearray) -> None:
        for at, word in changes:
            struct.pack_into("<I", payload, 4 * at, word)

    damaged(change)


@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    with suppress(AmudaiError):
        ShardSchema(content).fields()


def test_a_schema_with_fields_of_a_later_version_is_read_but_not_written_again() -> None:
    fields = [Node("a", INT), Node("s", BasicType.STRUCT, [Node("b", INT, later=1)])]
    assert ShardSchema(build(fields)).names() == ("a", "s")
    with pytest.raises(UnsupportedFeature, match=r"table DataType: .* a later version.* found slot 20"):
        changeable_schema(build(fields))
