"""Are there few distinct values?"""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["BLOCK_DICTIONARY"]

BLOCK_DICTIONARY = NumericEncoding(code=14, name="block_dictionary", accepts=NUMBERS)
