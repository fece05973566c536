"""The files in a local folder, and those that a killed process left there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from amudai.errors import UnsupportedFeature
from amudai.storage.contract import Store
from amudai.storage.foreign import translated
from amudai.storage.references import file_url
from amudai.storage.unpublished import is_part, remove_abandoned

__all__ = ["FolderFile", "files_in", "remove_parts"]


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file in a folder.

    Attributes
    ----------
    changed
        When it was written, or got its name: whichever is later, in whole seconds.
    """

    name: str
    url: str
    path: str
    changed: datetime


def files_in(store: Store, folder: str) -> Iterator[FolderFile]:
    """The files in a folder, without those in folders below. Needs the capability `local_path`."""
    if not store.capabilities.local_path:
        raise UnsupportedFeature("folder: expected a local one, found a store whose files cannot be listed")
    path = os.path.dirname(store.local_path(f"{folder}x", new=True))
    with translated():
        for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
            with suppress(FileNotFoundError):  # removed since it was listed
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(facts.st_mode):
                    changed = datetime.fromtimestamp(int(max(facts.st_mtime, facts.st_ctime)), UTC)
                    yield FolderFile(entry.name, file_url(entry.path), entry.path, changed)


def remove_parts(store: Store, folder: str, before: datetime) -> list[str]:
    """Remove the part files that a killed process left in a folder before this time; return their URLs.

    A file whose writer is still running is kept.
    """
    return [
        file.url
        for file in files_in(store, folder)
        if is_part(file.name) and file.changed <= before and remove_abandoned(file.path)
    ]
