"""Publication of a root: the only way in which a root gets its URL."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from amudai.edit.garbage import GRACE, FormerFiles, expired_of, former_files, now, remove_unused
from amudai.edit.references import urls_of
from amudai.edit.root import Root
from amudai.errors import AmudaiError, MissingFile
from amudai.format import FOOTER, HEADER, RootFiles, with_root_files
from amudai.lazy import lazy
from amudai.shard import ShardReader, write_metadata
from amudai.storage import SealedFile, Sealing, Store, StoredFile, container, is_relative, remove_parts

__all__ = ["Publication"]


class Publication:
    """A root that is being written, with its other files. Nothing is visible before `publish`.

    Parameters
    ----------
    overwrite
        Replace an existing root, atomically. The files that it owned stay for a grace period, so that readers keep the
        shard that they opened. A later `publish` to the same URL removes them.
    replaces
        The only root that may be replaced, as its store described it. None: the one that is there now.
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
        replaces: StoredFile | None = None,
        temp_folder: str | None = None,
        grace: timedelta = GRACE,
    ) -> None:
        self.url = url
        self.sealing = Sealing(store, url, overwrite=overwrite, replaces=replaces, temp_folder=temp_folder)
        self._store = store
        self._overwrite = overwrite
        self._grace = grace
        self._wanted: frozenset[str] = frozenset()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @lazy
    def file(self) -> SealedFile:
        """The root file, with its header. Buffers and index artifacts may be written to it."""
        file = self.sealing.file(self.url)
        file.write(HEADER)
        file.hash_from_here()
        return file

    def publish(self, root: Root) -> None:
        """Write the metadata of `root` and make the root and its files visible: all of them, or none if it fails."""
        if root.url != self.url:
            root = root.at(self.url)
        former = former_files(self._store, self.url) if self._overwrite else FormerFiles()
        at = now()
        folder = container(self.url)
        created = {url[len(folder) :]: file for url, file in self.sealing.created.items()}
        used = set(created).union(root.files, root.owned, root.metadata.urls)
        # This root also owns files that it uses again and that former roots at this URL owned.
        owned = created.keys() | root.owned | (used & former.owned.union(former.retired))
        retired = former.without(used, at)
        content = self.file.hash_so_far() if self.file.tell() > len(HEADER) else b""
        files = RootFiles(
            root=root.name if owned or retired else "",
            content=content,
            owned=tuple(owned),
            # Files that are removed now are listed too. The next root drops them when it finds them gone.
            retired=retired,
            references={name: mark for name, mark in root.files.items() if name not in owned},
            digests={
                **{name: digest for name, digest in root.digests.items() if name in used},
                **{name: file.hash_so_far() for name, file in created.items()},
            },
        )
        metadata = root.metadata
        write_metadata(self.file, replace(metadata, properties=with_root_files(metadata.properties, files)))
        self.file.write(FOOTER)
        self.file.close()
        self._wanted = frozenset(folder + name if is_relative(name) else name for name in used)
        self.sealing.publish()
        if self._overwrite:
            self._clean(expired_of(retired, at, self._grace), at - self._grace)

    def used(self) -> frozenset[str]:
        """The URLs of the files that the published root refers to: none before the root has its name.

        `publish` may raise an error after the root has its name. If the store did not say whether it took the root, the
        root that it has now is read, and an `AmudaiError` is raised if that fails: then nobody knows.
        """
        is_published = self.sealing.is_published
        if is_published is None:
            try:
                return urls_of(ShardReader(self.url, self._store))
            except MissingFile:
                return frozenset()
        return self._wanted if is_published else frozenset()

    def close(self) -> None:
        """Release all files. Unpublished files are discarded."""
        self.sealing.close()

    def _clean(self, expired: Collection[str], before: datetime) -> None:
        """Remove what former roots and killed writers left, as far as possible. The root is published already."""
        with suppress(AmudaiError):  # another root in the folder cannot be read, and may refer to anything
            remove_unused(self._store, self.url, expired)
        if self._store.capabilities.local_path:
            with suppress(AmudaiError):
                remove_parts(self._store, container(self.url), before)
