"""Do these floats share their leading bits?"""

from __future__ import annotations

from amudai.encoding.numeric.contract import FLOATS, NumericEncoding

__all__ = ["ALPRD"]

ALPRD = NumericEncoding(code=13, name="alprd", accepts=FLOATS)
