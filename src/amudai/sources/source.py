"""Files that are read batch by batch, with one schema."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain, groupby
from typing import Final, Self

import pyarrow as pa

from amudai.errors import InvalidSchema
from amudai.format import FollowedFile, Properties, followed_property
from amudai.sources.contract import Decision, FilePiece, FileReader, PieceReader, SequentialReader
from amudai.sources.files import InputFile, translated
from amudai.sources.finding import SkippedFile
from amudai.sources.partitions import Partitions
from amudai.sources.records import BadRecords, OnError, Tell
from amudai.sources.taken_in import noted_files
from amudai.sources.unify import fitted
from amudai.threads import in_order, thread_count

__all__ = ["Source"]

_KEPT: Final = ("bad_record", "bad_record_place")
# Batches of fewer rows and bytes are joined.
_FEW_ROWS: Final = 8192
_FEW_BYTES: Final = 1 << 20


class Source:
    """Files that are read batch by batch, as one table. Made by `amudai.read_files`.

    Attributes
    ----------
    schema
        The schema of all batches.
    skipped
        Files of folders and archives that are not read: the path of each, and why.
    bad_records
        The records that the latest call of `batches` or `to_reader` left out, or kept as text.
    followed
        What a shard notes about the one file if others are still writing it; None for other files.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("a.csv").write_text("id,name" + chr(10) + "1,x" + chr(10))
    >>> with amudai.read_files("a.csv") as source:
    ...     source.files, source.size, source.schema.names
    (['a.csv'], 12, ['id', 'name'])
    """

    def __init__(
        self,
        readers: list[FileReader],
        schema: pa.Schema,
        on_error: OnError,
        on_bad_record: Tell | None = None,
        partitions: Partitions | None = None,
        skipped: Sequence[SkippedFile] = (),
        opened: ExitStack | None = None,
    ) -> None:
        self._readers = readers
        self._on_error: OnError = on_error
        self._on_bad_record = on_bad_record
        self._partitions = Partitions({}, {}) if partitions is None else partitions
        self._read_schema = schema
        added = [*schema, *self._partitions.fields.values()]
        self.schema = pa.schema(added if on_error != "keep" else _with_bad_records(added), metadata=schema.metadata)
        self.skipped = list(skipped)
        self.bad_records = BadRecords(on_error)
        self._opened = ExitStack() if opened is None else opened
        self.followed: FollowedFile | None = None

    @property
    def files(self) -> list[str]:
        """The files, in the order in which they are read."""
        return [reader.file.path for reader in self._readers]

    @property
    def size(self) -> int:
        """The bytes of all files, as they are stored. Those of the members of an archive are not compressed."""
        return sum(reader.file.size() for reader in self._readers)

    @property
    def decisions(self) -> dict[str, tuple[Decision, ...]]:
        """What was decided about each file from its content."""
        return {reader.file.path: reader.decisions for reader in self._readers}

    @property
    def notes(self) -> dict[str, tuple[str, ...]]:
        """What there is to say about each file after it was read. Files without notes are left out."""
        found = {reader.file.path: reader.notes() for reader in self._readers}
        return {path: texts for path, texts in found.items() if texts}

    def noted_at(self, location: str | os.PathLike[str]) -> Properties:
        """The property by which a shard at `location` says which files it was made from."""
        noted = noted_files([reader.file for reader in self._readers], location)
        return noted if self.followed is None else (*noted, *followed_property([self.followed]))

    def continued(self, file: InputFile) -> Source:
        """More of the one file of this source. What was decided about the file stays, and so does the schema."""
        reader = self._readers[0].continued(file)
        return Source([reader], self._read_schema, self._on_error, self._on_bad_record, self._partitions)

    def whole_records(self, data: bytes) -> int:
        """How many bytes at the beginning of more text of the one file are whole records, whatever follows."""
        return self._readers[0].whole_records(data)

    def batches(self, threads: int | None = None) -> Iterator[pa.RecordBatch]:
        """The batches of all files, one at a time. Each call reads the files again.

        Parameters
        ----------
        threads
            How many threads parse text, as for `amudai.write`.
        """
        count = thread_count(threads)
        self.bad_records = bad = BadRecords(self._on_error, self._on_bad_record)
        for _, group in groupby(self._readers, type):
            readers = list(group)
            found = chain(
                self._in_sequence([each for each in readers if isinstance(each, SequentialReader)], bad, count),
                self._in_pieces([each for each in readers if isinstance(each, PieceReader)], bad, count),
            )
            yield from _joined(found) if readers[0].is_text else found

    def _in_sequence(
        self, readers: Sequence[SequentialReader], bad: BadRecords, threads: int
    ) -> Iterator[pa.RecordBatch]:
        for reader in readers:
            with translated(reader.file):
                for batch in reader.batches(self._read_schema, bad, threads):
                    yield from self._made(batch, bad, reader.file)
                yield from self._kept(bad, reader.file)

    def _in_pieces(self, readers: Sequence[PieceReader], bad: BadRecords, threads: int) -> Iterator[pa.RecordBatch]:
        """The batches of files whose pieces are read on several threads, from one file to the next without a break."""

        def calls() -> Iterator[Callable[[], tuple[PieceReader, FilePiece]]]:
            for reader in readers:
                with translated(reader.file):
                    for call in reader.pieces(self._read_schema, raises=bad.raises):
                        yield partial(_read, reader, call)

        for reader, pieces in groupby(in_order(lambda call: call(), calls(), threads), lambda each: each[0]):
            with translated(reader.file):
                for _, piece in pieces:
                    for line, reason, text in piece.refused:
                        bad.add(reader.file, line, reason, text)
                    for batch in piece.batches:
                        yield from self._made(batch, bad, reader.file)
                yield from self._kept(bad, reader.file)

    def _made(self, batch: pa.RecordBatch, bad: BadRecords, file: InputFile) -> Iterator[pa.RecordBatch]:
        if batch.num_rows:
            yield fitted(self._partitions.added(batch, file), self.schema, file)
        yield from self._kept(bad, file)

    def _kept(self, bad: BadRecords, file: InputFile) -> Iterator[pa.RecordBatch]:
        """The bad records since the last call as rows."""
        kept = bad.take_kept()
        if kept:
            texts, places = zip(*kept, strict=True)
            arrays = [pa.array(texts, pa.string()), pa.array(places, pa.string())]
            batch = pa.RecordBatch.from_arrays(arrays, names=list(_KEPT))
            yield fitted(self._partitions.added(batch, file), self.schema, file)

    def to_reader(self, threads: int | None = None) -> pa.RecordBatchReader:
        """The rows of all files as a reader, which `amudai.write` takes. Each call reads the files anew.

        Parameters
        ----------
        threads
            How many threads parse text, as for `amudai.write`.
        """
        return pa.RecordBatchReader.from_batches(self.schema, self.batches(threads))

    def close(self) -> None:
        """Close archives, and remove the copies of streams."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Source({len(self._readers)} files, {len(self.schema)} columns)"


def _with_bad_records(fields: list[pa.Field]) -> list[pa.Field]:
    """The fields, which can all be null, and those of a bad record."""
    names = {field.name for field in fields}
    for name in _KEPT:
        if name in names:
            raise InvalidSchema(f'column {name!r}: expected another name, because on_error="keep" adds a column of it')
    return [*(field.with_nullable(True) for field in fields), *(pa.field(name, pa.string()) for name in _KEPT)]


def _joined(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows, with small batches in one, such as those of many small files: each has a cost of its own."""
    small: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        is_small = batch.num_rows < _FEW_ROWS and batch.nbytes < _FEW_BYTES
        if small and not (is_small and rows < _FEW_ROWS and size < _FEW_BYTES):
            yield pa.concat_batches(small)
            small, rows, size = [], 0, 0
        if is_small:
            small.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
        else:
            yield batch
    if small:
        yield pa.concat_batches(small)


def _read(reader: PieceReader, call: Callable[[], FilePiece]) -> tuple[PieceReader, FilePiece]:
    with translated(reader.file):
        return reader, call()
