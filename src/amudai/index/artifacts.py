"""Readers of index artifacts: the shards that hold the data of an index."""

from __future__ import annotations

from typing import Final

from amudai.encoding import BlockBuffer
from amudai.errors import CorruptedData, located
from amudai.format import DataRef, IndexArtifact, LookupBuffer, lookup_buffers, require_identity
from amudai.lazy import lazy
from amudai.limits import Limits
from amudai.shard import ShardReader
from amudai.storage import Artifact

__all__ = ["IndexArtifactReader", "open_artifact"]

_AROUND: Final = 12  # bytes around a directory: the frame's length and checksum, and the length once more


class IndexArtifactReader:
    """One artifact of an index, which is a shard itself.

    Look-ups read the buffers that the properties of the artifact name, and need not open the shard.

    Parameters
    ----------
    shard
        The shard that the index belongs to.
    anchor
        The file that holds the index descriptor. References without a URL point into it.
    """

    def __init__(self, descriptor: IndexArtifact, shard: ShardReader, anchor: Artifact) -> None:
        self.descriptor = descriptor
        self._shard = shard
        self._anchor = anchor

    @lazy
    def values(self) -> dict[str, object]:
        """The values of the artifact's properties, by their names."""
        return self.descriptor.values

    @lazy
    def file(self) -> Artifact:
        """The file that holds the artifact."""
        data = self.descriptor.data
        if data.end == data.start:
            raise CorruptedData(f"index artifact {self.descriptor.name!r}: expected a reference, found an empty one")
        return self._shard.artifact(data.url, self._anchor) if data.url else self._anchor

    @lazy
    def shard(self) -> ShardReader:
        """The artifact, opened as a shard: a file of its own, or a part of the anchor."""
        file, data = self.file, self.descriptor.data
        end = data.end if file is self._anchor or _is_directory(data, file) else None
        found = ShardReader(
            file.url,
            file.store,
            verify=self._shard.verify,
            allow=self._shard.allow,
            end=end,
            limits=self._shard.limits,
            file=file,
        )
        place = found.directory_place
        with located(url=file.url, range=f"{place.start}..{place.end}"):
            require_identity(self.descriptor.identity, found.directory.identity)
        return found

    @property
    def limits(self) -> Limits:
        """How much memory and work what is read may take."""
        return self._shard.limits

    @property
    def verify(self) -> bool:
        """Whether the checksum of each block is compared."""
        return self._shard.verify

    def places(self, *counts: int) -> tuple[LookupBuffer, ...] | None:
        """Where the buffers are that look-ups read, as many as one of `counts`; None if the artifact names none."""
        return lookup_buffers(self.values, *counts)

    def lookup(self, *counts: int) -> list[BlockBuffer] | None:
        """The buffers that look-ups read, as many as one of `counts`; None if the artifact names none."""
        found = self.places(*counts)
        if found is None:
            return None
        file, verify, limits = self.file, self._shard.verify, self._shard.limits
        return [BlockBuffer(file, each, each.values, verify, limits=limits) for each in found]


def open_artifact(descriptor: IndexArtifact, shard: ShardReader, anchor: Artifact) -> ShardReader:
    """Open an artifact of an index as a shard."""
    return IndexArtifactReader(descriptor, shard, anchor).shard


def _is_directory(ref: DataRef, file: Artifact) -> bool:
    """Whether `ref` is the range of a shard's directory, with the directory's length at its end.

    The range of an artifact in a file of its own may be anything: the reference ignores it and opens the shard from the
    end of the file.
    """
    if ref.end > file.size or ref.size <= _AROUND:
        return False
    return int.from_bytes(file.read(ref.end - 4, ref.end), "little") == ref.size - _AROUND
