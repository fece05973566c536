"""One shard out of many, by work on parts that several processes do, and one merge at the end.

The processes can be those of this machine or of a cluster. Each part becomes a shard with a hidden name beside the
result, which refers to it. A part may be done twice, because a process was lost or slow: the result has one of them,
and the other is removed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing import get_context
from typing import Any, TypeAlias
from uuid import uuid4

from amudai.api.editing import reader_of
from amudai.api.job_place import JobPlace, new_job_place
from amudai.api.merging import merged
from amudai.api.outcome import Outcome
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.arguments import flag
from amudai.datasets import SHARD_SUFFIX
from amudai.errors import ExistingFile, MissingFile
from amudai.storage import Allow, Size, container, open_store

__all__ = ["PartWork", "RunParts", "merged_parts", "run_in_processes", "split_evenly"]


@dataclass(frozen=True)
class PartWork:
    """Makes a shard of some of the shards. It pickles, and other processes call it.

    Attributes
    ----------
    make
        A function of this library, called with the shards, the path of the result, and `options`.
    place
        Where the results go.
    """

    make: Callable[..., object]
    place: JobPlace
    options: Mapping[str, Any]

    def __call__(self, shards: Sequence[str]) -> str:
        """The path of the new shard. Each call makes another one, so that a part can be done twice."""
        self.place.require_begun()
        path = f"{self.place.staging}{uuid4().hex}{SHARD_SUFFIX}"
        self.make(list(shards), path, **self.options)
        self.place.check(path)
        return path


# Does the work for each group of shards, anywhere, and returns the paths of the results in the order of the groups.
RunParts: TypeAlias = Callable[[PartWork, Sequence[Sequence[str]]], Iterable[str]]


def merged_parts(
    groups: Sequence[Sequence[str]],
    to: str | os.PathLike[str],
    make: Callable[..., object],
    options: Mapping[str, Any],
    run: RunParts,
    *,
    in_folder: bool,
    overwrite: bool = False,
    widen: bool = False,
    memory_limit: Size = "512MB",
    progress: bool | Report | None = None,
    allow: Allow = (),
) -> Shard:
    """Make a shard of each group of shards, merge them by reference, and open the result.

    If a part fails, nothing is left behind.

    Parameters
    ----------
    in_folder
        Whether the parts have a folder of their own. Parts that refer to other shards in the folder of `to` must be in
        that folder themselves.
    """
    place = _new_place(to, in_folder=in_folder, overwrite=overwrite)
    outcome = Outcome()
    with place.cleared(outcome):
        place.begin()
        made: list[str] = []
        rows = 0
        with reporting(progress) as report:
            for path in run(PartWork(make, place, options), groups):
                made.append(path)
                rows += reader_of(path, None, allow).num_rows
                report(rows, 0, 0)
        place.end()
        made = [place.prefix + path.removeprefix(place.staging) for path in made]
        return merged(
            made, to, widen=widen, overwrite=overwrite, memory_limit=memory_limit, allow=allow, outcome=outcome
        )


def _new_place(to: str | os.PathLike[str], *, in_folder: bool, overwrite: bool) -> JobPlace:
    store, url = open_store(to)
    target = store.local_path(url, new=True) if store.capabilities.local_path else url
    if not flag(overwrite, "overwrite"):
        with suppress(MissingFile):
            store.size(url)
            raise ExistingFile("to: expected a new file, found one", url=url)
    folder = container(target)
    name = target[len(folder) :].removesuffix(SHARD_SUFFIX)
    return new_job_place(f"{folder}_{name}-{uuid4().hex}", in_folder=in_folder)


def split_evenly(shards: Sequence[str], count: int) -> list[list[str]]:
    """At most `count` groups of neighbours, of about the same size.

    >>> split_evenly(["a", "b", "c", "d", "e"], 2)
    [['a', 'b', 'c'], ['d', 'e']]
    """
    count = max(1, min(count, len(shards)))
    edges = [-(-len(shards) * number // count) for number in range(count + 1)]
    return [list(shards[start:end]) for start, end in pairwise(edges)]


def run_in_processes(processes: int) -> RunParts:
    """Runs parts in new processes of this machine."""

    def run(work: PartWork, groups: Sequence[Sequence[str]]) -> Iterator[str]:
        with ProcessPoolExecutor(min(processes, len(groups)), mp_context=get_context("spawn")) as pool:
            yield from pool.map(work, groups)

    return run
