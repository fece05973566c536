"""What a shard over Parquet files notes: the rows of each row group, and how the shard was made.

`amudai.parquet.rows` is a property of a stripe: 8 bytes for each row group that holds values of the stripe, in order,
with its number of rows. `amudai.parquet` is a property of the shard, from which `amudai.refresh` makes it again.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Final

from amudai.errors import CorruptedData
from amudai.format.directory import ShardProperties, StripeProperties
from amudai.format.property_values import AnyValue, Properties, any_value, python_value

__all__ = [
    "ATTACHMENT_PROPERTY",
    "ROW_GROUPS_PROPERTY",
    "attachment_of",
    "attachment_property",
    "row_groups_of",
    "row_groups_property",
]

ATTACHMENT_PROPERTY: Final = "amudai.parquet"
ROW_GROUPS_PROPERTY: Final = "amudai.parquet.rows"


def row_groups_property(rows: Sequence[int]) -> Properties:
    """The property of a stripe whose row groups have these numbers of rows."""
    return ((ROW_GROUPS_PROPERTY, AnyValue("bytes", struct.pack(f"<{len(rows)}Q", *rows))),)


def row_groups_of(properties: StripeProperties) -> tuple[int, ...] | None:
    """How many rows each row group of a stripe has; None if the stripe does not say."""
    found = next((value for name, value in properties.custom if name == ROW_GROUPS_PROPERTY), None)
    if found is None:
        return None
    if not isinstance(found.value, bytes) or len(found.value) % 8:
        raise CorruptedData(f"property {ROW_GROUPS_PROPERTY}: expected bytes, 8 for each row group, found {found.kind}")
    return struct.unpack(f"<{len(found.value) // 8}Q", found.value)


def attachment_property(made: Mapping[str, object]) -> Properties:
    """The property of a shard that was made over Parquet files: the arguments of the call."""
    return ((ATTACHMENT_PROPERTY, any_value(dict(made))),)


def attachment_of(properties: ShardProperties) -> list[dict[str, object]]:
    """How the shard was made, once for each shard over Parquet files that was merged into it."""
    found = [python_value(value) for name, value in properties.custom if name == ATTACHMENT_PROPERTY]
    return [each for each in found if isinstance(each, dict)]
