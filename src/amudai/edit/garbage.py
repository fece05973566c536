"""Removal of files that nothing refers to any more, after a grace period.

There are three kinds: files that former roots at a URL owned, files of a writer that was killed before it published its
root, and part files of such a writer. A file that any root in the folder refers to is never removed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from amudai.edit.references import is_part_of_shard, references_of
from amudai.errors import AmudaiError, CorruptedData, StorageError
from amudai.format import RootFiles
from amudai.shard import ShardReader
from amudai.storage import Allowed, Store, container, remove_files, remove_parts, resolve

__all__ = [
    "GRACE",
    "FormerFiles",
    "collect_garbage",
    "former_files",
    "now",
    "remove_unused",
]

# A reader opens a stripe file when it first reads the stripe, which may be this long after it opened the shard.
GRACE: Final[timedelta] = timedelta(hours=1)
_NOTHING_ELSE: Final = Allowed()
_LONGEST: Final = timedelta(days=36_500)  # a longer time may lie before the first year


@dataclass(frozen=True, slots=True)
class FormerFiles:
    """The files that a root leaves behind when it is replaced: those that it owned, and those that it had retired.

    `retired` has, for each file, the time when the root that owned it was replaced.
    """

    owned: frozenset[str] = frozenset()
    retired: dict[str, datetime] = field(default_factory=dict)

    def without(self, used: Collection[str], at: datetime) -> dict[str, datetime]:
        """The files that are retired if the next root, written at `at`, uses only `used`."""
        left = {**dict.fromkeys(self.owned, at), **self.retired}
        return {name: since for name, since in left.items() if name not in used}


def former_files(store: Store, url: str) -> FormerFiles:
    """The files of the root at `url`; none if there is no readable root, or if it owns nothing."""
    try:
        said = _said(ShardReader(url, store))
    except AmudaiError:
        return FormerFiles()  # no readable root: then nothing is removed
    if said is None:
        return FormerFiles()
    # Retired files that were removed need not be remembered.
    retired = {name: since for name, since in said.retired.items() if _removable(name) and _is_there(store, name, url)}
    return FormerFiles(frozenset(filter(_removable, said.owned)), retired)


def collect_garbage(store: Store, url: str, grace: timedelta = GRACE, allow: Allowed = _NOTHING_ELSE) -> list[str]:
    """Remove the files that former roots at `url` owned, if they were replaced longer than `grace` ago.

    A file that another root in the folder refers to stays. Part files that a killed process left in the folder are
    removed, too. Returns the URLs of the removed files. Must not run while a shard is being written to `url`.
    """
    reader = ShardReader(url, store, allow=allow)
    said = _said(reader)
    removed = []
    if said is not None:
        used = {*said.owned, *said.references, *reader.urls}
        expired = expired_of({name: since for name, since in said.retired.items() if name not in used}, now(), grace)
        removed = remove_unused(store, url, [name for name in expired if _is_there(store, name, url)], allow)
    if store.capabilities.local_path:
        removed += remove_parts(store, container(url), now() - min(grace, _LONGEST))
    return removed


def remove_unused(store: Store, url: str, names: Collection[str], allow: Allowed = _NOTHING_ELSE) -> list[str]:
    """Remove files beside the root at `url`, except those that a root in the folder refers to; return their URLs."""
    if not names:
        return []
    folder = container(url)
    known = references_of(store, folder, store.files_below(folder, deep=False), allow)
    unused = [folder + name for name in names if _removable(name) and not known.may_use(folder + name)]
    return remove_files(store, unused)


def expired_of(retired: dict[str, datetime], at: datetime, grace: timedelta) -> list[str]:
    """The files whose grace period is over."""
    return sorted(name for name, since in retired.items() if at - since >= grace)


def now() -> datetime:
    """The current time in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def _said(reader: ShardReader) -> RootFiles | None:
    """The list of files in a root; None if it has none, or if the root is a copy of a root with another name."""
    said = reader.files
    return said if said is not None and said.root == reader.url[len(container(reader.url)) :] else None


def _removable(name: str) -> bool:
    """Whether the name is one that this library gives to stripe and index files in the folder of the root."""
    return "/" not in name and is_part_of_shard(name)


def _is_there(store: Store, name: str, root: str) -> bool:
    try:
        store.size(resolve(name, root))
    except (StorageError, CorruptedData):
        return False
    return True
