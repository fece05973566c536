"""Where do the bytes of a shard go?"""

from __future__ import annotations

from dataclasses import dataclass

from amudai.api import Field, Shard

__all__ = ["Share", "shares_of"]


@dataclass(frozen=True, slots=True)
class Share:
    """The bytes of one part of a shard; `kind` is `column`, `index` or `metadata`."""

    name: str
    kind: str
    type: str
    bytes: int


def shares_of(shard: Shard) -> list[Share]:
    """Columns, the largest first; then indexes; then all the rest. Together they are `shard.size`."""
    columns = [Share(field.path, "column", _type(field), field.encoded_bytes) for field in shard.columns]
    columns.sort(key=lambda share: -share.bytes)
    indexes = [Share(", ".join(each.fields), "index", each.type, each.size or 0) for each in shard.indexes]
    rest = shard.size - sum(share.bytes for share in (*columns, *indexes))
    return [*columns, *indexes, Share("metadata", "metadata", "", rest)]


def _type(field: Field) -> str:
    """Its type, without what is inside of it."""
    return str(field.type).split("<", 1)[0]
