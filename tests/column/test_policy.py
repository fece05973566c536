"""Which of the encodings that a descriptor lists is read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import amudai
from amudai.format.wire import amudai_pb2 as wire
from tests.column.columns import opened
from tests.forge import (
    BufferKind,
    Column,
    Forge,
    constants,
    dictionary,
    fixed_lists,
    lists,
    missing,
    numbers,
    open_forged,
    strings,
    structs,
    units,
)
from tests.oracle import block
from tests.oracle.numeric import ffor

LATER = bytes([77 << 3 & 127 | 128 | 2, 77 >> 4, 0])  # a field with the number 77, which no oneof has


def parquet() -> wire.DataEncoding:
    return wire.DataEncoding(parquet=wire.ExternalParquetDataEncoding())


def packed() -> wire.DataEncoding:
    return wire.DataEncoding(native=wire.NativeDataEncoding(packed_group=True))


def unknown() -> wire.DataEncoding:
    return wire.DataEncoding.FromString(LATER)


def native(*buffers: wire.EncodedBuffer) -> wire.DataEncoding:
    return wire.DataEncoding(native=wire.NativeDataEncoding(buffers=buffers))


UNSUPPORTED = {
    "parquet": (parquet(), "stored values: columns of a Parquet file"),
    "unknown": (unknown(), "stored values: an unknown encoding"),
}


def stored_as(column: Column, *encodings: wire.DataEncoding | None) -> Column:
    """The column with these encodings listed; None stands for its real encoding."""
    column.stored.encodings = lambda own: [own if each is None else each for each in encodings]
    return column


def two_ways(first: Column, second: Column) -> Column:
    """The column with the buffers of both columns, as two encodings."""
    count = len(first.stored.buffers)
    first.stored.buffers += second.stored.buffers
    first.stored.encodings = lambda own: [native(*own.native.buffers[:count]), native(*own.native.buffers[count:])]
    return first


def with_code(column: Column, code: int) -> Column:
    """The column with a block whose encoding has this code."""
    buffer = column.stored.buffers[0]
    assert buffer.blocks is not None
    ((count, _),) = buffer.blocks
    buffer.blocks = [(count, block.build(b"", code.to_bytes(2, "little") + bytes(22)))]
    return column


def read(column: Column) -> list[object]:
    found: list[object] = open_forged(Forge.of({"c": column})).read()["c"].to_pylist()
    return found


# ---- a single encoding ----


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_a_way_of_storing_that_is_not_supported(name: str) -> None:
    encoding, message = UNSUPPORTED[name]
    shard = open_forged(Forge.of({"a": stored_as(numbers([1, 2], "i8"), encoding), "b": strings(["x", "y"])}))
    assert shard.read(["b"]).to_pylist() == [{"b": "x"}, {"b": "y"}]
    for refused in (
        shard.read,
        lambda: list(shard.to_reader(["a"])),
        lambda: shard.take([0]),
        lambda: shard["a"].encodings,
    ):
        with pytest.raises(amudai.UnsupportedFeature, match=message) as caught:
            refused()
        place = caught.value.place
        assert (place["field"], place["stripe"]) == ("a", 0)
        assert str(place["url"]).endswith("forged.amudai.shard")


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_a_constant_needs_no_way_of_storing(name: str) -> None:
    column = stored_as(constants(numbers([], "i8"), 2, 5), UNSUPPORTED[name][0])
    assert read(column) == [5, 5]


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_statistics_answer_for_a_column_that_cannot_be_read(name: str) -> None:
    shard = open_forged(Forge.of({"a": stored_as(numbers([1, 2], "i8"), UNSUPPORTED[name][0])}))
    assert shard.scan(where=amudai.col("a") > 5).count() == 0
    assert shard.scan(where=amudai.col("a") <= 2).count() == 2


def test_an_unsupported_member_leaves_its_siblings_readable() -> None:
    members = {"a": stored_as(numbers([1, 2], "i8"), parquet()), "b": strings(["x", "y"])}
    shard = open_forged(Forge.of({"s": structs(members)}))
    assert shard.read(["s.b"]).to_pylist() == [{"s": {"b": "x"}}, {"s": {"b": "y"}}]
    with pytest.raises(amudai.UnsupportedFeature, match="Parquet") as caught:
        shard.read(["s"])
    assert caught.value.place["field"] == "s.a"


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (numbers([1, 2], "i8"), BufferKind.DATA),
        (strings(["x", "y"]), BufferKind.DATA),
        (dictionary(["x", "y"]), BufferKind.DATA),
        (dictionary(["x", "y"]), BufferKind.VALUE_DICTIONARY),
        (lists([1, 1], numbers([1, 2], "i8")), BufferKind.OFFSETS),
    ],
)
def test_a_buffer_that_is_missing(column: Column, kind: BufferKind) -> None:
    column.stored.buffers.remove(column.stored.buffer(kind))
    with pytest.raises(amudai.CorruptedData, match=f"buffers: expected one of kind {kind.name}, found none") as caught:
        read(column)
    assert caught.value.place["field"] == "c"


@pytest.mark.parametrize(
    ("column", "rows"),
    [
        (units(2), [None, None]),
        (structs({"a": missing(numbers([], "i8"))}, count=2), [{"a": None}, {"a": None}]),
        (fixed_lists(1, numbers([1, 2], "i8"), count=2), [[1], [2]]),
    ],
)
def test_columns_that_need_no_buffer(column: Column, rows: list[object]) -> None:
    column.stored.encodings = lambda _: []
    assert read(column) == rows


# ---- several encodings ----


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_the_next_way_of_storing_is_tried(name: str) -> None:
    column = stored_as(numbers([1, 2], "i8"), UNSUPPORTED[name][0], None, parquet())
    shard = open_forged(Forge.of({"a": column}))
    assert shard.read()["a"].to_pylist() == [1, 2]
    assert shard["a"].encodings == {"plain": 1}
    assert shard.verify().ok


def test_an_encoding_that_lacks_a_buffer_is_passed_over() -> None:
    assert read(stored_as(numbers([1, 2], "i8"), native(), None)) == [1, 2]
    assert read(stored_as(lists([1, 1], numbers([1, 2], "i8")), native(), None)) == [[1], [2]]
    coded = dictionary(["x", "y"])
    coded.stored.encodings = lambda own: [native(own.native.buffers[0]), own]  # codes without their dictionary
    assert read(coded) == ["x", "y"]


def test_the_first_of_two_that_can_be_read_wins() -> None:
    column = two_ways(numbers([1, 2], "i8", ffor.encode), numbers([1, 2], "i8"))
    shard = open_forged(Forge.of({"a": column}))
    assert shard["a"].encodings == {"ffor": 1}
    assert shard.read()["a"].to_pylist() == [1, 2]


def test_an_encoding_with_unknown_codes_in_its_blocks_is_passed_over() -> None:
    column = two_ways(with_code(numbers([1, 2], "i8"), 555), numbers([1, 2], "i8"))
    assert read(column) == [1, 2]


def test_a_damaged_copy_is_passed_over() -> None:
    first = numbers([1, 2], "i8")
    blocks = first.stored.buffers[0].blocks
    assert blocks is not None
    ((count, sound),) = blocks
    first.stored.buffers[0].blocks = [(count, sound[:-1] + bytes([sound[-1] ^ 1]))]
    assert read(two_ways(first, numbers([1, 2], "i8"))) == [1, 2]


@pytest.mark.parametrize(
    ("encodings", "error", "message"),
    [
        ([unknown(), unknown()], amudai.UnsupportedFeature, "stored values: an unknown encoding"),
        ([parquet(), unknown(), packed()], amudai.UnsupportedFeature, "stored values: columns of a Parquet file"),
        ([packed(), parquet()], amudai.CorruptedData, "buffers: expected one of kind DATA, found none"),
        ([native(), parquet()], amudai.CorruptedData, "buffers: expected one of kind DATA, found none"),
    ],
)
def test_without_a_readable_one_the_error_of_the_first_is_raised(
    encodings: Sequence[wire.DataEncoding], error: type[amudai.AmudaiError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        opened(stored_as(numbers([1, 2], "i8"), *encodings))
    assert (caught.value.place["field"], caught.value.place["stripe"]) == ("c", 0)


def test_a_packed_group_of_lists_is_not_supported() -> None:
    buffers = [wire.EncodedBuffer(kind=wire.OFFSETS, packed_group_index=0)]
    packed_lists = wire.DataEncoding(native=wire.NativeDataEncoding(buffers=buffers, packed_group=True))
    with pytest.raises(amudai.UnsupportedFeature, match="packed group: expected one of a struct or of single values"):
        opened(stored_as(lists([1, 1], numbers([1, 2], "i8")), packed_lists))


def test_a_member_needs_a_parent_that_is_a_group() -> None:
    alone = native(wire.EncodedBuffer(kind=wire.DATA, packed_group_index=0))
    with pytest.raises(amudai.CorruptedData, match="packed_group_index: expected a parent that is a packed group"):
        opened(stored_as(numbers([1, 2], "i8"), alone)).describe()


def test_without_a_readable_one_the_blocks_of_the_first_tell_the_error() -> None:
    column = two_ways(with_code(numbers([1, 2], "i8"), 555), with_code(numbers([1, 2], "i8"), 556))
    with pytest.raises((amudai.CorruptedData, amudai.UnsupportedFeature), match=r"encoding.*555"):
        read(column)


def test_an_encoding_of_a_container_counts_with_the_columns_below_it() -> None:
    members = {"a": with_code(numbers([1, 2], "i8"), 555), "b": strings(["x", "y"])}
    column = structs(members)
    column.stored.encodings = lambda own: [own, own]
    shard = open_forged(Forge.of({"s": column}))
    # Neither can be read in full: the first is taken, and what can be read of it is.
    assert shard.read(["s.b"]).to_pylist() == [{"s": {"b": "x"}}, {"s": {"b": "y"}}]
    with pytest.raises((amudai.CorruptedData, amudai.UnsupportedFeature), match=r"encoding.*555") as caught:
        shard.read(["s"])
    assert caught.value.place["field"] == "s.a"
