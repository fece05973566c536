"""Shards that the tasks of an engine write, and one commit that publishes them.

The driver makes a hidden folder for a job. Each attempt of a task writes a shard of its own into it. The commit ends
the job, so that attempts that are still running cannot succeed any more, publishes one new root that refers to the
shards of the attempts that won, and removes everything else. Rows appear together or not at all.

On a disk that all tasks see, a job ends when its folder is renamed: slower attempts have nowhere to write to. Object
stores rename nothing. There a job is over once its mark is removed: `amudai.api.job_mark` says how.
"""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa

from amudai.api import Shard, append_parts, begin_job, end_job, merge, new_shard_name, require_job, write
from amudai.api import open as open_shard
from amudai.datasets import SHARD_SUFFIX, find_shards
from amudai.errors import AmudaiError, ExistingFile, MissingFile, StorageError, UnsupportedFeature
from amudai.storage import container, file_url, open_store, remove_files

__all__ = ["StagedParts", "staged_parts"]

_STAGING: Final = ".staging"
_MARK: Final = "_job"


def staged_parts(path: str, *, overwrite: bool, **options: Any) -> StagedParts:
    """The shards of a new job.

    Parameters
    ----------
    path
        The folder that gets one more shard, or the shard that gets more rows: a path on a disk that all tasks see, or a
        URL in an object store.
    overwrite
        Whether the rows take the place of those that are there.
    options
        Options of `amudai.write`.
    """
    if "://" in path and not path.startswith("file://"):
        return _StagedObjects(path, overwrite, options)
    return _StagedFiles(os.path.abspath(path.removeprefix("file://")), overwrite, options)


class StagedParts(ABC):
    """The shards of one job. It pickles, so that tasks write by it.

    Parameters
    ----------
    target, overwrite, options
        As for `staged_parts`.
    """

    def __init__(self, target: str, overwrite: bool, options: dict[str, Any]) -> None:
        self._target = target
        self._overwrite = overwrite
        self._options = options
        is_shard = target.endswith(SHARD_SUFFIX)
        self._folder = container(target) if is_shard else f"{target.rstrip('/')}/"
        name = target[len(self._folder) :].removesuffix(SHARD_SUFFIX) if is_shard else "parts"
        # Hidden from datasets of the folder, and below it, so that references stay relative.
        self._job = f"{self._folder}_{name}-{uuid4().hex}"

    @abstractmethod
    def begin(self) -> None:
        """Make the folder of the job. The driver does: an attempt that begins after the commit must not."""

    def write(self, batches: Iterable[pa.RecordBatch]) -> str | None:
        """Write the rows of one attempt of one task. Returns the name of the shard, None if there are no rows."""
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return None

        def rows() -> Iterator[pa.RecordBatch]:
            yield first
            yield from filled

        self._require_begun()
        name = f"{uuid4().hex}{SHARD_SUFFIX}"
        written = write(pa.RecordBatchReader.from_batches(first.schema, rows()), self._staged(name), **self._options)
        self._check_written(written)
        return name

    def commit(self, names: Iterable[str | None], schema: pa.Schema | None) -> None:
        """Publish these shards as one, and remove the others. `schema` is that of a shard without rows."""
        folder = self._ended()
        chosen = [name for name in names if name is not None]
        try:
            if not chosen:
                chosen = [f"{uuid4().hex}{SHARD_SUFFIX}"]
                write((schema or pa.schema([])).empty_table(), f"{folder}{chosen[0]}", **self._options)
            replaced = self._replaced() if self._overwrite else []
            earlier = _job_files(replaced, self._folder)
            published = self._published([f"{folder}{name}" for name in chosen])
        except BaseException:
            # The new root may be in place although something failed afterwards. Then it needs its parts.
            _remove_unused(_files_in(folder), self._folder)
            raise
        for url in replaced:
            if url != published.url:
                open_store(url)[0].remove(url)
        _remove_unused(earlier, self._folder)
        # Parts of lost attempts, and parts whose stripes have no values to refer to, because all rows have the same.
        self._clear(folder, {file.url for file in published.files})

    @abstractmethod
    def abort(self) -> None:
        """Remove everything that the job staged."""

    @abstractmethod
    def _staged(self, name: str) -> str:
        """Where the shard of an attempt goes."""

    @abstractmethod
    def _require_begun(self) -> None:
        """Raise an error if the job is over."""

    @abstractmethod
    def _check_written(self, shard: Shard) -> None:
        """Remove a shard that was written after the job was over, and raise an error."""

    @abstractmethod
    def _ended(self) -> str:
        """End the job, and return the folder of its shards, with a slash at its end."""

    @abstractmethod
    def _clear(self, folder: str, used: set[str]) -> None:
        """Remove all files of the folder but for those with the URLs `used`, and the folder itself if it is empty."""

    def _replaced(self) -> list[str]:
        """The URLs of the roots whose rows the new ones replace."""
        with suppress(MissingFile):
            if self._target.endswith(SHARD_SUFFIX):
                store, url = open_store(self._target)
                store.size(url)
                return [url]
            return [shard.url for shard in find_shards(self._folder).shards]
        return []

    def _published(self, parts: list[str]) -> Shard:
        """A root that refers to the stripes of all parts, and to those of the shard that they are added to."""
        if not self._target.endswith(SHARD_SUFFIX):
            return merge(parts, to=f"{self._folder}{new_shard_name()}", indexes="keep")
        try:
            return merge(parts, to=self._target, overwrite=self._overwrite, indexes="keep")
        except ExistingFile:
            return append_parts(self._target, parts)


