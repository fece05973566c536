"""Single value: one value for the whole section."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["SINGLE_VALUE"]

SINGLE_VALUE = NumericEncoding(code=7, name="single_value", accepts=NUMBERS)
