"""What the sources of columns say of themselves, for each way to store."""

from __future__ import annotations

import gc
import weakref
from dataclasses import FrozenInstanceError
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from amudai.column import (
    AbsentValues,
    ConstantValues,
    JoinedValues,
    Projection,
    StoredValues,
    constant_of,
)
from amudai.encoding import ByteKeys, NumberRanges
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.rows import Rows
from tests.column.columns import opened, reader_of
from tests.forge import (
    Buffer,
    Column,
    booleans,
    constants,
    dictionary,
    fixed_lists,
    guids,
    lists,
    maps,
    missing,
    numbers,
    strings,
    structs,
    unions,
    units,
)
from tests.forge.range_index import range_index

ROWS = Rows.one(0, 3)

NUMBERS = [3, None, 5]
COLUMNS: dict[str, tuple[str, Column]] = {
    "absent": ("absent", missing(numbers([], "i8"))),
    "constant": ("constant", constants(numbers([], "i8"), 3, 7)),
    "all null": ("constant", constants(strings([]), 3, None)),
    "unit": ("unit", units(3)),
    "bits": ("blocks", booleans([True, None, False])),
    "numbers": ("blocks", numbers(NUMBERS, "i8")),
    "strings": ("blocks", strings(["a", None, "b"])),
    "guids": ("blocks", guids([bytes(16), None, bytes(16)])),
    "dictionary": ("dictionary", dictionary(["a", None, "a"])),
    "struct": ("struct", structs({"a": numbers(NUMBERS, "i8")})),
    "list": ("list", lists([1, None, 2], numbers(NUMBERS, "i8"))),
    "map": ("list", maps([1, 0, 1], strings(["k", "l"]), numbers([1, 2], "i8"))),
    "fixed-size list": ("fixed-size list", fixed_lists(1, numbers(NUMBERS, "i8"), count=3)),
    "union": ("union", unions([0, 1, 0], [("n", numbers([1, 2, 3], "i8")), ("s", strings(["a", "b", "c"]))])),
}


def read(column: Column) -> object:
    source = opened(column)
    return source.read(ROWS, Projection(source.node))


@pytest.mark.parametrize("name", COLUMNS)
def test_each_way_to_store_has_its_source(name: str) -> None:
    storage, column = COLUMNS[name]
    other = numbers([1, 2, 3], "i8")
    reader = reader_of({"rows": other, "c": column})
    source = reader.stripes[0].column(reader.schema.fields()[1])
    facts = source.describe()
    assert (facts.storage, facts.position_count) == (storage, 3)
    assert source.path == "c"
    assert source.is_absent == (storage == "absent")
    assert (source.constant is not None) == (storage == "constant")
    assert (source.codes() is not None) == (storage == "dictionary")
    assert (source.offsets() is not None) == (storage == "list")
    stored = [] if column.content is None else column.stored.buffers
    assert [buffer.bytes for buffer in facts.buffers] == [len(buffer.layout()[0]) for buffer in stored]
    assert facts.bytes == sum(len(buffer.layout()[0]) for buffer in stored)
    assert source.is_stored == bool(stored)
    assert source.block_count() == sum(len(buffer.blocks or ()) for buffer in stored)
    assert source.check().blocks == source.block_count()
    assert [child.path for child in source.children()] == [
        f"c.{label}"
        for label in {"map": ("key", "value"), "union": ("n", "s"), "struct": ("a",)}.get(
            name, ("item",) if "list" in name else ()
        )
    ]


def test_facts_down_to_the_blocks() -> None:
    source = opened(numbers(range(10), "i8", block_values=4))
    (buffer,) = source.describe(blocks=True).buffers
    assert (buffer.kind, buffer.block_count, buffer.file) == ("data", 3, "forged.amudai.shard")
    assert [(block.ordinal, block.first_value, block.values) for block in buffer.blocks] == [
        (0, 0, 4),
        (1, 4, 4),
        (2, 8, 2),
    ]
    assert [block.encoding for block in buffer.blocks] == ["plain"] * 3
    ends = [block.start + block.bytes for block in buffer.blocks]
    assert [block.start for block in buffer.blocks] == [0, *ends[:-1]]
    with pytest.raises(FrozenInstanceError):
        buffer.kind = "presence"  # type: ignore[misc]


