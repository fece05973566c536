"""Snappy: the joined values as one Snappy block."""

from __future__ import annotations

from amudai.encoding.binary.contract import BinaryEncoding

__all__ = ["SNAPPY"]

SNAPPY = BinaryEncoding(code=0x8004, name="snappy", fixed_for_reference=False)
