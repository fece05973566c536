"""Which Arrow types did the writer keep?"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from amudai.errors import CorruptedData
from amudai.format import Properties

__all__ = ["SCHEMA_PROPERTY", "kept_schema"]

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
        schema = pa.ipc.read_schema(pa.py_buffer(found.value))
        for field in schema:
            _decode_names(field)
        return schema
    except (pa.ArrowException, ValueError, OSError) as error:
        raise CorruptedData(f"property {SCHEMA_PROPERTY}: expected an Arrow schema, found {error}") from error


def _decode_names(field: pa.Field) -> None:
    """Meet names that are no text now: Arrow decodes them when they are asked for."""
    str(field.name)
    for index in range(field.type.num_fields):
        _decode_names(field.type.field(index))
