"""Writing many shards, and adding rows to what is there."""

from __future__ import annotations

import os
import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, Literal
from urllib.parse import quote

import pyarrow as pa

from amudai.api.datasets import Dataset, dataset
from amudai.api.merging import merge, merged
from amudai.api.opening import open as open_shard
from amudai.api.requested import Bloom
from amudai.api.shard import Shard
from amudai.api.writing import Layout, ShardWriter, write
from amudai.arguments import names, whole_number
from amudai.arrow import batches_of
from amudai.datasets import SHARD_SUFFIX, find_shards
from amudai.encoding import ProfileChoice
from amudai.errors import (
    ExistingFile,
    InvalidArgument,
    InvalidSchema,
    MissingFile,
    ReplacedFile,
    StorageError,
    UnsupportedFeature,
)
from amudai.index import IndexSpec, specs_of
from amudai.storage import MAX_READ, Size, Store, container, file_url, open_store, remove_files, size_of

__all__ = ["append", "new_shard_name", "write_dataset"]

# So many shards are written at a time. If rows come for more folders, the shard that was idle longest is ended.
_MOST_WRITERS: Final = 32
# So often the root of a shard may be replaced by others while rows are added to it.
_MOST_CONFLICTS: Final = 100
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"


def write_dataset(
    data: Any,
    folder: str | os.PathLike[str],
    *,
    partition_by: Sequence[str] = (),
    rows_per_shard: int = 1_000_000,
    append: bool = False,
    profile: ProfileChoice = "balanced",
    layout: Layout = "single",
    indexes: Sequence[IndexSpec] = (),
    bloom: Bloom = (),
    distinct: Sequence[str] = (),
    properties: Mapping[str, object] | None = None,
    memory_limit: Size = "512MB",
    store: object | None = None,
    threads: int | None = None,
) -> Dataset:
    """Write data as many shards in a folder, and open them as a dataset.

    Rows are streamed. Each shard appears in one step when it is complete; if writing fails, the shards that were
    complete stay. Names of shards begin with the time at which they were written, so that rows that are added later
    come last.

    Parameters
    ----------
    data
        As for `amudai.write`.
    folder
        Where the shards go. It is created if it does not exist.
    partition_by
        Columns whose values become folders (`day=2024-05-01/city=Rome/`) instead of being stored. Values are written as
        text, so these columns may be text, whole numbers, booleans or dates. When the folder is read again, a column of
        whole numbers is int64, and any other is text.
    rows_per_shard
        The most rows of a shard.
    append
        Whether the folder may have shards already. Otherwise this is an error.
    memory_limit
        The memory of each shard that is being written. With `partition_by` up to 32 shards are written at a time, and
        share the limit.
    profile, layout, indexes, bloom, distinct, properties, store, threads
        As for `amudai.write`.

    Examples
    --------
    >>> days = {"day": ["mon", "mon", "tue"], "n": [1, 2, 3]}
    >>> lake = amudai.write_dataset(days, "days", partition_by=["day"], rows_per_shard=1, append=True)
    >>> sorted({name.split("/")[0] for name in lake.shards})
    ['day=mon', 'day=tue']
    """
    wanted = names(partition_by, "partition_by")
    schema, batches = batches_of(data)
    for name in wanted:
        if schema.get_field_index(name) < 0:
            raise InvalidSchema(f"partition_by: expected one of {', '.join(schema.names)}, found {name!r}")
        _require_text(schema.field(name))
    stored = pa.schema([field for field in schema if field.name not in wanted], metadata=schema.metadata)
    if wanted and not stored.names:
        raise InvalidSchema("partition_by: expected a column that is left to be stored, found none")
    base = os.fsdecode(folder).rstrip("/")
    if not append:
        _require_empty(base, store)
    options: dict[str, Any] = {
        "profile": profile,
        "layout": layout,
        "indexes": indexes,
        "bloom": bloom,
        "distinct": distinct,
        "properties": properties,
        "store": store,
        "threads": threads,
    }
    writers = _Writers(base, stored, whole_number(rows_per_shard, "rows_per_shard", 1), memory_limit, options, wanted)
    try:
        _make_folder(base, store)
        for batch in batches:
            for values, rows in _parts(batch, wanted):
                writers.write(values, rows.select(stored.names))
        writers.close()
    except BaseException:
        writers.abandon()
        raise
    return dataset(base, store=store, threads=threads)


