"""Names of columns in binary files: unique and in UTF-8."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from amudai.errors import InvalidSchema
from amudai.sources.contract import Duplicates
from amudai.sources.files import InputFile

__all__ = ["renamed", "unique_names", "unique_schema"]


def unique_names(names: Iterable[str]) -> list[str]:
    """The names, with a number behind each that occurred before.

    >>> unique_names(["a", "a", "a_1", "a"])
    ['a', 'a_2', 'a_1', 'a_3']
    """
    given = list(names)
    taken, used, found = set(given), set[str](), []
    for name in given:
        chosen, number = name, 0
        while chosen in used or (number and chosen in taken):
            number += 1
            chosen = f"{name}_{number}"
        used.add(chosen)
        found.append(chosen)
    return found


def unique_schema(schema: pa.Schema, file: InputFile, duplicates: Duplicates) -> pa.Schema:
    """The schema of a file with unique names, also inside structs; `schema` itself if they are unique already.

    Raises `InvalidSchema` for a name that is not UTF-8, and for a name that occurs twice unless `duplicates` is
    `"rename"`.
    """
    fields = [schema.field(place) for place in range(len(schema))]
    changed = _unique(fields, file, duplicates, "column")
    return schema if changed is None else pa.schema(changed, metadata=schema.metadata)


def renamed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with the names of `schema`, also inside structs. The types must be the same but for names."""
    return pa.record_batch(_Labelled(batch, schema))


class _Labelled:
    """The values of a batch and another schema. Arrow's protocol passes both apart, and values have no names."""

    def __init__(self, batch: pa.RecordBatch, schema: pa.Schema) -> None:
        self._batch = batch
        self._schema = schema

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[Any, Any]:
        return self._schema.__arrow_c_schema__(), self._batch.__arrow_c_array__()[1]


def _unique(fields: list[pa.Field], file: InputFile, duplicates: Duplicates, what: str) -> list[pa.Field] | None:
    """The fields with unique names; None if they are unique already."""
    names = [_name(field, place, file, what) for place, field in enumerate(fields)]
    repeat = len(set(names)) < len(names)
    if repeat and duplicates != "rename":
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        way_out = 'duplicates="rename" keeps both'
        raise InvalidSchema(f"{what} {twice!r}: expected unique names, found it twice: {way_out}", file=file.path)
    found, changed = [], repeat
    for field, name, chosen in zip(fields, names, unique_names(names), strict=True):
        kind = _unique_type(field.type, file, duplicates, f"member of {name!r}")
        changed = changed or kind is not None
        found.append(field.with_name(chosen).with_type(kind or field.type))
    return found if changed else None


def _unique_type(kind: pa.DataType, file: InputFile, duplicates: Duplicates, what: str) -> pa.DataType | None:
    """The type with unique names of struct members; None if they are unique already."""
    if not pa.types.is_nested(kind) or pa.types.is_union(kind):
        return None
    fields = [kind.field(place) for place in range(kind.num_fields)]
    if pa.types.is_struct(kind):
        members = _unique(fields, file, duplicates, what)
        return None if members is None else pa.struct(members)
    inner = [_unique_type(field.type, file, duplicates, what) for field in fields]
    if all(each is None for each in inner):
        return None
    parts = [field if each is None else field.with_type(each) for field, each in zip(fields, inner, strict=True)]
    if pa.types.is_map(kind):
        entries = parts[0].type
        return pa.map_(entries.field(0), entries.field(1), keys_sorted=kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(parts[0], kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(parts[0])
    return pa.list_(parts[0]) if pa.types.is_list(kind) else None


def _name(field: pa.Field, place: int, file: InputFile, what: str) -> str:
    try:
        name: str = field.name
    except UnicodeDecodeError as error:
        found = f"{what} {place}: expected a name in UTF-8, found {error.object!r}"
        raise InvalidSchema(found, file=file.path) from error
    return name
