"""The most frequent terms of a column, from its term indexes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from amudai.errors import InvalidArgument
from amudai.index import TermCounts
from amudai.plan.open_indexes import OpenIndex, covering, open_indexes
from amudai.plan.unusable import UnusableIndexes
from amudai.shard import ShardReader
from amudai.types import NodePath

__all__ = ["frequent_terms"]

_MOST_WAITING: Final = 1 << 18  # terms


def frequent_terms(shard: ShardReader, path: NodePath, name: str, prefix: str, limit: int | None) -> pa.Table:
    """The terms of a field that begin with `prefix`, with the numbers of their rows, the most frequent first."""
    indexes = open_indexes(shard, UnusableIndexes("raise"), path)
    able = [index for index in indexes if index.terms(path, "") is not None]
    chosen = covering(shard, able)
    if chosen is None:
        raise InvalidArgument(f"terms of {name!r}: expected a term index of all rows, found none", url=shard.url)
    found: list[pa.Table] = []
    waiting = 0
    for counts in _counts(chosen, path, prefix):
        columns = [counts.terms, pa.array(counts.rows), pa.array(counts.exact)]
        found.append(pa.Table.from_arrays(columns, ["term", "rows", "exact"]))
        waiting += len(counts.terms)
        # Only a single index has each term once, so that what is rare so far stays rare.
        if limit is not None and len(chosen) == 1 and waiting > _MOST_WAITING + limit:
            found = [_first(pa.concat_tables(found), limit)]
            waiting = limit
    whole = pa.concat_tables([_NOTHING, *found])
    if len(chosen) > 1:
        grouped = whole.group_by("term").aggregate([("rows", "sum"), ("exact", "all")])
        whole = grouped.select(["term", "rows_sum", "exact_all"]).rename_columns(["term", "rows", "exact"])
    ordered = _first(whole, limit)
    return ordered.set_column(0, "term", ordered.column("term").cast(pa.string()))


def _counts(indexes: Sequence[OpenIndex], path: NodePath, prefix: str) -> Iterator[TermCounts]:
    for index in indexes:
        yield from index.terms(path, prefix) or ()


def _first(table: pa.Table, limit: int | None) -> pa.Table:
    ordered = table.sort_by([("rows", "descending"), ("term", "ascending")])
    return ordered if limit is None else ordered.slice(0, min(limit, ordered.num_rows))


_NOTHING: Final = pa.schema([("term", pa.large_binary()), ("rows", pa.uint64()), ("exact", pa.bool_())]).empty_table()