def append(
    target: str | os.PathLike[str],
    data: Any,
    *,
    profile: ProfileChoice = "balanced",
    indexes: Sequence[IndexSpec] | None = None,
    bloom: Bloom = (),
    distinct: Sequence[str] = (),
    properties: Mapping[str, object] | None = None,
    memory_limit: Size = "512MB",
    store: object | None = None,
    threads: int | None = None,
) -> Shard | Dataset:
    """Add rows to a folder of shards, or to one shard.

    A folder gets one more shard. A shard (`logs.amudai.shard`) stays one shard: the rows are written to a file beside
    it, and its root is replaced by one that refers to the old rows and to the new ones. No old value is read. Readers
    that have a local shard open keep the old rows. Appending to one shard from several processes at a time is safe: to
    a local shard, each waits for the one before; in an object store, the root is replaced only if nobody else did so
    meanwhile, and otherwise the rows are added to the newer root.

    Parameters
    ----------
    target
        A folder, or the path of a shard that exists.
    data
        As for `amudai.write`. A shard is given columns that it lacks; old rows have nulls there.
    indexes
        Indexes of the new rows. Adding to a shard, None builds the indexes that the shard has, and they are merged.
    profile, bloom, distinct, properties, memory_limit, store, threads
        As for `amudai.write`.

    Examples
    --------
    >>> shard = amudai.write({"n": [1, 2]}, "growing.amudai.shard", overwrite=True)
    >>> amudai.append("growing.amudai.shard", {"n": [3]}).read().to_pydict()
    {'n': [1, 2, 3]}
    """
    text = os.fsdecode(target)
    options: dict[str, Any] = {"profile": profile, "bloom": bloom, "distinct": distinct, "properties": properties}
    options |= {"memory_limit": memory_limit, "store": store, "threads": threads}
    if text.endswith(SHARD_SUFFIX):
        return _append_to_shard(text, data, indexes, options)
    found = find_shards(text, store)
    if found.folder is None:
        return _append_to_shard(text, data, indexes, options)
    write(data, f"{text.rstrip('/')}/{new_shard_name()}", indexes=indexes or (), **options)
    return dataset(text, store=store, threads=threads)


def _append_to_shard(path: str, data: Any, indexes: Sequence[IndexSpec] | None, options: Mapping[str, Any]) -> Shard:
    store = options["store"]
    opened, url = open_store(path, store)
    if not opened.capabilities.local_path:
        return _append_to_object(opened, url, data, indexes, options)
    root = opened.local_path(url)
    with _locked(os.path.dirname(root)), open_shard(path, store=store) as old:
        specs = specs_of([old._reader], with_stripes=True) if indexes is None else indexes
        # In the same folder, references stay relative.
        added, kept = _hidden_beside(root), _hidden_beside(root)
        write(data, added, indexes=specs, **options)
        try:
            os.link(root, kept)
            policy: Literal["merge", "keep"] = "merge" if indexes is None else "keep"
            return _without(kept, merge([kept, added], to=root, overwrite=True, indexes=policy))
        except BaseException:
            for leftover in (added, kept):
                if os.path.exists(leftover):
                    os.unlink(leftover)
            raise


def _append_to_object(
    store: Store, url: str, data: Any, indexes: Sequence[IndexSpec] | None, options: Mapping[str, Any]
) -> Shard:
    """Add rows to a shard in a store without locks: the root is replaced if it is still the one that was read."""
    if not store.capabilities.replaces:
        message = "append: expected a shard in local files or in a store that can replace files, or a folder of shards"
        raise UnsupportedFeature(message, url=url)
    added = _hidden_beside(url)
    old = open_shard(url, store=store)
    specs = specs_of([old._reader], with_stripes=True) if indexes is None else indexes
    write(data, added, indexes=specs, **{**options, "store": store})
    for _ in range(_MOST_CONFLICTS):
        kept = _hidden_beside(url)
        try:
            root = old._reader.root
            steps = range(0, root.size, MAX_READ)
            store.put_if_absent(kept, (bytes(root.read(at, min(root.size, at + MAX_READ))) for at in steps))
            policy: Literal["merge", "keep"] = "merge" if indexes is None else "keep"
            return _without(kept, merged([kept, added], url, store=store, indexes=policy, replaces=old._reader.stored))
        except StorageError as error:
            # The answer may have been lost, and others may have added rows to our root since.
            old = open_shard(url, store=store)
            if any(file.url == added for file in old.files):
                return old
            remove_files(store, [kept] if isinstance(error, ReplacedFile) else [kept, added])
            if not isinstance(error, ReplacedFile):
                raise
    remove_files(store, [added])
    raise ReplacedFile(
        f"append: expected to replace the root in {_MOST_CONFLICTS} attempts, found it replaced", url=url
    )


