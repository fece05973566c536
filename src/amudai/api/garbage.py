"""Files of shards that were overwritten, removed when nobody reads them any more."""

from __future__ import annotations

import os
from datetime import timedelta

from amudai.arguments import shown
from amudai.edit import GRACE
from amudai.edit import collect_garbage as collect
from amudai.errors import InvalidArgument, located
from amudai.storage import Allow, Allowed, open_store

__all__ = ["collect_garbage"]


def collect_garbage(
    location: str | os.PathLike[str],
    *,
    older_than: timedelta = GRACE,
    store: object | None = None,
    allow: Allow = (),
) -> list[str]:
    """Remove the files that belonged to shards which were overwritten at this place.

    `overwrite=True` replaces the root of a shard and leaves the files of its stripes and indexes, so that readers keep
    the shard that they opened. The next write to the same place removes them if they were replaced more than an hour
    ago. This function does so without a write. It must not run while somebody writes to the place.

    A file that another shard in the folder refers to stays: `add_indexes` makes such shards. Part files
    (`.amudai-*.part`) that a killed process left in the folder are removed, too.

    Parameters
    ----------
    location, store
        The shard, as `amudai.open` takes it.
    older_than
        How long ago a file must have been replaced, or left behind.
    allow
        Where the shards in the folder may refer to, as `amudai.open` takes it. A prefix that is mapped to the store of
        the folder tells which of its files such URLs name. Without it, all files with the same names stay.

    Returns
    -------
    list of str
        URLs of the removed files.

    Examples
    --------
    >>> from datetime import timedelta
    >>> for level in ("info", "warn"):
    ...     data = {"level": [level, "error"]}
    ...     _ = amudai.write(data, "levels.amudai.shard", layout="two-level", overwrite=True)
    >>> len(amudai.collect_garbage("levels.amudai.shard", older_than=timedelta(0)))
    1
    """
    if not isinstance(older_than, timedelta) or older_than < timedelta(0):
        raise InvalidArgument(f"older_than: expected a timedelta of at least 0, found {shown(older_than)}")
    found, url = open_store(location, store)
    with located(url=url):
        return collect(found, url, older_than, Allowed.of(allow))
