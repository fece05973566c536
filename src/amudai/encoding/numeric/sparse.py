"""Sparse: the positions and values of the few numbers that are not zero."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["SPARSE"]

SPARSE = NumericEncoding(code=19, name="sparse", accepts=NUMBERS)
