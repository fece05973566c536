"""The stored bytes for which a leaf about texts or bytes can be true, as far as bounds can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from amudai.format import AnyValue, RangeStats
from amudai.predicate import BoundLeaf, Compare, Interval, Text
from amudai.types import BasicType, SchemaNode

__all__ = ["ByteRange", "byte_bounds"]


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Values from `low` to `high`, both included; None for no bound. `prefix` stands for all values that begin so."""

    low: bytes | None = None
    high: bytes | None = None
    prefix: bytes | None = None

    @classmethod
    def of(cls, leaf: BoundLeaf, node: SchemaNode) -> Self | None:
        """The values for which a leaf without negation can be true; None if they are no range."""
        if node.basic_type not in (BasicType.STRING, BasicType.BINARY):
            return None
        asked = leaf.leaf
        if isinstance(asked, Text):
            if node.basic_type is not BasicType.STRING or not asked.case_sensitive or asked.op != "startswith":
                return None
            return cls(prefix=asked.text.encode())
        if isinstance(asked, Compare):
            return cls._of_comparison(asked.op, _bytes_of(leaf.scalars[0]))
        if isinstance(asked, Interval):
            low = cls._of_comparison(asked.low.op, _bytes_of(leaf.scalars[0]))
            high = cls._of_comparison(asked.high.op, _bytes_of(leaf.scalars[1]))
            return None if low is None or high is None else cls(low=low.low, high=high.high)
        return None

    @classmethod
    def _of_comparison(cls, op: str, value: bytes | None) -> Self | None:
        if value is None or op not in ("<", "<=", ">", ">=", "=="):
            return None
        return cls(low=value if op in (">", ">=", "==") else None, high=value if op in ("<", "<=", "==") else None)

    def is_outside(self, stats: RangeStats) -> bool:
        """Whether no value between the bounds can match. The ends of the range count as inside."""
        return self.excludes(*byte_bounds(stats))

    def excludes(self, least: bytes | None, greatest: bytes | None) -> bool:
        """Whether no value from `least` to `greatest` can match; None for no bound."""
        if self.prefix is not None:
            if greatest is not None and greatest < self.prefix:
                return True
            return least is not None and least > self.prefix and not least.startswith(self.prefix)
        if least is not None and self.high is not None and self.high < least:
            return True
        return greatest is not None and self.low is not None and self.low > greatest


def byte_bounds(stats: RangeStats) -> tuple[bytes | None, bytes | None]:
    """The least and the greatest of texts or bytes; None if nobody knows, or if the bounds are those of numbers."""
    return _bound(stats.min), _bound(stats.max)


def _bound(value: AnyValue | None) -> bytes | None:
    found = None if value is None or value.kind not in ("string", "bytes") else value.value
    if isinstance(found, str):
        return found.encode()
    return found if isinstance(found, bytes) else None


def _bytes_of(scalar: pa.Scalar) -> bytes | None:
    found = scalar.as_py()
    if isinstance(found, str):
        try:
            return found.encode()
        except UnicodeEncodeError:
            return None
    return found if isinstance(found, bytes) else None
