"""Shards whose metadata lies, in frames with right checksums: each is made by the forge, with one thing wrong."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
from google.protobuf.message import Message

from amudai.format.wire import amudai_pb2 as wire
from amudai.types import BasicType
from tests.damage.specimens import Specimen
from tests.forge import (
    Buffer,
    BufferKind,
    Column,
    Forge,
    any_value,
    binaries,
    booleans,
    constants,
    dictionary,
    fixed_lists,
    lists,
    maps,
    numbers,
    strings,
    structs,
    unions,
)
from tests.format import fbs
from tests.oracle import block
from tests.oracle.block import checksum
from tests.oracle.numeric import plain, single_value

MANY = 1 << 60
Columns = dict[str, Column]
Change = Callable[[Any], None]


def columns() -> Columns:
    """Three rows of everything that metadata can lie about."""
    return {
        "n": numbers([1, 2, 3], "i8"),
        "s": strings(["a", None, "c"]),
        "d": dictionary(["x", None, "x"]),
        "b": booleans([True, None, False]),
        "l": lists([2, 0, 1], numbers([1, 2, 3], "i4")),
        "m": maps([1, None, 1], strings(["k", "l"]), numbers([1, 2], "i4")),
        "f": fixed_lists(2, numbers([1, 2, 3, 4, 5, 6], "i4"), [True, True, False]),
        "t": structs({"x": numbers([1, 2, 3], "i4")}, [True, False, True]),
        "u": unions([0, 1, 0], [("a", numbers([1, 2], "i4")), ("b", strings(["x"]))], places=[0, 0, 1]),
        "c": constants(numbers([], "i4"), 3, 7),
    }


def specimen_of(forge: Forge) -> Specimen:
    return Specimen("forged", forge.name, forge.files())


def changed_message(name: str, change: Change) -> Forge:
    """The shard with every message of this name changed."""
    return Forge.of(columns(), edits={name: change})


def changed_column(name: str, change: Change) -> Forge:
    """The shard after something was done to a column, given as a path."""
    found = columns()
    top, *below = name.split(".")
    column = found[top]
    for step in below:
        column = next(child for label, child in column.children if label == step or step == "item")
    change(column)
    return Forge.of(found)


# ---- what is counted ----


def _set(**values: Any) -> Change:
    def change(message: Message) -> None:
        for name, value in values.items():
            setattr(message, name, value)

    return change


def _field(**values: Any) -> Change:
    """Change a column's descriptor."""
    return lambda column: _set(**values)(column.stored.descriptor)


def _first_stripe(**values: Any) -> Change:
    return lambda message: _set(**values)(message.stripes[0])


COUNTS: dict[str, Callable[[], Forge]] = {
    "more rows in the directory": lambda: changed_message("ShardDirectory", _set(total_record_count=4)),
    "fewer rows in the directory": lambda: changed_message("ShardDirectory", _set(total_record_count=2)),
    "2**63 rows": lambda: changed_message("ShardDirectory", _set(total_record_count=1 << 63)),
    "2**64 - 1 rows": lambda: changed_message("ShardDirectory", _set(total_record_count=(1 << 64) - 1)),
    "no stripes": lambda: changed_message("ShardDirectory", _set(stripe_count=0)),
    "two stripes": lambda: changed_message("ShardDirectory", _set(stripe_count=2)),
    "2**60 stripes": lambda: changed_message("ShardDirectory", _set(stripe_count=MANY)),
    "more deleted than there are": lambda: changed_message("ShardDirectory", _set(deleted_record_count=4)),
    "deleted records": lambda: changed_message("ShardDirectory", _set(deleted_record_count=1)),
    "deleted records of a stripe": lambda: changed_message("StripeList", _first_stripe(deleted_record_count=1)),
    "a stripe that begins later": lambda: changed_message("StripeList", _first_stripe(shard_position=1)),
    "a stripe with more rows": lambda: changed_message("StripeList", _first_stripe(total_record_count=4)),
    "a stripe with 2**64 - 1 rows": lambda: changed_message(
        "StripeList", _first_stripe(total_record_count=(1 << 64) - 1)
    ),
    "a column with more rows": lambda: changed_column("n", _field(position_count=4)),
    "a column with fewer rows": lambda: changed_column("s", _field(position_count=2)),
    "a column of 2**60 rows": lambda: changed_column("s", _field(position_count=MANY)),
    "a column of 2**64 - 1 rows": lambda: changed_column("d", _field(position_count=(1 << 64) - 1)),
    "a constant with fewer rows": lambda: changed_column("c", _field(position_count=2)),
    "a struct's member with more rows": lambda: changed_column("t.x", _field(position_count=4)),
    "a list with more rows": lambda: changed_column("l", _field(position_count=4)),
    "constant items of no list": lambda: Forge.of(
        {**columns(), "l": lists([2, 0, 1], constants(numbers([], "i4"), MANY, 5))}
    ),
    "items that end too early": lambda: changed_column("l.item", _field(position_count=2)),
    "2**60 items": lambda: changed_column("l.item", _field(position_count=MANY)),
    "more nulls than rows": lambda: changed_column("n", _field(null_count=4)),
    "a dictionary with another size": lambda: changed_column("d", _field(dictionary_size=3)),
    "a dictionary of 2**60": lambda: changed_column("d", _field(dictionary_size=MANY)),
    "a dictionary that is not there": lambda: changed_column("s", _field(dictionary_size=2)),
}


