"""Decoded values in Arrow's layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.frozen import quick_init

__all__ = ["DecimalForm", "Unit", "Values"]


class Unit(NamedTuple):
    """A unit that is coarser than the stored integers: they are read as `(integer - origin) / by`.

    `dtype` is "i4" or "i8". `is_signed` says whether the stored integers are.
    """

    origin: int
    by: int
    dtype: str
    is_signed: bool


class DecimalForm(NamedTuple):
    """How Arrow stores decimals: value x 10**scale, an integer of `width` bytes with at most `precision` digits."""

    scale: int
    precision: int
    width: int


@quick_init
@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Decoded values in buffers with Arrow's layout. `validity` is None if no value is null."""

    length: int
    nulls: int = 0
    validity: pa.Buffer | None = None
    data: pa.Buffer | None = None
    offsets: pa.Buffer | None = None

    def numbers(self, dtype: str) -> npt.NDArray[Any]:
        """The data as an array of numbers."""
        return np.frombuffer(b"" if self.data is None else self.data, dtype, self.length)

    def valid(self) -> npt.NDArray[np.bool_] | None:
        """Which positions are not null; None if no position is null."""
        if self.validity is None:
            return None
        bits = np.frombuffer(self.validity, np.uint8)
        return np.unpackbits(bits, count=self.length, bitorder="little").view(np.bool_)
