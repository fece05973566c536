"""Finished fields that have no place in a file yet."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from amudai.encoding import PreparedBuffer
from amudai.format import AnyValue
from amudai.stats import FieldStatistics
from amudai.types import SchemaNode

__all__ = ["PreparedField", "PreparedGroup"]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedGroup:
    """A packed group: the buffers that its super-blocks interleave, and the positions of each super-block."""

    buffers: tuple[PreparedBuffer, ...]
    counts: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedField:
    """A field of a finished stripe: its statistics, and its buffers, which are in the spool.

    Attributes
    ----------
    group
        A packed group: that of the members of a struct, on the struct; that of top-level fields, on each of them.
    """

    node: SchemaNode
    statistics: FieldStatistics
    constant: AnyValue | None
    dictionary_size: int | None
    buffers: tuple[PreparedBuffer, ...]
    children: tuple[PreparedField, ...] = field(default=())
    group: PreparedGroup | None = None
