"""The forge itself: what it makes is what the format says, for the oracle and for the reader."""

from __future__ import annotations

import pytest

import amudai
from amudai.format.wire import amudai_pb2 as wire
from amudai.types import BasicType
from tests.forge import (
    BufferKind,
    Column,
    Forge,
    Stripe,
    binaries,
    booleans,
    constants,
    dictionary,
    fixed_lists,
    lists,
    maps,
    missing,
    nodes_of,
    numbers,
    open_forged,
    store_of,
    strings,
    structs,
    unions,
    units,
)
from tests.forge.range_index import range_index
from tests.oracle import block, block_map
from tests.oracle import dictionary as oracle_dictionary
from tests.oracle.binary import block_dictionary as binary_dictionary
from tests.oracle.binary import fsst, lz4, zstd
from tests.oracle.numeric import delta, ffor, plain, run_length, single_value


def frames(root: bytes) -> wire.ShardDirectory:
    """The directory of a root file, by the steps of docs/format/container.md."""
    assert root[:8] == root[-8:] == b"amud\x00\x01\x00\x00"
    length = int.from_bytes(root[-12:-8], "little")
    return wire.ShardDirectory.FromString(payload(root, len(root) - 20 - length, len(root) - 12))


def payload(root: bytes, start: int, end: int) -> bytes:
    length = int.from_bytes(root[start : start + 4], "little")
    assert end - start == length + 8
    found = root[start + 4 : start + 4 + length]
    assert int.from_bytes(root[end - 4 : end], "little") == block.checksum(found)
    return found


def descriptors(root: bytes) -> list[wire.StripeFieldDescriptor | None]:
    """Those of the first stripe, by schema id."""
    at = frames(root).stripe_list_ref.range
    at = wire.StripeList.FromString(payload(root, at.start, at.end)).stripes[0].field_list_ref.range
    slots = wire.DataRefArray.FromString(payload(root, at.start, at.end))
    return [
        wire.StripeFieldDescriptor.FromString(payload(root, start, end)) if end else None
        for start, end in zip(slots.start, slots.end, strict=True)
    ]


def blocks_of(root: bytes, buffer: wire.EncodedBuffer) -> list[tuple[int, bytes]]:
    at = buffer.block_map.range
    found, start = [], buffer.buffer.range.start
    assert start % 64 == 0
    for count, size in block_map.decode(root[at.start : at.end]):
        found.append((count, root[start : start + size]))
        start += size
    return found


def test_the_oracle_reads_what_it_makes() -> None:
    values = [7, None, -3, 250, 250, 251]
    texts = ["get", None, "ok", "get", "", "get"]
    root = Forge.of({"n": numbers(values, "i4", ffor.encode, block_values=4), "s": dictionary(texts)}).root()
    n, s = descriptors(root)
    assert n is not None
    assert s is not None
    (data,) = n.encodings[0].native.buffers
    decoded = [block.decode_numeric(each, count, "i4") for count, each in blocks_of(root, data)]
    assert decoded == [values[:4], values[4:]]
    codes, entries = s.encodings[0].native.buffers
    ((count, only),) = blocks_of(root, codes)
    at = entries.buffer.range
    stored = oracle_dictionary.decode(root[at.start : at.end])
    assert [stored[code] for code in block.decode_numeric(only, count, "u4") if code is not None] == [
        None if text is None else text.encode() for text in texts
    ]
    assert s.field.dictionary_size == len(stored) == 4


def test_the_directory_adds_up() -> None:
    first, second = numbers([1, 2, 3], "i8"), numbers([4], "i8")
    directory = frames(Forge.of({"n": first}, {"n": second}).root())
    assert (directory.total_record_count, directory.stripe_count) == (4, 2)


