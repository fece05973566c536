"""Merging the schemas of several files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from amudai.errors import InvalidSchema
from amudai.sources.contract import MixedZones, SourceOptions
from amudai.sources.files import InputFile
from amudai.sources.uuids import is_uuid_type, uuids_of

__all__ = ["fitted", "unified"]

_UNITS: Final = ("s", "ms", "us", "ns")
# The narrowest signed type that holds all unsigned integers of a width.
_NEXT_SIGNED: Final = {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}
# The digits of the largest integers of a width, and those of a decimal of 128 bits.
_DIGITS: Final = {8: 3, 16: 5, 32: 10, 64: 20}
_MOST_DIGITS: Final = 38


def unified(found: Sequence[tuple[InputFile, pa.Schema]], options: SourceOptions) -> pa.Schema:
    """One schema with the columns of all files, in the order of their first occurrence.

    Columns of the same name have a type from the caller, or one that holds the values of both files without changes. A
    dictionary counts as its values.
    Structs may have more or fewer members. Some types hold all values of another only as far as `fitted` can tell:
    float64 those of int64, and uint64 too.
    """
    fields: dict[str, tuple[pa.Field, InputFile]] = {}
    schemas = [schema for _, schema in found]
    for file, schema in found:
        for field in schema:
            known = fields.get(field.name)
            if field.name in options.types:
                field = field.with_type(options.types[field.name])
            if known is None:
                fields[field.name] = field, file
                continue
            kind = _merged(known[0].type, field.type, options.mixed_zones)
            if kind is None:
                way_out = f"set the type of column {field.name!r} (types= or --type)"
                message = f"column {field.name!r}: expected {known[0].type} as in {known[1].path}, found {field.type}"
                raise InvalidSchema(f"{message}: {way_out}", file=file.path)
            nullable = known[0].nullable or field.nullable
            fields[field.name] = known[0].with_type(kind).with_nullable(nullable), known[1]
    for name, kind in options.types.items():
        fields.setdefault(name, (pa.field(name, kind), InputFile("", "")))
    each = [set(schema.names) for schema in schemas]
    merged = [
        field if all(name in names for names in each) else field.with_nullable(True)
        for name, (field, _) in fields.items()
    ]
    metadata = (
        schemas[0].metadata if schemas and all(schema.metadata == schemas[0].metadata for schema in schemas) else None
    )
    return pa.schema(merged, metadata=metadata)


def fitted(batch: pa.RecordBatch, schema: pa.Schema, file: InputFile) -> pa.RecordBatch:
    """The batch with exactly this schema: columns in order, missing columns null, types converted."""
    if batch.schema.equals(schema, check_metadata=True):
        return batch
    columns = []
    for field in schema:
        place = batch.schema.get_field_index(field.name)
        if place < 0:
            columns.append(pa.nulls(batch.num_rows, field.type))
            continue
        column = batch.column(place)
        columns.append(column if column.type.equals(field.type) else _converted(column, field, file))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _converted(column: pa.Array, field: pa.Field, file: InputFile) -> pa.Array:
    """The column with the type of the field, if that changes no value."""
    try:
        if isinstance(field.type, pa.JsonType):
            if not (_is_number(column.type) or pa.types.is_boolean(column.type) or pa.types.is_null(column.type)):
                raise pa.ArrowInvalid("only numbers and booleans are JSON as they are")
            if pa.types.is_floating(column.type) and not pc.all(pc.is_finite(column)).as_py():
                raise pa.ArrowInvalid("JSON has neither NaN nor infinite numbers")
            return field.type.wrap_array(column.cast(pa.string()))
        if is_uuid_type(field.type) and _is_text(column.type):
            return uuids_of(column)
        return column.cast(field.type)
    except (pa.ArrowException, TypeError) as error:
        way_out = f"set the type of column {field.name!r} (types= or --type)"
        message = f"column {field.name!r}: expected what {field.type} can hold, found {column.type}: {error}: {way_out}"
        raise InvalidSchema(message, file=file.path) from error


def _merged(a: pa.DataType, b: pa.DataType, mixed_zones: MixedZones) -> pa.DataType | None:
    """A type that holds the values of both without changes; None if there is none."""
    if a.equals(b) or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    if isinstance(a, pa.JsonType) or isinstance(b, pa.JsonType):
        return pa.json_()
    if pa.types.is_dictionary(a) or pa.types.is_dictionary(b):
        return _merged(_without_codes(a), _without_codes(b), mixed_zones)
    if _is_number(a) and _is_number(b):
        return _number(a, b)
    if _is_exact(a) and _is_exact(b):
        return _decimal(a, b)
    if _is_text(a) and _is_text(b):
        return pa.string() if all(map(pa.types.is_string, (a, b))) else pa.large_string()
    if _is_bytes(a) and _is_bytes(b):
        return pa.large_binary()
    if _is_time(a) and _is_time(b):
        return _time(a, b, mixed_zones)
    if pa.types.is_struct(a) and pa.types.is_struct(b):
        return _struct(a, b, mixed_zones)
    if _is_list(a) and _is_list(b):
        kind = _merged(a.value_type, b.value_type, mixed_zones)
        made = pa.list_ if all(map(pa.types.is_list, (a, b))) else pa.large_list
        return None if kind is None else made(a.value_field.with_type(kind))
    return None


def _struct(a: pa.StructType, b: pa.StructType, mixed_zones: MixedZones) -> pa.DataType | None:
    members = {field.name: field for field in a}
    for field in b:
        known = members.get(field.name)
        kind = field.type if known is None else _merged(known.type, field.type, mixed_zones)
        if kind is None:
            return None
        members[field.name] = (known or field).with_type(kind)
    both = {field.name for field in a} & {field.name for field in b}
    return pa.struct([field if field.name in both else field.with_nullable(True) for field in members.values()])


def _without_codes(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _is_exact(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind))


def _decimal(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """A decimal with the digits of both before and behind the point; None if there are too many."""
    scale = max(_scale(a), _scale(b))
    precision = scale + max(_whole_digits(a), _whole_digits(b))
    return pa.decimal128(precision, scale) if precision <= _MOST_DIGITS else None


def _scale(kind: pa.DataType) -> int:
    return kind.scale if pa.types.is_decimal(kind) else 0


def _whole_digits(kind: pa.DataType) -> int:
    return kind.precision - kind.scale if pa.types.is_decimal(kind) else _DIGITS[_width(kind)]


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date32(kind))


def _number(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """The wider one; float64 for integers and floats; uint64 for uint64 and a signed type."""
    if pa.types.is_floating(a) and pa.types.is_floating(b):
        return max(a, b, key=_width)
    if pa.types.is_floating(a) or pa.types.is_floating(b):
        return pa.float64()
    if pa.types.is_signed_integer(a) == pa.types.is_signed_integer(b):
        return max(a, b, key=_width)
    signed, unsigned = (a, b) if pa.types.is_signed_integer(a) else (b, a)
    if signed.bit_width > unsigned.bit_width:
        return signed
    return _NEXT_SIGNED.get(unsigned.bit_width, pa.uint64())


def _width(kind: pa.DataType) -> int:
    return int(kind.bit_width)


def _time(a: pa.DataType, b: pa.DataType, mixed_zones: MixedZones) -> pa.DataType | None:
    """The finer unit, and UTC if both name different zones. A date is a time without a zone."""
    zones = [kind.tz if pa.types.is_timestamp(kind) else None for kind in (a, b)]
    if (zones[0] is None) != (zones[1] is None):
        return pa.string() if mixed_zones == "text" else None
    units = [kind.unit for kind in (a, b) if pa.types.is_timestamp(kind)]
    return pa.timestamp(max(units, key=_UNITS.index), zones[0] if zones[0] == zones[1] else "UTC")