def _without(kept: str, new: Shard) -> Shard:
    """Remove the copy of the old root if the new root does not refer to it: its stripes may all be in other files."""
    store = new._reader.store
    url = file_url(kept) if store.capabilities.local_path else kept
    if all(file.url != url for file in new.files):
        remove_files(store, [url])
    return new


def _hidden_beside(url: str) -> str:
    """A new name in the folder of a shard. Names with `_` are no shards of a dataset of the folder."""
    folder = container(url)
    return f"{folder}_{url[len(folder) :].removesuffix(SHARD_SUFFIX)}.{new_shard_name()}"


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Wait until no other process appends to a shard of this folder."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class _Writers:
    """The shards that are being written, by the values of their folders."""

    def __init__(
        self,
        base: str,
        schema: pa.Schema,
        most_rows: int,
        memory_limit: Size,
        options: Mapping[str, Any],
        columns: tuple[str, ...],
    ) -> None:
        self._base = base
        self._schema = schema
        self._most_rows = most_rows
        self._memory = size_of(memory_limit) if not columns else max(16 << 20, size_of(memory_limit) // _MOST_WRITERS)
        self._options = options
        self._columns = columns
        self._open: OrderedDict[tuple[Any, ...], ShardWriter] = OrderedDict()

    def write(self, values: tuple[Any, ...], rows: pa.RecordBatch) -> None:
        """Write rows of one folder."""
        while rows.num_rows:
            writer = self._open.get(values)
            if writer is None:
                if len(self._open) >= _MOST_WRITERS:
                    self._open.popitem(last=False)[1].close()
                writer = self._open[values] = self._new(values)
            self._open.move_to_end(values)
            part = rows.slice(0, self._most_rows - writer.num_rows)
            writer.write(part)
            rows = rows.slice(part.num_rows)
            if writer.num_rows >= self._most_rows:
                del self._open[values]
                writer.close()

    def _new(self, values: tuple[Any, ...]) -> ShardWriter:
        folders = "".join(
            f"{_escaped(name)}={_text(value)}/" for name, value in zip(self._columns, values, strict=True)
        )
        _make_folder(f"{self._base}/{folders}", self._options["store"])
        location = f"{self._base}/{folders}{new_shard_name()}"
        return ShardWriter(location, self._schema, memory_limit=self._memory, **self._options)

    def close(self) -> None:
        """Complete all shards."""
        while self._open:
            self._open.popitem(last=False)[1].close()

    def abandon(self) -> None:
        """Forget the shards that are not complete."""
        for writer in self._open.values():
            writer.abandon()


def _parts(batch: pa.RecordBatch, columns: tuple[str, ...]) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
    """The rows of each combination of values, in the order in which the combinations appear."""
    if not columns:
        yield (), batch
        return
    keys = list(zip(*(batch.column(name).to_pylist() for name in columns), strict=True))
    places: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(keys):
        places.setdefault(key, []).append(row)
    for key, rows in places.items():
        yield key, batch if len(places) == 1 else batch.take(pa.array(rows))


def _require_text(field: pa.Field) -> None:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    kinds = pa.types
    if not (
        kinds.is_string(kind)
        or kinds.is_large_string(kind)
        or kinds.is_integer(kind)
        or kinds.is_boolean(kind)
        or kinds.is_date32(kind)
    ):
        expected = "text, whole numbers, booleans or dates"
        raise InvalidSchema(f"partition_by: expected a column of {expected}, found {field.name!r} of {field.type}")


def _text(value: Any) -> str:
    if value is None:
        return _NULL
    if value == "" or value == _NULL:
        raise InvalidArgument(f"partition_by: expected values that can be names of folders, found {value!r}")
    return _escaped(str(value).lower() if isinstance(value, bool) else str(value))


def _escaped(text: str) -> str:
    escaped = quote(text, safe=" @$&()+,;[]~")
    return escaped.replace(".", "%2E") if escaped in (".", "..") else escaped


def new_shard_name() -> str:
    """A name for a new shard, later than all names before."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{secrets.token_hex(4)}{SHARD_SUFFIX}"


def _make_folder(path: str, store: object | None) -> None:
    opened, url = open_store(f"{path.rstrip('/')}/x", store)
    if opened.capabilities.local_path:
        os.makedirs(os.path.dirname(opened.local_path(url, new=True)), exist_ok=True)


def _require_empty(base: str, store: object | None) -> None:
    try:
        found = find_shards(f"{base}/", store)
    except MissingFile:
        return
    if found.shards:
        expected = f"expected a folder without shards, found {len(found.shards)}"
        raise ExistingFile(f"folder: {expected}: append=True adds to them", url=found.folder or base)
