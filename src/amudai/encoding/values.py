"""What does a decoded run of values look like?"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

__all__ = ["Values"]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """Decoded values, in buffers as Arrow lays them out. `validity` is None where nothing is null."""

    length: int
    nulls: int = 0
    validity: pa.Buffer | None = None
    data: pa.Buffer | None = None
    offsets: pa.Buffer | None = None
