"""Columns with the same value at every position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, Final

from amudai.column.column_values import ColumnValues, ConstantValues
from amudai.column.context import ColumnContext
from amudai.column.native import NativeSource
from amudai.column.projection import Projection
from amudai.encoding import BlockBuffer, RangeIndex
from amudai.errors import CorruptedData, located
from amudai.format import AnyValue, BufferKind, DataRef, FieldDescriptor, NativeEncoding, unframe
from amudai.rows import Rows
from amudai.types import CONTAINERS, WIDTHS, BasicType, SchemaNode

__all__ = ["ConstantSource", "constant_of", "followed"]

_NULL: Final = AnyValue("null", None)
_MOST_HOPS: Final = 4  # a reference that leads to a reference, and so on


def constant_of(node: SchemaNode, field: FieldDescriptor) -> AnyValue | None:
    """The value of all positions, if the descriptor says that there is only one; None otherwise."""
    # A dictionary takes precedence over a constant, as in the reference implementation.
    if node.basic_type in CONTAINERS or field.dictionary_size is not None:
        return None
    if field.constant_value is not None:
        return _as_stored(field.constant_value, node)
    return _NULL if field.null_count is not None and field.null_count == field.position_count else None


def followed(constant: AnyValue, node: SchemaNode, context: ColumnContext) -> AnyValue:
    """The constant itself, or what it refers to if it is stored elsewhere."""
    for _ in range(_MOST_HOPS):
        ref = constant.value
        if constant.kind != "data_ref" or not isinstance(ref, DataRef):
            return constant
        artifact = context.artifact(ref)
        with located(url=artifact.url, range=f"{ref.start}..{ref.end}"):
            context.limits.require_memory(ref.size, 8)
            payload = unframe(artifact.read(ref.start, ref.end), "AnyValue", context.verify)
            constant = _as_stored(AnyValue.decode(payload), node)
    raise CorruptedData(f"constant_value: expected at most {_MOST_HOPS} references in a row, found more")


def _as_stored(value: AnyValue, node: SchemaNode) -> AnyValue:
    """A time or time span as the number that the column stores. Other values stay as they are."""
    if value.kind == "datetime" and node.basic_type is BasicType.DATETIME:
        return AnyValue("u64", value.value, value.annotation)
    if value.kind == "timespan" and node.basic_type is BasicType.INT64 and node.is_ticks:
        return AnyValue("i64", value.value, value.annotation)
    return value


class ConstantSource(NativeSource):
    """One value for all positions, taken from the descriptor. If buffers are stored as well, they are not read."""

    STORAGE: ClassVar[str] = "constant"

    def __init__(
        self,
        context: ColumnContext,
        node: SchemaNode,
        path: str,
        field: FieldDescriptor,
        encoding: NativeEncoding,
        value: AnyValue,
    ) -> None:
        super().__init__(context, node, path, field, encoding)
        self.constant = value

    @property
    def is_stored(self) -> bool:
        """False: the descriptor holds the value."""
        return False

    def _read(self, rows: Rows, _: Projection) -> ColumnValues:
        assert self.constant is not None
        self._check_end(rows)
        self._context.limits.require_memory(rows.count, self._bits)
        return ConstantValues(rows.count, self.constant)

    @property
    def _bits(self) -> int:
        """How many bits each position takes in memory, at least."""
        value = None if self.constant is None else self.constant.value
        if isinstance(value, str | bytes):
            return 8 * len(value)
        return 8 * int(self.node.dtype[1]) if self.node.basic_type in WIDTHS else 1

    def range_index(self) -> RangeIndex | None:
        """None: a constant needs no range index."""
        return None

    @property
    def block_rows(self) -> int:
        """0: no block is read."""
        return 0

    def prefetch(self) -> Iterator[DataRef]:
        """Nothing: no buffer is read."""
        return iter(())

    def encodings(self) -> Counter[str]:
        """The constant, once."""
        return Counter({"constant": 1})

    def _block_buffers(self) -> Iterator[tuple[BufferKind, BlockBuffer]]:
        return iter(())
