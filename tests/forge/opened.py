"""How does the reader get what the forge made?"""

from __future__ import annotations

from typing import Any

import amudai
from amudai.storage import MemoryStore
from tests.forge.columns import Column
from tests.forge.shard import Forge

FOLDER = "shards/"


def store_of(forge: Forge) -> MemoryStore:
    """The files of a shard, in memory."""
    return MemoryStore({f"{FOLDER}{name}": content for name, content in forge.files().items()})


def open_forged(forge: Forge, **options: Any) -> amudai.Shard:
    """The shard, opened from memory."""
    return amudai.open(f"{FOLDER}{forge.name}", store=store_of(forge), **options)


def open_damaged(**columns: Column) -> amudai.Shard:
    """A shard in which the first block of every column has a wrong bit."""
    forge = Forge.of(columns)
    content = bytearray(forge.root())
    for column in columns.values():
        blocks = column.stored.buffers[0].blocks
        assert blocks is not None
        content[content.index(blocks[0][1]) + 12] ^= 4
    return amudai.open("damaged.amudai.shard", store=MemoryStore({"damaged.amudai.shard": bytes(content)}))
