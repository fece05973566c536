"""The files that a shard needs."""

from __future__ import annotations

from dataclasses import dataclass

from amudai.shard import INDEX_SUFFIX, STRIPE_SUFFIX, ShardReader
from amudai.storage import container

__all__ = ["ShardFile", "files_of"]


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A file that a shard needs.

    Attributes
    ----------
    kind
        `"root"` for the root file of the shard, `"stripe"` or `"index"` for files that hold values or an index,
        `"shard"` for the root file of another shard, in which bytes of this one lie, `"parquet"` for a Parquet file,
        `"other"` for any other file.
    bytes
        Its size.
    owned
        Whether the file belongs to this shard alone. Other files belong to other shards, and this one refers to them.

    Examples
    --------
    >>> shard = amudai.write({"n": [1, 2, 3]}, "numbers.amudai.shard", layout="two-level", overwrite=True)
    >>> [(file.kind, file.owned) for file in shard.files]
    [('root', True), ('stripe', True)]
    """

    url: str
    kind: str
    bytes: int
    owned: bool


def files_of(reader: ShardReader) -> tuple[ShardFile, ...]:
    """Every file that a shard needs, the root file first. Raises StorageError if one is missing or was replaced."""
    folder = container(reader.url)
    said = reader.files
    owned = set(said.owned) if said is not None and said.root == reader.url[len(folder) :] else set()
    found = [ShardFile(reader.url, "root", reader.root.size, True)]
    for name in sorted(set(reader.urls)):
        file = reader.artifact(name, reader.root)
        if file is not reader.root:
            found.append(ShardFile(reader.url_of(name), _kind(name), file.size, name in owned))
    return tuple(found)


def _kind(name: str) -> str:
    if name.endswith(STRIPE_SUFFIX):
        return "stripe"
    if name.endswith(INDEX_SUFFIX):
        return "index"
    if name.endswith((".parquet", ".parq", ".pq")):
        return "parquet"
    return "shard" if name.endswith(".amudai.shard") else "other"
