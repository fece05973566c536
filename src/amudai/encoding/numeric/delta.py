"""Delta: the differences between neighbouring values."""

from __future__ import annotations

from amudai.encoding.numeric.contract import INTEGERS, NumericEncoding

__all__ = ["DELTA"]

DELTA = NumericEncoding(code=5, name="delta", accepts=INTEGERS)
