"""Plain: the values without encoding."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["PLAIN"]

PLAIN = NumericEncoding(code=1, name="plain", accepts=NUMBERS)