# ---- where it lies ----


def _ref(name: str, start: int, end: int, url: str = "") -> Change:
    def change(message: Any) -> None:
        ref = getattr(message, name)
        ref.url, ref.range.start, ref.range.end = url, start, end

    return change


def _buffer(change: Change, kind: int = BufferKind.DATA) -> Change:
    """Change the descriptor of a column's buffer."""

    def edit(column: Column) -> None:
        column.stored.buffer(kind).edit = change

    return edit


def _shifted(name: str, start: int = 0, end: int = 0) -> Change:
    """Move the ends of a reference."""

    def change(message: Any) -> None:
        span = getattr(message, name).range
        span.start, span.end = span.start + start, span.end + end

    return change


def _cleared(name: str) -> Change:
    return lambda message: message.ClearField(name)


def _lists(name: str, change: Callable[[list[Any]], list[Any]]) -> Change:
    def edit(message: Any) -> None:
        found = change(list(getattr(message, name)))
        message.ClearField(name)
        getattr(message, name).extend(found)

    return edit


REFERENCES: dict[str, Callable[[], Forge]] = {
    f"{what} of {name}": partial(changed_message, "ShardDirectory", change(name))
    for name in ("schema_ref", "field_list_ref", "stripe_list_ref")
    for what, change in {
        "an end behind the file": lambda name: _ref(name, 8, MANY),
        "a start behind the file": lambda name: _ref(name, MANY, MANY + 100),
        "an end before the start": lambda name: _ref(name, 100, 50),
        "the last bytes there can be": lambda name: _ref(name, (1 << 64) - 9, (1 << 64) - 1),
        "nothing": lambda name: _ref(name, 8, 8),
        "no reference": _cleared,
        "seven bytes": lambda name: _ref(name, 8, 15),
        "the header": lambda name: _ref(name, 0, 64),
        "half of it": lambda name: _shifted(name, end=-9),
        "a part of it": lambda name: _shifted(name, start=4),
    }.items()
} | {
    "too few starts": lambda: changed_message("DataRefArray", _lists("start", lambda found: found[1:])),
    "too many ends": lambda: changed_message("DataRefArray", _lists("end", lambda found: [*found, 9])),
    "no URLs": lambda: changed_message("DataRefArray", _lists("url", lambda found: [])),
    "slots that end before they start": lambda: changed_message(
        "DataRefArray", _lists("end", lambda found: [end - 1000 for end in found])
    ),
    "slots behind the file": lambda: changed_message(
        "DataRefArray", _lists("end", lambda found: [end + MANY for end in found])
    ),
    "slots that are shifted": lambda: changed_message(
        "DataRefArray", _lists("start", lambda found: [start + 1 for start in found])
    ),
    "a buffer behind the file": lambda: changed_column("n", _buffer(_shifted("buffer", end=MANY))),
    "a buffer that starts behind the file": lambda: changed_column("n", _buffer(_ref("buffer", MANY, MANY + 64))),
    "a buffer that ends before it starts": lambda: changed_column("n", _buffer(_ref("buffer", 100, 50))),
    "no buffer": lambda: changed_column("n", _buffer(_cleared("buffer"))),
    "no block map": lambda: changed_column("n", _buffer(_cleared("block_map"))),
    "a block map outside of its buffer": lambda: changed_column("n", _buffer(_shifted("block_map", 64, 64))),
    "a block map before its buffer": lambda: changed_column("n", _buffer(_ref("block_map", 0, 64))),
    "an empty block map": lambda: changed_column("n", _buffer(_ref("block_map", 64, 64))),
    "a block map of odd size": lambda: changed_column("n", _buffer(_shifted("block_map", end=-1))),
    "a block map that is shifted": lambda: changed_column("n", _buffer(_shifted("block_map", start=8))),
    "a block map that is cut": lambda: changed_column("n", _buffer(_shifted("block_map", end=-8))),
    "no buffers": lambda: changed_column("n", lambda column: column.stored.buffers.clear()),
    "more blocks": lambda: changed_column("n", _buffer(_set(block_count=2))),
    "2**60 blocks": lambda: changed_column("n", _buffer(_set(block_count=MANY))),
    "no offsets of a list": lambda: changed_column("l", lambda column: column.stored.buffers.clear()),
    "no presence in a kind of data": lambda: changed_column("n", _buffer(_set(kind=1))),
    "a dictionary behind the file": lambda: changed_column(
        "d", _buffer(_shifted("buffer", end=MANY), BufferKind.VALUE_DICTIONARY)
    ),
    "an empty dictionary": lambda: changed_column("d", _buffer(_ref("buffer", 64, 64), BufferKind.VALUE_DICTIONARY)),
}

