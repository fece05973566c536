"""The shards of a folder, as they are now: which there are, what each of them says, and all of them as one table."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from threading import Lock
from typing import Final

import pyarrow as pa

import amudai
from amudai import AmudaiError, Dataset, HashIndex, InvalidArgument, Limits, Shard, StorageError, TermIndex
from amudai.asking import KqlWords

__all__ = ["Folder", "ShardFacts", "Snapshot", "TimeBounds", "bounds_of", "quoted", "time_column"]

_INDEX_KINDS: Final = {TermIndex.index_type: "words", HashIndex.index_type: "values"}
# Seconds before a folder is looked at again.
_FRESH: Final = 1.0
# How many shards stay open for their own pages.
_MOST_OPEN: Final = 128


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """The first and the last time of a column, in microseconds since 1970, and how many rows have none."""

    first: int
    last: int
    nulls: int


@dataclass(frozen=True, slots=True)
class ShardFacts:
    """What a shard says about itself, or why it cannot be read."""

    name: str
    rows: int = 0
    positions: int = 0
    bytes: int = 0
    columns: int = 0
    stripes: int = 0
    time_column: str | None = None
    times: TimeBounds | None = None
    indexes: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class _RootFile:
    """A root file, and by what it is told from another of the same name."""

    name: str
    size: int
    modified: int


class Folder:
    """A folder of shards, or a single shard. Nothing outside of the folder is ever opened.

    Parameters
    ----------
    location
        The path of a folder, or of a shard.
    allow
        Folders and prefixes of URLs that shards may refer to, besides their own folder.
    """

    def __init__(self, location: str, allow: Sequence[str] = (), limits: Limits | None = None) -> None:
        if "://" in location:
            raise InvalidArgument(f"folder: expected a folder on this machine, found {location}")
        if not os.path.exists(location):
            raise StorageError("folder: expected a folder or a shard, found none", file=location)
        path = os.path.realpath(location)
        self.single = None if os.path.isdir(path) else os.path.basename(path)
        self.path = path if self.single is None else os.path.dirname(path)
        self.location = location
        self.allow = tuple(allow)
        self.limits = limits or Limits()
        self._facts: dict[_RootFile, ShardFacts] = {}
        self._lock = Lock()
        self._seen = -_FRESH
        self._snapshot: Snapshot | None = None

    @property
    def name(self) -> str:
        """The name that the folder is shown by."""
        return self.single or os.path.basename(self.path) or self.path

    def now(self) -> Snapshot:
        """The shards that the folder has now."""
        with self._lock:
            if self._snapshot is None or time.monotonic() - self._seen > _FRESH:
                files, outside = self._listed()
                if self._snapshot is None or files != self._snapshot.files:
                    self._snapshot = Snapshot(self, files, outside)
                self._seen = time.monotonic()
            return self._snapshot

    def _listed(self) -> tuple[tuple[_RootFile, ...], tuple[str, ...]]:
        """The shards inside of the folder, and the names of those that links lead out of it to."""
        names = [self.single] if self.single is not None else amudai.dataset(self.path, catalog="ignore").shards
        files, outside = [], []
        for name in names:
            path = self.path_of(name)
            if not self.holds(path):
                outside.append(name)
                continue
            try:
                facts = os.stat(path)
            except FileNotFoundError:
                continue  # removed since it was listed
            files.append(_RootFile(name, facts.st_size, facts.st_mtime_ns))
        return tuple(files), tuple(outside)

    def path_of(self, name: str) -> str:
        """The path of a file of the folder."""
        return os.path.join(self.path, name)

    def holds(self, path: str) -> bool:
        """Whether a path leads to a file inside of the folder, all links followed."""
        return os.path.realpath(path).startswith(f"{self.path.rstrip(os.sep)}{os.sep}")

    def facts(self, file: _RootFile) -> ShardFacts:
        """What the shard in a file says about itself. Each file is opened for this once."""
        found = self._facts.get(file)
        if found is None:
            try:
                with self.open(file.name) as shard:
                    found = _facts(file.name, shard)
            except AmudaiError as error:
                found = ShardFacts(file.name, bytes=file.size, problem=str(error))
            self._facts[file] = found
        return found

    def open(self, name: str) -> Shard:
        """Open a shard of the folder. A shard outside of it, or with a file outside of it, is an error."""
        if not self.holds(self.path_of(name)):
            raise StorageError("shard: expected one of the folder, found none of this name", file=name)
        shard = amudai.open(self.path_of(name), allow=self.allow, limits=self.limits)
        for file in shard.files:
            path = self._local(file.url)
            if path is not None and not self.holds(path) and not self._is_allowed(path):
                shard.close()
                message = f"shard: expected files inside of the folder, found a link to {os.path.realpath(path)}"
                raise StorageError(message, file=self.path_of(name))
        return shard

    def _local(self, url: str) -> str | None:
        from urllib.parse import unquote, urlsplit

        return unquote(urlsplit(url).path) if url.startswith("file://") else None

    def _is_allowed(self, path: str) -> bool:
        real = os.path.realpath(path)
        return any("://" not in each and real.startswith(os.path.realpath(each)) for each in self.allow)


class Snapshot:
    """The shards that a folder had at one moment."""

    def __init__(self, folder: Folder, files: tuple[_RootFile, ...], outside: tuple[str, ...]) -> None:
        self.folder = folder
        self.files = files
        self.outside = outside
        self._by_name = {file.name: file for file in files}
        self._open: OrderedDict[str, Shard] = OrderedDict()
        self._words: dict[str, KqlWords] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the shards: their paths below the folder."""
        return tuple(file.name for file in self.files)

    def facts(self, name: str) -> ShardFacts:
        """What a shard says about itself."""
        return self.folder.facts(self._file(name))

    @cached_property
    def all_facts(self) -> tuple[ShardFacts, ...]:
        """What all shards say about themselves. The first time, all are opened."""
        return tuple(self.folder.facts(file) for file in self.files)

    @cached_property
    def unreadable(self) -> tuple[ShardFacts, ...]:
        """The shards that cannot be opened. No query reads them."""
        return tuple(facts for facts in self.all_facts if facts.problem is not None)

    def readable(self, scope: str) -> tuple[ShardFacts, ...]:
        """The shards that a query over a shard, or with `""` over the whole folder, reads, in the order of rows."""
        if scope:
            return (self.facts(scope),)
        return tuple(facts for facts in self.all_facts if facts.problem is None)

    def shard(self, name: str) -> Shard:
        """One shard, open."""
        found = self._open.pop(name, None)
        if found is None:
            found = self.opened(name)
        self._open[name] = found
        if len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)  # whoever reads it still has it
        return found

    def opened(self, name: str) -> Shard:
        """One shard, opened anew: nothing of it is kept from earlier questions."""
        return self.folder.open(self._file(name).name)

    def table(self, scope: str) -> Shard | Dataset:
        """One shard, or with `""` all shards as one table."""
        if scope:
            return self.shard(scope)
        sound = self.readable("")
        return self.shard(sound[0].name) if len(sound) == 1 else self._dataset

    @cached_property
    def _dataset(self) -> Dataset:
        folder, sound = self.folder, self.readable("")
        if not sound:
            raise StorageError("folder: expected one with shards that can be read, found none", file=folder.location)
        is_whole = len(sound) == len(self.files) and not self.outside
        places = folder.path if is_whole else [folder.path_of(facts.name) for facts in sound]
        return amudai.dataset(places, allow=folder.allow, limits=folder.limits)

    def shown_name(self, scope: str, name: str) -> str:
        """The name of the folder for a shard that the table of a scope knows by `name`."""
        table = self.table(scope)
        if isinstance(table, Shard) or name in self._by_name:
            return name
        return self.readable(scope)[table.shards.index(name)].name

    def words(self, scope: str) -> KqlWords:
        """What may come next in a question."""
        if scope not in self._words:
            self._words[scope] = KqlWords(self.table(scope))
        return self._words[scope]

    def _file(self, name: str) -> _RootFile:
        if name not in self._by_name:
            raise StorageError("shard: expected one of the folder, found none of this name", file=name)
        return self._by_name[name]


