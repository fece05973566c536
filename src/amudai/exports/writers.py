"""Writers of CSV and JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Final

import pyarrow as pa

from amudai._kernels import TextColumn, csv_lines, json_lines
from amudai.exports.columns import single_text, text_column

__all__ = ["CsvWriter", "JsonLinesWriter"]

# Rows become text in pieces of about this many bytes of values, which fit into the caches of a processor.
_PIECE_BYTES: Final = 1 << 19
_PIECE_ROWS: Final = 1 << 12


class JsonLinesWriter:
    """Writes batches as JSON lines: one object on each line, with the columns as members.

    Numbers, texts, booleans, lists and structs are what they are in JSON. Times are texts in ISO 8601: with `Z` or an
    offset such as `+02:00` if the column has a time zone, with neither if it has none. Durations are texts such as
    `PT1.5S`. Decimals are texts with all their digits, bytes are hexadecimal, NaN and the infinities are the texts
    `NaN`, `Infinity` and `-Infinity`. A map is an object if its keys are texts and no key occurs twice, otherwise a
    list of pairs. A null is `null`.

    Parameters
    ----------
    file
        A file that is open for writing bytes. It stays open.
    columns
        The columns to write, in this order. A column that a batch lacks is null in the rows of that batch.

    Examples
    --------
    >>> import io
    >>> import amudai
    >>> shard = amudai.write({"id": [1, 2], "tags": [["a", "b"], None]}, "tags.amudai.shard")
    >>> out = io.BytesIO()
    >>> writer = amudai.JsonLinesWriter(out, ["id", "tags"])
    >>> for batch in shard.scan():
    ...     writer.write(batch)
    >>> writer.close()
    >>> print(out.getvalue().decode(), end="")
    {"id": 1, "tags": ["a", "b"]}
    {"id": 2, "tags": null}
    """

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        self._file = file
        self._names = list(columns)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""
        columns = _columns(batch, self._names)
        for piece in _pieces(batch, lambda first, count: json_lines(self._names, columns, first, count)):
            self._file.write(piece)

    def close(self) -> None:
        """End the text. The file stays open."""


class CsvWriter:
    """Writes batches as CSV: a line with the names of the columns, then one line for each row.

    Cells are separated by commas, lines end in a line feed, and the text is UTF-8. A null is an empty cell, and an
    empty text is `""`. A cell is quoted if it contains a comma, a quote or a line end, or if it begins or ends with
    white space. Lists, structs and maps are JSON. Everything else is written as `JsonLinesWriter` does, but without
    quotes around texts.

    A null in a file of one column is an empty line, which most readers skip.

    Parameters
    ----------
    file
        A file that is open for writing bytes. It stays open.
    columns
        The columns to write, in this order. A column that a batch lacks is null in the rows of that batch.

    Examples
    --------
    >>> import io
    >>> import amudai
    >>> shard = amudai.write({"id": [1, 2], "name": ["Doe, Jane", None]}, "names.amudai.shard")
    >>> out = io.BytesIO()
    >>> writer = amudai.CsvWriter(out, ["id", "name"])
    >>> for batch in shard.scan():
    ...     writer.write(batch)
    >>> writer.close()
    >>> print(out.getvalue().decode(), end="")
    id,name
    1,"Doe, Jane"
    2,
    """

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        self._file = file
        self._names = list(columns)
        self._has_header = False

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch, and the header before the first batch."""
        self._write_header()
        if not self._names:
            return
        columns = _columns(batch, self._names)
        for piece in _pieces(batch, lambda first, count: csv_lines(columns, first, count)):
            self._file.write(piece)

    def close(self) -> None:
        """Write the header if there was no batch. The file stays open."""
        self._write_header()

    def _write_header(self) -> None:
        if not self._has_header:
            self._has_header = True
            self._file.write(csv_lines(list(map(single_text, self._names)), 0, 1))


def column_indexes(schema: pa.Schema, names: Sequence[str]) -> list[int | None]:
    """Where the columns with these names are; None for a name without a column.

    The first of two equal names is the first column of that name, the second is the second.

    >>> column_indexes(pa.schema([("a", pa.int8()), ("b", pa.int8()), ("a", pa.int8())]), ["a", "a", "c"])
    [0, 2, None]
    """
    left = {name: iter(schema.get_all_field_indices(name)) for name in set(names)}
    return [next(left[name], None) for name in names]


def _columns(batch: pa.RecordBatch, names: Sequence[str]) -> list[TextColumn]:
    return [
        TextColumn.nulls(batch.num_rows) if index is None else text_column(batch.column(index))
        for index in column_indexes(batch.schema, names)
    ]


def _pieces(batch: pa.RecordBatch, lines: Callable[[int, int], bytes]) -> Iterator[bytes]:
    rows = batch.num_rows
    step = max(1, min(_PIECE_ROWS, _PIECE_BYTES * rows // max(1, batch.nbytes)))
    for first in range(0, rows, step):
        yield lines(first, min(step, rows - first))
