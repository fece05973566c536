"""Pco: entropy-coded numbers, which the package `pcodec` compresses."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["PCO"]

PCO = NumericEncoding(code=0x8003, name="pco", accepts=NUMBERS - {"u1", "i1"}, is_codec=True)
