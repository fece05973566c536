"""The shard property `amudai.field_indexes`: the fields whose descriptors hold indexes of their own.

Without it, a reader that wants all indexes would have to look at the descriptors of all fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from amudai.errors import CorruptedData
from amudai.format.container import Bytes
from amudai.format.directory import ShardProperties, with_property
from amudai.format.property_values import any_value, python_value

__all__ = ["indexed_fields_of", "with_indexed_fields"]

_PROPERTY: Final = "amudai.field_indexes"


def indexed_fields_of(properties: ShardProperties) -> list[int]:
    """The schema ids of the fields whose descriptors in the shard may hold indexes, by what their writer noted."""
    stored = next((value for name, value in properties.custom if name == _PROPERTY), None)
    found = [] if stored is None else python_value(stored)
    if not isinstance(found, list) or not all(isinstance(each, int) and each >= 0 for each in found):
        raise CorruptedData(f"property {_PROPERTY}: expected schema ids, found {found!r}")
    return found


def with_indexed_fields(payload: Bytes, schema_ids: Sequence[int]) -> bytes:
    """The payload of a `ShardProperties` message that notes more such fields."""
    known = indexed_fields_of(ShardProperties.decode(payload)) if payload else []
    return with_property(payload, _PROPERTY, any_value(sorted({*known, *schema_ids})))
