"""Records become batches: the buffers that the kernels fill, as arrays of the types of the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai import _kernels
from amudai.errors import InvalidArgument
from amudai.sources.json.plan import ColumnPlan, Holds, Plan
from amudai.sources.json.records import Refusal
from amudai.sources.json.troubles import WAY_OUT, Trouble, explained, missing_in_array
from amudai.sources.records import Records
from amudai.sources.uuids import is_uuid_type, uuids_of

__all__ = ["columns_of"]

Buffers: TypeAlias = tuple[int, int, Any, Any, Any]
Places: TypeAlias = npt.NDArray[np.int64]
# Which rows some values of a column belong to.
RowsOf: TypeAlias = Callable[[Places], Places]

_BASE = {
    Holds.BOOLEAN: pa.bool_(),
    Holds.INT64: pa.int64(),
    Holds.UINT64: pa.uint64(),
    Holds.FLOAT64: pa.float64(),
    Holds.ROUNDED: pa.float64(),
}


def columns_of(records: Records, plan: Plan) -> tuple[pa.RecordBatch, list[Refusal]]:
    """A row for each record that fits the plan, and the others."""
    data = np.frombuffer(records.data, np.uint8)
    refused: list[Refusal] = []
    left = np.arange(len(records))
    while True:
        starts, ends = records.starts[left], records.ends[left]
        buffers, faults = _kernels.json_columns(data, starts, ends, plan.specs, plan.nan)
        for record, trouble, column, at, end in faults:
            refused.append(_refusal(records, int(left[record]), plan, Trouble(trouble), column, (at, end)))
        left = np.delete(left, [fault[0] for fault in faults])
        assembly = _Assembly(iter(buffers))
        batch = assembly.batch(plan)
        if not assembly.misfits:
            return batch, sorted(refused, key=lambda each: each.line)
        for row, reason in assembly.misfits.items():
            record = int(left[row])
            refused.append(Refusal(int(records.lines[record]), reason, records.text(record)))
        left = np.delete(left, list(assembly.misfits))


def _refusal(
    records: Records, index: int, plan: Plan, trouble: Trouble, column: int, place: tuple[int, int]
) -> Refusal:
    start = int(records.starts[index])
    text = records.text(index)
    if text:
        reason = explained(trouble, text, place[0] - start, place[1] - start, plan.columns[max(column, 0)])
    else:
        reason = missing_in_array(bytes(records.data[start : start + 1]))
    return Refusal(int(records.lines[index]), reason, text)


class _Assembly:
    """Makes arrays of buffers, which come in the order of the plan.

    Attributes
    ----------
    misfits
        Rows with values that could not be converted, and why.
    """

    def __init__(self, buffers: Iterator[Buffers]) -> None:
        self._buffers = buffers
        self.misfits: dict[int, str] = {}

    def batch(self, plan: Plan) -> pa.RecordBatch:
        """The rows of all columns, in which misfits are null."""
        if plan.holds_values:
            return pa.RecordBatch.from_arrays([self._array(plan.root, lambda places: places)], schema=plan.schema)
        rows = next(self._buffers)[0]
        arrays = [self._array(column, lambda places: places) for column in plan.root.children]
        if not arrays:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))
        return pa.RecordBatch.from_arrays(arrays, schema=plan.schema)

    def _array(self, column: ColumnPlan, rows_of: RowsOf) -> pa.Array:
        length, nulls, validity, offsets, values = next(self._buffers)
        bits = None if validity is None else pa.py_buffer(validity)
        match column.holds:
            case Holds.NULL:
                return pa.nulls(length, column.type)
            case Holds.OBJECT:
                members = [self._array(child, rows_of) for child in column.children]
                return pa.Array.from_buffers(column.type, length, [bits], nulls, children=members)
            case Holds.ARRAY | Holds.MAP:

                def owners(places: Places) -> Places:
                    return rows_of(np.searchsorted(offsets, places, side="right") - 1)

                children = [self._array(child, owners) for child in column.children]
                natural = pa.list_(column.type.value_field) if column.holds is Holds.ARRAY else column.type
                if column.holds is Holds.MAP:
                    kind = pa.struct([natural.key_field, natural.item_field])
                    children = [pa.Array.from_buffers(kind, len(children[0]), [None], 0, children=children)]
                parts = [bits, pa.py_buffer(offsets)]
                array = pa.Array.from_buffers(natural, length, parts, nulls, children=children)
            case Holds.BOOLEAN | Holds.INT64 | Holds.UINT64 | Holds.FLOAT64 | Holds.ROUNDED:
                parts = [bits, pa.py_buffer(values)]
                array = pa.Array.from_buffers(_BASE[column.holds], length, parts, nulls)
            case _:
                parts = [bits, pa.py_buffer(offsets), pa.py_buffer(values)]
                array = pa.Array.from_buffers(pa.string(), length, parts, nulls)
        return array if array.type.equals(column.type) else self._converted(array, column, rows_of)

    def _converted(self, array: pa.Array, column: ColumnPlan, rows_of: RowsOf) -> pa.Array:
        try:
            return _cast(array, column.type)
        except pa.ArrowInvalid:
            places = np.array(_misfits(array, column.type), np.int64)
        except pa.ArrowNotImplementedError as error:
            expected = f"types: expected a type that JSON can hold for {column.path!r}, found {column.type}"
            raise InvalidArgument(expected) from error
        for place, row in zip(places.tolist(), rows_of(places).tolist(), strict=True):
            found = str(array[place].as_py())[:60]
            way_out = WAY_OUT.format(column.top)
            reason = f"expected {column.type} in column {column.path!r}, found {found!r}: {way_out}"
            self.misfits.setdefault(row, reason)
        return pa.nulls(len(array), column.type)


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if is_uuid_type(kind):
        return uuids_of(array)
    if isinstance(kind, pa.BaseExtensionType):
        return kind.wrap_array(_cast(array, kind.storage_type))
    return array if array.type.equals(kind) else array.cast(kind)


def _misfits(array: pa.Array, kind: pa.DataType, first: int = 0) -> list[int]:
    """The places of values that cannot be converted."""
    try:
        _cast(array, kind)
    except pa.ArrowInvalid:
        if len(array) == 1:
            return [first]
        middle = len(array) // 2
        return _misfits(array[:middle], kind, first) + _misfits(array[middle:], kind, first + middle)
    return []
