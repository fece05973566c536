"""Zigzag: small signed values as small unsigned values."""

from __future__ import annotations

from amudai.encoding.numeric.contract import SIGNED, NumericEncoding

__all__ = ["ZIG_ZAG"]

ZIG_ZAG = NumericEncoding(code=18, name="zig_zag", accepts=SIGNED)
