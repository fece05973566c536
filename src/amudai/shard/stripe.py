"""What is in a stripe?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from amudai.errors import AmudaiError, located
from amudai.format import (
    EncodedBuffer,
    FieldList,
    IndexCollection,
    StripeDirectory,
    StripeFieldDescriptor,
    StripeProperties,
    unframe,
)
from amudai.lazy import lazy
from amudai.rows import Origin, Rows
from amudai.shard.field import FieldReader
from amudai.storage import Artifact
from amudai.types import SchemaNode

if TYPE_CHECKING:
    from amudai.shard.reader import ShardReader

__all__ = ["StripeReader"]

# Buffers up to this size are read together with their neighbours: one request for many small columns.
SMALL_BUFFER: Final = 256 * 1024


class StripeReader:
    """A stripe of an open shard. Descriptors are read when a field is touched, and kept."""

    def __init__(self, shard: ShardReader, ordinal: int, directory: StripeDirectory, anchor: Artifact) -> None:
        self.shard = shard
        self.ordinal = ordinal
        self.directory = directory
        self.anchor = anchor
        self._descriptors: dict[int, StripeFieldDescriptor | None] = {}
        self._fields: dict[int, FieldReader] = {}

    @property
    def num_rows(self) -> int:
        """Records of the stripe."""
        return self.directory.total_records

    @property
    def first_row(self) -> int:
        """Position of its first record in the shard."""
        return self.directory.shard_position

    @lazy
    def origin(self) -> Origin:
        """What rows of the stripe are counted from."""
        return self.shard.origin.part("stripe", str(self.ordinal), self.first_row, self.num_rows)

    @lazy
    def extent(self) -> Rows:
        """The rows of the stripe, counted from the shard's first."""
        return Rows.extent(self.origin)

    @lazy
    def properties(self) -> StripeProperties:
        """What the writer noted about the stripe."""
        ref = self.directory.properties
        if ref is None or ref.is_empty:
            return StripeProperties(standard=(), custom=())
        with located(stripe=self.ordinal):
            return self.shard.message(ref, "StripeProperties", self.anchor, StripeProperties.decode)

    @lazy
    def indexes(self) -> IndexCollection:
        """The indexes of this stripe."""
        ref = self.directory.indexes
        if ref is None or ref.is_empty:
            return IndexCollection(())
        with located(stripe=self.ordinal):
            return self.shard.message(ref, "IndexCollection", self.anchor, IndexCollection.decode)

    @property
    def index_anchor(self) -> Artifact:
        """The file that the references of `indexes` are relative to."""
        ref = self.directory.indexes
        return self.shard.artifact("" if ref is None else ref.url, self.anchor)

    @lazy
    def _field_list(self) -> tuple[FieldList, Artifact]:
        ref = self.directory.field_list
        fields = self.shard.message(ref, "DataRefArray", self.anchor, FieldList.decode)
        return fields, self.shard.artifact(ref.url, self.anchor)

    def descriptor(self, node: SchemaNode) -> StripeFieldDescriptor | None:
        """How the field is stored here; None where it is not, and all its values are null."""
        if node.schema_id not in self._descriptors:
            self.prepare((node,))
        return self._descriptors[node.schema_id]

    def prepare(self, nodes: Iterable[SchemaNode]) -> None:
        """Read the descriptors of these fields, neighbours in one request."""
        unread = [node for node in nodes if node.schema_id not in self._descriptors]
        if not unread:
            return
        with located(url=self.shard.url, stripe=self.ordinal):
            fields, anchor = self._field_list
            by_file: dict[str, list[tuple[SchemaNode, int, int]]] = {}
            for node in unread:
                ref = fields.ref(node.schema_id)
                if ref is None:
                    self._descriptors[node.schema_id] = None
                else:
                    by_file.setdefault(ref.url, []).append((node, ref.start, ref.end))
            for reference, wanted in by_file.items():
                artifact = self.shard.artifact(reference, anchor)
                frames = self._frames(artifact, [(start, end) for _, start, end in wanted])
                for (node, start, end), frame in zip(wanted, frames, strict=True):
                    try:
                        payload = unframe(frame, "StripeFieldDescriptor", self.shard.verify)
                        self._descriptors[node.schema_id] = StripeFieldDescriptor.decode(payload)
                    except AmudaiError as error:
                        error.locate(url=artifact.url, range=f"{start}..{end}", field=node.name)
                        raise

    def _frames(self, artifact: Artifact, spans: Sequence[tuple[int, int]]) -> Iterable[memoryview]:
        if self.shard.store.capabilities.mappable:
            return [artifact.read(start, end) for start, end in spans]  # here a request costs next to nothing
        starts, ends = np.array(spans, np.uint64).T
        pieces = artifact.read_many(starts, ends)
        return (
            pieces.buffers[which][int(at) : int(at) + end - start]
            for (start, end), which, at in zip(spans, pieces.which, pieces.starts, strict=True)
        )

    def field(self, node: SchemaNode, path: str, positions: int | None) -> FieldReader:
        """The reader of a field's values; `positions` is how many its parent says there are, where it does."""
        found = self._fields.get(node.schema_id)
        if found is None:
            found = self._fields[node.schema_id] = FieldReader(self, node, path, positions)
        return found

    def artifact_of(self, buffer: EncodedBuffer) -> Artifact:
        """The file that holds a buffer."""
        _, anchor = self._field_list
        return self.shard.artifact(buffer.buffer.url if buffer.buffer else "", anchor)

    def prefetch(self, readers: Sequence[FieldReader]) -> None:
        """Read the small buffers of these fields together."""
        if self.shard.store.capabilities.mappable:
            return  # nothing to gain: a request costs next to nothing
        by_file: dict[str, tuple[Artifact, list[tuple[FieldReader, EncodedBuffer]]]] = {}
        for reader in readers:
            for buffer in reader.unread_buffers():
                if buffer.buffer is not None and buffer.buffer.size <= SMALL_BUFFER:
                    artifact = self.artifact_of(buffer)
                    by_file.setdefault(artifact.url, (artifact, []))[1].append((reader, buffer))
        for artifact, wanted in by_file.values():
            if len(wanted) < 2:
                continue
            refs = [buffer.buffer for _, buffer in wanted if buffer.buffer is not None]
            pieces = artifact.read_many(
                np.array([ref.start for ref in refs], np.uint64), np.array([ref.end for ref in refs], np.uint64)
            )
            for (reader, buffer), ref, which, at in zip(wanted, refs, pieces.which, pieces.starts, strict=True):
                reader.keep(buffer, pieces.buffers[which][int(at) : int(at) + ref.size])
