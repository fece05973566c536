"""Builders of fields without children: units, booleans, numbers, strings and other bytes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import (
    BytesBlock,
    BytesEncoder,
    CodedSlots,
    DictionaryEncoder,
    NumberDictionary,
    NumberEncoder,
    PreparedBuffer,
    RangeIndexBuilder,
    ValueSlots,
)
from amudai.errors import InvalidArgument
from amudai.format import AnyValue, BufferKind
from amudai.shard.build.field_builder import (
    BitEncoder,
    Bools,
    FieldBuildContext,
    FieldBuilder,
    PresenceEncoder,
    data_of,
)
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.stored import StoredArray
from amudai.stats import BooleanCollector, BytesCollector, CountCollector, NumberCollector
from amudai.types import BasicType, SchemaNode, bounds_node, decimal128

__all__ = ["BooleanBuilder", "BytesBuilder", "NumberBuilder", "UnitBuilder"]

_NULL: Final = AnyValue("null", None)
_VARIABLE: Final = frozenset({BasicType.STRING, BasicType.BINARY})
# A longer string is not stored as a constant, so that descriptors stay small.
_MAX_CONSTANT: Final = 128
# Values of more bytes go to blocks at once: a dictionary keeps its values in memory, and copies them.
_TOO_LONG: Final = 64 * 1024 * 1024


class UnitBuilder(FieldBuilder):
    """Positions without values."""

    def append(self, values: StoredArray) -> None:
        """Append values."""
        self.count += values.length

    def append_nulls(self, count: int) -> None:
        """Append `count` nulls."""
        self.count += count

    def finish(self) -> PreparedField:
        """Finish the field."""
        return PreparedField(self.node, CountCollector.of_unit(self.count), None, None, ())


class BooleanBuilder(FieldBuilder):
    """Booleans as bits, and their nulls."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        self._data = BitEncoder(context, BufferKind.DATA)
        self._presence = PresenceEncoder(context)
        self._statistics = BooleanCollector(node, **self.sketches())

    def append(self, values: StoredArray) -> None:
        """Append values."""
        bits = np.unpackbits(data_of(values), count=values.length, bitorder="little").view(np.bool_)
        self._take(bits, values.valid())

    def append_nulls(self, count: int) -> None:
        """Append `count` nulls."""
        nothing = np.zeros(count, np.bool_)
        self._take(nothing, nothing)

    def _take(self, bits: Bools, valid: Bools | None) -> None:
        self._statistics.add(bits, valid)
        self.count += len(bits)
        if not self.is_attached:
            self._data.append(bits)
            self._presence.append(len(bits), valid)

    def finish(self) -> PreparedField:
        """Finish the field."""
        data, presence = self._data.finish(), self._presence.finish()
        statistics = self._statistics.finish()
        if self.is_attached:
            return PreparedField(self.node, statistics, None, None, ())
        constant = self._statistics.constant()
        if self.count == 0:
            constant = _NULL
        buffers = () if constant is not None else (data, *presence)
        return PreparedField(self.node, statistics, constant, None, buffers)


