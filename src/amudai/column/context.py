"""What the columns of a stripe share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from amudai.format import DataRef, StripeFieldDescriptor
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.storage import Artifact
from amudai.types import SchemaNode

__all__ = ["ColumnContext"]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnContext:
    """Settings and look-ups that all columns of a stripe share.

    Attributes
    ----------
    url, stripe
        The shard's URL and the ordinal of the stripe, for errors.
    verify
        Whether checksums are compared.
    descriptor
        Returns the descriptor of a schema node in the stripe; None if the node is not stored.
    artifact
        Returns the file that a reference to a buffer names.
    limits
        How much memory and work the columns may take.
    prefetched
        Bytes of whole buffers that were read ahead, by their extents. Opening a buffer looks here first.
    """

    url: str
    stripe: int
    verify: bool
    descriptor: Callable[[SchemaNode], StripeFieldDescriptor | None]
    artifact: Callable[[DataRef | None], Artifact]
    limits: Limits = DEFAULT_LIMITS
    prefetched: dict[DataRef | None, memoryview] = field(default_factory=dict)
