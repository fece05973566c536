"""How are many shards one table?

`finding.py` lists the shards of a folder, a prefix of URLs or a list. `member.py` has one shard of a dataset: its name,
the values of its folders, and what is known about it without opening it. `members.py` has all of them, with one schema.
`facts.py` collects statistics of whole shards and `words.py` filters of their words, `pruning.py` rules shards out by
them, and `catalog.py` keeps them in one file. `constants.py` answers the parts of a predicate that have one answer for
a whole shard, with the help of `masks.py`. `run.py` runs a scan.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.datasets.catalog import Catalog, catalog_table
    from amudai.datasets.finding import CATALOG_NAME, SHARD_SUFFIX, Found, FoundShard, Locations, find_shards
    from amudai.datasets.masks import true_rows
    from amudai.datasets.members import SHARD_COLUMN, MemberOptions, Members, columns_of_member
    from amudai.datasets.run import DatasetRun
    from amudai.datasets.words import MOST_WORD_BYTES
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.datasets.catalog": "Catalog catalog_table",
            "amudai.datasets.finding": "CATALOG_NAME Found FoundShard Locations SHARD_SUFFIX find_shards",
            "amudai.datasets.masks": "true_rows",
            "amudai.datasets.members": "Members MemberOptions SHARD_COLUMN columns_of_member",
            "amudai.datasets.run": "DatasetRun",
            "amudai.datasets.words": "MOST_WORD_BYTES",
        },
    )

__all__ = [
    "CATALOG_NAME",
    "MOST_WORD_BYTES",
    "SHARD_COLUMN",
    "SHARD_SUFFIX",
    "Catalog",
    "DatasetRun",
    "Found",
    "FoundShard",
    "Locations",
    "MemberOptions",
    "Members",
    "catalog_table",
    "columns_of_member",
    "find_shards",
    "true_rows",
]
