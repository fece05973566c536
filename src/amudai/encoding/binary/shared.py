"""Zstandard and LZ4 with a dictionary that all blocks of a buffer share."""

from __future__ import annotations

from amudai.encoding.binary.contract import BinaryEncoding

__all__ = ["LZ4_SHARED", "ZSTD_SHARED"]

ZSTD_SHARED = BinaryEncoding(code=0x8005, name="zstd_shared", fixed_for_reference=False, needs_dictionary=True)
LZ4_SHARED = BinaryEncoding(code=0x8006, name="lz4_shared", fixed_for_reference=False, needs_dictionary=True)
