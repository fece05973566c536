"""Schemas for tests, written with the stock FlatBuffers builder: sound ones, and ones no writer would write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import flatbuffers
import xxhash

from amudai.types import BasicType

NO_PARENT = 0xFFFF_FFFF


@dataclass
class Node:
    """One node to write; None leaves a slot out."""

    name: str | bytes | None = ""
    kind: int = BasicType.INT64
    children: Sequence[Node] | None = ()
    schema_id: int | None = None
    signed: bool = False
    fixed_size: int = 0
    label: str | None = None
    aliases: Sequence[str] = ()
    internal: str | None = None
    later: int = 0  # a field of a later version, in a slot that this version does not know


def build(
    fields: Sequence[Node] | None, *, id_count: int | None = None, lookup: tuple[list[int], list[int]] | bool = True
) -> bytes:
    """The payload of a schema. Nodes without an id are numbered depth first."""
    builder = flatbuffers.Builder(1024)
    counter = [0]
    fields_at = None
    if fields is not None:
        fields_at = _references(builder, [_field(builder, node, counter) for node in fields])
    names = [node.name for node in fields or ()]
    tables = hash_lookup([name.encode() if isinstance(name, str) else name or b"" for name in names])
    lookup_at = None
    if lookup is not False:
        buckets, entries = tables if lookup is True else lookup
        lookup_at = _table(builder, [(0, "ref", _numbers(builder, buckets)), (1, "ref", _numbers(builder, entries))], 2)
    count = counter[0] if id_count is None else id_count
    root = _table(builder, [(0, "ref", fields_at), (1, "u32", count), (2, "ref", lookup_at)], 3)
    builder.Finish(root)
    return bytes(builder.Output())


def hash_lookup(names: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """The buckets and entries that a writer stores for these names."""
    size = 1
    while size < max(len(names), 4) // 2:
        size *= 2
    groups: list[list[int]] = [[] for _ in range(size)]
    for index, name in enumerate(names):
        groups[xxhash.xxh3_64_intdigest(name) & (size - 1)].append(index)
    buckets = [0]
    for group in groups:
        buckets.append(buckets[-1] + len(group))
    return buckets, [index for group in groups for index in group]


def _field(builder: Any, node: Node, counter: list[int]) -> int:
    data_type = _data_type(builder, node, NO_PARENT, counter)
    internal = None
    if node.internal is not None:
        internal = _table(builder, [(0, "ref", builder.CreateString(node.internal))], 1)
    return _table(builder, [(0, "ref", data_type), (1, "ref", internal)], 2)


def _data_type(builder: Any, node: Node, parent: int, counter: list[int]) -> int:
    schema_id = counter[0] if node.schema_id is None else node.schema_id
    counter[0] += 1
    name = None if node.name is None else builder.CreateString(node.name)
    children = None
    if node.children is not None:
        children = _references(builder, [_data_type(builder, child, schema_id, counter) for child in node.children])
    aliases = _references(builder, [builder.CreateString(alias) for alias in node.aliases]) if node.aliases else None
    extended = None
    if node.label is not None:
        label, properties = builder.CreateString(node.label), _references(builder, [])
        extended = _table(builder, [(0, "ref", label), (1, "ref", properties)], 2)
    slots = [
        (0, "u8", int(node.kind)),
        (1, "u32", schema_id),
        (2, "u32", parent),
        (3, "ref", name),
        (4, "ref", aliases),
        (5, "ref", children),
        (6, "u8", int(node.signed)),
        (7, "u64", node.fixed_size),
        (8, "ref", extended),
        (20, "u8", node.later),
    ]
    return _table(builder, slots, 21 if node.later else 10)


def _table(builder: Any, slots: Sequence[tuple[int, str, int | None]], count: int) -> int:
    builder.StartObject(count)
    prepend = {
        "u8": builder.PrependUint8Slot,
        "u32": builder.PrependUint32Slot,
        "u64": builder.PrependUint64Slot,
        "ref": builder.PrependUOffsetTRelativeSlot,
    }
    for slot, kind, value in slots:
        if value is not None:
            prepend[kind](slot, value, 0)
    return int(builder.EndObject())


def _references(builder: Any, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _numbers(builder: Any, numbers: Sequence[int]) -> int:
    builder.StartVector(4, len(numbers), 4)
    for number in reversed(numbers):
        builder.PrependUint32(number)
    return int(builder.EndVector())
