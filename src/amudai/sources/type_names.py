"""Names of Arrow types."""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa

__all__ = ["type_named"]

# Common names of types, besides Arrow's own.
_OTHERS: Final = {
    "text": pa.string(),
    "int": pa.int64(),
    "integer": pa.int64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "bytes": pa.binary(),
    "uuid": pa.uuid(),
    "json": pa.json_(),
}
_DECIMAL: Final = re.compile(r"decimal(?:128|256)?\((\d+),\s*(\d+)\)")
_ZONED: Final = re.compile(r"timestamp\[(s|ms|us|ns),\s*(?:tz=)?(\S+)\]")


def type_named(name: str) -> pa.DataType:
    """The Arrow type of this name; `ValueError` if there is none.

    >>> [str(type_named(name)) for name in ("int32", "text", "timestamp[ms, UTC]", "decimal(20, 2)")]
    ['int32', 'string', 'timestamp[ms, tz=UTC]', 'decimal128(20, 2)']
    """
    lower = name.strip().lower()
    if lower in _OTHERS:
        return _OTHERS[lower]
    if match := _DECIMAL.fullmatch(lower):
        precision, scale = int(match[1]), int(match[2])
        return pa.decimal256(precision, scale) if precision > 38 else pa.decimal128(precision, scale)
    if match := _ZONED.fullmatch(name.strip()):
        return pa.timestamp(match[1], match[2])
    return pa.type_for_alias(lower)
