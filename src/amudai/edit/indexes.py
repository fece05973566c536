"""The operation that adds indexes to an existing shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from amudai.arrow import project, stored_array, stored_form, to_array
from amudai.edit.root import Root
from amudai.format import IndexCollection
from amudai.rows import Rows
from amudai.shard import Sinks, StripeReader
from amudai.types import SchemaNode

__all__ = ["feed", "with_indexes"]

# How many rows are read and indexed at a time.
_BATCH_ROWS: Final = 1 << 17


def with_indexes(root: Root, shard: IndexCollection, stripes: Sequence[IndexCollection]) -> Root:
    """The root with more indexes: `shard` has the indexes of all rows, `stripes` those of each stripe, in order."""
    metadata = root.metadata
    # The concatenation of two payloads is one message with the repeated fields of both.
    extended = tuple(
        replace(stripe, indexes=stripe.indexes + added.encode())
        for stripe, added in zip(metadata.stripes, stripes, strict=True)
    )
    return replace(root, metadata=replace(metadata, stripes=extended, indexes=metadata.indexes + shard.encode()))


def feed(stripe: StripeReader, nodes: Sequence[SchemaNode], sinks: Sinks) -> Iterator[tuple[int, int]]:
    """Append the stored values of a stripe to the sinks that want them.

    Yields, for each batch, how many rows of the shard have been appended so far, and the bytes of this batch.
    """
    wanted = [(node, wanting) for node in nodes if (wanting := sinks.wanting(node.schema_id))]
    first = stripe.first_row
    for rows in Rows.all(stripe.origin).each_part(_BATCH_ROWS):
        size = 0
        for node, wanting in wanted:
            kind = stored_form(node)
            projection = project(node, kind)
            column = stripe.column(node).read(rows, projection)
            array = to_array(column, projection, kind)
            values = stored_array(array, node)
            size += array.nbytes
            for sink in wanting:
                sink.append(values, stripe.ordinal, first)
        first += rows.count
        yield first, size
