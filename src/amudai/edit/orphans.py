"""Files in a folder that no root refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from amudai.errors import AmudaiError, StorageError
from amudai.format import MAGIC
from amudai.shard import INDEX_SUFFIX, STRIPE_SUFFIX, ShardReader
from amudai.storage import Store, StoredFile, container, is_relative

__all__ = ["ORPHAN_GRACE", "Orphan", "orphans_below"]

# A writer names its files right before its root. One that is slower than this does not exist.
ORPHAN_GRACE: Final = timedelta(days=1)

_ROOT_SUFFIX: Final = ".amudai.shard"
_UNFINISHED: Final = re.compile(r"\.amudai-[0-9a-f]+\.part")


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


def orphans_below(store: Store, folder: str, older_than: timedelta) -> list[Orphan]:
    """The files in a folder, and in the folders below it, that no root there refers to.

    Raises StorageError if a root cannot be read: then nobody knows what it refers to.
    """
    used: set[str] = set()
    retired: dict[str, datetime] = {}
    candidates: list[tuple[StoredFile, str]] = []
    for file in store.files_below(folder):
        kind = _kind(file.url)
        if kind is not None:
            candidates.append((file, kind))
        elif _is_root(store, file):
            _take_root(store, file.url, used, retired)
    now = datetime.now(UTC)
    found = []
    for file, kind in candidates:
        since = datetime.fromtimestamp((file.modified or 0) / 1e9, UTC)
        since = max(since, retired.get(file.url, since))
        # A file whose time nobody knows stays.
        if file.url not in used and file.modified is not None and now - since >= older_than:
            found.append(Orphan(file.url, kind, file.size, since))
    return sorted(found, key=lambda each: each.url)


def _kind(url: str) -> str | None:
    if url.endswith(STRIPE_SUFFIX):
        return "stripe"
    if url.endswith(INDEX_SUFFIX):
        return "index"
    return "unfinished" if _UNFINISHED.fullmatch(url[url.rfind("/") + 1 :]) else None


def _is_root(store: Store, file: StoredFile) -> bool:
    """Whether a file is a root: by its name, or by the mark at its beginning."""
    if file.url.endswith(_ROOT_SUFFIX):
        return True
    return file.size >= len(MAGIC) and bytes(store.read_range(file.url, 0, len(MAGIC))) == MAGIC


def _take_root(store: Store, url: str, used: set[str], retired: dict[str, datetime]) -> None:
    folder = container(url)
    try:
        reader = ShardReader(url, store)
        said = reader.files
        names = {*reader.urls} if said is None else {*reader.urls, *said.owned, *said.references}
        for name, since in (said.retired if said is not None else {}).items():
            retired[folder + name] = max(since, retired.get(folder + name, since))
    except AmudaiError as error:
        message = "a root that cannot be read: expected a sound root, because its files are not garbage"
        raise StorageError(f"{message}; {error.message}", url=url) from error
    used.update(_urls(folder, names, is_own=said is not None))


def _urls(folder: str, names: set[str], *, is_own: bool) -> Iterator[str]:
    for name in names:
        if is_relative(name):
            yield folder + name
            continue
        yield name
        if not is_own:
            yield folder + name[name.rfind("/") + 1 :]  # the shard may have been moved
