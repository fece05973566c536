"""The definition of a numeric encoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["FLOATS", "INTEGERS", "NUMBERS", "SIGNED", "UNSIGNED", "NumericEncoding"]

# Value types, by their numpy names.
UNSIGNED: Final = frozenset({"u1", "u2", "u4", "u8"})
SIGNED: Final = frozenset({"i1", "i2", "i4", "i8"})
INTEGERS: Final = UNSIGNED | SIGNED
FLOATS: Final = frozenset({"f4", "f8"})
NUMBERS: Final = INTEGERS | FLOATS

_EXTENDED: Final = 0x8000


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericEncoding:
    """One way to store numbers: its code in a section, its name, and the value types that it accepts.

    The kernel of the same name reads and writes it. The bytes are described in docs/format/numeric.md. A codec is a
    compressor that comes from a package. Codes from 0x8000 on are only written for `compatibility="extended"`.
    """

    code: int
    name: str
    accepts: frozenset[str]
    is_codec: bool = False

    @property
    def program_byte(self) -> bytes:
        """The encoding in a program of the kernels: its code, or 0x80 and the last seven bits of an extended code."""
        return bytes([self.code if self.code < _EXTENDED else 0x80 | self.code & 0x7F])
