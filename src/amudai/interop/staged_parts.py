"""Shards that the tasks of an engine write, and one commit that publishes them.

The driver makes a hidden place for a job. Each attempt of a task writes a shard of its own into it. The commit ends
the job, so that attempts that are still running cannot succeed any more, publishes one new root that refers to the
shards of the attempts that won, and removes everything else. Rows appear together or not at all.
`amudai.api.job_place` says how a job ends on a disk and in an object store.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pyarrow as pa

from amudai.api import Outcome, Shard, append_parts, merged, new_job_place, new_shard_name, write
from amudai.api import open as open_shard
from amudai.arrow import without_rows
from amudai.datasets import SHARD_SUFFIX, find_shards
from amudai.errors import AmudaiError, ExistingFile, MissingFile, StorageError
from amudai.storage import container, open_store, remove_files

__all__ = ["StagedParts"]


class StagedParts:
    """The shards of a new job. It pickles, so that tasks write by it.

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

    def __init__(self, path: str, *, overwrite: bool, **options: Any) -> None:
        is_url = "://" in path and not path.startswith("file://")
        self._target = path if is_url else os.path.abspath(path.removeprefix("file://"))
        self._overwrite = overwrite
        self._options = options
        is_shard = self._target.endswith(SHARD_SUFFIX)
        self._folder = container(self._target) if is_shard else f"{self._target.rstrip('/')}/"
        name = self._target[len(self._folder) :].removesuffix(SHARD_SUFFIX) if is_shard else "parts"
        # Hidden from datasets of the folder, and below it, so that references stay relative.
        self._place = new_job_place(f"{self._folder}_{name}-{uuid4().hex}")

    def begin(self) -> None:
        """Begin the job. The driver does: an attempt that begins after the commit must fail."""
        self._place.begin()

    def write(self, batches: Iterable[pa.RecordBatch]) -> str | None:
        """Write the rows of one attempt of one task. Returns the name of the shard, None if there are no rows."""
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return None

        def rows() -> Iterator[pa.RecordBatch]:
            yield first
            yield from filled

        self._place.require_begun()
        name = f"{uuid4().hex}{SHARD_SUFFIX}"
        path = f"{self._place.staging}{name}"
        write(pa.RecordBatchReader.from_batches(first.schema, rows()), path, **self._options)
        self._place.check(path)
        return name

    def commit(self, names: Iterable[str | None], schema: pa.Schema | None) -> None:
        """Publish these shards as one, and remove the others. `schema` is that of a shard without rows."""
        outcome = Outcome()
        # That removes parts of lost attempts, and parts whose rows all have the same values, which the root has itself.
        with self._place.cleared(outcome):
            self._place.end()
            chosen = [f"{self._place.prefix}{name}" for name in names if name is not None]
            if not chosen:
                chosen = [f"{self._place.prefix}{uuid4().hex}{SHARD_SUFFIX}"]
                write(without_rows(schema or pa.schema([])), chosen[0], **self._options)
            replaced = self._replaced() if self._overwrite else []
            earlier = _job_files(replaced, self._folder)
            published = self._published(chosen, outcome)
        for url in replaced:
            if url != published.url:
                open_store(url)[0].remove(url)
        _remove_unused(earlier, self._folder)

    def abort(self) -> None:
        """Remove everything that the job staged. After a commit, even one that failed, there is nothing to remove."""
        with suppress(StorageError):
            # A commit ends the job first. Engines abort after a commit that failed, but its root may be in place.
            self._place.require_begun()
            self._place.end()
            self._place.clear(())

    def _replaced(self) -> list[str]:
        """The URLs of the roots whose rows the new ones replace."""
        with suppress(MissingFile):
            if self._target.endswith(SHARD_SUFFIX):
                store, url = open_store(self._target)
                store.size(url)
                return [url]
            return [shard.url for shard in find_shards(self._folder).shards]
        return []

    def _published(self, parts: list[str], outcome: Outcome) -> Shard:
        """A root that refers to the stripes of all parts, and to those of the shard that they are added to."""
        if not self._target.endswith(SHARD_SUFFIX):
            return merged(parts, f"{self._folder}{new_shard_name()}", indexes="keep", outcome=outcome)
        try:
            return merged(parts, self._target, overwrite=self._overwrite, indexes="keep", outcome=outcome)
        except ExistingFile:
            if outcome.uses(open_store(part)[1] for part in parts):
                return open_shard(self._target)  # ours: an answer of the store was lost
            return append_parts(self._target, parts, outcome)


def _remove_empty(folders: Iterable[str]) -> None:
    for folder in folders:
        with suppress(OSError):
            os.rmdir(folder)


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
