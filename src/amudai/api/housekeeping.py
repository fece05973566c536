"""Copying and moving shards, and removing files that no shard refers to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta

from amudai.api.advice import warn_of_files_in_use
from amudai.api.editing import place_for, reader_of
from amudai.api.opening import open as open_shard
from amudai.api.shard import Shard
from amudai.api.sizes import temporary_folder
from amudai.arguments import flag, path_text, shown
from amudai.edit import ORPHAN_GRACE, copy_shard, orphans_below, own_files
from amudai.errors import InvalidArgument, UnsupportedFeature, located
from amudai.storage import Allow, Allowed, container, open_store, remove_files

__all__ = ["Garbage", "copy", "gc"]


@dataclass(frozen=True, slots=True)
class Garbage:
    """A file that no shard refers to.

    Attributes
    ----------
    kind
        `"stripe"`, `"index"`, or `"unfinished"` for a file that a writer left behind when it was killed.
    bytes
        Its size.
    removed
        Whether it was removed.

    Examples
    --------
    >>> amudai.Garbage("file:///logs/1f.amudai.stripe", "stripe", 4096, False).kind
    'stripe'
    """

    url: str
    kind: str
    bytes: int
    removed: bool


def copy(
    shard: Shard | str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    move: bool = False,
    store: object | None = None,
    overwrite: bool = False,
    temp_dir: str | os.PathLike[str] | None = None,
    allow: Allow = (),
) -> Shard:
    """Copy a shard with every file that it refers to, and open the copy.

    All files of the copy are in one folder, and belong to it. References lead to them. A shard in one file is copied
    byte by byte.

    Parameters
    ----------
    shard
        The shard, or where it is. An opened shard may be in another store than the copy.
    to
        Where the copy goes.
    move
        Whether the root file of the shard, and the files that belong to it alone, are removed afterwards. Files that
        another shard in the folder, or below it, refers to stay, and a `FilesInUseWarning` names them; if the root file
        is one of them, nothing is removed. Shards elsewhere that refer to removed files cannot be read any more.
    store
        The store of `to`, and of `shard` if it is given by its name.
    allow
        Where files outside of the folder of `shard` may be, as `amudai.open` takes it.
    overwrite, temp_dir
        As for `amudai.write`.

    Examples
    --------
    >>> _ = amudai.write({"n": [1, 2, 3]}, "numbers.amudai.shard", layout="two-level", overwrite=True)
    >>> copied = amudai.copy("numbers.amudai.shard", to="same.amudai.shard", overwrite=True)
    >>> copied.read().to_pydict()
    {'n': [1, 2, 3]}
    """
    reader = reader_of(shard, store, allow)
    target_store, target = place_for(to, store, [reader], "that of the shard")
    if flag(move, "move") and not reader.store.capabilities.removes:
        message = "move: expected a store that can remove files, found one that cannot"
        raise UnsupportedFeature(message, url=reader.url)
    removable, in_use = own_files(reader) if move else ([], [])
    folder = path_text(temp_dir, "temp_dir") if temp_dir is not None else temporary_folder(to, store)
    with located(url=target):
        copy_shard(reader, target_store, target, overwrite=overwrite, temp_folder=folder)
    copied = open_shard(to, store=store)
    if removable:
        # The root first: nobody finds a shard whose files are gone.
        remove_files(reader.store, removable)
    warn_of_files_in_use(in_use)
    return copied


def gc(
    folder: str | os.PathLike[str],
    *,
    dry_run: bool = True,
    older_than: timedelta = ORPHAN_GRACE,
    store: object | None = None,
    allow: Allow = (),
) -> tuple[Garbage, ...]:
    """Find files that no shard in a folder refers to, and remove them if asked.

    Only files with the suffixes that this library gives to stripes and indexes, and unfinished files of writers that
    were killed, are looked at. All roots in the folder and below it are read first. If one of them cannot be read, that
    is an error that names it, and nothing is removed. Shards elsewhere may refer to files in the folder, too: run this
    for the topmost folder.

    Parameters
    ----------
    dry_run
        Whether files are only listed.
    older_than
        How long ago a file must have been written, or its shard replaced: a writer may be about to publish its root,
        and readers keep the shard that they opened. A day unless told otherwise.
    store
        The store of the folder, if it is not one of local files.
    allow
        Where the shards may refer to, as `amudai.open` takes it. A prefix that is mapped to the store of the folder
        tells which of its files such URLs name. Without it, all files with the same names stay.

    Examples
    --------
    >>> import datetime, pathlib
    >>> pathlib.Path("lake").mkdir(exist_ok=True)
    >>> _ = amudai.write({"n": [1]}, "lake/n.amudai.shard", overwrite=True)
    >>> pathlib.Path("lake/1f.amudai.stripe").write_bytes(b"left behind")
    11
    >>> found = amudai.gc("lake", dry_run=False, older_than=datetime.timedelta(0))
    >>> [(file.kind, file.bytes, file.removed) for file in found]
    [('stripe', 11, True)]
    """
    if not isinstance(older_than, timedelta) or older_than < timedelta(0):
        raise InvalidArgument(f"older_than: expected a timedelta of at least 0, found {shown(older_than)}")
    name = os.path.join(path_text(folder, "folder"), "")  # the folder's URL is that of a file in it, without the name
    found_store, url = open_store(f"{name}_", store)
    with located(url=container(url)):
        orphans = orphans_below(found_store, container(url), older_than, Allowed.of(allow))
        removed = set() if flag(dry_run, "dry_run") else set(remove_files(found_store, [each.url for each in orphans]))
    return tuple(Garbage(each.url, each.kind, each.bytes, each.url in removed) for each in orphans)