CASES: dict[str, tuple[Column, list[object]]] = {
    "unit": (units(2), [None, None]),
    "booleans": (booleans([True, None, False]), [True, None, False]),
    "numbers": (numbers([1.5, None], "f8"), [1.5, None]),
    "strings": (strings(["ä", None, ""]), ["ä", None, ""]),
    "fixed": (binaries([b"abc", None], fixed_size=3), [b"abc", None]),
    "constant": (constants(strings([]), 3, "x"), ["x"] * 3),
    "dictionary": (dictionary(["a", None, "a"]), ["a", None, "a"]),
    "structs": (structs({"a": numbers([1, 2], "u1")}, present=[True, False]), [{"a": 1}, None]),
    "lists": (lists([2, None, 0], numbers([1, 2], "i8")), [[1, 2], None, []]),
    "fixed lists": (fixed_lists(2, numbers([1, 2, 3, 4], "i8")), [[1, 2], [3, 4]]),
    "maps": (maps([1, None], strings(["k"]), numbers([9], "i8")), [[("k", 9)], None]),
    "unions": (unions([0, 1], [("a", numbers([1, 0], "i8")), ("b", strings(["", "x"]))]), [1, "x"]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_the_reader_reads_what_it_makes(name: str, layout: str) -> None:
    column, expected = CASES[name]
    shard = open_forged(Forge.of({"c": column}, layout=layout))
    assert shard.read()["c"].to_pylist() == expected
    assert shard.verify().ok


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (numbers(list(range(40)), "i8", [plain.encode, ffor.encode], 20), {"plain": 1, "ffor": 1}),
        (numbers([5] * 4, "u2", single_value.encode), {"single_value": 1}),
        (numbers([3, 3, 9], "i2", run_length.encode), {"run_length": 1}),
        (numbers([3, 6, 9], "i2", lambda v, t: delta.encode(v, t, single_value.encode)), {"delta(single_value)": 1}),
        (strings(["a", "b"], lz4.encode), {"lz4(raw)": 1}),
        (strings(["a", "b"], lambda v, n: zstd.encode(v, n, ffor.encode)), {"zstd(ffor)": 1}),
        (strings(["a", "b", None], fsst.encode), {"fsst(raw)": 1}),
        (
            strings(["a", None], lambda v, n: binary_dictionary.encode(v, n), nulls_to_encoder=True),
            {"block_dictionary(plain, raw)": 1},
        ),
        (constants(numbers([], "i8"), 2, 4), {"constant": 1}),
        (missing(numbers([], "i8")), {"absent": 1}),
    ],
)
def test_a_chosen_encoding_is_the_one_that_is_used(column: Column, expected: dict[str, int]) -> None:
    assert open_forged(Forge.of({"c": column}))["c"].encodings == expected


def test_the_two_layouts_have_the_files_they_should() -> None:
    columns = {"n": numbers([1], "i8")}
    assert set(Forge.of(columns).files()) == {"forged.amudai.shard"}
    two_level = Forge.of(columns, {"n": numbers([2], "i8")}, layout="two-level").files()
    assert set(two_level) == {
        "forged.amudai.shard",
        "0000000000000000.amudai.stripe",
        "0000000000000001.amudai.stripe",
    }
    assert two_level["0000000000000001.amudai.stripe"].endswith(b"amud\x00\x01\x00\x00")


def test_a_range_index_is_read_by_verify() -> None:
    values: list[int | None] = [*range(300), None]
    column = numbers(values, "i2")
    column.stored.buffers.append(range_index(values, "i2", BasicType.INT16))
    assert open_forged(Forge.of({"c": column})).verify().ok
    column.stored.buffers[1].raw = column.stored.buffers[1].raw.replace(b"\x2b\x01", b"\x2b\x02")
    found = open_forged(Forge.of({"c": column})).verify()
    assert [problem.message.partition(":")[0] for problem in found.problems] == ["range index maxima checksum"]


def test_it_breaks_what_it_is_told_to_break() -> None:
    column = numbers([1, 2], "i8")
    sound = Forge.of({"c": column})
    for name in ("ShardDirectory", "StripeList", "DataRefArray", "StripeFieldDescriptor"):
        broken = Forge.of({"c": column}, broken_checksums=frozenset({name}))
        with pytest.raises(amudai.CorruptedData, match=f"{name} checksum"):
            open_forged(broken).read()
        assert len(broken.root()) == len(sound.root())
    edited = Forge.of({"c": column}, edits={"ShardDirectory": lambda message: setattr(message, "stripe_count", 2)})
    with pytest.raises(amudai.CorruptedData, match="expected 2 stripes, found 1"):
        open_forged(edited).read()


def test_every_part_can_be_given_on_its_own() -> None:
    columns = {"a": numbers([1], "i8"), "b": numbers([2], "i8")}
    schema = nodes_of(columns)
    stripe = Stripe(rows=1, contents={0: columns["a"].content}, slots=1, properties={"part": 3})
    shard = open_forged(Forge(schema=schema, stripes=[stripe], standard_properties={"format": "x"}))
    assert shard.read().to_pylist() == [{"a": 1, "b": None}]
    assert shard.stripes[0].properties == {"part": 3}
    assert shard.properties == {}
    assert shard.standard_properties == {"format": "x"}


def test_files_are_where_references_say() -> None:
    forge = Forge.of({"n": numbers([1], "i8")}, layout="two-level")
    assert store_of(forge).size("shards/0000000000000000.amudai.stripe") == len(
        forge.files()["0000000000000000.amudai.stripe"]
    )
    (data,) = forge.stripes[0].contents[0].buffers  # type: ignore[union-attr]
    assert data.kind == BufferKind.DATA
