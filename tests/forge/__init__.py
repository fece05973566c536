"""What does a shard look like, byte by byte?

The forge makes shards for tests from the page in docs/format and the oracle's encoders. It shares no code with the
reader but the generated messages and `SchemaNode`, and it stores what it is told: wrong counts, unknown codes and
broken checksums too. Start with `columns.py`, which makes columns of Python values; `Forge.of` in `shard.py` puts them
into stripes and files, `opened.py` opens them from memory.

    level = dictionary(["INFO", "INFO", "ERROR"])
    status = numbers([200, 200, None], "i8", encode=ffor.encode)
    table = open_forged(Forge.of({"level": level, "status": status})).read()
"""

from tests.forge.columns import (
    Column,
    binaries,
    booleans,
    constants,
    datetimes,
    decimals,
    dictionary,
    fixed_lists,
    guids,
    lists,
    maps,
    missing,
    number_dictionary,
    numbers,
    referred,
    separate,
    strings,
    structs,
    timespans,
    unions,
    units,
)
from tests.forge.content import Buffer, BufferKind, FieldContent, any_value
from tests.forge.opened import open_damaged, open_forged, store_of
from tests.forge.shard import Forge, Stripe, nodes_of

__all__ = [
    "Buffer",
    "BufferKind",
    "Column",
    "FieldContent",
    "Forge",
    "Stripe",
    "any_value",
    "binaries",
    "booleans",
    "constants",
    "datetimes",
    "decimals",
    "dictionary",
    "fixed_lists",
    "guids",
    "lists",
    "maps",
    "missing",
    "nodes_of",
    "number_dictionary",
    "numbers",
    "open_damaged",
    "open_forged",
    "referred",
    "separate",
    "store_of",
    "strings",
    "structs",
    "timespans",
    "unions",
    "units",
]
