"""Files that a killed process left in a local folder."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime

from amudai.storage.contract import Store
from amudai.storage.times import moment
from amudai.storage.unpublished import is_part, remove_abandoned

__all__ = ["remove_parts"]


def remove_parts(store: Store, folder: str, before: datetime) -> list[str]:
    """Remove the part files that a killed process left in a folder before this time; return their URLs.

    A file whose writer is still running is kept. Needs the capability `local_path`.
    """
    removed = []
    for file in store.files_below(folder, deep=False):
        if is_part(file.url[file.url.rfind("/") + 1 :]):
            path = store.local_path(file.url)
            with suppress(FileNotFoundError):  # removed since it was listed
                if _changed(path) <= before and remove_abandoned(path):
                    removed.append(file.url)
    return sorted(removed)


def _changed(path: str) -> datetime:
    """When a file was written, or got its name: whichever is later, in whole seconds."""
    facts = os.stat(path, follow_symlinks=False)
    return moment(max(facts.st_mtime_ns, facts.st_ctime_ns)).replace(microsecond=0)
