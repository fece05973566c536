"""Collectors of the statistics of a field while its values are written."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.format import (
    AnyValue,
    BinaryStats,
    BooleanStats,
    DecimalStats,
    FloatingStats,
    ListStats,
    RangeStats,
    StringStats,
    TypeStats,
    ValueKind,
)
from amudai.stats.byte_bounds import ByteBounds
from amudai.stats.decimal_bounds import DecimalBounds
from amudai.stats.field import FieldStatistics
from amudai.stats.sketching import BloomRequest, ValueSketches
from amudai.types import BasicType, SchemaNode, decimal128

__all__ = ["BooleanCollector", "BytesCollector", "CountCollector", "ListCollector", "NumberCollector"]

Bools = npt.NDArray[np.bool_]

_NULL: Final = AnyValue("null", None)
_DECIMAL: Final = ("zero_count", "positive_count", "negative_count", "nan_count")
_FLOATING: Final = (*_DECIMAL, "positive_infinity_count", "negative_infinity_count")
# Booleans are hashed as the digits 1 and 0, as hash indexes do.
_DIGITS: Final = np.frombuffer(b"10", np.uint8)
_MAX_COMPARED: Final = 64 * 1024  # bytes: a longer value is too long to be a constant


class CountCollector:
    """Statistics of fields that have only positions and nulls."""

    @staticmethod
    def of_unit(count: int) -> FieldStatistics:
        """A field without values: positions alone."""
        return FieldStatistics(position_count=count)

    @staticmethod
    def of_struct(count: int, nulls: int) -> FieldStatistics:
        """A struct or fixed-size list."""
        raw = (count + 7) // 8 if 0 < nulls < count else 0
        return FieldStatistics(position_count=count, null_count=nulls, raw_data_size=raw)


class _Counting:
    """What all collectors count."""

    def __init__(self) -> None:
        self.count = self.nulls = 0
        self._sketches: ValueSketches | None = None

    def _sketched(self, exact: int | None) -> dict[str, Any]:
        """What is known about distinct values. `exact` is their number if it is known."""
        if self._sketches is None or self.nulls == self.count:
            return {}
        return {"cardinality": self._sketches.cardinality(exact), "bloom_filter": self._sketches.filter()}

    def _note(self, count: int, valid: Bools | None) -> int:
        """Count positions; return how many of them are valid."""
        present = count if valid is None else int(np.count_nonzero(valid))
        self.count += count
        self.nulls += count - present
        return present

    def _finished(self, values_size: int, **known: Any) -> FieldStatistics:
        size = 0
        if self.count > 0 and self.nulls < self.count:
            size = values_size + ((self.count + 7) // 8 if self.nulls else 0)
        return FieldStatistics(position_count=self.count, null_count=self.nulls, raw_data_size=size, **known)


class BooleanCollector(_Counting):
    """Counts of true and false."""

    def __init__(self, node: SchemaNode, *, distinct: bool = False, bloom: BloomRequest | None = None) -> None:
        super().__init__()
        self._true = 0
        if distinct or bloom is not None:
            self._sketches = ValueSketches(node, 1, distinct=distinct, few=False, request=bloom)

    def add(self, bits: Bools, valid: Bools | None) -> None:
        """Add values."""
        self._note(len(bits), valid)
        self._true += int(np.count_nonzero(bits if valid is None else bits & valid))

    def finish(self) -> FieldStatistics:
        """The statistics of all values added."""
        stats = BooleanStats(true_count=self._true, false_count=self.count - self.nulls - self._true)
        found = _DIGITS[[bool(self._true), bool(stats.false_count)]]
        if self._sketches is not None:
            self._sketches.add(None, found, len(found), None)
        return self._finished((self.count + 7) // 8, type_stats=stats, **self._sketched(len(found)))

    def constant(self) -> AnyValue | None:
        """The value of all positions, if there is only one."""
        if self.count and self.nulls == self.count:
            return _NULL
        if self.count and self.nulls == 0 and self._true in (0, self.count):
            return AnyValue("bool", self._true > 0)
        return None


class NumberCollector(_Counting):
    """Smallest and largest number; for floats also how many of each kind."""

    def __init__(self, node: SchemaNode, *, distinct: bool = False, bloom: BloomRequest | None = None) -> None:
        super().__init__()
        self._node = node
        if distinct or bloom is not None:
            size = int(node.dtype[1])
            self._sketches = ValueSketches(node, size, distinct=distinct, few=False, request=bloom)
        self._float = node.dtype[0] == "f"
        self._kind: ValueKind = "double" if self._float else ("i64" if node.dtype[0] == "i" else "u64")
        self._low: Any = None
        self._high: Any = None
        self._first: bytes | None = None
        self._same = True  # whether all values have the same bits
        self._floating = np.zeros(6, np.int64)

    def add(self, numbers: npt.NDArray[Any], valid: Bools | None) -> None:
        """Add values."""
        if self._note(len(numbers), valid) == 0:
            return
        sound = numbers if valid is None else numbers[valid]
        if self._sketches is not None:
            self._sketches.add(None, np.ascontiguousarray(sound).view(np.uint8), len(sound), None)
        if self._same:
            bits = sound.view(f"u{sound.dtype.itemsize}")
            if self._first is None:
                self._first = bits[:1].tobytes()
            self._same = bool((bits == np.frombuffer(self._first, bits.dtype)[0]).all())
        if self._float:
            sound = self._count_floats(sound)
            if len(sound) == 0:
                return
        low, high = sound.min(), sound.max()
        if self._low is None or low < self._low:
            self._low = low
        if self._high is None or high > self._high:
            self._high = high

    def _count_floats(self, sound: npt.NDArray[Any]) -> npt.NDArray[Any]:
        nan = np.isnan(sound)
        missing = int(np.count_nonzero(nan))
        if missing:
            sound = sound[~nan]
        above, below = int(np.count_nonzero(sound == np.inf)), int(np.count_nonzero(sound == -np.inf))
        positive, negative = int(np.count_nonzero(sound > 0)), int(np.count_nonzero(sound < 0))
        zero = len(sound) - positive - negative
        self._floating += (zero, positive - above, negative - below, missing, above, below)
        return sound

    def finish(self) -> FieldStatistics:
        """The statistics of all values added."""
        low = None if self._low is None else AnyValue(self._kind, self._low.item())
        high = None if self._high is None else AnyValue(self._kind, self._high.item())
        stats: TypeStats | None = (
            FloatingStats(**dict(zip(_FLOATING, self._floating.tolist(), strict=True))) if self._float else None
        )
        size = (self.count - self.nulls) * int(self._node.dtype[1])
        known = self._sketched(1 if self._same else None)
        return self._finished(size, range_stats=RangeStats(min=low, max=high), type_stats=stats, **known)

    def constant(self) -> AnyValue | None:
        """The value of all positions, if all have the same bits. Never a NaN: a double cannot keep its payload."""
        if self.count and self.nulls == self.count:
            return _NULL
        if self.count == 0 or self.nulls or not self._same or self._first is None:
            return None
        value = np.frombuffer(self._first, self._node.dtype)[0]
        return None if self._float and np.isnan(value) else AnyValue(self._kind, value.item())


class BytesCollector(_Counting):
    """Lengths, bounds, the number of distinct values and, if they are few or it was requested, a Bloom filter of them.

    Parameters
    ----------
    few
        Whether there is a filter if there are few distinct values, even without a request.
    distinct
        Whether distinct values are counted, exactly if a dictionary tells their number. Without this, those of decimals
        are not counted, and those of others are estimated, as other writers do.
    """

    def __init__(
        self,
        node: SchemaNode,
        *,
        few: bool,
        distinct: bool = False,
        bloom: BloomRequest | None = None,
    ) -> None:
        super().__init__()
        self._node = node
        self._fixed = None if node.basic_type in (BasicType.STRING, BasicType.BINARY) else node.fixed_size
        self._total = self._max = self._ascii = 0
        self._min: int | None = None
        self._min_filled: int | None = None
        few = (few or node.basic_type is BasicType.GUID) and not node.is_decimal
        self._is_exact = distinct
        counted = distinct or not node.is_decimal
        if counted or few or bloom is not None:
            self._sketches = ValueSketches(node, self._fixed, distinct=counted, few=few, request=bloom)
        self._first: bytes | None = None
        self._same = True
        self._entries: int | None = 0  # distinct values, if they are known
        self._decimals = _DecimalCollector() if node.is_decimal else None
        self._bounds: ByteBounds | DecimalBounds | None = None if node.is_decimal else ByteBounds(node)

    def order_as_decimals(self, scale: int) -> None:
        """Note that values are Arrow's decimals, as Arrow stores them. There must not be any value yet."""
        self._bounds = DecimalBounds(self._node.fixed_size, scale)

    def add(
        self, offsets: npt.NDArray[Any] | None, data: npt.NDArray[np.uint8], count: int, valid: Bools | None
    ) -> None:
        """Add values. Null values are empty, or zero bytes of the fixed size."""
        if self._note(count, valid) == 0:
            return
        bits = None if valid is None or valid.all() else np.packbits(valid, bitorder="little")
        self._compare(offsets, data, count)
        self._entries = None
        if self._decimals is not None:
            self._decimals.add(data, valid)
            self._sketch(offsets, data, count, bits)
            return
        if self._fixed is None:
            total, least, least_filled, most, ascii_count = _kernels.text_stats(offsets, data, None, bits, 0, count)
            self._ascii += ascii_count
        else:
            present = count if valid is None else int(np.count_nonzero(valid))
            total, least, most = present * self._fixed, self._fixed, self._fixed
            least_filled = self._fixed if self._fixed else -1
        self._total += total
        self._min = least if self._min is None else min(self._min, least)
        if least_filled >= 0:
            self._min_filled = least_filled if self._min_filled is None else min(self._min_filled, least_filled)
        self._max = max(self._max, most)
        self._sketch(offsets, data, count, bits)

    def add_entries(
        self,
        offsets: npt.NDArray[np.int64] | None,
        data: npt.NDArray[np.uint8],
        times: npt.NDArray[np.uint64],
        null: int | None,
    ) -> None:
        """Add distinct values that occur `times` times each. `null` is the entry that stands for null."""
        entries = len(times)
        valid = np.ones(entries, np.bool_)
        if null is not None:
            valid[null] = False
        nulls = 0 if null is None else int(times[null])
        self.count += int(times.sum())
        self.nulls += nulls
        if not valid.any():
            return
        self._same = entries == 1
        if self._entries is not None:
            self._entries = int(np.count_nonzero(times[valid]))
        bits = None if null is None else np.packbits(valid, bitorder="little")
        if self._decimals is not None:
            self._first = data[: decimal128.SIZE].tobytes()
            self._decimals.add(data, valid, times)
            self._sketch(offsets, data, entries, bits)
            return
        if offsets is None:
            self._first = data[: self._fixed].tobytes()
            self._lengths(np.full(entries, self._fixed or 0), times, valid)
        else:
            self._first = data[: int(offsets[1])].tobytes()
            self._lengths(np.diff(offsets), times, valid)
            self._ascii += int(times[valid & _kernels.are_ascii(offsets, data)].sum())
        self._sketch(offsets, data, entries, bits)

    def _lengths(self, lengths: npt.NDArray[np.int64], times: npt.NDArray[np.uint64], valid: Bools) -> None:
        found = lengths[valid]
        filled = found[found > 0]
        self._min, self._max = int(found.min()), int(found.max())
        self._min_filled = int(filled.min()) if len(filled) else None
        self._total = int((found * times[valid].astype(np.int64)).sum())

    def _sketch(
        self,
        offsets: npt.NDArray[Any] | None,
        data: npt.NDArray[np.uint8],
        count: int,
        bits: npt.NDArray[np.uint8] | None,
    ) -> None:
        if self._bounds is not None:
            self._bounds.add(offsets, data, count, bits)
        if self._sketches is not None:
            self._sketches.add(offsets, data, count, bits)

    def _compare(self, offsets: npt.NDArray[Any] | None, data: npt.NDArray[np.uint8], count: int) -> None:
        """Update whether all values have the same bytes. Called only as long as they do."""
        if not self._same or (self.nulls and self.nulls < self.count):
            self._same = False
            return
        if offsets is None:
            rows = data.reshape(count, self._fixed or 0)
        else:
            lengths = np.diff(offsets)
            if not (lengths == lengths[0]).all():
                self._same = False
                return
            size = int(lengths[0])
            if size > _MAX_COMPARED:
                self._same = False
                return
            rows = data[int(offsets[0]) : int(offsets[0]) + size * count].reshape(count, size)
        first = rows[0].tobytes()
        if self._first is None:
            self._first = first
        self._same = first == self._first and bool((rows == rows[0]).all())

    def finish(self) -> FieldStatistics:
        """The statistics of all values added."""
        known = self._sketched((1 if self._same else self._entries) if self._is_exact else None)
        if self._decimals is not None:
            size = 16 * (self.count - self.nulls)
            low, high, stats = self._decimals.finish()
            return self._finished(size, range_stats=RangeStats(min=low, max=high), type_stats=stats, **known)
        least, filled, most = self._min or 0, self._min_filled, self._max
        kind: TypeStats = BinaryStats(min_length=least, min_non_empty_length=filled, max_length=most)
        if self._node.basic_type is BasicType.STRING:
            kind = StringStats(min_size=least, min_non_empty_size=filled, max_size=most, ascii_count=self._ascii)
        bounds = None if self._bounds is None else self._bounds.finish()
        return self._finished(self._total, range_stats=bounds, type_stats=kind, **known)

    def constant(self, most: int) -> AnyValue | None:
        """The value of all positions, if there is only one and it has at most `most` bytes."""
        if self.count and self.nulls == self.count:
            return _NULL
        if self.count == 0 or self.nulls or not self._same or self._first is None or len(self._first) > most:
            return None
        if self._decimals is not None:
            return None if self._decimals.nan else AnyValue("decimal", self._first)
        if self._node.basic_type is BasicType.STRING:
            return AnyValue("string", self._first.decode())
        return AnyValue("bytes", self._first)


