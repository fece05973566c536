"""A small shard in memory, its predicates bound and evaluated."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import amudai
from amudai.arrow import ArrowFields
from amudai.scan.predicate import Bound, Predicate, bind, evaluate_all
from amudai.shard import ShardReader


class Bindable:
    """A table that was written as a shard, so that predicates can be bound to it."""

    def __init__(self, table: pa.Table, folder: Path) -> None:
        self.table = table
        shard = amudai.write(table, folder / "table.amudai.shard")
        self.reader: ShardReader = shard._reader
        self.fields = ArrowFields(self.reader)

    def bind(self, predicate: Predicate) -> Bound:
        return bind(predicate, self.reader, self.fields)

    def rows(self, predicate: Predicate) -> list[int]:
        """The rows for which it is true."""
        bound = self.bind(predicate)
        columns = {node.schema_id: self.table.column(node.name) for node in self.fields.visible()}
        mask = evaluate_all(bound, columns, self.table.num_rows)
        return [row for row, true in enumerate(mask.tolist()) if true]
