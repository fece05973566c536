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
from typing import Any, Final, TypeAlias
from uuid import uuid4

from amudai.api.editing import reader_of
from amudai.api.job_mark import begin_job, end_job, require_job
from amudai.api.merging import merge
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.arguments import flag
from amudai.datasets import SHARD_SUFFIX
from amudai.errors import AmudaiError, ExistingFile, MissingFile
from amudai.storage import Allow, Size, container, file_url, open_store, remove_files

__all__ = ["PartWork", "RunParts", "merged_parts", "run_in_processes", "split_evenly"]


@dataclass(frozen=True)
class PartWork:
    """Makes a shard of some of the shards. It pickles, and other processes call it.

    Attributes
    ----------
    make
        A function of this library, called with the shards, the path of the result, and `options`.
    prefix
        How the paths of the results begin.
    mark
        The mark of the job, by which work that is no longer wanted is recognised; None if there is none.
    """

    make: Callable[..., object]
    prefix: str
    options: Mapping[str, Any]
    mark: str | None = None

    def __call__(self, shards: Sequence[str]) -> str:
        """The path of the new shard. Each call makes another one, so that a part can be done twice."""
        path = f"{self.prefix}{uuid4().hex}{SHARD_SUFFIX}"
        self.make(list(shards), path, **self.options)
        if self.mark is not None:
            made = Shard(reader_of(path, None, self.options.get("allow", ())))
            require_job(self.mark, [file.url for file in made.files if file.url.startswith(self.prefix)])
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
    place = _parts_place(to, in_folder=in_folder, overwrite=overwrite)
    done = place.staging
    try:
        made: list[str] = []
        rows = 0
        with reporting(progress) as report:
            for path in run(PartWork(make, place.staging, options, place.mark), groups):
                made.append(path)
                rows += reader_of(path, None, allow).num_rows
                report(rows, 0, 0)
        done = place.end()
        made = [done + path.removeprefix(place.staging) for path in made]
        merged = merge(made, to=to, widen=widen, overwrite=overwrite, memory_limit=memory_limit, allow=allow)
        place.clear(done, {file.url for file in merged.files})
    except BaseException:
        # The new root may be in place although something failed afterwards. If nobody knows, the parts stay.
        with suppress(AmudaiError):
            place.clear(done, _files_of(to, allow))
        raise
    return merged


def _files_of(path: str | os.PathLike[str], allow: Allow) -> set[str]:
    """The files that a shard needs, if there is one."""
    try:
        return {file.url for file in Shard(reader_of(path, None, allow)).files}
    except MissingFile:
        return set()


def _parts_place(to: str | os.PathLike[str], *, in_folder: bool, overwrite: bool) -> _FilesPlace | _ObjectsPlace:
    store, url = open_store(to)
    is_local = store.capabilities.local_path
    target = store.local_path(url, new=True) if is_local else url
    if not flag(overwrite, "overwrite"):
        with suppress(MissingFile):
            store.size(url)
            raise ExistingFile("to: expected a new file, found one", url=url)
    folder = container(target)
    job = f"{folder}_{target[len(folder) :].removesuffix(SHARD_SUFFIX)}-{uuid4().hex}"
    if is_local:
        return _FilesPlace(job, in_folder=in_folder)
    return _ObjectsPlace(f"{job}/" if in_folder else f"{job}.")


class _FilesPlace:
    """Where parts are on a disk that all processes see."""

    mark: Final = None

    def __init__(self, job: str, *, in_folder: bool) -> None:
        self._job = job
        self._in_folder = in_folder
        self.staging = f"{job}.staging/" if in_folder else f"{job}."
        os.makedirs(os.path.dirname(self.staging), exist_ok=True)

    def end(self) -> str:
        """How the paths of parts begin from now on. Who still works on a part has nowhere to write to any more."""
        if not self._in_folder:
            return self.staging
        os.rename(self.staging, f"{self._job}/")
        return f"{self._job}/"

    def clear(self, prefix: str, used: set[str]) -> None:
        """Remove all parts but for those with the URLs `used`."""
        folder = os.path.dirname(prefix)
        paths = [path for name in os.listdir(folder) if (path := os.path.join(folder, name)).startswith(prefix)]
        for path in paths:
            if file_url(path) not in used:
                os.unlink(path)
        if self._in_folder and not os.listdir(folder):
            os.rmdir(folder)


class _ObjectsPlace:
    """Where parts are in an object store, which renames nothing: a mark says that they are still wanted."""

    def __init__(self, staging: str) -> None:
        self.staging = staging
        self.mark = f"{staging}_job"
        self._store = open_store(self.mark)[0]
        begin_job(self.mark)

    def end(self) -> str:
        """How the URLs of parts begin. Who still works on a part removes it."""
        end_job(self.mark)
        return self.staging

    def clear(self, prefix: str, used: set[str]) -> None:
        """Remove all parts but for those with the URLs `used`."""
        end_job(self.mark)
        files = self._store.files_below(container(prefix), deep=False)
        found = [file.url for file in files if file.url.startswith(prefix)]
        remove_files(self._store, [url for url in found if url not in used])


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
