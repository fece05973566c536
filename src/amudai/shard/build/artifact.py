"""Where do the pieces of an index go?

An index is made of shards of its own. They lie inside the root file where the shard is a single file, and in files
beside it where each stripe has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Protocol

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
from amudai.shard.build.metadata import write_metadata
from amudai.shard.build.placed import PlacedStripe, metadata_of
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.stored import StoredArray
from amudai.shard.build.stripe import digest, place_fields
from amudai.storage import SealedFile, Sealing, Spool
from amudai.types import SchemaNode, nodes_below

__all__ = ["INDEX_SUFFIX", "ArtifactSpace", "PreparedStripe", "RowSink", "Sinks", "node_count"]

INDEX_SUFFIX: Final = ".amudai.index"


@dataclass(frozen=True, slots=True, eq=False)
class PreparedStripe:
    """A finished stripe that has no place in a file yet."""

    fields: tuple[PreparedField, ...]
    rows: int
    spool: Spool


class ArtifactSpace:
    """Room for the pieces of a shard's indexes.

    Parameters
    ----------
    salt
        What tells pieces of this shard or stripe from those of another, where each gets a file of its own, named by
        its content: the same gives the same names, and shards share no files. None where pieces go into the root.
    """

    def __init__(self, sealing: Sealing, root: SealedFile, folder: str, salt: bytes | None) -> None:
        self._sealing = sealing
        self._root = root
        self._folder = folder
        self._salt = salt
        self.urls: list[str] = []
        self.size = 0  # of all pieces so far

    def place(
        self,
        name: str,
        nodes: Sequence[SchemaNode],
        stripes: Sequence[PreparedStripe],
        lookup: Sequence[tuple[SchemaNode, BufferKind]],
    ) -> IndexArtifact:
        """Write a shard of these stripes as one piece of an index; `lookup` are the buffers that each look-up reads."""
        with self._file(stripes) as (out, url):
            begin = out.tell()
            directory, placed = _written(out, nodes, stripes)
            self.size += out.tell() - begin
        data = DataRef(url, directory.start, directory.end)
        return IndexArtifact(name=name, properties=_lookup_of(placed, lookup), data=data)

    def measure(self, pieces: Iterable[tuple[Sequence[SchemaNode], Sequence[PreparedStripe]]]) -> list[int]:
        """The bytes that each of these pieces would take if they were placed next."""
        sizes = []
        inside = _Measuring(self._root.tell())
        for nodes, stripes in pieces:
            out = inside if self._salt is None else _Measuring(len(HEADER))
            begin = inside.tell()
            _written(out, nodes, stripes)
            sizes.append(out.tell() - begin if out is inside else out.tell() + len(FOOTER))
        return sizes

    def indexes(self, sinks: Iterable[RowSink]) -> IndexCollection:
        """Write the indexes that these have gathered."""
        written = []
        for sink in sinks:
            before = self.size
            written.append(replace(sink.finish(self), index_size=self.size - before))
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
            out.write(HEADER)
            yield out, url
            out.write(FOOTER)
        self.urls.append(url)


class _Measuring(SealedFile):
    """Counts what would be written behind `begin`."""

    def __init__(self, begin: int) -> None:
        super().__init__("")
        self._position = begin

    def _write(self, piece: memoryview) -> None:
        pass

    def _finish(self) -> None:
        pass


def _written(
    out: SealedFile, nodes: Sequence[SchemaNode], stripes: Sequence[PreparedStripe]
) -> tuple[DataRef, list[PlacedStripe]]:
    """Write a shard of these stripes; say where its directory lies, and where they do."""
    placed = []
    for stripe in stripes:
        start = out.tell()
        fields = place_fields(stripe.fields, "", out, stripe.spool, {})
        placed.append(PlacedStripe(stripe.rows, "", out.tell() - start, fields))
    return write_metadata(out, metadata_of(encode_schema(nodes), node_count(nodes), placed)), placed


def _lookup_of(placed: Sequence[PlacedStripe], wanted: Sequence[tuple[SchemaNode, BufferKind]]) -> Properties:
    """The property that says where these buffers are; none where a field has no such buffer, or needs more than it."""
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


class RowSink(Protocol):
    """Sees the rows of a shard or of a stripe as they are written, and adds an index to it.

    Attributes
    ----------
    fields
        Schema ids of the top-level fields that it wants to see.
    """

    fields: frozenset[int]

    def append(self, values: StoredArray, stripe: int, first_row: int) -> None:
        """Take values of one top-level field.

        Rows of a field come in their order; different fields may come at the same time on different threads.
        `stripe` counts from 0, `first_row` from the first row of the shard.
        """

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Write the index of what was seen since the last one, and say where it lies; its size is added by the caller.

        The rows of a next stripe may follow, for a next index.
        """

    def close(self) -> None:
        """Let go of everything, finished or not."""


@dataclass(frozen=True, slots=True)
class Sinks:
    """Who sees the rows of a shard.

    Attributes
    ----------
    shard
        Those that add an index of all rows.
    stripe
        Those that add an index to each stripe.
    """

    shard: tuple[RowSink, ...] = ()
    stripe: tuple[RowSink, ...] = ()

    def wanting(self, schema_id: int) -> tuple[RowSink, ...]:
        """Those that want to see a top-level field."""
        return tuple(sink for sink in (*self.shard, *self.stripe) if schema_id in sink.fields)

    def close(self) -> None:
        """Let go of everything, finished or not."""
        for sink in (*self.shard, *self.stripe):
            sink.close()


def node_count(nodes: Sequence[SchemaNode]) -> int:
    """How many nodes a schema has."""
    return sum(1 for _ in nodes_below(nodes))
