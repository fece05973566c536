"""Where the parts of a job go, which several processes write, and how the job ends for all of them.

A part may be written twice, because a process was lost or slow. Once the job is over, no part is added any more, and
the driver removes the parts that the new root does not refer to.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from amudai.api.outcome import Outcome
from amudai.datasets import SHARD_SUFFIX
from amudai.edit import urls_of
from amudai.errors import AmudaiError, MissingFile, StorageError, UnsupportedFeature
from amudai.shard import ShardReader
from amudai.storage import Store, container, file_url, open_store, remove_files

__all__ = ["JobPlace", "new_job_place"]

_STAGING: Final = ".staging"
_MARK: Final = "_job"


def new_job_place(job: str, *, in_folder: bool = True) -> JobPlace:
    """The place of a new job.

    Parameters
    ----------
    job
        A path on a disk that all processes see, or a URL in an object store, with a name that nothing else has.
    in_folder
        Whether the parts have a folder of this name. Otherwise their names begin with it.
    """
    store = open_store(job)[0]
    capabilities = store.capabilities
    if in_folder and capabilities.local_path:
        return _OwnFolder(f"{job}/")
    if not (capabilities.create_only and capabilities.listable and capabilities.removes):
        message = "path: expected a store that creates, lists and removes files, found one that does not"
        raise UnsupportedFeature(message, url=job)
    return _MarkedNames(f"{job}/" if in_folder else f"{job}.")


class JobPlace(ABC):
    """Where the parts of a job go. It pickles.

    Attributes
    ----------
    prefix
        How the paths of parts begin once the job is over.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    @property
    @abstractmethod
    def staging(self) -> str:
        """How the paths of parts begin while the job is not over."""

    @abstractmethod
    def begin(self) -> None:
        """Let processes write parts. The driver calls this: a part that is begun after the end must fail."""

    @abstractmethod
    def require_begun(self) -> None:
        """Raise a StorageError if the job is over."""

    @abstractmethod
    def check(self, part: str) -> None:
        """Raise a StorageError if the job was over before a part was complete, and remove the files of the part."""

    @abstractmethod
    def end(self) -> None:
        """End the job: parts that are not complete yet cannot be completed, or are removed by their writers."""

    @abstractmethod
    def clear(self, used: Collection[str]) -> None:
        """Remove all files of a job that is over, but for those with the URLs `used`."""

    @contextmanager
    def cleared(self, outcome: Outcome) -> Iterator[None]:
        """However the block ends, the job is over then, and no files are left but those that the new root refers to."""
        with outcome.clearing(self.clear):
            try:
                yield
            finally:
                with suppress(OSError):  # the block has ended the job, or the error that ends the block says more
                    self.end()


class _OwnFolder(JobPlace):
    """A folder on a disk. The job ends when the folder is renamed: who still writes a part has nowhere to write to."""

    @property
    def staging(self) -> str:
        return f"{self.prefix[:-1]}{_STAGING}/"

    def begin(self) -> None:
        os.makedirs(self.staging)

    def require_begun(self) -> None:
        if not os.path.isdir(self.staging):
            raise _is_over(self.prefix)

    def check(self, part: str) -> None:
        """There was a folder to write to, so the job was not over, or its driver removes the part."""

    def end(self) -> None:
        self.require_begun()
        os.rename(self.staging, self.prefix)

    def clear(self, used: Collection[str]) -> None:
        for folder in (self.staging, self.prefix):
            with suppress(OSError):
                for name in os.listdir(folder):
                    if file_url(f"{folder}{name}") not in used:
                        os.unlink(f"{folder}{name}")
                os.rmdir(folder)  # unless files are left


class _MarkedNames(JobPlace):
    """Names with a common beginning, in a store that renames nothing, or in a folder that has other files.

    The job begins with a small file, its mark, and is over once the mark is removed. The driver removes the mark before
    it lists the parts. Who writes a part looks for the mark after that: a part is listed by the driver or removed by
    its writer.
    """

    @property
    def staging(self) -> str:
        return self.prefix

    def begin(self) -> None:
        store, mark = self._mark()
        if store.capabilities.local_path:
            os.makedirs(os.path.dirname(store.local_path(mark, new=True)), exist_ok=True)
        store.put_if_absent(mark, [b"This job is not over."])

    def require_begun(self) -> None:
        store, mark = self._mark()
        try:
            store.size(mark)
        except MissingFile:
            raise _is_over(self.prefix) from None

    def check(self, part: str) -> None:
        try:
            self.require_begun()
        except StorageError:
            store, url = open_store(part)
            found = {each for each in self._files() if each.startswith(url.removesuffix(SHARD_SUFFIX))}
            with suppress(AmudaiError):
                found |= urls_of(ShardReader(url, store))
            start = self._mark()[1].removesuffix(_MARK)
            remove_files(store, [each for each in found if each.startswith(start)])
            raise

    def end(self) -> None:
        store, mark = self._mark()
        with suppress(MissingFile):
            store.remove(mark)

    def clear(self, used: Collection[str]) -> None:
        remove_files(self._mark()[0], [each for each in self._files() if each not in used])

    def _mark(self) -> tuple[Store, str]:
        """The store, which each process opens anew with its own credentials, and the URL of the mark."""
        return open_store(f"{self.prefix}{_MARK}")

    def _files(self) -> list[str]:
        store, mark = self._mark()
        files = store.files_below(container(mark), deep=False)
        return [file.url for file in files if file.url.startswith(mark.removesuffix(_MARK))]


def _is_over(job: str) -> StorageError:
    return StorageError("write: expected the folder of a job that is not over, found none", url=job)
