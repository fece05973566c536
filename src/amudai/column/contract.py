"""The contract of column sources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from amudai.column.column_values import ColumnValues
from amudai.column.context import ColumnContext
from amudai.column.layout import CheckedBuffers, ColumnLayout
from amudai.column.projection import Projection
from amudai.encoding import BlockBuffer, RangeIndex, Wanted
from amudai.errors import AmudaiError, CorruptedData, located
from amudai.format import AnyValue, DataRef, ValueDictionary
from amudai.rows import Rows
from amudai.types import SchemaNode

__all__ = ["ColumnSource", "DictionaryCodes", "OpenColumn"]


@dataclass(frozen=True, slots=True, eq=False)
class DictionaryCodes:
    """The dictionary of a column, and a way to look rows up by their codes instead of reading values.

    Attributes
    ----------
    entries
        The dictionary: code `i` stands for entry `i`.
    look_up
        Given some rows and an answer for each entry, returns a bitmap of the rows: the answer for the row's entry. The
        bit of a null is 0 unless the answer for the null entry says otherwise.
    """

    entries: ValueDictionary
    look_up: Callable[[Rows, npt.NDArray[np.bool_]], npt.NDArray[np.uint8]]


class ColumnSource(ABC):
    """The values of one schema node in one stripe, wherever they are stored.

    There is one implementation for each way to store a column. Opening a source reads only the column's descriptor. A
    source is immutable, except that it keeps the buffers that it has opened.

    Some methods are optional. Their default here is the answer of a source that cannot do it: None, or nothing.

    Attributes
    ----------
    node
        The schema node.
    path
        The column's name as errors show it.
    position_count
        How many positions the column has.
    null_count
        How many of the positions are null; None if unknown.
    constant
        The value of all positions, if the column is stored as a single value; None otherwise.
    """

    STORAGE: ClassVar[str]
    is_absent: ClassVar[bool] = False

    constant: AnyValue | None = None

    def __init__(
        self, context: ColumnContext, node: SchemaNode, path: str, position_count: int, null_count: int | None
    ) -> None:
        self._context = context
        self.node = node
        self.path = path
        self.position_count = position_count
        self.null_count = null_count

    def place(self) -> located:
        """A context manager that adds the column's place to errors: `with source.place(): ...`."""
        return located(url=self._context.url, stripe=self._context.stripe, field=self.path)

    # ---- values ----

    def read(self, rows: Rows, projection: Projection) -> ColumnValues:
        """The values at `rows`.

        Raises OverflowError if they hold more bytes or items than 32-bit offsets can count.
        """
        try:
            return self._read(rows, projection)
        except AmudaiError as error:
            error.locate(stripe=self._context.stripe, field=self.path)
            raise

    @abstractmethod
    def _read(self, rows: Rows, projection: Projection) -> ColumnValues: ...

    def compare(self, wanted: Wanted, rows: Rows, *, inverted: bool) -> npt.NDArray[np.uint8] | None:  # noqa: ARG002
        """A bitmap of `rows`: whether the value is in `wanted` or, if `inverted`, is not. The bit of a null is 0.

        Values are compared in their blocks without decoding them. None if that is not possible.
        """
        return None

    def codes(self) -> DictionaryCodes | None:
        """The column's dictionary and its codes; None if the values are not stored as codes."""
        return None

    def numbers(self) -> BlockBuffer | None:
        """The blocks of a column of numbers that has no nulls, to read a few numbers at a time; None for others."""
        return None

    def offsets(self) -> BlockBuffer | None:
        """The blocks of a list column's offsets, `position_count + 1` numbers of 64 bits; None for other columns."""
        return None

    def range_index(self) -> RangeIndex | None:
        """The column's range index, read from storage at each call; None if it has none."""
        return None

    # ---- the columns below ----

    def child(self, index: int) -> ColumnSource:
        """The column below this one that belongs to the child `index` of the schema node."""
        raise LookupError(f"{self.path}: child {index} of a column that has no children")

    def child_of(self, node: SchemaNode) -> ColumnSource:
        """The column below this one that belongs to `node`."""
        return self.child([child.schema_id for child in self.node.children].index(node.schema_id))

    def children(self) -> Iterator[ColumnSource]:
        """The columns right below this one."""
        return iter(())

    def walk(self) -> Iterator[ColumnSource]:
        """The column itself and all columns below it, except those below an absent column."""
        yield self
        if not self.is_absent:
            for child in self.children():
                yield from child.walk()

    # ---- storage ----

    @property
    def is_stored(self) -> bool:
        """Whether reading the column reads buffers of its own."""
        return False

    @property
    def block_rows(self) -> int:
        """About how many positions the largest blocks have, as far as the descriptor tells; 0 if unknown."""
        return 0

    def prefetch(self) -> Iterator[DataRef]:
        """The buffers that reading the column needs and that have not been read yet."""
        return iter(())

    def describe(self, *, blocks: bool = False) -> ColumnLayout:  # noqa: ARG002
        """How the column is stored. `blocks` includes each block, which reads all blocks."""
        return ColumnLayout(self.STORAGE, self.position_count, self.null_count, ())

    def block_count(self) -> int:
        """How many blocks the column's own buffers have. Reads their block maps."""
        return 0

    def block_starts(self) -> npt.NDArray[np.uint64]:
        """The positions at which damage of one block may begin or end. Reads the block maps of the column's buffers."""
        return np.empty(0, np.uint64)

    def encodings(self) -> Counter[str]:
        """The cascades of encodings of the column's blocks, and how many blocks use each. Reads the blocks."""
        return Counter()

    def check(self) -> CheckedBuffers:
        """Read everything in the column's own buffers, and raise the first error."""
        return CheckedBuffers()

    def _check_end(self, rows: Rows) -> None:
        if rows.end > self.position_count:
            raise self._error(f"positions: expected at most {self.position_count}, found {rows.end}")

    def _error(self, message: str) -> CorruptedData:
        return CorruptedData(message, url=self._context.url, stripe=self._context.stripe, field=self.path)


class OpenColumn(Protocol):
    """The type of `open_column`, with which containers open the columns below them."""

    def __call__(
        self, context: ColumnContext, node: SchemaNode, path: str, positions: int | None, *, padded: bool = False
    ) -> ColumnSource:
        """The source of a column's values."""
        ...