class _StagedFiles(StagedParts):
    """The shards of a job on a disk that all tasks see."""

    def begin(self) -> None:
        os.makedirs(self._job + _STAGING)

    def abort(self) -> None:
        shutil.rmtree(self._job + _STAGING, ignore_errors=True)

    def _staged(self, name: str) -> str:
        return f"{self._job}{_STAGING}/{name}"

    def _require_begun(self) -> None:
        if not os.path.isdir(self._job + _STAGING):
            raise StorageError("write: expected the folder of a job that is not over, found none", url=self._job)

    def _check_written(self, shard: Shard) -> None:
        """There was a folder to write to, so the job is not over, or its commit removes the shard."""

    def _ended(self) -> str:
        os.rename(self._job + _STAGING, self._job)
        return f"{self._job}/"

    def _clear(self, folder: str, used: set[str]) -> None:
        for name in os.listdir(folder):
            if file_url(f"{folder}{name}") not in used:
                os.unlink(f"{folder}{name}")
        _remove_empty([folder])


class _StagedObjects(StagedParts):
    """The shards of a job in an object store. Each process opens the store anew, with its own credentials."""

    def __init__(self, target: str, overwrite: bool, options: dict[str, Any]) -> None:
        super().__init__(target, overwrite, options)
        capabilities = open_store(self._mark)[0].capabilities
        if not (capabilities.create_only and capabilities.listable and capabilities.removes):
            message = "path: expected a store that creates, lists and removes files, found one that does not"
            raise UnsupportedFeature(message, url=target)

    @property
    def _mark(self) -> str:
        return f"{self._job}/{_MARK}"

    def begin(self) -> None:
        begin_job(self._mark)

    def abort(self) -> None:
        self._clear(self._ended(), set())

    def _staged(self, name: str) -> str:
        return f"{self._job}/{name}"

    def _require_begun(self) -> None:
        require_job(self._mark)

    def _check_written(self, shard: Shard) -> None:
        require_job(self._mark, [file.url for file in shard.files])

    def _ended(self) -> str:
        end_job(self._mark)
        return f"{self._job}/"

    def _clear(self, folder: str, used: set[str]) -> None:
        store = open_store(f"{folder}x")[0]
        remove_files(store, [file.url for file in store.files_below(folder) if file.url not in used])


def _remove_empty(folders: Iterable[str]) -> None:
    for folder in folders:
        with suppress(OSError):
            os.rmdir(folder)


def _files_in(folder: str) -> set[str]:
    store, url = open_store(f"{folder}_")
    return {file.url for file in store.files_below(container(url))}


def _job_files(roots: Sequence[str], folder: str) -> set[str]:
    """The URLs of the files in hidden folders of earlier jobs that these shards refer to."""
    start = open_store(f"{folder}_")[1]
    return {file.url for root in roots for file in open_shard(root).files if file.url.startswith(start)}


def _remove_unused(files: set[str], folder: str) -> None:
    """Remove files of jobs that no shard of the folder refers to, and their folders once they are empty.

    If a shard cannot be read, nobody knows what it refers to, and all files stay.
    """
    with suppress(AmudaiError):
        found = find_shards(folder) if files else None
        if found is not None:
            unused = files - _job_files([shard.url for shard in found.shards], folder)
            remove_files(found.store, unused)
            if found.store.capabilities.local_path:
                _remove_empty({os.path.dirname(found.store.local_path(url)) for url in unused})
