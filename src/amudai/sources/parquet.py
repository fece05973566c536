"""Reading Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.parquet

from amudai.errors import CorruptedData, InvalidArgument
from amudai.sources.contract import SequentialReader, SourceFormat, SourceOptions
from amudai.sources.files import InputFile
from amudai.sources.names import renamed, unique_schema
from amudai.sources.records import BadRecords

__all__ = ["PARQUET"]

_ROWS: Final = 1 << 16
# The key of the Arrow schema that Arrow's writers keep, which is read already.
_ARROW_SCHEMA: Final = b"ARROW:schema"


def _open(file: InputFile) -> pa.parquet.ParquetFile:
    if file.compression is not None:
        raise InvalidArgument(f"Parquet: expected a file that is not in {file.compression}, found one", file=file.path)
    try:
        return pa.parquet.ParquetFile(file.content.open_seekable())
    except UnicodeDecodeError:
        # Opening decodes all names. The schema alone can be had without that, to say which name it is.
        from pyarrow.dataset import ParquetFileFormat

        unique_schema(ParquetFileFormat().inspect(file.content.open_seekable()), file, "rename")
        raise


class ParquetReader(SequentialReader):
    """A Parquet file. The key-value metadata of its footer is that of its schema."""

    is_text = False

    def __init__(self, file: InputFile, schema: pa.Schema, *, rename: bool) -> None:
        super().__init__(file, schema)
        self._rename = rename

    def batches(self, schema: pa.Schema, bad: BadRecords, threads: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """The rows of the file."""
        rows = 0
        with _open(self.file) as opened:
            for batch in opened.iter_batches(batch_size=_ROWS):
                rows += batch.num_rows
                yield renamed(batch, self.schema) if self._rename else batch
            expected = opened.metadata.num_rows
        if rows != expected:
            raise CorruptedData(f"rows: expected {expected} by the footer, found {rows}", file=self.file.path)


def _reader(file: InputFile, options: SourceOptions) -> ParquetReader:
    with _open(file) as opened:
        metadata = {**(opened.metadata.metadata or {}), **(opened.schema_arrow.metadata or {})}
        metadata.pop(_ARROW_SCHEMA, None)
        stored = opened.schema_arrow.with_metadata(metadata or None)
        schema = unique_schema(stored, file, options.duplicates)
        return ParquetReader(file, schema, rename=schema is not stored)


PARQUET: Final = SourceFormat(name="parquet", endings=(".parquet", ".pq"), open=_reader)
