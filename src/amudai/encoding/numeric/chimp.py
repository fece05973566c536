"""Chimp: the bits in which each float differs from the one before it."""

from __future__ import annotations

from amudai.encoding.numeric.contract import FLOATS, NumericEncoding

__all__ = ["CHIMP"]

CHIMP = NumericEncoding(code=0x8002, name="chimp", accepts=FLOATS)
