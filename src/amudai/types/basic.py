"""The basic types of the format."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

__all__ = ["BYTES", "CONTAINERS", "INTEGERS", "WIDTHS", "BasicType"]


class BasicType(IntEnum):
    """The 18 basic types, numbered as in the schema."""

    UNIT = 0
    BOOLEAN = 1
    INT8 = 2
    INT16 = 3
    INT32 = 4
    INT64 = 5
    FLOAT32 = 6
    FLOAT64 = 7
    BINARY = 8
    FIXED_SIZE_BINARY = 9
    STRING = 10
    GUID = 11
    DATETIME = 12
    LIST = 13
    FIXED_SIZE_LIST = 14
    STRUCT = 15
    MAP = 16
    UNION = 17


INTEGERS: Final = frozenset({BasicType.INT8, BasicType.INT16, BasicType.INT32, BasicType.INT64})
BYTES: Final = frozenset({BasicType.BINARY, BasicType.FIXED_SIZE_BINARY, BasicType.STRING, BasicType.GUID})
CONTAINERS: Final = frozenset(
    {BasicType.LIST, BasicType.FIXED_SIZE_LIST, BasicType.STRUCT, BasicType.MAP, BasicType.UNION}
)

# Bytes of one stored value, for the types whose blocks hold numbers.
WIDTHS: Final = {
    BasicType.INT8: 1,
    BasicType.INT16: 2,
    BasicType.INT32: 4,
    BasicType.INT64: 8,
    BasicType.FLOAT32: 4,
    BasicType.FLOAT64: 8,
    BasicType.DATETIME: 8,
}
