"""Operations on the columns of a shard: adding, dropping and renaming them.

Columns that stay are not touched: their buffers stay where they are, and they keep their schema ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from typing import TypeAlias

import pyarrow as pa

from amudai.arrow import SCHEMA_PROPERTY
from amudai.edit.root import Root
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.format import (
    FieldDescriptor,
    IndexDescriptor,
    ShardProperties,
    StripeFieldDescriptor,
    any_value,
    changeable_schema,
    changed_indexes,
    encode_schema,
    indexed_fields_of,
    with_indexed_fields,
    with_property,
)
from amudai.shard import ShardMetadata, StripeMetadata
from amudai.types import SchemaNode, nodes_below

__all__ = ["IndexChange", "add_columns", "first_free_id", "with_fields"]

# Returns the descriptor of an index after a change of fields; None if the index goes.
IndexChange: TypeAlias = Callable[[IndexDescriptor], IndexDescriptor | None]


def first_free_id(root: Root) -> int:
    """The schema id of the first field that is added to a root. Ids of dropped fields are not used again."""
    return _slots(root, changeable_schema(root.metadata.schema))


def add_columns(root: Root, added: ShardMetadata, arrow: pa.Schema | None = None) -> Root:
    """The root with more fields: columns, or internal ones.

    Parameters
    ----------
    added
        The metadata of a shard with only the new fields, which has the same rows in the same stripes: the result of a
        `ShardBuilder` that writes to the new root file, with ids from `first_free_id` on. A slot that is None says that
        the field is null in that stripe. The reference implementation cannot read a column with such a slot, so only
        internal fields should have them.
    arrow
        The Arrow schema of all columns, old and new, which is kept in the shard. Columns take its order. None if no
        columns are added.
    """
    metadata = root.metadata
    properties = metadata.properties if arrow is None else _with_kept(metadata.properties, arrow)
    if indexed := indexed_fields_of(ShardProperties.decode(added.properties)):
        properties = with_indexed_fields(properties, indexed)
    fields = changeable_schema(metadata.schema)
    first = _slots(root, fields)
    new = changeable_schema(added.schema)
    if [stripe.rows for stripe in added.stripes] != [stripe.rows for stripe in metadata.stripes]:
        expected, found = (", ".join(str(each.rows) for each in of.stripes) for of in (metadata, added))
        raise InvalidArgument(f"columns: expected stripes of {expected} rows, found {found}")
    schema = encode_schema(_in_order((*fields, *new), arrow), max(first, len(added.fields)))
    extended = replace(
        metadata,
        schema=schema,
        stripes=tuple(
            _side_by_side(stripe, more, first) for stripe, more in zip(metadata.stripes, added.stripes, strict=True)
        ),
        fields=_joined(metadata.fields, added.fields, first),
        # The concatenation of two payloads is one message with the repeated fields of both.
        indexes=metadata.indexes + added.indexes,
        urls=frozenset(metadata.urls | added.urls),
        raw_data_size=_sum(metadata.raw_data_size, added.raw_data_size),
        properties=properties,
    )
    return replace(root, metadata=extended)


def with_fields(root: Root, fields: Sequence[SchemaNode], arrow: pa.Schema | None, change: IndexChange) -> Root:
    """The root with other fields: fewer than before, or with other names. Ids say which fields they are.

    Parameters
    ----------
    arrow
        The Arrow schema of the columns, to be kept in the shard. None if the shard keeps none.
    change
        Says what happens to an index of the shard or of a stripe.
    """
    metadata = root.metadata
    slots = _slots(root, changeable_schema(metadata.schema))
    left = {node.schema_id for node in nodes_below(fields)}
    stripes = []
    for stripe in metadata.stripes:
        kept, dropped = _parted(stripe.fields, left)
        size = sum(StripeFieldDescriptor.decode(each).field.raw_data_size or 0 for each in dropped)
        stripes.append(
            replace(
                stripe,
                fields=kept,
                indexes=changed_indexes(stripe.indexes, change),
                raw_data_size=None if stripe.raw_data_size is None else stripe.raw_data_size - size,
            )
        )
    kept, dropped = _parted(metadata.fields, left)
    size = sum(FieldDescriptor.decode(each).raw_data_size or 0 for each in dropped)
    changed = replace(
        metadata,
        schema=encode_schema(fields, slots),
        stripes=tuple(stripes),
        fields=(*kept, *(None,) * (slots - len(kept))),
        indexes=changed_indexes(metadata.indexes, change),
        raw_data_size=None if metadata.raw_data_size is None else metadata.raw_data_size - size,
        properties=metadata.properties if arrow is None else _with_kept(metadata.properties, arrow),
    )
    return replace(root, metadata=changed)


def _parted(descriptors: Sequence[bytes | None], left: Set[int]) -> tuple[tuple[bytes | None, ...], list[bytes]]:
    """A field list with empty slots for fields that are not left, and the descriptors of those."""
    kept = tuple(each if schema_id in left else None for schema_id, each in enumerate(descriptors))
    return kept, [each for at, each in enumerate(descriptors) if each is not None and at not in left]


def _in_order(fields: Sequence[SchemaNode], arrow: pa.Schema | None) -> Sequence[SchemaNode]:
    """The fields with columns in the order of `arrow`. Ids ascend if nothing has to move."""
    columns = [node.name for node in fields if not node.internal]
    if arrow is None or columns == arrow.names:
        return fields
    by_name = {node.name: node for node in fields if not node.internal}
    return (*(by_name[name] for name in arrow.names), *(node for node in fields if node.internal))


def _slots(root: Root, fields: Iterable[SchemaNode]) -> int:
    """How many slots the field lists of a root need: no id of a field, of now or before, is larger."""
    metadata = root.metadata
    lists = max(len(metadata.fields), *(len(stripe.fields) for stripe in metadata.stripes), 0)
    ids = [node.schema_id for node in nodes_below(fields)]
    # A larger id belongs to a field that is stored nowhere. Lists that are long enough for it might not fit in memory.
    limit = max(lists, len(ids))
    if ids and max(ids) >= limit:
        raise UnsupportedFeature(f"schema ids: expected them in the field lists, below {limit}, found {max(ids)}")
    return limit


def _side_by_side(stripe: StripeMetadata, more: StripeMetadata, first: int) -> StripeMetadata:
    return replace(
        stripe,
        fields=_joined(stripe.fields, more.fields, first),
        indexes=stripe.indexes + more.indexes,
        raw_data_size=_sum(stripe.raw_data_size, more.raw_data_size),
    )


def _joined(old: tuple[bytes | None, ...], new: tuple[bytes | None, ...], first: int) -> tuple[bytes | None, ...]:
    """Two field lists: the slots below `first` of the one, and the others of the other."""
    return (*old, *(None,) * (first - len(old)), *new[first:])


def _sum(old: int | None, new: int | None) -> int | None:
    return None if old is None else old + (new or 0)


def _with_kept(properties: bytes, arrow: pa.Schema) -> bytes:
    return with_property(properties, SCHEMA_PROPERTY, any_value(arrow.serialize().to_pybytes()))
