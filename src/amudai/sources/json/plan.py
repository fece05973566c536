"""Which columns the kernels fill for a schema."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import pyarrow as pa

__all__ = ["VALUE", "ColumnPlan", "Holds", "Plan"]

VALUE: Final = "value"
"""The one column of records that are no objects."""


class Holds(IntEnum):
    """What a column of the kernels holds. The numbers are those of the kernels."""

    NULL = 0
    BOOLEAN = 1
    INT64 = 2
    UINT64 = 3
    FLOAT64 = 4
    ROUNDED = 5
    TEXT = 6
    ANY_TEXT = 7
    JSON = 8
    NUMBER_TEXT = 9
    ARRAY = 10
    OBJECT = 11
    MAP = 12


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """A column that the kernels fill, and the type that it is converted to.

    Attributes
    ----------
    path, top
        The place of the column in the schema, and the name of the column of the schema that it belongs to.
    """

    holds: Holds
    name: str
    path: str
    top: str
    type: pa.DataType
    children: tuple[ColumnPlan, ...] = ()

    def walk(self) -> list[ColumnPlan]:
        """All columns from this one down, parents before their children."""
        found = [self]
        for child in self.children:
            found += child.walk()
        return found


@dataclass(frozen=True, slots=True)
class Plan:
    """How records become batches of a schema.

    Attributes
    ----------
    root
        The records as objects, or the one column whose values they are.
    """

    schema: pa.Schema
    root: ColumnPlan
    columns: tuple[ColumnPlan, ...]
    specs: list[tuple[int, str, int]]
    nan: bool

    @classmethod
    def of(cls, schema: pa.Schema, told: frozenset[str], *, nan: bool) -> Plan:
        """The plan for a schema. `told` has the names of columns whose types come from the caller."""
        members = tuple(
            _column(field.type, field.name, field.name, field.name, told=field.name in told) for field in schema
        )
        return cls._from(schema, ColumnPlan(Holds.OBJECT, "", "", "", pa.struct(list(schema)), members), nan=nan)

    @classmethod
    def of_values(cls, schema: pa.Schema, told: frozenset[str], *, nan: bool) -> Plan:
        """The plan for records that are the values of the column `VALUE`. Other columns of the schema are left out."""
        field = schema.field(VALUE)
        root = _column(field.type, VALUE, VALUE, VALUE, told=VALUE in told)
        if root.holds is Holds.OBJECT:  # the caller says so: it stays one column
            root = ColumnPlan(Holds.NULL, VALUE, VALUE, VALUE, field.type)
        return cls._from(pa.schema([field]), root, nan=nan)

    @classmethod
    def _from(cls, schema: pa.Schema, root: ColumnPlan, *, nan: bool) -> Plan:
        columns = tuple(root.walk())
        specs = [(int(column.holds), column.name, len(column.children)) for column in columns]
        return cls(schema, root, columns, specs, nan)

    @property
    def holds_values(self) -> bool:
        """Whether records are values of one column, and no objects."""
        return self.root.holds is not Holds.OBJECT


def _column(kind: pa.DataType, name: str, path: str, top: str, *, told: bool) -> ColumnPlan:
    children: tuple[ColumnPlan, ...] = ()
    holds = _holds(kind, told=told)
    if holds is Holds.ARRAY:
        children = (_column(kind.value_type, "", f"{path}.item", top, told=told),)
    elif holds is Holds.OBJECT:
        members = [kind.field(at) for at in range(kind.num_fields)]
        children = tuple(_column(each.type, each.name, f"{path}.{each.name}", top, told=told) for each in members)
    elif holds is Holds.MAP:
        keys = ColumnPlan(Holds.TEXT, "key", f"{path}.key", top, kind.key_type)
        children = (keys, _column(kind.item_type, "value", f"{path}.value", top, told=told))
    return ColumnPlan(holds, name, path, top, kind, children)


def _holds(kind: pa.DataType, *, told: bool) -> Holds:
    """What the kernels collect for a type. Columns of other types can only be null."""
    types = pa.types
    if isinstance(kind, pa.JsonType):
        return Holds.JSON
    if isinstance(kind, pa.BaseExtensionType):
        return _holds(kind.storage_type, told=told)
    if types.is_dictionary(kind):
        return _holds(kind.value_type, told=told)
    if types.is_boolean(kind):
        return Holds.BOOLEAN
    if types.is_uint64(kind):
        return Holds.UINT64
    if types.is_integer(kind) or types.is_duration(kind):
        return Holds.INT64
    if types.is_floating(kind):
        return Holds.ROUNDED if told else Holds.FLOAT64
    if types.is_decimal(kind):
        return Holds.NUMBER_TEXT
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return Holds.ANY_TEXT if told else Holds.TEXT
    if types.is_temporal(kind) or types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind):
        return Holds.TEXT
    if types.is_fixed_size_binary(kind):
        return Holds.TEXT
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return Holds.ARRAY
    if types.is_struct(kind):
        return Holds.OBJECT
    if types.is_map(kind) and types.is_string(kind.key_type):
        return Holds.MAP
    return Holds.NULL
