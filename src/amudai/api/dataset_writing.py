"""Writing many shards."""

from __future__ import annotations

import os
import secrets
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

import pyarrow as pa

from amudai.api.datasets import Dataset, dataset
from amudai.api.requested import Bloom
from amudai.api.writing import Layout, ShardWriter
from amudai.arguments import flag, names, path_text, shown, whole_number
from amudai.arrow import batches_of, taken
from amudai.datasets import SHARD_SUFFIX, find_shards
from amudai.encoding import ProfileChoice
from amudai.errors import ExistingFile, InvalidArgument, InvalidSchema, MissingFile, located
from amudai.index import IndexSpec
from amudai.storage import Allow, Size, open_store, size_of, translated

__all__ = ["folder_path", "new_shard_name", "write_dataset"]

# So many shards are written at a time. If rows come for more folders, the shard that was idle longest is ended.
_MOST_WRITERS: Final = 32
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
    allow: Allow = (),
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
    allow
        Where files outside of the folder may be to which shards refer that are there already, as `amudai.dataset` takes
        it.

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
        if name not in schema.names:
            raise InvalidSchema(f"partition_by: expected one of {', '.join(schema.names)}, found {shown(name)}")
        _require_text(schema.field(name))
    stored = pa.schema([field for field in schema if field.name not in wanted], metadata=schema.metadata)
    if wanted and not stored.names:
        raise InvalidSchema("partition_by: expected a column that is left to be stored, found none")
    base = folder_path(folder, "folder", store).rstrip("/")
    if not flag(append, "append"):
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
    return dataset(base, store=store, threads=threads, allow=allow)


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
            part = rows.slice(0, min(rows.num_rows, self._most_rows - writer.num_rows))
            writer.write(part)
            rows = rows.slice(part.num_rows)
            if writer.num_rows >= self._most_rows:
                del self._open[values]
                writer.close()

    def _new(self, values: tuple[Any, ...]) -> ShardWriter:
        folders = "".join(f"{_key(name)}={_text(value)}/" for name, value in zip(self._columns, values, strict=True))
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
        if len(places) == 1:
            yield key, batch
            continue
        chosen = pa.array(rows)
        mine = [taken(column, chosen) for column in batch.columns]
        yield key, pa.RecordBatch.from_arrays(mine, schema=batch.schema)


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
        raise InvalidArgument(f"partition_by: expected values that can be names of folders, found {shown(value)}")
    return _escaped(str(value).lower() if isinstance(value, bool) else str(value))


def _key(name: str) -> str:
    """The name of a column as the beginning of a folder's name, which must not look like that of a hidden folder."""
    escaped = _escaped(name)
    return f"%{ord(escaped[0]):02X}{escaped[1:]}" if escaped[:1] in ("_", ".") else escaped


def _escaped(text: str) -> str:
    escaped = quote(text, safe=" @$&()+,;[]~")
    return escaped.replace(".", "%2E") if escaped in (".", "..") else escaped


def new_shard_name() -> str:
    """A name for a new shard, later than all names before."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{secrets.token_hex(4)}{SHARD_SUFFIX}"


def folder_path(given: str | os.PathLike[str], name: str, store: object | None) -> str:
    """A path as text. An empty one would become the root of all folders once a name is appended to it."""
    text = path_text(given, name)
    if not text and store is None:
        raise InvalidArgument(f"{name}: expected a path, found an empty text")
    return text


def _make_folder(path: str, store: object | None) -> None:
    opened, url = open_store(f"{path.rstrip('/')}/x", store)
    if opened.capabilities.local_path:
        with located(url=path), translated():
            os.makedirs(os.path.dirname(opened.local_path(url, new=True)), exist_ok=True)


def _require_empty(base: str, store: object | None) -> None:
    try:
        found = find_shards(f"{base}/", store)
    except MissingFile:
        return
    if found.shards:
        expected = f"expected a folder without shards, found {len(found.shards)}"
        raise ExistingFile(f"folder: {expected}: append=True adds to them", url=found.folder or base)
