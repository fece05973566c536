"""The values of a field that lies below a column: members of structs, items of lists, keys and values of maps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import pyarrow as pa

from amudai.arrow import struct_member, variant_values
from amudai.errors import UnsupportedFeature
from amudai.types import SchemaNode

__all__ = ["member_values"]

_LISTS: Final = (pa.ListArray, pa.LargeListArray, pa.FixedSizeListArray, pa.ListViewArray, pa.LargeListViewArray)


def member_values(column: pa.Array, nodes: Sequence[SchemaNode]) -> pa.Array:
    """The values of the last node, from an array of the column that the first node is.

    A member of a struct is null where the struct is null, a variant of a union where another is chosen. Items of lists
    follow each other; a null list has no items.
    """
    for parent, child in pairwise(nodes):
        while isinstance(column, pa.ExtensionArray):
            column = column.storage
        column = _below(column, parent, child)
    return column


def _below(values: pa.Array, parent: SchemaNode, child: SchemaNode) -> pa.Array:
    kind = values.type
    if isinstance(values, pa.StructArray) and (at := kind.get_field_index(child.name)) >= 0:
        return struct_member(values, at)
    if isinstance(values, pa.MapArray):
        entries = values.cast(pa.list_(pa.struct([kind.key_field, kind.item_field])))
        return struct_member(entries.flatten(), parent.children.index(child))
    if isinstance(values, _LISTS):
        return values.flatten()
    if isinstance(values, pa.UnionArray):
        return variant_values(values, parent.children.index(child))
    raise UnsupportedFeature(f"values of {child.name!r}: expected a struct, list or map around them, found {kind}")
