"""The stored form of arrays without children.

A visible value that cannot be stored raises an error. A hidden value (below a null struct, say) is stored as null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow.buffers import Mask, VisibleSlots, bits_of, validity_of, view, visible
from amudai.arrow.natural import dtype_of
from amudai.arrow.scaled import is_scaled, to_scaled
from amudai.arrow.take import MISSING, take
from amudai.arrow.ticks import nanoseconds_after, to_ticks, to_timespan
from amudai.encoding import is_text
from amudai.errors import InvalidArgument
from amudai.shard import Bits, StoredArray
from amudai.types import NANOSECONDS, WIDTHS, BasicType, SchemaNode, decimal128

__all__ = ["leaf", "leaf_fits", "wide_scale"]

# Exponents of the format's decimals have room for this, and for the digits that rounding takes away.
_LARGEST_SCALE: Final = 6000

T = TypeVar("T")


def leaf_fits(kind: pa.DataType, node: SchemaNode) -> bool:
    """Whether values of this Arrow type are stored as the node says, or can be converted to it."""
    match node.basic_type:
        case BasicType.UNIT:
            return bool(pa.types.is_null(kind))
        case BasicType.BOOLEAN:
            return bool(pa.types.is_boolean(kind))
        case BasicType.STRING:
            return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
        case BasicType.BINARY:
            return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
        case BasicType.FIXED_SIZE_BINARY | BasicType.GUID:
            if _is_converted_decimal(kind, node):
                return True
            raw = pa.types.is_fixed_size_binary(kind) or pa.types.is_decimal(kind) or pa.types.is_interval(kind)
            return bool(raw) and kind.bit_width == 8 * node.fixed_size
    if _is_converted_time(kind, node) or is_scaled(kind, node):
        return True
    if pa.types.is_decimal(kind):
        return False
    if not pa.types.is_primitive(kind) or pa.types.is_boolean(kind) or kind.bit_width != 8 * WIDTHS[node.basic_type]:
        return False
    if pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return dtype_of(kind) == node.dtype
    # Half floats are stored as their bits, all other kinds of numbers as signed integers.
    return not node.extension and (node.dtype == "u2" if pa.types.is_float16(kind) else node.dtype[0] == "i")


def leaf(array: pa.Array, node: SchemaNode, seen: VisibleSlots, *, rounded: bool) -> StoredArray:
    """The stored form of an array without children, whose type fits the node.

    `rounded` rounds nanoseconds down to ticks, for a caller that stores the rest in another field.
    """
    count = len(array)
    match node.basic_type:
        case BasicType.UNIT:
            return StoredArray(node=node, length=count, null_count=count)
        case BasicType.BOOLEAN:
            return _boolean(array, node)
        case BasicType.STRING | BasicType.BINARY:
            return _variable(array, node, seen)
        case BasicType.FIXED_SIZE_BINARY | BasicType.GUID:
            return _decimal(array, node, seen) if _is_converted_decimal(array.type, node) else _fixed(array, node)
        case _:
            if pa.types.is_decimal(array.type):
                return _scaled(array, node, seen)
            return _number(array, node, seen, rounded)


def _number(array: pa.Array, node: SchemaNode, seen: VisibleSlots, rounded: bool) -> StoredArray:
    validity, nulls = validity_of(array)
    buffer, count = array.buffers()[1], len(array)
    if not _is_converted_time(array.type, node):
        data = view(buffer, node.dtype, array.offset, count)
        return StoredArray(node=node, length=count, null_count=nulls, validity=validity, data=data)
    dtype = "i4" if pa.types.is_date32(array.type) else "i8"
    numbers = view(buffer, dtype, array.offset, count).astype(np.int64, copy=False)
    if node.internal == NANOSECONDS:
        data = nanoseconds_after(numbers)
        return StoredArray(node=node, length=count, null_count=nulls, validity=validity, data=data)
    convert = to_ticks if node.basic_type is BasicType.DATETIME else to_timespan
    found, validity, nulls = _of_visible(
        lambda valid: convert(numbers, valid, array.type, rounded=rounded), array, seen
    )
    return StoredArray(node=node, length=count, null_count=nulls, validity=validity, data=found)


def _boolean(array: pa.BooleanArray, node: SchemaNode) -> StoredArray:
    validity, nulls = validity_of(array)
    data = bits_of(array.buffers()[1], array.offset, len(array)).packed()
    if validity is not None:
        data = data & validity.packed()
    return StoredArray(node=node, length=len(array), null_count=nulls, validity=validity, data=data)


def _variable(array: pa.Array, node: SchemaNode, seen: VisibleSlots) -> StoredArray:
    validity, nulls = validity_of(array)
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    _, positions, content = array.buffers()
    count, dtype = len(array), np.dtype(np.int64 if wide else np.int32)
    # An empty array may come without any offset.
    offsets = view(positions, dtype, array.offset, count + 1) if count else np.zeros(1, dtype)
    data = view(content, "u1", 0, 0 if content is None else content.size)
    # The kernels check all bytes at once. Data that fails may still be valid, if a null hides the bad bytes.
    text = node.basic_type is BasicType.STRING
    if not (text and is_text(offsets, data)) and not _is_sound(array):
        if node.basic_type is BasicType.BINARY:
            raise InvalidArgument("offsets: expected them to grow and to stay inside the data, found others")
        _, validity, nulls = _of_visible(lambda valid: _require_text(array, valid), array, seen)
    stored = StoredArray(node=node, length=count, null_count=nulls, validity=validity, data=data, offsets=offsets)
    valid = stored.valid()
    if valid is not None and np.diff(offsets)[~valid].any():
        return take(stored, np.where(valid, np.arange(count), MISSING))
    return stored


def _fixed(array: pa.Array, node: SchemaNode) -> StoredArray:
    validity, nulls = validity_of(array)
    size, count = node.fixed_size, len(array)
    data = view(array.buffers()[1], "u1", array.offset * size, count * size)
    if validity is not None:
        gone = ~validity.mask()
        if data.reshape(count, size)[gone].any():
            data = data.copy()
            data.reshape(count, size)[gone] = 0
    scale = wide_scale(array.type, node)
    return StoredArray(node=node, length=count, null_count=nulls, validity=validity, data=data, scale=scale)


def _decimal(array: pa.Array, node: SchemaNode, seen: VisibleSlots) -> StoredArray:
    kind, count = array.type, len(array)
    rows = _unscaled(array)
    found, validity, nulls = _of_visible(
        lambda valid: decimal128.from_unscaled(rows, kind.scale, precision=kind.precision, valid=valid), array, seen
    )
    return StoredArray(node=node, length=count, null_count=nulls, validity=validity, data=found.reshape(-1))


def _scaled(array: pa.Array, node: SchemaNode, seen: VisibleSlots) -> StoredArray:
    rows = _unscaled(array)
    found, validity, nulls = _of_visible(lambda valid: to_scaled(rows, array.type, valid), array, seen)
    return StoredArray(node=node, length=len(array), null_count=nulls, validity=validity, data=found)


def _unscaled(array: pa.Array) -> npt.NDArray[np.uint8]:
    """The bytes of Arrow's decimals: a row for each value."""
    count, width = len(array), array.type.bit_width // 8
    return view(array.buffers()[1], "u1", array.offset * width, count * width).reshape(count, width)


