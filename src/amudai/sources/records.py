"""Splitting a text file into records, and handling bad records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import _kernels
from amudai.errors import CorruptedData
from amudai.sources.files import InputFile
from amudai.sources.text import TextStream

__all__ = [
    "BLOCK",
    "ENOUGH",
    "LONGEST",
    "SHOWN",
    "BadRecord",
    "BadRecords",
    "LineReader",
    "Lines",
    "OnError",
    "Records",
    "Refused",
    "Tell",
    "accepted",
    "parsed",
    "too_long",
]

OnError: TypeAlias = Literal["raise", "skip", "keep"]

# Bytes that are read and parsed at a time.
BLOCK: Final = 4 << 20
# The most bad records that are skipped while the schema is determined.
ENOUGH: Final = 200
# A longer record is a mistake: a file without line ends, or a quote that is not closed.
LONGEST: Final = 64 << 20
# The bytes of a longer record that are shown, or kept.
SHOWN: Final = 1000

_FEED: Final = ord("\n")
_EXAMPLES: Final = 10
_EXAMPLE_BYTES: Final = 200


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that could not be read: the line on which it begins (counted from 1), and the beginning of its text.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("numbers.csv").write_text("n,square|1,1|2|3,9|".replace("|", chr(10)))
    >>> skipped = []
    >>> shard = amudai.ingest("numbers.csv", "numbers.amudai.shard", on_error="skip", on_bad_record=skipped.append)
    >>> [(record.line, record.text) for record in skipped]
    [(3, '2')]
    """

    file: str
    line: int
    reason: str
    text: str


Tell: TypeAlias = Callable[[BadRecord], object]