# The reference, and what is said of it.
URLS = {
    "../secret": "dot segments",
    "a/../../secret": "dot segments",
    "%2e%2e/secret": "dot segments",
    "%2E%2e/secret": "dot segments",
    "./secret": "dot segments",
    "/etc/passwd": "below the folder",
    "//host/share": "below the folder",
    "\\\\host\\share": "backslash",
    "..\\secret": "backslash",
    "https://user:hidden@host/a": "without credentials",
    "https://host/a?sig=hidden": "query",
    "https://host/a#part": "fragment",
    "nul\0name": "control character",
    "line\nbreak": "control character",
    "a%00b": "escaped",
    "a%2fb": "escaped",
    "a/": "the name of a file",
    "https://host": "like scheme://host/path",
    "file:relative": "like scheme://host/path",
    "missing.amudai.stripe": "found none",
    "folder/missing": "found none",
    "file:///etc/passwd": "found none",  # its last segment, beside the root
    "s3://elsewhere/missing.amudai.stripe": "found none",
}


# ---- block maps ----


def _mapped(change: Callable[[bytes], bytes], kind: int = BufferKind.DATA) -> Change:
    """Change the bytes of a buffer's block map."""

    def edit(column: Column) -> None:
        buffers = column.stored.buffers
        at = next(index for index, buffer in enumerate(buffers) if buffer.kind == kind)
        whole, map_at = buffers[at].layout()
        blocks, stored = whole[:map_at], change(whole[map_at:])

        def described(message: wire.EncodedBuffer) -> None:
            end = message.buffer.range.end
            message.block_map.range.start, message.block_map.range.end = end - len(stored), end
            message.block_checksums = True

        buffers[at] = Buffer(
            kind=kind, raw=blocks + stored, edit=described, embedded_offsets=buffers[at].embedded_offsets
        )

    return edit


def _footer(slot: int, value: int) -> Callable[[bytes], bytes]:
    """Change one of the five totals: values, blocks, segments, blocks of a segment, bytes."""

    def change(stored: bytes) -> bytes:
        at = len(stored) - 40 + 8 * slot
        return stored[:at] + struct.pack("<Q", value) + stored[at + 8 :]

    return change


def _segment(at: int, layout: str, *values: int) -> Callable[[bytes], bytes]:
    """Change numbers of the first segment."""
    new = struct.pack("<" + layout, *values)
    return lambda stored: stored[:at] + new + stored[at + len(new) :]


