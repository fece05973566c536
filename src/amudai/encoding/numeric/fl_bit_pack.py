"""FastLanes bit packing of unsigned values."""

from __future__ import annotations

from amudai.encoding.numeric.contract import UNSIGNED, NumericEncoding

__all__ = ["FL_BIT_PACK"]

FL_BIT_PACK = NumericEncoding(code=2, name="fl_bit_pack", accepts=UNSIGNED)