class NumberBuilder(FieldBuilder):
    """Integers, floats and times, with a range index, by which a scan skips them."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        buffer = PreparedBuffer(BufferKind.DATA, embedded_presence=True)
        self._data = NumberEncoder(node.dtype, context.profile, context.spool, buffer, context.memory, context.ends)
        self._ranges = context.range_index(node)
        self._statistics = NumberCollector(node, **self.sketches())
        self._dictionary: NumberDictionary | None = None
        if context.profile.extended and not context.profile.plain:
            self._dictionary = NumberDictionary(
                node.dtype, context.profile, context.spool, context.memory, context.ends
            )

    def append(self, values: StoredArray) -> None:
        """Append values."""
        self._take(data_of(values), values.valid())

    def append_nulls(self, count: int) -> None:
        """Append `count` nulls."""
        self._take(np.zeros(count, self.node.dtype), np.zeros(count, np.bool_))

    def _take(self, numbers: npt.NDArray[Any], valid: Bools | None) -> None:
        self._statistics.add(numbers, valid)
        if self._ranges is not None:
            self._ranges.append(numbers, valid)
        if not self.is_attached:
            self._data.append(numbers, valid)
            if self._dictionary is not None:
                self._dictionary.append(numbers, valid)
        self.count += len(numbers)

    def finish(self) -> PreparedField:
        """Finish the field."""
        constant = None if self.is_attached else self._statistics.constant()
        statistics = self._statistics.finish()
        if constant is not None:
            return PreparedField(self.node, statistics, constant, None, ())
        ranges = () if self._ranges is None else (self._ranges.finish(),)
        data: tuple[PreparedBuffer, ...] = () if self.is_attached else (self._data.finish(),)
        size = None
        if self._dictionary is not None and data:
            coded = self._dictionary.finish(self.node, data[0])
            if coded is not None:
                data, size = coded, self._dictionary.size
        buffers = tuple(each for each in (*data, *ranges) if each is not None)
        return PreparedField(self.node, statistics, None, size, buffers)


class BytesBuilder(FieldBuilder):
    """Strings, binaries, GUIDs and decimals: with a dictionary as long as that pays, otherwise in blocks."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        self._fixed = None if node.basic_type in _VARIABLE else node.fixed_size
        self._statistics = BytesCollector(node, few=not context.profile.plain, **self.sketches())
        self._scale: int | None = None  # of Arrow's decimals that are stored as Arrow has them
        self._blocks: BytesEncoder | None = None
        self._dictionary: DictionaryEncoder | None = None
        # For decimals in blocks. The entries of a dictionary tell more than ranges would.
        self._ranges = context.range_index(node) if node.is_decimal else None
        if self.is_attached:
            return
        if context.profile.plain or self._fixed == 0:
            self._blocks = self._block_encoder()
        else:
            self._dictionary = DictionaryEncoder(
                self._fixed, context.profile, context.spool, context.memory, context.ends
            )

    def _block_encoder(self) -> BytesEncoder:
        buffer = PreparedBuffer(BufferKind.DATA, embedded_presence=True, embedded_offsets=True)
        context = self.context
        return BytesEncoder(
            self._fixed,
            context.profile,
            context.spool,
            buffer,
            context.memory,
            context.each,
            context.ends,
            None if self._dictionary is None else self._dictionary.measured,
        )

    def append(self, values: StoredArray) -> None:
        """Append values."""
        self._order_as_decimals(values.scale if values.dictionary is None else values.dictionary.values.scale)
        if values.dictionary is None:
            self._take(ValueSlots(values.offsets, data_of(values), values.length, values.valid(), self._fixed))
            return
        entries = values.dictionary.values
        known = ValueSlots(entries.offsets, data_of(entries), entries.length, None, self._fixed)
        codes = values.dictionary.codes.astype(np.uint32, copy=False)
        self._take(CodedSlots(codes, known, values.valid()))

    def _order_as_decimals(self, scale: int | None) -> None:
        """Order the values as decimals with this scale from now on. Before there were at most nulls."""
        if scale is None or self._scale is not None:
            return
        self._scale = scale
        self._statistics.order_as_decimals(scale)
        if self.count == 0:  # the index counts positions from the first one
            self._ranges = self.context.range_index(bounds_node(self.node))

    def append_nulls(self, count: int) -> None:
        """Append `count` nulls."""
        offsets = np.zeros(count + 1, np.int64) if self._fixed is None else None
        data = np.zeros(count * (self._fixed or 0), np.uint8)
        self._take(ValueSlots(offsets, data, count, np.zeros(count, np.bool_), self._fixed))

    def _take(self, slots: ValueSlots | CodedSlots) -> None:
        count = slots.count
        if count == 0:
            return
        if self._dictionary is not None and _is_too_long(slots):
            self._give_up()
        elif self.count == 0 and self._dictionary is not None and self._dictionary.is_hopeless(slots):
            self._blocks = self._block_encoder()
            self._dictionary = None
        self.count += count
        start = 0
        if self._dictionary is not None:
            start = self._dictionary.append(slots)
            if start < count or not self._dictionary.pays():
                self._give_up()
        if start < count and self._dictionary is None:
            rest = slots.part(start, count)
            self._statistics.add(rest.offsets, rest.data, rest.count, rest.valid)
            self._append_block(rest)

    def _give_up(self) -> None:
        """Give up the dictionary, because of too many distinct values: encode its values and all others in blocks."""
        assert self._dictionary is not None
        self._statistics.add_entries(*self._dictionary.entries())
        self._blocks = self._block_encoder()
        for values in self._dictionary.replay():
            self._append_block(values)
        self._dictionary = None

    def _append_block(self, values: BytesBlock) -> None:
        if self._ranges is not None:
            self._append_ranges(self._ranges, values)
        if self._blocks is not None:
            self._blocks.append(values.offsets, values.data, values.count, values.valid)

    def _append_ranges(self, ranges: RangeIndexBuilder, values: BytesBlock) -> None:
        data = values.data
        if self._scale is not None:
            rows = data[: values.count * self.node.fixed_size].reshape(values.count, self.node.fixed_size)
            try:
                data = decimal128.from_unscaled(rows, self._scale, valid=values.valid).reshape(-1)
            except InvalidArgument:
                self._ranges = None  # a value with more than 34 digits, which no bound can state
                return
        ranges.append(data, values.valid)

    def finish(self) -> PreparedField:
        """Finish the field."""
        if self._dictionary is not None and (self.count == 0 or not self._dictionary.pays(final=True)):
            self._give_up()
        if self._dictionary is not None:
            self._statistics.add_entries(*self._dictionary.entries())
        if self.is_attached:
            known = None if self._ranges is None else self._ranges.finish()
            return PreparedField(self.node, self._statistics.finish(), None, None, () if known is None else (known,))
        statistics, constant = self._statistics.finish(), self._statistics.constant(_MAX_CONSTANT)
        if constant is not None:
            return PreparedField(self.node, statistics, constant, None, ())
        if self._dictionary is not None:
            codes, dictionary = self._dictionary.finish(self.node)
            return PreparedField(self.node, statistics, None, self._dictionary.size, (codes, dictionary))
        assert self._blocks is not None
        ranges = None if self._ranges is None else self._ranges.finish()
        buffers = (self._blocks.finish(), self._blocks.dictionary(), ranges)
        return PreparedField(self.node, statistics, None, None, tuple(each for each in buffers if each is not None))


def _is_too_long(slots: ValueSlots | CodedSlots) -> bool:
    """Whether one of the values is too long for a dictionary. Values that came with a dictionary never are."""
    if isinstance(slots, CodedSlots) or slots.offsets is None:
        return False
    first, last = int(slots.offsets[0]), int(slots.offsets[slots.count])
    return last - first > _TOO_LONG and int(np.diff(slots.offsets[: slots.count + 1]).max()) > _TOO_LONG
