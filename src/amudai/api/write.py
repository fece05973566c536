"""How is a shard written by a user?"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Any, Final, Literal, Self

import pyarrow as pa

from amudai.api.open import open as open_shard
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.arrow import SCHEMA_PROPERTY, Timestamps, batches_of, matching, schema_nodes, to_storage
from amudai.encoding import profile_of
from amudai.errors import AmudaiError, InvalidArgument, located
from amudai.format import any_value, any_values
from amudai.scan import thread_count
from amudai.shard import ShardReader
from amudai.shard.build import STRIPE_SUFFIX, BuildOptions, ShardBuilder
from amudai.sources import read_files
from amudai.storage import Sealing, open_store, resolve
from amudai.types import SchemaNode, quote_name

__all__ = ["ShardWriter", "ingest", "write"]

Layout = Literal["single", "two-level"]
Size = int | str

# Rows that are encoded at once: what comes in larger pieces is cut.
_BATCH_ROWS: Final = 1 << 17
_UNITS: Final = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


class ShardWriter:
    """Writes a shard batch by batch. It appears when the block ends, all of it, or not at all.

    Encoded blocks beyond a part of `memory_limit` wait in a temporary file, however much comes in. What is staged for
    each column, a few megabytes of text and a dictionary, comes on top.

    Parameters
    ----------
    location, store
        Where the shard goes, as `amudai.open` takes them. A shard that is there already is an error, unless
        `overwrite`, which replaces it in one step.
    schema
        The Arrow schema of all batches.
    profile
        How small at what price: `plain`, `minimal_compression`, `balanced`, `high_compression`, `minimal_size`.
    layout
        One file (`single`), or a file for each stripe beside the root (`two-level`).
    stripe_rows, stripe_bytes
        Where stripes end. One stripe is best for most; None for no limit.
    timestamps
        `ticks` stores times as the format's own DateTime, of 100 ns; `int64` keeps the raw integers.

    Examples
    --------
    >>> schema = pa.schema([("status", pa.int64())])
    >>> with amudai.ShardWriter("status.amudai.shard", schema, overwrite=True) as out:
    ...     out.write({"status": [200, 200, 404]})
    >>> amudai.open("status.amudai.shard").num_rows
    3
    """

    def __init__(
        self,
        location: str | os.PathLike[str],
        schema: pa.Schema,
        *,
        store: object | None = None,
        profile: str = "balanced",
        layout: Layout = "single",
        stripe_rows: int | None = None,
        stripe_bytes: Size | None = None,
        memory_limit: Size = "512MB",
        temp_dir: str | os.PathLike[str] | None = None,
        properties: Mapping[str, object] | None = None,
        bloom: Sequence[str] = (),
        timestamps: Timestamps = "ticks",
        overwrite: bool = False,
        threads: int | None = None,
    ) -> None:
        if layout not in ("single", "two-level"):
            raise InvalidArgument(f"layout: expected single or two-level, found {layout!r}")
        if stripe_rows is not None and stripe_rows < 1:
            raise InvalidArgument(f"stripe_rows: expected at least 1, found {stripe_rows}")
        self.schema = schema
        self._nodes = schema_nodes(schema, timestamps=timestamps)
        self._store, self._url = open_store(location, store)
        folder = os.fsdecode(temp_dir) if temp_dir is not None else _folder_of(location, store)
        options = BuildOptions(
            profile=profile_of(profile),
            two_level=layout == "two-level",
            stripe_rows=stripe_rows,
            stripe_bytes=None if stripe_bytes is None else size_of(stripe_bytes),
            memory=max(1 << 20, size_of(memory_limit) // 4),
            temp_folder=folder,
            bloom=frozenset(_ids(self._nodes, bloom)),
            properties=(*any_values(properties or {}), (SCHEMA_PROPERTY, any_value(schema.serialize().to_pybytes()))),
        )
        self._threads = thread_count(threads)
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="amudai") if self._threads > 1 else None
        self._sealing = Sealing(self._store, self._url, overwrite=overwrite, temp_folder=folder)
        self._builder = ShardBuilder(self._nodes, self._sealing, self._url, options, self._each)
        self._overwrite = overwrite
        self._done = False
        self._broken = False  # a batch was taken in part: its columns no longer have the same length

    @property
    def num_rows(self) -> int:
        """Rows taken so far."""
        return self._builder.rows

    @property
    def encoded_bytes(self) -> int:
        """Bytes that their values take up."""
        return self._builder.encoded_bytes

    def write(self, data: Any) -> None:
        """Take rows: a batch, or whatever `amudai.write` takes, with exactly the writer's schema."""
        if self._done:
            raise InvalidArgument("writer: expected it before its block ends, found it after", url=self._url)
        self._check_whole()
        _, batches = batches_of(data, self.schema)
        with located(url=self._url):
            for batch in batches:
                self._append(matching(batch, self.schema))

    def _check_whole(self) -> None:
        if self._broken:
            raise InvalidArgument("writer: expected all batches taken, found one that was refused", url=self._url)

    def _append(self, batch: pa.RecordBatch) -> None:
        at = 0
        while at < batch.num_rows:
            room = self._builder.room
            count = min(_BATCH_ROWS, batch.num_rows - at, _BATCH_ROWS if room is None else room)
            part = batch.slice(at, count)
            work = [
                partial(to_storage, column, node, quote_name(node.name))
                for column, node in zip(part.columns, self._nodes, strict=True)
            ]
            self._broken = True
            self._builder.append(work, count)
            self._broken = False
            at += count

    def _each(self, work: Callable[[int], None], count: int) -> None:
        """Fields side by side: each has a builder of its own."""
        if self._pool is None or count < 2:
            for index in range(count):
                work(index)
        else:
            for future in [self._pool.submit(work, index) for index in range(count)]:
                future.result()

    def close(self) -> None:
        """Publish the shard."""
        if not self._done:
            self._done = True
            try:
                self._check_whole()
                with located(url=self._url):
                    self._builder.publish(remove=self._old_files())
            finally:
                self._end()

    def _old_files(self) -> list[str]:
        """The other files of a shard that is about to be replaced."""
        if not self._overwrite:
            return []
        try:
            old = ShardReader(self._url, self._store)
            # Stripes only: whatever else a root names may not be ours to remove.
            return [resolve(each, self._url) for each in old.urls if each.endswith(STRIPE_SUFFIX)]
        except AmudaiError:
            return []  # nothing there, or nothing that can be read: then nothing of it is removed

    def abandon(self) -> None:
        """Forget everything that was written; nothing appears."""
        self._done = True
        self._builder.abandon()
        self._end()

    def _end(self) -> None:
        self._sealing.close()
        if self._pool is not None:
            self._pool.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abandon()


