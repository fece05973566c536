"""Replacing rows of a shard by their keys."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa

from amudai.api.deletion import Deletion
from amudai.api.editing import beside
from amudai.api.key_values import comparable
from amudai.api.merging import POLICIES
from amudai.api.outcome import Outcome
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.api.storing_options import storing_options
from amudai.api.where import request_of
from amudai.api.writing import ShardWriter
from amudai.arguments import is_one_of, sequence, shown
from amudai.arrow import batches_of
from amudai.edit import Merging
from amudai.errors import InvalidArgument, located
from amudai.index import specs_of
from amudai.predicate import Predicate, col
from amudai.rows import Rows
from amudai.shard import ShardReader
from amudai.sources import Source
from amudai.storage import Allow, Size, size_of
from amudai.types import INGESTION_TIMESTAMP, RECORD_IDENTITY, quote_name

__all__ = ["upsert"]

# How many keys are looked for at a time.
_KEYS: Final = 1 << 16
# The name of the column with positions, beside columns of keys. No column has it: names of columns are not empty.
_POSITION: Final = ""


def upsert(
    shard: Shard | str | os.PathLike[str],
    data: Any,
    key: str | Sequence[str],
    *,
    to: str | os.PathLike[str],
    indexes: Literal["merge", "keep", "rebuild", "drop"] = "keep",
    store: object | None = None,
    overwrite: bool = False,
    progress: bool | Report | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    allow: Allow = (),
    threads: int | None = None,
) -> Shard:
    """Replace the rows whose keys are in `data`, add the other rows of `data`, and open the result.

    Rows of the shard with one of the keys are deleted, as by `amudai.delete`, and all rows of `data` are appended in a
    stripe of their own. No old value is rewritten, and the old shard stays as it is. The rows of `data` are written to
    a file beside the new root, which belongs to the new root. The keys of `data` are held in memory. If the shard has
    ingestion times or record identities, the new rows get their own.

    Parameters
    ----------
    shard
        The shard, or where it is.
    data
        The rows, as `amudai.write` takes them, with exactly the columns of the shard, whatever schema it was opened
        with.
    key
        The column whose value identifies a row, or several columns. No key may be null or occur twice in `data`. A hash
        index of the column finds the rows fastest.
    indexes
        What happens to indexes of the whole shard, as for `amudai.merge`. `"keep"` leaves them with the old rows, and
        the new rows get indexes of the same kinds.
    to, store, overwrite, progress, memory_limit, temp_dir, allow, threads
        As for `amudai.delete` and `amudai.write`.

    Examples
    --------
    >>> users = amudai.write({"id": [1, 2, 3], "name": ["Ann", "Bob", "Cid"]}, "users.amudai.shard", overwrite=True)
    >>> new = {"id": [2, 4], "name": ["Bea", "Dan"]}
    >>> amudai.upsert(users, new, key="id", to="later.amudai.shard", overwrite=True).read().to_pydict()
    {'id': [1, 3, 2, 4], 'name': ['Ann', 'Cid', 'Bea', 'Dan']}
    """
    if not is_one_of(indexes, POLICIES):
        raise InvalidArgument(f"indexes: expected one of {', '.join(POLICIES)}, found {shown(indexes)}")
    edit = Deletion(shard, to, store, overwrite, temp_dir, allow, threads)
    # All columns as they are stored: the shard may have been opened with a schema that leaves some out.
    old = Shard(edit.reader, threads=threads)
    names = _key_columns(old, key)
    with edit, reporting(progress) as report:
        location = beside(to)
        # The new rows need the indexes of the others, to be kept beside them or to be merged with them.
        wanting = indexes in ("keep", "merge")
        specs = specs_of([edit.reader], with_stripes=indexes == "keep", known_only=True) if wanting else ()
        writer = ShardWriter(
            location,
            old.schema,
            indexes=specs,
            ingestion_time=INGESTION_TIMESTAMP in old.internal,
            record_id=RECORD_IDENTITY in old.internal,
            store=store,
            memory_limit=memory_limit,
            temp_dir=temp_dir,
            threads=threads,
            **storing_options(old),
        )
        keys = []
        size = 0
        with located(url=edit.url), writer as out:
            for batch in batches_of(data.to_reader() if isinstance(data, Source) else data, old.schema)[1]:
                keys.append(batch.select(names))
                out.write(batch)
                size += batch.nbytes
                report(out.num_rows, size, out.encoded_bytes)
            wanted = pa.Table.from_batches(keys, pa.schema([old.schema.field(name) for name in names]))
            _check_keys(wanted, names)
        added = ShardReader(location, store, allow=edit.naming.allow)
        outcome = Outcome()
        outcome.follow(edit.publication)
        with outcome.removing(added.store, [added.url]):
            merging = Merging([edit.reader, added], edit.naming)
            root = edit.root_of_all(merging, indexes, size_of(memory_limit), lambda *_: None)
            root = replace(root, owned=frozenset({edit.naming.name(added.store, added.url)}))
            gone = _rows_with(old, wanted, names, threads)
            edit.publish(root, edit.changed(gone, Rows.unite))
    return edit.opened()


def _key_columns(shard: Shard, key: str | Sequence[str]) -> tuple[str, ...]:
    names = (key,) if isinstance(key, str) else sequence(key, "key")
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InvalidArgument(f"key: expected one or several columns, each once, found {shown(key)}")
    schema = shard.schema
    for name in names:
        if name not in schema.names:
            raise InvalidArgument(f"key: expected a column of the shard, found {shown(name)}", url=shard.url)
        if pa.types.is_nested(schema.field(name).type):
            found = f"column {name!r} of type {schema.field(name).type}"
            raise InvalidArgument(f"key: expected a column of single values, found {found}", url=shard.url)
    return names


def _check_keys(keys: pa.Table, names: Sequence[str]) -> None:
    """Raise InvalidArgument if a key is null or NaN, or if two rows have the same key."""
    import pyarrow.compute as pc  # takes long to import, and few need it

    plain = _comparable(keys)
    for name in names:
        if plain[name].null_count:
            raise InvalidArgument("key: expected a value in each row, found a null", field=name)
        if pa.types.is_floating(plain[name].type) and pc.any(pc.is_nan(plain[name])).as_py():
            raise InvalidArgument("key: expected a number in each row, found NaN, which equals no key", field=name)
    counted = plain.group_by(list(names)).aggregate([([], "count_all")])
    # The count is the last column, or the first, depending on the version of Arrow.
    counts = counted["count_all"].to_numpy()
    if len(counts) and counts.max() > 1:
        found = counted.select(list(names)).slice(int(np.argmax(counts > 1)), 1).to_pylist()[0]
        shown = ", ".join(f"{name} = {value!r}" for name, value in found.items())
        raise InvalidArgument(f"data: expected each key once, found {shown} more than once")


def _comparable(keys: pa.Table) -> pa.Table:
    """The columns in types that Arrow can group and join."""
    columns = [[comparable(chunk) for chunk in _chunks(column)] for column in keys.columns]
    return pa.table(list(map(pa.chunked_array, columns)), names=keys.column_names)


def _chunks(column: pa.ChunkedArray) -> Sequence[pa.Array]:
    return column.chunks or [pa.nulls(0, column.type)]


def _rows_with(shard: Shard, keys: pa.Table, names: Sequence[str], threads: int | None) -> Rows:
    """The rows of a shard that have one of the keys."""
    found = [Rows.none(shard._reader.origin)]
    paths = tuple(map(quote_name, names))
    for start in range(0, keys.num_rows, _KEYS):
        some = keys.slice(start, _KEYS)
        run = shard._run(request_of(paths, _any_of(some, names)), threads=threads)
        # Of several columns, this finds all combinations of their values. Those that are no keys are sorted out.
        found.append(run.rows() if len(names) == 1 else _joined(shard, run.rows(), some, names))
    return Rows.united(found)


def _any_of(keys: pa.Table, names: Sequence[str]) -> Predicate:
    # Scalars of Arrow: Python's own times have no nanoseconds.
    tests = [col(quote_name(name)).isin(dict.fromkeys(keys[name])) for name in names]
    wanted = tests[0]
    for test in tests[1:]:
        wanted = wanted & test
    return wanted


def _joined(shard: Shard, rows: Rows, keys: pa.Table, names: Sequence[str]) -> Rows:
    """The rows among `rows` whose values of all columns together are a key."""
    found = [Rows.none(rows.origin)]
    wanted = _comparable(keys.select(list(names)))
    for part in rows.each_part(1 << 20) if rows else ():
        positions = part.positions()
        table = _comparable(shard.take(positions, list(map(quote_name, names)))).append_column(
            _POSITION, pa.array(positions)
        )
        both = table.join(wanted, list(names), join_type="left semi")
        mine = np.sort(both[_POSITION].to_numpy())
        found.append(Rows.of_positions(mine, rows.origin))
    return Rows.united(found)
