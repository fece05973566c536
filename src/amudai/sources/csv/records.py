"""Splitting CSV text into records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from amudai import _kernels
from amudai.sources.csv.dialect import Dialect
from amudai.sources.files import InputFile
from amudai.sources.records import BLOCK, LONGEST, SHOWN, Records, Refused, too_long
from amudai.sources.text import TextStream

__all__ = ["RecordChunk", "records_of", "whole_records"]

_NO_FILE: Final = InputFile("", "")
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class RecordChunk:
    """Some records of a file, and what lies among them and is none."""

    records: Records
    refused: tuple[Refused, ...] = ()


def records_of(file: InputFile, dialect: Dialect, size: int = BLOCK) -> Iterator[RecordChunk]:
    """The records of a file, the header first, in pieces of about `size` bytes.

    A record ends with a line feed, a carriage return or both, outside of quotes. Comments are no records, nor are empty
    lines unless the dialect says so. If nothing closes a quote in the rest of the file, or in 64 MiB, then the line on
    which it opens is bad, and the next record begins on the next line.
    """
    with TextStream(file, dialect.encoding) as stream:
        rest = _without_lines(stream, dialect.skip, size)
        first = file.first_line + dialect.skip
        is_final = is_begun = False
        while not is_final or rest:
            data = memoryview(rest)
            if not is_final:
                data = stream.read_behind(rest, size)
                is_final = len(data) == len(rest)
            piece, used, lines, opening = _split(file, data, first, dialect, is_final)
            if not is_begun:
                piece = _from_first_text(piece)
                is_begun = len(piece) > 0
            refused: list[Refused] = []
            first += lines
            rest = bytes(data[used:])
            is_long = len(rest) > LONGEST
            if opening is not None and (is_final or is_long):
                place, line = opening[0] - used, first + opening[1] - lines
                reason = "expected a quote that closes the value, found none"
                rest, passed = _behind_line(rest, place, stream, size)
                refused.append((line, reason, passed))
                first = line + 1
            elif is_long:
                text = rest[:SHOWN]
                rest, _ = _behind_line(rest, len(rest), stream, size)
                refused.append((first, too_long(), text))
                first += 1
            yield RecordChunk(piece, tuple(refused))


def whole_records(data: bytes, dialect: Dialect) -> int:
    """How many bytes at the beginning of some text are whole records, whatever follows."""
    _, used, _, _ = _split(_NO_FILE, memoryview(data), 1, dialect, is_final=False)
    return used


def _split(
    file: InputFile, data: memoryview, first: int, dialect: Dialect, is_final: bool
) -> tuple[Records, int, int, tuple[int, int] | None]:
    quote = ord(dialect.quote) if dialect.quote else None
    starts, ends, lines, used, count, opening = _kernels.csv_records(
        np.frombuffer(data, np.uint8),
        ord(dialect.delimiter),
        quote,
        dialect.comment.encode(),
        dialect.has_empty,
        is_final,
    )
    return Records(file, data, starts, ends, lines + first), used, count, opening


def _from_first_text(records: Records) -> Records:
    """The records without empty lines at the beginning."""
    for index in range(len(records)):
        if records.text(index).strip(b"\r\n"):
            return records[index:]
    return records[:0]


def _behind_line(data: bytes, place: int, stream: TextStream, size: int) -> tuple[bytes, bytes]:
    """What follows the line of a place, and what is before; only its beginning if the line does not end in the data."""
    end = _LINE_END.search(data, place)
    shown = data[: SHOWN if end is None else end.start()]
    while True:
        found = _LINE_END.search(data, place)
        if found is not None and found.end() < len(data):
            return data[found.end() :], shown
        # A carriage return at the end may be half of a line end.
        kept = data[-1:] if found is not None and found.group() == b"\r" else b""
        chunk = stream.read(size)
        if not chunk or (found is not None and not kept):
            return chunk, shown
        data, place = kept + chunk, 0


def _without_lines(stream: TextStream, count: int, size: int) -> bytes:
    """The beginning of the text behind some lines."""
    data = b""
    for _ in range(count):
        data, _ = _behind_line(data, 0, stream, size)
    return data
