"""Comparing an index with the values of its shard: it is built again, and both must say the same."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Final

from amudai.edit import stored_batches
from amudai.errors import located
from amudai.format import FOOTER, HEADER, IndexDescriptor, MovedIndex
from amudai.index.build import paths_for
from amudai.index.catalog import index_type
from amudai.index.contract import BuildPlan
from amudai.shard import ArtifactSpace, ShardReader, StripeReader
from amudai.storage import Artifact, LocalStore, Sealing, container, file_url

__all__ = ["check_index"]

_MEMORY: Final = 256 * 1000 * 1000  # of the builder


def check_index(
    descriptor: IndexDescriptor, shard: ShardReader, anchor: Artifact, stripes: Sequence[StripeReader]
) -> bool:
    """Raise CorruptedData if an index differs from the values of the stripes that it covers.

    Returns whether it was compared: False for an index that this version cannot build, or that does not say that it is
    complete.
    """
    kind = index_type(descriptor.index_type)
    if kind is None or kind.spec is None or kind.build is None or kind.check is None:
        return False
    with located(url=shard.url, index=descriptor.index_type):
        spec = kind.spec(descriptor, shard)
        if spec is None:
            return False
        nodes = tuple(node for node in shard.schema.fields() if not node.internal)
        paths = paths_for(spec, kind, nodes)
        if kind.paths_when_built is not None:
            paths = kind.paths_when_built(descriptor, paths)
        moved = MovedIndex.of(descriptor)
        first_row, first_stripe = (0, 0) if moved is None else (moved.first_row, moved.first_stripe)
        end = shard.num_positions if moved is None or moved.rows is None else moved.first_row + moved.rows
        with tempfile.TemporaryDirectory() as folder:
            store, url = LocalStore(), file_url(f"{folder}/rebuilt.amudai.shard")
            sink = kind.build(spec, BuildPlan(paths, _MEMORY, folder, "balanced"))
            covered = [stripe for stripe in stripes if first_row <= stripe.first_row < end]
            try:
                wanted = [node for node in nodes if node.schema_id in sink.fields]
                for stripe in covered:
                    at = stripe.first_row
                    for rows, columns in stored_batches(stripe, wanted):
                        for values in columns:
                            sink.append(values, stripe.ordinal - first_stripe, at - first_row)
                        at += rows.count
                with Sealing(store, url, overwrite=False, temp_folder=folder) as sealing, sealing.file(url) as root:
                    root.write(HEADER)
                    space = ArtifactSpace(sealing, root, container(url), None)
                    (rebuilt,) = space.indexes((sink,)).descriptors
                    root.write(FOOTER)
                    root.close()
                    sealing.publish()
            finally:
                sink.close()
            first = covered[0].ordinal if covered else 0
            return kind.check(descriptor, rebuilt, shard, anchor, Artifact.open(store, url), first)
