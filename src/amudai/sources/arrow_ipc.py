"""Reading Arrow IPC files and streams. Feather files are Arrow IPC files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from amudai.errors import InvalidArgument
from amudai.sources.contract import SequentialReader, SourceFormat, SourceOptions
from amudai.sources.files import InputFile
from amudai.sources.names import renamed, unique_schema
from amudai.sources.records import BadRecords

__all__ = ["ARROW"]

_MAGIC: Final = b"ARROW1"


@contextmanager
def _open(file: InputFile) -> Iterator[pa.RecordBatchFileReader | pa.RecordBatchStreamReader]:
    with file.open() as stream:
        is_file = stream.read(len(_MAGIC)) == _MAGIC
    if not is_file:
        with file.open() as stream, pa.ipc.open_stream(stream) as reader:
            yield reader
    elif file.compression is not None:
        expected = f"a stream, or a file that is not in {file.compression}"
        raise InvalidArgument(f"Arrow: expected {expected}, found a file in it", file=file.path)
    else:
        with file.content.open_seekable(mapped=True) as source, pa.ipc.open_file(source) as reader:
            yield reader


class ArrowReader(SequentialReader):
    """An Arrow IPC file or stream."""

    is_text = False

    def __init__(self, file: InputFile, schema: pa.Schema, *, rename: bool) -> None:
        super().__init__(file, schema)
        self._rename = rename

    def batches(self, schema: pa.Schema, bad: BadRecords, threads: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """The batches of the file."""
        with _open(self.file) as reader:
            for batch in _stored(reader):
                yield renamed(batch, self.schema) if self._rename else batch


def _stored(reader: pa.RecordBatchFileReader | pa.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.RecordBatchFileReader):
        yield from (reader.get_batch(index) for index in range(reader.num_record_batches))
    else:
        yield from reader


def _reader(file: InputFile, options: SourceOptions) -> ArrowReader:
    with _open(file) as reader:
        stored = reader.schema
        schema = unique_schema(stored, file, options.duplicates)
        return ArrowReader(file, schema, rename=schema is not stored)


ARROW: Final = SourceFormat(name="arrow", endings=(".arrow", ".arrows", ".feather", ".ipc"), open=_reader)
