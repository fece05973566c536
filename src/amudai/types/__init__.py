"""What can a value be?

The basic types of the format, the extension types that give them a meaning, and the schema tree that a shard carries.
Facts only: how a schema is stored is `format`'s matter, how Arrow sees it is `arrow`'s.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.types import decimal128
    from amudai.types.basic import BYTES, CONTAINERS, INTEGERS, WIDTHS, BasicType
    from amudai.types.lookup import find_alias, find_in, find_path, missing_column
    from amudai.types.path import parse_path, quote_name
    from amudai.types.schema import (
        DECIMAL,
        DELETED_RECORD,
        DYNAMIC,
        INGESTION_TIMESTAMP,
        NANOSECONDS,
        RECORD_IDENTITY,
        TIMESPAN,
        ExtensionProperty,
        NodePath,
        SchemaNode,
        bounds_node,
        nanoseconds_name,
        nodes_below,
        with_first_id,
    )
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.types": "decimal128",
            "amudai.types.basic": "BYTES CONTAINERS INTEGERS WIDTHS BasicType",
            "amudai.types.lookup": "find_alias find_in find_path missing_column",
            "amudai.types.path": "parse_path quote_name",
            "amudai.types.schema": (
                "DECIMAL DELETED_RECORD DYNAMIC ExtensionProperty INGESTION_TIMESTAMP NANOSECONDS NodePath "
                "RECORD_IDENTITY SchemaNode TIMESPAN bounds_node nanoseconds_name nodes_below with_first_id"
            ),
        },
    )

__all__ = [
    "BYTES",
    "CONTAINERS",
    "DECIMAL",
    "DELETED_RECORD",
    "DYNAMIC",
    "INGESTION_TIMESTAMP",
    "INTEGERS",
    "NANOSECONDS",
    "RECORD_IDENTITY",
    "TIMESPAN",
    "WIDTHS",
    "BasicType",
    "ExtensionProperty",
    "NodePath",
    "SchemaNode",
    "bounds_node",
    "decimal128",
    "find_alias",
    "find_in",
    "find_path",
    "missing_column",
    "nanoseconds_name",
    "nodes_below",
    "parse_path",
    "quote_name",
    "with_first_id",
]