BLOCK_MAPS: dict[str, Callable[[], Forge]] = {
    f"{what} in the map of {name}": partial(changed_column, name, _mapped(change))
    for name in ("n", "s", "d")
    for what, change in {
        "2**60 values": _footer(0, MANY),
        "one value more": _footer(0, 4),
        "no blocks": _footer(1, 0),
        "2**60 blocks": _footer(1, MANY),
        "2**64 - 1 blocks": _footer(1, (1 << 64) - 1),
        "no segments": _footer(2, 0),
        "2**60 segments": _footer(2, MANY),
        "segments of nothing": _footer(3, 0),
        "segments of 2**60": _footer(3, MANY),
        "2**60 bytes": _footer(4, MANY),
        "one byte less": _footer(4, 7),
        "a first value of 1": _segment(0, "Q", 1),
        "a first byte of 8": _segment(8, "Q", 8),
        "a block of no values": _segment(16, "I", 0),
        "a block of 2**32 - 1 values": _segment(16, "I", 0xFFFFFFFF),
        "a block of 4 bytes": _segment(20, "I", 4),
        "a block of 4 GiB": _segment(20, "I", 0xFFFFFFFF),
        "widths of 0 bits": _segment(24, "BB", 0, 0),
        "widths of 64 bits": _segment(24, "BB", 64, 64),
        "a segment of 65535 blocks": _segment(26, "H", 65535),
        "nothing but zeros": lambda stored: bytes(len(stored)),
        "nothing but ones": lambda stored: b"\xff" * len(stored),
        "half a footer": lambda stored: stored[-24:],
        "a footer alone": lambda stored: stored[-40:],
    }.items()
}


def _billions() -> Forge:
    """A column of 2**32 - 1 values in one block, where all other columns have three."""
    section = single_value.encode([5], "i8")
    return changed_column(
        "n", lambda column: column.stored.buffers.__setitem__(0, _one_block(0xFFFFFFFF, block.build(b"", section)))
    )


def _one_block(count: int, data: bytes, kind: int = BufferKind.DATA) -> Buffer:
    return Buffer(kind=kind, blocks=[(count, data)], embedded_presence=True)


# ---- dictionaries, lists and other containers ----


def _dictionary(at: int, layout: str, *values: int) -> Change:
    """Change the header of a dictionary, and make its checksum right again."""

    def edit(column: Column) -> None:
        buffer = column.stored.buffer(BufferKind.VALUE_DICTIONARY)
        raw = bytearray(buffer.raw)
        struct.pack_into("<" + layout, raw, at, *values)
        raw[124:128] = checksum(bytes(raw[:124])).to_bytes(4, "little")
        buffer.raw = bytes(raw)

    return edit


def _offsets(values: list[int], kind: int = BufferKind.OFFSETS) -> Change:
    """Give a list, or a union, other offsets."""

    def edit(column: Column) -> None:
        buffers = column.stored.buffers
        at = next(index for index, buffer in enumerate(buffers) if buffer.kind == kind)
        buffers[at] = _one_block(len(values), block.build(b"", plain.encode(values, "u8")), kind)

    return edit


def _chosen(values: list[int]) -> Change:
    def edit(column: Column) -> None:
        column.stored.buffers[0] = _one_block(len(values), block.build(b"", plain.encode(values, "u1")))

    return edit


