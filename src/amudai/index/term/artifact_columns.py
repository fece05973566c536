"""Functions that read numbers, offsets and terms from the columns of an artifact.

An artifact is a shard, and its columns are read like those of any shard.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from amudai.column import ColumnSource, ConstantValues, Projection, StoredValues
from amudai.encoding import decode_numbers
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.format import encode_schema
from amudai.frozen import quick_init
from amudai.limits import DEFAULT_LIMITS
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.types import BasicType, SchemaNode

__all__ = [
    "U64",
    "TermsColumn",
    "field_named",
    "known_fields",
    "numbers",
    "offsets",
    "only_stripe",
    "present",
    "terms",
]

U64 = npt.NDArray[np.uint64]


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class TermsColumn:
    """Terms back to back: term i is `offsets[i] .. offsets[i + 1]` of `data`."""

    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def only_stripe(shard: ShardReader) -> StripeReader | None:
    """The stripe of an artifact; None if the artifact has no records."""
    if shard.num_positions == 0:
        return None
    if len(shard.stripes) != 1:
        raise UnsupportedFeature(f"index artifact: expected one stripe, found {len(shard.stripes)}", url=shard.url)
    return shard.stripes[0]


def known_fields(shard: ShardReader, schema: tuple[SchemaNode, ...]) -> tuple[SchemaNode, ...]:
    """The fields of an artifact. If its schema is `schema`, as expected, nothing is decoded."""
    if shard.directory.schema.is_empty:
        return shard.schema.fields()
    payload, _ = shard.payload(shard.directory.schema, "Schema", shard.root)
    return schema if payload == _encoded(schema) else shard.schema.fields()


@cache
def _encoded(schema: tuple[SchemaNode, ...]) -> bytes:
    return encode_schema(schema)


def field_named(fields: tuple[SchemaNode, ...], name: str, basic_type: BasicType) -> SchemaNode:
    """The one of `fields` with this name. Raises CorruptedData if it is missing or of another type."""
    found = next((node for node in fields if node.name == name), None)
    if found is None or found.basic_type is not basic_type or found.signed:
        stated = "none" if found is None else str(found)
        raise CorruptedData(f"index artifact field {name!r}: expected {basic_type.name}, found {stated}")
    return found


def numbers(column: ColumnSource, ranges: Rows) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """The numbers at these positions, and a mask of those that are not null; no mask if none is null."""
    count = ranges.count
    dtype = column.node.dtype
    if not count:
        return np.empty(0, dtype), None
    found = column.read(ranges, Projection(column.node))
    if isinstance(found, StoredValues):
        return found.values.numbers(dtype), found.values.valid()
    DEFAULT_LIMITS.require_memory(count, 64)
    if isinstance(found, ConstantValues) and isinstance(found.value.value, int):
        return np.full(found.length, found.value.value, dtype), None
    return np.zeros(count, dtype), np.zeros(count, np.bool_)


def present(column: ColumnSource, ranges: Rows) -> npt.NDArray[Any]:
    """The numbers at these positions. Raises CorruptedData if one is null."""
    values, valid = numbers(column, ranges)
    if valid is not None and not valid.all():
        raise CorruptedData("index artifact: expected no nulls, found some", field=column.path)
    return values


def offsets(column: ColumnSource, start: int, end: int, most: int | None) -> U64:
    """Where the items of lists `start..end` begin, and where the last list ends. No offset may exceed `most`."""
    if end > column.position_count:
        raise CorruptedData(f"positions: expected at most {column.position_count}, found {end}", field=column.path)
    buffer = column.offsets()
    if buffer is None:
        raise CorruptedData("lists: expected offsets, found none", field=column.path)
    found: U64 = decode_numbers(buffer, Rows.one(start, end + 1), "u8", nullable=False).numbers("u8")
    if (found[1:] < found[:-1]).any() or (most is not None and int(found[-1]) > most):
        raise CorruptedData(f"list offsets: expected an ascending sequence up to {most}", field=column.path)
    return found


def terms(column: ColumnSource, start: int, end: int) -> TermsColumn:
    """The terms at positions `start..end`."""
    found = column.read(Rows.one(start, end), Projection(column.node, wide=True))
    if isinstance(found, ConstantValues) and isinstance(found.value.value, bytes):
        value = found.value.value
        DEFAULT_LIMITS.require_memory(found.length, 64 + 8 * len(value))
        data = np.frombuffer(value * found.length, np.uint8)
        return TermsColumn(np.arange(found.length + 1, dtype=np.int64) * len(value), data)
    if not isinstance(found, StoredValues) or found.values.nulls:
        raise CorruptedData("terms: expected no nulls, found some", field=column.path)
    values = found.values
    places = np.frombuffer(values.offsets, np.int64) if values.offsets is not None else np.zeros(1, np.int64)
    data = np.frombuffer(values.data, np.uint8) if values.data is not None and values.data.size else _NO_BYTES
    return TermsColumn(places[: values.length + 1], data)


_NO_BYTES = np.empty(0, np.uint8)
