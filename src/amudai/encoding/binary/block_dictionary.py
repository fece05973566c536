"""Block dictionary: codes of the distinct values of a block."""

from __future__ import annotations

from amudai.encoding.binary.contract import BinaryEncoding

__all__ = ["BLOCK_DICTIONARY"]

BLOCK_DICTIONARY = BinaryEncoding(code=14, name="block_dictionary", fixed_for_reference=False)
