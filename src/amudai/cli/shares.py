"""Where the bytes of a shard go: columns, indexes, metadata."""

from __future__ import annotations

from dataclasses import dataclass

from amudai import Shard
from amudai.cli.fields import require_readable

__all__ = ["Share", "shares_of"]


@dataclass(frozen=True, slots=True)
class Share:
    """The bytes of one part of a shard. `kind` is `column`, `index` or `metadata`."""

    name: str
    kind: str
    type: str
    bytes: int


def shares_of(shard: Shard) -> list[Share]:
    """Columns, the largest first; then indexes; then metadata. Together they are `shard.size`."""
    columns = shard.columns
    layout = require_readable(shard.inspect([column.path for column in columns]))
    shares = [
        Share(field.path, "column", str(column.type).split("<", 1)[0], field.bytes)
        for column, field in zip(columns, layout.fields, strict=True)
    ]
    shares.sort(key=lambda share: -share.bytes)
    shares += [Share(", ".join(each.fields), "index", each.type, each.size or 0) for each in layout.indexes]
    rest = layout.size - sum(share.bytes for share in shares)
    return [*shares, Share("metadata", "metadata", "", rest)]
