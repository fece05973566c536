"""Shards that the tasks of an engine write, and one commit that publishes them.

The driver makes a hidden folder for a job. Each attempt of a task writes a shard of its own into it. The commit renames
the folder, so that attempts that are still running have nowhere to write to, removes the shards of attempts that lost,
and publishes one new root that refers to the others. Rows appear together or not at all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa

from amudai.api import merge, new_shard_name, write
from amudai.api import open as open_shard
from amudai.datasets import SHARD_SUFFIX, find_shards
from amudai.errors import AmudaiError, MissingFile, StorageError, UnsupportedFeature
from amudai.storage import file_url, remove_files

__all__ = ["StagedParts"]

_STAGING: Final = ".staging"


class StagedParts:
    """The shards of one job. It pickles, so that tasks write by it.

    Parameters
    ----------
    path
        The folder that gets one more shard, or the shard that gets more rows, on a disk that all tasks see.
    overwrite
        Whether the rows take the place of those that are there.
    options
        Options of `amudai.write`.
    """

    def __init__(self, path: str, *, overwrite: bool, **options: Any) -> None:
        self._target = _local_path(path)
        self._overwrite = overwrite
        self._options = options
        is_shard = self._target.endswith(SHARD_SUFFIX)
        self._folder, name = os.path.split(self._target) if is_shard else (self._target, "")
        # Hidden from datasets of the folder, and below it, so that references stay relative.
        self._parts = os.path.join(self._folder, f"_{name.removesuffix(SHARD_SUFFIX) or 'parts'}-{uuid4().hex}")
        self._staging = self._parts + _STAGING

    def begin(self) -> None:
        """Make the folder of the job. The driver does: an attempt that begins after the commit must not."""
        os.makedirs(self._staging)

    def write(self, batches: Iterable[pa.RecordBatch]) -> str | None:
        """Write the rows of one attempt of one task. Returns the name of the shard, None if there are no rows."""
        filled = (batch for batch in batches if batch.num_rows)
        first = next(filled, None)
        if first is None:
            return None

        def rows() -> Iterator[pa.RecordBatch]:
            yield first
            yield from filled

        if not os.path.isdir(self._staging):
            raise StorageError("write: expected the folder of a job that is not over, found none", url=self._staging)
        name = f"{uuid4().hex}{SHARD_SUFFIX}"
        reader = pa.RecordBatchReader.from_batches(first.schema, rows())
        write(reader, os.path.join(self._staging, name), **self._options)
        return name

    def commit(self, names: Iterable[str | None], schema: pa.Schema | None) -> None:
        """Publish these shards as one, and remove the others. `schema` is that of a shard without rows."""
        os.rename(self._staging, self._parts)
        chosen = [name for name in names if name is not None]
        try:
            for name in set(os.listdir(self._parts)) - set(chosen):
                os.unlink(os.path.join(self._parts, name))
            if not chosen:
                chosen = [f"{uuid4().hex}{SHARD_SUFFIX}"]
                write((schema or pa.schema([])).empty_table(), os.path.join(self._parts, *chosen), **self._options)
            parts = [os.path.join(self._parts, name) for name in chosen]
            if self._target.endswith(SHARD_SUFFIX):
                self._publish_root(parts)
            else:
                self._publish_in_folder(parts)
        except BaseException:
            shutil.rmtree(self._parts, ignore_errors=True)
            raise

    def _publish_root(self, parts: list[str]) -> None:
        if not os.path.exists(self._target):
            _merged(parts, self._target)
        elif self._overwrite:
            replaced = _job_files([self._target], self._folder)
            _merged(parts, self._target, overwrite=True)
            _remove_unused(replaced, self._folder)
        else:
            kept = os.path.join(self._folder, f"_{os.path.basename(self._target)}.{new_shard_name()}")
            os.link(self._target, kept)
            try:
                _merged([kept, *parts], self._target, overwrite=True)
            except BaseException:
                os.unlink(kept)
                raise

    def _publish_in_folder(self, parts: list[str]) -> None:
        old: list[str] = []
        with suppress(MissingFile):
            old = [shard.name for shard in find_shards(f"{self._folder}/").shards] if self._overwrite else []
        roots = [os.path.join(self._folder, name) for name in old]
        replaced = _job_files(roots, self._folder)
        _merged(parts, os.path.join(self._folder, new_shard_name()))
        for root in roots:
            os.unlink(root)
        _remove_unused(replaced, self._folder)

    def abort(self) -> None:
        """Remove everything that the job staged."""
        shutil.rmtree(self._staging, ignore_errors=True)


def _local_path(path: str) -> str:
    text = path.removeprefix("file://")
    if "://" in text:
        raise UnsupportedFeature(f"path: expected a folder that all tasks see, found {path}")
    return os.path.abspath(text)


def _merged(parts: Sequence[str], to: str, *, overwrite: bool = False) -> None:
    """Publish a root that refers to the stripes of `parts`, and remove parts that it does not refer to.

    The stripes of a part may be in other files, or have no values to refer to, because all rows have the same.
    """
    used = {file.url for file in merge(parts, to=to, overwrite=overwrite, indexes="keep").files}
    for part in parts:
        if file_url(part) not in used:
            os.unlink(part)
    _remove_empty({os.path.dirname(part) for part in parts})


def _remove_empty(folders: Iterable[str]) -> None:
    for folder in folders:
        with suppress(OSError):
            os.rmdir(folder)


def _job_files(roots: Iterable[str], folder: str) -> set[str]:
    """The URLs of the files in hidden folders of earlier jobs that these shards refer to."""
    start = file_url(os.path.join(folder, "_"))
    return {file.url for root in roots for file in open_shard(root).files if file.url.startswith(start)}


def _remove_unused(replaced: set[str], folder: str) -> None:
    """Remove files of earlier jobs that no shard of the folder refers to, and their folders once they are empty.

    If a shard cannot be read, nobody knows what it refers to, and all files stay.
    """
    with suppress(AmudaiError):
        found = find_shards(f"{folder}/") if replaced else None
        if found is not None:
            unused = replaced - _job_files((shard.url for shard in found.shards), folder)
            remove_files(found.store, unused)
            _remove_empty({os.path.dirname(found.store.local_path(url)) for url in unused})
