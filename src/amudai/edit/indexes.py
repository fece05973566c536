"""The operation that adds indexes to an existing shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from amudai.arrow import project, stored_array, stored_form, to_array
from amudai.edit.root import Root
from amudai.format import IndexCollection
from amudai.rows import Rows
from amudai.shard import Sinks, StoredArray, StripeReader, with_field_indexes
from amudai.threads import Crew
from amudai.types import SchemaNode

__all__ = ["feed", "stored_batches", "with_indexes"]

# How many rows are read and indexed at a time.
_BATCH_ROWS: Final = 1 << 17
_NO_INDEXES: Final = IndexCollection(())


def with_indexes(
    root: Root, shard: IndexCollection, stripes: Sequence[IndexCollection], fields: IndexCollection = _NO_INDEXES
) -> Root:
    """The root with more indexes: `shard` has the indexes of all rows, `stripes` those of each stripe, in order.

    Those of `fields` go to the descriptors of their fields.
    """
    metadata = root.metadata
    # The concatenation of two payloads is one message with the repeated fields of both.
    extended = tuple(
        replace(stripe, indexes=stripe.indexes + added.encode())
        for stripe, added in zip(metadata.stripes, stripes, strict=True)
    )
    metadata = replace(metadata, stripes=extended, indexes=metadata.indexes + shard.encode())
    return replace(root, metadata=with_field_indexes(metadata, fields))


def feed(stripe: StripeReader, nodes: Sequence[SchemaNode], sinks: Sinks, crew: Crew) -> Iterator[tuple[int, int]]:
    """Append the stored values of a stripe to the sinks that want them.

    Yields, for each batch, how many rows of the shard have been appended so far, and the bytes of this batch. While a
    batch is used, the next one is read.
    """
    wanted = [(node, wanting) for node in nodes if (wanting := sinks.wanting(node.schema_id))]
    first = stripe.first_row
    for rows, columns in crew.ahead(stored_batches(stripe, [node for node, _ in wanted])):
        for (_, wanting), values in zip(wanted, columns, strict=True):
            for sink in wanting:
                sink.append(values, stripe.ordinal, first)
        first += rows.count
        yield first, sum(map(_size, columns))


def stored_batches(stripe: StripeReader, nodes: Sequence[SchemaNode]) -> Iterator[tuple[Rows, list[StoredArray]]]:
    """The values of columns as they are stored, some rows at a time."""
    forms = [(node, stored_form(node)) for node in nodes]
    projections = [project(node, kind) for node, kind in forms]
    for rows in Rows.all(stripe.origin).each_part(_BATCH_ROWS):
        yield (
            rows,
            [
                stored_array(to_array(stripe.column(node).read(rows, projection), projection, kind), node)
                for (node, kind), projection in zip(forms, projections, strict=True)
            ],
        )


def _size(values: StoredArray) -> int:
    own = sum(each.nbytes for each in (values.data, values.offsets) if each is not None)
    return own + sum(map(_size, values.children))