def time_column(schema: pa.Schema) -> str | None:
    """The column that a histogram over time is about: the first that holds times; None if there is none."""
    return next((field.name for field in schema if pa.types.is_timestamp(field.type)), None)


def _facts(name: str, shard: Shard) -> ShardFacts:
    column = time_column(shard.schema)
    kinds: dict[str, None] = {}
    for index in shard.indexes:
        kinds[f"{_INDEX_KINDS.get(index.type, index.type)} of {', '.join(index.fields)}"] = None
    return ShardFacts(
        name=name,
        rows=shard.num_rows,
        positions=shard.num_positions,
        bytes=shard.size,
        columns=len(shard.schema),
        stripes=len(shard.stripes),
        time_column=column,
        times=None if column is None else bounds_of(shard[quoted(column)].stats),
        indexes=tuple(kinds),
    )


def bounds_of(stats: amudai.FieldStats) -> TimeBounds | None:
    """The bounds of times in statistics; None if the statistics do not say."""
    first, last = (_micros(each) for each in (stats.min, stats.max))
    if first is None or last is None or stats.null_count is None:
        return None
    return TimeBounds(first, last, stats.null_count)


def _micros(value: object) -> int | None:
    if isinstance(value, pa.TimestampScalar):  # a time in nanoseconds, without pandas
        return int(value.cast(pa.timestamp("us", value.type.tz), safe=False).value)
    if not isinstance(value, datetime):
        return None
    zoned = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    since = zoned - datetime(1970, 1, 1, tzinfo=UTC)
    return since.days * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds


def quoted(name: str) -> str:
    """The path of a column, whatever characters its name has."""
    return f"`{name.replace('`', '``')}`"