def test_a_buffer_of_an_unknown_kind_makes_the_field_unreadable() -> None:
    column = numbers([1, 2, 3], "i8")
    column.stored.buffers.append(Buffer(kind=77, raw=bytes(100)))
    with pytest.raises(UnsupportedFeature, match="found kind 77 of a later version"):
        opened(column)


# ---- values ----


def test_values_say_how_they_are_stored() -> None:
    assert isinstance(read(numbers([1, 2, 3], "i8")), StoredValues)
    constant = read(constants(numbers([], "i8"), 3, 7))
    assert isinstance(constant, ConstantValues)
    assert (constant.length, constant.value.value) == (3, 7)
    reader = reader_of({"rows": numbers([1, 2, 3], "i8"), "c": missing(numbers([], "i8"))})
    node = reader.schema.fields()[1]
    absent = reader.stripes[0].column(node).read(ROWS, Projection(node))
    assert isinstance(absent, AbsentValues)
    assert absent.length == 3


def test_items_of_trailing_null_lists_may_be_missing() -> None:
    column = fixed_lists(2, numbers([1, 2], "i8"), [True, False, False], 3)
    source = opened(column)
    (item,) = source.node.children
    found = source.read(ROWS, Projection(source.node, children=(Projection(item),)))
    assert isinstance(found, StoredValues)
    (items,) = found.children
    assert isinstance(items, JoinedValues)
    assert [part.length for part in items.parts] == [2, 4]


def test_positions_beyond_the_end() -> None:
    for column in (constants(numbers([], "i8"), 3, 7), structs({"a": numbers(NUMBERS, "i8")})):
        source = opened(column)
        with pytest.raises(CorruptedData, match="positions: expected at most 3, found 4") as caught:
            source.read(Rows.one(0, 4), Projection(source.node))
        assert (caught.value.place["field"], caught.value.place["stripe"]) == ("c", 0)


def test_another_number_of_positions_than_the_parent_says() -> None:
    with pytest.raises(CorruptedData, match="position_count: expected 3, found 2") as caught:
        list(opened(structs({"a": numbers([1, 2], "i8")}, count=3)).children())
    assert caught.value.place["field"] == "c.a"


# ---- questions ----


def bits_of(found: npt.NDArray[np.uint8] | None) -> list[int]:
    assert found is not None
    return np.unpackbits(found, count=3, bitorder="little").tolist()


def test_comparing_in_blocks() -> None:
    wanted = NumberRanges(np.array([4]), np.array([9]))
    source = opened(numbers(NUMBERS, "i8"))
    assert bits_of(source.compare(wanted, ROWS, inverted=False)) == [0, 0, 1]
    assert bits_of(source.compare(wanted, ROWS, inverted=True)) == [1, 0, 0]
    keys = ByteKeys((b"a",))
    assert bits_of(opened(strings(["a", None, "b"])).compare(keys, ROWS, inverted=False)) == [1, 0, 0]
    assert source.compare(keys, ROWS, inverted=False) is None  # not of this type


@pytest.mark.parametrize("name", ["constant", "bits", "dictionary", "struct", "list"])
def test_what_cannot_be_compared_in_blocks(name: str) -> None:
    wanted = NumberRanges(np.array([4]), np.array([9]))
    assert opened(COLUMNS[name][1]).compare(wanted, ROWS, inverted=False) is None


