"""Finished fields that have no place in a file yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from amudai.encoding import PreparedBuffer
from amudai.format import AnyValue
from amudai.stats import FieldStatistics
from amudai.types import SchemaNode

__all__ = ["PreparedField"]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedField:
    """A field of a finished stripe: its statistics, and its buffers, which are in the spool."""

    node: SchemaNode
    statistics: FieldStatistics
    constant: AnyValue | None
    dictionary_size: int | None
    buffers: tuple[PreparedBuffer, ...]
    children: tuple[PreparedField, ...] = field(default=())
