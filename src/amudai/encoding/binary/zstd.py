"""Zstandard: the values compressed as one frame."""

from __future__ import annotations

from amudai.encoding.binary.contract import BinaryEncoding

__all__ = ["ZSTD"]

ZSTD = BinaryEncoding(code=16, name="zstd", fixed_for_reference=True)
