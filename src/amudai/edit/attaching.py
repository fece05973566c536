"""The operation that makes a shard over Parquet files: their values stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Final

import pyarrow as pa

from amudai.arrow import Timestamps, nanosecond_nodes, schema_nodes, stored_columns
from amudai.edit.parquet_footers import AttachedFile, RowGroups, footer_statistics, leaf_nodes
from amudai.errors import CorruptedData, InvalidSchema, located
from amudai.format import ParquetEncoding, row_groups_property
from amudai.shard import AttachedField, BuildOptions, ShardBuilder, StoredArray
from amudai.types import WIDTHS, BasicType, SchemaNode, nodes_below

__all__ = ["Attachment", "attached_stripes"]

_BATCH_ROWS: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """The columns of a shard over Parquet files.

    Attributes
    ----------
    schema
        All columns: those of the files, and then those that folders give.
    given
        Names of the columns that folders give. Their values are stored in the shard.
    read
        Names of the columns of the files whose values are read, to be indexed. Of the others, footers tell what is
        known.
    nodes, nanoseconds
        How the columns are stored, and the fields for what ticks leave of nanoseconds.
    """

    schema: pa.Schema
    given: frozenset[str]
    read: frozenset[str]
    nodes: tuple[SchemaNode, ...]
    nanoseconds: tuple[SchemaNode | None, ...]

    @classmethod
    def of(
        cls,
        schema: pa.Schema,
        given: Iterable[str],
        indexed: Iterable[str],
        ranges: Iterable[str] | None,
        timestamps: Timestamps = "ticks",
    ) -> Attachment:
        """The columns, and which of them are read.

        `indexed` are names of columns with indexes. `ranges` are names of columns of numbers and times that get a range
        index; None for all of them. `timestamps` says whether times are ticks or Arrow's integers.
        """
        nodes = schema_nodes(schema, timestamps=timestamps)
        after = nanosecond_nodes(schema, nodes)
        # What is finer than a tick must be known, or bounds in ticks would not be bounds.
        fine = {node.name for node, each in zip(nodes, after, strict=True) if each is not None}
        if ranges is None:
            ranges = [node.name for node in nodes if any(map(_has_range, nodes_below((node,))))]
        own = {node.name for node in nodes}.difference(given)
        read = own & fine.union(indexed, ranges)
        return cls(schema=schema, given=frozenset(given), read=frozenset(read), nodes=nodes, nanoseconds=after)

    @property
    def fields(self) -> tuple[SchemaNode, ...]:
        """All fields of the shard."""
        return (*self.nodes, *(node for node in self.nanoseconds if node is not None))

    def options(self, options: BuildOptions) -> BuildOptions:
        """The options of a builder that stores nothing of the values in Parquet files."""
        attached = [node for node in self.nodes if node.name not in self.given]
        return replace(
            options,
            attached=frozenset(each.schema_id for each in nodes_below(attached)),
            unread=frozenset(each.schema_id for each in attached if each.name not in self.read),
        )

    def unchanged(self, file: AttachedFile) -> None:
        """Raise InvalidSchema if a nested column has another type in the file than in the shard."""
        for field in file.file.schema:
            wanted = self.schema.field(field.name).type
            if field.type.num_fields and not field.type.equals(wanted):
                message = f"column {field.name!r}: expected {wanted} as in other files, found {field.type}"
                raise InvalidSchema(message, url=file.artifact.url)


def _has_range(node: SchemaNode) -> bool:
    return node.basic_type in WIDTHS or node.is_decimal


def attached_stripes(
    attachment: Attachment,
    files: Sequence[AttachedFile],
    builder: ShardBuilder,
    stripe_rows: int,
    report: Callable[[int, int, int], object],
) -> list[list[RowGroups]]:
    """Read the columns that are indexed, once, and append them to the builder, stripe by stripe.

    A stripe has whole row groups, as many as fit into `stripe_rows` and at least one. All of its files have the same
    columns. Returns the row groups of each stripe.
    """
    size = 0
    stripes = list(_stripes(files, stripe_rows))
    for parts in stripes:
        for part in parts:
            with located(url=part.file.artifact.url):
                attachment.unchanged(part.file)
                for number in part.numbers:
                    for work, rows, read in _batches(attachment, part.file, number):
                        builder.append(work, rows)
                        size += read
                        report(builder.rows, size, builder.encoded_bytes)
        counts = tuple(rows for part in parts for rows in part.rows)
        builder.end_stripe(row_groups_property(counts), dict(_fields(attachment, parts)))
    return stripes


def _stripes(files: Sequence[AttachedFile], stripe_rows: int) -> Iterator[list[RowGroups]]:
    """The row groups of each stripe."""
    waiting: list[tuple[AttachedFile, int]] = []
    rows = 0
    for file in files:
        if waiting and waiting[-1][0].file.schema != file.file.schema:
            yield _grouped(waiting)
            waiting, rows = [], 0
        for number in file.row_groups:
            more = file.file.rows(number)
            if not more:
                continue
            if waiting and rows + more > stripe_rows:
                yield _grouped(waiting)
                waiting, rows = [], 0
            waiting.append((file, number))
            rows += more
    if waiting:
        yield _grouped(waiting)


def _grouped(waiting: Sequence[tuple[AttachedFile, int]]) -> list[RowGroups]:
    by_file = groupby(waiting, key=lambda each: id(each[0]))
    return [
        RowGroups(each[0][0], tuple(number for _, number in each)) for each in (list(group) for _, group in by_file)
    ]


def _batches(
    attachment: Attachment, file: AttachedFile, number: int
) -> Iterator[tuple[list[Callable[[], StoredArray]], int, int]]:
    """The values of a row group for the builder, some rows at a time, and the bytes that were read for them."""
    rows = file.file.rows(number)
    names = [name for name in file.leaves if name in attachment.read]
    leaves = [leaf for name in names for leaf in file.leaves[name]]
    if not leaves:
        for start in range(0, rows, _BATCH_ROWS):
            yield _work(attachment, file, {}, min(_BATCH_ROWS, rows - start)), min(_BATCH_ROWS, rows - start), 0
        return
    for leaf in leaves:
        file.facts(number, leaf)  # an error that names the column chunk, before Arrow raises one that does not
    seen = 0
    for batch in file.file.batches(number, leaves, _BATCH_ROWS):
        seen += batch.num_rows
        arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        yield _work(attachment, file, arrays, batch.num_rows), batch.num_rows, batch.nbytes
    if seen != rows:
        raise CorruptedData(f"rows of row group {number}: expected {rows} by the footer, found {seen}")


def _work(
    attachment: Attachment, file: AttachedFile, arrays: Mapping[str, pa.Array], rows: int
) -> list[Callable[[], StoredArray]]:
    columns = []
    for field in attachment.schema:
        values = arrays.get(field.name)
        if field.name in attachment.given:
            constant = file.constants.get(field.name)
            values = pa.nulls(rows, field.type) if constant is None else pa.repeat(constant, rows)
        elif values is None:
            values = pa.nulls(rows, field.type)  # not read, or not in this file
        elif not values.type.equals(field.type):
            values = values.cast(field.type)
        columns.append(values)
    batch = pa.RecordBatch.from_arrays(columns, schema=attachment.schema)
    work = stored_columns(batch, attachment.nodes, attachment.nanoseconds)
    for at, node in enumerate(attachment.nodes):
        if node.name not in attachment.read and node.name not in attachment.given:
            work[at] = partial(StoredArray, node=node, length=rows)
    return work


def _fields(attachment: Attachment, parts: Sequence[RowGroups]) -> Iterator[tuple[int, AttachedField]]:
    """Where the values of a stripe are, by schema id. Columns that its files lack are left out: they are null."""
    first = parts[0].file
    for node in attachment.nodes:
        if node.name in attachment.given or node.name not in first.leaves:
            continue
        leaves = first.leaves[node.name]
        own = tuple(leaf_nodes(node))
        if len(own) != len(leaves):
            found = f"{len(leaves)} column chunks for {len(own)} fields"
            raise InvalidSchema(f"column {node.name!r}: expected one column chunk for each field, found {found}")
        place = dict(zip((each.schema_id for each in own), leaves, strict=True))
        rows = sum(count for part in parts for count in part.rows)
        kind = first.file.schema.field(node.name).type
        for each, count in _counted(node, rows):
            leaf = place[next(leaf_nodes(each)).schema_id]
            known = None
            if node.name not in attachment.read:
                is_flat = each is node and not node.children
                known = footer_statistics(each, leaf, parts, kind, is_flat=is_flat)
                known = replace(known, position_count=count) if count is not None else known
            encoding = ParquetEncoding(tuple(part.file.column(part.numbers, leaf) for part in parts))
            yield each.schema_id, AttachedField(encoding=encoding, statistics=known)


def _counted(node: SchemaNode, positions: int | None) -> Iterator[tuple[SchemaNode, int | None]]:
    """The node and those below it, with their number of positions; None below lists, where only reading would tell."""
    yield node, positions
    below = positions
    match node.basic_type:
        case BasicType.LIST | BasicType.MAP:
            below = None
        case BasicType.FIXED_SIZE_LIST if positions is not None:
            below = positions * node.fixed_size
    for child in node.children:
        yield from _counted(child, below)
