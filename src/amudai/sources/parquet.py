"""Reading Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.parquet

from amudai.errors import InvalidArgument
from amudai.sources.contract import FileReader, SourceFormat, SourceOptions
from amudai.sources.files import InputFile
from amudai.sources.records import BadRecords

__all__ = ["PARQUET"]

_ROWS: Final = 1 << 16


def _open(file: InputFile) -> pa.parquet.ParquetFile:
    if file.compression is not None:
        raise InvalidArgument(f"Parquet: expected a file that is not in {file.compression}, found one", file=file.path)
    return pa.parquet.ParquetFile(file.location)


class ParquetReader(FileReader):
    """A Parquet file."""

    def batches(self, schema: pa.Schema, bad: BadRecords) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """The rows of the file."""
        with _open(self.file) as opened:
            yield from opened.iter_batches(batch_size=_ROWS)


def _reader(file: InputFile, options: SourceOptions) -> ParquetReader:  # noqa: ARG001
    with _open(file) as opened:
        return ParquetReader(file, opened.schema_arrow)


PARQUET: Final = SourceFormat(name="parquet", endings=(".parquet", ".pq"), open=_reader)
