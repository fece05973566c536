"""The bounds of stretches of a stripe, from the range index of a column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from amudai.api.field_stats import FieldFacts
from amudai.errors import InvalidArgument, located
from amudai.index import open_range
from amudai.shard import StripeReader
from amudai.types import WIDTHS, BasicType, NodePath

__all__ = ["stretches"]


def stretches(nodes: NodePath, stripe: StripeReader, facts: FieldFacts, path: str) -> pa.Table:
    """What `StripeField.ranges` returns."""
    is_below = any(node.basic_type is not BasicType.STRUCT for node in nodes[:-1])
    if is_below or nodes[-1].basic_type not in WIDTHS or not facts.has_order:
        expected = "expected a column of numbers or times with a value for each row"
        raise InvalidArgument(f"ranges of {path!r}: {expected}, found {nodes[-1]}", url=stripe.url)
    with located(url=stripe.url, stripe=stripe.ordinal, field=path):
        probe = open_range(stripe.column_at(nodes))
    if probe is None:
        raise InvalidArgument(f"ranges of {path!r}: expected a range index, found none", url=stripe.url)
    index = probe.index
    starts = np.arange(0, index.span, index.size, dtype=np.int64)
    rows = np.minimum(index.span - starts, index.size)
    nulls = np.zeros(len(starts), np.int64) if index.invalid is None else index.invalid.astype(np.int64)
    known = nulls < rows
    return pa.table(
        {
            "first_row": starts + stripe.first_row,
            "rows": rows,
            "min": facts.bounds(index.least, known, "min"),
            "max": facts.bounds(index.greatest, known, "max"),
            "nulls": nulls,
        }
    )
