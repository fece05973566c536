"""Rewriting shards: deleted rows are dropped, rows may be sorted, indexes are rebuilt."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pyarrow as pa

from amudai.api.compatibility import Compatibility
from amudai.api.editing import place_for, reader_of
from amudai.api.opening import open as open_shard
from amudai.api.parallel_work import merged_parts, run_in_processes, split_evenly
from amudai.api.progress import Report, reporting
from amudai.api.requested import kept_requests
from amudai.api.rewriting import ShardRewriter, kept_roles, role_column
from amudai.api.shard import Shard
from amudai.api.sizes import temporary_folder
from amudai.api.storing_options import storing_options
from amudai.api.where import Where
from amudai.api.writing import Layout
from amudai.arguments import path_text, sequence, whole_number
from amudai.edit import Merging, Naming, Publication
from amudai.encoding import ProfileChoice
from amudai.errors import InvalidArgument, LimitExceeded, UnsupportedFeature
from amudai.index import IndexSpec, is_movable, specs_of
from amudai.scan import SortBy, sort_keys, sorted_batches
from amudai.shard import ShardReader
from amudai.storage import Allow, Allowed, MemoryStore, Size, Store, is_relative, size_of
from amudai.threads import thread_count
from amudai.types import INGESTION_TIMESTAMP, RECORD_IDENTITY, quote_name

__all__ = ["compact"]

# In a folder of its own, so that no file of the shards is below it.
_URL: Final = "memory://compaction/all.amudai.shard"
# Sorting and writing share the memory.
_SORT_SHARE: Final = 2
# More parts than processes, so that a slow part does not leave the other processes idle for long.
_PARTS_PER_PROCESS: Final = 2


def compact(
    shards: Shard | str | os.PathLike[str] | Sequence[Shard | str | os.PathLike[str]],
    to: str | os.PathLike[str],
    *,
    sort_by: SortBy | Sequence[SortBy] = (),
    where: Where | None = None,
    indexes: Sequence[IndexSpec] | None = None,
    widen: bool = False,
    profile: ProfileChoice = "balanced",
    compatibility: Compatibility = "reference",
    layout: Layout = "single",
    stripe_rows: int | None = None,
    stripe_bytes: Size | None = None,
    store: object | None = None,
    overwrite: bool = False,
    progress: bool | Report | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    allow: Allow = (),
    threads: int | None = None,
    processes: int = 1,
) -> Shard:
    """Write the rows of one or several shards anew as one shard, and open it.

    Deleted rows are dropped, so positions change. The new shard refers to no other file, unless several `processes`
    write it. Columns are united by name, as `amudai.merge` does. Properties and creation times are taken over.

    Parameters
    ----------
    shards
        A shard or several, or where they are, in order.
    to
        Where the new shard goes.
    sort_by
        Columns to sort by: names, or pairs of a name and `"ascending"` or `"descending"`. Nulls come last, and equal
        rows keep their order. Rows that do not fit into memory wait in temporary files. Without this, rows keep their
        order.
    where
        Rows to keep, as `Shard.scan` takes it; None for all.
    indexes
        Indexes to build; None for those that the shards have.
    widen
        Whether numbers of different types become the wider type, as for `amudai.merge`.
    profile, compatibility, layout, stripe_rows, stripe_bytes, overwrite, progress, memory_limit, temp_dir, threads
        As for `amudai.write`.
    store
        The store of `to`, and of `shards` that are given by their names. Opened shards may be in any store.
    allow
        Prefixes of URLs that the shards may refer to, as `amudai.open` takes them.
    processes
        How many processes share the work. Each writes neighbouring shards as a part, and all parts are merged at the
        end. The new shard refers to the parts, which are in a folder beside it whose name begins with `_`. Only for
        local files. Rows cannot be sorted, because parts do not know each other's rows. A script must guard its main
        part with `if __name__ == "__main__":`, as for all new processes of Python.

    Examples
    --------
    >>> days = [
    ...     amudai.write({"day": [2, 1], "level": ["info", "warn"]}, "first.amudai.shard", overwrite=True),
    ...     amudai.write({"day": [3, 1], "level": ["error", "info"]}, "second.amudai.shard", overwrite=True),
    ... ]
    >>> month = amudai.compact(days, "month.amudai.shard", sort_by="day", where="day < 3", overwrite=True)
    >>> month.read().to_pydict()
    {'day': [1, 1, 2], 'level': ['warn', 'info', 'info']}
    """
    sort_by = sort_by if isinstance(sort_by, str) else sequence(sort_by, "sort_by")
    given = [shards] if isinstance(shards, Shard | str | os.PathLike) else sequence(shards, "shards")
    readers = [reader_of(each, store, allow) for each in given]
    if not readers:
        raise InvalidArgument("shards: expected at least one, found none")
    place_for(to, store, readers, "the shards, which stay as they are")
    if whole_number(processes, "processes", 1) > 1 and len(readers) > 1:
        if sort_by:
            raise InvalidArgument("sort_by: expected none with several processes, found columns")
        if store is not None or not all(reader.store.capabilities.local_path for reader in readers):
            raise UnsupportedFeature("processes: expected shards in local files, found shards of another store")
        options = {
            "where": where,
            "indexes": specs_of(readers) if indexes is None else indexes,
            "widen": widen,
            "profile": profile,
            "compatibility": compatibility,
            "layout": layout,
            "stripe_rows": stripe_rows,
            "stripe_bytes": stripe_bytes,
            "memory_limit": max(1, size_of(memory_limit) // processes),
            "temp_dir": temp_dir,
            "allow": allow,
            "threads": threads or max(1, thread_count(None) // processes),
        }
        return merged_parts(
            split_evenly([reader.url for reader in readers], processes * _PARTS_PER_PROCESS),
            to,
            compact,
            options,
            run_in_processes(processes),
            in_folder=True,
            overwrite=overwrite,
            widen=widen,
            memory_limit=memory_limit,
            progress=progress,
            allow=allow,
        )
    folder = path_text(temp_dir, "temp_dir") if temp_dir is not None else temporary_folder(to, store)
    memory = size_of(memory_limit)
    specs = specs_of(readers) if indexes is None else indexes
    with _united(readers, widen, folder, threads) as source, reporting(progress, source.num_rows) as report:
        try:
            source._reader.require_work()
        except LimitExceeded:
            source._reader.require_work(source.count(where))  # perhaps few of very many rows are wanted
        schema = source.schema
        keys = sort_keys(sort_by, schema) if sort_by else ()
        roles = kept_roles(source.internal)
        named = [*map(quote_name, schema.names), *map(role_column, roles)]
        writer = ShardRewriter(
            to,
            schema,
            profile=profile,
            compatibility=compatibility,
            layout=layout,
            indexes=specs,
            field_properties=_field_properties(source),
            **kept_requests(source._reader),
            ingestion_time=INGESTION_TIMESTAMP in roles,
            record_id=RECORD_IDENTITY in roles,
            stripe_rows=stripe_rows,
            stripe_bytes=stripe_bytes,
            memory_limit=memory // _SORT_SHARE if keys else memory,
            temp_dir=temp_dir,
            overwrite=overwrite,
            store=store,
            threads=threads,
            **storing_options(source),
        )
        with writer as out:
            out.take_over(source._reader)
            batches: Iterator[pa.RecordBatch] = iter(source.scan(named, where))
            if keys:
                batches = sorted_batches(batches, keys, memory=memory // _SORT_SHARE, temp_folder=folder)
            size = 0
            for batch in batches:
                out.rewrite(batch.columns, roles)
                size += batch.nbytes
                report(out.num_rows, size, out.encoded_bytes)
    return open_shard(to, store=store, threads=threads)


class _RootStore(MemoryStore):
    """Holds the root over all shards. All other files are in the stores of the shards."""

    def serves(self, url: str) -> bool:  # noqa: ARG002
        """Never: the root is known by its name alone."""
        return False


@contextmanager
def _united(
    readers: Sequence[ShardReader], widen: bool, temp_folder: str | None, threads: int | None
) -> Iterator[Shard]:
    """All shards as one, by a root in memory that refers to their files."""
    if len(readers) == 1:
        yield Shard(readers[0], threads=threads)
        return
    store = _RootStore()
    allow = Allowed(tuple(_prefixes(readers)), decide=lambda _: True)
    naming = Naming(url=_URL, store=store, allow=allow)
    with Publication(store, _URL, temp_folder=temp_folder) as publication:
        merging = Merging(readers, naming, widen=widen)
        publication.publish(merging.root(publication.file, is_movable, drop_others=True))
    yield Shard(ShardReader(_URL, store, allow=allow), threads=threads)


def _prefixes(readers: Sequence[ShardReader]) -> Iterator[tuple[str, Store]]:
    """Absolute URLs for the files of stores that know them by relative names only."""
    known: list[Store] = []
    for reader in readers:
        # Stripes of a shard may be in other stores than its root.
        stores = [store for _, store in reader.allow.prefixes if store is not None]
        for store in [reader.store, *stores] if is_relative(reader.url) else stores:
            if not any(each.same_files(store) for each in known):
                yield f"store-{len(known)}://files/", store
                known.append(store)


def _field_properties(source: Shard) -> dict[str, dict[str, object]]:
    """The properties of the columns, by their paths."""
    found: dict[str, dict[str, object]] = {}

    def visit(fields: Sequence[Any], above: str) -> None:
        for field in fields:
            path = f"{above}{quote_name(field.name)}"
            noted = {**field.standard_properties, **field.properties}
            if noted:
                found[path] = noted
            visit(field.children, f"{path}.")

    visit(source.columns, "")
    return found
