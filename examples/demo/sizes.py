"""Where do the bytes of the shard go?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import amudai

__all__ = ["Share", "shares"]


@dataclass(frozen=True, slots=True)
class Share:
    """The bytes of a column, of an index or of the rest, by encoding."""

    name: str
    bytes: dict[str, int]

    @property
    def total(self) -> int:
        """All of its bytes."""
        return sum(self.bytes.values())


def shares(shard: amudai.Shard) -> list[Share]:
    """Columns, the largest first, then indexes, then metadata: together they are all bytes of the shard."""
    found: dict[str, Counter[str]] = {}
    for stripe in shard.inspect(blocks=True).stripes:
        for field in stripe.fields:
            found[field.name] = found.get(field.name, Counter()) + _column(field)
    columns = sorted((Share(name, dict(by)) for name, by in found.items()), key=lambda share: -share.total)
    indexes = [Share(_KINDS.get(index.type, index.type), {"index": index.size or 0}) for index in shard.indexes]
    rest = shard.size - sum(share.total for share in (*columns, *indexes))
    return [*columns, *indexes, Share("metadata", {"metadata": rest})]


_KINDS = {"inverted-text-index-v1": "term index", "field-hashing-index": "hash index"}


def _column(field: amudai.FieldLayout) -> Counter[str]:
    """Bytes by the encoding of each block; what is not in blocks by what it is."""
    found: Counter[str] = Counter()
    for buffer in field.buffers:
        for block in buffer.blocks:
            found[block.encoding] += block.bytes
        # What lies around blocks, their map above all; or a buffer without any: a dictionary, a range index.
        found[buffer.kind if not buffer.blocks else "block maps"] += buffer.bytes - sum(
            block.bytes for block in buffer.blocks
        )
    for child in field.children:
        found += _column(child)
    return found
