"""Merging the schemas of several files."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from amudai.errors import InvalidSchema
from amudai.sources.contract import SourceOptions
from amudai.sources.files import InputFile

__all__ = ["fitted", "merged_schema", "unified"]


def unified(found: Sequence[tuple[InputFile, pa.Schema]], options: SourceOptions) -> pa.Schema:
    """One schema with the columns of all files, in the order of their first occurrence.

    Columns of the same name must have the same type, or a type from the caller. Null columns adapt, and structs may
    have more or fewer members.
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
            kind = _merged(known[0].type, field.type, widen=False)
            if kind is None:
                way_out = f"say types={{{field.name!r}: ...}}"
                message = f"column {field.name!r}: expected {known[0].type} as in {known[1].path}, found {field.type}"
                raise InvalidSchema(f"{message}: {way_out}", file=file.path)
            nullable = known[0].nullable or field.nullable
            fields[field.name] = known[0].with_type(kind).with_nullable(nullable), known[1]
    for name, kind in options.types.items():
        fields.setdefault(name, (pa.field(name, kind), InputFile("", "")))
    merged = [
        field if all(name in schema.names for schema in schemas) else field.with_nullable(True)
        for name, (field, _) in fields.items()
    ]
    metadata = (
        schemas[0].metadata if schemas and all(schema.metadata == schemas[0].metadata for schema in schemas) else None
    )
    return pa.schema(merged, metadata=metadata)


def merged_schema(a: pa.Schema, b: pa.Schema, *, widen: bool) -> pa.Schema:
    """The columns of both schemas. If types disagree, the type in `a` is used."""
    fields = {field.name: field for field in a}
    for field in b:
        known = fields.get(field.name)
        kind = field.type if known is None else _merged(known.type, field.type, widen=widen) or known.type
        fields[field.name] = field.with_type(kind)
    return pa.schema(list(fields.values()))


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
        if not column.type.equals(field.type):
            try:
                column = column.cast(field.type)
            except (pa.ArrowException, TypeError) as error:
                message = f"column {field.name!r}: expected what {field.type} can hold, found {column.type}: {error}"
                raise InvalidSchema(message, file=file.path) from error
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _merged(a: pa.DataType, b: pa.DataType, *, widen: bool) -> pa.DataType | None:
    """A type that holds the values of both without changes; None if there is none.

    `widen` allows integers to become floats, as readers of text do within a file.
    """
    if a.equals(b) or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    if widen and {a, b} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if pa.types.is_struct(a) and pa.types.is_struct(b):
        members = {field.name: field for field in a}
        for field in b:
            known = members.get(field.name)
            kind = field.type if known is None else _merged(known.type, field.type, widen=widen)
            if kind is None:
                return None
            members[field.name] = (known or field).with_type(kind)
        both = {field.name for field in a} & {field.name for field in b}
        return pa.struct([field if field.name in both else field.with_nullable(True) for field in members.values()])
    if pa.types.is_list(a) and pa.types.is_list(b):
        kind = _merged(a.value_type, b.value_type, widen=widen)
        return None if kind is None else pa.list_(a.value_field.with_type(kind))
    return None
