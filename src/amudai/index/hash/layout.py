"""What a hash index consists of in a shard: properties of its descriptor, and the schema of a partition."""

from __future__ import annotations

from typing import Final

from amudai.format import BufferKind
from amudai.types import BasicType, SchemaNode

__all__ = ["BUCKET", "BY_VALUE", "COMPLETE", "HASH", "LOOKUP_COLUMNS", "POSITION"]

# Properties of the descriptor: that every value of the fields is in the index, and which fields are hashed by value.
COMPLETE: Final = "complete"
BY_VALUE: Final = "by_value"

POSITION: Final = SchemaNode(schema_id=4, name="item", basic_type=BasicType.INT64)
_POSITIONS: Final = SchemaNode(schema_id=3, name="positions", basic_type=BasicType.LIST, children=(POSITION,))
HASH: Final = SchemaNode(schema_id=2, name="hash", basic_type=BasicType.INT64)
_ITEM: Final = SchemaNode(schema_id=1, name="item", basic_type=BasicType.STRUCT, children=(HASH, _POSITIONS))
BUCKET: Final = SchemaNode(schema_id=0, name="bucket", basic_type=BasicType.LIST, children=(_ITEM,))

# What a look-up reads: the hashes of a bucket, and the positions of a hash.
LOOKUP_COLUMNS: Final = (
    (BUCKET, BufferKind.OFFSETS),
    (HASH, BufferKind.DATA),
    (_POSITIONS, BufferKind.OFFSETS),
    (POSITION, BufferKind.DATA),
)
