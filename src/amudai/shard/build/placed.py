"""Stripes whose buffers are in a file, and the metadata of a new shard with these stripes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from amudai.format import (
    AnyValue,
    FieldDescriptor,
    IndexCollection,
    IndexDescriptor,
    NativeEncoding,
    ParquetEncoding,
    Properties,
    ShardProperties,
    StripeFieldDescriptor,
    StripeProperties,
)
from amudai.shard.build.metadata import ShardMetadata, StripeMetadata
from amudai.stats import FieldStatistics, merge

__all__ = ["PlacedStripe", "folded", "metadata_of", "sum_of_known"]


@dataclass(frozen=True, slots=True, eq=False)
class PlacedStripe:
    """A stripe whose buffers are in a file. `url` is empty if that is the root."""

    rows: int
    url: str
    size: int
    fields: dict[int, StripeFieldDescriptor]
    properties: Properties = ()
    indexes: tuple[IndexDescriptor, ...] = ()


def metadata_of(
    schema: bytes,
    count: int,
    stripes: Sequence[PlacedStripe],
    properties: Properties = (),
    indexes: IndexCollection | None = None,
    urls: Iterable[str] = (),
    created: int | None = None,
) -> ShardMetadata:
    """The metadata of a new shard.

    Parameters
    ----------
    schema, count
        The encoded schema, and how many nodes it has.
    urls
        Other files of the shard that the stripes do not name.
    created
        When the shard was created, in ticks; None for shards that are parts of an index.
    """
    merged: list[FieldDescriptor | None] = [None] * count
    alone: dict[int, bytes] = {}  # descriptors of the shard that need no merging
    described = []
    for stripe in stripes:
        payloads: list[bytes | None] = [None] * count
        for schema_id, descriptor in stripe.fields.items():
            if len(stripes) == 1 and descriptor.field.position_count:
                payloads[schema_id], alone[schema_id] = descriptor.encode_alone()
            else:
                payloads[schema_id] = descriptor.encode()
                merged[schema_id] = folded(merged[schema_id], descriptor.field)
        described.append(
            StripeMetadata(
                rows=stripe.rows,
                raw_data_size=sum_of_known(each.field.raw_data_size for each in stripe.fields.values()),
                fields=tuple(payloads),
                properties=StripeProperties(custom=stripe.properties).encode(),
                indexes=IndexCollection(stripe.indexes).encode(),
            )
        )
    others = {url for stripe in stripes for url in _urls(stripe)}
    return ShardMetadata(
        schema=schema,
        stripes=tuple(described),
        fields=tuple(alone.get(at) if each is None else each.encode() for at, each in enumerate(merged)),
        properties=ShardProperties(creation_min=created, creation_max=created, custom=properties).encode(),
        indexes=b"" if indexes is None else indexes.encode(),
        urls=others.union(urls),
        raw_data_size=sum_of_known(each.raw_data_size for each in described),
    )


def _urls(stripe: PlacedStripe) -> Iterable[str]:
    """The other files that hold buffers of a stripe, or artifacts of its indexes."""
    yield from (piece.data.url for index in stripe.indexes for piece in index.artifacts if piece.data.url)
    for each in stripe.fields.values():
        for encoding in each.encodings:
            if isinstance(encoding, ParquetEncoding):
                yield from (file.file.url for file in encoding.files)
            for buffer in encoding.buffers if isinstance(encoding, NativeEncoding) else ():
                if buffer.buffer is not None and buffer.buffer.url:
                    yield buffer.buffer.url


def folded(so_far: FieldDescriptor | None, stripe: FieldDescriptor) -> FieldDescriptor:
    """The shard's descriptor of a field with one more stripe, or with the stripes of one more shard."""
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
    """Whether two constants have the same bits. 0.0 and -0.0 do not. References do not tell: files may differ."""
    return a is not None and b is not None and a.kind != "data_ref" and a.encode() == b.encode()


def sum_of_known(sizes: Iterable[int | None]) -> int | None:
    """The sum of the sizes that are known; None if none is."""
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None
