"""The shape of a JSON file, and cutting it into records block by block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np

from amudai import _kernels
from amudai.sources import records as text_records
from amudai.sources.files import InputFile
from amudai.sources.records import BLOCK, Records
from amudai.sources.text import TextStream, check_encoding, encoding_of

__all__ = ["RecordBlock", "Refusal", "Shape", "blocks_of", "shape_of"]

_BEGINNING: Final = (0, 0, 0)
_FEED: Final = ord("\n")
_RETURN: Final = ord("\r")
_ARRAY_OF_OBJECTS: Final = re.compile(rb"^\s*\[\s*\{", re.MULTILINE)
_OUTSIDE: Final = 0  # the place of a state that is outside of the array


class Shape(IntEnum):
    """How records follow each other. The numbers are those of the kernels."""

    LINES = 0
    ARRAY = 1
    DOCUMENT = 2


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that cannot be read."""

    line: int
    reason: str
    text: bytes


@dataclass(frozen=True, slots=True)
class RecordBlock:
    """Whole records, and those before and after them that could not be cut out."""

    shape: Shape
    records: Records
    refused: tuple[Refusal, ...] = ()

    def holds_values(self) -> bool:
        """Whether the records seem to be values of one column: none is an object, or in an array, fewer than others."""
        filled = self.records.starts < self.records.ends
        first = np.frombuffer(self.records.data, np.uint8)[self.records.starts[filled]]
        objects, nulls = int(np.count_nonzero(first == ord("{"))), int(np.count_nonzero(first == ord("n")))
        if objects == 0:
            return len(first) > 0
        return self.shape is Shape.ARRAY and objects < len(first) - objects - nulls


def shape_of(head: bytes) -> Shape:
    r"""The shape of a file that begins with these bytes.

    >>> [shape_of(head).name for head in (b'{"a": 1}\n{"a": 2}', b'[{"a": 1}]', b'{\n "a": 1\n}', b'{"a": 1}{"a": 2}')]
    ['LINES', 'ARRAY', 'DOCUMENT', 'DOCUMENT']
    >>> [shape_of(head).name for head in (b"[1, 2]\n[3]", b"[[1, 2],\n[3]]")]
    ['LINES', 'ARRAY']
    """
    text = head.lstrip()
    first = text[: text.find(b"\n") + 1] or text
    if text.startswith(b"["):
        # A value in each line, unless the arrays hold the objects that are the records.
        starts, ends, *_ = _cut_values(first)
        are_lines = len(starts) == len(ends) == 1 and bool(text[len(first) :].strip())
        return Shape.LINES if are_lines and _ARRAY_OF_OBJECTS.search(text) is None else Shape.ARRAY
    if not text.startswith(b"{"):
        return Shape.LINES
    starts, ends, *_ = _cut_values(first)
    if len(ends) > 0 and len(starts) > 1 and first[int(starts[1])] == ord("{"):
        return Shape.DOCUMENT
    # An object that begins in a line of its own goes on in others, whatever the first line is.
    if not first.endswith(b"\n") or (len(ends) > 0 and not _has_lone_brace(text)):
        return Shape.LINES
    # Lines that are no objects may be damaged ones among many good ones.
    lines = [line for line in map(bytes.strip, text.split(b"\n")) if line]
    whole = sum(line.startswith(b"{") and line.endswith(b"}") for line in lines)
    return Shape.LINES if 2 * whole >= len(lines) else Shape.DOCUMENT


def _has_lone_brace(text: bytes) -> bool:
    """Whether some line but the first has nothing but an opening brace."""
    data = np.frombuffer(text, np.uint8)
    feeds = np.flatnonzero(data == _FEED)
    begins = feeds[:-1][data[feeds[:-1] + 1] == ord("{")] + 2
    returns = begins[data[begins] == _RETURN]
    return bool((data[begins] == _FEED).any() or (data[returns + 1] == _FEED).any())


def _cut_values(line: bytes) -> tuple[Any, ...]:
    """Where values begin and end in a line, and more."""
    return _kernels.json_cut(np.frombuffer(line, np.uint8), Shape.DOCUMENT, _BEGINNING)


def blocks_of(
    file: InputFile, encoding: str | None, shape: Shape | None = None, size: int = BLOCK
) -> Iterator[RecordBlock]:
    """The records of a file in blocks of about `size` bytes. `shape` is decided by the first block if it is None."""
    with TextStream(file, _encoding(file, encoding)) as stream:
        following = stream.read(1)
        cutter: _Cutter | None = None
        while following:
            text = stream.read_behind((b"" if cutter is None else cutter.rest) + following, size)
            # Read one byte ahead, to know which block is the last.
            following = stream.read(1)
            if not following and text[-1] != _FEED:
                text = memoryview(bytes(text) + b"\n")  # ends a last line, or a number
            if cutter is None:
                cutter = _Cutter(file, shape_of(bytes(text)) if shape is None else shape)
            yield cutter.cut(text, final=not following)


class _Cutter:
    """Cuts one chunk after the other and carries over what is unfinished.

    Attributes
    ----------
    rest
        The beginning of an unfinished record.
    """

    def __init__(self, file: InputFile, shape: Shape) -> None:
        self._file = file
        self._shape = shape
        self._state = _BEGINNING
        self.rest = b""
        self._rest_line = file.first_line
        self._is_dropping = False  # whether the unfinished record is longer than allowed, and was left out
        self._line = file.first_line

    def cut(self, data: memoryview, *, final: bool) -> RecordBlock:
        """The records that end in the next chunk. `data` has the chunk behind the beginning of an unfinished record."""
        array = np.frombuffer(data, np.uint8)[len(self.rest) :]
        starts, ends, feeds, count, self._state, unfinished = _kernels.json_cut(array, self._shape, self._state)
        lines = self._line + feeds
        self._line += count
        starts, ends = starts + len(self.rest), ends + len(self.rest)
        if self._is_dropping and len(ends):
            ends = ends[1:]
            self._is_dropping = False
        elif self.rest:
            starts, lines = np.append(0, starts), np.append(self._rest_line, lines)
        refused = []
        self.rest = b""
        if unfinished and not self._is_dropping:
            self.rest, self._rest_line = bytes(data[int(starts[-1]) :]), int(lines[-1])
            if final:
                reason = "expected the end of the value, found the end of the file"
                refused.append(Refusal(self._rest_line, reason, self.rest))
            elif len(self.rest) > text_records.LONGEST:
                refused.append(Refusal(self._rest_line, text_records.too_long(), self.rest[: text_records.SHOWN]))
                self.rest, self._is_dropping = b"", True
        elif final and self._shape is Shape.ARRAY and self._state[2] != _OUTSIDE:
            reason = "expected a bracket that closes the array, found the end of the file"
            refused.append(Refusal(self._line - 1, reason, b""))
        whole = len(ends)
        records = Records(self._file, data, starts[:whole], ends, lines[:whole])
        return RecordBlock(self._shape, records, tuple(refused))


def _encoding(file: InputFile, stated: str | None) -> str:
    """The encoding of a file. JSON is UTF-8, unless a byte order mark or the caller says otherwise."""
    if stated is not None:
        check_encoding(stated)
        return stated
    with file.open() as stream:
        name, reason = encoding_of(stream.read(4))
    return name if reason == "byte order mark" else "utf-8"
