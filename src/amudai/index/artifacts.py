"""How is a piece of an index opened?"""

from __future__ import annotations

from typing import Final

from amudai.errors import CorruptedData
from amudai.format import DataRef, IndexArtifact
from amudai.shard import ShardReader
from amudai.storage import Artifact

__all__ = ["open_artifact"]

_AROUND: Final = 12  # the frame's length and checksum, and the length once more


def open_artifact(artifact: IndexArtifact, shard: ShardReader, anchor: Artifact) -> ShardReader:
    """The shard that a piece of an index is: a file of its own, or a part of the file that names it."""
    if artifact.data.is_empty:
        raise CorruptedData(f"index artifact {artifact.name!r}: expected a reference, found an empty one")
    file = shard.artifact(artifact.data.url, anchor)
    end = artifact.data.end if file is anchor or _is_directory(artifact.data, file) else None
    return ShardReader(file.url, shard.store, verify=shard.verify, allow=shard.allow, end=end)


def _is_directory(ref: DataRef, file: Artifact) -> bool:
    """Whether a range is that of a shard's directory, with its length behind it.

    A piece in a file of its own may have any: the reference opens it from the file's end whatever the range says.
    """
    if ref.end > file.size or ref.size <= _AROUND:
        return False
    return int.from_bytes(file.read(ref.end - 4, ref.end), "little") == ref.size - _AROUND
