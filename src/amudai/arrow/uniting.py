"""The Arrow schema of several shards together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from amudai.errors import InvalidSchema
from amudai.types import INTEGERS, BasicType, SchemaNode

__all__ = ["require_same_units", "united_arrow_schema"]

_UNITS: Final = ("s", "ms", "us", "ns")


def united_arrow_schema(
    columns: Sequence[str], schemas: Sequence[tuple[str, pa.Schema]], *, widen: bool = False
) -> pa.Schema:
    """The Arrow schema of shards that were united by name.

    A type that one shard has in a small form and another in a large form (`string`, `large_string`) becomes the large
    form; otherwise the first of several forms of the same values counts. Metadata is kept where all shards agree.

    Parameters
    ----------
    columns
        The names of all columns, in the order of the result.
    schemas
        The URL and the schema of each shard.
    widen
        Whether numbers and times may become a type that holds the values of all shards. Otherwise two types of a column
        raise InvalidSchema, which names both shards.
    """
    fields = []
    for name in columns:
        found: pa.Field | None = None
        first = ""
        for url, schema in schemas:
            at = schema.get_field_index(name)
            if at < 0:
                continue
            field = schema.field(at)
            if found is None:
                found, first = field, url
                continue
            united = _field(found, field, widen)
            if united is None:
                both = f"{found.type} in {first} and {field.type} in {url}"
                raise InvalidSchema(f"column {name!r}: expected one type in all shards, found {both}")
            found = united
        if found is not None:
            everywhere = all(schema.get_field_index(name) >= 0 for _, schema in schemas)
            fields.append(found if everywhere else found.with_nullable(True))
    return pa.schema(fields, metadata=_agreed([schema.metadata for _, schema in schemas]))


def require_same_units(
    nodes: Sequence[SchemaNode], united: pa.Schema, schemas: Sequence[tuple[str, pa.Schema]]
) -> None:
    """Raise InvalidSchema if a shard has times or durations of another unit than the united schema, as integers.

    Such integers do not say which unit they count, so they would be read as other times. `nodes` are the columns as
    they are stored.
    """
    for node in nodes:
        for url, schema in schemas:
            at = schema.get_field_index(node.name)
            kind = united.field(node.name).type
            if at >= 0 and _counts_otherwise(node, kind, schema.field(at).type):
                expected = f"expected {kind} in all shards, because times are stored as integers"
                raise InvalidSchema(f"column {node.name!r}: {expected}, found {schema.field(at).type} in {url}")


def _counts_otherwise(node: SchemaNode, a: pa.DataType, b: pa.DataType) -> bool:
    kinds = pa.types
    a, b = _values(a), _values(b)
    if kinds.is_null(a) or kinds.is_null(b):
        return False
    if kinds.is_timestamp(a) or kinds.is_duration(a):
        return node.basic_type in INTEGERS and bool(a.unit != b.unit)
    below = {child.name: child for child in node.children}
    if node.basic_type is BasicType.STRUCT:
        both = [name for name in below if a.get_field_index(name) >= 0 and b.get_field_index(name) >= 0]
        return any(_counts_otherwise(below[name], a.field(name).type, b.field(name).type) for name in both)
    if kinds.is_map(a):
        pairs = [(a.key_type, b.key_type), (a.item_type, b.item_type)]
    elif kinds.is_fixed_size_list(a) or _is_list(a):
        pairs = [(a.value_type, b.value_type)]
    else:
        pairs = [(a.field(at).type, b.field(at).type) for at in range(a.num_fields)]
    return any(_counts_otherwise(child, *pair) for child, pair in zip(node.children, pairs, strict=False))


def _field(a: pa.Field, b: pa.Field, widen: bool) -> pa.Field | None:
    if a.equals(b, check_metadata=True):
        return a
    kind = _type(a.type, b.type, widen)
    if kind is None:
        return None
    return pa.field(a.name, kind, a.nullable or b.nullable, _agreed([a.metadata, b.metadata]))


def _type(a: pa.DataType, b: pa.DataType, widen: bool) -> pa.DataType | None:
    """A type that both can be read as; None if there is none."""
    kinds = pa.types
    if a.equals(b) or kinds.is_null(b):
        return a
    if kinds.is_null(a):
        return b
    if kinds.is_dictionary(a) or kinds.is_dictionary(b):
        values = _type(_values(a), _values(b), widen)
        if values is None or not kinds.is_dictionary(a):
            return values
        return pa.dictionary(a.index_type, values, a.ordered)
    if kinds.is_struct(a) and kinds.is_struct(b):
        return _struct(a, b, widen)
    if kinds.is_map(a) and kinds.is_map(b):
        key, item = _type(a.key_type, b.key_type, widen), _field(a.item_field, b.item_field, widen)
        return None if key is None or item is None else pa.map_(key, item, a.keys_sorted and b.keys_sorted)
    if kinds.is_fixed_size_list(a) and kinds.is_fixed_size_list(b):
        item = _field(a.value_field, b.value_field, widen) if a.list_size == b.list_size else None
        return None if item is None else pa.list_(item, a.list_size)
    if _is_list(a) and _is_list(b):
        item = _field(a.value_field, b.value_field, widen)
        large = kinds.is_large_list(a) or kinds.is_large_list(b)
        return None if item is None else pa.large_list(item) if large else pa.list_(item)
    for small, large, view in (
        (pa.string(), pa.large_string(), pa.string_view()),
        (pa.binary(), pa.large_binary(), pa.binary_view()),
    ):
        if {a, b} <= {small, large, view}:
            return large if large in (a, b) else a
    return _wider(a, b) if widen else None


def _struct(a: pa.DataType, b: pa.DataType, widen: bool) -> pa.DataType | None:
    fields = {a.field(at).name: a.field(at) for at in range(a.num_fields)}
    theirs = {b.field(at).name: b.field(at) for at in range(b.num_fields)}
    for name, field in theirs.items():
        if name not in fields:
            fields[name] = field.with_nullable(True)
            continue
        united = _field(fields[name], field, widen)
        if united is None:
            return None
        fields[name] = united
    return pa.struct([field if name in theirs else field.with_nullable(True) for name, field in fields.items()])


def _wider(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    kinds = pa.types
    if kinds.is_timestamp(a) and kinds.is_timestamp(b) and a.tz == b.tz:
        return pa.timestamp(max(a.unit, b.unit, key=_UNITS.index), a.tz)
    if kinds.is_duration(a) and kinds.is_duration(b):
        return pa.duration(max(a.unit, b.unit, key=_UNITS.index))
    if kinds.is_floating(a) and kinds.is_floating(b):
        return max(a, b, key=lambda kind: kind.bit_width)
    if kinds.is_floating(a) or kinds.is_floating(b):
        number, integer = (a, b) if kinds.is_floating(a) else (b, a)
        if not kinds.is_integer(integer):
            return None
        # A float holds every integer of half its width exactly.
        exact = (kind for kind in (number, pa.float64()) if 2 * integer.bit_width <= kind.bit_width)
        return next(exact, None)
    if not (kinds.is_integer(a) and kinds.is_integer(b)):
        return None
    if kinds.is_signed_integer(a) == kinds.is_signed_integer(b):
        return max(a, b, key=lambda kind: kind.bit_width)
    signed, unsigned = (a, b) if kinds.is_signed_integer(a) else (b, a)
    width = max(signed.bit_width, 2 * unsigned.bit_width)
    return {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}.get(width)


def _values(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_list(kind: pa.DataType) -> bool:
    kinds = pa.types
    return bool(
        kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_list_view(kind) or kinds.is_large_list_view(kind)
    )


def _agreed(metadata: Sequence[Mapping[bytes, bytes] | None]) -> dict[bytes, bytes] | None:
    """The entries that are the same in all of them."""
    first, *others = metadata
    kept = {
        name: value for name, value in (first or {}).items() if all((each or {}).get(name) == value for each in others)
    }
    agreed: dict[Any, Any] | None = kept or None
    return agreed
