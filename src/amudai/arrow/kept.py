"""Which Arrow types did the writer keep?"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import pyarrow as pa

from amudai.arrow.natural import project
from amudai.column import Projection
from amudai.errors import CorruptedData, InvalidArgument
from amudai.format import SHARED_BYTES, SHARED_SCHEMAS, Properties, ShardSchema
from amudai.types import SchemaNode

__all__ = ["SCHEMA_PROPERTY", "KeptFields", "kept_fields"]

# The shard property that holds the Arrow schema of the data as it came in, as IPC bytes.
SCHEMA_PROPERTY: Final = "amudai.arrow.schema"


class KeptFields:
    """The Arrow fields that a writer kept for the columns of a schema, worked out when they are asked for."""

    def __init__(self, stored: bytes) -> None:
        try:
            self.schema: pa.Schema = pa.ipc.read_schema(pa.py_buffer(stored))
        except (pa.ArrowException, ValueError, OSError) as error:
            raise _unreadable(error) from error
        self._found: dict[int, tuple[pa.Field, Projection]] = {}
        self._places: dict[int, int] | None = None

    def find(self, node: SchemaNode, columns: Callable[[], tuple[SchemaNode, ...]]) -> tuple[pa.Field, Projection]:
        """A column as Arrow sees it, and what must be read for it; `columns` gives all of them."""
        found = self._found.get(node.schema_id)
        if found is None:
            # By its name, so that one column of ten thousand costs one; only a name that is there twice needs them all.
            named = self.schema.get_all_field_indices(node.name)
            field = self._field(named[0] if len(named) == 1 else self.places(columns())[node.schema_id])
            try:
                found = field, project(node, field.type)
            except InvalidArgument as error:
                raise CorruptedData(f"kept Arrow schema: {error.message}", field=node.name) from error
            self._found[node.schema_id] = found
        return found

    def places(self, columns: tuple[SchemaNode, ...]) -> dict[int, int]:
        """Where a column stands in the schema, by its id; these must be all columns."""
        if self._places is None:
            try:
                names = list(self.schema.names)
            except ValueError as error:
                raise _unreadable(error) from error
            if [node.name for node in columns] != names:
                raise CorruptedData("kept Arrow schema: expected the columns of the shard, found others")
            self._places = {node.schema_id: place for place, node in enumerate(columns)}
        return self._places

    def _field(self, place: int) -> pa.Field:
        try:
            field = self.schema.field(place)
            _decode_names(field)
        except ValueError as error:
            raise _unreadable(error) from error
        return field


def kept_fields(schema: ShardSchema, properties: Properties) -> KeptFields | None:
    """The fields that the properties of a shard keep for its schema, or None.

    They are the same for other shards of the same bytes, so those of a table share them.
    """
    found = next((value for name, value in properties if name == SCHEMA_PROPERTY), None)
    if found is None:
        return None
    if not isinstance(found.value, bytes):
        raise CorruptedData(f"property {SCHEMA_PROPERTY}: expected bytes, found {found.kind}")
    # What an extension is depends on who is registered when.
    if len(schema.payload) + len(found.value) > SHARED_BYTES or _EXTENSION in found.value:
        return KeptFields(found.value)
    return _shared(schema.payload, found.value)


_EXTENSION: Final = b"ARROW:extension"


@lru_cache(maxsize=SHARED_SCHEMAS)
def _shared(_payload: bytes, stored: bytes) -> KeptFields:
    return KeptFields(stored)


def _decode_names(field: pa.Field) -> None:
    """Meet names that are no text now: Arrow decodes them when they are asked for."""
    str(field.name)
    for index in range(field.type.num_fields):
        _decode_names(field.type.field(index))


def _unreadable(error: Exception) -> CorruptedData:
    return CorruptedData(f"property {SCHEMA_PROPERTY}: expected an Arrow schema, found {error}")
