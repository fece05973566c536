"""Run length: the values of runs, and the lengths of runs."""

from __future__ import annotations

from amudai.encoding.numeric.contract import NUMBERS, NumericEncoding

__all__ = ["RUN_LENGTH"]

RUN_LENGTH = NumericEncoding(code=6, name="run_length", accepts=NUMBERS)