def wide_scale(kind: pa.DataType, node: SchemaNode) -> int | None:
    """The scale of Arrow's decimals that are stored as Arrow has them; None for other values, and for odd scales."""
    if not pa.types.is_decimal(kind) or node.is_decimal or node.basic_type is not BasicType.FIXED_SIZE_BINARY:
        return None
    return kind.scale if abs(kind.scale) <= _LARGEST_SCALE and node.fixed_size in (16, 32) else None


def _is_converted_time(kind: pa.DataType, node: SchemaNode) -> bool:
    if node.internal == NANOSECONDS:
        return bool(pa.types.is_timestamp(kind) or pa.types.is_duration(kind)) and kind.unit == "ns"
    if node.basic_type is BasicType.DATETIME:
        return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))
    return node.is_ticks and bool(pa.types.is_duration(kind))


def _is_converted_decimal(kind: pa.DataType, node: SchemaNode) -> bool:
    return node.is_decimal and bool(pa.types.is_decimal(kind))


def _of_visible(convert: Callable[[Mask | None], T], array: pa.Array, seen: VisibleSlots) -> tuple[T, Bits | None, int]:
    """The result of `convert` for the valid slots or, if that fails, for the visible slots."""
    validity, nulls = validity_of(array)
    valid = None if validity is None else validity.mask()
    try:
        return convert(valid), validity, nulls
    except InvalidArgument:
        if seen is None:
            raise
        mask = visible(valid, seen, len(array))
        return convert(mask), Bits.of(mask), len(mask) - int(np.count_nonzero(mask))


def _is_sound(array: pa.Array) -> bool:
    """Whether offsets ascend inside the data and text is UTF-8."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _require_text(array: pa.Array, valid: Mask | None) -> None:
    """Raise an error for the first valid value that is not UTF-8. Called only if some value is not."""
    values = array.cast(pa.large_binary() if pa.types.is_large_string(array.type) else pa.binary())
    if not _is_sound(values):
        raise InvalidArgument("offsets: expected them to grow and to stay inside the data, found others")
    for at, value in enumerate(values):
        if valid is None or valid[at]:
            try:
                value.as_py().decode()
            except UnicodeDecodeError as error:
                raise InvalidArgument(f"string at {at}: expected UTF-8, found other bytes") from error
