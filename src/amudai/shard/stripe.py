"""A stripe of an open shard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from amudai.column import ColumnContext, ColumnSource, ColumnValues, Projection, TimeValues, open_top_column
from amudai.errors import AmudaiError, located
from amudai.format import (
    DataRef,
    FieldList,
    IndexCollection,
    IndexDescriptor,
    NativeEncoding,
    StripeDirectory,
    StripeFieldDescriptor,
    StripeProperties,
    row_groups_of,
)
from amudai.lazy import lazy
from amudai.rows import Origin, Rows
from amudai.shard.deleted import marked_rows
from amudai.shard.open_files import OpenFiles
from amudai.shard.small_columns import SmallBatch, SmallValues, marked_slots, small_batches, small_values
from amudai.storage import Artifact
from amudai.types import SchemaNode, quote_name

__all__ = ["StripeReader"]

# Buffers up to this size are read together with their neighbours, many small columns in one request.
SMALL_BUFFER: Final = 256 * 1024


class StripeFields:
    """How the fields of a stripe are stored. The descriptor of a field is read when it is needed, and kept.

    Columns hold this and not the reader of the stripe, which holds the columns: there are no cycles.
    """

    def __init__(self, files: OpenFiles, ordinal: int, ref: DataRef, anchor: Artifact) -> None:
        self._files = files
        self._ordinal = ordinal
        self._ref = ref
        self._anchor = anchor
        self._descriptors: dict[int, StripeFieldDescriptor | None] = {}

    @lazy
    def _list(self) -> tuple[FieldList, Artifact]:
        ref = self._ref
        fields = self._files.message(ref, "DataRefArray", self._anchor, FieldList.decode)
        return fields, self._files.artifact(ref.url, self._anchor)

    def descriptor(self, node: SchemaNode) -> StripeFieldDescriptor | None:
        """How the field is stored in this stripe; None if it is not stored and all its values are null."""
        if node.schema_id not in self._descriptors:
            self.prepare((node,))
        return self._descriptors[node.schema_id]

    def prepare(self, nodes: Iterable[SchemaNode]) -> None:
        """Read the descriptors of `nodes`, adjacent ones in one request."""
        unread = [node for node in nodes if node.schema_id not in self._descriptors]
        if not unread:
            return
        with located(url=self._files.url, stripe=self._ordinal):
            fields, anchor = self._list
            by_file: dict[str, list[tuple[SchemaNode, int, int]]] = {}
            for node in unread:
                ref = fields.ref(node.schema_id)
                if ref is None:
                    self._descriptors[node.schema_id] = None
                else:
                    by_file.setdefault(ref.url, []).append((node, ref.start, ref.end))
            for reference, wanted in by_file.items():
                artifact = self._files.artifact(reference, anchor)
                frames = self._frames(artifact, [(start, end) for _, start, end in wanted])
                for (node, start, end), frame in zip(wanted, frames, strict=True):
                    try:
                        payload = self._files.checked(frame, "StripeFieldDescriptor")
                        self._descriptors[node.schema_id] = StripeFieldDescriptor.decode(payload)
                    except AmudaiError as error:
                        error.locate(url=artifact.url, range=f"{start}..{end}", field=node.name)
                        raise

    def _frames(self, artifact: Artifact, spans: Sequence[tuple[int, int]]) -> Iterable[memoryview]:
        if self._files.store.capabilities.mappable:
            return [artifact.read(start, end) for start, end in spans]  # a request costs next to nothing
        starts, ends = np.array(spans, np.uint64).T
        pieces = artifact.read_many(starts, ends)
        return (
            pieces.buffers[which][int(at) : int(at) + end - start]
            for (start, end), which, at in zip(spans, pieces.which, pieces.starts, strict=True)
        )

    def places(self, nodes: Iterable[SchemaNode]) -> Iterator[tuple[Artifact, int, int]]:
        """Where the descriptors and buffers of fields are: the file, the first byte and the end of each."""
        fields, anchor = self._list
        for node in nodes:
            ref = fields.ref(node.schema_id)
            descriptor = self.descriptor(node)
            if ref is None or descriptor is None:
                continue
            yield self._files.artifact(ref.url, anchor), ref.start, ref.end
            constant = descriptor.field.constant_value
            if constant is not None and isinstance(constant.value, DataRef):
                yield self.artifact_of(constant.value), constant.value.start, constant.value.end
            for encoding in descriptor.encodings:
                for buffer in encoding.buffers if isinstance(encoding, NativeEncoding) else ():
                    extent = buffer.extent
                    if extent is not None:
                        yield self.artifact_of(extent), extent.start, extent.end

    def descriptor_places(self, nodes: Iterable[SchemaNode]) -> Iterator[tuple[Artifact, int, int]]:
        """Where the descriptors of fields are. They are not read."""
        fields, anchor = self._list
        for node in nodes:
            ref = fields.ref(node.schema_id)
            if ref is not None:
                yield self._files.artifact(ref.url, anchor), ref.start, ref.end

    def holder(self, node: SchemaNode) -> Artifact:
        """The file that holds the descriptor of a field."""
        fields, anchor = self._list
        ref = fields.ref(node.schema_id)
        return anchor if ref is None else self._files.artifact(ref.url, anchor)

    def artifact_of(self, ref: DataRef | None) -> Artifact:
        """The file that the reference to a buffer names."""
        return self._files.artifact("" if ref is None else ref.url, self._list[1])

    def small_values(self, batch: SmallBatch, rows: int) -> SmallValues | None:
        """All values of columns, read at once, except of those that must be read alone. None if all of them must."""
        files = self._files
        return small_values(batch, rows, self._list, files.artifact, files.verify, files.limits)

    def marked_slots(self, node: SchemaNode, rows: int) -> Rows | None:
        """The slots of a boolean column that are true. None if the column must be read in the usual way."""
        files = self._files
        return marked_slots(node, rows, self._list, files.artifact, files.verify, files.limits)


class StripeReader:
    """A stripe of an open shard. `whole` is the origin of the shard's rows."""

    def __init__(
        self, files: OpenFiles, whole: Origin, ordinal: int, directory: StripeDirectory, anchor: Artifact
    ) -> None:
        self.url = files.url
        self.ordinal = ordinal
        self.directory = directory
        self.anchor = anchor
        self._files = files
        self._whole = whole
        self._fields = StripeFields(files, ordinal, directory.field_list, anchor)
        self._columns: dict[int, ColumnSource] = {}

    @property
    def num_positions(self) -> int:
        """The number of records, deleted ones included."""
        return self.directory.total_records

    @property
    def num_rows(self) -> int:
        """The number of records that are not deleted, as the stripe's directory counts them."""
        return self.directory.total_records - self.directory.deleted_records

    @property
    def first_row(self) -> int:
        """The position of the first record in the shard."""
        return self.directory.shard_position

    @property
    def end_row(self) -> int:
        """The position after the last record in the shard."""
        return self.directory.shard_position + self.directory.total_records

    @lazy
    def origin(self) -> Origin:
        """The origin of the stripe's rows."""
        return self._whole.part("stripe", str(self.ordinal), self.first_row, self.num_positions)

    @lazy
    def extent(self) -> Rows:
        """The rows of the stripe, counted from the first row of the shard."""
        return Rows.extent(self.origin)

    @lazy
    def properties(self) -> StripeProperties:
        """The properties of the stripe."""
        ref = self.directory.properties
        if ref is None or ref.is_empty:
            return StripeProperties(standard=(), custom=())
        with located(stripe=self.ordinal):
            return self._files.message(ref, "StripeProperties", self.anchor, StripeProperties.decode)

    @lazy
    def indexes(self) -> IndexCollection:
        """The indexes of this stripe."""
        ref = self.directory.indexes
        if ref is None or ref.is_empty:
            return IndexCollection(())
        with located(stripe=self.ordinal):
            return self._files.message(ref, "IndexCollection", self.anchor, IndexCollection.decode)

    @property
    def index_anchor(self) -> Artifact:
        """The file that the references of `indexes` are relative to."""
        ref = self.directory.indexes
        return self._files.artifact("" if ref is None else ref.url, self.anchor)

    def field_indexes(self, nodes: Iterable[SchemaNode]) -> Iterator[tuple[IndexDescriptor, Artifact]]:
        """The indexes in the descriptors of these fields, each with the file that its references are relative to."""
        for node in nodes:
            found = self.descriptor(node)
            if found is not None and found.field.indexes is not None:
                anchor = self._fields.holder(node)
                for index in found.field.indexes:
                    yield index, anchor

    @lazy
    def _context(self) -> ColumnContext:
        """What the columns of this stripe share."""
        fields, files = self._fields, self._files
        return ColumnContext(
            self.url,
            self.ordinal,
            files.verify,
            fields.descriptor,
            fields.artifact_of,
            files.limits,
            files.prefer,
            self._row_groups,
        )

    @property
    def _row_groups(self) -> Callable[[], Sequence[int] | None]:
        """A function that returns how many rows each row group of the stripe has; None if the stripe does not say."""
        files, ref, anchor, ordinal = self._files, self.directory.properties, self.anchor, self.ordinal

        def row_groups() -> Sequence[int] | None:
            if ref is None or ref.is_empty:
                return None
            with located(stripe=ordinal):
                return row_groups_of(files.message(ref, "StripeProperties", anchor, StripeProperties.decode))

        return row_groups

    def descriptor(self, node: SchemaNode) -> StripeFieldDescriptor | None:
        """How the field is stored in this stripe; None if it is not stored and all its values are null."""
        return self._fields.descriptor(node)

    def prepare(self, nodes: Iterable[SchemaNode]) -> None:
        """Read the descriptors of `nodes`, adjacent ones in one request."""
        self._fields.prepare(nodes)

    def places(self, nodes: Iterable[SchemaNode]) -> Iterator[tuple[Artifact, int, int]]:
        """Where the metadata and the buffers of the stripe are: the file, the first byte and the end of each."""
        yield from self._own_places()
        yield from self._fields.places(nodes)

    def metadata_places(self, nodes: Iterable[SchemaNode]) -> Iterator[tuple[Artifact, int, int]]:
        """Where the metadata of the stripe and the descriptors of fields are, without any buffer."""
        yield from self._own_places()
        yield from self._fields.descriptor_places(nodes)

    def _own_places(self) -> Iterator[tuple[Artifact, int, int]]:
        directory = self.directory
        for ref in (directory.properties, directory.field_list, directory.indexes):
            if ref is not None and not ref.is_empty:
                yield self._files.artifact(ref.url, self.anchor), ref.start, ref.end

    def column(self, node: SchemaNode) -> ColumnSource:
        """The values of a top-level column. The columns below it are its children."""
        found = self._columns.get(node.schema_id)
        if found is None:
            path = quote_name(node.name) if node.name else node.internal  # internal fields may have no name
            made = open_top_column(self._context, node, path, self.num_positions)
            found = self._columns.setdefault(node.schema_id, made)
        return found

    def read(self, rows: Rows, projection: Projection) -> ColumnValues:
        """The values of a top-level column at `rows`, with the nanoseconds after its ticks if it has any."""
        found = self.column(projection.node).read(rows, projection)
        if projection.nanoseconds is None:
            return found
        nanoseconds = self.column(projection.nanoseconds).read(rows, Projection(projection.nanoseconds))
        return TimeValues(found, nanoseconds)

    def small_batches(self, nodes: Sequence[SchemaNode]) -> list[SmallBatch]:
        """Those of these top-level columns that are worth reading together, a batch at a time."""
        if not self._files.store.capabilities.mappable:
            return []  # columns are not adjacent, and each request takes time
        return small_batches(nodes, self.num_positions, self._files.limits)

    def small_values(self, batch: SmallBatch) -> SmallValues | None:
        """All values of the columns of a batch, except of those that must be read alone. None if all of them must."""
        with located(url=self.url, stripe=self.ordinal):
            return self._fields.small_values(batch, self.num_positions)

    def marked(self, node: SchemaNode) -> Rows:
        """The rows of the stripe for which a top-level boolean column is true."""
        with located(url=self.url, stripe=self.ordinal):
            found = self._fields.marked_slots(node, self.num_positions)
        return marked_rows(self.column(node), self.origin) if found is None else found.counted_from(self.origin)

    def column_at(self, nodes: Sequence[SchemaNode]) -> ColumnSource:
        """The values of the column at a path of schema nodes that begins with a top-level column."""
        found = self.column(nodes[0])
        for node in nodes[1:]:
            found = found.child_of(node)
        return found

    def prefetch(self, nodes: Iterable[SchemaNode]) -> None:
        """Read the small buffers of these top-level columns together."""
        if self._files.store.capabilities.mappable:
            return  # nothing to gain: a request costs next to nothing
        by_file: dict[str, tuple[Artifact, list[DataRef]]] = {}
        for node in nodes:
            for ref in self.column(node).prefetch():
                if ref.size <= SMALL_BUFFER:
                    artifact = self._fields.artifact_of(ref)
                    by_file.setdefault(artifact.url, (artifact, []))[1].append(ref)
        for artifact, found in by_file.values():
            refs = list(dict.fromkeys(found))  # members of a packed group share their buffer
            if len(refs) < 2:
                continue
            pieces = artifact.read_many(
                np.array([ref.start for ref in refs], np.uint64), np.array([ref.end for ref in refs], np.uint64)
            )
            for ref, which, at in zip(refs, pieces.which, pieces.starts, strict=True):
                self._context.prefetched[ref] = pieces.buffers[which][int(at) : int(at) + ref.size]
