"""Reading Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.parquet

from amudai.errors import InvalidArgument
from amudai.sources.contract import SourceFormat, SourceOptions
from amudai.sources.files import InputFile
from amudai.sources.records import BadRecords

__all__ = ["PARQUET"]

_ROWS: Final = 1 << 16


def _open(file: InputFile) -> pa.parquet.ParquetFile:
    if file.compression is not None:
        raise InvalidArgument(f"Parquet: expected a file that is not in {file.compression}, found one", file=file.path)
    return pa.parquet.ParquetFile(file.location)


def _schema(file: InputFile, options: SourceOptions) -> pa.Schema:  # noqa: ARG001
    with _open(file) as opened:
        return opened.schema_arrow


def _batches(file: InputFile, schema: pa.Schema, options: SourceOptions, bad: BadRecords) -> Iterator[pa.RecordBatch]:  # noqa: ARG001
    with _open(file) as opened:
        yield from opened.iter_batches(batch_size=_ROWS)


PARQUET: Final = SourceFormat(name="parquet", endings=(".parquet", ".pq"), schema=_schema, batches=_batches)
