"""How is a piece of an index opened?"""

from __future__ import annotations

from typing import Final

from amudai.encoding import BlockBuffer
from amudai.errors import CorruptedData
from amudai.format import DataRef, IndexArtifact, lookup_buffers
from amudai.lazy import lazy
from amudai.shard import ShardReader
from amudai.storage import Artifact

__all__ = ["Piece", "open_artifact"]

_AROUND: Final = 12  # the frame's length and checksum, and the length once more


class Piece:
    """A piece of an index. Look-ups read the buffers that it names; all else is in the shard that it is."""

    def __init__(self, artifact: IndexArtifact, shard: ShardReader, anchor: Artifact) -> None:
        self.artifact = artifact
        self._shard = shard
        self._anchor = anchor

    @lazy
    def file(self) -> Artifact:
        """Where it lies."""
        if self.artifact.data.is_empty:
            raise CorruptedData(f"index artifact {self.artifact.name!r}: expected a reference, found an empty one")
        return self._shard.artifact(self.artifact.data.url, self._anchor)

    @lazy
    def shard(self) -> ShardReader:
        """The shard that it is: a file of its own, or a part of the file that names it."""
        file, data = self.file, self.artifact.data
        end = data.end if file is self._anchor or _is_directory(data, file) else None
        return ShardReader(file.url, self._shard.store, verify=self._shard.verify, allow=self._shard.allow, end=end)

    def lookup(self, count: int) -> list[BlockBuffer] | None:
        """The `count` buffers that each look-up reads; None where the piece names none."""
        found = lookup_buffers(self.artifact.properties, count)
        if found is None:
            return None
        return [BlockBuffer(self.file, each.descriptor(), each.values, self._shard.verify) for each in found]


def open_artifact(artifact: IndexArtifact, shard: ShardReader, anchor: Artifact) -> ShardReader:
    """The shard that a piece of an index is."""
    return Piece(artifact, shard, anchor).shard


def _is_directory(ref: DataRef, file: Artifact) -> bool:
    """Whether a range is that of a shard's directory, with its length behind it.

    A piece in a file of its own may have any: the reference opens it from the file's end whatever the range says.
    """
    if ref.end > file.size or ref.size <= _AROUND:
        return False
    return int.from_bytes(file.read(ref.end - 4, ref.end), "little") == ref.size - _AROUND
