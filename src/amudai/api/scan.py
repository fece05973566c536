"""How does a user ask for rows?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.scan import Explanation, Search

__all__ = ["Scan"]


class Scan:
    """Rows of a shard that match a predicate. Made by `shard.scan`; nothing is read before it is asked.

    Iterating gives batches in the order of rows; only a few of them are in memory at a time.

    Examples
    --------
    >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> scan = shard.scan(columns=["level", "status"], where=amudai.col("status") >= 500, limit=2)
    >>> scan.to_table().to_pydict()
    {'level': ['ERROR', 'ERROR'], 'status': [500, 503]}
    >>> shard.scan(where=amudai.col("status") >= 500).count()
    11
    """

    def __init__(self, search: Search) -> None:
        self._search = search

    @property
    def schema(self) -> pa.Schema:
        """The columns of the result and their types."""
        return self._search.schema

    def count(self) -> int:
        """How many rows match. No column is read but those of the predicate, and those only where they must be."""
        return self._search.count()

    def positions(self) -> npt.NDArray[np.uint64]:
        """The positions of the rows that match, ascending, as `shard.take` takes them.

        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.scan(where=amudai.col("status") == 503, limit=3).positions().tolist()
        [50, 147, 244]
        """
        return self._search.rows().positions()

    def to_table(self) -> pa.Table:
        """All rows that match, in memory."""
        return self._search.table()

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows that match, batch by batch."""
        return pa.RecordBatchReader.from_batches(self.schema, self._search.batches())

    def to_pandas(self, **options: Any) -> Any:
        """All rows that match, as a pandas frame."""
        return self.to_table().to_pandas(**options)

    def explain(self) -> Explanation:
        """What rules rows out, and how many; once the scan has run, also what it read and how long it took.

        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.scan(where=amudai.col("status").is_null()).explain().ruled_out
        400
        """
        return self._search.explanation()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self._search.batches()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows that match, for whoever speaks the Arrow PyCapsule protocol."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        limit = "" if self._search.limit is None else f", limit {self._search.limit:,}"
        return f"<amudai.Scan of {', '.join(self.schema.names)} where {self._search.bound}{limit}>"

    def _repr_html_(self) -> str:
        return self.explain()._repr_html_()
