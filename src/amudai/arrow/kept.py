"""Which Arrow types did the writer keep?"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from amudai.errors import CorruptedData
from amudai.format import Properties

__all__ = ["SCHEMA_PROPERTY", "kept_field", "kept_names", "kept_schema"]

# The shard property that holds the Arrow schema of the data as it came in, as IPC bytes.
SCHEMA_PROPERTY: Final = "amudai.arrow.schema"


def kept_schema(properties: Properties) -> pa.Schema | None:
    """The Arrow schema among a shard's properties, or None."""
    found = next((value for name, value in properties if name == SCHEMA_PROPERTY), None)
    if found is None:
        return None
    if not isinstance(found.value, bytes):
        raise CorruptedData(f"property {SCHEMA_PROPERTY}: expected bytes, found {found.kind}")
    try:
        return pa.ipc.read_schema(pa.py_buffer(found.value))
    except (pa.ArrowException, ValueError, OSError) as error:
        raise _unreadable(error) from error


def kept_names(schema: pa.Schema) -> list[str]:
    """The names of all columns of a kept schema."""
    try:
        return list(schema.names)
    except ValueError as error:
        raise _unreadable(error) from error


def kept_field(schema: pa.Schema, place: int) -> pa.Field:
    """A column of a kept schema, whose names are text."""
    try:
        field = schema.field(place)
        _decode_names(field)
    except ValueError as error:
        raise _unreadable(error) from error
    return field


def _decode_names(field: pa.Field) -> None:
    """Meet names that are no text now: Arrow decodes them when they are asked for."""
    str(field.name)
    for index in range(field.type.num_fields):
        _decode_names(field.type.field(index))


def _unreadable(error: Exception) -> CorruptedData:
    return CorruptedData(f"property {SCHEMA_PROPERTY}: expected an Arrow schema, found {error}")
