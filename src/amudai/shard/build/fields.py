"""How does a field take values in?

One builder for each kind of schema node, all with the same verbs: `append` takes the stored form of an Arrow array,
`append_nulls` fills positions that have no values, `finish` gives the prepared field.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import (
    ROOM,
    BytesEncoder,
    CodedSlots,
    DictionaryEncoder,
    NumberEncoder,
    PreparedBuffer,
    Profile,
    RangeIndexBuilder,
    Room,
    ValueSlots,
)
from amudai.format import AnyValue, BufferKind
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.stored import StoredArray
from amudai.stats import BooleanCollector, BytesCollector, CountCollector, ListCollector, NumberCollector
from amudai.storage import Spool
from amudai.types import WIDTHS, BasicType, SchemaNode

__all__ = ["FieldBuildContext", "FieldBuilder", "ListBuilder", "StructBuilder", "builder_of"]

Bools = npt.NDArray[np.bool_]

_NULL: Final = AnyValue("null", None)
_VARIABLE: Final = frozenset({BasicType.STRING, BasicType.BINARY})
_PENDING: Final = 1 << 17  # positions that are made up at once
# A string longer than this is no constant: statistics stay small.
_MAX_CONSTANT: Final = 128


@dataclass(frozen=True, slots=True)
class FieldBuildContext:
    """What all builders of a stripe share."""

    profile: Profile
    spool: Spool
    bloom: frozenset[int]  # schema ids whose Bloom filter is wanted whatever it costs
    room: Room = ROOM  # what each may hold

    def range_index(self, node: SchemaNode) -> RangeIndexBuilder | None:
        """Begin the range index of a field, where the profile wants one."""
        profile = self.profile
        return RangeIndexBuilder(node, profile.zstd_levels[:1], profile.price) if profile.range_index else None


class FieldBuilder(ABC):
    """Builds one field of a stripe."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        self.node = node
        self.context = context
        self.count = 0

    @abstractmethod
    def append(self, values: StoredArray) -> None:
        """Take values."""

    @abstractmethod
    def append_nulls(self, count: int) -> None:
        """Take positions without values."""

    @abstractmethod
    def finish(self) -> PreparedField:
        """End the field."""

    def fill(self, count: int) -> None:
        """Nulls up to `count` positions."""
        if count > self.count:
            self.append_nulls(count - self.count)


class _Presence:
    """The PRESENCE buffer of a field, which exists only where something is null."""

    def __init__(self, context: FieldBuildContext) -> None:
        self._encoder = BitEncoder(context, BufferKind.PRESENCE)
        self._pending = 0  # positions so far, all present: nothing is written before the first null
        self.nulls = 0

    def append(self, count: int, valid: Bools | None) -> None:
        nulls = 0 if valid is None else count - int(np.count_nonzero(valid))
        if nulls == 0 and self.nulls == 0:
            self._pending += count
            return
        while self._pending:
            some = min(self._pending, _PENDING)
            self._encoder.append(np.ones(some, np.bool_))
            self._pending -= some
        self.nulls += nulls
        self._encoder.append(np.ones(count, np.bool_) if valid is None else valid)

    def finish(self) -> tuple[PreparedBuffer, ...]:
        return (self._encoder.finish(),) if self.nulls else ()


class BitEncoder:
    """Bits in, blocks of packed bytes out."""

    def __init__(self, context: FieldBuildContext, kind: BufferKind) -> None:
        self._encoder = NumberEncoder("u1", context.profile, context.spool, PreparedBuffer(kind), context.room)
        self._odd = np.empty(0, np.bool_)  # bits that do not fill a byte yet

    def append(self, bits: Bools) -> None:
        """Take bits."""
        bits = np.concatenate((self._odd, bits)) if len(self._odd) else bits
        whole = len(bits) // 8 * 8
        if whole:
            self._encoder.append(np.packbits(bits[:whole], bitorder="little"))
        self._odd = bits[whole:].copy()

    def finish(self) -> PreparedBuffer:
        """Write what is left."""
        if len(self._odd):
            self._encoder.append(np.packbits(self._odd, bitorder="little"))
        return self._encoder.finish()


