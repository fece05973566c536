"""How do stripes become the files of a shard?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal

from google.protobuf.message import Message

from amudai.format.wire import amudai_pb2 as wire
from amudai.types import SchemaNode
from tests.forge.columns import Column
from tests.forge.content import FieldContent, pairs, reference
from tests.format import fbs
from tests.oracle.block import checksum

HEADER = b"amud\x00\x01\x00\x00"
ALIGNMENT = 64

Columns = Mapping[str, Column]


@dataclass(kw_only=True)
class Stripe:
    """One stripe: its rows, and what its fields hold, by schema id.

    A field that has no content is missing. `slots` makes the field list shorter (or longer) than the schema.
    """

    rows: int
    contents: Mapping[int, FieldContent | None]
    properties: dict[str, object] = field(default_factory=dict)
    indexes: Sequence[wire.IndexDescriptor] = ()
    slots: int | None = None
    edit: Callable[[wire.StripeDirectory], None] | None = None


@dataclass(kw_only=True)
class Forge:
    """A shard to be made. `Forge.of` takes columns; here every part can be given, and broken, on its own.

    `fields` are the shard's own descriptors by schema id: None leaves a slot empty, what is absent is folded from the
    stripes. `edits` have the last word on the messages of a name before they are framed, `unknown` is appended to the
    payloads of a name, `broken_checksums` names messages whose frames get a wrong one.
    """

    schema: Sequence[SchemaNode]
    stripes: Sequence[Stripe]
    layout: Literal["single", "two-level"] = "single"
    name: str = "forged.amudai.shard"
    properties: dict[str, object] = field(default_factory=dict)
    standard_properties: dict[str, object] = field(default_factory=dict)
    created: int | None = None
    indexes: Sequence[wire.IndexDescriptor] = ()
    fields: Mapping[int, wire.FieldDescriptor | None] = field(default_factory=dict)
    urls: Sequence[str] | None = None
    # The folder that references name, as in a shard that was moved here from there; empty: relative references.
    written_to: str = ""
    raw_schema: bytes | None = None
    edits: Mapping[str, Callable[[Message], None]] = field(default_factory=dict)
    unknown: Mapping[str, bytes] = field(default_factory=dict)
    broken_checksums: frozenset[str] = frozenset()
    header: bytes = HEADER
    footer: bytes = HEADER

    @classmethod
    def of(cls, *stripes: Columns, **options: object) -> Forge:
        """A shard of these columns; every stripe names the same ones, in the same order."""
        schema = nodes_of(stripes[0])
        parts = [Stripe(rows=_rows(columns), contents=contents_of(schema, columns)) for columns in stripes]
        return cls(schema=schema, stripes=parts, **options)  # type: ignore[arg-type]

    def files(self) -> dict[str, bytes]:
        """Every file of the shard by its name."""
        return _Maker(self).files()

    def root(self) -> bytes:
        """The root file."""
        return self.files()[self.name]


def nodes_of(columns: Columns) -> tuple[SchemaNode, ...]:
    """The schema of these columns; ids count depth first."""
    ids = iter(range(1 << 32))
    return tuple(_node(name, column, ids) for name, column in columns.items())


def _node(name: str, column: Column, ids: Iterator[int]) -> SchemaNode:
    return SchemaNode(
        schema_id=next(ids),
        name=name,
        basic_type=column.basic_type,
        signed=column.signed,
        fixed_size=column.fixed_size,
        extension=column.extension,
        internal=column.internal,
        children=tuple([_node(below, child, ids) for below, child in column.children]),
    )


def _rows(columns: Columns) -> int:
    """The rows that the first column says there are."""
    stored = (column.content for column in columns.values() if column.content is not None)
    return next((content.descriptor.position_count for content in stored), 0)


def contents_of(schema: Sequence[SchemaNode], columns: Columns) -> dict[int, FieldContent | None]:
    found: dict[int, FieldContent | None] = {}

    def add(node: SchemaNode, column: Column) -> None:
        found[node.schema_id] = column.content
        for below, (_, child) in zip(node.children, column.children, strict=True):
            add(below, child)

    for node in schema:
        add(node, columns[node.name])
    return found


def _flat(node: SchemaNode) -> fbs.Node:
    return fbs.Node(
        name=node.name,
        kind=node.basic_type,
        children=[_flat(child) for child in node.children],
        schema_id=node.schema_id,
        signed=node.signed,
        fixed_size=node.fixed_size,
        label=node.extension or None,
        aliases=node.aliases,
        internal=node.internal or None,
    )


def _ids(nodes: Sequence[SchemaNode]) -> Iterator[int]:
    for node in nodes:
        yield node.schema_id
        yield from _ids(node.children)


class _File:
    """The bytes of one file, and where the next ones go."""

    def __init__(self, header: bytes) -> None:
        self.parts = [header]
        self.size = len(header)

    def append(self, data: bytes) -> tuple[int, int]:
        start = self.size
        self.parts.append(data)
        self.size += len(data)
        return start, self.size

    def align(self) -> int:
        self.append(bytes(-self.size % ALIGNMENT))
        return self.size


class _Maker:
    """One shard being put together, in the order of docs/format/README.md."""

    def __init__(self, forge: Forge) -> None:
        self.forge = forge
        self.root = _File(forge.header)
        self.others: dict[str, _File] = {}
        self.ids = list(_ids(forge.schema))

    def files(self) -> dict[str, bytes]:
        forge = self.forge
        buffers = [self._buffers(ordinal, stripe) for ordinal, stripe in enumerate(forge.stripes)]
        starts = accumulate((stripe.rows for stripe in forge.stripes), initial=0)
        stripes = [
            self._stripe(stripe, start, placed)
            for stripe, start, placed in zip(forge.stripes, starts, buffers, strict=False)
        ]
        stripe_list = self._frame(wire.StripeList(stripes=stripes))
        names = sorted(map(self._spelt, self.others)) if forge.urls is None else forge.urls
        url_list = self._frame(wire.UrlList(urls=names))
        field_list = self._fields()
        properties = self._properties()
        schema = self._framed(
            fbs.build(list(map(_flat, forge.schema))) if forge.raw_schema is None else forge.raw_schema
        )
        indexes = self._indexes(forge.indexes)
        raw_sizes = [stripe.raw_data_size for stripe in stripes]
        directory = wire.ShardDirectory(
            schema_ref=schema,
            properties_ref=properties,
            field_list_ref=field_list,
            stripe_list_ref=stripe_list,
            url_list_ref=url_list,
            indexes_ref=indexes,
            total_record_count=sum(stripe.rows for stripe in forge.stripes),
            stripe_count=len(forge.stripes),
            raw_data_size=sum(raw_sizes) if any(raw_sizes) else None,
        )
        found = self._frame(directory)
        self.root.append((found.range.end - found.range.start - 8).to_bytes(4, "little"))
        for made in (self.root, *self.others.values()):
            made.append(forge.footer)
        return {forge.name: b"".join(self.root.parts)} | {
            name: b"".join(made.parts) for name, made in self.others.items()
        }

    def _buffers(self, ordinal: int, stripe: Stripe) -> dict[int, list[wire.EncodedBuffer]]:
        """Lay the buffers of a stripe down, and describe them."""
        target, url = self.root, ""
        if self.forge.layout == "two-level":
            name = f"{ordinal:016x}.amudai.stripe"
            target = self.others[name] = _File(self.forge.header)
            url = self._spelt(name)
        placed: dict[int, list[wire.EncodedBuffer]] = {}
        for schema_id, content in stripe.contents.items():
            if content is None:
                continue
            for buffer in content.buffers:
                message = buffer.message(url, target.align())
                target.append(buffer.layout()[0])
                placed.setdefault(schema_id, []).append(message)
        return placed

    def _stripe(self, stripe: Stripe, start: int, placed: dict[int, list[wire.EncodedBuffer]]) -> wire.StripeDirectory:
        slots: dict[int, wire.DataRef] = {}
        raw_size = 0
        for schema_id, content in stripe.contents.items():
            if content is not None:
                message = content.message(placed.get(schema_id, []))
                slots[schema_id] = self._frame(message, content.unknown, content.broken_checksum)
                raw_size += message.field.raw_data_size
        count = len(self.ids) if stripe.slots is None else stripe.slots
        field_list = self._frame(_array([slots.get(schema_id) for schema_id in range(count)]))
        properties = None
        if stripe.properties:
            properties = self._frame(wire.StripeProperties(custom_properties=pairs(stripe.properties)))
        directory = wire.StripeDirectory(
            properties_ref=properties,
            field_list_ref=field_list,
            indexes_ref=self._indexes(stripe.indexes),
            total_record_count=stripe.rows,
            raw_data_size=raw_size or None,
            shard_position=start,
        )
        if stripe.edit is not None:
            stripe.edit(directory)
        return directory

    def _fields(self) -> wire.DataRef:
        """The shard's own descriptors and their list."""
        slots: list[wire.DataRef | None] = []
        for schema_id in self.ids:
            message = self.forge.fields.get(schema_id, _ABSENT)
            if message is _ABSENT:
                message = _folded([stripe.contents.get(schema_id) for stripe in self.forge.stripes])
            slots.append(None if message is None else self._frame(message))
        url = self._spelt(self.forge.name) if self.forge.written_to else ""
        return self._frame(_array(slots, url))

    def _properties(self) -> wire.DataRef | None:
        forge = self.forge
        message = wire.ShardProperties(
            standard_properties=pairs(forge.standard_properties), custom_properties=pairs(forge.properties)
        )
        if forge.created is not None:
            message.creation_min.ticks = message.creation_max.ticks = forge.created
        return self._frame(message) if message.ByteSize() else None

    def _indexes(self, descriptors: Sequence[wire.IndexDescriptor]) -> wire.DataRef | None:
        return self._frame(wire.IndexCollection(index_descriptors=descriptors)) if descriptors else None

    def _frame(self, message: Message, unknown: bytes = b"", broken: bool = False) -> wire.DataRef:
        name = message.DESCRIPTOR.name
        if name in self.forge.edits:
            self.forge.edits[name](message)
        payload = message.SerializeToString(deterministic=True) + self.forge.unknown.get(name, b"") + unknown
        return self._framed(payload, broken or name in self.forge.broken_checksums)

    def _framed(self, payload: bytes, broken: bool = False) -> wire.DataRef:
        stored = checksum(payload) ^ broken
        frame = len(payload).to_bytes(4, "little") + payload + stored.to_bytes(4, "little")
        return reference("", *self.root.append(frame))

    def _spelt(self, name: str) -> str:
        """A file as references name it."""
        return f"{self.forge.written_to}{name}"


