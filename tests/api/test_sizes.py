"""How many rows a writer encodes at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from amudai.api.sizes import rows_at_once


def batch(rows: int, columns: int = 1) -> pa.RecordBatch:
    """A batch with 8 bytes in each value."""
    return pa.record_batch({f"c{at}": np.zeros(rows, np.int64) for at in range(columns)})


@pytest.mark.parametrize(
    ("rows", "memory", "expected"),
    [
        (1000, 64 * 1000, 1000),
        (1000, 64 * 500, 500),
        (1000, 64 * 700, 1000),  # the rest would be smaller than half a part
        (1000, 64 * 660, 660),
        (1000, 1, 1),
        (1 << 17, 1 << 30, 1 << 17),
        (3 << 16, 1 << 30, 1 << 17),
        (0, 1 << 20, 1 << 17),
    ],
)
def test_rows_of_a_part(rows: int, memory: int, expected: int) -> None:
    assert rows_at_once(batch(rows), memory) == expected


def test_many_columns_count() -> None:
    assert rows_at_once(batch(1000, columns=20), 8 * 8 * 20 * 100) == 100
