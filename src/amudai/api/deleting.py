"""Deleting rows of a shard, and taking deletes back."""

from __future__ import annotations

import os

from amudai.api.deletion import Deletion, PositionsLike
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.api.where import Where
from amudai.errors import InvalidArgument
from amudai.rows import Rows
from amudai.storage import Allow

__all__ = ["delete", "undelete"]


def delete(
    shard: Shard | str | os.PathLike[str],
    where: Where | None = None,
    positions: PositionsLike | None = None,
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

    No value is rewritten: the new root refers to the stripes of the old one and marks rows as deleted. The old files
    must stay, and the old shard stays as it is. Positions do not change: a deleted row keeps its position, and so do
    all others. Rows that were deleted before stay deleted.

    Parameters
    ----------
    shard
        The shard, or where it is.
    where
        The rows to delete, as `Shard.scan` takes them. Indexes are used.
    positions
        Instead of `where`: the positions of the rows to delete. Any order; a position may repeat.
    to
        Where the new root goes. It refers to files outside of its folder by their URLs, which `allow` must permit.
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
    edit = Deletion(shard, to, store, overwrite, temp_dir, allow, threads)
    with edit, reporting(progress, edit.reader.num_positions) as report:
        chosen = edit.chosen(where, positions)
        edit.publish(edit.root(), edit.changed(chosen, Rows.unite))
        report(edit.reader.num_positions, 0, 0)
    return edit.result()


def undelete(
    shard: Shard | str | os.PathLike[str],
    where: Where | None = None,
    positions: PositionsLike | None = None,
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
    edit = Deletion(shard, to, store, overwrite, temp_dir, allow, threads)
    with edit, reporting(progress, edit.reader.num_positions) as report:
        chosen = edit.chosen(where, positions, include_deleted=True)
        edit.publish(edit.root(), edit.changed(chosen, Rows.subtract))
        report(edit.reader.num_positions, 0, 0)
    return edit.result()
