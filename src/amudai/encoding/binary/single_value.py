"""Single value: one value for the whole block."""

from __future__ import annotations

from amudai.encoding.binary.contract import BinaryEncoding

__all__ = ["SINGLE_VALUE"]

SINGLE_VALUE = BinaryEncoding(code=7, name="single_value", fixed_for_reference=False)
