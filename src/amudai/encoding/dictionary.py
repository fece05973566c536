"""When is a dictionary of all values worth it?"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.binary.choice import BytesBlock, choose_bytes
from amudai.encoding.bytes import BytesEncoder
from amudai.encoding.numbers import NumberEncoder
from amudai.encoding.prepared import PreparedBuffer
from amudai.encoding.profile import Profile
from amudai.format import BufferKind, encode_dictionary
from amudai.storage import Spool
from amudai.types import SchemaNode

__all__ = ["DictionaryEncoder"]

# Positions before the first judgement: fewer say little of what is to come.
_FIRST_LOOK: Final = 65_536
# An estimate this much worse than blocks gives the dictionary up; at the end it must be this much better.
_HOPELESS: Final = 1.5
_WORTH_IT: Final = 0.9
# Entries are held in memory until the stripe ends.
_MAX_BYTES: Final = 32 * 1024 * 1024
_SAMPLE: Final = 4096

Bools = npt.NDArray[np.bool_]


class DictionaryEncoder:
    """Codes of distinct values, and the values; the caller asks now and then whether that still pays."""

    def __init__(self, fixed_size: int | None, profile: Profile, spool: Spool) -> None:
        self._fixed = fixed_size
        self._profile = profile
        self._spool = spool
        self._dictionary = _kernels.Dictionary(fixed_size)
        self._buffer = PreparedBuffer(BufferKind.DATA)
        self._codes = NumberEncoder("u4", profile, spool, self._buffer)
        self._count = 0
        self._native: float | None = None  # bytes that a slot would take in blocks of its own

    @property
    def size(self) -> int:
        """Entries, the null one included."""
        return int(self._dictionary.size)

    def append(
        self, offsets: npt.NDArray[Any] | None, data: npt.NDArray[np.uint8], count: int, valid: Bools | None
    ) -> None:
        """Take `count` slots."""
        bits = None if valid is None else np.packbits(valid, bitorder="little")
        if self._native is None:
            self._measure(offsets, data, count, valid)
        self._codes.append(self._dictionary.encode(offsets, data, bits, 0, count))
        self._count += count

    def _measure(
        self, offsets: npt.NDArray[Any] | None, data: npt.NDArray[np.uint8], count: int, valid: Bools | None
    ) -> None:
        """What a block of these slots would take without a dictionary."""
        rows = min(count, _SAMPLE)
        mask = None if valid is None else valid[:rows]
        if offsets is None:
            block = BytesBlock(None, data[: rows * (self._fixed or 0)], rows, mask)
        else:
            block = BytesBlock(offsets[: rows + 1].astype(np.int64, copy=False), data, rows, mask)
        found = choose_bytes(block, self._profile).bytes_per_slot
        raw = len(block.content) / rows + (8 if offsets is not None else 0)
        self._native = min(found, raw)

    def pays(self, final: bool = False) -> bool:
        """Whether the dictionary is smaller than blocks of values would be."""
        entries = self.size
        stored = self._dictionary.value_bytes + 12 * entries + self._count * max(1, entries.bit_length()) / 8
        native = (self._native or 0.0) * self._count
        if final:
            return stored < _WORTH_IT * native
        if self._dictionary.value_bytes > _MAX_BYTES:
            return False
        return self._count < _FIRST_LOOK or stored < _HOPELESS * native

    def finish(self, node: SchemaNode) -> tuple[PreparedBuffer, PreparedBuffer]:
        """The codes and the dictionary."""
        offsets, data = self._dictionary.values()
        whole = encode_dictionary(
            node,
            value_count=self.size,
            data=data.data,
            offsets=None if self._fixed is not None else offsets,
            null_id=self._dictionary.null_code,
            sorted_ids=self._dictionary.sorted_ids(),
        )
        return self._codes.finish(), PreparedBuffer(BufferKind.VALUE_DICTIONARY, whole=whole)

    def replay(self, into: BytesEncoder) -> None:
        """Give all slots that were taken so far to blocks of values."""
        self._codes.finish()
        offsets, data = self._dictionary.values()
        null = self._dictionary.null_code
        for codes in self._codes.stored():
            valid = None if null is None else codes != null
            if self._fixed is not None:
                out = np.empty(len(codes) * self._fixed, np.uint8)
                bitmap = np.empty(len(codes) // 8 + 1, np.uint8)
                _kernels.gather_fixed(codes, data, self._fixed, None, out, bitmap)
                into.append(None, out, len(codes), valid)
                continue
            ends = np.zeros(len(codes) + 1, np.int64)
            bitmap = np.empty(len(codes) // 8 + 1, np.uint8)
            _kernels.gather_offsets(codes, offsets, None, ends, bitmap)
            out = np.empty(int(ends[-1]) + 64, np.uint8)
            _kernels.gather_bytes(codes, data, offsets, out)
            into.append(ends, out[: int(ends[-1])], len(codes), valid)
