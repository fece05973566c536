"""Reading columns of one stripe as Arrow arrays, and the checks before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from amudai.arrow import small_arrays, to_array
from amudai.column import Projection
from amudai.errors import AmudaiError, InvalidArgument, LimitExceeded, UnsupportedFeature
from amudai.plan.columns import SelectedColumn
from amudai.plan.stripes import rows_by_stripe
from amudai.rows import Rows
from amudai.shard import ShardReader, SmallBatch, StripeReader
from amudai.threads import Each
from amudai.types import SchemaNode

__all__ = ["prepare_columns", "read_arrays", "read_rows", "read_small_columns", "require_scannable"]

# With fewer columns, reading them together gains nothing.
_MANY: Final = 32
# Rows of a stripe of which some are picked faster from all of them than read alone.
_SHORT: Final = 2048


def require_scannable(shard: ShardReader, nodes: Sequence[SchemaNode]) -> None:
    """Raise UnsupportedFeature if a field cannot be read because a required index has an unknown type."""
    if shard.required_indexes:
        shard.require_readable(nodes, shard.required_indexes)
    for stripe in shard.stripes:
        if stripe.directory.indexes is not None:
            shard.require_readable(nodes, stripe.indexes.descriptors)


def prepare_columns(
    shard: ShardReader, columns: Sequence[SelectedColumn], rows: Rows, *, prefetch: bool = False
) -> list[tuple[StripeReader, Rows]]:
    """Check that columns can be read, and read their descriptors together.

    Returns the stripes that hold some of `rows`, each with its part of `rows`, counted from the start of the stripe.
    With `prefetch`, the small buffers of a stripe are read together if most of its rows are wanted.
    """
    nodes = [node for column in columns for node in column.projection.nodes()]
    if shard.required_indexes:
        shard.require_readable(nodes, shard.required_indexes)
    parts = []
    for stripe, mine in _stripes(shard, rows):
        parts.append((stripe, mine))
        if stripe.directory.indexes is not None:
            shard.require_readable(nodes, stripe.indexes.descriptors)
        stripe.prepare(nodes)
        for node in nodes:
            descriptor = stripe.descriptor(node)
            own = descriptor.field.indexes if descriptor is not None else None
            # An index in the descriptor of a field covers this field, whatever other fields it names.
            if own is not None and any(index.required for index in own):
                message = "required index of the field: its type is unknown to this version"
                raise UnsupportedFeature(message, url=shard.url, stripe=stripe.ordinal, field=node.name)
        if prefetch and 2 * mine.count >= stripe.num_positions:
            stripe.prefetch(node for column in columns for node in column.projection.columns())
    return parts


def read_small_columns(
    shard: ShardReader, columns: Sequence[SelectedColumn], rows: Rows, each: Each
) -> dict[int, list[pa.Array]]:
    """Those of many columns that can be read together because they are small, by their place in `columns`.

    A column has an array for each stripe that holds some of `rows`. There are no columns unless these are all rows of
    small stripes, or some rows of short ones. `each` runs the work.
    """
    stripes = list(_stripes(shard, rows)) if len(columns) >= _MANY else []
    if not stripes or any(mine.count < stripe.num_positions > _SHORT for stripe, mine in stripes):
        return {}
    places = [at for at, column in enumerate(columns) if _is_simple(column.projection)]
    nodes = [columns[at].projection.node for at in places]
    work: list[tuple[StripeReader, SmallBatch, pa.Array | None, dict[int, pa.Array]]] = []
    parts: list[dict[int, pa.Array]] = []
    for stripe, mine in stripes:
        shard.require_readable(nodes, (*shard.required_indexes, *stripe.indexes.descriptors))
        batches = stripe.small_batches(nodes)
        if not batches:
            return {}
        picked = None if mine.count == stripe.num_positions else pa.array(mine.positions())
        parts.append({})
        work += [(stripe, batch, picked, parts[-1]) for batch in batches]

    def read(index: int) -> None:
        stripe, batch, picked, found = work[index]
        values = stripe.small_values(batch)
        if values is None:
            return
        mine = [places[batch.places[at]] for at in values.places]
        arrays = small_arrays(values.decoded, [(columns[at].field, columns[at].projection) for at in mine])
        for at, array in zip(mine, arrays, strict=True):
            array = array if picked is None or array is None else _picked(array, picked)
            if array is not None:
                found[at] = array

    each(read, len(work))
    return {at: [part[at] for part in parts] for at in parts[0] if all(at in part for part in parts)}


def _is_simple(projection: Projection) -> bool:
    """Whether the values of a column are read in the form in which they are stored, and no other column with them."""
    return not (projection.children or projection.wide or projection.views or projection.nanoseconds)


def _picked(array: pa.Array, rows: pa.Array) -> pa.Array | None:
    """The array at `rows`; None if that fails. Reading the column alone then says why."""
    try:
        return array.take(rows)
    except (MemoryError, OverflowError, pa.ArrowException):
        return None


def _stripes(shard: ShardReader, rows: Rows) -> Iterator[tuple[StripeReader, Rows]]:
    for stripe, mine in rows_by_stripe(shard, rows):
        yield stripe, mine.inward(stripe.origin)


def read_rows(stripe: StripeReader, column: SelectedColumn, rows: Rows) -> pa.ChunkedArray:
    """A column at rows of one stripe."""
    return pa.chunked_array(read_arrays(stripe, column, rows), column.field.type)


def read_arrays(stripe: StripeReader, column: SelectedColumn, rows: Rows) -> list[pa.Array]:
    """A column at rows of one stripe. There are several arrays if the values are too long for the offsets of one."""
    try:
        stored = stripe.read(rows, column.projection)
        return [to_array(stored, column.projection, column.field.type)]
    except AmudaiError as error:
        error.locate(url=stripe.url, stripe=stripe.ordinal, field=column.path)
        raise
    except MemoryError as error:
        message = f"rows: {rows.count} rows of {column.field.type} do not fit into memory: read fewer rows"
        raise LimitExceeded(message, url=stripe.url, field=column.path) from error
    except OverflowError as error:
        if rows.count == 1:
            message = f"a value of {column.field.type} is too long for its offsets: ask for the large type"
            raise InvalidArgument(message, url=stripe.url, field=column.path) from error
        halves = rows.parts((rows.count + 1) // 2)
        return [array for half in halves for array in read_arrays(stripe, column, half)]
