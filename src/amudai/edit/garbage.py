"""Files that former roots of a name owned: how long they stay, and how they go."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from amudai.errors import AmudaiError, CorruptedData, StorageError
from amudai.format import RootFiles
from amudai.shard import INDEX_SUFFIX, STRIPE_SUFFIX, ShardReader
from amudai.storage import Store, container, remove_files, resolve

__all__ = ["GRACE", "Former", "collect_garbage", "former_files", "now"]

# A reader opens a stripe file when it first touches the stripe. So long it may have a shard open without doing so.
GRACE: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Former:
    """What the root at a URL leaves behind when it is replaced: files that it owns, and files that it has retired."""

    owned: frozenset[str] = frozenset()
    retired: dict[str, datetime] = field(default_factory=dict)

    def without(self, used: Collection[str], at: datetime) -> dict[str, datetime]:
        """The files that are retired if the next root uses `used`, with the time at which each was replaced."""
        left = {**dict.fromkeys(self.owned, at), **self.retired}
        return {name: since for name, since in left.items() if name not in used}


def former_files(store: Store, url: str) -> Former:
    """The files of the root at `url`; none where there is no root that can be read, or one that owns nothing."""
    try:
        said = _said(ShardReader(url, store))
    except AmudaiError:
        return Former()  # nothing there, or nothing that can be read: then nothing of it is removed
    if said is None:
        return Former()
    # A file that is gone is forgotten.
    retired = {name: since for name, since in said.retired.items() if _removable(name) and _is_there(store, name, url)}
    return Former(frozenset(filter(_removable, said.owned)), retired)


def collect_garbage(store: Store, url: str, grace: timedelta = GRACE) -> list[str]:
    """Remove the files that former roots at `url` owned, if they were replaced longer than `grace` ago.

    Returns the URLs of the files that are gone. Must not run while somebody writes to `url`.
    """
    reader = ShardReader(url, store)
    said = _said(reader)
    if said is None:
        return []
    used = {*said.owned, *said.references, *reader.urls}
    expired = expired_of({name: since for name, since in said.retired.items() if name not in used}, now(), grace)
    there = [name for name in expired if _removable(name) and _is_there(store, name, url)]
    return remove_files(store, [resolve(name, url) for name in there]) if there else []


def expired_of(retired: dict[str, datetime], at: datetime, grace: timedelta) -> list[str]:
    """The files whose grace period is over."""
    return sorted(name for name, since in retired.items() if at - since >= grace)


def now() -> datetime:
    """The time, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def _said(reader: ShardReader) -> RootFiles | None:
    """What a root says about files, where it says it about itself and is no copy of another root."""
    said = reader.files
    return said if said is not None and said.root == reader.url[len(container(reader.url)) :] else None


def _removable(name: str) -> bool:
    """Whether a file has a name that this library gives to files of stripes and indexes, beside the root."""
    return "/" not in name and name.endswith((STRIPE_SUFFIX, INDEX_SUFFIX))


def _is_there(store: Store, name: str, root: str) -> bool:
    try:
        store.size(resolve(name, root))
    except (StorageError, CorruptedData):
        return False
    return True
