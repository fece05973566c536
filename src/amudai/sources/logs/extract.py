"""Columns of logs: what a shape or a pattern finds in the rows of a block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amudai.sources.logs.block import I64, Block, Flags, LineMatches, Picked, matches_in, texts_of
from amudai.sources.logs.journal import array_text, escaped, sized_text
from amudai.sources.logs.multiline import LineGroups
from amudai.sources.logs.pattern import LinePattern
from amudai.sources.logs.program import Program, compiled
from amudai.sources.logs.recognise import RecognisedShape, sample_texts
from amudai.sources.logs.shape import SEVERITIES
from amudai.sources.logs.shapes.headed import HEADER
from amudai.sources.logs.shapes.keyed import logfmt_with_keys
from amudai.sources.logs.template import TemplateField
from amudai.sources.logs.timestamps import TimeColumn
from amudai.sources.logs.values import converted, guessed_type, unescaped

__all__ = ["Extractor", "Misfit", "PatternExtractor", "ShapeExtractor"]

_MOST_PRIORITY: Final = 23 * 8 + 7  # of 24 facilities with 8 severities each

# Is called for a text that does not fit its column: the row, and why.
Misfit = Callable[[int, str], None]

_BASE: Final = ("line", "file", "line_number", "timestamp", "level")


class Extractor(ABC):
    """Finds the rows of a block that begin a record, and their columns besides the line itself.

    Attributes
    ----------
    name
        What the summary calls it.
    fields
        The columns.
    goes_on
        Whether other lines continue the record before them.
    always_joins
        Whether records are always several lines.
    has_bytes
        Whether lines may have bytes that are no text.
    """

    name: str
    fields: list[pa.Field]
    goes_on: bool = True
    always_joins: bool = False
    has_bytes: bool = False

    @abstractmethod
    def begins(self, block: Block) -> Flags:
        """Which lines begin a record."""

    @abstractmethod
    def columns(self, block: Block, rows: LineGroups, begins: Flags, misfit: Misfit) -> list[pa.Array]:
        """The columns of rows, which are null for rows that begin no record. Blocks come in order."""


class PatternExtractor(Extractor):
    """Columns of the groups of a pattern."""

    def __init__(self, pattern: LinePattern, name: str, sample: Block | None, known: set[str]) -> None:
        self.name = name
        self._pattern = pattern
        self._latest: tuple[Block, dict[str, pa.Array]] | None = None
        texts: dict[str, pa.Array] = {}
        if sample is not None:
            texts = pattern.found(_readable(sample))[1]
        self.fields = [pa.field(field.name, _type(field, texts.get(field.name), known)) for field in pattern.fields]

    def begins(self, block: Block) -> Flags:
        """The lines that match."""
        matched, texts = self._pattern.found(_readable(block))
        self._latest = block, texts
        found: Flags = matched.to_numpy(zero_copy_only=False)
        return found

    def columns(self, block: Block, rows: LineGroups, begins: Flags, misfit: Misfit) -> list[pa.Array]:  # noqa: ARG002
        """The groups of the first line of each row."""
        assert self._latest is not None
        assert self._latest[0] is block
        first = pa.array(rows.first)
        return [_values(self._latest[1][field.name].take(first), field, misfit) for field in self.fields]


class ShapeExtractor(Extractor):
    """Time and level of a well-known shape, and all other fields if wanted."""

    def __init__(
        self, recognised: RecognisedShape, times: TimeColumn, sample: Block, known: set[str], *, all_fields: bool
    ) -> None:
        shape = recognised.shape
        if all_fields and shape.name.startswith("logfmt"):
            shape = logfmt_with_keys(shape, sample_texts(sample, 1000))
        self.name = shape.name
        self.times = times
        self.goes_on = shape.goes_on
        self.always_joins = bool(shape.begins)
        self.has_bytes = shape.has_sizes
        self._shape = shape
        self._begins = compiled(shape.begins) if shape.begins else None
        self._program = compiled(shape.template, None if all_fields else frozenset({"level", "priority"}))
        self._latest: tuple[Block, LineMatches] | None = None
        self._checks_headers = bool(shape.header) and all_fields
        self._is_below_other = False
        names = [field.name for field in self._program.fields]
        self._level = names.index("level") if "level" in names else None
        # Only syslog's is a number from the first.
        priority = TemplateField("priority", "int")
        self._priority = names.index("priority") if priority in self._program.fields else None
        hidden = (self._level,) if all_fields else (self._level, self._priority)
        self._others = [number for number in range(len(names)) if number not in hidden]
        texts = self._sampled(sample)
        self.fields = [pa.field("timestamp", times.type), pa.field("level", pa.string())] + [
            pa.field(_free(names[number]), _type(self._program.fields[number], texts[number], known))
            for number in self._others
        ]

    @property
    def time_program(self) -> Program:
        """A program that finds times alone."""
        return compiled(self._shape.template, frozenset())

    def begins(self, block: Block) -> Flags:
        """The lines that match, or that match the beginning of a record."""
        program = self._begins or self._program
        matches = matches_in(block.data, block.starts, block.ends, program, self.times.per_second)
        self._latest = block, matches
        return matches.matched

    def columns(self, block: Block, rows: LineGroups, begins: Flags, misfit: Misfit) -> list[pa.Array]:
        """Times, levels and fields."""
        found, at = self._found(block, rows)
        record = begins[rows.firsts]
        timed = found.timed[at] & record
        times = self.times.values(found.moments[at], timed, found.zoned[at], found.cut[at] & record, misfit)
        if self._checks_headers:
            self._check_headers(block, rows, record, misfit)
        from_, to = found.from_[:, at], found.to[:, at]
        # A field that reaches the end of its line reaches the end of the row, unless the template is for whole records.
        if self._begins is None and not isinstance(rows.firsts, slice):
            to = np.where((to == block.ends[rows.first]) & (rows.first != rows.last), block.ends[rows.last], to)
        columns = [times, self._levels(block, from_, to, len(rows))]
        for number, field in zip(self._others, self.fields[2:], strict=True):
            texts = self._texts(block, from_, to, number)
            # The template makes sure that the digits of a number fit its type.
            is_guessed = self._program.fields[number].kind == "guess"
            columns.append(_values(texts, field, misfit) if is_guessed else texts.cast(field.type))
        return columns

    def _check_headers(self, block: Block, rows: LineGroups, record: Flags, misfit: Misfit) -> None:
        """Tell `misfit` of the rows below a header with other fields than the first one."""
        changes = np.zeros(len(rows), np.int8)
        for row in np.flatnonzero(~record).tolist():
            first = rows.first[row]
            line = block.data[block.starts[first] : block.ends[first]].tobytes().decode("utf-8", "replace")
            if line.startswith(HEADER):
                changes[row] = 1 if line.split() == self._shape.header.split() else 2
        if not changes.any() and not self._is_below_other:
            return
        latest = np.maximum.accumulate(np.where(changes > 0, np.arange(len(rows)), -1))
        others = np.where(latest < 0, self._is_below_other, changes[latest] == 2)
        self._is_below_other = bool(others[-1])
        for row in np.flatnonzero(others & record).tolist():
            misfit(row, "expected the fields of the first header, found those of another: extract=False reads lines")

    def _found(self, block: Block, rows: LineGroups) -> tuple[LineMatches, Picked]:
        """The matches of rows, and where each row is among them."""
        if self._begins is not None:
            starts, ends = block.starts[rows.firsts], block.ends[rows.lasts]
            return matches_in(block.data, starts, ends, self._program, self.times.per_second), slice(None)
        assert self._latest is not None
        assert self._latest[0] is block
        return self._latest[1], rows.firsts

    def _levels(
        self,
        block: Block,
        from_: np.ndarray[tuple[int, int], np.dtype[np.int64]],
        to: np.ndarray[tuple[int, int], np.dtype[np.int64]],
        count: int,
    ) -> pa.Array:
        if self._level is None:
            return pa.nulls(count, pa.string()) if self._priority is None else self._severities(block, from_, to)
        # Other rows may inherit a level, also from a row that is left out because it is not UTF-8.
        texts = self._texts(block, from_, to, self._level)
        levels = texts if block.is_ascii else _replaced(texts)
        if not self._shape.levels:
            return levels
        numbers = pc.index_in(levels, pa.array(list(self._shape.levels)))
        return pc.coalesce(pa.array(list(self._shape.levels.values())).take(numbers), levels)

    def _severities(
        self,
        block: Block,
        from_: np.ndarray[tuple[int, int], np.dtype[np.int64]],
        to: np.ndarray[tuple[int, int], np.dtype[np.int64]],
    ) -> pa.Array:
        """The severities in the priorities of syslog."""
        assert self._priority is not None
        if (to[self._priority] < 0).all():
            return pa.nulls(to.shape[1], pa.string())
        priorities = self._texts(block, from_, to, self._priority).cast(pa.int64())
        severities = pc.if_else(pc.less_equal(priorities, _MOST_PRIORITY), pc.bit_wise_and(priorities, 7), None)
        return pa.array(SEVERITIES).take(severities)

    def _texts(
        self,
        block: Block,
        from_: np.ndarray[tuple[int, int], np.dtype[np.int64]],
        to: np.ndarray[tuple[int, int], np.dtype[np.int64]],
        number: int,
    ) -> pa.Array:
        field = self._program.fields[number]
        if field.kind == "text" and (self._shape.has_arrays or self._shape.has_sizes):
            texts = self._texts_of_journal(block, from_[number], to[number])
            return pc.utf8_rtrim(texts, "\n") if field.name == "message" else texts
        texts = texts_of(block.data, from_[number], to[number])
        if field.kind == "guess":
            texts = pc.if_else(pc.equal(texts, ""), None, texts)
        if self._shape.null:
            texts = pc.if_else(pc.equal(texts, self._shape.null), None, texts)
        if self._shape.has_escapes and field.kind in ("text", "guess"):
            texts = unescaped(_replaced(texts))
            if field.name == "message":
                texts = pc.utf8_rtrim(texts, "\n")
        return texts

    def _texts_of_journal(self, block: Block, from_: I64, to: I64) -> pa.Array:
        """The texts of a field, some of which may be written as arrays, or as sizes and bytes."""
        there = to >= 0
        before = block.data[np.where(there, from_, 1) - 1]
        odd = there & (before != ord('"') if self._shape.has_arrays else before == ord("\n"))
        texts = escaped(texts_of(block.data, from_, np.where(odd, -1, to)))
        if self._shape.has_escapes:
            texts = unescaped(texts)
        if odd.any():
            read = array_text if self._shape.has_arrays else sized_text
            # A carriage return at the end of a record may belong to its last field.
            to = to + (block.data[np.minimum(to, len(block.data) - 1)] == ord("\r"))
            plain = [
                read(block.data[start:end].tobytes())
                for start, end in zip(from_[odd].tolist(), to[odd].tolist(), strict=True)
            ]
            texts = pc.replace_with_mask(texts, pa.array(odd), pa.array(plain, pa.string()))
        return texts

    def _sampled(self, sample: Block) -> list[pa.Array]:
        starts, ends = sample.starts, sample.ends
        found = matches_in(sample.data, starts, ends, self._program, self.times.per_second)
        return [
            _replaced(self._texts(sample, found.from_, found.to, number)) for number in range(len(self._program.fields))
        ]


def _free(name: str) -> str:
    """The name of a column that is none of those that each log has."""
    return f"{name}_1" if name in _BASE else name


def _type(field: TemplateField, texts: pa.Array | None, known: set[str]) -> pa.DataType:
    if texts is None or field.name in known:
        texts = pa.nulls(0, pa.string())
    return guessed_type(field.kind, texts)


def _values(texts: pa.Array, field: pa.Field, misfit: Misfit) -> pa.Array:
    if field.type == pa.string():
        return texts
    values, fits = converted(_replaced(texts), field.type)
    for row in np.flatnonzero(~fits).tolist():
        misfit(row, f"expected {field.type} in {field.name!r}, found {texts[row].as_py()!r}")
    return values


def _readable(block: Block) -> pa.Array:
    lines = np.arange(len(block))
    return _replaced(block.texts(lines, lines))


def _replaced(texts: pa.Array) -> pa.Array:
    """The texts, with bytes that are not UTF-8 replaced."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raw = texts.cast(pa.binary()).to_pylist()
        return pa.array([None if text is None else text.decode("utf-8", "replace") for text in raw], pa.string())
    return texts
