"""Parsing CSV records with pyarrow, and naming what is wrong with a bad one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from amudai import _kernels
from amudai.sources.csv.dialect import Dialect, values_of
from amudai.sources.csv.quotes import ODD_QUOTE, odd_quotes
from amudai.sources.csv.types import FALSE, NULLS, TRUE, without_nulls
from amudai.sources.exact import FIRST_ROUNDED, trouble_with
from amudai.sources.records import Records
from amudai.sources.uuids import is_uuid_type, uuids_of

__all__ = ["Parser"]

_PLACE: Final = re.compile(r"(?:In CSV column #(\d+): )?(?:CSV parse error: )?(?:Row #\d+: )?")
_COUNTS: Final = re.compile(r"Expected (\d+) columns, got (\d+)(?:: .*)?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """Makes tables of the records of one file.

    Attributes
    ----------
    names
        The names of all columns, in the order of the file.
    types
        Their types.
    told
        The columns whose types the caller stated. Their numbers may be rounded and may have leading zeros.
    nulls
        The texts that mean null; None for the usual ones, which are texts in a column of text.
    """

    dialect: Dialect
    names: Sequence[str]
    types: Mapping[str, pa.DataType]
    told: frozenset[str] = frozenset()
    nulls: tuple[str, ...] | None = None
    decimal: str = "."

    def texts(self, records: Records, columns: Sequence[str]) -> pa.Table:
        """Some columns as they are written."""
        options = pa.csv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()), include_columns=list(columns), null_values=[]
        )
        return self._read(records, options)

    def table(self, records: Records) -> pa.Table:
        """All columns; `ArrowInvalid` if some record is bad."""
        options = pa.csv.ConvertOptions(
            column_types={name: pa.string() if is_uuid_type(kind) else kind for name, kind in self.types.items()},
            null_values=list(NULLS if self.nulls is None else self.nulls),
            strings_can_be_null=self.nulls is not None,
            true_values=list(TRUE),
            false_values=list(FALSE),
            decimal_point=self.decimal,
        )
        try:
            table = self._read(records, options)
        except pa.ArrowInvalid as error:
            raise pa.ArrowInvalid(self._explained(str(error))) from error
        if table.num_rows == len(records):
            if odd_quotes(records, self.dialect).any():
                raise pa.ArrowInvalid(ODD_QUOTE.format(self.dialect.quote))
            self._check_odd_numbers(records)
            self._check_rounding(records, table)
        return self._with_uuids(table)

    def _with_uuids(self, table: pa.Table) -> pa.Table:
        """The table with UUIDs in place of their texts."""
        for place, (name, kind) in enumerate(self.types.items()):
            if is_uuid_type(kind):
                texts = without_nulls(table[name].combine_chunks(), self._null_texts())
                try:
                    table = table.set_column(place, name, uuids_of(texts))
                except pa.ArrowInvalid as error:
                    raise pa.ArrowInvalid(f"{error} {_way_out(name)}") from error
        return table

    def _null_texts(self) -> pa.Array:
        return pa.array(NULLS if self.nulls is None else self.nulls, pa.string())

    def suspects(self, records: Records) -> npt.NDArray[np.bool_]:
        """Records with the wrong number of values, or with a value that does not look like its column's type."""
        refused = np.zeros(len(records), np.bool_)

        def skip(row: pa.csv.InvalidRow) -> str:
            if row.number is not None and row.number <= len(refused):
                refused[row.number - 1] = True
            return "skip"

        options = pa.csv.ConvertOptions(column_types=dict.fromkeys(self.names, pa.binary()), null_values=[])
        table = self._read(records, options, skip)
        kept = np.flatnonzero(~refused)
        if table.num_rows != len(kept):
            return refused
        for name, kind in self.types.items():
            cells = table[name].combine_chunks().dictionary_encode()
            odd = np.zeros(len(cells.dictionary), np.bool_)
            odd[self._misfits(cells.dictionary, kind)] = True
            refused[kept[odd[cells.indices.to_numpy()]]] = True
        return refused | self._odd_numbers(records) | odd_quotes(records, self.dialect)

    def _read(
        self,
        records: Records,
        options: pa.csv.ConvertOptions,
        skip: Callable[[pa.csv.InvalidRow], str] | None = None,
    ) -> pa.Table:
        content = records.content()
        parse = pa.csv.ParseOptions(
            delimiter=self.dialect.delimiter,
            quote_char=self.dialect.quote or False,
            ignore_empty_lines=not self.dialect.has_empty,
            invalid_row_handler=skip,
        )
        # One block, because the records are complete. Other blocks are parsed on other threads.
        read = pa.csv.ReadOptions(column_names=list(self.names), block_size=len(content) + 1, use_threads=False)
        return pa.csv.read_csv(pa.BufferReader(content), read, parse, options)

    def _odd_numbers(self, records: Records) -> npt.NDArray[np.bool_]:
        """Which records have a number that pyarrow would read as another one: 007, +7, 0x7."""
        marks = [name not in self.told and _is_number(self.types[name]) for name in self.names]
        while marks and not marks[-1]:
            marks.pop()  # values behind the last number need not be looked at
        if not marks:
            return np.zeros(len(records), np.bool_)
        quote = ord(self.dialect.quote) if self.dialect.quote else None
        return _kernels.csv_odd_numbers(
            np.frombuffer(records.data, np.uint8),
            np.ascontiguousarray(records.starts),
            np.ascontiguousarray(records.ends),
            ord(self.dialect.delimiter),
            quote,
            np.array(marks, np.uint8),
        )

    def _check_odd_numbers(self, records: Records) -> None:
        odd = self._odd_numbers(records)
        if not odd.any():
            return
        one = int(np.argmax(odd))
        values = values_of(records.text(one).decode("utf-8", "replace"), self.dialect)
        for name, value in zip(self.names, values, strict=False):
            if _is_number(self.types[name]) and re.match(r"[ \t]*(\+|-?0[0-9xX])", value):
                raise pa.ArrowInvalid(f"{value!r}, a number as the first records do not have it, {_way_out(name)}")

    def _check_rounding(self, records: Records, table: pa.Table) -> None:
        for name, kind in self.types.items():
            if kind != pa.float64() or name in self.told:
                continue
            column = table[name]
            ends = pc.min_max(column)
            if ends["min"].as_py() is None or max(-ends["min"].as_py(), ends["max"].as_py()) < FIRST_ROUNDED:
                continue
            large = pc.fill_null(pc.greater_equal(pc.abs(column), FIRST_ROUNDED), False)
            for value in self.texts(records, [name])[name].filter(large).to_pylist():
                trouble = trouble_with(value, self.decimal)
                if trouble is not None:
                    raise pa.ArrowInvalid(f"{value}, which {trouble}, {_way_out(name)}")

    def _misfits(self, cells: pa.Array, kind: pa.DataType, first: int = 0) -> list[int]:
        """The cells that a cast rejects. The CSV reader is more lenient, and decides in the end."""
        try:
            texts = cells.cast(pa.string())
            if kind not in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
                values = without_nulls(texts, self._null_texts())
                if _is_number(kind):
                    values = pc.replace_substring(pc.ascii_trim_whitespace(values), self.decimal, ".")
                uuids_of(values) if is_uuid_type(kind) else values.cast(kind)
        except pa.ArrowInvalid:
            if len(cells) == 1:
                return [first]
            middle = len(cells) // 2
            return self._misfits(cells[:middle], kind, first) + self._misfits(cells[middle:], kind, first + middle)
        except pa.ArrowNotImplementedError:
            pass
        return []

    def _explained(self, message: str) -> str:
        """The message of pyarrow with the name of the column, and without its numbers of rows and columns."""
        place = _PLACE.match(message)
        rest = message[place.end() :] if place is not None else message
        if counts := _COUNTS.fullmatch(rest):
            return f"{counts[2]} values where there are {counts[1]} columns"
        if place is None or place[1] is None or int(place[1]) >= len(self.names):
            return rest
        if "invalid UTF8" in rest:
            return f"bytes that are not {self.dialect.encoding} in a value of column {self.names[int(place[1])]!r}"
        rest = rest.split(". If these", maxsplit=1)[0].removeprefix("CSV conversion error to ")
        kind, _, trouble = rest.partition(": ")
        return f"{trouble} for {kind} {_way_out(self.names[int(place[1])])}" if trouble else rest


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _way_out(name: str) -> str:
    return f"in column {name!r}; set the type of column {name!r} (types= or --type)"
