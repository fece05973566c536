"""The names, limits and schemas of a term index in a shard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from amudai.format import BufferKind
from amudai.types import BasicType, SchemaNode

__all__ = [
    "COLLATIONS",
    "ELEMENT",
    "FORMS_LOOKUP",
    "GRANULARITIES",
    "INDEX_TYPE",
    "MAX_TERM",
    "MAYBE_CUT",
    "OLDER_NAMES",
    "POSITIONS",
    "POSITIONS_LOOKUP",
    "POSITIONS_SCHEMA",
    "TERMS",
    "TERMS_LOOKUP",
    "TERMS_SCHEMA",
    "TEXT_TYPES",
    "TOKENIZERS",
]

INDEX_TYPE: Final = "inverted-text-index-v1"
OLDER_NAMES: Final = ("inverted-term-index-v1", "inverted-term-index")

# The keys are the names for users, the values the names in shards.
TOKENIZERS: Final[Mapping[str, str]] = {"word": "unicode-word", "log": "unicode-log", "trivial": "trivial"}
COLLATIONS: Final[Mapping[str, str]] = {
    "case_preserving": "unicode-case-preserving",
    "case_insensitive": "unicode-case-insensitive",
}

# The types of fields that have terms: text, bytes that are UTF-8, and GUIDs as they are written.
TEXT_TYPES: Final = frozenset({BasicType.STRING, BasicType.BINARY, BasicType.GUID})

# A position is a row (record) or a slot of the field (element).
ELEMENT: Final = "element"
GRANULARITIES: Final = ("record", ELEMENT)

# The artifacts, in this order.
TERMS: Final = "terms"
POSITIONS: Final = "positions"

# A term is cut to at most MAX_TERM bytes, between code points. As a code point has up to four bytes, a term of
# MAYBE_CUT bytes or more may have been cut.
MAX_TERM: Final = 128
MAYBE_CUT: Final = MAX_TERM - 3


def _node(schema_id: int, name: str, basic_type: BasicType, *children: SchemaNode) -> SchemaNode:
    return SchemaNode(schema_id=schema_id, name=name, basic_type=basic_type, children=children)


_LIST_END: Final = _node(12, "pos_list_end_offset", BasicType.INT64)
_FORM: Final = _node(11, "repr_type", BasicType.INT8)
_LIST: Final = _node(9, "item", BasicType.STRUCT, _node(10, "field_schema_id", BasicType.INT32), _FORM, _LIST_END)
_STRIPE: Final = _node(
    6, "item", BasicType.STRUCT, _node(7, "stripe_id", BasicType.INT16), _node(8, "fields", BasicType.LIST, _LIST)
)
_TERM: Final = _node(3, "term", BasicType.BINARY)
_ENTRY: Final = _node(
    2,
    "item",
    BasicType.STRUCT,
    _TERM,
    _node(4, "child_position", BasicType.INT64),
    _node(5, "term_positions", BasicType.LIST, _STRIPE),
)
# One record for each page of a tree.
TERMS_SCHEMA: Final = (
    _node(0, "level", BasicType.INT8),
    _node(1, "entries", BasicType.LIST, _ENTRY),
    _node(13, "pos_list_start_offset", BasicType.INT64),
)
# One record for each integer of a list.
POSITIONS_SCHEMA: Final = (_node(0, "position", BasicType.INT64),)

# The buffers that a look-up reads in each artifact. The forms of lists are read only where they differ.
TERMS_LOOKUP: Final = ((_TERM, BufferKind.DATA), (_LIST_END, BufferKind.DATA))
FORMS_LOOKUP: Final = ((_FORM, BufferKind.DATA),)
POSITIONS_LOOKUP: Final = ((POSITIONS_SCHEMA[0], BufferKind.DATA),)
