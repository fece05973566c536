"""LZ4: the values compressed as one LZ4 block."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["LZ4"]

LZ4 = NumericEncoding(code=17, name="lz4", accepts=NUMBERS, is_codec=True)