def _array(slots: Sequence[wire.DataRef | None], url: str = "") -> wire.DataRefArray:
    array = wire.DataRefArray()
    for slot in slots:
        array.url.append("" if slot is None else slot.url or url)
        array.start.append(0 if slot is None else slot.range.start)
        array.end.append(0 if slot is None else slot.range.end)
    return array


_ABSENT = wire.FieldDescriptor()  # a sentinel that is compared by identity


def _folded(contents: Sequence[FieldContent | None]) -> wire.FieldDescriptor | None:
    """What the one stripe says that has the field; of several only counts and bounds are folded here."""
    stored = [content.descriptor for content in contents if content is not None and content.descriptor.position_count]
    if not stored:
        return None
    if len(stored) == 1:
        only = wire.FieldDescriptor()
        only.CopyFrom(stored[0])
        only.ClearField("membership_filters")
        only.ClearField("dictionary_size")
        return only
    folded = wire.FieldDescriptor(position_count=sum(each.position_count for each in stored))
    if all(each.HasField("null_count") for each in stored):
        folded.null_count = sum(each.null_count for each in stored)
    if all(each.HasField("range_stats") for each in stored):
        folded.range_stats.min_inclusive = folded.range_stats.max_inclusive = True
        _bound(folded.range_stats.min_value, [each.range_stats.min_value for each in stored], min)
        _bound(folded.range_stats.max_value, [each.range_stats.max_value for each in stored], max)
    return folded


def _bound(target: wire.AnyValue, bounds: Sequence[wire.AnyValue], choose: Callable[..., wire.AnyValue]) -> None:
    known = [bound for bound in bounds if bound.WhichOneof("kind") is not None]
    if known:
        target.CopyFrom(choose(known, key=lambda bound: getattr(bound, bound.WhichOneof("kind"))))
