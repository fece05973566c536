"""Which metadata does a finished shard have?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from amudai.format import (
    AnyValue,
    DataRef,
    FieldDescriptor,
    FieldList,
    IndexCollection,
    IndexDescriptor,
    NativeEncoding,
    Properties,
    ShardDirectory,
    ShardProperties,
    StripeDirectory,
    StripeFieldDescriptor,
    StripeList,
    StripeProperties,
    UrlList,
    frame,
    frame_directory,
)
from amudai.format.message import Fact
from amudai.stats import FieldStatistics, merge
from amudai.storage import SealedFile

__all__ = ["PlacedStripe", "put", "write_metadata"]


@dataclass(frozen=True, slots=True, eq=False)
class PlacedStripe:
    """A stripe whose buffers lie in a file; `url` is empty where that is the root."""

    rows: int
    url: str
    size: int
    fields: dict[int, StripeFieldDescriptor]
    properties: Properties = ()
    standard: Properties = ()
    indexes: tuple[IndexDescriptor, ...] = ()


def write_metadata(
    out: SealedFile,
    schema: bytes,
    count: int,
    stripes: Sequence[PlacedStripe],
    properties: ShardProperties | None = None,
    indexes: IndexCollection | None = None,
    urls: Iterable[str] = (),
) -> DataRef:
    """Write descriptors, lists, schema and directory; say where the directory lies.

    Parameters
    ----------
    schema, count
        The encoded schema, and how many nodes it has.
    urls
        Other files of the shard that the stripes do not name.
    """
    merged: list[FieldDescriptor | None] = [None] * count
    directories: list[StripeDirectory] = []
    position = 0
    for stripe in stripes:
        refs: list[DataRef | None] = [None] * count
        for schema_id, descriptor in sorted(stripe.fields.items()):
            refs[schema_id] = put(out, descriptor)
            merged[schema_id] = _folded(merged[schema_id], descriptor.field)
        listed = put(out, FieldList.from_refs(refs))
        bag = StripeProperties(standard=stripe.standard, custom=stripe.properties)
        directories.append(
            StripeDirectory(
                field_list=listed,
                properties=put(out, bag) if stripe.properties or stripe.standard else None,
                indexes=put(out, IndexCollection(stripe.indexes)) if stripe.indexes else None,
                shard_position=position,
                total_records=stripe.rows,
                raw_data_size=_sum(each.field.raw_data_size for each in stripe.fields.values()),
            )
        )
        position += stripe.rows
    stripe_list = put(out, StripeList(directories))
    others = {url for stripe in stripes for url in _urls(stripe)}
    url_list = put(out, UrlList(tuple(sorted(others.union(urls)))))
    field_list = put(out, FieldList.from_refs([None if each is None else put(out, each) for each in merged]))
    directory = ShardDirectory(
        properties=None if properties is None else put(out, properties),
        schema=_write(out, frame(schema)),
        field_list=field_list,
        stripe_list=stripe_list,
        indexes=put(out, indexes) if indexes else None,
        url_list=url_list,
        total_records=position,
        stripe_count=len(directories),
        raw_data_size=_sum(each.raw_data_size for each in directories),
    )
    return _write(out, frame_directory(directory.encode()))


def put(out: SealedFile, fact: Fact) -> DataRef:
    """Write a message; say where it lies."""
    return _write(out, frame(fact.encode()))


def _write(out: SealedFile, framed: bytes) -> DataRef:
    start = out.tell()
    out.write(framed)
    return DataRef("", start, out.tell())


def _urls(stripe: PlacedStripe) -> Iterable[str]:
    """The other files that hold buffers of a stripe, or pieces of its indexes."""
    yield from (piece.data.url for index in stripe.indexes for piece in index.artifacts if piece.data.url)
    for each in stripe.fields.values():
        for encoding in each.encodings:
            for buffer in encoding.buffers if isinstance(encoding, NativeEncoding) else ():
                if buffer.buffer is not None and buffer.buffer.url:
                    yield buffer.buffer.url


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
