"""Columns stored as codes of a dictionary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.column.column_values import ColumnValues, CountedValues, StoredValues, ViewedValues
from amudai.column.contract import DictionaryCodes
from amudai.column.native import Form, NativeSource
from amudai.column.projection import Projection
from amudai.encoding import (
    BlockBuffer,
    DecimalForm,
    NumberRanges,
    Wanted,
    compare_codes,
    decode_dictionary,
    decode_views,
    require_text,
)
from amudai.errors import InvalidArgument, located
from amudai.format import BufferKind, DataRef, ValueDictionary
from amudai.lazy import lazy
from amudai.rows import Rows
from amudai.types import BasicType, decimal128

__all__ = ["DictionarySource", "NumberDictionarySource"]


class DictionarySource(NativeSource):
    """Strings or binary values as codes of a dictionary."""

    STORAGE: ClassVar[str] = "dictionary"
    REQUIRED: ClassVar[tuple[BufferKind, ...]] = (BufferKind.DATA, BufferKind.VALUE_DICTIONARY)
    CAN_BE_PACKED: ClassVar[bool] = True

    def codes(self) -> DictionaryCodes | None:
        """The dictionary and its codes."""
        return self._codes

    @lazy
    def _codes(self) -> DictionaryCodes:
        return DictionaryCodes(self._entries, self._look_up)

    @lazy
    def _entries(self) -> ValueDictionary:
        buffer = self._buffers[BufferKind.VALUE_DICTIONARY]
        ref = buffer.extent
        if ref is None:
            raise self._error("buffers: expected a VALUE_DICTIONARY with a reference, found none")
        with located(url=self._context.artifact(ref).url, range=f"{ref.start}..{ref.end}", buffer="VALUE_DICTIONARY"):
            found = ValueDictionary.decode(
                self._whole(buffer, ref),
                self.node,
                expected_count=self._field.dictionary_size,
                verify=self._context.verify,
            )
            if self.node.basic_type is BasicType.STRING and found.offsets is not None:
                require_text(found.values, found.offsets)
            return found

    @lazy
    def _entry_bytes(self) -> pa.Buffer:
        """The bytes of all entries, in memory of their own: views may outlive the shard."""
        return pa.py_buffer(bytes(self._entries.values))

    def _data_form(self) -> Form:
        return "u4", None

    def _read(self, rows: Rows, projection: Projection) -> ColumnValues:
        if projection.views:
            viewed = decode_views(self._blocks(BufferKind.DATA), rows, self._entries)
            if viewed is not None:
                return ViewedValues(self._with_presence(viewed, rows), self._entry_bytes)
        if projection.decimals is not None and BufferKind.PRESENCE not in self._buffers:
            entries = self._unscaled(projection.decimals, rows)
            if entries is not None:
                return CountedValues(decode_dictionary(self._blocks(BufferKind.DATA), rows, entries, wide=False))
        values = decode_dictionary(self._blocks(BufferKind.DATA), rows, self._entries, wide=projection.wide)
        return StoredValues(self._with_presence(values, rows))

    def _unscaled(self, form: DecimalForm, rows: Rows) -> ValueDictionary | None:
        """The dictionary of decimals with its entries in Arrow's form; None if the rows must be converted instead.

        That is so if an entry does not fit: perhaps no row has it, and if one does, its position belongs to the error.
        """
        entries = self._entries
        if entries.value_count > rows.count or len(entries.values) != decimal128.SIZE * entries.value_count:
            return None
        valid = None
        if entries.null_id is not None:
            valid = np.ones(entries.value_count, np.bool_)
            valid[entries.null_id] = False
        try:
            unscaled = decimal128.to_unscaled(
                entries.values, form.scale, form.width, precision=form.precision, valid=valid
            )
        except InvalidArgument:
            return None
        return replace(entries, values=unscaled.reshape(-1).data, fixed_value_size=form.width)

    def _look_up(self, rows: Rows, answers: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
        with self.place():
            bits = compare_codes(self._blocks(BufferKind.DATA), rows, answers)
            bitmap, _ = self._presence(rows)
            return bits if bitmap is None else bits & np.frombuffer(bitmap, np.uint8)[: len(bits)]

    def prefetch(self) -> Iterator[DataRef]:
        """The buffers that reading the column needs and that have not been read yet."""
        known = self._buffers[BufferKind.VALUE_DICTIONARY].extent if "_entries" in self.__dict__ else None
        return (ref for ref in super().prefetch() if ref != known)

    def _cascades(self, kind: BufferKind, buffer: BlockBuffer) -> Counter[str]:
        found = super()._cascades(kind, buffer)
        if kind is not BufferKind.DATA:
            return found
        return Counter({f"dictionary({cascade})": blocks for cascade, blocks in found.items()})


class NumberDictionarySource(DictionarySource):
    """Numbers or times as codes of a dictionary. They are compared by their codes."""

    def codes(self) -> DictionaryCodes | None:
        """None: questions about numbers are answered by `compare`. The entries are read, and checked."""
        _ = self._entries
        return None

    def compare(self, wanted: Wanted, rows: Rows, *, inverted: bool) -> npt.NDArray[np.uint8] | None:
        """A bitmap of the rows whose value is in `wanted` or, if `inverted`, is not."""
        if not isinstance(wanted, NumberRanges):
            return None
        with self.place():
            entries = np.frombuffer(self._entries.values, self.node.dtype)
            answers = np.zeros(len(entries), np.bool_)
            for low, high in zip(wanted.low, wanted.high, strict=True):
                answers |= (entries >= low) & (entries <= high)
            if inverted:
                answers = ~answers
            if self._entries.null_id is not None:
                answers[self._entries.null_id] = False
            return self._look_up(rows, answers)
