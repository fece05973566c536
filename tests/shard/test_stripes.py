"""Rows in stripes: many, few, none; fields that are not there; positions that need more than 32 bits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai.arrow import project, to_array
from amudai.column import ColumnValues, ConstantValues, Projection
from amudai.format import AnyValue
from amudai.format.wire import amudai_pb2 as wire
from amudai.plan import reading
from amudai.storage import MemoryStore
from amudai.types import BasicType, SchemaNode
from tests.forge import (
    Column,
    Forge,
    Stripe,
    any_value,
    booleans,
    constants,
    datetimes,
    dictionary,
    fixed_lists,
    lists,
    maps,
    missing,
    nodes_of,
    numbers,
    open_forged,
    strings,
    structs,
    unions,
    units,
)
from tests.forge.shard import contents_of


def ints(*values: int | None) -> dict[str, Column]:
    return {"n": numbers(values, "i8"), "s": strings([None if value is None else str(value) for value in values])}


# ---- many and none ----


def test_rows_of_all_stripes_in_their_order() -> None:
    shard = open_forged(Forge.of(ints(1, 2, 3), ints(4), ints(None, 6)))
    assert shard.num_rows == 6
    assert [(stripe.ordinal, stripe.first_row, stripe.num_rows) for stripe in shard.stripes] == [
        (0, 0, 3),
        (1, 3, 1),
        (2, 4, 2),
    ]
    assert shard.read()["n"].to_pylist() == [1, 2, 3, 4, None, 6]
    assert shard.read(rows=slice(2, 5))["s"].to_pylist() == ["3", "4", None]
    assert shard.take([5, 2, 3, 2])["n"].to_pylist() == [6, 3, 4, 3]
    assert shard["n"].stats.null_count == 1
    assert (shard["n"].stats.min, shard["n"].stats.max) == (1, 6)


def test_a_shard_without_stripes() -> None:
    columns = ints(1)
    shard = open_forged(Forge(schema=nodes_of(columns), stripes=[]))
    assert shard.num_rows == 0
    assert shard.read().schema == pa.schema([("n", pa.int64()), ("s", pa.string())])
    assert shard.read().num_rows == 0
    assert shard.take([]).num_rows == 0
    assert list(shard.to_reader()) == []
    assert shard["n"].encodings == {}
    assert shard.verify().ok
    with pytest.raises(amudai.InvalidArgument, match="the shard is empty"):
        shard.take([0])


def test_a_stripe_without_rows() -> None:
    empty = ints()
    shard = open_forged(Forge.of(empty))
    assert shard.num_rows == 0
    assert shard.read().num_rows == 0
    assert len(shard.stripes) == 1
    assert shard.verify().ok


def test_empty_stripes_between_others() -> None:
    shard = open_forged(Forge.of(ints(), ints(1, 2), ints(), ints(), ints(3), ints()))
    assert shard.read()["n"].to_pylist() == [1, 2, 3]
    assert shard.read(rows=slice(1, 3))["s"].to_pylist() == ["2", "3"]
    assert shard.take([2, 0])["n"].to_pylist() == [3, 1]
    assert [batch.num_rows for batch in shard.to_reader()] == [2, 1]
    assert shard.verify().ok


EVERY_TYPE: dict[str, tuple[Column, list[Any]]] = {
    "unit": (units(2), [None, None]),
    "boolean": (booleans([True, False]), [True, False]),
    "number": (numbers([1, 2], "i8"), [1, 2]),
    "text": (strings(["a", "b"]), ["a", "b"]),
    "dictionary": (dictionary(["a", "b"]), ["a", "b"]),
    "struct": (structs({"x": numbers([1, 2], "i8")}), [{"x": 1}, {"x": 2}]),
    "list": (lists([1, 1], numbers([1, 2], "i8")), [[1], [2]]),
    "fixed list": (fixed_lists(1, numbers([1, 2], "i8")), [[1], [2]]),
    "map": (maps([1, 1], strings(["a", "b"]), numbers([1, 2], "i8")), [[("a", 1)], [("b", 2)]]),
    "union": (unions([0, 0], [("x", numbers([1, 2], "i8"))]), [1, 2]),
}


# ---- fields that are not there ----


@pytest.mark.parametrize("name", EVERY_TYPE)
def test_a_field_that_a_stripe_lacks_is_null_there(name: str) -> None:
    column, values = EVERY_TYPE[name]
    rows = numbers([0, 0], "i8")
    forge = Forge.of(
        {"rows": rows, "c": missing(column)}, {"rows": rows, "c": column}, {"rows": rows, "c": missing(column)}
    )
    shard = open_forged(forge)
    found = shard.read()["c"]
    found.validate(full=True)
    assert found.to_pylist() == [None, None, *values, None, None]
    assert shard.take([5, 2, 0])["c"].to_pylist() == [None, values[0], None]
    assert shard.verify().ok


@pytest.mark.parametrize("name", EVERY_TYPE)
def test_a_field_list_shorter_than_the_schema(name: str) -> None:
    column, _ = EVERY_TYPE[name]
    columns = {"rows": numbers([0, 0], "i8"), "c": column}
    schema = nodes_of(columns)
    stripe = Stripe(rows=2, contents={0: columns["rows"].content}, slots=1)
    found = open_forged(Forge(schema=schema, stripes=[stripe])).read()["c"]
    found.validate(full=True)
    assert found.to_pylist() == [None, None]


def test_a_field_that_no_stripe_has() -> None:
    shard = open_forged(Forge.of({"rows": numbers([0, 0], "i8"), "c": missing(strings([]))}))
    assert shard.read()["c"].to_pylist() == [None, None]
    assert shard["c"].encodings == {"absent": 1}
    assert (shard["c"].stats.count, shard["c"].stats.null_count) == (2, 2)


def test_statistics_count_the_rows_of_stripes_that_lack_the_field() -> None:
    rows = numbers([0, 0], "i8")
    column = numbers([5, None], "i8")
    shard = open_forged(Forge.of({"rows": rows, "c": column}, {"rows": rows, "c": missing(column)}))
    assert (shard["c"].stats.count, shard["c"].stats.null_count) == (4, 3)


def test_members_of_a_struct_may_be_missing() -> None:
    column = structs({"a": numbers([1, 2], "i8"), "b": missing(strings([]))}, present=[True, False])
    assert open_forged(Forge.of({"c": column})).read()["c"].to_pylist() == [{"a": 1, "b": None}, None]


def test_items_of_lists_may_be_missing() -> None:
    column = lists([2, 0, None], missing(numbers([], "i8")))
    assert open_forged(Forge.of({"c": column})).read()["c"].to_pylist() == [[None, None], [], None]


# ---- one value, or none ----


def test_constants_of_each_stripe() -> None:
    like = numbers([], "i8")
    forge = Forge.of(
        {"c": constants(like, 2, 7)},
        {"c": constants(like, 1, 8)},
        {"c": constants(like, 1, None)},
        {"c": numbers([9], "i8")},
    )
    shard = open_forged(forge)
    assert shard.read()["c"].to_pylist() == [7, 7, 8, None, 9]
    assert shard["c"].encodings == {"constant": 3, "plain": 1}


@pytest.mark.parametrize("like", [numbers([], "f8"), strings([]), booleans([]), datetimes([])])
def test_all_null_is_known_from_the_count_alone(like: Column) -> None:
    column = constants(like, 4, None)
    column.stored.descriptor.ClearField("constant_value")
    column.stored.encodings = lambda native: []
    assert open_forged(Forge.of({"c": column})).read()["c"].to_pylist() == [None] * 4


def test_repeating_a_value_never_runs_over_32_bit_offsets() -> None:
    (node,) = nodes_of({"c": strings([])})
    value = AnyValue("string", "x" * (1 << 20))
    narrow = project(node, pa.string())
    assert to_array(ConstantValues(4, value), narrow, pa.string()).nbytes > 4 << 20
    with pytest.raises(OverflowError):
        to_array(ConstantValues(1 << 11, value), narrow, pa.string())
    with pytest.raises(OverflowError):
        to_array(ConstantValues(1 << 11, value), narrow, pa.string_view())


def test_rows_that_do_not_fit_one_array_come_in_several(monkeypatch: pytest.MonkeyPatch) -> None:
    def crowded(column: ColumnValues, projection: Projection, kind: pa.DataType) -> pa.Array:
        if column.length > 3:
            raise OverflowError
        return to_array(column, projection, kind)

    monkeypatch.setattr(reading, "to_array", crowded)
    shard = open_forged(Forge.of({"n": numbers(range(10), "i8"), "s": strings([str(i) for i in range(10)])}))
    found = shard.read()
    assert found["n"].num_chunks == 4
    assert found["n"].to_pylist() == list(range(10))
    assert [batch.num_rows for batch in shard.to_reader()] == [3, 2, 3, 2]
    assert [row["s"] for batch in shard.to_reader() for row in batch.to_pylist()] == [str(i) for i in range(10)]

    def crammed(*_: object) -> pa.Array:
        raise OverflowError

    monkeypatch.setattr(reading, "to_array", crammed)
    with pytest.raises(amudai.InvalidArgument, match="too long for its offsets: ask for the large type"):
        shard.read()


# ---- fixed-size lists that were padded too little ----

SHORT: dict[str, tuple[Column, list[Any]]] = {
    "numbers": (numbers([1, 2, 3], "i8"), [1, 2, 3]),
    "strings": (strings(["a", None, "c"]), ["a", None, "c"]),
    "structs": (structs({"x": numbers([1, 2, 3], "i8")}), [{"x": 1}, {"x": 2}, {"x": 3}]),
    "lists": (lists([1, 0, 2], numbers([1, 2, 3], "i8")), [[1], [], [2, 3]]),
    "constants": (constants(numbers([], "i8"), 3, 5), [5, 5, 5]),
    "unions": (unions([0, 0, 0], [("x", numbers([1, 2, 3], "i8"))]), [1, 2, 3]),
}


@pytest.mark.parametrize("name", SHORT)
def test_items_that_were_not_stored_are_those_of_null_lists(name: str) -> None:
    child, items = SHORT[name]
    shard = open_forged(Forge.of({"c": fixed_lists(2, child, present=[True, False, False], count=3)}))
    found = shard.read()["c"].combine_chunks()
    found.validate(full=True)
    assert found.to_pylist() == [items[:2], None, None]
    # The item that is stored for the second list, and the three that are not.
    assert found.values.slice(3).to_pylist() == [None, None, None]
    assert found.values.slice(0, 3).to_pylist() == items
    assert shard.take([2, 1])["c"].to_pylist() == [None, None]
    assert shard.take([2, 0])["c"].to_pylist() == [None, items[:2]]
    assert shard.verify().ok


def test_items_that_were_not_stored_of_lists_that_are_there_are_refused() -> None:
    column = fixed_lists(2, numbers([1, 2, 3], "i8"), present=[True, True, False], count=3)
    with pytest.raises(amudai.CorruptedData, match="list items: expected items for 3 lists, found items for 1"):
        open_forged(Forge.of({"c": column})).read()


def test_more_items_than_lists_hold_are_refused() -> None:
    column = fixed_lists(2, numbers([1, 2, 3, 4, 5], "i8"), count=2)
    with pytest.raises(amudai.CorruptedData, match="position_count: expected 4, found 5") as caught:
        open_forged(Forge.of({"c": column})).read()
    assert caught.value.place["field"] == "c.item"


# ---- counts that do not agree ----


@pytest.mark.parametrize("name", EVERY_TYPE)
def test_a_column_with_other_rows_than_its_stripe_is_refused(name: str) -> None:
    column, _ = EVERY_TYPE[name]
    forge = Forge.of({"rows": numbers([0, 0, 0], "i8"), "c": column})
    with pytest.raises(amudai.CorruptedData, match="position_count: expected 3, found 2") as caught:
        open_forged(forge).read()
    assert (caught.value.place["field"], caught.value.place["stripe"]) == ("c", 0)
    assert open_forged(forge).read(["rows"]).num_rows == 3


def test_a_block_map_with_other_values_than_the_field_is_refused() -> None:
    column = numbers([1, 2, 3], "i8")
    column.stored.descriptor.position_count = 2
    with pytest.raises(amudai.CorruptedData, match="block map value_count: expected 2, found 3"):
        open_forged(Forge.of({"c": column})).read()


def test_stripes_that_do_not_follow_each_other_are_refused() -> None:
    forge = Forge.of(ints(1), ints(2))
    forge.stripes[1].edit = lambda message: setattr(message, "shard_position", 5)
    with pytest.raises(amudai.CorruptedData, match="shard_position: expected 1, found 5"):
        open_forged(forge).read()
    more = Forge.of(ints(1), edits={"ShardDirectory": lambda message: setattr(message, "total_record_count", 9)})
    with pytest.raises(amudai.CorruptedData, match="expected 9 records in all stripes, found 1"):
        open_forged(more).read()


# ---- two levels ----


def test_two_levels_in_a_folder(tmp_path: Path) -> None:
    forge = Forge.of(ints(1, 2), ints(3), layout="two-level")
    for name, content in forge.files().items():
        (tmp_path / name).write_bytes(content)
    shard = amudai.open(tmp_path / forge.name)
    assert shard.read()["n"].to_pylist() == [1, 2, 3]
    assert shard.verify().files == 3


@pytest.mark.parametrize("folder", ["file:///once/upon/a/time/", "s3://bucket/old/", "https://host/shards/"])
@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_a_shard_that_was_moved(folder: str, layout: str, tmp_path: Path) -> None:
    forge = Forge.of(ints(1, 2), ints(3), layout=layout, written_to=folder)
    for name, content in forge.files().items():
        (tmp_path / name).write_bytes(content)
    shard = amudai.open(tmp_path / forge.name)
    assert shard.read()["n"].to_pylist() == [1, 2, 3]
    # The shard's own descriptors name the root file by its old URL.
    assert shard["n"].stats.max == 3
    assert shard.verify().ok


@pytest.mark.parametrize("verify", [True, False])
def test_a_shard_that_was_moved_and_renamed(verify: bool) -> None:
    columns = {"at": datetimes([0]), "n": numbers([7], "i8")}
    forge = Forge.of(columns, layout="two-level", written_to="file:///once/")
    files = forge.files()
    files["renamed.amudai.shard"] = files.pop(forge.name)
    shard = amudai.open("renamed.amudai.shard", store=MemoryStore(files), verify=verify)
    assert shard["n"].stats.max == 7
    assert shard.schema.field("at").type == pa.timestamp("us", "UTC")  # which only the statistics tell
    assert shard.read(["n"])["n"].to_pylist() == [7]
    assert shard.verify().ok


@pytest.mark.parametrize("verify", [True, False])
def test_statistics_of_another_file_are_not_guessed(verify: bool) -> None:
    def elsewhere(message: wire.DataRefArray) -> None:
        if message.url[0]:
            message.url[0] = "file:///once/other.file"
            message.start[0] += 1

    forge = Forge.of(ints(1), written_to="file:///once/", edits={"DataRefArray": elsewhere})
    with pytest.raises(amudai.StorageError, match=r"other\.file"):
        _ = open_forged(forge, verify=verify)["n"].stats


def test_files_elsewhere_are_read_where_the_caller_allows_it() -> None:
    forge = Forge.of(ints(1, 2), layout="two-level", written_to="mem://cold/")
    files = forge.files()
    stripe = next(name for name in files if name.endswith(".stripe"))
    store = MemoryStore({forge.name: files[forge.name], f"mem://cold/{stripe}": files[stripe]})
    with pytest.raises(amudai.StorageError):
        amudai.open(forge.name, store=store).read()
    shard = amudai.open(forge.name, store=store, allow=["mem://cold/"])
    assert shard.read()["n"].to_pylist() == [1, 2]
    assert shard.verify().ok


@pytest.mark.parametrize("url", ["../other.amudai.stripe", "/etc/passwd", "a/%2e%2e/b", "file:///x?y"])
def test_references_never_leave_the_folder(url: str) -> None:
    def point_elsewhere(message: wire.EncodedBuffer) -> None:
        message.buffer.url = message.block_map.url = url

    column = numbers([1], "i8")
    column.stored.buffers[0].edit = point_elsewhere
    with pytest.raises(amudai.CorruptedData, match="reference: expected"):
        open_forged(Forge.of({"c": column})).read()


def test_a_stripe_file_that_is_gone() -> None:
    forge = Forge.of(ints(1), ints(2), layout="two-level")
    files = forge.files()
    del files["0000000000000001.amudai.stripe"]
    shard = amudai.open(forge.name, store=MemoryStore(files))
    assert shard.read(rows=slice(0, 1))["n"].to_pylist() == [1]
    with pytest.raises(amudai.StorageError, match=r"0000000000000001\.amudai\.stripe"):
        shard.read()


# ---- beyond 32 bits ----

HUGE = 1 << 33


@pytest.fixture(scope="module")
def huge() -> amudai.Shard:
    columns = {
        "n": constants(numbers([], "i8"), HUGE, 42),
        "s": constants(strings([]), HUGE, "same"),
        "gone": constants(strings([]), HUGE, None),
        "u": units(HUGE),
        "p": structs({"x": constants(numbers([], "u1"), HUGE, any_value(7, "u64"))}, present=None, count=0),
    }
    columns["p"].stored.descriptor.position_count = HUGE
    return open_forged(Forge.of(columns, {name: _one(column) for name, column in columns.items()}))


def _one(column: Column) -> Column:
    """The same type with one row that is not the constant."""
    return {
        BasicType.INT64: numbers([43], "i8"),
        BasicType.STRING: strings(["other"]),
        BasicType.UNIT: units(1),
        BasicType.STRUCT: structs({"x": numbers([8], "u1")}),
    }[column.basic_type]


def test_positions_beyond_32_bits(huge: amudai.Shard) -> None:
    row = {"n": 42, "s": "same", "gone": None, "u": None, "p": {"x": 7}}
    assert huge.num_rows == HUGE + 1
    assert huge.read(rows=slice(2**32, 2**32 + 3)).to_pylist() == [row] * 3
    assert huge.take([HUGE - 1]).to_pylist() == [row]
    assert huge.head(2).to_pylist() == [row] * 2


def test_the_stripe_behind_eight_thousand_million_rows(huge: amudai.Shard) -> None:
    last = {"n": 43, "s": "other", "gone": "other", "u": None, "p": {"x": 8}}
    assert huge.read(rows=slice(-1, None)).to_pylist() == [last]
    assert [row["n"] for row in huge.take([HUGE, 2**32, HUGE]).to_pylist()] == [43, 42, 43]
    crossing = huge.read(["n", "gone"], rows=range(HUGE - 2, HUGE + 1))
    assert crossing.to_pydict() == {"n": [42, 42, 43], "gone": [None, None, "other"]}
    assert huge["n"].stats.count == HUGE + 1


def test_batches_of_a_huge_shard_come_one_by_one(huge: amudai.Shard) -> None:
    reader: Iterator[pa.RecordBatch] = iter(huge.to_reader(["n"], rows=slice(2**32, 2**32 + 10), batch_rows=4))
    assert [batch.num_rows for batch in reader] == [4, 4, 2]


# ---- fifty thousand nodes ----


@pytest.mark.slow
def test_fifty_thousand_nodes() -> None:
    wide, count = 10_000, 50_000
    like = constants(numbers([], "i8"), 2, 1)
    members = dict.fromkeys(("a", "b", "c", "d"), like)
    columns = {f"s{i:05}": structs(members, count=2) for i in range(wide)}
    schema = nodes_of(columns)
    assert sum(1 + len(node.children) for node in schema) == count
    contents = contents_of(schema, columns)
    # The value of the last node differs, so that a wrong slot is noticed.
    contents[count - 1] = constants(numbers([], "i8"), 2, 99).content
    fields = dict.fromkeys(range(count), None)
    shard = open_forged(Forge(schema=schema, stripes=[Stripe(rows=2, contents=contents)], fields=fields))
    last = schema[-1]
    assert isinstance(last, SchemaNode)
    assert (
        shard.read([f"{last.name}.d", "s00000"]).to_pylist()
        == [{last.name: {"d": 99}, "s00000": {"a": 1, "b": 1, "c": 1, "d": 1}}] * 2
    )
    assert len(shard.schema) == wide
