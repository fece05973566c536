"""The names of fields where a shard is shown."""

from __future__ import annotations

from amudai.types import BasicType, SchemaNode, quote_name

__all__ = ["field_label"]


def field_label(parent: SchemaNode | None, node: SchemaNode) -> str:
    """The name of a field, or its role if it has no name: `item` of a list, `key` and `value` of a map."""
    if parent is not None and parent.basic_type is BasicType.MAP:
        return "key" if node is parent.children[0] else "value"
    return quote_name(node.name) or "item"
