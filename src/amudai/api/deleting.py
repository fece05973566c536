"""Deleting rows of a shard, and taking deletes back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy.typing as npt
import pyarrow as pa

from amudai.api.opening import open as open_shard
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.api.sizes import temporary_folder
from amudai.api.where import Where
from amudai.edit import Publication, Root, with_deleted
from amudai.errors import InvalidArgument, located
from amudai.rows import Rows, row_ranges
from amudai.storage import container, open_store

__all__ = ["delete", "undelete"]

Positions: TypeAlias = Sequence[int] | pa.Array | npt.NDArray[Any]
Allow: TypeAlias = Callable[[str], bool] | Sequence[str]


def delete(
    shard: Shard | str | os.PathLike[str],
    where: Where | None = None,
    positions: Positions | None = None,
    *,
    to: str | os.PathLike[str],
    store: object | None = None,
    overwrite: bool = False,
    progress: bool | Report | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    allow: Allow = (),
    threads: int | None = None,
) -> Shard:
    """Delete rows, and open the result.

    No value is rewritten: the new root refers to the stripes of the old one and marks rows as deleted. It must lie in
    the same folder, and the old files must stay. The old shard stays as it is. Positions do not change: a deleted row
    keeps its position, and so do all others. Rows that were deleted before stay deleted.

    Parameters
    ----------
    shard
        The shard, or where it is.
    where
        The rows to delete, as `Shard.scan` takes them. Indexes are used.
    positions
        Instead of `where`: the positions of the rows to delete. Any order; a position may repeat.
    to
        Where the new root goes.
    store, overwrite, progress, temp_dir
        As `amudai.write` takes them.
    allow, threads
        As `amudai.open` takes them.

    Examples
    --------
    >>> shard = amudai.write({"level": ["info", "warn", "info"]}, "levels.amudai.shard", overwrite=True)
    >>> fewer = amudai.delete(shard, "level = 'warn'", to="fewer.amudai.shard", overwrite=True)
    >>> fewer.num_rows, fewer.num_positions, fewer.read().to_pydict()
    (2, 3, {'level': ['info', 'info']})
    >>> amudai.delete(fewer, positions=[0], to="one.amudai.shard", overwrite=True).scan().positions().tolist()
    [2]
    """
    if (where is None) == (positions is None):
        raise InvalidArgument(f"delete: expected where or positions, found {'neither' if where is None else 'both'}")
    with _Edit(shard, to, store, overwrite, temp_dir, allow, threads) as edit, reporting(progress) as report:
        chosen = edit.chosen(where, positions)
        return edit.publish({each: old.unite(mine) for each, old, mine in edit.stripes_of(chosen)}, report)


def undelete(
    shard: Shard | str | os.PathLike[str],
    where: Where | None = None,
    positions: Positions | None = None,
    *,
    to: str | os.PathLike[str],
    store: object | None = None,
    overwrite: bool = False,
    progress: bool | Report | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    allow: Allow = (),
    threads: int | None = None,
) -> Shard:
    """Take deletes back, and open the result. The rows are found at the positions that they always had.

    Parameters
    ----------
    where, positions
        The rows that shall be live again. Rows among them that are not deleted stay as they are. Neither for all
        deleted rows.
    shard, to, store, overwrite, progress, temp_dir, allow, threads
        As for `amudai.delete`.

    Examples
    --------
    >>> shard = amudai.write({"level": ["info", "warn", "info"]}, "levels.amudai.shard", overwrite=True)
    >>> fewer = amudai.delete(shard, positions=[0, 1], to="fewer.amudai.shard", overwrite=True)
    >>> amudai.undelete(fewer, "level = 'warn'", to="again.amudai.shard", overwrite=True).read().to_pydict()
    {'level': ['warn', 'info']}
    >>> amudai.undelete(fewer, to="again.amudai.shard", overwrite=True).num_rows
    3
    """
    if where is not None and positions is not None:
        raise InvalidArgument("undelete: expected where, positions or neither, found both")
    with _Edit(shard, to, store, overwrite, temp_dir, allow, threads) as edit, reporting(progress) as report:
        chosen = edit.chosen(where, positions, include_deleted=True)
        return edit.publish({each: old.subtract(mine) for each, old, mine in edit.stripes_of(chosen)}, report)


class _Edit:
    """A new root over the stripes of a shard, in which other rows are deleted."""

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
        target_store, self._target = open_store(to, store)
        self._temp_folder = os.fsdecode(temp_dir) if temp_dir is not None else temporary_folder(to, store)
        self._shard = shard if isinstance(shard, Shard) else open_shard(shard, store=store, allow=allow)
        self._reader = self._shard._reader
        if self._reader.url == self._target:
            message = "to: expected another place than the shard, whose stripes stay in use"
            raise InvalidArgument(message, url=self._target)
        if container(self._reader.url) != container(self._target):
            raise InvalidArgument("to: expected the folder of the shard, to which it refers", url=self._target)
        self._publication = Publication(
            target_store, self._target, overwrite=overwrite, temp_folder=self._temp_folder
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._publication.close()

    def chosen(self, where: Where | None, positions: Positions | None, *, include_deleted: bool = False) -> Rows:
        """The rows that a user names; all rows if nothing is named."""
        if positions is not None:
            return row_ranges(positions, self._reader.origin)[0]
        return self._shard.scan(where=where, threads=self._threads, include_deleted=include_deleted)._run.rows()

    def stripes_of(self, rows: Rows) -> Iterator[tuple[int, Rows, Rows]]:
        """The stripes that hold some of `rows`: the number, the deleted rows and the part of `rows` of each stripe.

        Rows are counted from the start of the stripe.
        """
        for stripe in self._reader.stripes:
            mine = rows.inward(stripe.origin)
            if mine:
                yield stripe.ordinal, stripe.deleted.inward(stripe.origin), mine

    def publish(self, deleted: Mapping[int, Rows], report: Callable[[int, int, int], None]) -> Shard:
        """Write the root in which exactly these rows of these stripes are deleted, and open it."""
        with located(url=self._target):
            root = Root.of(self._reader).at(self._target)
            self._publication.publish(with_deleted(root, deleted, self._publication.file, self._temp_folder))
        report(self._reader.num_positions, 0, 0)
        return open_shard(self._to, store=self._store, allow=self._allow, threads=self._threads)
