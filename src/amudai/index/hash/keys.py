"""The 64-bit hash of a value of a field.

The hashed key consists of the names from the top-level field down to the field, joined by dots, then a colon, then the
bytes of the value. A null has no bytes. Equal floats and equal decimals may have different bytes, so they are hashed by
value: -0.0 like 0.0, all NaNs alike, 1.0 like 1.00.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import xxhash

from amudai import _kernels
from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.types import BYTES, WIDTHS, BasicType, SchemaNode, decimal128

if TYPE_CHECKING:
    from amudai.shard import StoredArray

__all__ = [
    "KEY_TYPES",
    "by_value",
    "composite_hashes",
    "hash_key",
    "hash_values",
    "hashed_path",
    "key_prefix",
    "require_composite",
    "require_path",
]

KEY_TYPES: Final = frozenset({BasicType.BOOLEAN, *WIDTHS, *BYTES})

U64 = npt.NDArray[np.uint64]

_FLOATS: Final = frozenset({BasicType.FLOAT32, BasicType.FLOAT64})
_THROUGH: Final = frozenset({BasicType.STRUCT, BasicType.LIST, BasicType.FIXED_SIZE_LIST, BasicType.MAP})
_ROLES: Final = {BasicType.LIST: ("item",), BasicType.FIXED_SIZE_LIST: ("item",), BasicType.MAP: ("key", "value")}
_VARIABLE: Final = frozenset({BasicType.STRING, BasicType.BINARY})
_BOOLEANS: Final = {b"\x00": b"0", b"\x01": b"1", b"0": b"0", b"1": b"1"}


def require_path(path: Sequence[SchemaNode]) -> None:
    """Raise InvalidArgument if a hash index cannot cover the field at the end of `path`."""
    shown = ".".join(node.name for node in path)
    for node in path[:-1]:
        if node.basic_type not in _THROUGH:
            raise InvalidArgument(
                f"hash index of {shown!r}: expected a path through structs, lists and maps, found {node}"
            )
    if path[-1].basic_type not in KEY_TYPES:
        raise InvalidArgument(f"hash index of {shown!r}: expected single values, found {path[-1]}")


def require_composite(paths: Sequence[Sequence[SchemaNode]]) -> None:
    """Raise InvalidArgument if the fields at the end of `paths` cannot be one key together."""
    for path in paths:
        require_path(path)
        lists = [node for node in path[:-1] if node.basic_type is not BasicType.STRUCT]
        if lists and len(paths) > 1:
            shown = ".".join(node.name for node in path)
            raise InvalidArgument(f"hash index of {shown!r}: expected one value for each row, found a {lists[0]}")


def composite_hashes(parts: Sequence[U64]) -> U64:
    """The hashes of composite keys: for each field the hashes of its values, row by row."""
    count = len(parts[0])
    data = np.ascontiguousarray(np.stack(parts, axis=1).astype("<u8")).view(np.uint8).reshape(-1)
    return _kernels.hash_keys(b"", None, data, 8 * len(parts), None, 0, count)


def hashed_path(path: Sequence[SchemaNode]) -> str:
    """The path of a field as keys state it.

    >>> names = SchemaNode(schema_id=1, name="", basic_type=BasicType.STRING)
    >>> hashed_path([SchemaNode(schema_id=0, name="names", basic_type=BasicType.LIST, children=(names,)), names])
    'names.item'
    """
    steps = [path[0].name]
    for above, node in pairwise(path):
        roles = _ROLES.get(above.basic_type)
        number = [each.schema_id for each in above.children].index(node.schema_id)
        steps.append(node.name or (roles[number] if roles else ""))
    return ".".join(steps)


def key_prefix(path: str) -> bytes:
    """The bytes that all keys of a field begin with. `path` is its `hashed_path`.

    >>> key_prefix("names.item")
    b'names.item:'
    """
    return path.encode() + b":"


def by_value(node: SchemaNode) -> bool:
    """Whether values of this field are hashed by value, so that equal values with different bytes have one hash."""
    return node.basic_type in _FLOATS or node.is_decimal


def hash_key(prefix: bytes, node: SchemaNode, value: bytes) -> int:
    r"""The hash of one value, given as stored bytes. A boolean is one byte: the number or the digit 0 or 1.

    >>> node = SchemaNode(schema_id=0, name="flag", basic_type=BasicType.BOOLEAN)
    >>> hex(hash_key(b"flag:", node, b"\x01"))
    '0x62eaea30d41212dd'
    """
    if value and node.basic_type in WIDTHS and len(value) != WIDTHS[node.basic_type]:
        raise InvalidArgument(f"key of {node}: expected {WIDTHS[node.basic_type]} bytes, found {len(value)}")
    if not value:
        pass
    elif node.basic_type is BasicType.BOOLEAN:
        if value not in _BOOLEANS:
            raise InvalidArgument(f"key of {node}: expected one byte, 0 or 1, found {shown(value)}")
        value = _BOOLEANS[value]
    elif by_value(node):
        value = _by_value(np.frombuffer(value, np.uint8 if node.is_decimal else f"<{node.dtype}"), node).tobytes()
    return xxhash.xxh3_64_intdigest(prefix + value)


def hash_values(prefix: bytes, values: StoredArray) -> U64:
    """The hashes of all values, nulls included."""
    bits, at = (None, 0) if values.validity is None else (values.validity.data, values.validity.first)
    if values.dictionary is not None:
        distinct = hash_values(prefix, values.dictionary.values)
        if not len(distinct):
            return np.full(values.length, xxhash.xxh3_64_intdigest(prefix), np.uint64)
        hashes: U64 = distinct[values.dictionary.codes]
        valid = values.valid()
        if valid is not None:
            hashes[~valid] = xxhash.xxh3_64_intdigest(prefix)
        return hashes
    node, count = values.node, values.length
    data = np.empty(0, np.uint8) if values.data is None else values.data
    if node.basic_type in _VARIABLE:
        return _kernels.hash_keys(prefix, values.offsets, data, None, bits, at, count)
    if node.basic_type is BasicType.BOOLEAN:
        data = np.unpackbits(data, count=count, bitorder="little") + np.uint8(ord("0"))
        return _kernels.hash_keys(prefix, None, data, 1, bits, at, count)
    if by_value(node):
        data = _by_value(data, node)
    size = len(data) // count * data.itemsize if count else 0
    return _kernels.hash_keys(prefix, None, np.ascontiguousarray(data).view(np.uint8), size, bits, at, count)


def _by_value(data: npt.NDArray[Any], node: SchemaNode) -> npt.NDArray[Any]:
    """The numbers in a form in which equal numbers have equal bytes."""
    if node.is_decimal:
        return decimal128.by_value(np.ascontiguousarray(data)).reshape(-1)
    zero = data.dtype.type(0)
    numbers: npt.NDArray[Any] = np.where(np.isnan(data), data.dtype.type(np.nan), data + zero)
    return numbers
