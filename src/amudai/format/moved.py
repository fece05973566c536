"""The property `moved` of an index descriptor: an index whose rows have other numbers in the shard that holds it.

A new root may take over an index of another shard without writing it again. The rows, stripes and fields of that shard
then have other numbers, and the property says which. Bytes: docs/format/indexes.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from amudai.errors import CorruptedData
from amudai.format.indexes import IndexDescriptor
from amudai.format.message import parse
from amudai.format.property_values import AnyValue, any_value, pairs_of, python_value
from amudai.format.wire import amudai_pb2 as wire

__all__ = ["COMPLETE", "MOVED", "MOVED_PROPERTY", "MovedIndex", "moved_indexes"]

# Whether every value of the indexed fields is in the index. A moved index states that in `moved`, so that a reader
# which does not know the property never takes the index for complete.
COMPLETE: Final = "complete"
MOVED: Final = "moved"
# A payload without these bytes has no descriptor with this property.
MOVED_PROPERTY: Final = MOVED.encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedIndex:
    """How the numbers in an index relate to those of the shard that holds it.

    Attributes
    ----------
    first_row, first_stripe
        What is added to the rows and to the numbers of the stripes in the index. Negative for the index of a stripe if
        stripes before it are gone.
    rows
        How many rows, from `first_row` on, the index covers; None for the index of a stripe.
    fields
        The schema ids in the index and its properties, for each entry of `indexed_fields`.
    complete
        Whether the index has every value of the rows that it covers.
    """

    first_row: int
    first_stripe: int
    rows: int | None
    fields: tuple[tuple[int, ...], ...]
    complete: bool

    @classmethod
    def of(cls, descriptor: IndexDescriptor) -> Self | None:
        """What the descriptor says; None for an index that was built for its shard."""
        stored = [value for name, value in descriptor.properties if name == MOVED]
        if not stored:
            return None
        stated = python_value(stored[0])
        try:
            found = cls._of(stated if isinstance(stated, dict) else {})
        except (KeyError, TypeError) as error:
            raise CorruptedData(
                f"index property {MOVED}: expected numbers of rows and fields, found {stated}"
            ) from error
        if len(found.fields) != len(descriptor.indexed_fields):
            expected = f"{len(descriptor.indexed_fields)} fields"
            raise CorruptedData(f"index property {MOVED}: expected {expected}, found {len(found.fields)}")
        return found

    @classmethod
    def _of(cls, stated: Mapping[str, object]) -> Self:
        fields = stated["fields"]
        if not isinstance(fields, list):
            raise TypeError
        return cls(
            first_row=_number(stated["first_row"], signed="rows" not in stated),
            first_stripe=_number(stated["first_stripe"], signed="rows" not in stated),
            rows=_number(stated["rows"]) if "rows" in stated else None,
            fields=tuple(tuple(_number(each) for each in ids) for ids in fields),
            complete=stated.get(COMPLETE) is True,
        )

    @property
    def value(self) -> AnyValue:
        """The value of the property."""
        stated: dict[str, object] = {"first_row": self.first_row, "first_stripe": self.first_stripe}
        if self.rows is not None:
            stated["rows"] = self.rows
        stated["fields"] = [list(ids) for ids in self.fields]
        stated[COMPLETE] = self.complete
        return any_value(stated)


def moved_indexes(
    payload: bytes, *, first_row: int, first_stripe: int, rows: int | None, ids: Mapping[int, int]
) -> bytes:
    """The payload of an `IndexCollection` for another shard, in which rows, stripes and fields have other numbers.

    Parameters
    ----------
    first_row, first_stripe
        The number of the first row and of the first stripe of the old shard in the new one.
    rows
        How many rows the old shard has, for indexes of a whole shard; None for those of a stripe.
    ids
        The new schema id for each old one.
    """
    message = parse(wire.IndexCollection, payload)
    for each in message.index_descriptors:
        descriptor = IndexDescriptor.of(each)
        before = MovedIndex.of(descriptor)
        if before is None:
            complete = any(name == COMPLETE and value.value is True for name, value in descriptor.properties)
            before = MovedIndex(
                first_row=0, first_stripe=0, rows=rows, fields=descriptor.indexed_fields, complete=complete
            )
        moved = MovedIndex(
            first_row=before.first_row + first_row,
            first_stripe=before.first_stripe + first_stripe,
            rows=before.rows,
            fields=before.fields,
            complete=before.complete,
        )
        others = [pair for pair in each.properties if pair.name not in (MOVED, COMPLETE)]
        del each.properties[:]
        each.properties.extend([*others, *pairs_of(((MOVED, moved.value),))])
        for field in each.indexed_fields:
            field.schema_ids[:] = [ids[schema_id] for schema_id in field.schema_ids]
    return message.SerializeToString(deterministic=True)


def _number(value: object, *, signed: bool = False) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or (value < 0 and not signed):
        raise TypeError(f"{type(value).__name__} for a number")
    return value