def write(
    data: Any, location: str | os.PathLike[str], *, progress: bool | Report | None = None, **options: Any
) -> Shard:
    """Write data as a shard, and open it.

    Parameters
    ----------
    data
        A pyarrow table, batch, reader or dataset; anything that speaks the Arrow PyCapsule protocol, such as a pandas
        or polars frame; an iterable of batches; a dict of columns. Readers and iterables are streamed.
    progress
        True for a bar with rows, bytes and the rate; or a callable that gets them as a `Progress`.
    location, options
        As `ShardWriter` takes them.

    Examples
    --------
    >>> shard = amudai.write({"level": ["info", "warn"]}, "levels.amudai.shard", overwrite=True)
    >>> shard.read().to_pydict()
    {'level': ['info', 'warn']}
    """
    schema, batches = batches_of(data)
    taken = made = 0
    with ShardWriter(location, schema, **options) as out, reporting(progress, _rows_of(data)) as report:
        for batch in batches:
            out.write(batch)
            taken += batch.nbytes
            made = max(made, out.encoded_bytes)  # less where a stripe ends whose values were all the same
            report(out.num_rows, taken, made)
    return open_shard(location, store=options.get("store"))


def ingest(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    location: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word for it
    types: Mapping[str, pa.DataType] | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    progress: bool | Report | None = None,
    **options: Any,
) -> Shard:
    """Turn files into a shard: Parquet, CSV, JSON lines, Arrow, and plain text logs, compressed ones too.

    A log gives a row for each line (`line`, `file`, `line_number`), with `timestamp` and `level` where its shape is
    known.

    Parameters
    ----------
    paths
        A file, folder or pattern, or several of them.
    format, types, on_error
        What the file endings do not say; types of columns instead of inferred ones; whether a bad record ends it all.
    location, progress, options
        As `write` takes them.

    Examples
    --------
    >>> from pathlib import Path
    >>> lines = ["2026-01-01 10:00:00 INFO started", "2026-01-01 10:00:01 WARN slow", ""]
    >>> _ = Path("app.log").write_text(chr(10).join(lines))
    >>> amudai.ingest("app.log", "app.amudai.shard").read(["line_number", "level"]).to_pydict()
    {'line_number': [1, 2], 'level': ['INFO', 'WARN']}
    """
    source = read_files(paths, format=format, types=types, on_error=on_error)
    batches = pa.RecordBatchReader.from_batches(source.schema, source.batches())
    return write(batches, location, progress=progress, **options)


def _rows_of(data: Any) -> int | None:
    rows = getattr(data, "num_rows", None)
    return rows if isinstance(rows, int) else None


def size_of(size: Size) -> int:
    """A number of bytes, written as people do.

    >>> size_of("512MB"), size_of("1 GiB"), size_of(4096)
    (512000000, 1073741824, 4096)
    """
    if isinstance(size, int):
        return size
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)
    if match is None or match[2].upper() not in _UNITS:
        raise InvalidArgument(f"size: expected a number of bytes such as 512MB, found {size!r}")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def _folder_of(location: str | os.PathLike[str], store: object | None) -> str | None:
    """Temporary files lie beside the shard, where there is room for it, unless it is not a local file."""
    text = os.fsdecode(location)
    if store is not None or (isinstance(location, str) and "://" in text):
        return None
    return os.path.dirname(os.path.abspath(text))


def _ids(nodes: Sequence[SchemaNode], names: Sequence[str]) -> list[int]:
    by_name = {node.name: node.schema_id for node in nodes}
    for name in names:
        if name not in by_name:
            raise InvalidArgument(f"bloom: expected a column, found {name!r}")
    return [by_name[name] for name in names]
