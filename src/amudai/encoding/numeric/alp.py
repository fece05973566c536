"""ALP: floats that are decimal fractions, as integers."""

from __future__ import annotations

from amudai.encoding.numeric.contract import FLOATS, NumericEncoding

__all__ = ["ALP"]

ALP = NumericEncoding(code=12, name="alp", accepts=FLOATS)
