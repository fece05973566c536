"""The definition of a binary encoding."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BinaryEncoding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryEncoding:
    """One way to store bytes-like values: its code in a region and its name.

    The kernel of the same name reads it; bytes are in docs/format/binary.md. `fixed_for_reference` says whether the
    reference implementation reads it for values of a fixed size, `needs_dictionary` whether it refers to a dictionary
    that the blocks of a buffer share. Codes from 0x8000 on are only written for `compatibility="extended"`.
    """

    code: int
    name: str
    fixed_for_reference: bool
    needs_dictionary: bool = False
