"""The one way in which a root gets its URL."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from types import TracebackType
from typing import Self

from amudai.edit.garbage import GRACE, Former, expired_of, former_files, now
from amudai.edit.root import Root
from amudai.format import FOOTER, HEADER, RootFiles, with_root_files
from amudai.lazy import lazy
from amudai.shard import write_metadata
from amudai.storage import SealedFile, Sealing, Store, container, resolve

__all__ = ["Publication"]


class Publication:
    """A root on its way to its URL, with the files that are made for it. Nothing appears before `publish`.

    Parameters
    ----------
    overwrite
        Replace a root that is there, in one step. The files that it owned stay for a grace period, so that readers keep
        the shard that they opened; a later `publish` to the same URL removes them.
    grace
        How long files stay after the root that owned them was replaced.

    Attributes
    ----------
    sealing
        Creates the other files of the root.
    """

    def __init__(
        self,
        store: Store,
        url: str,
        *,
        overwrite: bool = False,
        temp_folder: str | None = None,
        grace: timedelta = GRACE,
    ) -> None:
        self.url = url
        self.sealing = Sealing(store, url, overwrite=overwrite, temp_folder=temp_folder)
        self._store = store
        self._overwrite = overwrite
        self._grace = grace

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @lazy
    def file(self) -> SealedFile:
        """The root file, with its header: buffers and pieces of indexes may be written to it."""
        file = self.sealing.file(self.url)
        file.write(HEADER)
        file.hash_from_here()
        return file

    def publish(self, root: Root) -> None:
        """Write the metadata of `root` and let it appear, with all files that were made for it, or nothing at all."""
        if root.url != self.url:
            root = root.at(self.url)
        former = former_files(self._store, self.url) if self._overwrite else Former()
        at = now()
        folder = container(self.url)
        created = {url[len(folder) :] for url in self.sealing.created}
        used = created.union(root.files, root.owned, root.metadata.urls)
        # What former roots of this name owned and this one uses again is this root's.
        owned = created | root.owned | (used & former.owned.union(former.retired))
        retired = former.without(used, at)
        content = self.file.hash_so_far() if self.file.tell() > len(HEADER) else b""
        files = RootFiles(
            root=root.name if owned or retired else "",
            content=content,
            owned=tuple(owned),
            # Those that are removed now are listed, too: the next root forgets them when it sees that they are gone.
            retired=retired,
            references={name: mark for name, mark in root.files.items() if name not in owned},
        )
        metadata = root.metadata
        write_metadata(self.file, replace(metadata, properties=with_root_files(metadata.properties, files)))
        self.file.write(FOOTER)
        self.file.close()
        self.sealing.publish(remove=self._urls(expired_of(retired, at, self._grace)))

    def close(self) -> None:
        """Let go of everything; what was not published never was."""
        self.sealing.close()

    def _urls(self, names: Collection[str]) -> list[str]:
        return [resolve(name, self.url) for name in names]
