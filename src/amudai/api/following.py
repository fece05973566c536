"""Adding the lines that arrive in a file, or in a pipe, to shards."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from inspect import signature
from typing import Any, Final, Literal, TypeAlias

from amudai.api.appending import append
from amudai.api.dataset_writing import new_shard_name
from amudai.api.opening import open as open_shard
from amudai.api.shard import Shard
from amudai.api.writing import write
from amudai.arguments import is_one_of, mapping, path_text, shown, whole_number
from amudai.datasets import SHARD_SUFFIX
from amudai.encoding import ProfileChoice
from amudai.errors import InvalidArgument, UnsupportedFeature, located
from amudai.format import MARKED_BYTES, FollowedFile, followed_of, mark_of
from amudai.index import IndexSpec
from amudai.sources import (
    GrowingFile,
    GrowingStream,
    GrowingText,
    InputFile,
    MemoryContent,
    OnError,
    Source,
    Tell,
    read_files,
)
from amudai.storage import Allow, Size, translated

__all__ = ["AtEnd", "follow"]

AtEnd: TypeAlias = Literal["wait", "stop"]

# So many parts a shard may be made of. A look-up asks each of them where their indexes are not merged.
_MOST_PARTS: Final = 128
# Text is added before it takes more memory than this.
_MOST_BYTES: Final = 64 << 20
# The beginning of a file from which its columns are decided when reading goes on in the middle.
_BEGINNING: Final = 4 << 20
# Seconds without a new line after which the last record is complete.
_QUIET: Final = 1.0


def follow(
    source: str | os.PathLike[str] | int,
    to: str | os.PathLike[str],
    *,
    every_rows: int = 100_000,
    every_seconds: float = 5.0,
    rows_per_shard: int = 1_000_000,
    at_end: AtEnd = "wait",
    on_error: OnError = "raise",
    on_bad_record: Tell | None = None,
    reading: Mapping[str, Any] | None = None,
    profile: ProfileChoice = "balanced",
    indexes: Sequence[IndexSpec] = (),
    memory_limit: Size = "512MB",
    threads: int | None = None,
    allow: Allow = (),
) -> Iterator[Shard]:
    """Add the lines that arrive in a file or a pipe to a folder of shards, for as long as they arrive.

    Lines appear in the folder some seconds after they were written. They are added to one shard, by reference, until it
    has `rows_per_shard` rows; then another shard begins. Each addition appears as a whole or not at all, and notes how
    far the file was read: the next call goes on there, and no line is taken twice or left out. A last line waits until
    it has a line end. A file that is moved away and begins anew, as logs do when they are rotated, is read to its end,
    and then the new one.

    The columns and their types are decided from what the file has when it is first read, as for `amudai.read_files`.

    Parameters
    ----------
    source
        A file with CSV, JSON lines or a log, not compressed; or the descriptor of a pipe, such as 0, standard input.
    to
        A local folder, which is made if it does not exist; or the path of one shard (`.amudai.shard`), which then
        takes all rows.
    every_rows, every_seconds
        The number of lines after which they are added, and the seconds after which they are added anyway.
    rows_per_shard
        The rows after which another shard begins.
    at_end
        `"wait"` for more at the end of the file, or `"stop"` there. A pipe ends when its writer closes it.
    on_error, on_bad_record
        As for `amudai.read_files`.
    reading
        Other arguments of `amudai.read_files`, such as `{"format": "csv", "types": {"id": "uint64"}}`.
    profile, indexes, memory_limit, threads
        As for `amudai.write`.
    allow
        Where files outside of the folder may be to which its shards refer, as `amudai.open` takes it.

    Yields
    ------
    Shard
        The shard to which lines were added, each time.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("busy.log").write_text("2026-01-01 10:00:00 INFO started" + chr(10))
    >>> [shard.num_rows for shard in amudai.follow("busy.log", "busy", at_end="stop")]
    [1]
    >>> with open("busy.log", "a") as log:
    ...     _ = log.write("2026-01-01 10:00:01 WARN slow" + chr(10))
    >>> [shard.num_rows for shard in amudai.follow("busy.log", "busy", at_end="stop")]
    [2]
    """
    if not is_one_of(at_end, ("wait", "stop")):
        raise InvalidArgument(f"at_end: expected 'wait' or 'stop', found {shown(at_end)}")
    if not isinstance(every_seconds, int | float) or not 0 <= every_seconds < float("inf"):
        raise InvalidArgument(f"every_seconds: expected a number from 0 on, found {shown(every_seconds)}")
    if "://" in path_text(to, "to"):
        raise UnsupportedFeature("follow: expected a local folder or shard, found a URL")
    options = {"profile": profile, "memory_limit": memory_limit, "threads": threads}
    most = whole_number(rows_per_shard, "rows_per_shard", 1)
    target = _GrowingShards(path_text(to, "to"), most, indexes, options, allow)
    stated = {} if reading is None else mapping(reading, "reading")
    for name in stated:
        if name not in signature(read_files).parameters:
            raise InvalidArgument(f"reading: expected options of amudai.read_files, found {shown(name)}")
    told = {**stated, "on_error": on_error, "on_bad_record": on_bad_record}
    text = _growing(source, waits=at_end == "wait")
    follower = _Follower(text, target, told, whole_number(every_rows, "every_rows", 1), float(every_seconds))
    return follower.shards()


def _growing(source: str | os.PathLike[str] | int, *, waits: bool) -> GrowingText:
    if isinstance(source, int):
        return GrowingStream(source, "<stdin>" if source == 0 else f"<descriptor {source}>")
    path = path_text(source, "source")
    if InputFile.at(path).compression is not None:
        raise UnsupportedFeature("follow: expected a file that is not compressed, found a compressed one", file=path)
    return GrowingFile(path, waits=waits)


def _is_marked(text: GrowingFile, file: FollowedFile) -> bool:
    """Whether a file is the one that was followed."""
    if file.size > text.size():
        return False
    return mark_of(text.part(max(0, file.size - MARKED_BYTES), file.size)) == file.mark


class _GrowingShards:
    """The shards to which rows are added."""

    def __init__(
        self, path: str, rows: int, indexes: Sequence[IndexSpec], options: Mapping[str, Any], allow: Allow
    ) -> None:
        self._path = path
        self._allow = allow
        self._rows = rows
        self._indexes = indexes
        self._options = options
        self._is_shard = path.endswith(SHARD_SUFFIX)
        self.folder = os.path.dirname(os.path.abspath(path)) if self._is_shard else os.path.abspath(path)
        self._root: str | None = path if self._is_shard and os.path.exists(path) else None
        self._parts = 0

    def noted(self) -> Iterator[tuple[Shard, FollowedFile]]:
        """What the shards of the folder note about files that were followed, newest shards first."""
        names = sorted(os.listdir(self.folder), reverse=True) if os.path.isdir(self.folder) else []
        chosen = [os.path.basename(self._path)] if self._is_shard else names
        for name in chosen:
            if name in names and name.endswith(SHARD_SUFFIX) and name[:1] not in "._":
                with open_shard(os.path.join(self.folder, name), allow=self._allow) as shard:
                    for file in followed_of(shard._reader.properties):
                        yield shard, file

    def go_on(self, shard: Shard) -> None:
        """Add to a shard that is there already."""
        if self._root is None and shard.num_rows < self._rows:
            self._root = os.path.join(self.folder, os.path.basename(shard.url))
            self._parts = len(shard.files)

    def add(self, source: Source) -> Shard:
        """Add rows. They are there when this returns, or not at all."""
        if self._root is None:
            with located(url=self.folder), translated():
                os.makedirs(self.folder, exist_ok=True)
            self._root = self._path if self._is_shard else os.path.join(self.folder, new_shard_name())
            self._parts = 0
            found = write(source, self._root, indexes=self._indexes, **self._options)
        else:
            added = append(self._root, source, allow=self._allow, **self._options)
            assert isinstance(added, Shard)
            found = added
        self._parts += 1
        if not self._is_shard and (found.num_rows >= self._rows or self._parts >= _MOST_PARTS):
            self._root = None
        return found


class _Follower:
    """Cuts growing text into pieces of whole records, and adds each piece."""

    def __init__(
        self,
        text: GrowingText,
        target: _GrowingShards,
        reading: Mapping[str, Any],
        every_rows: int,
        every_seconds: float,
    ) -> None:
        self._text = text
        self._target = target
        self._reading = reading
        self._every_rows = every_rows
        self._every_seconds = every_seconds
        self._quiet = min(_QUIET, every_seconds)
        self._begin()
        if isinstance(text, GrowingFile):
            self._resume(text)

    def _begin(self) -> None:
        """Begin with the first line of a file."""
        self._ordinal = self._text.ordinal
        self._pending = b""
        self._since = self._latest = 0.0  # when the first pending byte arrived, and when the last one did
        self._size = self._lines = 0  # how much of the file is in shards
        self._tail = b""  # the last bytes of it
        self._source: Source | None = None  # knows what was decided about the file

    def _resume(self, text: GrowingFile) -> None:
        """Go on where an earlier run ended, if the file is still the one that it read."""
        name = os.path.relpath(text.name, self._target.folder)
        found = next(((shard, file) for shard, file in self._target.noted() if file.file == name), None)
        if found is None:
            return
        shard, file = found
        if not _is_marked(text, file):
            # Another file has its name now. It was rotated while nobody followed it: its rest comes first.
            for path in text.moved_to():
                with closing(GrowingFile(path)) as moved:
                    is_it = _is_marked(moved, file)
                if is_it:
                    text.begin_with(path)
                    break
            else:
                return
        tail = text.part(max(0, file.size - MARKED_BYTES), file.size)
        beginning = text.part(0, min(file.size, _BEGINNING))
        beginning = beginning[: beginning.rfind(b"\n") + 1]
        with read_files(self._file(beginning), **self._reading) as source:
            known = {field.name: field.type for field in shard.schema if field.name in source.schema.names}
        types = {**known, **self._reading.get("types", {})}
        self._source = read_files(self._file(beginning), **{**self._reading, "types": types})
        self._size, self._lines, self._tail = file.size, file.lines, tail
        self._target.go_on(shard)
        text.seek(file.size)

    def shards(self) -> Iterator[Shard]:
        """Add what arrives, until nothing will arrive any more."""
        try:
            is_open = True
            while is_open:
                try:
                    arrived = self._text.read(self._patience())
                except KeyboardInterrupt:
                    self._add(is_quiet=True)
                    raise
                is_open = arrived is not None
                begins_anew = self._ordinal != self._text.ordinal
                if arrived:
                    self._latest = time.monotonic()
                    self._since = self._since if self._pending else self._latest
                    self._pending += arrived
                if not is_open or begins_anew or self._is_due():
                    is_quiet = time.monotonic() - self._latest >= self._quiet or len(self._pending) >= _MOST_BYTES
                    ends = begins_anew or not (is_open or isinstance(self._text, GrowingFile))
                    shard = self._add(is_quiet=is_quiet or not is_open or begins_anew, ends=ends)
                    if shard is not None:
                        yield shard
                if begins_anew:
                    self._begin()
        except GeneratorExit:
            self._add(is_quiet=True)
            raise
        finally:
            self._text.close()

    def _patience(self) -> float:
        """Seconds until the pending text is due."""
        if not self._pending:
            return self._every_seconds
        return max(0.0, self._since + self._every_seconds - time.monotonic())

    def _is_due(self) -> bool:
        if not self._pending:
            return False
        if time.monotonic() - self._since >= self._every_seconds or len(self._pending) >= _MOST_BYTES:
            return True
        return self._pending.count(b"\n") >= self._every_rows

    def _add(self, *, is_quiet: bool, ends: bool = False) -> Shard | None:
        """Add pending records: all whole lines if it `is_quiet`, and an unfinished line as well if the text `ends`.

        Otherwise the last record waits, as more lines may belong to it.
        """
        self._since = time.monotonic()  # what is left waits for as long again
        if ends and self._pending and not self._pending.endswith(b"\n"):
            self._pending += b"\n"
        lines = self._pending[: self._pending.rfind(b"\n") + 1]
        if not lines:
            return None
        source = self._source
        if source is None:
            source = self._opened(lines)
            if source is None:
                return None  # a header alone does not say what the columns hold
        end = len(lines) if is_quiet else source.whole_records(lines)
        if not end:
            return None
        piece = lines[:end]
        if self._source is not None:
            source = source.continued(self._file(piece))
        elif end < len(lines):
            source = read_files(self._file(piece), **self._reading)
        size, count = self._size + end, self._lines + piece.count(b"\n")
        tail = (self._tail + piece)[-MARKED_BYTES:]
        if isinstance(self._text, GrowingFile):
            name = os.path.relpath(self._text.name, self._target.folder)
            source.followed = FollowedFile(name, mark_of(tail), size, count)
        shard = self._target.add(source)
        self._source, self._size, self._lines, self._tail = source, size, count, tail
        self._pending = self._pending[end:]
        return shard

    def _opened(self, lines: bytes) -> Source | None:
        """The beginning of a file; None if it has no record yet."""
        with read_files(self._file(lines), **{**self._reading, "on_error": "skip", "on_bad_record": None}) as probe:
            for reader, decisions in probe.decisions.items():
                encoding = next((str(each.value) for each in decisions if each.option == "encoding"), "")
                if encoding.startswith(("utf-16", "utf-32")):
                    raise UnsupportedFeature(f"follow: expected text in UTF-8, found {encoding}", file=reader)
            probe.continued(self._file(b""))  # raises an error for formats whose files cannot be read in pieces
            if not any(batch.num_rows for batch in probe.batches()):
                return None
        return read_files(self._file(lines), **self._reading)

    def _file(self, piece: bytes) -> InputFile:
        return replace(InputFile.named(self._text.name, MemoryContent(piece)), first_line=self._lines + 1)
