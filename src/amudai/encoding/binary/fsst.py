"""FSST: one-byte codes for frequent substrings of up to eight bytes."""

from __future__ import annotations

from amudai.encoding.binary.contract import BinaryEncoding

__all__ = ["FSST"]

FSST = BinaryEncoding(code=15, name="fsst", fixed_for_reference=True)
