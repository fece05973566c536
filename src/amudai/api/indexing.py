"""Indexes for a shard that is there already."""

from __future__ import annotations

import os
from collections.abc import Sequence

from amudai.api.advice import warn_of_needless_indexes
from amudai.api.opening import open as open_shard
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.api.sizes import temporary_folder
from amudai.edit import Publication, Root, feed, with_indexes
from amudai.errors import InvalidArgument, located
from amudai.index import IndexSpec, index_sinks
from amudai.shard import ArtifactSpace, ShardReader
from amudai.storage import Allow, Size, container, open_store, size_of

__all__ = ["add_indexes"]


def add_indexes(
    shard: Shard | str | os.PathLike[str],
    indexes: Sequence[IndexSpec],
    to: str | os.PathLike[str],
    *,
    store: object | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    profile: str = "balanced",
    progress: bool | Report | None = None,
    overwrite: bool = False,
    allow: Allow = (),
) -> Shard:
    """Index a shard that is there already, and open the result.

    Only the columns to be indexed are read. The new root refers to the stripes of the old one, so it must lie in the
    same folder, and the old files must stay. If one of them is overwritten or removed, reading the new shard raises an
    error that names the file.

    Parameters
    ----------
    shard
        The shard, or where it is.
    indexes
        `TermIndex` and `HashIndex`, as `amudai.write` takes them.
    to
        Where the new root goes.
    memory_limit, temp_dir, progress, overwrite, store
        As `amudai.write` takes them.
    allow
        Where files outside of the folder may be, as `amudai.open` takes it.

    Examples
    --------
    >>> _ = amudai.write({"message": ["disk full", "all well"]}, "plain.amudai.shard", overwrite=True)
    >>> indexes = [amudai.TermIndex("message")]
    >>> shard = amudai.add_indexes("plain.amudai.shard", indexes, "found.amudai.shard", overwrite=True)
    >>> shard.scan(where=amudai.col("message").has("disk")).positions().tolist()
    [0]
    """
    target_store, target = open_store(to, store)
    folder = os.fsdecode(temp_dir) if temp_dir is not None else temporary_folder(to, store)
    reader = ShardReader(shard, store, allow=allow) if isinstance(shard, str | os.PathLike) else shard._reader
    if reader.url == target:
        raise InvalidArgument("to: expected another place than the shard, whose stripes stay in use", url=target)
    if container(reader.url) != container(target):
        raise InvalidArgument("to: expected the folder of the shard, to which it refers", url=target)
    nodes = tuple(node for node in reader.schema.fields() if not node.internal)
    with (
        located(url=target),
        Publication(target_store, target, overwrite=overwrite, temp_folder=folder) as publication,
        reporting(progress, reader.num_positions) as report,
    ):
        sinks = index_sinks(indexes, nodes, memory=size_of(memory_limit), temp_folder=folder, profile=profile)
        try:
            root = Root.of(reader).at(target)
            space = ArtifactSpace(publication.sealing, publication.file, container(target), None)
            of_stripes = []
            size = 0
            for stripe in reader.stripes:
                for rows, fed in feed(stripe, nodes, sinks):
                    size += fed
                    report(rows, size, 0)
                of_stripes.append(space.indexes(sinks.stripe))
            publication.publish(with_indexes(root, space.indexes(sinks.shard), of_stripes))
        finally:
            sinks.close()
    shard = open_shard(to, store=store, allow=reader.allow)
    warn_of_needless_indexes(shard._reader, indexes)
    return shard
