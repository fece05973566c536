"""Tables that predicates can be bound to, as shards and without any file."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import amudai
from amudai.arrow import ArrowFields, schema_nodes
from amudai.predicate import Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr, Predicate, bind, evaluate
from amudai.types import NodePath, SchemaNode, find_in


class PlainSchema:
    """The columns of an Arrow schema, without a shard."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._nodes = tuple(node for node in schema_nodes(schema) if not node.internal)

    def find(self, name: str) -> NodePath:
        return find_in(self._nodes, name)

    def field(self, node: SchemaNode) -> pa.Field:
        return self._schema.field(node.name)

    def visible(self) -> tuple[SchemaNode, ...]:
        return self._nodes


class Bindable:
    """A table that was written as a shard, so that predicates can be bound to it."""

    def __init__(self, table: pa.Table, folder: Path) -> None:
        self.table = table
        shard = amudai.write(table, folder / "table.amudai.shard")
        self.fields = ArrowFields(shard._reader)

    def bind(self, predicate: Predicate) -> Bound:
        return bind(predicate, self.fields)

    def rows(self, predicate: Predicate) -> list[int]:
        """The rows for which it is true."""
        return rows_of(self.bind(predicate), self.table)


def rows_of(bound: Bound, table: pa.Table) -> list[int]:
    """The rows of a table in memory for which a bound predicate is true."""
    return [row for row, true in enumerate(_true(bound, table).tolist()) if true]


def _true(bound: Bound, table: pa.Table) -> npt.NDArray[np.bool_]:
    match bound:
        case BoundAlways(value):
            return np.full(table.num_rows, value, np.bool_)
        case BoundAnd(terms):
            return reduce(np.logical_and, [_true(term, table) for term in terms])
        case BoundOr(terms):
            return reduce(np.logical_or, [_true(term, table) for term in terms])
        case BoundLeaf():
            return evaluate(bound, table.column(bound.nodes[0].name))
