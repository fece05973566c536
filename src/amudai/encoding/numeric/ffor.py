"""Can these integers be stored as small distances from the smallest?"""

from __future__ import annotations

from amudai.encoding.numeric.contract import INTEGERS, NumericEncoding

__all__ = ["FFOR"]

FFOR = NumericEncoding(code=4, name="ffor", accepts=INTEGERS)
