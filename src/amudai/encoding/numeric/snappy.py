"""Snappy: the values compressed as one Snappy block."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["SNAPPY"]

SNAPPY = NumericEncoding(code=0x8004, name="snappy", accepts=NUMBERS, is_codec=True)
