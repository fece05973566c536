"""The Arrow types that the writer kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

import pyarrow as pa

from amudai.arrow.natural import project
from amudai.column import Projection
from amudai.errors import CorruptedData, InvalidArgument
from amudai.format import SHARED_BYTES, SHARED_SCHEMAS, Properties, ShardSchema
from amudai.types import CONTAINERS, BasicType, SchemaNode

__all__ = ["SCHEMA_PROPERTY", "KeptFields", "kept_fields"]

# The shard property that holds the Arrow schema of the written data, as IPC bytes.
SCHEMA_PROPERTY: Final = "amudai.arrow.schema"


class KeptFields:
    """The Arrow fields that a writer kept for the columns of a schema, computed when they are accessed.

    Attributes
    ----------
    schema
        The Arrow schema of the written data.
    fields, projections
        By schema id, what readers of such shards found for columns whose types nobody changed.
    whole
        The Arrow schema that those readers found for all columns, or None.
    """

    def __init__(self, stored: bytes) -> None:
        try:
            self.schema: pa.Schema = pa.ipc.read_schema(pa.py_buffer(stored))
        except (pa.ArrowException, ValueError, OSError) as error:
            raise _unreadable(error) from error
        self.fields: dict[int, pa.Field] = {}
        self.projections: dict[int, Projection] = {}
        self.whole: pa.Schema | None = None
        self._places: dict[int, int] | None = None

    def find(self, node: SchemaNode, columns: Callable[[], tuple[SchemaNode, ...]]) -> tuple[pa.Field, Projection]:
        """The Arrow field of a column, and what must be read for it. `columns` returns all columns."""
        # By name, so that one column of ten thousand costs one. Only a name that occurs twice needs all columns.
        named = self.schema.get_all_field_indices(node.name)
        field = self._field(named[0] if len(named) == 1 else self.places(columns())[node.schema_id])
        return field, _projected(node, field.type)

    def each(self, columns: tuple[SchemaNode, ...]) -> Iterator[tuple[pa.Field, Projection]]:
        """The Arrow fields of all columns, and what must be read for each. `columns` must be all columns."""
        places = self.places(columns)
        fields = list(self.schema)
        known: dict[tuple[BasicType, bool, int], Projection] = {}
        for node in columns:
            field = fields[places[node.schema_id]]
            kind = field.type
            if kind.id not in _SIMPLE or node.extension or node.basic_type in _OTHERS:
                _decode_names(field)
                yield field, _projected(node, kind)
                continue
            # Columns of one type differ in nothing but their nodes.
            key = node.basic_type, node.signed, kind.id
            alike = known.get(key)
            if alike is None:
                alike = known[key] = _projected(node, kind)
            yield field, Projection(node, alike.wide, views=alike.views)

    def places(self, columns: tuple[SchemaNode, ...]) -> dict[int, int]:
        """The index of each column in the kept schema, by schema id. `columns` must be all columns."""
        if self._places is None:
            if [node.name for node in columns] != self.names():
                raise CorruptedData("kept Arrow schema: expected the columns of the shard, found others")
            self._places = {node.schema_id: place for place, node in enumerate(columns)}
        return self._places

    def names(self) -> list[str]:
        """The names of the columns in the kept schema."""
        try:
            return list(self.schema.names)
        except ValueError as error:
            raise _unreadable(error) from error

    def _field(self, place: int) -> pa.Field:
        try:
            field = self.schema.field(place)
            _decode_names(field)
        except ValueError as error:
            raise _unreadable(error) from error
        return field


def kept_fields(schema: ShardSchema, properties: Properties) -> KeptFields | None:
    """The fields that the properties of a shard keep for its schema, or None.

    Shards with the same schema bytes, such as the shards of a table, share them.
    """
    found = next((value for name, value in properties if name == SCHEMA_PROPERTY), None)
    if found is None:
        return None
    if not isinstance(found.value, bytes):
        raise CorruptedData(f"property {SCHEMA_PROPERTY}: expected bytes, found {found.kind}")
    # Extension types are not shared: their meaning depends on which types are registered at the time.
    if len(schema.payload) + len(found.value) > SHARED_BYTES or _EXTENSION in found.value:
        return KeptFields(found.value)
    return _shared(schema.payload, found.value)


_EXTENSION: Final = b"ARROW:extension"
# Types without parameters, whose values have no size of their own.
_SIMPLE: Final = frozenset(
    {
        *(pa.lib.Type_INT8, pa.lib.Type_INT16, pa.lib.Type_INT32, pa.lib.Type_INT64),
        *(pa.lib.Type_UINT8, pa.lib.Type_UINT16, pa.lib.Type_UINT32, pa.lib.Type_UINT64),
        *(pa.lib.Type_FLOAT, pa.lib.Type_DOUBLE, pa.lib.Type_BOOL),
        *(pa.lib.Type_STRING, pa.lib.Type_BINARY, pa.lib.Type_LARGE_STRING, pa.lib.Type_LARGE_BINARY),
    }
)
# Stored types that columns of a simple type may have, and that are read in another way.
_OTHERS: Final = frozenset({*CONTAINERS, BasicType.DATETIME})


def _projected(node: SchemaNode, kind: pa.DataType) -> Projection:
    try:
        return project(node, kind)
    except InvalidArgument as error:
        raise CorruptedData(f"kept Arrow schema: {error.message}", field=node.name) from error


@lru_cache(maxsize=SHARED_SCHEMAS)
def _shared(_payload: bytes, stored: bytes) -> KeptFields:
    return KeptFields(stored)


def _decode_names(field: pa.Field) -> None:
    """Access all names, so that names that are not UTF-8 fail now: Arrow decodes a name when it is accessed."""
    str(field.name)
    for index in range(field.type.num_fields):
        _decode_names(field.type.field(index))


def _unreadable(error: Exception) -> CorruptedData:
    return CorruptedData(f"property {SCHEMA_PROPERTY}: expected an Arrow schema, found {error}")
