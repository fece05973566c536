"""What the columns of a stripe share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from amudai.column.parquet_files import ParquetFile, RecentChunks
from amudai.encoding import SuperBlocks
from amudai.format import DataRef, StripeFieldDescriptor
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.storage import Artifact
from amudai.types import SchemaNode

__all__ = ["ColumnContext", "Prefer"]

# Which of several encodings of a column is read: the format's own, that in Parquet files, or for each question the one
# of which fewer bytes must be fetched.
Prefer: TypeAlias = Literal["cheaper", "native", "parquet"]


def _unknown() -> None:
    """Nothing is known about the row groups."""


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
    prefer
        Which encoding is read if a column has several: the format's own, that in Parquet files, or the cheaper one.
    group_rows
        Returns the number of rows of each row group in Parquet files; None if the stripe does not say.
    prefetched
        Bytes of whole buffers that were read ahead, by their extents. Opening a buffer looks here first.
    parquet_files, recent_chunks
        The Parquet files that were opened, by URL, and what was read from them.
    groups
        The packed groups that were opened, by the extents of their buffers.
    group
        The packed group of the struct that the columns are members of; None for other columns.
    """

    url: str
    stripe: int
    verify: bool
    descriptor: Callable[[SchemaNode], StripeFieldDescriptor | None]
    artifact: Callable[[DataRef | None], Artifact]
    limits: Limits = DEFAULT_LIMITS
    prefer: Prefer = "native"
    group_rows: Callable[[], Sequence[int] | None] = _unknown
    prefetched: dict[DataRef | None, memoryview] = field(default_factory=dict)
    parquet_files: dict[str, ParquetFile] = field(default_factory=dict)
    recent_chunks: RecentChunks = field(default_factory=RecentChunks)
    groups: dict[DataRef, SuperBlocks] = field(default_factory=dict)
    group: SuperBlocks | None = None
