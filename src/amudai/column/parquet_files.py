"""Parquet files that hold values of a shard: their footers, and columns of their row groups as Arrow arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

import numpy as np
import pyarrow as pa

from amudai.errors import AmudaiError, CorruptedData
from amudai.lazy import lazy
from amudai.storage import Artifact, count_blocks

__all__ = ["ParquetFile", "RecentChunks"]

# Decoded chunks that are kept, because a scan asks for a part of a row group at a time.
# How many rows are decoded at a time if only the first rows of a row group are wanted.
_AT_ONCE: Final = 1 << 13
_KEPT_BYTES: Final = 128 * 1024 * 1024
_TRAILER: Final = 8  # the size of the footer, and the magic bytes


class ParquetFile:
    """A Parquet file. Its footer is read at the first question, a column of a row group when its values are needed.

    All methods may be called from several threads: each reads with a reader of its own.
    """

    def __init__(self, artifact: Artifact, *, verify: bool = True) -> None:
        self.artifact = artifact
        self._verify = verify
        self._idle: list[Any] = []

    @lazy
    def metadata(self) -> Any:
        """The footer, as `pyarrow.parquet.FileMetaData`."""
        if self.artifact.tag is None:
            _ = self.footer  # before it is parsed: a file that takes the place of this one has another
        with self._reader() as reader:
            return reader.metadata

    @lazy
    def footer(self) -> bytes:
        """The bytes of the footer, up to the end of the file."""
        size = self.artifact.size
        end = max(0, size - _TRAILER)
        length = int.from_bytes(self.artifact.read(end, min(size, end + 4)), "little")
        return bytes(self.artifact.read(max(0, end - length), size))

    @lazy
    def schema(self) -> pa.Schema:
        """The Arrow schema of the file."""
        with self._reader() as reader:
            return reader.schema_arrow

    def rows(self, row_group: int) -> int:
        """How many rows a row group has."""
        if row_group >= self.metadata.num_row_groups:
            found = f"expected less than {self.metadata.num_row_groups}, found {row_group}"
            raise CorruptedData(f"row group: {found}", url=self.artifact.url)
        rows = int(self.metadata.row_group(row_group).num_rows)
        if rows < 0:
            message = f"rows of row group {row_group}: expected a number that is not negative, found {rows}"
            raise CorruptedData(message, url=self.artifact.url)
        return rows

    def read(self, row_group: int, leaves: Sequence[int]) -> pa.ChunkedArray:
        """The top-level column to which these leaves of a row group belong, with nothing but these leaves."""
        rows = self.rows(row_group)
        self._require_leaves(leaves)
        with self._reader() as reader:
            table = reader.reader.read_row_group(row_group, column_indices=sorted(leaves), use_threads=False)
            self._require_same()
            for column in table.columns:
                _require_sound(column)
        count_blocks(len(leaves))
        if table.num_columns != 1 or table.num_rows != rows:
            found = f"{table.num_rows} rows of {table.num_columns} columns"
            message = f"column chunks {list(leaves)}: expected {rows} rows of one column, found {found}"
            raise CorruptedData(message, url=self.artifact.url)
        return table.column(0)

    def first_rows(self, row_group: int, leaves: Sequence[int], rows: int) -> pa.ChunkedArray:
        """At least the first `rows` rows of the same column. What comes after them is not decoded."""
        self._require_leaves(leaves)
        pieces: list[pa.Array] = []
        seen = 0
        with self._reader() as reader:
            batches = reader.reader.iter_batches(
                _AT_ONCE, row_groups=[row_group], column_indices=sorted(leaves), use_threads=False
            )
            for batch in batches:
                _require_sound(batch.column(0))
                pieces.append(batch.column(0))
                seen += batch.num_rows
                if batch.num_columns != 1 or seen >= rows:
                    break
            self._require_same()
        count_blocks(len(leaves))
        if seen < rows or len({piece.type for piece in pieces}) != 1:
            message = f"column chunks {list(leaves)}: expected {rows} rows of one column, found {seen} rows"
            raise CorruptedData(message, url=self.artifact.url)
        return pa.chunked_array(pieces)

    def _require_leaves(self, leaves: Sequence[int]) -> None:
        if max(leaves) >= self.metadata.num_columns:
            found = f"expected less than {self.metadata.num_columns}, found {max(leaves)}"
            raise CorruptedData(f"column chunk: {found}", url=self.artifact.url)

    def batches(self, row_group: int, leaves: Sequence[int], rows: int) -> Iterator[pa.RecordBatch]:
        """These leaves of a row group, at most `rows` rows at a time."""
        if not leaves:
            return
        with self._reader() as reader:
            for batch in reader.reader.iter_batches(
                rows, row_groups=[row_group], column_indices=sorted(leaves), use_threads=False
            ):
                for column in batch.columns:
                    _require_sound(column)
                yield batch

    def _require_same(self) -> None:
        """Raise CorruptedData if another file took the place of this one, and the store has no tags that would tell."""
        if self.artifact.tag is None:
            end = np.array([self.artifact.size], np.uint64)
            found = self.artifact.read_many(end - np.uint64(len(self.footer)), end, anew=True)
            if found.buffers[0] != self.footer:
                raise CorruptedData("Parquet: expected the footer that was read before, found another")

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        """A reader that no other thread uses. The footer is parsed only for the first one."""
        try:
            try:
                reader = self._idle.pop()
            except IndexError:
                reader = self._opened()
            yield reader
        except AmudaiError as error:
            error.locate(url=self.artifact.url)
            raise
        except (pa.ArrowException, OSError, ValueError) as error:
            message = f"Parquet: expected values that can be read, found {error}"
            raise CorruptedData(message, url=self.artifact.url) from error
        self._idle.append(reader)

    def _opened(self) -> Any:
        import pyarrow.parquet as pq  # takes long to import, and few need it

        return pq.ParquetFile(
            pa.PythonFile(_ArtifactBytes(self.artifact), mode="r"),
            metadata=self.__dict__.get("metadata"),
            # Where a request takes time, the chunks of a row group are read together.
            pre_buffer=not self.artifact.store.capabilities.mappable,
            page_checksum_verification=self._verify,
        )


class RecentChunks:
    """Columns of row groups that were decoded recently. Several threads that ask for the same one decode it once."""

    def __init__(self, most: int = _KEPT_BYTES) -> None:
        self._most = most
        self._chunks: dict[tuple[object, ...], Future[pa.ChunkedArray]] = {}
        self._sizes: dict[tuple[object, ...], int] = {}
        self._lock = Lock()

    def __contains__(self, key: tuple[object, ...]) -> bool:
        """Whether the chunk with this key is kept."""
        return key in self._sizes

    def get(self, key: tuple[object, ...], decode: Callable[[], pa.ChunkedArray]) -> pa.ChunkedArray:
        """The chunk with this key. `decode` makes it if it is not kept."""
        with self._lock:
            known = self._chunks.pop(key, None)
            waiting: Future[pa.ChunkedArray] = Future() if known is None else known
            self._chunks[key] = waiting  # a dict keeps its order: the oldest comes first
        if known is not None:
            return known.result()
        try:
            found = decode()
        except BaseException as error:
            with self._lock:
                self._chunks.pop(key, None)
            waiting.set_exception(error)
            raise
        waiting.set_result(found)
        with self._lock:
            self._sizes[key] = found.nbytes
            for oldest in [each for each in self._chunks if each != key and each in self._sizes]:
                if sum(self._sizes.values()) <= self._most:
                    break
                del self._chunks[oldest], self._sizes[oldest]
        return found


def _require_sound(values: pa.Array | pa.ChunkedArray) -> None:
    """Raise `pa.ArrowException` for texts that are not UTF-8, and for codes that no entry of a dictionary has.

    Arrow's reader of Parquet hands both on as they are, and what works with such an array reads outside of its memory.
    """
    if isinstance(values, pa.ChunkedArray):
        for chunk in values.chunks:
            _require_sound(chunk)
        return
    kind = values.type
    if isinstance(values, pa.ExtensionArray):
        _require_sound(values.storage)
    elif pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values.validate(full=True)
    elif pa.types.is_struct(kind):
        for at in range(kind.num_fields):
            _require_sound(values.field(at))
    elif pa.types.is_map(kind):
        _require_sound(values.keys)
        _require_sound(values.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        _require_sound(values.values)


class _ArtifactBytes:
    """The bytes of a file of a shard, as Python's files read them."""

    closed = False

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._artifact.size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = None) -> memoryview:
        end = self._artifact.size if size is None or size < 0 else min(self._artifact.size, self._at + size)
        found = self._artifact.read(min(self._at, end), end)
        self._at = end
        return found

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True