class UnitBuilder(FieldBuilder):
    """Positions without values."""

    def append(self, values: StoredArray) -> None:
        """Take values."""
        self.count += values.length

    def append_nulls(self, count: int) -> None:
        """Take positions without values."""
        self.count += count

    def finish(self) -> PreparedField:
        """End the field."""
        return PreparedField(self.node, CountCollector.of_unit(self.count), None, None, ())


class BooleanBuilder(FieldBuilder):
    """Bits, and where nulls are."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        self._data = BitEncoder(context, BufferKind.DATA)
        self._presence = _Presence(context)
        self._statistics = BooleanCollector()

    def append(self, values: StoredArray) -> None:
        """Take values."""
        bits = np.unpackbits(_data(values), count=values.length, bitorder="little").view(np.bool_)
        self._take(bits, values.valid())

    def append_nulls(self, count: int) -> None:
        """Take positions without values."""
        nothing = np.zeros(count, np.bool_)
        self._take(nothing, nothing)

    def _take(self, bits: Bools, valid: Bools | None) -> None:
        self._statistics.add(bits, valid)
        self._data.append(bits)
        self._presence.append(len(bits), valid)
        self.count += len(bits)

    def finish(self) -> PreparedField:
        """End the field."""
        data, presence = self._data.finish(), self._presence.finish()
        statistics = self._statistics.finish()
        constant = self._statistics.constant()
        if self.count == 0:
            constant = _NULL
        buffers = () if constant is not None else (data, *presence)
        return PreparedField(self.node, statistics, constant, None, buffers)


class NumberBuilder(FieldBuilder):
    """Integers, floats and times, with the range index that lets a scan skip them."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        buffer = PreparedBuffer(BufferKind.DATA, embedded_presence=True)
        self._data = NumberEncoder(node.dtype, context.profile, context.spool, buffer, context.room)
        self._ranges = context.range_index(node)
        self._statistics = NumberCollector(node)

    def append(self, values: StoredArray) -> None:
        """Take values."""
        self._take(_data(values), values.valid())

    def append_nulls(self, count: int) -> None:
        """Take positions without values."""
        self._take(np.zeros(count, self.node.dtype), np.zeros(count, np.bool_))

    def _take(self, numbers: npt.NDArray[Any], valid: Bools | None) -> None:
        self._statistics.add(numbers, valid)
        if self._ranges is not None:
            self._ranges.append(numbers, valid)
        self._data.append(numbers, valid)
        self.count += len(numbers)

    def finish(self) -> PreparedField:
        """End the field."""
        data = self._data.finish()
        constant = self._statistics.constant()
        statistics = self._statistics.finish()
        if constant is not None:
            return PreparedField(self.node, statistics, constant, None, ())
        ranges = None if self._ranges is None else self._ranges.finish()
        return PreparedField(self.node, statistics, None, None, (data,) if ranges is None else (data, ranges))


