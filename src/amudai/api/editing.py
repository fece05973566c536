"""The new root that an operation makes of shards, and its place."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from amudai.api.opening import open as open_shard
from amudai.api.shard import Shard
from amudai.api.sizes import temporary_folder
from amudai.arguments import path_text
from amudai.edit import Merging, Naming, Publication, Root
from amudai.errors import ExistingFile, InvalidArgument, located
from amudai.index import carried_indexes, is_movable
from amudai.shard import STRIPE_SUFFIX, ArtifactSpace, ShardReader
from amudai.storage import Allow, Allowed, Store, StoredFile, TargetPlace, open_store

__all__ = ["NewRoot", "beside", "new_publication", "place_for", "reader_of"]


def reader_of(shard: Shard | str | os.PathLike[str], store: object | None, allow: Allow | Allowed) -> ShardReader:
    """The reader of a shard that a user passed: an opened one, or one that is opened now."""
    return shard._reader if isinstance(shard, Shard) else ShardReader(shard, store, allow=Allowed.of(allow))


def beside(to: str | os.PathLike[str]) -> str:
    """A place in the folder of `to` for a file with new rows."""
    text = path_text(to, "to")
    folder = text[: max(text.rfind(each) for each in {"/", os.sep}) + 1]
    return f"{folder}{secrets.token_hex(8)}{STRIPE_SUFFIX}"


def place_for(
    to: str | os.PathLike[str], store: object | None, of: Sequence[ShardReader], than: str
) -> tuple[Store, str]:
    """The store and the URL of a new shard. It must not take the place of a shard that it is made `of`.

    `than` names that place in the error.
    """
    target_store, target = open_store(to, store)
    place = TargetPlace(target_store, target)
    if any(place.is_of(reader.root) for reader in of):
        raise InvalidArgument(f"to: expected another place than {than}", url=target)
    return target_store, target


def new_publication(
    store: Store, url: str, *, overwrite: bool, temp_folder: str | None, replaces: StoredFile | None = None
) -> Publication:
    """A publication at a place where there is no shard yet, unless it may be replaced."""
    try:
        return Publication(store, url, overwrite=overwrite, replaces=replaces, temp_folder=temp_folder)
    except ExistingFile as error:
        message = "expected no shard yet, found one: overwrite=True replaces it"
        raise ExistingFile(message, **error.place) from error


class NewRoot:
    """A root that is being made of the bytes of shards. Nothing is visible before `publication.publish`.

    Parameters
    ----------
    of
        The shards, if any. The new root must not take the place of one of them.
    to, store, overwrite, temp_dir, allow, threads
        As operations take them.
    replaces
        The only root at `to` that may be overwritten. None: the one that is there now.

    Attributes
    ----------
    naming
        The place of the new root, and how it names files.
    publication
        Writes the new root.
    temp_folder
        Where temporary files go.
    """

    def __init__(
        self,
        of: Sequence[ShardReader],
        to: str | os.PathLike[str],
        store: object | None,
        *,
        overwrite: bool,
        replaces: StoredFile | None = None,
        temp_dir: str | os.PathLike[str] | None = None,
        allow: Allow | Allowed = (),
        threads: int | None = None,
    ) -> None:
        self._to, self._store, self._allow, self._threads = to, store, allow, threads
        target_store, target = place_for(to, store, of, "the shard, whose stripes stay in use")
        self.temp_folder = path_text(temp_dir, "temp_dir") if temp_dir is not None else temporary_folder(to, store)
        self.naming = Naming(url=target, store=target_store, allow=Allowed.of(allow))
        self.publication = new_publication(
            target_store, target, overwrite=overwrite, replaces=replaces, temp_folder=self.temp_folder
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.publication.close()

    @property
    def url(self) -> str:
        """The URL of the new root."""
        return self.naming.url

    def root_of(self, reader: ShardReader) -> Root:
        """The content of a shard, for the new root."""
        with located(url=self.url):
            root = Root.of(reader, self.naming)
            if root.name in root.files:
                raise InvalidArgument("to: expected another place: the new root refers to the bytes of this file")
            return root

    def root_of_all(
        self, merging: Merging, indexes: str, memory: int, report: Callable[[int, int, int], object]
    ) -> Root:
        """The content of several shards, for the new root. `indexes` says what happens to those of whole shards."""
        root = merging.root(
            self.publication.file, is_movable, drop_others=indexes == "drop", keep_indexes=indexes == "keep"
        )
        carried = carried_indexes(
            merging,
            indexes,
            self.space(),
            memory=memory,
            temp_folder=self.temp_folder,
            profile="balanced",
            report=report,
        )
        return replace(root, metadata=replace(root.metadata, indexes=carried))

    def space(self) -> ArtifactSpace:
        """Where the artifacts of indexes go."""
        return ArtifactSpace(self.publication.sealing, self.publication.file, self.naming.folder, None)

    def opened(self) -> Shard:
        """The new shard."""
        return open_shard(self._to, store=self._store, allow=self._allow, threads=self._threads)
