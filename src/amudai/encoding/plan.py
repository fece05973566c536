"""The plan by which the kernels encode numbers."""

from __future__ import annotations

from dataclasses import dataclass

from amudai.encoding.numeric.contract import NumericEncoding
from amudai.lazy import lazy

__all__ = ["EncodingPlan"]


@dataclass(frozen=True)
class EncodingPlan:
    """An encoding and a plan for each section inside it. A part whose plan is None is stored raw.

    `parameters` are bytes that only some encodings have, such as the exponent and factor of ALP.
    """

    encoding: NumericEncoding
    parts: tuple[EncodingPlan | None, ...] = ()
    parameters: bytes = b""

    @lazy
    def program(self) -> bytes:
        """The plan in the form that the kernels expect: codes in prefix order, one byte each, 0 for a raw part."""
        inner = b"".join(b"\0" if part is None else part.program for part in self.parts)
        return self.encoding.program_byte + self.parameters + inner

    @lazy
    def codecs(self) -> bool:
        """Whether the plan contains a general compressor."""
        return self.encoding.is_codec or any(part is not None and part.codecs for part in self.parts)

    @lazy
    def prices(self) -> dict[tuple[str, bool], float]:
        """What is known about the time to decode values, for the choice of a plan."""
        return {}

    def __hash__(self) -> int:
        return hash(self.program)  # which is made once, and keeps its hash

    def __str__(self) -> str:
        if not self.parts:
            return self.encoding.name
        inner = ", ".join("raw" if part is None else str(part) for part in self.parts)
        return f"{self.encoding.name}({inner})"
