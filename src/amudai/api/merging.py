"""Merging shards into one that refers to their files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final, Literal

from amudai.api.editing import NewRoot, reader_of
from amudai.api.outcome import Outcome
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.arguments import flag, is_one_of, shown
from amudai.edit import Merging
from amudai.errors import InvalidArgument, located
from amudai.storage import Allow, Allowed, Size, StoredFile, size_of

__all__ = ["POLICIES", "merge", "merged"]

# What happens to indexes of whole shards.
POLICIES: Final = ("merge", "keep", "rebuild", "drop")


def merge(
    shards: Sequence[Shard | str | os.PathLike[str]],
    to: str | os.PathLike[str],
    *,
    indexes: Literal["merge", "keep", "rebuild", "drop"] = "merge",
    widen: bool = False,
    store: object | None = None,
    overwrite: bool = False,
    progress: bool | Report | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    allow: Allow = (),
) -> Shard:
    """Merge shards into one, and open it.

    The new root refers to the stripes of the shards, so no value is read or written, and the old files must stay. Rows
    are in the order of the shards. Columns are united by name; a shard that lacks a column has nulls there. Deleted
    rows stay deleted. Statistics are combined; properties are concatenated.

    Parameters
    ----------
    shards
        The shards, or where they are, in order.
    to
        Where the new root goes. It refers to files in and below its folder by relative names, and to others by their
        URLs, which `allow` must permit.
    indexes
        What happens to indexes of whole shards. `"merge"` makes one index of them without reading values; an index
        that one shard lacks, or has with other settings, is an error. `"keep"` leaves each with the rows of its shard,
        so that a search asks each of them. `"rebuild"` reads the columns and builds the indexes that any shard has.
        `"drop"` leaves them out. Indexes of stripes always stay with their stripes.
    widen
        Whether columns that have different types of numbers are stored again as the wider type, in the new root.
        Without this they are an error.
    allow
        Prefixes of URLs outside of the folder of `to` that the new root may refer to, as `amudai.open` takes them.
    store
        The store of `to`, and of `shards` that are given by their names. Opened shards may be in any store.
    overwrite, progress, memory_limit, temp_dir
        As for `amudai.write`.

    Examples
    --------
    >>> monday = amudai.write({"level": ["info", "warn"]}, "monday.amudai.shard", overwrite=True)
    >>> tuesday = amudai.write({"level": ["error"], "code": [7]}, "tuesday.amudai.shard", overwrite=True)
    >>> week = amudai.merge([monday, tuesday], to="week.amudai.shard", overwrite=True)
    >>> week.read().to_pydict()
    {'level': ['info', 'warn', 'error'], 'code': [None, None, 7]}
    """
    return merged(
        shards,
        to,
        indexes=indexes,
        widen=widen,
        store=store,
        overwrite=overwrite,
        allow=allow,
        memory_limit=memory_limit,
        temp_dir=temp_dir,
        progress=progress,
    )


def merged(
    shards: Sequence[Shard | str | os.PathLike[str]],
    to: str | os.PathLike[str],
    *,
    indexes: Literal["merge", "keep", "rebuild", "drop"] = "merge",
    widen: bool = False,
    store: object | None = None,
    overwrite: bool = False,
    allow: Allow = (),
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    progress: bool | Report | None = None,
    replaces: StoredFile | None = None,
    outcome: Outcome | None = None,
) -> Shard:
    """What `merge` returns.

    Parameters
    ----------
    replaces
        The only root at `to` that may be overwritten.
    outcome
        Knows afterwards whether the new root was published, even if an error is raised.
    """
    if isinstance(shards, str | os.PathLike | Shard) or not isinstance(shards, Sequence):
        raise InvalidArgument(f"shards: expected a list of shards, found {shown(shards)}")
    if not is_one_of(indexes, POLICIES):
        raise InvalidArgument(f"indexes: expected one of {', '.join(POLICIES)}, found {shown(indexes)}")
    allowed = Allowed.of(allow)
    readers = [reader_of(shard, store, allowed) for shard in shards]
    new = NewRoot(
        readers,
        to,
        store,
        overwrite=flag(overwrite, "overwrite") or replaces is not None,
        replaces=replaces,
        temp_dir=temp_dir,
        allow=allowed,
    )
    if outcome is not None:
        outcome.follow(new.publication)
    with located(url=new.url), new, reporting(progress, sum(reader.num_positions for reader in readers)) as report:
        merging = Merging(readers, new.naming, widen=widen)
        new.publication.publish(new.root_of_all(merging, indexes, size_of(memory_limit), report))
    return new.opened()
