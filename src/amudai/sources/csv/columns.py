"""Columns of CSV text in plain form, read by the kernels.

The kernels read text in which all records have the same number of values, and all values are written as most programs
write them. They return nothing for other text: `parse.py` and `types.py` take a closer look at it, with the same values
for what both can read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import _kernels
from amudai.sources.csv.dialect import Dialect
from amudai.sources.csv.records import kernel_arguments
from amudai.sources.csv.types import NULLS

__all__ = ["PlainColumns", "plain_columns", "plain_types"]


class _CellKind(IntEnum):
    """What a column holds, as in cpp/text/csv_columns.hpp."""

    NULL, BOOLEAN, INT64, FLOAT64, DATE32, CLOCK_US, CLOCK_NS, MOMENT_US, MOMENT_NS, TEXT, TEXT_OR_NULL = range(11)


class _Looks(IntFlag):
    """What values look like, as in cpp/text/csv_columns.hpp."""

    INTEGER = 1
    NUMBER = 2
    LONG_INTEGER = 4
    BOOLEAN = 8
    DATE = 16
    CLOCK = 32
    MOMENT = 64
    TEXT = 128
    OTHER = 256


_KINDS: Final = {
    pa.null(): _CellKind.NULL,
    pa.bool_(): _CellKind.BOOLEAN,
    pa.int64(): _CellKind.INT64,
    pa.float64(): _CellKind.FLOAT64,
    pa.date32(): _CellKind.DATE32,
    pa.timestamp("us"): _CellKind.CLOCK_US,
    pa.timestamp("ns"): _CellKind.CLOCK_NS,
    pa.timestamp("us", "UTC"): _CellKind.MOMENT_US,
    pa.timestamp("ns", "UTC"): _CellKind.MOMENT_NS,
    pa.string(): _CellKind.TEXT,
}
# Columns whose values look like these alone, besides those that mean null.
_TYPES: Final = {
    0: pa.null(),
    _Looks.INTEGER: pa.int64(),
    _Looks.INTEGER | _Looks.LONG_INTEGER: pa.int64(),
    _Looks.NUMBER: pa.float64(),
    _Looks.INTEGER | _Looks.NUMBER: pa.float64(),
    _Looks.BOOLEAN: pa.bool_(),
    _Looks.DATE: pa.date32(),
    _Looks.CLOCK: pa.timestamp("us"),
    _Looks.DATE | _Looks.CLOCK: pa.timestamp("us"),
    _Looks.MOMENT: pa.timestamp("us", "UTC"),
}
# A column that has a text is text if it begins with one of these, or with nulls.
_PLAIN: Final = _Looks.INTEGER | _Looks.NUMBER | _Looks.BOOLEAN | _Looks.TEXT


@dataclass(frozen=True, slots=True)
class PlainColumns:
    """Makes batches of the records of one file."""

    schema: pa.Schema
    _dialect: tuple[int, int | None, bytes, bool]
    _kinds: npt.NDArray[np.uint8]
    _nulls: list[str]

    def batch(self, data: memoryview) -> pa.RecordBatch | None:
        """The whole records in some text; None if it needs a closer look."""
        found = _kernels.csv_columns(np.frombuffer(data, np.uint8), *self._dialect, self._kinds, self._nulls)
        if found is None:
            return None
        rows, columns = found
        arrays = [_array(field.type, rows, *column) for field, column in zip(self.schema, columns, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def plain_columns(
    dialect: Dialect, types: Mapping[str, pa.DataType], nulls: Sequence[str] | None, decimal: str
) -> PlainColumns | None:
    """What makes batches of columns of these types; None if there are others among them.

    Parameters
    ----------
    nulls
        The texts that mean null; None for the usual ones, which are texts in a column of text.
    """
    kinds = [_KINDS.get(kind) for kind in types.values()]
    if decimal != "." or not all(each is not None for each in kinds):
        return None
    if nulls is not None:
        kinds = [_CellKind.TEXT_OR_NULL if each is _CellKind.TEXT else each for each in kinds]
    texts = list(NULLS if nulls is None else nulls)
    return PlainColumns(pa.schema(types), kernel_arguments(dialect), np.array(kinds, np.uint8), texts)


def plain_types(
    data: memoryview, dialect: Dialect, names: Sequence[str], nulls: Sequence[str], decimal: str
) -> dict[str, pa.DataType]:
    """The types of columns whose values all have a plain form. Other columns need a closer look, and are left out."""
    if decimal != ".":
        return {}
    looks = _kernels.csv_looks(np.frombuffer(data, np.uint8), *kernel_arguments(dialect), len(names), list(nulls))
    found = {}
    for name, (first, every) in zip(names, looks or (), strict=False):
        if every & _Looks.TEXT and (first == 0 or first & _PLAIN):
            found[name] = pa.string()
        elif every in _TYPES:
            found[name] = _TYPES[every]
    return found


def _array(kind: pa.DataType, rows: int, nulls: int, validity: Any, offsets: Any, values: Any) -> pa.Array:
    if values is None:
        return pa.nulls(rows, kind)
    parts = [validity, values] if offsets is None else [validity, offsets, values]
    return pa.Array.from_buffers(kind, rows, [None if part is None else pa.py_buffer(part) for part in parts], nulls)
