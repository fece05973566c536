"""Plain: the values without encoding."""

from __future__ import annotations

from amudai.encoding.binary.contract import BinaryEncoding

__all__ = ["PLAIN"]

PLAIN = BinaryEncoding(code=1, name="plain", fixed_for_reference=True)