CONTAINERS: dict[str, Callable[[], Forge]] = {
    "a null id beyond the entries": lambda: changed_column("d", _dictionary(6, "I", 2)),
    "a null id of 2**32 - 1": lambda: changed_column("d", _dictionary(6, "I", 0xFFFFFFFF)),
    "a flag that is no flag": lambda: changed_column("d", _dictionary(5, "B", 2)),
    "2**32 - 1 entries": lambda: changed_column("d", _dictionary(1, "I", 0xFFFFFFFF)),
    "no entries": lambda: changed_column("d", _dictionary(1, "I", 0)),
    "a dictionary of another type": lambda: changed_column("d", _dictionary(0, "B", 8)),
    "a dictionary of an unknown type": lambda: changed_column("d", _dictionary(0, "B", 200)),
    "a dictionary of fixed size": lambda: changed_column("d", _dictionary(10, "I", 5)),
    "values behind the dictionary": lambda: changed_column("d", _dictionary(14, "QQ", 128, MANY)),
    "values that end before they start": lambda: changed_column("d", _dictionary(14, "QQ", 200, 128)),
    "values in the header": lambda: changed_column("d", _dictionary(14, "QQ", 0, 128)),
    "offsets behind the dictionary": lambda: changed_column("d", _dictionary(30, "QQ", MANY, MANY + 100)),
    "no offsets of a dictionary": lambda: changed_column("d", _dictionary(30, "QQ", 128, 128)),
    "codes beyond the dictionary": lambda: changed_column(
        "d",
        lambda column: column.stored.buffers.__setitem__(
            0, _one_block(3, block.build(b"", plain.encode([0, 1, 2], "u4")))
        ),
    ),
    "a dictionary that is no text": lambda: Forge.of({**columns(), "d": dictionary([b"\xff", None, b"\xff"])}),
    "list offsets that decrease": lambda: changed_column("l", _offsets([0, 2, 1, 3])),
    "list offsets beyond the items": lambda: changed_column("l", _offsets([0, 2, 2, 4])),
    "list offsets far beyond the items": lambda: changed_column("l", _offsets([0, 2, 2, MANY])),
    "list offsets of 2**64 - 1": lambda: changed_column("l", _offsets([0, 2, 2, (1 << 64) - 1])),
    "list offsets of 2**63": lambda: changed_column("l", _offsets([0, 1 << 63, 1 << 63, 1 << 63])),
    "list offsets that do not begin with 0": lambda: changed_column("l", _offsets([1, 2, 2, 3])),
    "too few list offsets": lambda: changed_column("l", _offsets([0, 2, 3])),
    "too many list offsets": lambda: changed_column("l", _offsets([0, 2, 2, 3, 3])),
    "map offsets that decrease": lambda: changed_column("m", _offsets([0, 1, 0, 2])),
    "map offsets beyond the entries": lambda: changed_column("m", _offsets([0, 1, 1, 3])),
    "map keys that are null": lambda: Forge.of(
        {**columns(), "m": maps([1, 0, 1], strings(["k", None]), numbers([1, 2], "i4"))}
    ),
    "fewer keys than values": lambda: Forge.of(
        {**columns(), "m": maps([1, 0, 1], strings(["k"]), numbers([1, 2], "i4"))}
    ),
    "items of lists that are not null": lambda: Forge.of(
        {**columns(), "f": fixed_lists(2, numbers([1, 2, 3, 4], "i4"), count=3)}
    ),
    "half of the items of a list": lambda: Forge.of(
        {**columns(), "f": fixed_lists(2, numbers([1, 2, 3, 4, 5], "i4"), count=3)}
    ),
    "more items than lists have": lambda: Forge.of(
        {**columns(), "f": fixed_lists(2, numbers([1, 2, 3, 4, 5, 6, 7, 8], "i4"), count=3)}
    ),
    "a variant that does not exist": lambda: changed_column("u", _chosen([0, 2, 0])),
    "a variant of 255": lambda: changed_column("u", _chosen([0, 255, 0])),
    "places beyond the variant": lambda: changed_column("u", _offsets([0, 1, 1])),
    "places of 2**63": lambda: changed_column("u", _offsets([0, 1 << 63, 1])),
    "places of 2**64 - 1": lambda: changed_column("u", _offsets([0, (1 << 64) - 1, 1])),
    "billions of values in a block": _billions,
    "text that is no text": lambda: Forge.of({**columns(), "s": strings([b"\xff", b"a", b"b"])}),
    "text that is cut in a character": lambda: Forge.of({**columns(), "s": strings([b"\xc3", b"\xa4", b"b"])}),
}


# ---- values of metadata ----


