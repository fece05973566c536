"""The nodes of a shard's schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from amudai.types.basic import WIDTHS, BasicType
from amudai.types.path import quote_name

__all__ = [
    "DECIMAL",
    "DELETED_RECORD",
    "DYNAMIC",
    "INGESTION_TIMESTAMP",
    "NANOSECONDS",
    "RECORD_IDENTITY",
    "TIMESPAN",
    "ExtensionProperty",
    "NodePath",
    "SchemaNode",
    "bounds_node",
    "nanoseconds_name",
    "nodes_below",
    "with_first_id",
]

# Labels of the extension types that change what a stored value means.
DECIMAL: Final = "KustoDecimal"
TIMESPAN: Final = "KustoTimeSpan"
DYNAMIC: Final = "KustoDynamic"

# The role of the internal field that is true for deleted rows.
DELETED_RECORD: Final = "Kusto.Amudai.DeletedRecord"
# The role of an internal field that holds, for a column of ticks, the 0 to 99 ns by which each time is after its tick.
NANOSECONDS: Final = "amudai.Nanoseconds"

# The roles of internal fields that the format defines: when a row came in, and an identity of the row.
INGESTION_TIMESTAMP: Final = "Kusto.Amudai.IngestionTimestamp"
RECORD_IDENTITY: Final = "Kusto.Amudai.RecordIdentity"


@dataclass(frozen=True, slots=True)
class ExtensionProperty:
    """A property of an extension type, as stored: its name, the code of its kind, and the bytes of its value."""

    name: str
    kind: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaNode:
    """One node of the schema tree, with everything below it.

    `schema_id` is the slot of the node's descriptors in the field lists. `internal` names the role of an internal field
    (a deleted-records marker, say) and is empty for fields that a user sees. `extension_properties` are kept for other
    programs; nothing here depends on them.
    """

    schema_id: int
    name: str
    basic_type: BasicType
    signed: bool = False
    fixed_size: int = 0
    extension: str = ""
    extension_properties: tuple[ExtensionProperty, ...] = ()
    aliases: tuple[str, ...] = ()
    internal: str = ""
    children: tuple[SchemaNode, ...] = field(default=(), repr=False)

    @property
    def is_decimal(self) -> bool:
        """Whether the 16 bytes of a value are a decimal number."""
        return self.basic_type is BasicType.FIXED_SIZE_BINARY and self.extension == DECIMAL and self.fixed_size == 16

    @property
    def is_json_bytes(self) -> bool:
        """Whether a value is JSON in a binary column, or another encoding of a dynamic value."""
        return self.basic_type is BasicType.BINARY and self.extension == DYNAMIC

    @property
    def is_ticks(self) -> bool:
        """Whether a value is a number of ticks of 100 ns: a DateTime or a time span."""
        if self.basic_type is BasicType.DATETIME:
            return True
        return self.basic_type is BasicType.INT64 and self.signed and self.extension == TIMESPAN

    @property
    def dtype(self) -> str:
        """The numpy type of stored values, for the types whose blocks hold numbers."""
        width = WIDTHS[self.basic_type]
        if self.basic_type in (BasicType.FLOAT32, BasicType.FLOAT64):
            return f"f{width}"
        return f"i{width}" if self.signed and self.basic_type is not BasicType.DATETIME else f"u{width}"

    def __str__(self) -> str:
        """The type as people write it: `list<int64>`, `struct<a: string>`."""
        kind = self.basic_type
        inner = ", ".join(
            f"{quote_name(child.name)}: {child}" if kind in (BasicType.STRUCT, BasicType.UNION) else str(child)
            for child in self.children
        )
        if self.is_decimal:
            text = "decimal"
        elif kind in WIDTHS and kind not in (BasicType.FLOAT32, BasicType.FLOAT64, BasicType.DATETIME):
            text = f"{'' if self.signed else 'u'}int{8 * WIDTHS[kind]}"
        elif kind in (BasicType.FIXED_SIZE_BINARY, BasicType.FIXED_SIZE_LIST):
            text = f"{kind.name.lower()}[{self.fixed_size}]"
        else:
            text = kind.name.lower()
        text = f"{text}<{inner}>" if self.children else text
        return f"{text} as {self.extension}" if self.extension and not self.is_decimal else text


def bounds_node(node: SchemaNode) -> SchemaNode:
    """The kind of values that the bounds of a field are: mostly that of its own values.

    Fixed-size bytes may hold Arrow's decimals of more than 34 digits, whose bounds are decimals of the format.
    """
    is_wide = node.basic_type is BasicType.FIXED_SIZE_BINARY and node.fixed_size in (16, 32)
    return replace(node, extension=DECIMAL, fixed_size=16) if is_wide and not node.is_decimal else node


# The nodes from a top-level field down to a field below it, or the top-level field alone.
NodePath: TypeAlias = tuple[SchemaNode, ...]


def nanoseconds_name(column: str) -> str:
    """The name of the internal field with the role `NANOSECONDS` that belongs to a top-level column."""
    return f"{column}:nanoseconds"


def nodes_below(fields: Iterable[SchemaNode]) -> Iterator[SchemaNode]:
    """Every node at and below `fields`, depth first."""
    waiting = list(fields)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def with_first_id(nodes: Iterable[SchemaNode], first: int) -> tuple[SchemaNode, ...]:
    """The same fields with ids from `first` on instead of 0.

    >>> from amudai.types import BasicType
    >>> node = SchemaNode(schema_id=1, name="x", basic_type=BasicType.INT8)
    >>> [each.schema_id for each in with_first_id([node], 7)]
    [8]
    """
    return tuple(
        replace(node, schema_id=node.schema_id + first, children=with_first_id(node.children, first)) for node in nodes
    )
