"""LZ4: the values compressed as one LZ4 block."""

from __future__ import annotations

from amudai.encoding.binary.contract import BinaryEncoding

__all__ = ["LZ4"]

LZ4 = BinaryEncoding(code=17, name="lz4", fixed_for_reference=True)
