"""Columns whose values are in Parquet files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.column.column_values import AbsentValues, ArrowValues, ColumnValues, JoinedValues
from amudai.column.containers import ParentSource
from amudai.column.context import ColumnContext
from amudai.column.contract import OpenColumn
from amudai.column.native import NativeSource
from amudai.column.parquet_files import ParquetFile
from amudai.column.projection import Projection
from amudai.errors import UnsupportedFeature
from amudai.format import DataRef, FieldDescriptor, NativeEncoding, ParquetColumnChunk, ParquetEncoding
from amudai.lazy import lazy
from amudai.rows import Rows
from amudai.types import SchemaNode

__all__ = ["ParquetSource"]

# If at most the first of this many parts of a row group is wanted, only that part is decoded.
_PART: Final = 2
# More ranges than this are taken one value at a time, not one range at a time.
_FEW_RANGES: Final = 64


class ParquetSource(ParentSource, NativeSource):
    """A column in Parquet files: one chunk for each row group of the stripe, in order, perhaps of several files.

    A top-level column is read with everything below it, by `pyarrow`: nested values of Parquet lie in the levels of
    their leaves. So the columns below it can be described, but are not read by themselves.

    Parameters
    ----------
    encoding
        Where the chunks are. Those of a container are the chunks of its first leaf.
    known
        Buffers of the shard itself that tell something about these values: a range index.
    """

    STORAGE: ClassVar[str] = "parquet"

    def __init__(
        self,
        context: ColumnContext,
        node: SchemaNode,
        path: str,
        field: FieldDescriptor,
        encoding: ParquetEncoding,
        known: NativeEncoding,
        open_column: OpenColumn,
    ) -> None:
        super().__init__(context, node, path, field, known)
        self._parquet = encoding
        self._open_column = open_column
        self._chunks = _chunks(encoding)
        if not self._chunks and field.position_count:
            raise UnsupportedFeature("stored values: columns of a Parquet file that names no column chunk")

    @property
    def is_stored(self) -> bool:
        """True: reading the column reads Parquet files."""
        return True

    def _child_positions(self) -> int | None:
        return None  # only the values tell

    # ---- values ----

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        ends = self._ends
        if rows.end > (int(ends[-1]) if len(ends) else 0):
            raise self._error(f"positions: expected at most {ends[-1] if len(ends) else 0}, found {rows.end}")
        parts: list[ColumnValues] = []
        leaves = tuple(self._leaves(projection))
        first = int(np.searchsorted(ends, rows.starts[0], "right")) if rows else 0
        for index in range(first, len(ends)):
            start, end = int(ends[index - 1]) if index else 0, int(ends[index])
            mine = rows.clip(start, end)
            if mine:
                taken = _taken(self._decoded(index, leaves, mine.end - start), mine, start)
                parts.append(ArrowValues(self._named(taken, projection, index)))
            if rows.end <= end:
                break
        if not parts:
            return AbsentValues(0)
        return parts[0] if len(parts) == 1 else JoinedValues(tuple(parts))

    def size_of(self, rows: Rows, projection: Projection) -> int:
        """How many bytes the chunks have that hold these rows. Opens no file."""
        leaves = tuple(self._leaves(projection))
        ends = self._ends.tolist()
        held = (at for at, end in enumerate(ends) if rows.clip(ends[at - 1] if at else 0, end))
        return sum(_size(each[at]) for at in held for each in leaves)

    def _decoded(self, index: int, leaves: tuple[tuple[ParquetColumnChunk, ...], ...], wanted: int) -> pa.ChunkedArray:
        """At least the first `wanted` rows of the column in one row group, with these leaves.

        `leaves` has the chunks of each.
        """
        ref, chunk = self._chunks[index]
        file = self._file(ref)
        rows = file.rows(chunk.row_group_id)
        start = int(self._ends[index - 1]) if index else 0
        if rows != int(self._ends[index]) - start:
            expected = f"expected {int(self._ends[index]) - start}"
            raise self._error(f"rows of row group {chunk.row_group_id} in {ref.url}: {expected}, found {rows}")
        columns = tuple(each[index].column_chunk_id for each in leaves)
        key = (file.artifact.url, chunk.row_group_id, columns)
        recent = self._context.recent_chunks
        if _PART * wanted <= rows and key not in recent:
            # Who asks again, for rows behind these, gets the whole chunk, so that nothing is decoded many times.
            part = recent.get((*key, "first"), lambda: file.first_rows(chunk.row_group_id, columns, wanted))
            if len(part) >= wanted:
                return part
        return recent.get(key, lambda: file.read(chunk.row_group_id, columns))

    def _named(self, values: pa.Array, projection: Projection, index: int) -> pa.Array:
        """The values with the members of structs in the order of the projection, and by their names there.

        Members of a file can have other names than those of the shard, in which they may have been renamed.
        """
        children = projection.children
        if not children or isinstance(values, pa.ExtensionArray | pa.DictionaryArray):
            return values
        if not isinstance(values, pa.StructArray):
            return self._named_items(values, children, index)
        stored = sorted(children, key=lambda child: next(self._leaves(child))[index].column_chunk_id)
        members = {child.node.schema_id: self._named(values.field(at), child, index) for at, child in enumerate(stored)}
        wanted = [members[child.node.schema_id] for child in children]
        fields = [pa.field(child.node.name, each.type) for child, each in zip(children, wanted, strict=True)]
        kind = pa.struct(fields)
        if kind.equals(values.type):
            return values
        mask = values.is_null() if values.null_count else None
        return pa.StructArray.from_arrays(wanted, fields=fields, mask=mask)

    def _named_items(self, values: pa.Array, children: tuple[Projection, ...], index: int) -> pa.Array:
        """The same for lists and maps."""
        if all(not child.children for child in children):
            return values
        if isinstance(values, pa.MapArray):
            items = self._named(values.items, children[1], index)
            if items.type.equals(values.type.item_type):
                return values
            kind = pa.map_(values.type.key_field, values.type.item_field.with_type(items.type))
            entries = pa.StructArray.from_arrays([values.keys, items], fields=[kind.key_field, kind.item_field])
        else:
            entries = self._named(values.values, children[0], index)
            if entries.type.equals(values.type.value_type):
                return values
            kind = _list_of(values.type, entries.type)
        buffers = values.buffers()[: 1 if pa.types.is_fixed_size_list(kind) else 2]
        return pa.Array.from_buffers(kind, len(values), buffers, values.null_count, values.offset, [entries])

    def _file(self, ref: DataRef) -> ParquetFile:
        artifact = self._context.artifact(ref)
        known = self._context.parquet_files.get(artifact.url)
        if known is None:
            made = ParquetFile(artifact, verify=self._context.verify)
            known = self._context.parquet_files.setdefault(artifact.url, made)
        return known

    def _leaves(self, projection: Projection) -> Iterator[tuple[ParquetColumnChunk, ...]]:
        """The chunks of each leaf to read."""
        if projection.children:
            for child in projection.children:
                yield from self._leaves(child)
            return
        stored = self._context.descriptor(projection.node)
        for encoding in () if stored is None else stored.encodings:
            if isinstance(encoding, ParquetEncoding):
                chunks = _chunks(encoding)
                if [(ref, chunk.row_group_id) for ref, chunk in chunks] != self._groups:
                    raise UnsupportedFeature("columns of a Parquet file: expected the row groups of their parent")
                yield tuple(chunk for _, chunk in chunks)
                return
        raise UnsupportedFeature(f"member {projection.node.name!r} of a column in a Parquet file: stored elsewhere")

    @lazy
    def _groups(self) -> list[tuple[DataRef, int]]:
        return [(ref, chunk.row_group_id) for ref, chunk in self._chunks]

    @lazy
    def _ends(self) -> npt.NDArray[np.uint64]:
        """The position after the last row of each row group."""
        counts = self._context.group_rows()
        if counts is None:
            counts = tuple(self._file(ref).rows(chunk.row_group_id) for ref, chunk in self._chunks)
        if len(counts) != len(self._chunks):
            raise self._error(f"column chunks: expected {len(counts)}, found {len(self._chunks)}")
        return np.cumsum(np.array(counts, np.uint64), dtype=np.uint64)

    # ---- storage ----

    @property
    def block_rows(self) -> int:
        """About how many rows a row group has."""
        return self.position_count // max(1, len(self._chunks))

    def prefetch(self) -> Iterator[DataRef]:
        """Nothing: the values are in other files."""
        return iter(())

    def block_count(self) -> int:
        """How many column chunks hold the values of this column itself."""
        return 0 if self.node.children else len(self._chunks)

    def encodings(self) -> Counter[str]:
        """The number of column chunks."""
        return Counter({"parquet": len(self._chunks)})


def _size(chunk: ParquetColumnChunk) -> int:
    pages = (chunk.data_pages, chunk.dictionary)
    return sum(end - start for start, end in (each for each in pages if each is not None))


def _chunks(encoding: ParquetEncoding) -> list[tuple[DataRef, ParquetColumnChunk]]:
    """Each chunk, with the file that holds it."""
    return [
        (file.file if chunk.file_url is None else DataRef(chunk.file_url, 0, 0), chunk)
        for file in encoding.files
        for chunk in file.chunks
    ]


def _list_of(kind: pa.DataType, item: pa.DataType) -> pa.DataType:
    """A list type of the same kind with other items."""
    field = kind.value_field.with_type(item)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(field, kind.list_size)
    return pa.large_list(field) if pa.types.is_large_list(kind) else pa.list_(field)


def _taken(values: pa.ChunkedArray, rows: Rows, start: int) -> pa.Array:
    """The values at `rows`. `start` is the position of the first value."""
    if rows.num_ranges <= _FEW_RANGES:
        spans = zip(rows.starts.tolist(), rows.ends.tolist(), strict=True)
        pieces = [piece for low, high in spans for piece in values.slice(low - start, high - low).chunks]
    else:
        pieces = values.take(pa.array((rows.positions() - np.uint64(start)).astype(np.int64))).chunks
    if len(pieces) == 1:
        return pieces[0]
    try:
        return pa.concat_arrays(pieces)
    except pa.ArrowInvalid as error:
        raise OverflowError("more bytes or items than the offsets of this Arrow type can count") from error
