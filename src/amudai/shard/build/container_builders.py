"""Builders of structs, lists, maps and unions, and the choice of a builder for any schema node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import NumberEncoder, PreparedBuffer
from amudai.format import BufferKind
from amudai.shard.build.field_builder import Bools, FieldBuildContext, FieldBuilder, PresenceEncoder, data_of
from amudai.shard.build.leaf_builders import BooleanBuilder, BytesBuilder, NumberBuilder, UnitBuilder
from amudai.shard.build.nanoseconds import NanosecondsBuilder
from amudai.shard.build.packed import block_ends, extend, packed
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.stored import StoredArray
from amudai.stats import CountCollector, ListCollector
from amudai.types import NANOSECONDS, WIDTHS, BasicType, SchemaNode

__all__ = ["ListBuilder", "StructBuilder", "builder_of"]


class ContainerBuilder(FieldBuilder):
    """The base class for structs, lists, maps and unions: their own nulls, and the fields below them."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        self.children = self._children(context)
        self._presence = PresenceEncoder(context)

    def _children(self, context: FieldBuildContext) -> tuple[FieldBuilder, ...]:
        """The builders of the fields below. Those of them that are members of a group belong to another group."""
        below = replace(context, ends=None)
        return tuple(builder_of(child, below) for child in self.node.children)

    def _finished(self) -> tuple[PreparedField, ...]:
        return tuple(child.finish() for child in self.children)

    def _own(self, *buffers: PreparedBuffer) -> tuple[PreparedBuffer, ...]:
        """The buffers of the field and its nulls; none if its values are in another file."""
        return () if self.is_attached else (*buffers, *self._presence.finish())


class StructBuilder(ContainerBuilder):
    """Structs: each child has one position for each position of the struct. Some children may be a packed group."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        members = context.packed.get(node.schema_id, frozenset())
        self._members = tuple(child.schema_id in members for child in node.children)
        self._ends = block_ends(context.profile, len(members)) if members else None
        super().__init__(node, replace(context, ends=self._ends))

    def _children(self, context: FieldBuildContext) -> tuple[FieldBuilder, ...]:
        below = replace(context, ends=None)
        nodes = zip(self.node.children, self._members, strict=True)
        return tuple(builder_of(child, context if is_member else below) for child, is_member in nodes)

    def append(self, values: StoredArray) -> None:
        """Append values."""
        if self._ends is not None:
            below = zip(values.children, self._members, strict=True)
            extend(self._ends, [each for each, is_member in below if is_member], values.length)
        self.append_structs(values.length, values.valid())
        for child, stored in zip(self.children, values.children, strict=True):
            child.append(stored)

    def append_structs(self, count: int, valid: Bools | None = None) -> None:
        """Append structs without their values. The caller appends those to the children."""
        self._presence.append(count, valid)
        self.count += count

    def append_nulls(self, count: int) -> None:
        """Append `count` nulls."""
        if self._ends is not None:
            extend(self._ends, (), count)
        self.append_structs(count, np.zeros(count, np.bool_))
        for child in self.children:
            child.append_nulls(count)

    def finish(self) -> PreparedField:
        """Finish the field."""
        statistics = CountCollector.of_struct(self.count, self._presence.nulls)
        own, below = self._own(), self._finished()
        members = [field for field, is_member in zip(below, self._members, strict=True) if is_member]
        group = None if self._ends is None else packed(members, self._ends, self.count, own)
        return PreparedField(self.node, statistics, None, None, own, below, group)


class FixedListBuilder(ContainerBuilder):
    """Fixed-size lists: the child has `fixed_size` positions for each list."""

    def append(self, values: StoredArray) -> None:
        """Append values."""
        self._presence.append(values.length, values.valid())
        self.children[0].append(values.children[0])
        self.count += values.length

    def append_nulls(self, count: int) -> None:
        """Append `count` nulls."""
        self._presence.append(count, np.zeros(count, np.bool_))
        self.children[0].append_nulls(count * self.node.fixed_size)
        self.count += count

    def finish(self) -> PreparedField:
        """Finish the field."""
        statistics = CountCollector.of_struct(self.count, self._presence.nulls)
        return PreparedField(self.node, statistics, None, None, self._own(), self._finished())


class ListBuilder(ContainerBuilder):
    """Lists and maps: the offset of each list's items."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        buffer = PreparedBuffer(BufferKind.OFFSETS)
        self._offsets = NumberEncoder("u8", context.profile, context.spool, buffer, context.memory)
        self._offsets.append(np.zeros(1, np.uint64))
        self._end = 0
        self._statistics = ListCollector()

    def append(self, values: StoredArray) -> None:
        """Append values."""
        offsets = np.zeros(1, np.uint64) if values.offsets is None else values.offsets.astype(np.uint64)
        self.append_lists(offsets, values.valid())
        for child, below in zip(self.children, values.children, strict=True):
            child.append(below)

    def append_nulls(self, count: int) -> None:
        """Append `count` nulls."""
        self.append_lists(np.zeros(count + 1, np.uint64), np.zeros(count, np.bool_))

    def append_lists(self, offsets: npt.NDArray[np.uint64], valid: Bools | None = None) -> None:
        """Append lists without their items. The caller appends those to the child, perhaps in several steps."""
        count = len(offsets) - 1
        self._statistics.add(np.diff(offsets), valid)
        self._presence.append(count, valid)
        self._offsets.append(offsets[1:] + np.uint64(self._end))
        self._end += int(offsets[-1])
        self.count += count

    def finish(self) -> PreparedField:
        """Finish the field."""
        buffers = self._own(self._offsets.finish())
        return PreparedField(self.node, self._statistics.finish(), None, None, buffers, self._finished())


