"""How are the values of one field read?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.encoding import (
    BlockBuffer,
    NumberRanges,
    Values,
    Wanted,
    compare_bytes,
    compare_numbers,
    decode_bits,
    decode_dictionary,
    decode_fixed,
    decode_numbers,
    decode_variable,
    describe_binary,
    describe_each,
    describe_numbers,
    require_text,
)
from amudai.errors import AmudaiError, CorruptedData, UnsupportedFeature, located
from amudai.format import (
    AnyValue,
    BufferKind,
    EncodedBuffer,
    NativeEncoding,
    ParquetEncoding,
    StripeFieldDescriptor,
    ValueDictionary,
)
from amudai.lazy import lazy
from amudai.rows import Rows
from amudai.shard.column import Absent, Column, Constant, Joined, Stored
from amudai.shard.projection import Projection
from amudai.types import BYTES, CONTAINERS, WIDTHS, BasicType, SchemaNode, quote_name

if TYPE_CHECKING:
    from amudai.shard.stripe import StripeReader

__all__ = ["FieldReader"]

_NULL: Final = AnyValue("null", None)
_VARIABLE: Final = frozenset({BasicType.STRING, BasicType.BINARY})
# Positions that can be counted and multiplied without a thought of overflow.
_MAX_POSITION: Final = (1 << 62) - 1

U64 = npt.NDArray[np.uint64]


class FieldReader:
    """The values of one schema node in one stripe. Buffers are opened when values are read, and kept open.

    Parameters
    ----------
    path
        The field's name as errors show it.
    positions
        How many positions the parent says there are; None below lists, whose offsets say it.
    """

    def __init__(self, stripe: StripeReader, node: SchemaNode, path: str, positions: int | None) -> None:
        self.stripe = stripe
        self.node = node
        self.path = path
        self._positions = positions
        self._buffers: dict[BufferKind, BlockBuffer] = {}
        self._wholes: dict[BufferKind, memoryview] = {}
        self.probe: object | None = None  # the range index, once somebody who understands it has opened it

    @lazy
    def descriptor(self) -> StripeFieldDescriptor | None:
        """How the field is stored; None where it is not."""
        found = self.stripe.descriptor(self.node)
        if found is not None and self._positions is not None:
            count = found.field.position_count
            # The reference pads the items of a trailing null fixed-size list too little: fewer is readable, as nulls.
            if count != self._positions and not (self._is_padded and count < self._positions):
                raise self._error(f"position_count: expected {self._positions}, found {count}")
        return found

    # Set by the parent, a fixed-size list.
    _is_padded = False

    @property
    def position_count(self) -> int:
        """Positions that are stored."""
        if self.descriptor is not None:
            return self.descriptor.field.position_count
        return self._positions or 0

    @lazy
    def encoding(self) -> NativeEncoding:
        """The buffers of the field: the first way to store it that this version can read."""
        encodings = self.descriptor.encodings if self.descriptor is not None else ()
        for encoding in encodings:
            if isinstance(encoding, NativeEncoding) and not encoding.packed_group:
                return encoding
        if not encodings:
            return NativeEncoding(())
        reason = "a packed group" if isinstance(encodings[0], NativeEncoding) else "an unknown encoding"
        if isinstance(encodings[0], ParquetEncoding):
            reason = "columns of a Parquet file"
        raise UnsupportedFeature(f"stored values: {reason}", url=self._url, stripe=self.stripe.ordinal, field=self.path)

    @lazy
    def constant(self) -> AnyValue | None:
        """The value of all positions, where there is only one."""
        if self.descriptor is None or self.node.basic_type in CONTAINERS:
            return None
        field = self.descriptor.field
        # A dictionary wins over a constant, as it does for the reference.
        if field.dictionary_size is not None:
            return None
        if field.constant_value is not None:
            return field.constant_value
        if field.null_count is not None and field.null_count == field.position_count:
            return _NULL
        return None

    @property
    def has_buffers(self) -> bool:
        """Whether reading the field reads buffers of its own."""
        return self.descriptor is not None and self.constant is None and bool(self.encoding.buffers)

    def child(self, index: int) -> FieldReader:
        """The reader of a field below this one."""
        node = self.node.children[index]
        count: int | None = self.position_count
        match self.node.basic_type:
            case BasicType.FIXED_SIZE_LIST:
                count = self.position_count * self.node.fixed_size
            case BasicType.LIST | BasicType.MAP:
                count = None
            case BasicType.UNION:
                count = None if self.encoding.find(BufferKind.OFFSETS) is not None else count
        # Children of lists and maps have roles, those of unions may have neither name nor role.
        roles = _ROLES.get(self.node.basic_type, ())
        step = quote_name(node.name) or (roles[index] if roles else str(index))
        reader = self.stripe.field(node, f"{self.path}.{step}", count)
        reader._is_padded = self.node.basic_type is BasicType.FIXED_SIZE_LIST
        return reader

    def read(self, ranges: Rows, projection: Projection) -> Column:
        """The values of these positions.

        Raises OverflowError where they hold more bytes or items than 32-bit offsets can count.
        """
        # A missing field is null throughout; a count is known only to parents that have one.
        if self.descriptor is None:
            return Absent(ranges.count)
        try:
            if self.constant is not None:
                self._check_end(ranges)
                return Constant(ranges.count, self.constant)
            return _READ[self.node.basic_type](self, ranges, projection)
        except AmudaiError as error:
            error.locate(stripe=self.stripe.ordinal, field=self.path)
            raise

    def unread_buffers(self) -> Iterator[EncodedBuffer]:
        """The buffers that reading the field will touch and that are not open yet."""
        if self.descriptor is None or self.constant is not None:
            return
        for buffer in self.encoding.buffers:
            if not isinstance(buffer.kind, BufferKind) or buffer.kind is BufferKind.RANGE_INDEX:
                continue
            is_read = buffer.kind in self._buffers or buffer.kind in self._wholes
            # Of two buffers of a kind the first counts.
            if not is_read and self.encoding.find(buffer.kind) is buffer:
                yield buffer

    def keep(self, buffer: EncodedBuffer, whole: memoryview) -> None:
        """Take the bytes of a buffer that was read together with others."""
        self._wholes[BufferKind(buffer.kind)] = whole

    def blocks(self, kind: BufferKind, values: int) -> BlockBuffer | None:
        """A buffer of blocks, opened; None where the field has none of this kind."""
        found = self._buffers.get(kind)
        if found is None:
            descriptor = self.encoding.find(kind)
            if descriptor is None:
                return None
            shard = self.stripe.shard
            found = BlockBuffer(self.stripe.artifact_of(descriptor), descriptor, values, shard.verify, shard.decoded)
            whole = self._wholes.get(kind)
            if whole is not None:
                found.keep(whole)
            found = self._buffers.setdefault(kind, found)
            self._wholes.pop(kind, None)  # only now: another thread may be at the same point
        return found

    def block_buffers(self) -> Iterator[tuple[BufferKind, BlockBuffer]]:
        """Every buffer of blocks that the field has."""
        if self.descriptor is None or self.constant is not None:
            return
        for kind in (BufferKind.DATA, BufferKind.OFFSETS, BufferKind.PRESENCE):
            found = self.blocks(kind, self.values_of(kind))
            if found is not None:
                yield kind, found

    def values_of(self, kind: BufferKind) -> int:
        """How many values a buffer of this kind holds."""
        if kind is BufferKind.PRESENCE or (kind is BufferKind.DATA and self.node.basic_type is BasicType.BOOLEAN):
            return (self.position_count + 7) // 8
        if kind is BufferKind.OFFSETS and self.node.basic_type is not BasicType.UNION:
            return self.position_count + 1
        return self.position_count

    @lazy
    def dictionary(self) -> ValueDictionary | None:
        """The dictionary of the field's values, where there is one."""
        descriptor = self.encoding.find(BufferKind.VALUE_DICTIONARY)
        if descriptor is None or descriptor.buffer is None or self.descriptor is None:
            return None
        artifact, ref = self.stripe.artifact_of(descriptor), descriptor.buffer
        whole = self._wholes.get(BufferKind.VALUE_DICTIONARY)
        with located(url=artifact.url, range=f"{ref.start}..{ref.end}", buffer="VALUE_DICTIONARY"):
            found = ValueDictionary.decode(
                artifact.read(ref.start, ref.end) if whole is None else whole,
                self.node,
                expected_count=self.descriptor.field.dictionary_size,
                verify=self.stripe.shard.verify,
            )
            if self.node.basic_type is BasicType.STRING and found.offsets is not None:
                require_text(found.values, found.offsets)
            return found

    def read_codes(self, ranges: Rows) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_] | None]:
        """The codes of these positions in the field's dictionary, and which of them are not null; None for all."""
        entries = self.dictionary
        assert entries is not None
        with located(stripe=self.stripe.ordinal, field=self.path):
            codes = decode_numbers(self._required(BufferKind.DATA), ranges, "u4", nullable=False).numbers("u4")
            if len(codes) and int(codes.max()) >= entries.value_count:
                raise self._error(f"code: expected less than {entries.value_count}, found {codes.max()}")
            valid = codes != entries.null_id if entries.null_id is not None else None
            bitmap, _ = self._presence(ranges)
            if bitmap is not None:
                bits = np.frombuffer(bitmap, np.uint8)
                present = np.unpackbits(bits, count=len(codes), bitorder="little").view(np.bool_)
                valid = present if valid is None else valid & present
            return codes, valid

    @property
    def is_comparable(self) -> bool:
        """Whether `compare` can be asked: of numbers or bytes in blocks, and of no codes or constants."""
        if self.descriptor is None or not (self.node.basic_type in WIDTHS or self.node.basic_type in BYTES):
            return False
        has_dictionary = self.encoding.find(BufferKind.VALUE_DICTIONARY) is not None
        return self.has_buffers and not has_dictionary and self.descriptor.field.dictionary_size is None

    def compare(self, ranges: Rows, wanted: Wanted, *, inverted: bool) -> npt.NDArray[np.uint8]:
        """A bitmap of these positions: whether their value is wanted or, inverted, is not. A null is neither.

        Values are compared in their blocks and not read.
        """
        with located(url=self._url, stripe=self.stripe.ordinal, field=self.path):
            self._refuse_dictionary()
            data = self._required(BufferKind.DATA)
            if isinstance(wanted, NumberRanges):
                bits = compare_numbers(data, ranges, wanted, inverted=inverted)
            else:
                _, fixed_size = self._form(BufferKind.DATA)
                if fixed_size is None:
                    self._refuse_separate_offsets()
                bits = compare_bytes(data, ranges, wanted, fixed_size=fixed_size, inverted=inverted)
            bitmap, _ = self._presence(ranges)
            return bits if bitmap is None else bits & np.frombuffer(bitmap, np.uint8)[: len(bits)]

    def encodings(self) -> Counter[str]:
        """How the field's values are stored: cascades of the blocks of its main buffer, and in how many blocks each."""
        if self.descriptor is None:
            return Counter({"absent": 1})
        with located(stripe=self.stripe.ordinal, field=self.path):
            if self.constant is not None:
                return Counter({"constant": 1})
            found: Counter[str] = Counter()
            for kind, buffer in self.block_buffers():
                if kind is BufferKind.PRESENCE and self.node.basic_type is BasicType.BOOLEAN:
                    continue
                found.update(self._described(kind, buffer))
            return found

    def block_encodings(self, kind: BufferKind, buffer: BlockBuffer) -> list[str]:
        """How each block of one of `block_buffers` is stored."""
        with located(stripe=self.stripe.ordinal, field=self.path, buffer=kind.name):
            return describe_each(buffer, *self._form(kind))

    def _described(self, kind: BufferKind, buffer: BlockBuffer) -> Counter[str]:
        dtype, size = self._form(kind)
        found = describe_binary(buffer, size) if dtype is None else describe_numbers(buffer, dtype)
        if kind is BufferKind.DATA and self.encoding.find(BufferKind.VALUE_DICTIONARY) is not None:
            return Counter({f"dictionary({plan})": blocks for plan, blocks in found.items()})
        return found

    def _form(self, kind: BufferKind) -> tuple[str | None, int | None]:
        """The type of the numbers in a buffer of this kind; None for bytes, with their size where it is fixed."""
        basic = self.node.basic_type
        if kind is BufferKind.PRESENCE or basic is BasicType.BOOLEAN:
            return "u1", None
        if kind is BufferKind.OFFSETS:
            return "u8", None
        if basic is BasicType.UNION:
            return "u1", None
        if self.encoding.find(BufferKind.VALUE_DICTIONARY) is not None:
            return "u4", None
        if basic in WIDTHS:
            return self.node.dtype, None
        return None, None if basic in _VARIABLE else self.node.fixed_size

    # ---- one way of reading for each kind of type ----

    def _read_unit(self, ranges: Rows, _: Projection) -> Column:
        self._check_end(ranges)
        return Absent(ranges.count)

    def _read_bits(self, ranges: Rows, _: Projection) -> Column:
        self._refuse_dictionary()
        bitmap, _set = decode_bits(self._required(BufferKind.DATA), ranges)
        validity, nulls = self._presence(ranges)
        return Stored(Values(ranges.count, nulls, validity, bitmap))

    def _read_numbers(self, ranges: Rows, _: Projection) -> Column:
        self._refuse_dictionary()
        return Stored(self._merged(decode_numbers(self._required(BufferKind.DATA), ranges, self.node.dtype), ranges))

    def _read_bytes(self, ranges: Rows, projection: Projection) -> Column:
        data = self._required(BufferKind.DATA)
        if self.dictionary is not None:
            values = decode_dictionary(data, ranges, self.dictionary, wide=projection.wide)
        elif self.descriptor is not None and self.descriptor.field.dictionary_size is not None:
            raise self._error("buffers: expected one of kind VALUE_DICTIONARY, found none")
        elif self.node.basic_type in _VARIABLE:
            self._refuse_separate_offsets()
            text = self.node.basic_type is BasicType.STRING
            values = decode_variable(data, ranges, text=text, wide=projection.wide)
        else:
            values = decode_fixed(data, ranges, self.node.fixed_size)
        return Stored(self._merged(values, ranges))

    def _read_struct(self, ranges: Rows, projection: Projection) -> Column:
        self._check_end(ranges)
        validity, nulls = self._presence(ranges)
        return Stored(Values(ranges.count, nulls, validity), self._children(projection, ranges))

    def _read_fixed_list(self, ranges: Rows, projection: Projection) -> Column:
        self._check_end(ranges)
        validity, nulls = self._presence(ranges)
        most = _MAX_POSITION // max(1, self.node.fixed_size)
        if self.position_count > most:
            raise self._error(f"position_count: expected at most {most}, found {self.position_count}")
        values = Values(ranges.count, nulls, validity)
        self._check_padding(ranges, values)
        items = ranges.times(self.node.fixed_size)
        return Stored(values, self._children(projection, items))

    def _read_list(self, ranges: Rows, projection: Projection) -> Column:
        buffer = self._required(BufferKind.OFFSETS)
        # A list needs where it begins and where the next one does.
        fences = Rows.joined(ranges.starts, ranges.ends + np.uint64(1))
        stored = decode_numbers(buffer, fences, "u8", nullable=False)
        self._check_offsets(stored.numbers("u8"), ranges)
        offsets, items = _list_offsets(stored, ranges, projection.wide)
        validity, nulls = self._presence(ranges)
        return Stored(Values(ranges.count, nulls, validity, offsets=offsets), self._children(projection, items))

    def _read_union(self, ranges: Rows, projection: Projection) -> Column:
        kinds = decode_numbers(self._required(BufferKind.DATA), ranges, "u1", nullable=False)
        chosen = kinds.numbers("u1")
        if len(chosen) and int(chosen.max()) >= len(self.node.children):
            raise self._error(f"union variant: expected less than {len(self.node.children)}, found {chosen.max()}")
        buffer = self.blocks(BufferKind.OFFSETS, self.position_count)
        if buffer is None:
            return Stored(kinds, self._children(projection, ranges))
        places = decode_numbers(buffer, ranges, "u8", nullable=False).numbers("u8")
        order = np.empty(len(places), np.int32)
        wanted: dict[int, Rows] = {}
        for index in range(len(self.node.children)):
            mine = chosen == index
            used, inverse = np.unique(places[mine], return_inverse=True)
            if len(used) and int(used[-1]) > _MAX_POSITION:
                raise self._error(f"union offset: expected at most {_MAX_POSITION}, found {used[-1]}")
            order[mine] = inverse
            wanted[index] = Rows.of_positions(used)
        children = self._children(projection, wanted)
        return Stored(Values(kinds.length, 0, None, kinds.data, pa.py_buffer(order)), children)

    # ---- what they share ----

    def _children(self, projection: Projection, ranges: Rows | Mapping[int, Rows]) -> tuple[Column, ...]:
        indexes = {child.schema_id: index for index, child in enumerate(self.node.children)}
        columns = []
        for wanted in projection.children:
            index = indexes[wanted.node.schema_id]
            mine = ranges if isinstance(ranges, Rows) else ranges[index]
            columns.append(self._padded(self.child(index), mine, wanted))
        return tuple(columns)

    def _padded(self, child: FieldReader, ranges: Rows, wanted: Projection) -> Column:
        if child.descriptor is None or ranges.end <= child.position_count or not child._is_padded:
            return child.read(ranges, wanted)
        # Items that the reference did not store are those of trailing null lists.
        stored = child.read(ranges.clip(0, child.position_count), wanted)
        return Joined((stored, Absent(ranges.count - stored.length)))

    def _check_offsets(self, fences: U64, lists: Rows) -> None:
        """Refuse offsets that fall, lead to items that do not exist, or leave some out at either end."""
        if not lists:
            return
        if int(fences.max()) > _MAX_POSITION or (fences[1:] < fences[:-1]).any():
            raise self._error("list offsets: expected an ascending sequence")
        if lists.starts[0] == 0 and fences[0] != 0:
            raise self._error(f"list offsets: expected to begin with 0, found {fences[0]}")
        for child in map(self.child, range(len(self.node.children))):
            count, end = child.position_count, int(fences[-1])
            if child.descriptor is not None and end > count:
                raise self._error(f"list offsets: expected at most {count}, found {end}")
            if child.descriptor is not None and end < count and lists.end == self.position_count:
                raise self._error(f"list offsets: expected to end with {count}, found {end}")

    def _check_padding(self, ranges: Rows, lists: Values) -> None:
        """Refuse lists that are not null although their items are not stored."""
        child = self.child(0)
        if child.descriptor is None or self.node.fixed_size == 0:
            return
        first = child.position_count // self.node.fixed_size
        unstored = ranges.clip(first, max(first, self.position_count)).count
        valid = lists.valid()
        if unstored and (valid is None or valid[-unstored:].any()):
            raise self._error(f"list items: expected those of {self.position_count} lists, found those of {first}")

    def _merged(self, values: Values, ranges: Rows) -> Values:
        """Values with the nulls of a separate PRESENCE buffer, which the book allows beside any values."""
        if self.encoding.find(BufferKind.PRESENCE) is None:
            return values
        validity, nulls = self._presence(ranges)
        if validity is None:
            return values
        if values.validity is not None:
            both = np.frombuffer(validity, np.uint8) & np.frombuffer(values.validity, np.uint8)[: validity.size]
            tail = np.unpackbits(both, count=values.length, bitorder="little")
            validity, nulls = pa.py_buffer(both), values.length - int(tail.sum())
        return Values(values.length, nulls, validity, values.data, values.offsets)

    def _presence(self, ranges: Rows) -> tuple[pa.Buffer | None, int]:
        buffer = self.blocks(BufferKind.PRESENCE, (self.position_count + 7) // 8)
        if buffer is None:
            return None, 0
        bitmap, present = decode_bits(buffer, ranges)
        nulls = ranges.count - present
        return (bitmap, nulls) if nulls else (None, 0)

    def _required(self, kind: BufferKind) -> BlockBuffer:
        found = self.blocks(kind, self.values_of(kind))
        if found is None:
            raise self._error(f"buffers: expected one of kind {kind.name}, found none")
        return found

    def _refuse_dictionary(self) -> None:
        """Refuse codes of a dictionary, which would pass for numbers."""
        sized = self.descriptor is not None and self.descriptor.field.dictionary_size is not None
        if sized or self.encoding.find(BufferKind.VALUE_DICTIONARY) is not None:
            raise UnsupportedFeature(f"dictionary of {self.node} values: not readable by this version")

    def _refuse_separate_offsets(self) -> None:
        data = self.encoding.find(BufferKind.DATA)
        if data is not None and not data.embedded_offsets and self.encoding.find(BufferKind.OFFSETS) is not None:
            raise UnsupportedFeature("strings with separate offsets: not readable by this version")

    def _check_end(self, ranges: Rows) -> None:
        if ranges.end > self.position_count:
            raise self._error(f"positions: expected at most {self.position_count}, found {ranges.end}")

    @property
    def _url(self) -> str:
        return self.stripe.shard.url

    def _error(self, message: str) -> CorruptedData:
        return CorruptedData(message, url=self._url, stripe=self.stripe.ordinal, field=self.path)


def _list_offsets(stored: Values, ranges: Rows, wide: bool) -> tuple[pa.Buffer, Rows]:
    """Arrow's offsets of the lists, and the ranges of their items."""
    dtype = np.dtype(np.int64 if wide else np.int32)
    if not ranges:
        return pa.py_buffer(np.zeros(1, dtype)), Rows.none()
    fences = stored.numbers("u8")
    lengths_of = ranges.ends - ranges.starts
    # Where each range begins among the fences: they are one more than its lists.
    first = np.concatenate(([np.uint64(0)], np.cumsum(lengths_of + np.uint64(1))[:-1])).astype(np.int64)
    last = first + lengths_of.astype(np.int64)
    steps = np.diff(fences.view(np.int64))
    if ranges.num_ranges > 1:
        keep = np.ones(len(steps), np.bool_)
        keep[last[:-1]] = False  # from the end of one range to the start of the next
        steps = steps[keep]
    offsets = np.zeros(len(steps) + 1, np.int64)
    np.cumsum(steps, out=offsets[1:])
    if not wide and int(offsets[-1]) > np.iinfo(np.int32).max:
        raise OverflowError("more items than the offsets of this Arrow type can count")
    return pa.py_buffer(offsets.astype(dtype, copy=False)), Rows.joined(fences[first], fences[last])


_ROLES: Final = {
    BasicType.LIST: ("item",),
    BasicType.FIXED_SIZE_LIST: ("item",),
    BasicType.MAP: ("key", "value"),
}

_READ: Final[dict[BasicType, Callable[[FieldReader, Rows, Projection], Column]]] = {
    BasicType.UNIT: FieldReader._read_unit,
    BasicType.BOOLEAN: FieldReader._read_bits,
    **dict.fromkeys(WIDTHS, FieldReader._read_numbers),
    BasicType.STRING: FieldReader._read_bytes,
    BasicType.BINARY: FieldReader._read_bytes,
    BasicType.FIXED_SIZE_BINARY: FieldReader._read_bytes,
    BasicType.GUID: FieldReader._read_bytes,
    BasicType.STRUCT: FieldReader._read_struct,
    BasicType.FIXED_SIZE_LIST: FieldReader._read_fixed_list,
    BasicType.LIST: FieldReader._read_list,
    BasicType.MAP: FieldReader._read_list,
    BasicType.UNION: FieldReader._read_union,
}
