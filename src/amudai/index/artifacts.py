"""How is a piece of an index opened?"""

from __future__ import annotations

from amudai.errors import CorruptedData
from amudai.format import IndexArtifact
from amudai.shard import ShardReader
from amudai.storage import Artifact

__all__ = ["open_artifact"]


def open_artifact(artifact: IndexArtifact, shard: ShardReader, anchor: Artifact) -> ShardReader:
    """The shard that a piece of an index is: a file of its own, or a part of the file that names it."""
    if artifact.data.is_empty:
        raise CorruptedData(f"index artifact {artifact.name!r}: expected a reference, found an empty one")
    file = shard.artifact(artifact.data.url, anchor)
    end = artifact.data.end if file is anchor else None
    return ShardReader(file.url, shard.store, verify=shard.verify, allow=shard.allow, end=end)
