"""Do two tables hold the same values? Floats bit by bit, nulls exactly, at any depth."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

TICK = 100  # nanoseconds


def same_values(found: pa.Table, expected: pa.Table, *, as_ticks: bool = False) -> bool:
    """True, or an error that says where they differ.

    Types must be equal, but for what the format does not keep: the unit of times, and the digits of decimals. Of a null
    struct or list nothing counts but that it is null.

    Parameters
    ----------
    as_ticks
        Whether `expected` holds nanoseconds that were cut to ticks of 100 ns when they were written, towards zero.
    """
    assert found.column_names == expected.column_names
    assert found.num_rows == expected.num_rows
    for name, left, right in zip(found.column_names, found.columns, expected.columns, strict=True):
        _compare(_one(left), _one(right), name, as_ticks)
    return True


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _compare(found: pa.Array, expected: pa.Array, path: str, as_ticks: bool) -> None:
    assert len(found) == len(expected), f"{path}: expected {len(expected)} values, found {len(found)}"
    expected = _as_stored(expected, found.type, as_ticks)
    assert found.type == expected.type, f"{path}: expected {expected.type}, found {found.type}"
    if isinstance(found.type, pa.BaseExtensionType):
        return _compare(found.storage, expected.storage, path, as_ticks)
    valid = _valid(found)
    _equal(valid, _valid(expected), f"{path} is valid")
    if not valid.all():
        mask = pa.array(valid)
        found, expected = found.filter(mask), expected.filter(mask)
    kind = found.type
    if pa.types.is_floating(kind):
        return _equal(_bits(found), _bits(expected), f"{path}, bits")
    if pa.types.is_struct(kind):
        for index in range(kind.num_fields):
            _compare(found.field(index), expected.field(index), f"{path}.{kind.field(index).name}", as_ticks)
        return None
    if pa.types.is_map(kind):
        _equal(np.diff(found.offsets), np.diff(expected.offsets), f"{path}, lengths")
        _compare(_inside(found, found.keys), _inside(expected, expected.keys), f"{path}.key", as_ticks)
        return _compare(_inside(found, found.items), _inside(expected, expected.items), f"{path}.value", as_ticks)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        lengths = (pc.list_value_length(each).to_numpy() for each in (found, expected))
        _equal(*lengths, f"{path}, lengths")
        return _compare(found.flatten(), expected.flatten(), f"{path}.item", as_ticks)
    if not found.equals(expected):
        differs = pc.fill_null(pc.not_equal(found, expected), True).to_numpy(zero_copy_only=False)
        at = int(np.argmax(differs))
        raise AssertionError(f"{path}: value {at}: expected {expected[at]!r:.200}, found {found[at]!r:.200}")
    return None


def _as_stored(expected: pa.Array, kind: pa.DataType, as_ticks: bool) -> pa.Array:
    """Times in the unit and decimals with the digits that the shard has; nothing may be lost by that."""
    if pa.types.is_timestamp(kind) and kind.tz in (None, "UTC"):
        if pa.types.is_timestamp(expected.type) and as_ticks:
            numbers = expected.cast(pa.timestamp("ns")).cast(pa.int64())
            cut = pc.multiply(pc.divide(numbers, TICK), TICK)  # integers divide towards zero
            return cut.cast(pa.timestamp("ns")).cast(kind)
        if pa.types.is_timestamp(expected.type) or pa.types.is_date32(expected.type):
            return expected.cast(kind)
    if pa.types.is_decimal256(kind) and pa.types.is_decimal128(expected.type):
        return expected.cast(kind)
    return expected


def _inside(lists: pa.Array, values: pa.Array) -> pa.Array:
    """Those of the values that the lists reach."""
    if not len(lists):
        return values.slice(0, 0)
    first, last = lists.offsets[0].as_py(), lists.offsets[-1].as_py()
    return values.slice(first, last - first) if len(values) != last - first else values


def _valid(array: pa.Array) -> npt.NDArray[np.bool_]:
    return array.is_valid().to_numpy(zero_copy_only=False)


def _bits(array: pa.Array) -> npt.NDArray[Any]:
    width = array.type.bit_width // 8
    data = array.buffers()[1]
    if data is None:
        return np.empty(0, f"u{width}")
    return np.frombuffer(data, f"u{width}", len(array), array.offset * width)


def _equal(found: npt.NDArray[Any], expected: npt.NDArray[Any], what: str) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    if not np.array_equal(found, expected):
        at = int(np.argmax(found != expected))
        raise AssertionError(f"{what}: at {at} expected {expected[at]}, found {found[at]}")
