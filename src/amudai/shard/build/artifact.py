"""Writing the artifacts of an index.

An index consists of shards of its own. If the shard is a single file, they are inside the root file. If each stripe has
its own file, they are in files beside the root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from amudai.format import (
    FOOTER,
    HEADER,
    BufferKind,
    DataRef,
    IndexArtifact,
    IndexCollection,
    IndexDescriptor,
    LookupBuffer,
    NativeEncoding,
    Properties,
    encode_schema,
    lookup_property,
)
from amudai.shard.build.metadata import WrittenDirectory, write_metadata
from amudai.shard.build.placed import PlacedStripe, metadata_of
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.stored import StoredArray
from amudai.shard.build.stripe import digest, place_fields
from amudai.shard.suffixes import INDEX_SUFFIX
from amudai.storage import SealedFile, Sealing, Spool
from amudai.types import SchemaNode, nodes_below

__all__ = ["ArtifactSpace", "PreparedStripe", "RowSink", "Sinks", "node_count"]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedStripe:
    """A finished stripe that has no place in a file yet."""

    fields: tuple[PreparedField, ...]
    rows: int
    spool: Spool


class ArtifactSpace:
    """Where the artifacts of a shard's indexes are written.

    Parameters
    ----------
    salt
        Part of the names of the artifacts' files, together with a hash of their content. It differs between shards and
        stripes, so that they share no files, and the same input gives the same names. None if artifacts go into the
        root.
    """

    def __init__(self, sealing: Sealing, root: SealedFile, folder: str, salt: bytes | None) -> None:
        self._sealing = sealing
        self._root = root
        self._folder = folder
        self._salt = salt
        self.urls: list[str] = []
        self.size = 0  # of all artifacts so far

    def place(
        self,
        name: str,
        nodes: Sequence[SchemaNode],
        stripes: Sequence[PreparedStripe],
        lookup: Sequence[tuple[SchemaNode, BufferKind]],
    ) -> IndexArtifact:
        """Write a shard of these stripes as one artifact of an index. Every look-up reads the buffers of `lookup`."""
        with self._file(stripes) as (out, url):
            begin = out.tell()
            directory, placed = _written(out, nodes, stripes)
            self.size += out.tell() - begin
        data = DataRef(url, directory.place.start, directory.place.end)
        return IndexArtifact(name=name, properties=_lookup_of(placed, lookup), data=data, identity=directory.identity)

    def measure(self, pieces: Iterable[tuple[Sequence[SchemaNode], Sequence[PreparedStripe]]]) -> list[int]:
        """The bytes of each of these artifacts if they were placed next."""
        sizes = []
        inside = _Measuring(self._root.tell())
        for nodes, stripes in pieces:
            out = inside if self._salt is None else _Measuring(len(HEADER))
            begin = inside.tell()
            _written(out, nodes, stripes)
            sizes.append(out.tell() - begin if out is inside else out.tell() + len(FOOTER))
        return sizes

    def indexes(self, writers: Iterable[IndexWriter]) -> IndexCollection:
        """Finish the indexes of `writers`."""
        written = []
        for writer in writers:
            before = self.size
            written.append(replace(writer.finish(self), index_size=self.size - before))
        return IndexCollection(tuple(written))

    @contextmanager
    def _file(self, stripes: Sequence[PreparedStripe]) -> Iterator[tuple[SealedFile, str]]:
        if self._salt is None:
            yield self._root, ""
            return
        number = len(self.urls)
        for stripe in stripes:
            number = digest(stripe.fields, stripe.spool, self._salt + number.to_bytes(8, "little"))
        url = f"{number:016x}{INDEX_SUFFIX}"
        with self._sealing.file(self._folder + url) as out:
            out.hash_from_here()
            out.write(HEADER)
            yield out, url
            out.write(FOOTER)
        self.urls.append(url)


class _Measuring(SealedFile):
    """A file that is not written: it counts the bytes after `begin`."""

    def __init__(self, begin: int) -> None:
        super().__init__("")
        self._position = begin

    def _write(self, piece: memoryview) -> None:
        pass

    def _finish(self) -> None:
        pass


def _written(
    out: SealedFile, nodes: Sequence[SchemaNode], stripes: Sequence[PreparedStripe]
) -> tuple[WrittenDirectory, list[PlacedStripe]]:
    """Write a shard of these stripes; return its directory, and the placed stripes."""
    placed = []
    for stripe in stripes:
        start = out.tell()
        fields = place_fields(stripe.fields, "", out, stripe.spool, {})
        placed.append(PlacedStripe(stripe.rows, "", out.tell() - start, fields))
    metadata = metadata_of(encode_schema(nodes), node_count(nodes), placed)
    return write_metadata(out, metadata, identified=True), placed


def _lookup_of(placed: Sequence[PlacedStripe], wanted: Sequence[tuple[SchemaNode, BufferKind]]) -> Properties:
    """The property that says where the wanted buffers are; empty if a field has no such buffer, or needs others."""
    found = []
    for stripe in placed:
        for node, kind in wanted:
            described = stripe.fields[node.schema_id]
            (encoding,) = described.encodings
            assert isinstance(encoding, NativeEncoding)
            buffer = encoding.find(kind)
            if buffer is None or encoding.find(BufferKind.PRESENCE) is not None:
                return ()
            count = described.field.position_count + (kind is BufferKind.OFFSETS)
            stated = LookupBuffer.of(buffer, count)
            if stated is None:
                return ()
            found.append(stated)
    return lookup_property(found) if len(placed) == 1 and found else ()


class IndexWriter(Protocol):
    """Something that writes an index: a `RowSink`, or a merge of other indexes."""

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Write the index, and return its descriptor. The caller adds the size."""


class RowSink(Protocol):
    """Receives the rows of a shard or of a stripe as they are written, and builds an index of them.

    Attributes
    ----------
    fields
        Schema ids of the top-level fields that it receives.
    """

    fields: frozenset[int]

    def append(self, values: StoredArray, stripe: int, first_row: int) -> None:
        """Append values of one top-level field.

        The rows of a field come in order. Different fields may come at the same time, on different threads. `stripe`
        counts from 0, `first_row` from the first row of the shard.
        """

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Write the index of the rows since the last `finish`, and return its descriptor. The caller adds the size.

        The rows of another stripe may follow, for another index.
        """

    def close(self) -> None:
        """Free all resources, finished or not."""


@dataclass(frozen=True, slots=True)
class Sinks:
    """The sinks that receive the rows of a shard.

    Attributes
    ----------
    shard
        Sinks that build an index of all rows.
    stripe
        Sinks that build an index of each stripe.
    field
        Sinks that build an index of all rows for the descriptor of its field.
    """

    shard: tuple[RowSink, ...] = ()
    stripe: tuple[RowSink, ...] = ()
    field: tuple[RowSink, ...] = ()

    @property
    def all(self) -> tuple[RowSink, ...]:
        """All of them."""
        return (*self.shard, *self.stripe, *self.field)

    def wanting(self, schema_id: int) -> tuple[RowSink, ...]:
        """The sinks that receive a top-level field."""
        return tuple(sink for sink in self.all if schema_id in sink.fields)

    def close(self) -> None:
        """Free all resources, finished or not."""
        for sink in self.all:
            sink.close()


def node_count(nodes: Sequence[SchemaNode]) -> int:
    """How many nodes a schema has."""
    return sum(1 for _ in nodes_below(nodes))
