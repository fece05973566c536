"""Reading plain logs: one row for each line, with its time and level if the file has a known shape."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.sources.contract import FileReader, SourceFormat, SourceOptions
from amudai.sources.files import InputFile
from amudai.sources.records import BadRecords, LineReader, Lines
from amudai.sources.shapes import LogShape, recognised, times_and_levels

__all__ = ["LOGS"]

_SAMPLE: Final = 200
_SAMPLE_BYTES: Final = 1 << 18

_LINES: Final = pa.schema({"line": pa.string(), "file": pa.string(), "line_number": pa.int64()})
_SHAPED: Final = pa.schema([*_LINES, pa.field("timestamp", pa.timestamp("us")), pa.field("level", pa.string())])


def _shape(file: InputFile) -> LogShape | None:
    for lines in LineReader(file, _SAMPLE_BYTES):
        count = min(len(lines.ends), _SAMPLE)
        texts = [lines.text(line).decode("utf-8", "replace") for line in range(count)]
        return recognised(pa.array([text for text in texts if text.strip()], pa.string()))
    return None


class LogReader(FileReader):
    """A log whose shape is known, or None if it has none."""

    def __init__(self, file: InputFile, shape: LogShape | None, options: SourceOptions) -> None:
        super().__init__(file, _LINES if shape is None else _SHAPED)
        self._shape = shape
        self._options = options

    def batches(self, schema: pa.Schema, bad: BadRecords) -> Iterator[pa.RecordBatch]:  # noqa: ARG002
        """The lines of the file."""
        latest = datetime.datetime.fromtimestamp(self.file.modified(), datetime.UTC).replace(tzinfo=None)
        for lines in LineReader(self.file):
            texts, numbers = _texts(self.file, lines, bad)
            columns = [texts, pa.repeat(pa.scalar(self.file.path), len(texts)), pa.array(numbers)]
            if self._shape is not None:
                columns += times_and_levels(texts, self._shape, latest, self._options.log.year)
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _reader(file: InputFile, options: SourceOptions) -> LogReader:
    return LogReader(file, _shape(file), options)


def _texts(file: InputFile, lines: Lines, bad: BadRecords) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """The lines that are UTF-8, without their line ends, and their numbers."""
    data = np.frombuffer(lines.data, np.uint8)
    # A carriage return is part of the line end only if it is right before the line feed.
    returns = data[lines.ends - 1] == ord("\r")
    content = lines.data.replace(b"\r\n", b"\n") if returns.any() else lines.data
    offsets = np.zeros(len(lines.ends) + 1, np.int32)
    offsets[1:] = lines.ends - np.arange(len(lines.ends)) - np.cumsum(returns)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content.replace(b"\n", b""))]
    texts = pa.Array.from_buffers(pa.string(), len(lines.ends), buffers)
    numbers = np.arange(lines.first, lines.first + len(texts))
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        sound = np.array([_is_text(lines.text(line)) for line in range(len(texts))])
        for line in np.flatnonzero(~sound).tolist():
            bad.add(file, lines.first + line, "expected UTF-8, found other bytes", lines.text(line))
        return texts.filter(pa.array(sound)), numbers[sound]
    return texts, numbers


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


LOGS: Final = SourceFormat(name="log", endings=(".log", ".txt"), open=_reader)
