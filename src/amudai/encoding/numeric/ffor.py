"""FFOR: bit-packed distances from the smallest value."""

from __future__ import annotations

from amudai.encoding.numeric.contract import INTEGERS, NumericEncoding

__all__ = ["FFOR"]

FFOR = NumericEncoding(code=4, name="ffor", accepts=INTEGERS)
