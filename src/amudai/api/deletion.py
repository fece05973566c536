"""A new root over the stripes of a shard, in which other rows are deleted."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy.typing as npt
import pyarrow as pa

from amudai.api.editing import NewRoot
from amudai.api.opening import open as open_shard
from amudai.api.shard import Shard
from amudai.api.where import Where, request_of
from amudai.edit import Root, with_deleted
from amudai.errors import located
from amudai.rows import Rows, row_ranges
from amudai.storage import Allow, Allowed

__all__ = ["Deletion", "PositionsLike"]

PositionsLike: TypeAlias = Sequence[int] | pa.Array | npt.NDArray[Any]


class Deletion(NewRoot):
    """A root that is being made of a shard, with other deleted rows.

    Attributes
    ----------
    shard, reader
        The shard whose rows are deleted.
    """

    def __init__(
        self,
        shard: Shard | str | os.PathLike[str],
        to: str | os.PathLike[str],
        store: object | None,
        overwrite: bool,
        temp_dir: str | os.PathLike[str] | None,
        allow: Allow | Allowed,
        threads: int | None,
    ) -> None:
        self.shard = shard if isinstance(shard, Shard) else open_shard(shard, store=store, allow=allow)
        self.reader = self.shard._reader
        allow = allow or self.reader.allow
        super().__init__([self.reader], to, store, overwrite=overwrite, temp_dir=temp_dir, allow=allow, threads=threads)

    def chosen(self, where: Where | None, positions: PositionsLike | None, *, include_deleted: bool = False) -> Rows:
        """The rows that a user names; all rows if nothing is named."""
        if positions is not None:
            return row_ranges(positions, self.reader.origin)[0]
        return self.shard._run(request_of(None, where, include_deleted=include_deleted), threads=self._threads).rows()

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
                self.reader.require_work(stripe.num_positions)  # there is a marker for each row
                found[stripe.ordinal] = new
        return found

    def publish(self, root: Root, deleted: Mapping[int, Rows]) -> None:
        """Write the root in which exactly these rows of these stripes are deleted, and make it visible."""
        with located(url=self.url):
            self.publication.publish(with_deleted(root, deleted, self.publication.file, self.temp_folder))
