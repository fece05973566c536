"""The schema of one root that another root changes and writes again.

A schema that stays as it is is taken over byte by byte. One that changes is decoded and encoded again, which would lose
fields of a later version. So a schema with such fields is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from amudai.errors import UnsupportedFeature
from amudai.format.container import Bytes
from amudai.format.flat import FlatTable
from amudai.format.schema import ShardSchema
from amudai.types import SchemaNode

__all__ = ["changeable_schema"]

# The tables of a schema: how many slots this version knows, and the slots that hold tables or vectors of tables.
_TABLES: Final[dict[str, tuple[int, dict[int, str]]]] = {
    "Schema": (3, {0: "[Field]", 2: "HashLookup"}),
    "Field": (2, {0: "DataType", 1: "InternalFieldAnnotation"}),
    "DataType": (10, {5: "[DataType]", 8: "ExtendedTypeAnnotation", 9: "HashLookup"}),
    "ExtendedTypeAnnotation": (2, {1: "[ExtendedTypeProperty]"}),
    "ExtendedTypeProperty": (2, {1: "PropertyValue"}),
    "PropertyValue": (2, {}),
    "InternalFieldAnnotation": (1, {}),
    "HashLookup": (2, {}),
}


def changeable_schema(payload: Bytes) -> tuple[SchemaNode, ...]:
    """The top-level fields of a schema that is to be written again.

    A field of a later version raises `UnsupportedFeature`, which names the table and the slot.
    """
    fields = ShardSchema(payload).fields()  # checks the tree, so that the walk below is finite
    for name, table in _tables("Schema", FlatTable.root(memoryview(payload))):
        slot = table.unknown_slot(_TABLES[name][0])
        if slot is not None:
            expected = "expected no field of a later version, which would be lost"
            raise UnsupportedFeature(f"schema table {name}: {expected}, found slot {slot}")
    return fields


def _tables(name: str, table: FlatTable) -> Iterator[tuple[str, FlatTable]]:
    """The table and all tables below it, with their names."""
    yield name, table
    for slot, below in _TABLES[name][1].items():
        if below.startswith("["):
            listed = table.tables(slot)
            for index in range(0 if listed is None else len(listed)):
                assert listed is not None
                yield from _tables(below[1:-1], listed[index])
        else:
            inner = table.table(slot)
            if inner is not None:
                yield from _tables(below, inner)
