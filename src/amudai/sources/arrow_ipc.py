"""Reading Arrow IPC files and streams. Feather files are Arrow IPC files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pyarrow as pa

from amudai.errors import InvalidArgument
from amudai.sources.contract import FileReader, SourceFormat, SourceOptions
from amudai.sources.files import InputFile
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
        with pa.memory_map(file.location) as source, pa.ipc.open_file(source) as reader:
            yield reader


class ArrowReader(FileReader):
    """An Arrow IPC file or stream."""

    def batches(self, schema: pa.Schema, bad: BadRecords) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """The batches of the file."""
        with _open(self.file) as reader:
            if isinstance(reader, pa.RecordBatchFileReader):
                yield from (reader.get_batch(index) for index in range(reader.num_record_batches))
            else:
                yield from reader


def _reader(file: InputFile, options: SourceOptions) -> ArrowReader:  # noqa: ARG001
    with _open(file) as reader:
        return ArrowReader(file, reader.schema)


ARROW: Final = SourceFormat(name="arrow", endings=(".arrow", ".arrows", ".feather", ".ipc"), open=_reader)
