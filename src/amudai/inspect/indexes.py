"""The indexes of a shard: their types, columns and sizes."""

from __future__ import annotations

from dataclasses import dataclass

from amudai.format import IndexDescriptor, python_values
from amudai.shard import ShardReader

__all__ = ["Index", "indexes_of"]


@dataclass(frozen=True, slots=True)
class Index:
    """An index that a shard carries.

    Attributes
    ----------
    type
        The name of its type.
    fields
        The paths of the columns that it covers.
    stripe
        The stripe that it belongs to; None if it covers the whole shard.
    size
        Its bytes; None if the shard does not say.
    properties
        What its writer noted, for example the tokenizer of a term index.

    Examples
    --------
    >>> rows = {"message": ["disk full", "all well"]}
    >>> shard = amudai.write(rows, "i.amudai.shard", indexes=[amudai.TermIndex("message")], overwrite=True)
    >>> [(index.type, index.fields) for index in shard.indexes]
    [('inverted-text-index-v1', ('message',))]
    """

    type: str
    fields: tuple[str, ...]
    stripe: int | None
    size: int | None
    properties: dict[str, object]


def indexes_of(reader: ShardReader) -> tuple[Index, ...]:
    """All indexes of a shard and its stripes."""
    found: list[tuple[IndexDescriptor, int | None]] = [(each, None) for each in reader.indexes]
    found += [(each, None) for each, _ in reader.field_indexes()]
    for stripe in reader.stripes:
        found += [(each, stripe.ordinal) for each in stripe.indexes]
    if not found:
        return ()
    from amudai.index import field_paths  # most shards are read without a look at their indexes

    paths = field_paths(reader)
    return tuple(
        Index(
            index.index_type,
            tuple(" + ".join(paths.get(each, f"#{each}") for each in ids) for ids in index.indexed_fields if ids),
            stripe,
            index.index_size,
            python_values(index.properties),
        )
        for index, stripe in found
    )
