"""Splitting CSV text into records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from amudai import _kernels
from amudai.sources.csv.dialect import Dialect
from amudai.sources.csv.escapes import UnescapedStream, unescaped
from amudai.sources.files import InputFile
from amudai.sources.records import BLOCK, LONGEST, SHOWN, Records, Refused, too_long
from amudai.sources.text import TextStream

__all__ = ["Stretch", "kernel_arguments", "stretches_of", "whole_records"]

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole records of a file, one behind the other, and what lies among them and is none.

    Attributes
    ----------
    first
        The number of the first line, counted from 1.
    """

    file: InputFile
    dialect: Dialect
    data: memoryview
    first: int
    refused: tuple[Refused, ...] = ()

    def records(self, most: int | None = None) -> Records:
        """Where the first records are, and on which lines."""
        starts, ends, lines, _, _, _ = _kernels.csv_records(
            np.frombuffer(self.data, np.uint8), *kernel_arguments(self.dialect), True, most
        )
        return Records(self.file, self.data, starts, ends, lines + self.first)

    def behind(self, records: Records, index: int) -> Stretch:
        """The part that begins with one of the records; it is empty if there is none."""
        if index >= len(records):
            return replace(self, data=self.data[:0])
        start = int(records.starts[index])
        return replace(self, data=self.data[start:], first=int(records.lines[index]))


def stretches_of(file: InputFile, dialect: Dialect, size: int = BLOCK) -> Iterator[Stretch]:
    """The records of a file, the header first, in stretches of about `size` bytes.

    A record ends with a line feed, a carriage return or both, outside of quotes. Comments are no records, nor are empty
    lines unless the dialect says so; those at the beginning of the file never are. If nothing closes a quote in the
    rest of the file, or in 64 MiB, then the line on which it opens is bad, and the next record begins on the next line.
    """
    with TextStream(file, dialect.encoding) as source:
        rest = _without_lines(source, dialect.skip, size)
        stream: TextStream | UnescapedStream = source
        if dialect.escape:
            stream = UnescapedStream(source, rest, dialect.delimiter, dialect.quote, dialect.escape)
            rest = b""
        first = file.first_line + dialect.skip
        is_final = is_begun = False
        while not is_final or rest:
            data = memoryview(rest)
            if not is_final:
                data = stream.read_behind(rest, size)
                is_final = len(data) == len(rest)
            used, lines, opening = *_whole(data, dialect, is_final), None
            if used < len(data) and (is_final or len(data) - used > LONGEST):
                *_, used, lines, opening = _kernels.csv_records(
                    np.frombuffer(data, np.uint8), *kernel_arguments(dialect), is_final
                )
            found = Stretch(file, dialect, data[:used], first)
            if not is_begun:
                found = _from_first_text(found)
                is_begun = len(found.data) > 0
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
            yield replace(found, refused=tuple(refused))


def whole_records(data: bytes, dialect: Dialect) -> int:
    """How many bytes at the beginning of some text are whole records, whatever follows."""
    if dialect.escape:
        data = unescaped(data, dialect.delimiter, dialect.quote, dialect.escape, same_size=True)
    return _whole(memoryview(data), dialect, is_final=False)[0]


def kernel_arguments(dialect: Dialect) -> tuple[int, int | None, bytes, bool]:
    """A dialect as the kernels take it."""
    quote = ord(dialect.quote) if dialect.quote else None
    return ord(dialect.delimiter), quote, dialect.comment.encode(), dialect.has_empty


def _whole(data: memoryview, dialect: Dialect, is_final: bool) -> tuple[int, int]:
    """How many bytes at the beginning are whole records, and how many lines end in them."""
    return _kernels.csv_whole(np.frombuffer(data, np.uint8), *kernel_arguments(dialect), is_final)


def _from_first_text(stretch: Stretch) -> Stretch:
    """The stretch without empty lines at the beginning."""
    if not stretch.dialect.has_empty:
        return stretch
    records = stretch.records()
    begin = next((index for index in range(len(records)) if records.text(index).strip(b"\r\n")), len(records))
    return stretch.behind(records, begin)


def _behind_line(data: bytes, place: int, stream: TextStream | UnescapedStream, size: int) -> tuple[bytes, bytes]:
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
        if not data:
            break  # the text has fewer lines
    return data
