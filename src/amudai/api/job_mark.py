"""Marks of jobs in object stores, which cannot rename a folder to keep late writers out.

A job that several processes work on begins with a small object, its mark, and is over once the mark is removed. The
driver removes the mark before it lists what the job has written. Whoever writes for the job looks for the mark after
that, and removes its own files if there is none: a file is listed by the driver or removed by its writer.
"""

from __future__ import annotations

from collections.abc import Iterable

from amudai.errors import MissingFile, StorageError
from amudai.storage import open_store, remove_files

__all__ = ["begin_job", "end_job", "require_job"]


def begin_job(mark: str) -> None:
    """Create the mark of a job."""
    open_store(mark)[0].put_if_absent(mark, [b"This job is not over."])


def end_job(mark: str) -> None:
    """Remove the mark. It may be gone already."""
    store, url = open_store(mark)
    try:
        store.remove(url)
    except MissingFile:
        return


def require_job(mark: str, written: Iterable[str] = ()) -> None:
    """Raise an error if the job is over, and remove the files that were `written` for it."""
    store, url = open_store(mark)
    try:
        store.size(url)
    except MissingFile:
        remove_files(store, written)
        raise StorageError("write: expected the folder of a job that is not over, found none", url=mark) from None
