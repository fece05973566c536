"""Frame of reference: distances from the smallest value, in a section of their own."""

from __future__ import annotations

from amudai.encoding.numeric.contract import INTEGERS, NumericEncoding

__all__ = ["FRAME_OF_REFERENCE"]

FRAME_OF_REFERENCE = NumericEncoding(code=3, name="for", accepts=INTEGERS)
