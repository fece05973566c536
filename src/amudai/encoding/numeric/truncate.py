"""Truncate: signed values in fewer bytes."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NumericEncoding

__all__ = ["TRUNCATE_U8", "TRUNCATE_U16", "TRUNCATE_U32", "TRUNCATE_U64"]

TRUNCATE_U8 = NumericEncoding(code=8, name="truncate_u8", accepts=frozenset({"i2", "i4", "i8"}))
TRUNCATE_U16 = NumericEncoding(code=9, name="truncate_u16", accepts=frozenset({"i2", "i4", "i8"}))
TRUNCATE_U32 = NumericEncoding(code=10, name="truncate_u32", accepts=frozenset({"i4", "i8"}))
TRUNCATE_U64 = NumericEncoding(code=11, name="truncate_u64", accepts=frozenset({"i8"}))
