"""The types of columns, from the kinds of values in the first records of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, Final

import numpy as np
import pyarrow as pa

from amudai import _kernels
from amudai.errors import InvalidSchema
from amudai.sources.contract import SourceOptions
from amudai.sources.json.columns import columns_of
from amudai.sources.json.plan import VALUE, Plan
from amudai.sources.records import ENOUGH, Records
from amudai.sources.times import has_mixed_zones, time_type

__all__ = ["Inferred", "inferred"]

# An object with more names is not a struct but a map, or a mistake.
MOST_NAMES: Final = 1000
MOST_COLUMNS: Final = 10_000


class Kinds(IntFlag):
    """The kinds of values at a path. The numbers are those of the kernels."""

    NULL = 1
    BOOLEAN = 2
    INTEGER = 4
    UNSIGNED = 8
    LARGE = 16
    NEGATIVE = 32
    INEXACT = 64
    FRACTION = 128
    OUT_OF_RANGE = 256
    TEXT = 512
    ARRAY = 1024
    OBJECT = 2048


_NUMBER: Final = Kinds.INTEGER | Kinds.UNSIGNED | Kinds.LARGE | Kinds.FRACTION
_WORDS: Final = (
    (Kinds.BOOLEAN, "booleans"),
    (_NUMBER, "numbers"),
    (Kinds.TEXT, "texts"),
    (Kinds.ARRAY, "arrays"),
    (Kinds.OBJECT, "objects"),
)


@dataclass(frozen=True, slots=True)
class Inferred:
    """The schema of a file, and what there is to say about it.

    Attributes
    ----------
    are_values
        Whether the records are no objects but the values of one column.
    """

    schema: pa.Schema
    notes: tuple[str, ...] = ()
    are_values: bool = False


@dataclass(frozen=True, slots=True)
class _ObservedPath:
    """What was observed at a path: kinds of values, members of objects, elements of arrays."""

    kinds: Kinds
    members: list[tuple[str, _ObservedPath]]
    elements: _ObservedPath | None

    @classmethod
    def of(cls, observed: tuple[int, list[Any], Any]) -> _ObservedPath:
        found, members, elements = observed
        below = [(name, cls.of(member)) for name, member in members]
        return cls(Kinds(found), below, None if elements is None else cls.of(elements))


def inferred(records: Records, options: SourceOptions, *, are_values: bool = False) -> Inferred:
    """The types of columns, from the first records of a file. Types from the caller are used as they are.

    Records that are values become one column if some can be read. Among objects and nulls alone they would be damaged.
    """
    data = np.frombuffer(records.data, np.uint8)
    observed, _ = _kernels.json_kinds(data, records.starts, records.ends, options.json.nan, are_values, ENOUGH)
    root = _ObservedPath.of(observed)
    are_values = are_values and root.kinds not in (0, Kinds.OBJECT, Kinds.OBJECT | Kinds.NULL)
    members = [(VALUE, root)] if are_values else root.members
    if len(members) > MOST_COLUMNS:
        expected = f"columns: expected at most {MOST_COLUMNS}, found {len(members)}"
        raise InvalidSchema(expected, file=records.file.path)
    if any(not name for name, _ in members):
        raise InvalidSchema("columns: expected names, found an empty one", file=records.file.path)
    notes: list[str] = []
    fields = []
    for name, path in members:
        told = options.types.get(name)
        fields.append(pa.field(name, told if told is not None else _type(path, name, notes)))
    schema = _with_times(pa.schema(fields), records, options, notes, are_values=are_values)
    return Inferred(schema, tuple(notes), are_values)


def _type(path: _ObservedPath, name: str, notes: list[str]) -> pa.DataType:
    """The type that holds all values at a path without changes."""
    kinds = path.kinds & ~(Kinds.NULL | Kinds.NEGATIVE | Kinds.INEXACT | Kinds.OUT_OF_RANGE)
    if not kinds:
        return pa.null()
    if kinds == Kinds.BOOLEAN:
        return pa.bool_()
    if kinds == Kinds.TEXT:
        return pa.string()
    if not kinds & ~_NUMBER:
        return _number(path.kinds, name, notes)
    if kinds == Kinds.ARRAY and path.elements is not None:
        return pa.list_(_type(path.elements, f"{name}.item", notes))
    if kinds == Kinds.OBJECT:
        if len(path.members) > MOST_NAMES:
            return _as_text(name, f"its objects have more than {MOST_NAMES} different names", notes)
        if any(not each for each, _ in path.members):
            return _as_text(name, "its objects have an empty name", notes)
        return pa.struct([(each, _type(member, f"{name}.{each}", notes)) for each, member in path.members])
    words = [word for kind, word in _WORDS if kinds & kind]
    return _as_text(name, f"it holds {', '.join(words[:-1])} and {words[-1]}", notes)


def _number(kinds: Kinds, name: str, notes: list[str]) -> pa.DataType:
    if not kinds & (Kinds.UNSIGNED | Kinds.LARGE | Kinds.FRACTION):
        return pa.int64()
    if not kinds & (Kinds.NEGATIVE | Kinds.LARGE | Kinds.FRACTION):
        return pa.uint64()
    if kinds & Kinds.OUT_OF_RANGE:
        return _as_text(name, "it holds numbers that are too large for float64", notes)
    if kinds & Kinds.INEXACT:
        return _as_text(name, "it holds integers that float64 would round", notes)
    return pa.float64()


def _as_text(name: str, reason: str, notes: list[str]) -> pa.DataType:
    notes.append(f"column {name}: kept as JSON text, as {reason}")
    return pa.json_()


def _with_times(
    schema: pa.Schema, records: Records, options: SourceOptions, notes: list[str], *, are_values: bool
) -> pa.Schema:
    """The schema with the types of times for columns whose texts are times."""
    untold = [place for place, field in enumerate(schema) if field.name not in options.types]
    if not any(_has_text(schema.field(place).type) for place in untold):
        return schema
    plan_of = Plan.of_values if are_values else Plan.of
    batch, _ = columns_of(records, plan_of(schema, frozenset(options.types), nan=options.json.nan))
    for place in untold:
        field = schema.field(place)
        kind = _timed(batch.column(place), field.type, field.name, records, options, notes)
        schema = schema.set(place, field.with_type(kind))
    return schema


def _has_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or any(_has_text(kind.field(each).type) for each in range(kind.num_fields))


def _timed(
    array: pa.Array, kind: pa.DataType, name: str, records: Records, options: SourceOptions, notes: list[str]
) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct(
            [
                member.with_type(_timed(array.field(at), member.type, f"{name}.{member.name}", records, options, notes))
                for at, member in enumerate(_fields(kind))
            ]
        )
    if pa.types.is_list(kind):
        return pa.list_(_timed(array.values, kind.value_type, f"{name}.item", records, options, notes))
    if not pa.types.is_string(kind) or not _may_be_time(array):
        return kind
    if (time := time_type(array)) is not None:
        return time
    if has_mixed_zones(array):
        if options.mixed_zones == "raise":
            expected = f"column {name!r}: expected times that all name a zone, or none of them, found both"
            way_out = 'set its type (types= or --type); mixed_zones="text" keeps it as text'
            raise InvalidSchema(f"{expected}: {way_out}", file=records.file.path)
        notes.append(f"column {name}: kept as text, as some of its times name a zone and others do not")
    return kind


def _fields(kind: pa.StructType) -> Iterator[pa.Field]:
    return (kind.field(at) for at in range(kind.num_fields))


def _may_be_time(texts: pa.Array) -> bool:
    """Whether the first text looks like a time, which is cheaper than to look at all of them."""
    first = next((text for text in texts.slice(0, 1000).to_pylist() if text is not None), None)
    return first is None or (first[:4].isdigit() and first[4:5] == "-")
