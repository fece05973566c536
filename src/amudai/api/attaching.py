"""Shards over Parquet files: made, and turned into shards of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from amudai.api.attach_request import AttachRequest, opened_file
from amudai.api.editing import NewRoot, reader_of
from amudai.api.parquet_paths import ParquetInputs, parquet_paths
from amudai.api.progress import Report, reporting
from amudai.api.requested import Bloom
from amudai.api.shard import Shard
from amudai.arguments import names, sequence, whole_number
from amudai.arrow import Timestamps
from amudai.edit import AttachedFile, with_stored_values
from amudai.encoding import ProfileChoice, profiles_of
from amudai.errors import InvalidArgument, located
from amudai.format import any_values, attachment_property
from amudai.index import IndexSpec
from amudai.shard import BuildOptions
from amudai.storage import Allow, Allowed, Size, size_of
from amudai.types import find_in

__all__ = ["attach", "materialize"]

_STRIPE_ROWS: Final = 1 << 20


def attach(
    files: ParquetInputs,
    to: str | os.PathLike[str],
    *,
    indexes: Sequence[IndexSpec] = (),
    ranges: Sequence[str] | None = None,
    bloom: Bloom = (),
    distinct: Sequence[str] = (),
    hive: bool = True,
    stripe_rows: int = _STRIPE_ROWS,
    timestamps: Timestamps = "ticks",
    properties: Mapping[str, object] | None = None,
    created: datetime | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    store: object | None = None,
    allow: Allow | Allowed = (),
    threads: int | None = None,
    progress: bool | Report | None = None,
) -> Shard:
    """Make a shard over Parquet files, whose values stay where they are, and open it.

    The shard has what finds rows: statistics, sketches, range indexes, term and hash indexes. Values are read from the
    Parquet files, only in the row groups that hold wanted rows. The columns that get something are read once, as a
    stream. Of all others only the footers are read.

    The files must stay unchanged. Reading a file whose size, time of modification or footer has changed is an error
    that names it. `refresh` then brings the shard up to date.

    Parameters
    ----------
    files
        Parquet files, folders, patterns such as `lake/**/*.parquet`, URLs, or a `pyarrow.dataset.Dataset`. Their
        columns are united by name. Numbers and texts of different widths get the wider type.
    to
        Where the shard goes. It refers to files in and below its folder by relative names, and to others by their URLs,
        which `allow` must permit, here and when the shard is opened.
    indexes
        Term and hash indexes, as `amudai.write` takes them.
    ranges
        Names of columns of numbers and times that get statistics of their own and a range index, which finds values
        256 rows at a time. None: all columns of numbers and times. `[]` leaves it at the statistics in the footers.
    bloom
        Columns that get a Bloom filter, as `amudai.write` takes them. They are read, too.
    distinct
        Columns whose distinct values are counted, as `amudai.write` takes them. They are read, too.
    hive
        Whether folders such as `year=2024` become columns. Their values are stored in the shard.
    stripe_rows
        How many rows a stripe has at most, unless a single row group has more.
    timestamps
        `"int64"` for times and durations that ticks of 100 ns cannot hold, as `amudai.write` takes it. What is read is
        the same.
    properties, created, memory_limit, temp_dir, overwrite, threads, progress
        As `amudai.write` takes them.
    store
        The store of `to` and of the files.
    allow
        Where files outside of the folder of `to` may be, as `amudai.open` takes it.

    Examples
    --------
    >>> import pyarrow.parquet as pq
    >>> table = pa.table({"id": [1, 2, 3], "message": ["disk full", "all well", "disk slow"]})
    >>> pq.write_table(table, "messages.parquet")
    >>> indexes = [amudai.TermIndex("message")]
    >>> shard = amudai.attach("messages.parquet", to="messages.amudai.shard", indexes=indexes, overwrite=True)
    >>> shard.scan(["id"], where=amudai.col("message").has("disk")).to_table().to_pydict()
    {'id': [1, 3]}
    """
    wanted = AttachRequest(
        indexes=sequence(indexes, "indexes"),
        ranges=None if ranges is None else tuple(names(ranges, "ranges")),
        bloom=bloom,
        distinct=tuple(names(distinct, "distinct")),
        hive=hive,
        stripe_rows=whole_number(stripe_rows, "stripe_rows", 1),
        timestamps=timestamps,
    )
    found, patterns = parquet_paths(files, store)
    new = NewRoot([], to, store, overwrite=overwrite, temp_dir=temp_dir, allow=allow)
    opened = [opened_file(each, new.naming) for each in found]
    attachment, constants = wanted.attachment(found, opened)
    attached = [
        AttachedFile(name, file, constants.get(path.path, {})) for path, (name, file) in zip(found, opened, strict=True)
    ]
    total = sum(file.metadata.num_rows for _, file in opened)
    with located(url=new.url), new, reporting(progress, total) as report:
        made = attachment_property(wanted.stated(patterns, attachment))
        root, _ = wanted.root(
            new,
            attachment,
            attached,
            properties=(*any_values(properties or {}), *made),
            created=created,
            memory=size_of(memory_limit),
            threads=threads,
            report=report,
        )
        new.publication.publish(root)
    return new.opened()


def materialize(
    shard: Shard | str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    keep: bool = False,
    profile: ProfileChoice = "balanced",
    store: object | None = None,
    allow: Allow = (),
    overwrite: bool = False,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    progress: bool | Report | None = None,
) -> Shard:
    """Store columns that are in Parquet files in a new root, and open it.

    Positions, indexes and deleted rows stay as they are.

    Parameters
    ----------
    shard
        The shard, or where it is.
    to
        Where the new root goes. It refers to the files of the old root, which `allow` must permit if they are not in or
        below its folder.
    columns
        Names of the columns; None for all that are in Parquet files.
    keep
        Whether the new root refers to the values in the Parquet files as well. Then `amudai.open(prefer="parquet")`
        reads those, and `verify(deep=True)` compares both.
    profile, store, overwrite, memory_limit, temp_dir, progress
        As `amudai.write` takes them.
    allow
        As `amudai.open` takes it.

    Examples
    --------
    >>> import pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"id": [1, 2], "name": ["bolt", "nut"]}), "items.parquet")
    >>> shard = amudai.attach("items.parquet", to="items.amudai.shard", overwrite=True)
    >>> own = amudai.materialize(shard, to="own.amudai.shard", columns=["name"], overwrite=True)
    >>> [(field.name, field.storage) for field in own.inspect().fields]
    [('id', 'parquet'), ('name', 'blocks')]
    """
    reader = reader_of(shard, store, allow)
    known = reader.schema.fields()
    chosen = None if columns is None else [find_in(known, name) for name in names(columns, "columns")]
    for path in chosen or ():
        if len(path) > 1:
            raise InvalidArgument(
                f"columns: expected top-level columns, found {'.'.join(each.name for each in path)!r}"
            )
    ids = {node.schema_id for node in known} if chosen is None else {path[0].schema_id for path in chosen}
    new = NewRoot([reader], to, store, overwrite=overwrite, temp_dir=temp_dir, allow=allow or reader.allow)
    profiles = profiles_of(profile, known)
    options = BuildOptions(
        profile=profiles.default,
        profiles=profiles.by_id,
        memory=max(1 << 20, size_of(memory_limit)),
        temp_folder=new.temp_folder,
    )
    with located(url=new.url), new, reporting(progress, reader.num_positions) as report:
        root, file = new.root_of(reader), new.publication.file
        new.publication.publish(with_stored_values(root, reader, ids, file, options, keep=keep, report=report))
    return new.opened()
