"""Where the bytes of a shard go: columns, indexes, metadata."""

from __future__ import annotations

from dataclasses import dataclass

from amudai import Shard
from amudai.cli.fields import require_readable

__all__ = ["Share", "shares_of"]


@dataclass(frozen=True, slots=True)
class Share:
    """The bytes of one part of a shard. `kind` is `column`, `internal`, `index` or `metadata`."""

    name: str
    kind: str
    type: str
    bytes: int


def shares_of(shard: Shard) -> list[Share]:
    """Columns, the largest first; then internal fields, indexes and metadata. Together they are `shard.size`."""
    columns = {column.path: column for column in shard.columns}
    layout = require_readable(shard.inspect())
    shares = [
        Share(field.path, "column", str(columns[field.path].type).split("<", 1)[0], field.bytes)
        for field in layout.fields
        if field.path in columns
    ]
    shares.sort(key=lambda share: -share.bytes)
    internal = sum(field.bytes for field in layout.fields if field.path not in columns)
    if internal:
        shares.append(Share("internal fields", "internal", "", internal))
    shares += [Share(", ".join(each.fields), "index", each.type, each.size or 0) for each in layout.indexes]
    rest = layout.size - sum(share.bytes for share in shares)
    return [*shares, Share("metadata", "metadata", "", rest)]