class BytesBuilder(FieldBuilder):
    """Strings, binaries, Guids, decimals: by a dictionary while that pays, else in blocks of their own."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        self._fixed = None if node.basic_type in _VARIABLE else node.fixed_size
        self._statistics = BytesCollector(node, bloom=not context.profile.plain, forced=node.schema_id in context.bloom)
        self._blocks: BytesEncoder | None = None
        self._dictionary: DictionaryEncoder | None = None
        if context.profile.plain or node.is_decimal or self._fixed == 0:
            self._blocks = self._block_encoder()
        else:
            self._dictionary = DictionaryEncoder(self._fixed, context.profile, context.spool, context.room)
        self._ranges = context.range_index(node) if node.is_decimal else None

    def _block_encoder(self) -> BytesEncoder:
        buffer = PreparedBuffer(BufferKind.DATA, embedded_presence=True, embedded_offsets=True)
        return BytesEncoder(self._fixed, self.context.profile, self.context.spool, buffer, self.context.room)

    def append(self, values: StoredArray) -> None:
        """Take values."""
        if values.dictionary is None:
            self._take(ValueSlots(values.offsets, _data(values), values.length, values.valid(), self._fixed))
            return
        entries = values.dictionary.values
        known = ValueSlots(entries.offsets, _data(entries), entries.length, None, self._fixed)
        codes = values.dictionary.codes.astype(np.uint32, copy=False)
        self._take(CodedSlots(codes, known, values.valid()))

    def append_nulls(self, count: int) -> None:
        """Take positions without values."""
        offsets = np.zeros(count + 1, np.int64) if self._fixed is None else None
        data = np.zeros(count * (self._fixed or 0), np.uint8)
        self._take(ValueSlots(offsets, data, count, np.zeros(count, np.bool_), self._fixed))

    def _take(self, slots: ValueSlots | CodedSlots) -> None:
        count = slots.count
        if count == 0:
            return
        if self._ranges is not None:
            decimals = slots.part(0, count)
            self._ranges.append(decimals.data, decimals.valid)
        if self.count == 0 and self._dictionary is not None and self._dictionary.is_hopeless(slots):
            self._dictionary, self._blocks = None, self._block_encoder()
        self.count += count
        start = 0
        if self._dictionary is not None:
            start = self._dictionary.append(slots)
            if start < count or not self._dictionary.pays():
                self._give_up()
        if start < count and self._blocks is not None:
            rest = slots.part(start, count)
            self._statistics.add(rest.offsets, rest.data, rest.count, rest.valid)
            self._blocks.append(rest.offsets, rest.data, rest.count, rest.valid)

    def _give_up(self) -> None:
        """Too many different values: what the dictionary took goes into blocks, and so does the rest."""
        assert self._dictionary is not None
        self._statistics.add_entries(*self._dictionary.entries())
        self._blocks = self._block_encoder()
        self._dictionary.replay(self._blocks)
        self._dictionary = None

    def finish(self) -> PreparedField:
        """End the field."""
        if self._dictionary is not None and (self.count == 0 or not self._dictionary.pays(final=True)):
            self._give_up()
        if self._dictionary is not None:
            self._statistics.add_entries(*self._dictionary.entries())
        statistics, constant = self._statistics.finish(), self._statistics.constant(_MAX_CONSTANT)
        if constant is not None:
            return PreparedField(self.node, statistics, constant, None, ())
        if self._dictionary is not None:
            codes, dictionary = self._dictionary.finish(self.node)
            return PreparedField(self.node, statistics, None, self._dictionary.size, (codes, dictionary))
        assert self._blocks is not None
        data = self._blocks.finish()
        ranges = None if self._ranges is None else self._ranges.finish()
        return PreparedField(self.node, statistics, None, None, (data,) if ranges is None else (data, ranges))


class ContainerBuilder(FieldBuilder):
    """What structs, lists, maps and unions share: nulls of their own, and fields below."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        self.children = tuple(builder_of(child, context) for child in node.children)
        self._presence = _Presence(context)

    def _finished(self) -> tuple[PreparedField, ...]:
        return tuple(child.finish() for child in self.children)


class StructBuilder(ContainerBuilder):
    """Children with one position for each of its own."""

    def append(self, values: StoredArray) -> None:
        """Take values."""
        self.append_structs(values.length, values.valid())
        for child, below in zip(self.children, values.children, strict=True):
            child.append(below)

    def append_structs(self, count: int, valid: Bools | None = None) -> None:
        """Take structs without their values: those go to the children."""
        self._presence.append(count, valid)
        self.count += count

    def append_nulls(self, count: int) -> None:
        """Take positions without values."""
        self.append_structs(count, np.zeros(count, np.bool_))
        for child in self.children:
            child.append_nulls(count)

    def finish(self) -> PreparedField:
        """End the field."""
        statistics = CountCollector.of_struct(self.count, self._presence.nulls)
        return PreparedField(self.node, statistics, None, None, self._presence.finish(), self._finished())


class FixedListBuilder(ContainerBuilder):
    """A child with `fixed_size` positions for each of its own."""

    def append(self, values: StoredArray) -> None:
        """Take values."""
        self._presence.append(values.length, values.valid())
        self.children[0].append(values.children[0])
        self.count += values.length

    def append_nulls(self, count: int) -> None:
        """Take positions without values."""
        self._presence.append(count, np.zeros(count, np.bool_))
        self.children[0].append_nulls(count * self.node.fixed_size)
        self.count += count

    def finish(self) -> PreparedField:
        """End the field."""
        statistics = CountCollector.of_struct(self.count, self._presence.nulls)
        return PreparedField(self.node, statistics, None, None, self._presence.finish(), self._finished())


