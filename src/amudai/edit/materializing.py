"""The operation that stores the values of columns in Parquet files in the shard itself."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from functools import reduce

from amudai.edit.indexes import stored_batches
from amudai.edit.root import Root
from amudai.format import FieldDescriptor, ParquetEncoding, StripeFieldDescriptor
from amudai.shard import BuildOptions, ShardReader, StripeBuilder, StripeReader, folded, place_fields
from amudai.storage import SealedFile
from amudai.types import SchemaNode, nodes_below

__all__ = ["with_stored_values"]


def with_stored_values(
    root: Root,
    reader: ShardReader,
    columns: Set[int],
    out: SealedFile,
    options: BuildOptions,
    *,
    keep: bool,
    report: Callable[[int, int, int], object],
) -> Root:
    """The root with the values of columns in its own file. Columns that are not in Parquet files stay as they are.

    Parameters
    ----------
    columns
        Schema ids of top-level columns.
    keep
        Whether the references to the Parquet files stay, as alternative encodings.
    """
    metadata = root.metadata
    changed: set[int] = set()
    stripes = []
    for stripe, known in zip(reader.stripes, metadata.stripes, strict=True):
        fields = list(known.fields)
        nodes = [node for node in reader.schema.fields() if node.schema_id in columns and _is_attached(stripe, node)]
        if nodes:
            for schema_id, descriptor in _stored(stripe, nodes, out, options).items():
                old = fields[schema_id]
                kept = StripeFieldDescriptor.decode(old).encodings if keep and old is not None else ()
                encodings = (*descriptor.encodings, *(each for each in kept if isinstance(each, ParquetEncoding)))
                fields[schema_id] = replace(descriptor, encodings=encodings).encode()
                changed.add(schema_id)
        report(stripe.end_row, reader.store.counters.bytes, out.tell())
        stripes.append(replace(known, fields=tuple(fields)))
    used = {name for stripe in stripes for payload in stripe.fields if payload for name in _names(payload)}
    former = {name for stripe in metadata.stripes for payload in stripe.fields if payload for name in _names(payload)}
    gone = former - used
    whole = list(metadata.fields)
    for schema_id in changed:
        payloads = (stripe.fields[schema_id] for stripe in stripes)
        found: FieldDescriptor | None = reduce(
            folded, (StripeFieldDescriptor.decode(each).field for each in payloads if each is not None), None
        )
        whole[schema_id] = None if found is None else found.encode()
    return replace(
        root,
        metadata=replace(metadata, stripes=tuple(stripes), fields=tuple(whole), urls=frozenset(metadata.urls - gone)),
        files={name: mark for name, mark in root.files.items() if name not in gone},
    )


def _is_attached(stripe: StripeReader, node: SchemaNode) -> bool:
    found = stripe.descriptor(node)
    return found is not None and isinstance(found.encodings[0] if found.encodings else None, ParquetEncoding)


def _stored(
    stripe: StripeReader, nodes: list[SchemaNode], out: SealedFile, options: BuildOptions
) -> dict[int, StripeFieldDescriptor]:
    properties = {
        node.schema_id: found.field.custom
        for node in nodes_below(nodes)
        if (found := stripe.descriptor(node)) is not None
    }
    builder = StripeBuilder(nodes, options)
    with builder.spool:
        for rows, values in stored_batches(stripe, nodes):
            builder.append([lambda each=each: each for each in values], rows.count)  # type: ignore[misc]
        return place_fields(builder.finish(), "", out, builder.spool, properties)


def _names(payload: bytes) -> set[str]:
    """The Parquet files that a descriptor refers to."""
    found = StripeFieldDescriptor.decode(payload).encodings
    return {file.file.url for each in found if isinstance(each, ParquetEncoding) for file in each.files}
