"""Columns that are stored twice: in the format's own buffers, and in Parquet files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from amudai.column.column_values import ColumnValues
from amudai.column.context import ColumnContext
from amudai.column.contract import ColumnSource, DictionaryCodes
from amudai.column.layout import CheckedBuffers, ColumnLayout
from amudai.column.parquet import ParquetSource
from amudai.column.projection import Projection
from amudai.encoding import BlockBuffer, RangeIndex, Wanted
from amudai.format import BufferKind, DataRef, NativeEncoding
from amudai.rows import Rows
from amudai.types import SchemaNode

__all__ = ["CheaperSource"]


class CheaperSource(ColumnSource):
    """A top-level column that is stored twice. Each read takes the encoding of which fewer bytes must be fetched.

    Bytes of a local shard cost nothing to fetch, and the format's own blocks are decoded faster and can be skipped. So
    Parquet is read only where it saves bytes of a remote store: if a request needs most rows, and the Parquet file is
    smaller. Everything but reading is that of the format's own encoding.
    """

    STORAGE = "alternatives"

    def __init__(self, context: ColumnContext, native: ColumnSource, parquet: ParquetSource) -> None:
        super().__init__(context, native.node, native.path, native.position_count, native.null_count)
        self._native = native
        self._parquet = parquet

    # ---- values ----

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        return self._cheaper(rows, projection).read(rows, projection)

    def _cheaper(self, rows: Rows, projection: Projection) -> ColumnSource:
        if not rows:
            return self._native
        own = _fetched(self._context, self.position_count, projection.nodes(), rows)
        return self._parquet if own and self._parquet.size_of(rows, projection) < own else self._native

    def compare(self, wanted: Wanted, rows: Rows, *, inverted: bool) -> npt.NDArray[np.uint8] | None:
        """A bitmap of `rows`, from the format's own blocks."""
        return self._native.compare(wanted, rows, inverted=inverted)

    def codes(self) -> DictionaryCodes | None:
        """The dictionary of the format's own encoding."""
        return self._native.codes()

    def numbers(self) -> BlockBuffer | None:
        """The blocks of the format's own encoding."""
        return self._native.numbers()

    def offsets(self) -> BlockBuffer | None:
        """The offsets of the format's own encoding."""
        return self._native.offsets()

    def range_index(self) -> RangeIndex | None:
        """The range index, which tells about both."""
        return self._native.range_index()

    # ---- the columns below, and storage ----

    def child(self, index: int) -> ColumnSource:
        """The column below the format's own encoding."""
        return self._native.child(index)

    def children(self) -> Iterator[ColumnSource]:
        """The columns below the format's own encoding."""
        return self._native.children()

    def walk(self) -> Iterator[ColumnSource]:
        """The format's own encoding and all columns below it."""
        return self._native.walk()

    @property
    def is_stored(self) -> bool:
        """Whether reading the column reads buffers of its own."""
        return self._native.is_stored

    @property
    def block_rows(self) -> int:
        """About how many positions the largest blocks have."""
        return self._native.block_rows

    def prefetch(self) -> Iterator[DataRef]:
        """The buffers that reading all rows needs, if they are not read from Parquet."""
        whole = Rows.one(0, self.position_count)
        is_own = self._cheaper(whole, _everything(self.node)) is self._native
        return self._native.prefetch() if is_own else iter(())

    def describe(self, *, blocks: bool = False) -> ColumnLayout:
        """How the format's own encoding is stored."""
        return self._native.describe(blocks=blocks)

    def block_count(self) -> int:
        """How many blocks the format's own encoding has."""
        return self._native.block_count()

    def block_starts(self) -> npt.NDArray[np.uint64]:
        """Where blocks of the format's own encoding begin."""
        return self._native.block_starts()

    def encodings(self) -> Counter[str]:
        """The encodings of the format's own blocks."""
        return self._native.encodings()

    def check(self) -> CheckedBuffers:
        """Read everything in the format's own buffers."""
        return self._native.check()


def _everything(node: SchemaNode) -> Projection:
    return Projection(node, children=tuple(map(_everything, node.children)))


def _fetched(context: ColumnContext, positions: int, nodes: Iterable[SchemaNode], rows: Rows) -> int:
    """About how many bytes of remote stores the blocks have that hold these rows of a column of `positions` rows."""
    total = 0.0
    for node in nodes:
        stored = context.descriptor(node)
        native = next((each for each in stored.encodings if isinstance(each, NativeEncoding)), None) if stored else None
        for buffer in () if native is None else native.buffers:
            extent = buffer.extent
            if extent is None or buffer.kind is BufferKind.RANGE_INDEX or extent in context.prefetched:
                continue
            if not context.artifact(extent).store.capabilities.mappable:
                total += extent.size * _share(rows, positions, buffer.block_count or 1)
    return int(total)


def _share(rows: Rows, positions: int, blocks: int) -> float:
    """Which share of the blocks holds some of these rows, if all blocks have about the same number of rows."""
    size = np.uint64(max(1, -(-positions // blocks)))
    first, last = rows.starts // size, (rows.ends - np.uint64(1)) // size
    again = int(np.count_nonzero(first[1:] == last[:-1]))  # two ranges in one block
    return min(1.0, (int((last - first).sum()) + len(first) - again) / blocks)
