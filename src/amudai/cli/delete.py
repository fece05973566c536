"""The command `delete`: delete rows of a shard."""

from __future__ import annotations

import time

from amudai import InvalidArgument, delete
from amudai.cli.deleted import positions_of, say_deleted
from amudai.cli.options import Allow, Json, Location, Overwrite, Positions, Target, Where, opened, require_new
from amudai.cli.terminal import Bar

__all__ = ["run"]


def run(
    location: Location,
    to: Target,
    where: Where = None,
    positions: Positions = None,
    overwrite: Overwrite = False,
    allow: Allow = None,
    json: Json = False,
) -> int:
    """Delete rows. This writes a new shard that refers to the files of the old one: keep them."""
    if (where is None) == (positions is None):
        raise InvalidArgument(
            f"delete: expected --where or --positions, found {'neither' if where is None else 'both'}"
        )
    chosen = positions_of(positions)
    require_new(to, overwrite)
    begin = time.perf_counter()
    with opened(location, allow) as shard, Bar("deleting") as bar:
        found = delete(shard, where, chosen, to=to, overwrite=overwrite, allow=allow or (), progress=bar)
        before = shard.num_positions - shard.num_rows
    say_deleted(found, to, before, time.perf_counter() - begin, json=json)
    return 0