def _nested_value(depth: int) -> bytes:
    """An `AnyValue`: a list in a list in a list ..."""
    value = b"\x10\x01"
    for _ in range(depth):
        elements = b"\x0a" + _varint(len(value)) + value
        value = b"\xa2\x01" + _varint(len(elements)) + elements
    return value


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def _property(value: bytes) -> bytes:
    pair = b"\x0a\x01p" + b"\x12" + _varint(len(value)) + value
    return b"\x22" + _varint(len(pair)) + pair


def _constant(like: Column, value: object) -> Forge:
    return Forge.of({"n": numbers([1, 2, 3], "i8"), "c": constants(like, 3, value)})


def _kept(value: object) -> Forge:
    return Forge.of(columns(), properties={"amudai.arrow.schema": value})


def _schema(*fields: tuple[str, pa.DataType]) -> bytes:
    return pa.schema(list(fields)).serialize().to_pybytes()


def _required_index() -> wire.IndexDescriptor:
    required = wire.NameValuePair(name="required", value=any_value(True))
    return wire.IndexDescriptor(
        index_type="unheard-of", properties=[required], indexed_fields=[wire.IndexedField(schema_ids=[0])]
    )


VALUES: dict[str, Callable[[], Forge]] = {
    "properties 200 deep": lambda: Forge.of(
        columns(), created=1, unknown={"ShardProperties": _property(_nested_value(200))}
    ),
    "properties 5000 deep": lambda: Forge.of(
        columns(), created=1, unknown={"ShardProperties": _property(_nested_value(5000))}
    ),
    "a directory that is noise": lambda: Forge.of(columns(), unknown={"ShardDirectory": b"\xff\xff\xff"}),
    "a stripe list that is noise": lambda: Forge.of(columns(), unknown={"StripeList": b"\x0a\xff\x01"}),
    "a field list that is noise": lambda: Forge.of(columns(), unknown={"DataRefArray": b"\x12\x02\xff\xfe"}),
    "a descriptor that is noise": lambda: Forge.of(columns(), unknown={"StripeFieldDescriptor": b"\x0b"}),
    "a constant of another kind": lambda: _constant(numbers([], "i4"), "seven"),
    "a constant out of range": lambda: _constant(numbers([], "i1"), 128),
    "a negative constant of an unsigned type": lambda: _constant(numbers([], "u4"), -1),
    "a float as the constant of integers": lambda: _constant(numbers([], "i4"), 1.0),
    "a constant of unknown kind": lambda: _constant(numbers([], "i4"), wire.AnyValue()),
    "a constant list": lambda: _constant(numbers([], "i4"), wire.AnyValue(list_value=wire.ListValue())),
    "a constant that is no text": lambda: _constant(strings([]), b"\xff"),
    "a constant of another size": lambda: _constant(replace(binaries([], fixed_size=4)), b"abc"),
    "a constant decimal of 3 bytes": lambda: _constant(
        binaries([], fixed_size=16).labelled("KustoDecimal"), wire.AnyValue(decimal_value=b"abc")
    ),
    "a number as the constant of booleans": lambda: _constant(booleans([]), 1),
    "a kept schema that is no bytes": lambda: _kept("text"),
    "a kept schema that is noise": lambda: _kept(bytes(range(200))),
    "a kept schema that is cut": lambda: _kept(_schema(("n", pa.int64()))[:-20]),
    "a kept schema of nothing": lambda: _kept(b""),
    "a kept schema with a name that is no text": lambda: _kept(
        _schema(("nnnn", pa.int64())).replace(b"nnnn", b"\xff" * 4)
    ),
    "a kept schema with a member that is no text": lambda: _kept(
        _schema(("n", pa.struct([("mmmm", pa.int64())]))).replace(b"mmmm", b"\xff" * 4)
    ),
    "a kept schema of other columns": lambda: _kept(_schema(("other", pa.int64()))),
    "a kept schema of other types": lambda: _kept(_schema(*((name, pa.list_(pa.int8())) for name in columns()))),
    "a kept schema of wider types": lambda: _kept(_schema(*((name, pa.decimal256(70, 2)) for name in columns()))),
    "an index that is required": lambda: Forge.of(columns(), indexes=[_required_index()]),
    "a stripe's index that is required": lambda: _with_stripe_index(),
    "an encoding of a later version": lambda: changed_column(
        "n", lambda column: setattr(column.stored, "encodings", lambda native: [wire.DataEncoding()])
    ),
    "a packed group": lambda: changed_column("n", lambda column: setattr(column.stored, "packed_group", True)),
    "a descriptor without a field": lambda: changed_message("StripeFieldDescriptor", _cleared("field")),
}


