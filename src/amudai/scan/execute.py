"""How are rows read?

Work is cut into parts: some rows of one column in one stripe. Parts are independent, so threads take them in any order;
results are put together in the order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from amudai.arrow import least_bits, to_array
from amudai.encoding import require_memory
from amudai.errors import AmudaiError, InvalidArgument, UnsupportedFeature, located
from amudai.rows import Rows
from amudai.scan.columns import Selected
from amudai.scan.threads import in_order
from amudai.shard import ShardReader, StripeReader
from amudai.types import SchemaNode

__all__ = ["prepare", "read_batch", "read_rows", "read_table", "require_scannable"]

# Rows of one part: a multiple of every block size in use, large enough that Python does not count.
PART_ROWS: Final = 1 << 20
# Fewer values than this are read faster than a thread is started.
SERIAL_VALUES: Final = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some rows of a stripe; positions count from its first row."""

    stripe: StripeReader
    rows: Rows


def read_table(
    reader: ShardReader, columns: Sequence[Selected], schema: pa.Schema, rows: Rows, threads: int
) -> pa.Table:
    """These rows and columns as a table, one chunk or a few for each stripe."""
    if rows.count > PART_ROWS:
        with located(url=reader.url):
            require_memory(rows.count, 1 + sum(least_bits(column.field.type) for column in columns))
    pieces = prepare(reader, columns, rows)
    parts = list(_parts(pieces, PART_ROWS))
    tasks = [(part, column) for column in columns for part in parts]
    if rows.count * len(columns) <= SERIAL_VALUES:
        threads = 1
    arrays = list(in_order(_read_part, tasks, threads, ahead=len(tasks) + 1))
    chunked = []
    for index, column in enumerate(columns):
        mine = arrays[index * len(parts) : (index + 1) * len(parts)]
        chunks = [chunk for chunks in mine for chunk in chunks]
        chunked.append(pa.chunked_array(chunks, column.field.type))
    return pa.Table.from_arrays(chunked, schema=schema)


def read_rows(stripe: StripeReader, column: Selected, rows: Rows) -> pa.ChunkedArray:
    """A column at these rows, counted from the stripe's first one."""
    return pa.chunked_array(_read(Part(stripe, rows), column), column.field.type)


def _parts(pieces: list[Part], size: int) -> Iterator[Part]:
    """The rows of all stripes in parts of at most this size, made when they are asked for: there may be very many."""
    for piece in pieces:
        for part in piece.rows.each_part(size):
            yield Part(piece.stripe, part)


def require_scannable(reader: ShardReader, nodes: Sequence[SchemaNode]) -> None:
    """Refuse a shard with deleted records, and fields that an index of it or of a stripe makes unreadable."""
    reader.require_rows()
    reader.require_readable(nodes, reader.required_indexes)
    for stripe in reader.stripes:
        if stripe.directory.indexes is not None:
            reader.require_readable(nodes, stripe.indexes.descriptors)


def prepare(reader: ShardReader, columns: Sequence[Selected], rows: Rows, *, prefetch: bool = True) -> list[Part]:
    """The rows of each stripe, after a check that the fields can be read at all; what they share is read by then."""
    reader.require_rows()
    nodes = [node for column in columns for node in column.projection.nodes()]
    reader.require_readable(nodes, reader.required_indexes)
    pieces = []
    for stripe in reader.stripes:
        mine = rows.inward(stripe.origin)
        if not mine:
            continue
        pieces.append(Part(stripe, mine))
        reader.require_readable(nodes, stripe.indexes.descriptors)
        stripe.prepare(nodes)
        for node in nodes:
            descriptor = stripe.descriptor(node)
            own = descriptor.field.indexes if descriptor is not None else None
            # An index that a field carries itself covers it, whatever fields it names besides.
            if own is not None and any(index.required for index in own):
                message = "required index of the field: unknown to this version"
                raise UnsupportedFeature(message, url=reader.url, stripe=stripe.ordinal, field=node.name)
        if prefetch and 2 * mine.count >= stripe.num_rows:
            stripe.prefetch(column.projection.node for column in columns)
    return pieces


def _read_part(task: tuple[Part, Selected]) -> list[pa.Array]:
    part, column = task
    return _read(part, column)


def _read(part: Part, column: Selected) -> list[pa.Array]:
    """The part's values; in several arrays where one would hold more than its type can count."""
    try:
        stored = part.stripe.column(column.projection.node).read(part.rows, column.projection)
        return [to_array(stored, column.projection, column.field.type)]
    except AmudaiError as error:
        error.locate(url=part.stripe.shard.url, stripe=part.stripe.ordinal, field=column.path)
        raise
    except MemoryError as error:
        message = f"rows: {part.rows.count} rows of {column.field.type} do not fit into memory, read fewer"
        raise InvalidArgument(message, url=part.stripe.shard.url, field=column.path) from error
    except OverflowError as error:
        if part.rows.count == 1:
            message = f"a value of {column.field.type} is too long for its offsets: ask for the large type"
            raise InvalidArgument(message, url=part.stripe.shard.url, field=column.path) from error
        halves = part.rows.parts((part.rows.count + 1) // 2)
        return [array for rows in halves for array in _read(Part(part.stripe, rows), column)]


def read_batch(
    stripe: StripeReader, columns: Sequence[Selected], schema: pa.Schema, rows: Rows
) -> list[pa.RecordBatch]:
    """These rows of a stripe; in several batches where one would hold more than its types can count."""
    return _read_batch(Part(stripe, rows), columns, schema)


def _read_batch(part: Part, columns: Sequence[Selected], schema: pa.Schema) -> list[pa.RecordBatch]:
    arrays = []
    for column in columns:
        chunks = _read(part, column)
        if len(chunks) > 1:
            halves = part.rows.parts((part.rows.count + 1) // 2)
            return [batch for rows in halves for batch in _read_batch(Part(part.stripe, rows), columns, schema)]
        arrays.append(chunks[0])
    return [pa.RecordBatch.from_arrays(arrays, schema=schema)]
