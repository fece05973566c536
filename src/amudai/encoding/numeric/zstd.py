"""Zstandard: the values compressed as one frame."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["ZSTD"]

ZSTD = NumericEncoding(code=16, name="zstd", accepts=NUMBERS, is_codec=True)
