"""How is a shard put together from its stripes?

Buffers go into the file as soon as a stripe ends; descriptors, lists, schema and directory follow when the shard ends.
Nothing has a name before everything is written: the root file is published last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import xxhash

from amudai.encoding import Profile
from amudai.format import (
    FOOTER,
    HEADER,
    AnyValue,
    DataRef,
    FieldDescriptor,
    FieldList,
    Properties,
    ShardDirectory,
    ShardProperties,
    StripeDirectory,
    StripeFieldDescriptor,
    StripeList,
    StripeProperties,
    UrlList,
    encode_schema,
    frame,
    frame_directory,
)
from amudai.format.message import Fact
from amudai.shard.build.fields import Making, builder_of
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.stored import StoredArray
from amudai.shard.build.stripe import place_fields
from amudai.stats import FieldStatistics, merge
from amudai.storage import SealedFile, Sealing, Spool
from amudai.types import SchemaNode

__all__ = ["STRIPE_SUFFIX", "BuildOptions", "ShardBuilder"]

STRIPE_SUFFIX: Final = ".amudai.stripe"


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """How a shard is written.

    Attributes
    ----------
    two_level
        Whether each stripe has a file of its own.
    stripe_rows, stripe_bytes
        When a stripe ends: rows, or bytes of encoded values; None for never.
    memory
        Encoded bytes that are held in memory; more go to a temporary file.
    bloom
        Schema ids of fields that get a Bloom filter whatever it costs.
    """

    profile: Profile
    two_level: bool = False
    stripe_rows: int | None = None
    stripe_bytes: int | None = None
    memory: int = 64 * 1024 * 1024
    temp_folder: str | None = None
    bloom: frozenset[int] = frozenset()
    properties: Properties = ()
    field_properties: Mapping[int, Properties] = field(default_factory=dict)


# Runs a piece of work for each field, perhaps on several threads, and waits for all.
Each = Callable[[Callable[[int], None], int], None]


def one_by_one(work: Callable[[int], None], count: int) -> None:
    """The fields in their order, on this thread."""
    for index in range(count):
        work(index)


class ShardBuilder:
    """Takes rows, cuts stripes, writes the files of a shard. `publish` makes it appear; without, nothing is left."""

    def __init__(
        self, nodes: Sequence[SchemaNode], sealing: Sealing, root: str, options: BuildOptions, each: Each = one_by_one
    ) -> None:
        self._nodes = tuple(nodes)
        self._sealing = sealing
        cut = root.rfind("/") + 1
        self._folder, self._name = root[:cut], root[cut:]
        self._options = options
        self._each = each
        self._schema = encode_schema(self._nodes)
        self._root = sealing.file(root)
        self._root.write(HEADER)
        self._stripes: list[_Stripe] = []
        self._open: _OpenStripe | None = None
        self.rows = 0

    @property
    def encoded_bytes(self) -> int:
        """Bytes of encoded values so far."""
        return sum(stripe.size for stripe in self._stripes) + (self._open.spool.size if self._open is not None else 0)

    @property
    def room(self) -> int | None:
        """Rows that the stripe at hand still takes; None for any number."""
        if self._options.stripe_rows is None:
            return None
        return self._options.stripe_rows - (self._open.rows if self._open is not None else 0)

    def append(self, columns: Sequence[Callable[[], StoredArray]], rows: int) -> None:
        """Take rows: for each top-level field the work that gives its values."""
        if self._open is None:
            self._open = _OpenStripe(self._nodes, self._options)
        self._open.append(columns, rows, self._each)
        self.rows += rows
        limit = self._options.stripe_bytes
        if self.room == 0 or (limit is not None and self._open.spool.size >= limit):
            self.end_stripe()

    def end_stripe(self, properties: Properties = ()) -> None:
        """End the stripe at hand, if any rows came."""
        stripe, self._open = self._open, None
        if stripe is None:
            return
        fields = stripe.finish(self._each)
        with stripe.spool:
            if self._options.two_level:
                # Named by its content and its root: the same input gives the same names, and shards share no files.
                name = f"{stripe.digest(fields, self._name, len(self._stripes)):016x}{STRIPE_SUFFIX}"
                with self._sealing.file(self._folder + name) as out:
                    out.write(HEADER)
                    self._place(stripe, fields, name, out, properties)
                    out.write(FOOTER)
            else:
                self._place(stripe, fields, "", self._root, properties)

    def _place(
        self, stripe: _OpenStripe, fields: tuple[PreparedField, ...], url: str, out: SealedFile, properties: Properties
    ) -> None:
        start = out.tell()
        placed = place_fields(fields, url, out, stripe.spool, self._options.field_properties)
        self._stripes.append(_Stripe(stripe.rows, url, out.tell() - start, placed, properties))

    def abandon(self) -> None:
        """Let go of what waits in scratch memory."""
        if self._open is not None:
            self._open.spool.close()
            self._open = None

    def publish(self, remove: Iterable[str] = ()) -> None:
        """Write the metadata and let the shard appear, all of it or nothing."""
        self.end_stripe()
        count = sum(1 for node in self._nodes for _ in _below(node))
        merged: list[FieldDescriptor | None] = [None] * count
        directories: list[StripeDirectory] = []
        position = 0
        for stripe in self._stripes:
            refs: list[DataRef | None] = [None] * count
            for schema_id, descriptor in sorted(stripe.fields.items()):
                refs[schema_id] = self._put(descriptor)
                merged[schema_id] = _folded(merged[schema_id], descriptor.field)
            listed = self._put(FieldList.from_refs(refs))
            noted = self._put(StripeProperties(custom=stripe.properties)) if stripe.properties else None
            directories.append(
                StripeDirectory(
                    field_list=listed,
                    properties=noted,
                    shard_position=position,
                    total_records=stripe.rows,
                    raw_data_size=_sum(each.field.raw_data_size for each in stripe.fields.values()),
                )
            )
            position += stripe.rows
        stripe_list = self._put(StripeList(directories))
        others = sorted({stripe.url for stripe in self._stripes if stripe.url and _has_buffers(stripe)})
        url_list = self._put(UrlList(tuple(others)))
        field_list = self._put(FieldList.from_refs([None if each is None else self._put(each) for each in merged]))
        bag = self._options.properties
        directory = ShardDirectory(
            properties=self._put(ShardProperties(custom=bag)) if bag else None,
            schema=self._write(self._schema),
            field_list=field_list,
            stripe_list=stripe_list,
            url_list=url_list,
            total_records=position,
            stripe_count=len(directories),
            raw_data_size=_sum(each.raw_data_size for each in directories),
        )
        self._root.write(frame_directory(directory.encode()))
        self._root.write(FOOTER)
        self._root.close()
        self._sealing.publish(remove)

    def _put(self, fact: Fact) -> DataRef:
        return self._write(fact.encode())

    def _write(self, payload: bytes) -> DataRef:
        start = self._root.tell()
        self._root.write(frame(payload))
        return DataRef("", start, self._root.tell())


@dataclass(frozen=True, slots=True, eq=False)
class _Stripe:
    """A stripe whose buffers lie in a file; `url` is empty where that is the root."""

    rows: int
    url: str
    size: int
    fields: dict[int, StripeFieldDescriptor]
    properties: Properties


class _OpenStripe:
    """A stripe that still takes rows."""

    def __init__(self, nodes: Sequence[SchemaNode], options: BuildOptions) -> None:
        self.spool = Spool(options.temp_folder, options.memory)
        making = Making(options.profile, self.spool, options.bloom)
        self._builders = tuple(builder_of(node, making) for node in nodes)
        self.rows = 0

    def append(self, columns: Sequence[Callable[[], StoredArray]], rows: int, each: Each) -> None:
        def work(index: int) -> None:
            self._builders[index].append(columns[index]())

        each(work, len(self._builders))
        self.rows += rows

    def finish(self, each: Each) -> tuple[PreparedField, ...]:
        done: list[PreparedField | None] = [None] * len(self._builders)

        def work(index: int) -> None:
            done[index] = self._builders[index].finish()

        each(work, len(done))
        return tuple(field for field in done if field is not None)

    def digest(self, fields: Iterable[PreparedField], root: str, ordinal: int) -> int:
        """A number that other content, or the same in another shard, would not have.

        Of the buffers in the order of their places: in the spool they lie as threads finished them.
        """
        digest = xxhash.xxh3_64(f"{root}\0{ordinal}\0{self.rows}\0".encode())
        for prepared in _fields_below(fields):
            for buffer in prepared.buffers:
                digest.update(buffer.whole or b"")
                for piece in self.spool.pieces(buffer.extents):
                    digest.update(piece)
        return digest.intdigest()


def _fields_below(fields: Iterable[PreparedField]) -> Iterable[PreparedField]:
    for each in fields:
        yield from _fields_below(each.children)
        yield each


def _below(node: SchemaNode) -> Iterable[SchemaNode]:
    yield node
    for child in node.children:
        yield from _below(child)


def _has_buffers(stripe: _Stripe) -> bool:
    return any(encoding.buffers for each in stripe.fields.values() for encoding in each.encodings)  # type: ignore[union-attr]


def _folded(so_far: FieldDescriptor | None, stripe: FieldDescriptor) -> FieldDescriptor:
    """The shard's descriptor with one more stripe."""
    known = FieldStatistics() if so_far is None else FieldStatistics.of(so_far)
    found = merge(known, FieldStatistics.of(stripe))
    constant = stripe.constant_value
    if so_far is not None and so_far.position_count:
        constant = (
            so_far.constant_value if not stripe.position_count or _same(so_far.constant_value, constant) else None
        )
    return FieldDescriptor(
        position_count=found.position_count,
        null_count=found.null_count,
        constant_value=constant,
        range_stats=found.range_stats,
        type_stats=found.type_stats,
        cardinality=found.cardinality,
        custom=stripe.custom if so_far is None else so_far.custom,
        raw_data_size=found.raw_data_size,
    )


def _same(a: AnyValue | None, b: AnyValue | None) -> bool:
    """Whether two constants have the same bits; 0.0 and -0.0 do not."""
    return a is not None and b is not None and a.encode() == b.encode()


def _sum(sizes: Iterable[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None
