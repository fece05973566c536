"""Block dictionary: codes of the distinct values of a block."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["BLOCK_DICTIONARY"]

BLOCK_DICTIONARY = NumericEncoding(code=14, name="block_dictionary", accepts=NUMBERS)
