"""How does a shard get indexes afterwards?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from amudai.api.open import open as open_shard
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.api.sizes import temporary_folder
from amudai.arrow import project, stored_array, stored_form, to_array
from amudai.errors import InvalidArgument, located
from amudai.format import FOOTER, HEADER, IndexCollection
from amudai.index import IndexSpec, index_sinks
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.shard.build import ArtifactSpace, Sinks
from amudai.shard.build.metadata import write_metadata
from amudai.shard.build.refer import Naming, referred_index, referred_stripe
from amudai.storage import Artifact, Sealing, Size, open_store, size_of
from amudai.types import SchemaNode, nodes_below

__all__ = ["add_indexes"]

# Rows that are read and indexed at a time.
_BATCH_ROWS: Final = 1 << 17


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
) -> Shard:
    """Index a shard that is there already, and open the result.

    Only the columns to be indexed are read. The new root refers to the stripes of the old one, so it must lie in the
    same folder, and the old files must stay.

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
    reader = ShardReader(shard, store) if isinstance(shard, str | os.PathLike) else shard._reader
    naming = _naming(reader, target)
    nodes = reader.schema.fields()
    with (
        located(url=target),
        Sealing(target_store, target, overwrite=overwrite, temp_folder=folder) as sealing,
        reporting(progress, reader.num_rows) as report,
    ):
        sinks = index_sinks(indexes, nodes, memory=size_of(memory_limit), temp_folder=folder, profile=profile)
        try:
            reader.require_rows()
            root = sealing.file(target)
            root.write(HEADER)
            space = ArtifactSpace(sealing, root, target[: target.rfind("/") + 1], None)
            every = tuple(nodes_below(nodes))
            stripes = []
            size = 0
            for stripe in reader.stripes:
                placed = referred_stripe(stripe, every, naming)
                for rows, fed in _feed(stripe, nodes, sinks):
                    size += fed
                    report(rows, size, 0)
                stripes.append(replace(placed, indexes=(*placed.indexes, *space.indexes(sinks.stripe))))
            kept = tuple(referred_index(each, reader, reader.index_anchor, naming) for each in reader.indexes)
            collection = IndexCollection((*kept, *space.indexes(sinks.shard)))
            urls = {url for each in kept for artifact in each.artifacts if (url := artifact.data.url)}
            schema, _ = reader.payload(reader.directory.schema, "Schema", reader.root)
            write_metadata(root, bytes(schema), len(every), stripes, reader.properties, collection, urls)
            root.write(FOOTER)
            root.close()
            sealing.publish()
        finally:
            sinks.close()
    return open_shard(to, store=store)


def _naming(reader: ShardReader, target: str) -> Naming:
    """What a root at `target` calls the files of the shard."""
    folder = target[: target.rfind("/") + 1]
    if reader.url == target:
        raise InvalidArgument("to: expected another place than the shard, whose stripes stay in use", url=target)

    def name(file: Artifact) -> str:
        if not file.url.startswith(folder):
            raise InvalidArgument("to: expected the folder of the shard, to which it refers", url=file.url)
        return file.url[len(folder) :]

    name(reader.root)
    return name


def _feed(stripe: StripeReader, nodes: Sequence[SchemaNode], sinks: Sinks) -> Iterator[tuple[int, int]]:
    """Show the stored values of a stripe to whoever wants them; rows of the shard so far, and bytes just read."""
    wanted = [(node, wanting) for node in nodes if (wanting := sinks.wanting(node.schema_id))]
    first = stripe.first_row
    for rows in Rows.all(stripe.origin).each_part(_BATCH_ROWS):
        size = 0
        for node, wanting in wanted:
            kind = stored_form(node)
            projection = project(node, kind)
            column = stripe.column(node).read(rows, projection)
            array = to_array(column, projection, kind)
            values = stored_array(array, node)
            size += array.nbytes
            for sink in wanting:
                sink.append(values, stripe.ordinal, first)
        first += rows.count
        yield first, size
