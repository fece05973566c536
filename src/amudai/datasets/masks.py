"""Predicates on tables in memory."""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.datasets.schema_fields import SchemaFields
from amudai.predicate import Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr, Predicate, bind, evaluate

__all__ = ["true_rows"]

Bools: TypeAlias = npt.NDArray[np.bool_]


def true_rows(predicate: Predicate, table: pa.Table) -> Bools:
    """A mask of the rows of a table for which a predicate is true.

    >>> from amudai import col
    >>> true_rows(~col("n").isin([1]) | col("m").is_null(), pa.table({"n": [1, 2, None], "m": [1, 1, None]})).tolist()
    [False, True, True]
    """
    return _mask(bind(predicate, SchemaFields(table.schema)), table)


def _mask(bound: Bound, table: pa.Table) -> Bools:
    match bound:
        case BoundAlways(value):
            return np.full(table.num_rows, value)
        case BoundAnd(terms):
            return reduce(np.logical_and, (_mask(term, table) for term in terms))
        case BoundOr(terms):
            return reduce(np.logical_or, (_mask(term, table) for term in terms))
        case BoundLeaf():
            return evaluate(bound, table.column(bound.nodes[0].name))