class ListBuilder(ContainerBuilder):
    """Lists and maps: where each begins among the items."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        buffer = PreparedBuffer(BufferKind.OFFSETS)
        self._offsets = NumberEncoder("u8", context.profile, context.spool, buffer, context.room)
        self._offsets.append(np.zeros(1, np.uint64))
        self._end = 0
        self._statistics = ListCollector()

    def append(self, values: StoredArray) -> None:
        """Take values."""
        offsets = np.zeros(1, np.uint64) if values.offsets is None else values.offsets.astype(np.uint64)
        self.append_lists(offsets, values.valid())
        for child, below in zip(self.children, values.children, strict=True):
            child.append(below)

    def append_nulls(self, count: int) -> None:
        """Take positions without values."""
        self.append_lists(np.zeros(count + 1, np.uint64), np.zeros(count, np.bool_))

    def append_lists(self, offsets: npt.NDArray[np.uint64], valid: Bools | None = None) -> None:
        """Take lists without their items: those go to the child, and may do so in pieces."""
        count = len(offsets) - 1
        self._statistics.add(np.diff(offsets), valid)
        self._presence.append(count, valid)
        self._offsets.append(offsets[1:] + np.uint64(self._end))
        self._end += int(offsets[-1])
        self.count += count

    def finish(self) -> PreparedField:
        """End the field."""
        buffers = (self._offsets.finish(), *self._presence.finish())
        return PreparedField(self.node, self._statistics.finish(), None, None, buffers, self._finished())


class UnionBuilder(ContainerBuilder):
    """Which variant each position has; variants with positions of the union, or with places of their own."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        self._kinds = NumberEncoder("u1", context.profile, context.spool, PreparedBuffer(BufferKind.DATA), context.room)
        self._places: NumberEncoder | None = None

    def append(self, values: StoredArray) -> None:
        """Take values."""
        kinds = _data(values)
        if values.offsets is not None:
            if self._places is None:
                buffer = PreparedBuffer(BufferKind.OFFSETS)
                self._places = NumberEncoder("u8", self.context.profile, self.context.spool, buffer, self.context.room)
            starts = np.array([child.count for child in self.children], np.uint64)
            self._places.append(values.offsets + starts[kinds])
        self._kinds.append(kinds)
        for child, below in zip(self.children, values.children, strict=True):
            child.append(below)
        self.count += values.length

    def append_nulls(self, count: int) -> None:
        """Take positions without values: the first variant is null there."""
        if self._places is not None and self.children:
            start = self.children[0].count
            self._places.append(np.arange(start, start + count, dtype=np.uint64))
        self._kinds.append(np.zeros(count, np.uint8))
        for index, child in enumerate(self.children):
            if self._places is None or index == 0:
                child.append_nulls(count)
        self.count += count

    def finish(self) -> PreparedField:
        """End the field."""
        kinds = self._kinds.finish()
        places = () if self._places is None else (self._places.finish(),)
        statistics = CountCollector.of_unit(self.count)
        return PreparedField(self.node, statistics, None, None, (kinds, *places), self._finished())


def _data(values: StoredArray) -> npt.NDArray[Any]:
    return np.empty(0, np.uint8) if values.data is None else values.data


def builder_of(node: SchemaNode, context: FieldBuildContext) -> FieldBuilder:
    """The builder of a schema node."""
    return _BUILDERS[node.basic_type](node, context)


_BUILDERS: Final[dict[BasicType, Callable[[SchemaNode, FieldBuildContext], FieldBuilder]]] = {
    BasicType.UNIT: UnitBuilder,
    BasicType.BOOLEAN: BooleanBuilder,
    **dict.fromkeys(WIDTHS, NumberBuilder),
    BasicType.STRING: BytesBuilder,
    BasicType.BINARY: BytesBuilder,
    BasicType.FIXED_SIZE_BINARY: BytesBuilder,
    BasicType.GUID: BytesBuilder,
    BasicType.STRUCT: StructBuilder,
    BasicType.FIXED_SIZE_LIST: FixedListBuilder,
    BasicType.LIST: ListBuilder,
    BasicType.MAP: ListBuilder,
    BasicType.UNION: UnionBuilder,
}
