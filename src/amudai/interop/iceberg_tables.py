"""Iceberg tables: indexes over their Parquet files, and the rows of a snapshot as a dataset.

Each data file has an attached shard of its own in one folder. Its name follows from the path and the size of the data
file. A property of the table names the folder, for the snapshot that was indexed. Data files come and go from snapshot
to snapshot, and the shard of a data file is right for all of them: files that are gone are not asked for, new ones are
attached without indexes when the table is opened.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import xxhash

from amudai.api import Dataset, Shard, attach, dataset, delete, write
from amudai.api import open as open_shard
from amudai.arguments import shown
from amudai.errors import InvalidArgument, MissingFile, UnsupportedFeature, located
from amudai.index import IndexSpec
from amudai.interop.packages import required
from amudai.storage import container, file_url, is_relative, open_store

__all__ = ["attach_iceberg", "open_iceberg"]

# The beginning of a table property. The number of a snapshot follows; the value is the folder of the shards.
PROPERTY: Final = "amudai.index."


def attach_iceberg(
    table: Any,
    to: str | os.PathLike[str],
    *,
    indexes: Sequence[IndexSpec] = (),
    ranges: Sequence[str] | None = None,
    bloom: Sequence[str] = (),
    threads: int | None = None,
) -> Dataset:
    """Index the Parquet files of an Iceberg table, and open the table as a dataset.

    Needs `pip install amudai[iceberg]`. The values stay where they are. Each data file of the current snapshot gets a
    shard of its own in the folder `to`, with statistics and indexes; files that have one already are skipped, so that
    after an append only new files are read. A table property names the folder, by which `open_iceberg` finds it.

    Files that were written with another schema than the table has now are left out, and are read from Parquet.

    Parameters
    ----------
    table
        A table of pyiceberg, or its name as `open_iceberg` takes it.
    to
        The folder of the shards: a path, or a URL.
    indexes, ranges, bloom, threads
        As for `amudai.attach`. Shards that exist keep the indexes that they have.

    Examples
    --------
    >>> import os
    >>> from pyiceberg.catalog.sql import SqlCatalog
    >>> os.makedirs("warehouse", exist_ok=True)
    >>> catalog = SqlCatalog("c", uri="sqlite:///:memory:", warehouse=f"file://{os.path.abspath('warehouse')}")
    >>> catalog.create_namespace("lake")
    >>> rows = pa.table({"id": [1, 2, 3], "message": ["disk full", "all well", "disk slow"]})
    >>> logs = catalog.create_table("lake.logs", schema=rows.schema)
    >>> logs.append(rows)
    >>> lake = amudai.attach_iceberg(logs, "warehouse/index", indexes=[amudai.TermIndex("message")])
    >>> lake.read(["id"], where="message has 'disk'").to_pydict()
    {'id': [1, 3]}
    """
    opened = _table(table)
    snapshot = opened.current_snapshot()
    folder = _folder_url(to)
    if snapshot is None:
        raise InvalidArgument("table: expected one with a snapshot, found an empty table")
    tasks = _tasks(opened, None)
    _make_folder(folder)
    for task in tasks:
        place = f"{folder}{_shard_name(task.file)}"
        if _has_schema(opened, opened.schema(), task.file) and not _exists(place):
            url = _url(task.file.file_path)
            allow = [container(url)]
            attach(
                url, place, indexes=indexes, ranges=ranges, bloom=bloom, hive=False, allow=allow, threads=threads
            ).close()
    opened.transaction().set_properties({f"{PROPERTY}{snapshot.snapshot_id}": folder}).commit_transaction()
    return open_iceberg(opened, threads=threads)


def open_iceberg(table: Any, *, snapshot_id: int | None = None, threads: int | None = None) -> Dataset:
    """Open the rows of an Iceberg table as a dataset.

    Needs `pip install amudai[iceberg]`. Data files that `attach_iceberg` has seen answer by their indexes. Others are
    read from Parquet; files that are gone are left out. Rows that position deletes name are not returned. A table with
    equality deletes is refused.

    The dataset is a snapshot: call this again to see later commits. An older snapshot has the columns that the table
    had then. Data files are found by their URLs, with credentials from the environment.

    Parameters
    ----------
    table
        A table of pyiceberg; or a name, `"catalog/namespace.table"`, for a catalog that pyiceberg is configured for.
    snapshot_id
        The snapshot to read; None for the current one.
    threads
        As for `amudai.dataset`.

    Examples
    --------
    >>> amudai.open_iceberg("lake")
    Traceback (most recent call last):
    amudai.errors.InvalidArgument: table: expected catalog/namespace.table, found 'lake'
    """
    opened = _table(table)
    if snapshot_id is not None and opened.snapshot_by_id(snapshot_id) is None:
        raise InvalidArgument(f"snapshot_id: expected a snapshot of the table, found {shown(snapshot_id)}")
    scratch = tempfile.TemporaryDirectory(prefix="amudai-iceberg-", ignore_cleanup_errors=True)
    try:
        # An older snapshot has a schema of its own.
        schema = opened.scan(snapshot_id=snapshot_id).projection()
        view = _View(opened, schema, scratch.name, _folders(opened))
        places = [view.shard_of(task, number) for number, task in enumerate(_tasks(opened, snapshot_id))]
        if not places:
            places = [view.written(iter(()), "empty")]
        allow = sorted({*view.allow, file_url(f"{scratch.name}/")})
        found = dataset(places, allow=allow, threads=threads)
    except BaseException:
        scratch.cleanup()
        raise
    weakref.finalize(found, scratch.cleanup)
    return found


class _View:
    """Makes a shard for each data file of a snapshot. New shards go to a scratch folder."""

    def __init__(self, table: Any, schema: Any, scratch: str, folders: Sequence[str]) -> None:
        self.allow: set[str] = set(folders)
        self._table = table
        self._schema = schema
        self._scratch = scratch
        self._folders = folders

    def shard_of(self, task: Any, number: int) -> str:
        """The URL of a shard with the rows of a data file that are not deleted."""
        name = _shard_name(task.file)
        found = next((f"{folder}{name}" for folder in self._folders if _exists(f"{folder}{name}")), None)
        if found is None or not self._is_plain(task):
            return self._read(task, number)
        url = _url(task.file.file_path)
        self.allow.add(container(url))
        return self._without_deleted(found, task, number)

    def _is_plain(self, task: Any) -> bool:
        """Whether a shard over the data file has its rows. If not, pyiceberg knows how to read them.

        Columns may have been renamed, added or changed since, and deletes may be in other files than Parquet.
        """
        in_parquet = all(_is_parquet(each) for each in task.delete_files)
        return in_parquet and _has_schema(self._table, self._schema, task.file)

    def _read(self, task: Any, number: int) -> str:
        """The rows of a file that has no shard."""
        if not self._is_plain(task):
            files = required("pyiceberg.io.pyarrow", "iceberg")
            always = required("pyiceberg.expressions", "iceberg").AlwaysTrue()
            scan = files.ArrowScan(self._table.metadata, self._table.io, self._schema, always)
            return self.written(scan.to_record_batches([task]), f"read-{number}")
        url = _url(task.file.file_path)
        self.allow.add(container(url))
        to = f"{self._scratch}/attached-{number}.amudai.shard"
        attach(url, to, ranges=[], hive=False, allow=sorted(self.allow)).close()
        return self._without_deleted(file_url(to), task, number)

    def written(self, batches: Iterator[pa.RecordBatch], name: str) -> str:
        """A shard with these rows, which have the columns of the snapshot."""
        schema = self._schema.as_arrow()
        to = f"{self._scratch}/{name}.amudai.shard"
        aligned = (batch.cast(schema) for batch in batches)
        write(pa.RecordBatchReader.from_batches(schema, aligned), to).close()
        return file_url(to)

    def _without_deleted(self, url: str, task: Any, number: int) -> str:
        positions: set[int] = set()
        for each in task.delete_files:
            with located(url=each.file_path), self._table.io.new_input(each.file_path).open() as stream:
                named = pq.read_table(stream, columns=["file_path", "pos"])
            mine = pc.equal(named["file_path"], task.file.file_path)
            positions.update(named.filter(mine)["pos"].to_pylist())
        if not positions:
            return url
        to = f"{self._scratch}/deleted-{number}.amudai.shard"
        allow = sorted({*self.allow, file_url(f"{self._scratch}/")})
        with self._opened(url, allow) as shard:
            delete(shard, positions=sorted(positions), to=to, allow=allow).close()
        return file_url(to)

    def _opened(self, url: str, allow: Sequence[str]) -> Shard:
        return open_shard(url, allow=allow)


def _table(table: Any) -> Any:
    required("pyiceberg", "iceberg")
    if not isinstance(table, str):
        if not hasattr(table, "current_snapshot"):
            raise InvalidArgument(f"table: expected a table of pyiceberg or its name, found {type(table).__name__}")
        return table
    catalog, mark, name = table.removeprefix("iceberg://").partition("/")
    if not mark or not name:
        raise InvalidArgument(f"table: expected catalog/namespace.table, found {shown(table)}")
    loading = required("pyiceberg.catalog", "iceberg")
    try:
        return loading.load_catalog(catalog).load_table(name)
    except Exception as error:
        if type(error).__name__ in ("NoSuchTableError", "NoSuchNamespaceError"):
            raise MissingFile(f"table: expected one in the catalog {catalog}, found none", url=name) from error
        if isinstance(error, ValueError):
            message = f"table: expected a catalog that pyiceberg is configured for, found {catalog!r}"
            raise InvalidArgument(message) from error
        raise


def _tasks(table: Any, snapshot_id: int | None) -> list[Any]:
    try:
        return list(table.scan(snapshot_id=snapshot_id).plan_files())
    except ValueError as error:
        if "equality deletes" not in str(error):
            raise
        message = "table: expected no equality deletes, which cannot be read; compact the table with its own engine"
        raise UnsupportedFeature(message, url=table.metadata_location) from error


def _folders(table: Any) -> list[str]:
    """The folders with shards, those of the latest snapshots first."""
    stated = table.properties
    logged = [entry.snapshot_id for entry in reversed(table.history())]
    named = [stated[name] for snapshot in logged if (name := f"{PROPERTY}{snapshot}") in stated]
    others = [value for name, value in sorted(stated.items()) if name.startswith(PROPERTY)]
    return list(dict.fromkeys([*named, *others]))


def _shard_name(file: Any) -> str:
    mark = xxhash.xxh3_128_hexdigest(f"{file.file_path}\0{file.file_size_in_bytes}".encode())
    return f"{mark}.amudai.shard"


def _url(path: str) -> str:
    """The URL of a data file: Iceberg names local files by URLs of several forms, or by paths."""
    if is_relative(path):
        return file_url(path)
    return file_url(path.removeprefix("file:")) if path.startswith("file:/") and "://" not in path else path


def _folder_url(to: str | os.PathLike[str]) -> str:
    text = os.fsdecode(to)
    _, inside = open_store(f"{text.rstrip('/')}/x")
    return inside[:-1]


def _make_folder(folder: str) -> None:
    store, url = open_store(f"{folder}x")
    if store.capabilities.local_path:
        os.makedirs(os.path.dirname(store.local_path(url, new=True)), exist_ok=True)


def _exists(url: str) -> bool:
    store, place = open_store(url)
    try:
        store.size(place)
    except MissingFile:
        return False
    return True


def _has_schema(table: Any, schema: Any, file: Any) -> bool:
    """Whether a data file has the columns of a schema of the table, by number, name and type, in Parquet."""
    if not _is_parquet(file):
        return False
    files = required("pyiceberg.io.pyarrow", "iceberg")
    with located(url=file.file_path), table.io.new_input(file.file_path).open() as stream:
        stored = pq.read_schema(stream)
    wanted = files.schema_to_pyarrow(schema)
    return [_column(field) for field in stored] == [_column(field) for field in wanted]


def _is_parquet(file: Any) -> bool:
    return str(file.file_format).upper().rpartition(".")[2] == "PARQUET"


def _column(field: pa.Field) -> tuple[str, str, object]:
    """The name, the type and the numbers of a column, as far as they decide what its values mean."""

    def numbers(each: pa.Field) -> object:
        number = (each.metadata or {}).get(b"PARQUET:field_id")
        kind = each.type
        return number, [numbers(kind.field(at)) for at in range(kind.num_fields)]

    return field.name, str(field.type).replace("large_", ""), numbers(field)