class BadRecords:
    """Handles records that cannot be read: the first one raises an error, or all are counted, and kept if asked.

    Attributes
    ----------
    raises
        Whether a bad record raises an error. If not, `tell` is called with each bad record.
    count
        How many records were bad.
    examples
        The first bad records.
    """

    def __init__(self, on_error: OnError = "raise", tell: Tell | None = None) -> None:
        self.raises = on_error == "raise"
        self._keeps = on_error == "keep"
        self._kept: list[tuple[str, str]] = []
        self._tell = tell
        self.count = 0
        self.examples: list[BadRecord] = []

    def add(self, file: InputFile, line: int, reason: str, text: bytes) -> None:
        """Raise `CorruptedData` for a bad record, or count it."""
        if self.raises:
            raise CorruptedData(f"record: {reason}", file=file.path, line=line)
        self.count += 1
        if self._keeps:
            self._kept.append((text.decode("utf-8", "backslashreplace").rstrip("\r\n"), f"{file.path}:{line}"))
        if len(self.examples) < _EXAMPLES or self._tell is not None:
            shown = text[:_EXAMPLE_BYTES].decode("utf-8", "replace").rstrip("\r\n")
            record = BadRecord(file.path, line, reason, shown)
            if len(self.examples) < _EXAMPLES:
                self.examples.append(record)
            if self._tell is not None:
                self._tell(record)

    def take_kept(self) -> list[tuple[str, str]]:
        """The whole text and the place of each bad record since the last call, if bad records are kept."""
        kept, self._kept = self._kept, []
        return kept

    def __repr__(self) -> str:
        return f"BadRecords(count={self.count}, examples={self.examples})"


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines of a file, without their ends: a line feed, or a carriage return and a line feed.

    Attributes
    ----------
    data
        The text with its line ends.
    first
        The number of the first line, counted from 1.
    starts, ends
        Where each line starts and ends in `data`. One more start says where the text behind the last line starts.
    has_returns
        Whether some line ends with a carriage return and a line feed.
    is_ascii
        Whether all bytes are ASCII.
    final
        Whether no more lines can be added: the file ends here, or a record has reached the longest size.
    """

    data: npt.NDArray[np.uint8]
    first: int
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    has_returns: bool
    is_ascii: bool
    final: bool

    @classmethod
    def of(cls, text: bytes | memoryview, first: int, *, final: bool) -> Lines:
        """The lines of a text. What follows the last line feed is none."""
        data = np.frombuffer(text, np.uint8)
        return cls(data, first, *_kernels.split_lines(data), final)

    def __len__(self) -> int:
        return len(self.ends)

    def text(self, line: int) -> bytes:
        """One line. Lines count from 0 here."""
        return self.data[self.starts[line] : self.ends[line]].tobytes()


class LineReader:
    """The lines of a file in blocks of about `size` bytes, as UTF-8. A line feed is added to a last line without one.

    A line of more than `LONGEST` bytes is a bad record, and is left out unread. The first block has `first` bytes.
    """

    def __init__(
        self,
        file: InputFile,
        size: int = BLOCK,
        *,
        first: int | None = None,
        bad: BadRecords | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self._file = file
        self._size = size
        self._first_size = size if first is None else first
        self._bad = BadRecords("raise") if bad is None else bad
        self._encoding = encoding
        self._kept: int | None = None

    def keep_from(self, line: int) -> None:
        """Repeat this line of the current block, and all lines after it, at the start of the next block."""
        self._kept = line

    def __iter__(self) -> Iterator[Lines]:
        with TextStream(self._file, self._encoding) as stream:
            rest, first, leaving_out, is_final = b"", self._file.first_line, False, False
            size = self._first_size
            while not is_final:
                text = stream.read_behind(rest, size)
                size = self._size
                # Read one byte ahead, to know which block is the last.
                following = stream.read(1)
                is_final = not following
                if is_final and text and text[-1] != _FEED:
                    text = memoryview(bytes(text) + b"\n")
                if leaving_out:
                    behind = bytes(text).find(b"\n") + 1
                    leaving_out = behind == 0
                    first, text = (first, text[:0]) if leaving_out else (first + 1, text[behind:])
                lines = Lines.of(text, first, final=is_final or len(text) > LONGEST)
                self._kept = None
                if len(lines):
                    yield lines
                done = len(lines) if self._kept is None else self._kept
                unfinished = text[int(lines.starts[-1]) :]
                if len(unfinished) > LONGEST:
                    if done < len(lines):
                        # Lines that the reader kept back, because it did not know what follows them.
                        yield Lines.of(text[int(lines.starts[done]) : int(lines.starts[-1])], first + done, final=True)
                    first, leaving_out = first + len(lines), True
                    self._bad.add(self._file, first, too_long(), bytes(unfinished[:SHOWN]))
                    rest = following
                else:
                    first, rest = first + done, bytes(text[int(lines.starts[done]) :]) + following


def too_long() -> str:
    """What is wrong with a record of more than `LONGEST` bytes."""
    return f"expected at most {LONGEST} bytes, found more"


@dataclass(frozen=True, slots=True)
class Records:
    """Consecutive records in a block of lines, perhaps with empty lines between them."""

    file: InputFile
    data: bytes | memoryview
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, part: slice) -> Records:
        return Records(self.file, self.data, self.starts[part], self.ends[part], self.lines[part])

    def where(self, chosen: npt.NDArray[np.bool_]) -> Records:
        """The chosen records, in a new block."""
        edges = np.flatnonzero(np.diff(chosen.astype(np.int8), prepend=0, append=0)).reshape(-1, 2).tolist()
        parts, moved, size = [], [], 0
        for first, end in edges:
            start = int(self.starts[first])
            parts.append(self.data[start : int(self.ends[end - 1])])
            moved.append(np.full(end - first, size - start))
            size += len(parts[-1])
        shift = np.concatenate(moved) if moved else np.zeros(0, np.int64)
        starts, ends = self.starts[chosen] + shift, self.ends[chosen] + shift
        return Records(self.file, b"".join(parts), starts, ends, self.lines[chosen])

    def content(self) -> memoryview:
        """The bytes from the start of the first record to the end of the last."""
        return memoryview(self.data)[int(self.starts[0]) : int(self.ends[-1])] if len(self) else memoryview(b"")

    def text(self, index: int) -> bytes:
        """One record."""
        return bytes(self.data[int(self.starts[index]) : int(self.ends[index])])


Parse: TypeAlias = Callable[[Records], pa.Table]
Suspects: TypeAlias = Callable[[Records], npt.NDArray[np.bool_]]
Refused: TypeAlias = tuple[int, str, bytes]  # line, reason, text


def parsed(records: Records, parse: Parse, bad: BadRecords, suspects: Suspects | None = None) -> Iterator[pa.Table]:
    """Tables of the records that `parse` accepts, in order. The other records are bad.

    Parameters
    ----------
    parse
        Returns one row for each record, or raises `ArrowInvalid`. It is called again with fewer records until the
        rejected ones are found.
    suspects
        Guesses which records `parse` will reject. That saves most of the calls if many are bad.
    """
    refused: list[Refused] = []
    if bad.raises:
        found = list(accepted(records, parse, refused, limit=1))
    else:
        found = list(accepted(records, parse, refused, suspects))
    for line, reason, text in sorted(refused):
        bad.add(records.file, line, reason, text)
    if found:
        yield found[0] if len(found) == 1 else pa.concat_tables(found).combine_chunks()


def accepted(
    records: Records,
    parse: Parse,
    refused: list[Refused],
    suspects: Suspects | None = None,
    limit: int | None = None,
) -> Iterator[pa.Table]:
    """Tables of the records that `parse` accepts. The others are added to `refused`; stops after `limit` of them."""
    if not len(records) or (limit is not None and len(refused) >= limit):
        return
    table, reason = _tried(records, parse)
    if table is not None:
        yield table
    elif len(records) == 1:
        refused.append((int(records.lines[0]), reason, records.text(0)))
    elif suspects is not None:
        odd = suspects(records)
        for index in np.flatnonzero(odd).tolist():
            table, reason = _tried(records[index : index + 1], parse)
            odd[index] = table is None
            if table is None:
                refused.append((int(records.lines[index]), reason, records.text(index)))
        yield from accepted(records.where(~odd), parse, refused, limit=limit)
    else:
        middle = len(records) // 2
        yield from accepted(records[:middle], parse, refused, limit=limit)
        yield from accepted(records[middle:], parse, refused, limit=limit)


def _tried(records: Records, parse: Parse) -> tuple[pa.Table | None, str]:
    """The table that `parse` returns for the records, or None and the reason why it rejects them."""
    try:
        table = parse(records)
    except pa.ArrowInvalid as error:
        return None, f"expected one that fits the schema, found {error}"
    if table.num_rows != len(records):
        return None, f"expected {len(records)} of them, found {table.num_rows}"
    return table, ""
