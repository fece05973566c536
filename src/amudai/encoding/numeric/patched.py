"""Bit packing with exceptions: distances from a reference in few bits, and the values that need more."""

from __future__ import annotations

from amudai.encoding.numeric.contract import INTEGERS, NumericEncoding

__all__ = ["PATCHED"]

PATCHED = NumericEncoding(code=0x8001, name="patched", accepts=INTEGERS)
