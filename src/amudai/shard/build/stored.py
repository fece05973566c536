"""Values in the form in which field builders take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from amudai.types import SchemaNode

__all__ = ["Bits", "StoredArray", "StoredDictionary"]


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """A run of bits as Arrow packs them, the lowest first. It begins at bit `first` (0 to 7) of the first byte."""

    data: npt.NDArray[np.uint8]
    first: int
    length: int

    @classmethod
    def of(cls, mask: npt.NDArray[np.bool_]) -> Bits:
        """The bits of a mask, from bit 0 on."""
        return cls(np.packbits(mask, bitorder="little"), 0, len(mask))

    def mask(self) -> npt.NDArray[np.bool_]:
        """One boolean for each bit."""
        bits = np.unpackbits(self.data, count=self.first + self.length, bitorder="little")
        return bits[self.first :].view(np.bool_)

    def packed(self) -> npt.NDArray[np.uint8]:
        """The bits from bit 0 on, in as many bytes as they need. Surplus bits of the last byte are 0.

        A copy only if the bits begin elsewhere or other bits follow them.

        >>> Bits(np.array([0b10110100], np.uint8), 2, 4).packed()
        array([13], dtype=uint8)
        """
        size, surplus = (self.length + 7) // 8, -self.length % 8
        if self.first:
            moved = self.data >> np.uint8(self.first)
            moved[:-1] |= self.data[1:] << np.uint8(8 - self.first)
            packed = moved[:size]
        else:
            packed = self.data[:size]
        if surplus and packed[-1] >> (8 - surplus):
            packed = packed if self.first else packed.copy()
            packed[-1] &= 0xFF >> surplus
        return packed


@dataclass(frozen=True, slots=True, eq=False)
class StoredDictionary:
    """Values by code: position i holds `values[codes[i]]`. Codes are in range; at null positions they are 0."""

    codes: npt.NDArray[Any]
    values: StoredArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StoredArray:
    """The values of one schema node, in the form that encoders take, with everything below it.

    Arrays are views of the Arrow buffers if those have the right form. They must not be written to.

    Attributes
    ----------
    null_count
        Positions without a value; all of them for Unit.
    validity
        Bits that are 1 for values and 0 for nulls; None if nothing is null, and for Unit and Union.
    data
        Numbers (integers, floats, DateTime): an array of `node.dtype`; null slots may hold anything.
        Boolean: bits from bit 0 on, packed into bytes; 0 at null slots and after the last one.
        String, Binary: the bytes that `offsets` point into, perhaps with others before, between and after them.
        FixedSizeBinary, Guid: `node.fixed_size` bytes for each position; zeros at null slots.
        Union: the child's number for each position, uint8.
    offsets
        String, Binary: int32 or int64, one more than positions, from any base; null slots have length 0.
        List, Map: the same, from base 0 up to the length of the children; null lists are empty.
        Dense union: uint64, for each position the position in its child.
    children
        In the order of `node.children`. Children of structs and sparse unions have as many positions as the parent.
        The child of a fixed-size list has N times as many, all null below a null list.
    dictionary
        Replaces `data` and `offsets` if strings or other bytes came as an Arrow dictionary.
    scale
        For Arrow's decimals that are stored as Arrow has them: the values are integers x 10**-scale. Otherwise None.
    """

    node: SchemaNode
    length: int
    null_count: int = 0
    validity: Bits | None = None
    data: npt.NDArray[Any] | None = None
    offsets: npt.NDArray[Any] | None = None
    children: tuple[StoredArray, ...] = ()
    dictionary: StoredDictionary | None = None
    scale: int | None = None

    def valid(self) -> npt.NDArray[np.bool_] | None:
        """Which positions are not null; None if no position is null."""
        return None if self.validity is None else self.validity.mask()
