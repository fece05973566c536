"""Writers of batches to files: Parquet, CSV, Arrow, JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import BinaryIO, Final, Protocol

import pyarrow as pa

from amudai import CsvWriter, JsonLinesWriter

__all__ = ["WRITERS", "BatchWriter", "ParquetWriter"]

# A Parquet row group ends at this many rows or bytes, whichever comes first.
_GROUP_ROWS: Final = 1 << 20
_GROUP_BYTES: Final = 128 << 20


class BatchWriter(Protocol):
    """Writes batches to a file."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""

    def close(self) -> None:
        """Write the end of the file; the stream stays open."""


class _Arrow:
    def __init__(self, schema: pa.Schema, out: BinaryIO) -> None:
        # The file format begins to be read at its end, which a pipe does not allow. The stream format does not.
        make = pa.ipc.new_stream if out is sys.stdout.buffer else pa.ipc.new_file
        self._writer = make(pa.PythonFile(out, "w"), schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


class ParquetWriter:
    """Writes row groups of about a million rows, however many rows the batches have."""

    def __init__(self, schema: pa.Schema, out: BinaryIO) -> None:
        import pyarrow.parquet

        self._writer = pyarrow.parquet.ParquetWriter(out, schema, compression="zstd", write_page_index=True)
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch, or keep them until there are enough."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= _GROUP_ROWS or self._bytes >= _GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """Write what was kept, and the end."""
        if self._waiting:
            self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(pa.Table.from_batches(self._waiting), row_group_size=self._rows)
        self._waiting = []
        self._rows = self._bytes = 0


WRITERS: Final[dict[str, Callable[[pa.Schema, BinaryIO], BatchWriter]]] = {
    "parquet": ParquetWriter,
    "csv": lambda schema, out: CsvWriter(out, schema.names),
    "arrow": _Arrow,
    "jsonl": lambda schema, out: JsonLinesWriter(out, schema.names),
}
