"""The stored form of a hash index: properties of its descriptor, and the schema of a partition."""

from __future__ import annotations

from typing import Final

from amudai.format import BufferKind
from amudai.types import BasicType, SchemaNode

__all__ = [
    "BUCKET_NODE",
    "BY_VALUE",
    "COMPLETE",
    "HASHED_PATHS",
    "HASH_NODE",
    "LOOKUP_COLUMNS",
    "PATHS_SEPARATOR",
    "POSITION_NODE",
]

# Properties of the descriptor: whether every value of the fields is in the index, and which fields are hashed by value.
COMPLETE: Final = "complete"
BY_VALUE: Final = "by_value"
# The paths that were hashed, one for each indexed field, if a field was renamed since.
HASHED_PATHS: Final = "hashed_paths"
PATHS_SEPARATOR: Final = "\0"  # between the paths of a composite key

POSITION_NODE: Final = SchemaNode(schema_id=4, name="item", basic_type=BasicType.INT64)
_POSITIONS_NODE: Final = SchemaNode(schema_id=3, name="positions", basic_type=BasicType.LIST, children=(POSITION_NODE,))
HASH_NODE: Final = SchemaNode(schema_id=2, name="hash", basic_type=BasicType.INT64)
_ITEM_NODE: Final = SchemaNode(
    schema_id=1, name="item", basic_type=BasicType.STRUCT, children=(HASH_NODE, _POSITIONS_NODE)
)
BUCKET_NODE: Final = SchemaNode(schema_id=0, name="bucket", basic_type=BasicType.LIST, children=(_ITEM_NODE,))

# The buffers that a look-up reads to find the hashes of a bucket and the positions of a hash.
LOOKUP_COLUMNS: Final = (
    (BUCKET_NODE, BufferKind.OFFSETS),
    (HASH_NODE, BufferKind.DATA),
    (_POSITIONS_NODE, BufferKind.OFFSETS),
    (POSITION_NODE, BufferKind.DATA),
)