class UnionBuilder(ContainerBuilder):
    """Unions: the variant of each position. Dense unions also have the position of the value in its variant."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        super().__init__(node, context)
        self._kinds = NumberEncoder(
            "u1", context.profile, context.spool, PreparedBuffer(BufferKind.DATA), context.memory
        )
        self._places: NumberEncoder | None = None

    def append(self, values: StoredArray) -> None:
        """Append values."""
        kinds = data_of(values)
        if values.offsets is not None:
            if self._places is None:
                buffer = PreparedBuffer(BufferKind.OFFSETS)
                self._places = NumberEncoder(
                    "u8", self.context.profile, self.context.spool, buffer, self.context.memory
                )
            starts = np.array([child.count for child in self.children], np.uint64)
            self._places.append(values.offsets + starts[kinds])
        self._kinds.append(kinds)
        for child, below in zip(self.children, values.children, strict=True):
            child.append(below)
        self.count += values.length

    def append_nulls(self, count: int) -> None:
        """Append `count` nulls: the first variant is null there."""
        if self._places is not None and self.children:
            start = self.children[0].count
            self._places.append(np.arange(start, start + count, dtype=np.uint64))
        self._kinds.append(np.zeros(count, np.uint8))
        for index, child in enumerate(self.children):
            if self._places is None or index == 0:
                child.append_nulls(count)
        self.count += count

    def finish(self) -> PreparedField:
        """Finish the field."""
        kinds = self._kinds.finish()
        places = () if self._places is None else (self._places.finish(),)
        statistics = CountCollector.of_unit(self.count)
        return PreparedField(self.node, statistics, None, None, (kinds, *places), self._finished())


class UnreadBuilder(FieldBuilder):
    """A field whose values are in another file and are not read: positions alone, and nothing about what is below."""

    def append(self, values: StoredArray) -> None:
        """Append positions."""
        self.count += values.length

    def append_nulls(self, count: int) -> None:
        """Append positions."""
        self.count += count

    def finish(self) -> PreparedField:
        """Finish the field."""
        below = tuple(UnreadBuilder(child, self.context).finish() for child in self.node.children)
        return PreparedField(self.node, CountCollector.of_unit(self.count), None, None, (), below)


def builder_of(node: SchemaNode, context: FieldBuildContext) -> FieldBuilder:
    """The builder of a schema node. A profile of its own also holds for the fields below it."""
    if node.schema_id in context.profiles:
        context = replace(context, profile=context.profiles[node.schema_id])
    if node.schema_id in context.unread:
        return UnreadBuilder(node, context)
    if node.internal == NANOSECONDS:
        return NanosecondsBuilder(node, context)
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
