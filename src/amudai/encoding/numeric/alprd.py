"""ALP-RD: floats with common leading bits, as a dictionary of the left parts and packed right parts."""

from __future__ import annotations

from amudai.encoding.numeric.contract import FLOATS, NumericEncoding

__all__ = ["ALPRD"]

ALPRD = NumericEncoding(code=13, name="alprd", accepts=FLOATS)
