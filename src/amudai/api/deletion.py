"""A new root over the stripes of a shard, in which other rows are deleted."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy.typing as npt
import pyarrow as pa

from amudai.api.opening import open as open_shard
from amudai.api.shard import Shard
from amudai.api.sizes import temporary_folder
from amudai.api.where import Where
from amudai.edit import Naming, Publication, Root, with_deleted
from amudai.errors import InvalidArgument, located
from amudai.rows import Rows, row_ranges
from amudai.storage import Allow, Allowed, open_store

__all__ = ["Deletion", "PositionsLike"]

PositionsLike: TypeAlias = Sequence[int] | pa.Array | npt.NDArray[Any]


class Deletion:
    """A root that is being made of a shard. Nothing is visible before `publish`.

    Attributes
    ----------
    shard, reader
        The shard whose rows are deleted.
    naming
        The place of the new root.
    publication
        Writes the new root.
    """

    def __init__(
        self,
        shard: Shard | str | os.PathLike[str],
        to: str | os.PathLike[str],
        store: object | None,
        overwrite: bool,
        temp_dir: str | os.PathLike[str] | None,
        allow: Allow,
        threads: int | None,
    ) -> None:
        self._to, self._store, self._allow, self._threads = to, store, allow, threads
        target_store, target = open_store(to, store)
        self.temp_folder = os.fsdecode(temp_dir) if temp_dir is not None else temporary_folder(to, store)
        self.shard = shard if isinstance(shard, Shard) else open_shard(shard, store=store, allow=allow)
        self.reader = self.shard._reader
        self.naming = Naming(url=target, store=target_store, allow=Allowed.of(allow))
        if self.reader.url == target and self.reader.store.same_files(target_store):
            raise InvalidArgument("to: expected another place than the shard, whose stripes stay in use", url=target)
        self.publication = Publication(target_store, target, overwrite=overwrite, temp_folder=self.temp_folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.publication.close()

    def chosen(self, where: Where | None, positions: PositionsLike | None, *, include_deleted: bool = False) -> Rows:
        """The rows that a user names; all rows if nothing is named."""
        if positions is not None:
            return row_ranges(positions, self.reader.origin)[0]
        return self.shard._run(where=where, threads=self._threads, include_deleted=include_deleted).rows()

    def changed(self, rows: Rows, change: Callable[[Rows, Rows], Rows]) -> dict[int, Rows]:
        """The deleted rows of each stripe that had some, or that has some now, by the number of the stripe.

        `change` gets the deleted rows of a stripe and the part of `rows` in the stripe, and returns the rows that shall
        be deleted. Rows are counted from the start of the stripe.
        """
        found = {}
        for stripe in self.reader.stripes:
            old = self.reader.deleted_in(stripe).inward(stripe.origin)
            new = change(old, rows.inward(stripe.origin))
            # Markers that do not change are written again, too. Otherwise the new root would need the root that deleted
            # these rows, and every root before it.
            if old or new:
                found[stripe.ordinal] = new
        return found

    def root(self) -> Root:
        """The content of the shard, for the new root."""
        with located(url=self.naming.url):
            root = Root.of(self.reader, self.naming)
            if root.name in root.files:
                raise InvalidArgument("to: expected another place: the new root refers to the bytes of this file")
            return root

    def publish(self, root: Root, deleted: Mapping[int, Rows]) -> None:
        """Write the root in which exactly these rows of these stripes are deleted, and make it visible."""
        with located(url=self.naming.url):
            self.publication.publish(with_deleted(root, deleted, self.publication.file, self.temp_folder))

    def result(self) -> Shard:
        """The new shard, opened."""
        return open_shard(self._to, store=self._store, allow=self._allow, threads=self._threads)
