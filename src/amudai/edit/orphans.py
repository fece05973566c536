"""Files in a folder that no root refers to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from amudai.edit.references import references_of
from amudai.shard import INDEX_SUFFIX, STRIPE_SUFFIX
from amudai.storage import Allowed, Store, is_part, moment

__all__ = ["ORPHAN_GRACE", "Orphan", "orphans_below"]

# A writer names its files right before its root. One that is slower than this does not exist.
ORPHAN_GRACE: Final[timedelta] = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Orphan:
    """A file of this library that no root refers to.

    Attributes
    ----------
    kind
        `"stripe"`, `"index"`, or `"unfinished"` for a file that was never published.
    since
        When the file was written, or when the root that owned it was replaced.
    """

    url: str
    kind: str
    bytes: int
    since: datetime


def orphans_below(store: Store, folder: str, older_than: timedelta, allow: Allowed) -> list[Orphan]:
    """The files in a folder, and in the folders below it, that no root there refers to.

    Raises StorageError if a root cannot be read: then nobody knows what it refers to.
    """
    files = list(store.files_below(folder))
    candidates = [(file, kind) for file in files if (kind := _kind(file.url)) is not None]
    known = references_of(store, folder, (file for file in files if not _is_unfinished(file.url)), allow)
    now = datetime.now(UTC)
    found = []
    for file, kind in candidates:
        since = moment(file.modified or 0)
        since = max(since, known.retired.get(file.url, since))
        # A file whose time nobody knows stays.
        if file.modified is not None and now - since >= older_than and not known.may_use(file.url):
            found.append(Orphan(file.url, kind, file.size, since))
    return sorted(found, key=lambda each: each.url)


def _kind(url: str) -> str | None:
    if url.endswith(STRIPE_SUFFIX):
        return "stripe"
    if url.endswith(INDEX_SUFFIX):
        return "index"
    return "unfinished" if _is_unfinished(url) else None


def _is_unfinished(url: str) -> bool:
    return is_part(url[url.rfind("/") + 1 :])
