"""How do Python values become the blocks of a column?

Each function makes the column of one kind of type: what it is, and its blocks in one stripe. `encode` is an encoder of
the oracle, or one for each block; `block_values` cuts the values into blocks. Containers take the columns below them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from amudai.format.wire import amudai_pb2 as wire
from amudai.types import BasicType
from tests.forge.content import Block, Buffer, BufferKind, FieldContent, any_value
from tests.oracle import block, presence
from tests.oracle import dictionary as oracle_dictionary
from tests.oracle.binary import plain as binary_plain
from tests.oracle.common import Encoder
from tests.oracle.numeric import plain

BinaryEncoder = Callable[..., bytes]

_INTEGERS = {"1": BasicType.INT8, "2": BasicType.INT16, "4": BasicType.INT32, "8": BasicType.INT64}
_FLOATS = {"f4": BasicType.FLOAT32, "f8": BasicType.FLOAT64}
_VARIABLE = (BasicType.STRING, BasicType.BINARY)


@dataclass(kw_only=True)
class Column:
    """A field: its type, its content in one stripe (None: missing there), and the fields below it."""

    basic_type: BasicType
    signed: bool = False
    fixed_size: int = 0
    extension: str = ""
    internal: str = ""
    content: FieldContent | None
    children: Sequence[tuple[str, Column]] = ()

    @property
    def stored(self) -> FieldContent:
        """The content, which must be there."""
        assert self.content is not None
        return self.content

    def edited(self, edit: Callable[[FieldContent], None]) -> Column:
        """The same column, after something was done to its content."""
        edit(self.stored)
        return self

    def labelled(self, extension: str) -> Column:
        """The same column with an extension type."""
        return replace(self, extension=extension)


def missing(like: Column) -> Column:
    """A column of the same type that is not stored in this stripe, and nothing below it."""
    return replace(like, content=None, children=[(name, missing(child)) for name, child in like.children])


def units(count: int) -> Column:
    """Nothing but nulls, without a buffer."""
    return Column(basic_type=BasicType.UNIT, content=FieldContent(descriptor=_descriptor(count)))


def constants(like: Column, count: int, value: wire.AnyValue | object, *, nulls: int = 0) -> Column:
    """A column of the same type whose positions all have one value; no buffers."""
    stored = value if isinstance(value, wire.AnyValue) else any_value(value)
    descriptor = _descriptor(count, count if value is None else nulls)
    descriptor.constant_value.CopyFrom(stored)
    if stored.WhichOneof("kind") in ("i64_value", "u64_value", "double_value"):
        descriptor.range_stats.CopyFrom(_range(stored, stored))
    return replace(like, content=FieldContent(descriptor=descriptor))


def numbers(
    values: Sequence[Any],
    dtype: str,
    encode: Encoder | Sequence[Encoder] = plain.encode,
    block_values: int | None = None,
    *,
    checksums: bool = True,
    presence_kind: int | None = None,
    filler: int = 0,
) -> Column:
    """Integers or floats of the type "i1" ... "u8", "f4", "f8"; None is null. An int among floats is a bit pattern.

    `filler` is what null slots hold.
    """
    bits = [filler if value is None else _bits(value, dtype) for value in values]
    sound = [value is not None for value in values]
    blocks = []
    for ordinal, (start, end) in enumerate(_cuts(len(values), block_values)):
        section = _chosen(encode, ordinal)(bits[start:end], dtype)
        blocks.append(_block(sound[start:end], section, checksums, presence_kind))
    buffer = Buffer(kind=BufferKind.DATA, blocks=blocks, checksums=checksums, embedded_presence=True)
    descriptor = _descriptor(len(values), sound.count(False))
    if dtype in _FLOATS:
        kind, basic = "double", _FLOATS[dtype]
        known = [_float(value, dtype) for value in values if value is not None]
        known = [value for value in known if value == value]
    else:
        kind, basic = ("i64" if dtype[0] == "i" else "u64"), _INTEGERS[dtype[1]]
        known = [value for value in values if value is not None]
    bounds = (any_value(min(known), kind), any_value(max(known), kind)) if known else ()
    descriptor.range_stats.CopyFrom(_range(*bounds))
    content = FieldContent(descriptor=descriptor, buffers=[buffer])
    return Column(basic_type=basic, signed=dtype[0] == "i", content=content)


def datetimes(
    ticks: Sequence[int | None],
    encode: Encoder | Sequence[Encoder] = plain.encode,
    block_values: int | None = None,
    **options: Any,
) -> Column:
    """Ticks of 100 ns since the year 1."""
    return replace(numbers(ticks, "u8", encode, block_values, **options), basic_type=BasicType.DATETIME)


def timespans(
    ticks: Sequence[int | None],
    encode: Encoder | Sequence[Encoder] = plain.encode,
    block_values: int | None = None,
    **options: Any,
) -> Column:
    """Ticks of 100 ns."""
    return numbers(ticks, "i8", encode, block_values, **options).labelled("KustoTimeSpan")


def booleans(
    values: Sequence[bool | None], encode: Encoder | Sequence[Encoder] = plain.encode, block_bytes: int | None = None
) -> Column:
    """Bits, and a PRESENCE buffer if there are nulls."""
    sound = [value is not None for value in values]
    buffers = [bits_buffer(BufferKind.DATA, [bool(value) for value in values], encode, block_bytes)]
    if not all(sound):
        buffers.append(bits_buffer(BufferKind.PRESENCE, sound))
    descriptor = _descriptor(len(values), sound.count(False))
    descriptor.boolean_stats.true_count = sum(value is True for value in values)
    descriptor.boolean_stats.false_count = sum(value is False for value in values)
    return Column(basic_type=BasicType.BOOLEAN, content=FieldContent(descriptor=descriptor, buffers=buffers))


def strings(
    values: Sequence[str | bytes | None],
    encode: BinaryEncoder | Sequence[BinaryEncoder] = binary_plain.encode,
    block_values: int | None = None,
    **options: Any,
) -> Column:
    """Texts; bytes are stored as they are."""
    stored = [value.encode() if isinstance(value, str) else value for value in values]
    return replace(binaries(stored, encode, block_values, **options), basic_type=BasicType.STRING)


def binaries(
    values: Sequence[bytes | None],
    encode: BinaryEncoder | Sequence[BinaryEncoder] = binary_plain.encode,
    block_values: int | None = None,
    *,
    fixed_size: int | None = None,
    checksums: bool = True,
    presence_kind: int | None = None,
    filler: bytes | None = None,
    nulls_to_encoder: bool = False,
) -> Column:
    """Byte values, of one size where `fixed_size` says so.

    Null slots hold `filler`, which is nothing or zeros by default. Only the encoder of block dictionaries wants to see
    the nulls themselves (`nulls_to_encoder`).
    """
    nothing = bytes(fixed_size or 0) if filler is None else filler
    sound = [value is not None for value in values]
    blocks = []
    for ordinal, (start, end) in enumerate(_cuts(len(values), block_values)):
        part: list[Any] = list(values[start:end])
        if not nulls_to_encoder:
            part = [nothing if value is None else value for value in part]
        section = _chosen(encode, ordinal)(part, fixed_size)
        blocks.append(_block(sound[start:end], section, checksums, presence_kind))
    data = Buffer(
        kind=BufferKind.DATA,
        blocks=blocks,
        checksums=checksums,
        embedded_presence=True,
        embedded_offsets=fixed_size is None,
    )
    content = FieldContent(descriptor=_descriptor(len(values), sound.count(False)), buffers=[data])
    basic = BasicType.BINARY if fixed_size is None else BasicType.FIXED_SIZE_BINARY
    return Column(basic_type=basic, fixed_size=fixed_size or 0, content=content)


def guids(
    values: Sequence[bytes | None],
    encode: BinaryEncoder | Sequence[BinaryEncoder] = binary_plain.encode,
    block_values: int | None = None,
    **options: Any,
) -> Column:
    """Sixteen bytes each."""
    return replace(binaries(values, encode, block_values, fixed_size=16, **options), basic_type=BasicType.GUID)


def decimals(
    values: Sequence[bytes | None],
    encode: BinaryEncoder | Sequence[BinaryEncoder] = binary_plain.encode,
    block_values: int | None = None,
    **options: Any,
) -> Column:
    """The sixteen stored bytes of each number; docs/format/values.md has a table of them."""
    return binaries(values, encode, block_values, fixed_size=16, **options).labelled("KustoDecimal")


def dictionary(
    values: Sequence[str | bytes | None],
    encode: Encoder | Sequence[Encoder] = plain.encode,
    block_values: int | None = None,
    *,
    like: Column | None = None,
    entries: Sequence[bytes | None] | None = None,
    sorted_ids: bool = True,
) -> Column:
    """Codes into a value dictionary; a column of strings unless it is `like` another."""
    like = strings([]) if like is None else like
    stored = [value.encode() if isinstance(value, str) else value for value in values]
    entries = list(dict.fromkeys(stored)) if entries is None else list(entries)
    codes = [entries.index(value) for value in stored]
    blocks = [
        _block([True] * (end - start), _chosen(encode, ordinal)(codes[start:end], "u4"))
        for ordinal, (start, end) in enumerate(_cuts(len(codes), block_values))
    ]
    names = {
        BasicType.STRING: "String",
        BasicType.BINARY: "Binary",
        BasicType.GUID: "Guid",
        BasicType.FIXED_SIZE_BINARY: "FixedSizeBinary",
    }
    size = 0 if like.basic_type in _VARIABLE else like.fixed_size
    raw = oracle_dictionary.encode(entries, names[like.basic_type], size, sorted_ids)
    descriptor = _descriptor(len(values), stored.count(None))
    descriptor.dictionary_size = len(entries)
    buffers = [
        Buffer(kind=BufferKind.DATA, blocks=blocks),
        Buffer(kind=BufferKind.VALUE_DICTIONARY, raw=raw),
    ]
    return replace(like, content=FieldContent(descriptor=descriptor, buffers=buffers))


def structs(children: Mapping[str, Column], present: Sequence[bool] | None = None, count: int | None = None) -> Column:
    """A struct over these columns; `present` says which structs are not null. `count` is needed without children."""
    if count is None:
        count = len(present) if present is not None else next(iter(children.values())).stored.descriptor.position_count
    return Column(
        basic_type=BasicType.STRUCT,
        content=_container(count, present),
        children=list(children.items()),
    )


def lists(lengths: Sequence[int | None], child: Column, encode: Encoder = plain.encode, name: str = "") -> Column:
    """Lists of these lengths over the positions of `child`; None is a null list, which is empty."""
    return replace(_ranges(lengths, encode), children=[(name, child)])


def maps(lengths: Sequence[int | None], keys: Column, values: Column, encode: Encoder = plain.encode) -> Column:
    """Maps with these numbers of entries; None is a null map."""
    return replace(_ranges(lengths, encode), basic_type=BasicType.MAP, children=[("key", keys), ("value", values)])


def fixed_lists(size: int, child: Column, present: Sequence[bool] | None = None, count: int | None = None) -> Column:
    """Lists of `size` items each over the positions of `child`."""
    if count is None:
        count = len(present) if present is not None else child.stored.descriptor.position_count // size
    return Column(
        basic_type=BasicType.FIXED_SIZE_LIST,
        fixed_size=size,
        content=_container(count, present),
        children=[("", child)],
    )


def unions(
    chosen: Sequence[int],
    children: Sequence[tuple[str, Column]],
    places: Sequence[int] | None = None,
    encode: Encoder = plain.encode,
) -> Column:
    """Which child has each value; `places` says where in it (dense), else at the same position (sparse)."""
    count = len(chosen)
    buffers = [Buffer(kind=BufferKind.DATA, blocks=_one_block(list(chosen), "u1", encode), embedded_presence=True)]
    if places is not None:
        buffers.append(Buffer(kind=BufferKind.OFFSETS, blocks=_one_block(list(places), "u8", encode)))
    content = FieldContent(descriptor=_descriptor(count), buffers=buffers)
    return Column(basic_type=BasicType.UNION, content=content, children=children)


def number_dictionary(
    values: Sequence[Any], dtype: str, *, like: Column | None = None, sorted_ids: bool = True
) -> Column:
    """Numbers of the type "i1" ... "f8" as codes into a value dictionary; None is null."""
    like = numbers(values, dtype) if like is None else like
    width = int(dtype[1])
    bits = [None if value is None else _bits(value, dtype) % (1 << 8 * width) for value in values]
    stored = [None if value is None else value.to_bytes(width, "little") for value in bits]
    entries = list(dict.fromkeys(stored))
    name = {BasicType.DATETIME: "DateTime"}.get(like.basic_type) or like.basic_type.name.title()
    code = (
        "<" + dict(zip(("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"), "bhiqBHIQfd", strict=True))[dtype]
    )
    raw = oracle_dictionary.encode(entries, name, width, sorted_ids, lambda entry: struct.unpack(code, entry)[0])
    codes = [entries.index(value) for value in stored]
    descriptor = wire.FieldDescriptor()
    descriptor.CopyFrom(like.stored.descriptor)
    descriptor.dictionary_size = len(entries)
    buffers = [
        Buffer(
            kind=BufferKind.DATA,
            blocks=[
                _block([True] * (end - start), plain.encode(codes[start:end], "u4"))
                for start, end in _cuts(len(codes), None)
            ],
        ),
        Buffer(kind=BufferKind.VALUE_DICTIONARY, raw=raw),
    ]
    return replace(like, content=FieldContent(descriptor=descriptor, buffers=buffers))


def separate(
    values: Sequence[bytes | None],
    *,
    text: bool = False,
    block_bytes: int | None = None,
    block_values: int | None = None,
) -> Column:
    """Values whose bytes are in DATA, one after the other, and whose OFFSETS are in a buffer of their own."""
    stored = [b"" if value is None else value for value in values]
    ends = [0, *accumulate(map(len, stored))]
    data, sound = b"".join(stored), [value is not None for value in values]
    buffers = [
        Buffer(
            kind=BufferKind.DATA,
            blocks=[
                _block([True] * (end - start), plain.encode(list(data[start:end]), "u1"))
                for start, end in _cuts(len(data), block_bytes)
            ],
        ),
        Buffer(
            kind=BufferKind.OFFSETS,
            blocks=[
                _block([True] * (end - start), plain.encode(ends[start:end], "u8"))
                for start, end in _cuts(len(ends), block_values)
            ],
        ),
    ]
    if not all(sound):
        buffers.append(bits_buffer(BufferKind.PRESENCE, sound))
    content = FieldContent(descriptor=_descriptor(len(values), sound.count(False)), buffers=buffers)
    return Column(basic_type=BasicType.STRING if text else BasicType.BINARY, content=content)


def referred(constant: Column) -> Column:
    """A constant whose value is elsewhere in the file, at the place that its descriptor refers to."""
    payload = constant.stored.descriptor.constant_value.SerializeToString()
    frame = len(payload).to_bytes(4, "little") + payload + block.checksum(payload).to_bytes(4, "little")

    def refer(message: wire.StripeFieldDescriptor) -> None:
        buffers = message.encodings[0].native.buffers
        message.field.constant_value.Clear()
        message.field.constant_value.data_ref.CopyFrom(buffers[0].buffer)
        del buffers[:]

    content = replace(constant.stored, buffers=[Buffer(kind=BufferKind.DATA, raw=frame)], edit=refer)
    return replace(constant, content=content)


def bits_buffer(
    kind: int,
    values: Sequence[bool],
    encode: Encoder | Sequence[Encoder] = plain.encode,
    block_bytes: int | None = None,
) -> Buffer:
    """A buffer of bits, lowest first; its block map counts bytes."""
    padded = list(values) + [False] * (-len(values) % 8)
    packed = [sum(padded[at + bit] << bit for bit in range(8)) for at in range(0, len(padded), 8)]
    blocks = [
        _block([True] * (end - start), _chosen(encode, ordinal)(packed[start:end], "u1"))
        for ordinal, (start, end) in enumerate(_cuts(len(packed), block_bytes))
    ]
    return Buffer(kind=kind, blocks=blocks)


def _ranges(lengths: Sequence[int | None], encode: Encoder) -> Column:
    offsets = list(accumulate((length or 0 for length in lengths), initial=0))
    content = _container(len(lengths), [length is not None for length in lengths])
    content.buffers.insert(0, Buffer(kind=BufferKind.OFFSETS, blocks=_one_block(offsets, "u8", encode)))
    return Column(basic_type=BasicType.LIST, content=content)


def _container(count: int, present: Sequence[bool] | None) -> FieldContent:
    present = [True] * count if present is None else present
    buffers = [] if all(present) else [bits_buffer(BufferKind.PRESENCE, present)]
    return FieldContent(descriptor=_descriptor(count, list(present).count(False)), buffers=buffers)


def _one_block(values: list[int], dtype: str, encode: Encoder) -> list[Block]:
    return [_block([True] * len(values), encode(values, dtype))] if values else []


def _block(present: Sequence[bool], section: bytes, checksums: bool = True, kind: int | None = None) -> Block:
    marks = presence.encode(list(present), kind if not all(present) else None)
    return len(present), block.build(marks, section, checksums)


def _cuts(count: int, size: int | None) -> Iterator[tuple[int, int]]:
    size = size or max(count, 1)
    for start in range(0, count, size):
        yield start, min(start + size, count)


def _chosen(encode: Any, ordinal: int) -> Any:
    return encode if callable(encode) else encode[ordinal]


def _bits(value: Any, dtype: str) -> int:
    if dtype in _FLOATS and isinstance(value, float):
        return int.from_bytes(struct.pack("<f" if dtype == "f4" else "<d", value), "little")
    return int(value)


def _float(value: Any, dtype: str) -> float:
    bits = _bits(value, dtype).to_bytes(int(dtype[1]), "little")
    (found,) = struct.unpack("<f" if dtype == "f4" else "<d", bits)
    return float(found)


def _descriptor(count: int, nulls: int | None = None) -> wire.FieldDescriptor:
    return wire.FieldDescriptor(position_count=count, null_count=nulls)


def _range(low: wire.AnyValue | None = None, high: wire.AnyValue | None = None) -> wire.RangeStats:
    return wire.RangeStats(min_value=low, min_inclusive=True, max_value=high, max_inclusive=True)