def test_codes() -> None:
    codes = opened(dictionary(["a", None, "b"])).codes()
    assert codes is not None
    offsets, null = codes.entries.offsets, codes.entries.null_id
    assert offsets is not None
    values = [bytes(codes.entries.values[start:end]) for start, end in pairwise(offsets.tolist())]
    for wanted, rows in ((b"a", [True, False, False]), (b"b", [False, False, True])):
        answers = np.array([value == wanted and code != null for code, value in enumerate(values)])
        found = codes.look_up(ROWS, answers)
        assert np.unpackbits(found, count=3, bitorder="little").view(np.bool_).tolist() == rows


def test_numbers_without_nulls() -> None:
    blocks = opened(numbers([1, 2, 3], "u8")).numbers()
    assert blocks is not None
    assert blocks.values == 3
    assert opened(numbers(NUMBERS, "i8")).numbers() is None
    assert opened(strings(["a"])).numbers() is None


def test_a_range_index() -> None:
    column = numbers(list(range(600)), "i8")
    column.stored.buffers.append(range_index(range(600), "i8", column.basic_type))
    index = opened(column).range_index()
    assert index is not None
    assert (index.span, index.least.tolist(), index.greatest.tolist()) == (600, [0, 256, 512], [255, 511, 599])
    assert opened(numbers([1], "i8")).range_index() is None


def test_constants_by_their_descriptor() -> None:
    for column, value in ((COLUMNS["constant"][1], 7), (COLUMNS["all null"][1], None)):
        reader = reader_of({"c": column})
        (node,) = reader.schema.fields()
        descriptor = reader.stripes[0].descriptor(node)
        assert descriptor is not None
        found = constant_of(node, descriptor.field)
        assert found is not None
        assert found.value == value


# ---- the tree ----


def test_columns_are_opened_once() -> None:
    reader = reader_of({"s": structs({"a": lists([1, 1, 1], numbers([1, 2, 3], "i8")), "b": numbers(NUMBERS, "i8")})})
    (stripe,) = reader.stripes
    (top,) = reader.schema.fields()
    source = stripe.column(top)
    assert stripe.column(top) is source
    assert source.child(0) is source.child_of(top.children[0])
    item = stripe.column_at([top, top.children[0], top.children[0].children[0]])
    assert item is source.child(0).child(0)
    assert (item.path, item.position_count) == ("s.a.item", 3)
    assert [each.path for each in source.walk()] == ["s", "s.a", "s.a.item", "s.b"]


def test_below_an_absent_column_nothing_is_counted() -> None:
    like = structs({"a": numbers([], "i8")})
    reader = reader_of({"rows": numbers([1, 2, 3], "i8"), "l": missing(lists([], like))})
    source = reader.stripes[0].column(reader.schema.fields()[1])
    member = source.child(0).child(0)
    assert (member.path, member.is_absent, member.position_count, member.null_count) == ("l.item.a", True, 0, None)
    assert [each.path for each in source.walk()] == ["l"]


def test_a_leaf_has_no_children() -> None:
    with pytest.raises(LookupError, match="c: child 0 of a column that has no children"):
        opened(numbers([1], "i8")).child(0)


@pytest.mark.slow
def test_sources_go_with_their_shard() -> None:
    source = weakref.ref(opened(numbers([1], "i8")))
    gc.collect()
    assert source() is None


# ---- prefetching ----


def test_small_buffers_are_read_together_and_once() -> None:
    reader = reader_of({f"c{at}": numbers(range(500), "i8") for at in range(100)})  # more than opening reads
    (stripe,) = reader.stripes
    nodes = reader.schema.fields()[:3]
    stripe.prepare(nodes)
    before = reader.store.counters.requests
    stripe.prefetch(nodes)
    assert reader.store.counters.requests == before + 1
    assert not list(stripe.column(nodes[0]).prefetch())
    for node in nodes:
        stripe.column(node).read(Rows.one(0, 500), Projection(node))
    stripe.prefetch(nodes)
    assert reader.store.counters.requests == before + 1
