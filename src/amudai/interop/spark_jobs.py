"""Jobs of Spark that make one shard of many: compaction, and indexes for shards that have none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from amudai.api import PartWork, Shard, Where, add_indexes, compact, merge, merged_parts, split_evenly
from amudai.datasets import Locations, find_shards
from amudai.errors import InvalidArgument
from amudai.index import IndexSpec
from amudai.interop.packages import required
from amudai.storage import Allow

__all__ = ["spark_compact", "spark_index"]


def spark_compact(
    spark: Any,
    shards: Locations,
    to: str | os.PathLike[str],
    *,
    where: Where | None = None,
    indexes: Sequence[IndexSpec] | None = None,
    profile: str = "balanced",
    widen: bool = False,
    tasks: int | None = None,
    overwrite: bool = False,
    allow: Allow = (),
) -> Shard:
    """Write the rows of many shards anew as one shard, by tasks of Spark, and open it.

    Each task writes neighbouring shards as a part, without deleted rows and with their indexes. The driver merges the
    parts by reference, and their indexes into one. The new shard refers to the parts, which are in a folder beside it
    whose name begins with `_`. All executors must see the same files.

    Parameters
    ----------
    shards
        A folder of shards, or a list of them.
    to
        Where the new shard goes.
    where, indexes, profile, widen, overwrite, allow
        As for `amudai.compact`.
    tasks
        How many parts; None for twice Spark's default parallelism.
    """
    run = _SparkTasks(spark)
    options = {"where": where, "indexes": indexes, "profile": profile, "widen": widen, "allow": allow, "threads": 1}
    groups = run.groups(_urls(shards), tasks)
    return merged_parts(
        groups, to, compact, options, run, in_folder=True, overwrite=overwrite, widen=widen, allow=allow
    )


def spark_index(
    spark: Any,
    shards: Locations,
    indexes: Sequence[IndexSpec],
    to: str | os.PathLike[str],
    *,
    tasks: int | None = None,
    overwrite: bool = False,
    allow: Allow = (),
) -> Shard:
    """Index many shards by tasks of Spark, merge them into one shard with one index, and open it.

    Each task reads the columns to be indexed of neighbouring shards. The new shard refers to the stripes of all shards,
    so their files must stay. It must be in the folder of the shards or above it, unless `allow` permits other places.

    Parameters
    ----------
    shards
        A folder of shards, or a list of them.
    indexes
        `TermIndex` and `HashIndex`, as `amudai.write` takes them.
    to
        Where the new shard goes.
    tasks
        How many parts; None for twice Spark's default parallelism.
    overwrite, allow
        As for `amudai.add_indexes`.
    """
    run = _SparkTasks(spark)
    groups = run.groups(_urls(shards), tasks)
    options = {"indexes": list(indexes), "allow": allow}
    return merged_parts(groups, to, _indexed, options, run, in_folder=False, overwrite=overwrite, allow=allow)


def _indexed(shards: Sequence[str], to: str, indexes: Sequence[IndexSpec], allow: Allow) -> None:
    """Index neighbouring shards as one. Their root without the index stays as long as the new shard refers to it."""
    united = shards[0]
    if len(shards) > 1:
        united = f"{to}.united"
        merge(shards, to=united, allow=allow)
    add_indexes(united, indexes, to, allow=allow)


def _urls(shards: Locations) -> list[str]:
    found = find_shards(shards).shards
    if not found:
        raise InvalidArgument("shards: expected at least one, found none")
    return [shard.url for shard in found]


class _SparkTasks:
    """Does the parts as tasks of Spark, one for each group of shards."""

    def __init__(self, spark: Any) -> None:
        required("pyspark", "spark")
        self._context = spark.sparkContext

    def groups(self, urls: Sequence[str], tasks: int | None) -> list[list[str]]:
        """The shards of each task."""
        return split_evenly(urls, tasks or 2 * self._context.defaultParallelism)

    def __call__(self, work: PartWork, groups: Sequence[Sequence[str]]) -> list[str]:
        found: list[str] = self._context.parallelize(groups, len(groups)).map(work).collect()
        return found