class ListCollector(_Counting):
    """Shortest and longest list."""

    def __init__(self) -> None:
        super().__init__()
        self._max = 0
        self._min: int | None = None
        self._min_filled: int | None = None

    def add(self, lengths: npt.NDArray[np.uint64], valid: Bools | None) -> None:
        """Add the lengths of lists."""
        if self._note(len(lengths), valid) == 0:
            return
        sound = lengths if valid is None else lengths[valid]
        low, high = int(sound.min()), int(sound.max())
        self._min = low if self._min is None else min(self._min, low)
        self._max = max(self._max, high)
        if high:
            filled = low if low else int(sound[sound > 0].min())
            self._min_filled = filled if self._min_filled is None else min(self._min_filled, filled)

    def finish(self) -> FieldStatistics:
        """The statistics of all values added."""
        stats = None
        if self.count:
            stats = ListStats(min_length=self._min or 0, min_non_empty_length=self._min_filled, max_length=self._max)
        return self._finished(8 * self.count, type_stats=stats)


class _DecimalCollector:
    """Smallest and largest decimal, by value, and how many of each kind."""

    def __init__(self) -> None:
        self._ends: npt.NDArray[np.uint8] | None = None
        self._counts = np.zeros(4, np.int64)

    @property
    def nan(self) -> int:
        return int(self._counts[3])

    def add(
        self, data: npt.NDArray[np.uint8], valid: Bools | None, times: npt.NDArray[np.uint64] | None = None
    ) -> None:
        """Add values, each of which occurs once or `times` times."""
        mask = None if valid is None or valid.all() else np.ascontiguousarray(valid).view(np.uint8)
        counts, ends = _kernels.decimal_statistics(np.ascontiguousarray(data), mask, times)
        self._counts += counts
        if ends is None:
            return
        found = data.reshape(-1, decimal128.SIZE)[list(ends)]
        both = found if self._ends is None else np.concatenate((self._ends, found))
        outer = _kernels.decimal_statistics(both.reshape(-1), None, None)[1]
        assert outer is not None
        self._ends = both[list(outer)]

    def finish(self) -> tuple[AnyValue | None, AnyValue | None, DecimalStats]:
        stats = DecimalStats(**dict(zip(_DECIMAL, self._counts.tolist(), strict=True)))
        if self._ends is None:
            return None, None, stats
        return AnyValue("decimal", self._ends[0].tobytes()), AnyValue("decimal", self._ends[1].tobytes()), stats