def _with_stripe_index() -> Forge:
    forge = Forge.of(columns())
    return replace(forge, stripes=[replace(forge.stripes[0], indexes=[_required_index()])])


# ---- schemas ----


def _typed(*nodes: fbs.Node, **options: Any) -> Callable[[], Forge]:
    return lambda: Forge.of(columns(), raw_schema=fbs.build(list(nodes), **options))


def _pointing_back() -> Forge:
    """A schema whose first field refers to the vector that holds it."""
    payload = bytearray(fbs.build([fbs.Node("a", BasicType.STRUCT, [fbs.Node("b")])]))
    root = struct.unpack_from("<I", payload)[0]
    vtable = root - struct.unpack_from("<i", payload, root)[0]
    fields = root + struct.unpack_from("<H", payload, vtable + 4)[0]
    vector = fields + struct.unpack_from("<I", payload, fields)[0]
    struct.pack_into("<I", payload, vector + 4, (1 << 32) - 4)
    return Forge.of(columns(), raw_schema=bytes(payload))


def _deep(depth: int) -> fbs.Node:
    node = fbs.Node("leaf")
    for level in range(depth):
        node = fbs.Node(f"level {level}", BasicType.STRUCT, [node])
    return node


SCHEMAS: dict[str, Callable[[], Forge]] = {
    "no schema": lambda: Forge.of(columns(), raw_schema=b""),
    "a schema of zeros": lambda: Forge.of(columns(), raw_schema=bytes(200)),
    "a schema of ones": lambda: Forge.of(columns(), raw_schema=b"\xff" * 200),
    "a schema without fields": lambda: Forge.of(columns(), raw_schema=fbs.build(None)),
    "a schema that points back": _pointing_back,
    "a type of 18": _typed(fbs.Node("a", 18)),
    "a type of 255": _typed(fbs.Node("a", 255)),
    "a list of nothing": _typed(fbs.Node("a", BasicType.LIST)),
    "a map of keys only": _typed(fbs.Node("a", BasicType.MAP, [fbs.Node("k")])),
    "a number with members": _typed(fbs.Node("a", BasicType.INT64, [fbs.Node("k")])),
    "a value of 4 GiB": _typed(fbs.Node("a", BasicType.FIXED_SIZE_BINARY, fixed_size=0xFFFFFFFF)),
    "a value of 2**60 bytes": _typed(fbs.Node("a", BasicType.FIXED_SIZE_BINARY, fixed_size=MANY)),
    "lists of 2**32 - 1": _typed(fbs.Node("a", BasicType.FIXED_SIZE_LIST, [fbs.Node("")], fixed_size=0xFFFFFFFF)),
    "an id twice": _typed(fbs.Node("a", schema_id=0), fbs.Node("b", schema_id=0)),
    "an id beyond the count": _typed(fbs.Node("a", schema_id=7), id_count=2),
    "400 levels": _typed(_deep(400)),
    "a name that is no text": _typed(fbs.Node(b"\xff")),
    "300 variants": _typed(fbs.Node("a", BasicType.UNION, [fbs.Node(str(at)) for at in range(300)])),
    "another type for the same buffers": _typed(
        *(fbs.Node(name, BasicType.GUID, fixed_size=16) for name in columns()), id_count=30
    ),
}

CASES = {**COUNTS, **REFERENCES, **BLOCK_MAPS, **CONTAINERS, **VALUES, **SCHEMAS}


def misled(where: str, url: str) -> Forge:
    """The shard with this URL in a buffer, in all slots of field lists, or in a reference of the directory."""
    if where == "buffer":
        return changed_column("n", _buffer(lambda message: setattr(message.buffer, "url", url)))
    if where == "slots":
        return changed_message("DataRefArray", _lists("url", lambda found: [url] * len(found)))
    return changed_message("ShardDirectory", lambda message: setattr(getattr(message, where), "url", url))
