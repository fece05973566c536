"""Indexes for a shard that is there already."""

from __future__ import annotations

import os
from collections.abc import Sequence

from amudai.api.advice import warn_of_needless_indexes
from amudai.api.editing import NewRoot, reader_of
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.edit import feed, with_indexes
from amudai.errors import located
from amudai.index import IndexSpec, index_sinks
from amudai.storage import Allow, Size, size_of
from amudai.threads import Crew, thread_count

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

    Only the columns to be indexed are read. The new root refers to the stripes of the old one, so the old files must
    stay. If one of them is overwritten or removed, reading the new shard raises an error that names the file.

    Parameters
    ----------
    shard
        The shard, or where it is.
    indexes
        `TermIndex` and `HashIndex`, as `amudai.write` takes them.
    to
        Where the new root goes. It refers to files outside of its folder by their URLs, which `allow` must permit.
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
    reader = reader_of(shard, store, allow)
    new = NewRoot([reader], to, store, overwrite=overwrite, temp_dir=temp_dir, allow=allow or reader.allow)
    nodes = tuple(node for node in reader.schema.fields() if not node.internal)
    reader.require_work()
    with located(url=new.url), new, reporting(progress, reader.num_positions) as report:
        root, space = new.root_of(reader), new.space()
        memory = size_of(memory_limit)
        crew = Crew(thread_count(None))
        sinks = index_sinks(indexes, nodes, memory=memory, temp_folder=new.temp_folder, profile=profile, crew=crew)
        try:
            of_stripes = []
            size = 0
            for stripe in reader.stripes:
                for rows, fed in feed(stripe, nodes, sinks, crew):
                    size += fed
                    report(rows, size, 0)
                of_stripes.append(space.indexes(sinks.stripe))
            whole, of_fields = space.indexes(sinks.shard), space.indexes(sinks.field)
            new.publication.publish(with_indexes(root, whole, of_stripes, of_fields))
        finally:
            sinks.close()
    found = new.opened()
    warn_of_needless_indexes(found._reader, indexes)
    return found
