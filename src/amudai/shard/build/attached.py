"""Fields whose values stay in other files."""

from __future__ import annotations

from dataclasses import dataclass, replace

from amudai.format import NativeEncoding, ParquetEncoding, StripeFieldDescriptor
from amudai.stats import FieldStatistics

__all__ = ["AttachedField"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedField:
    """Where the values of a field of a stripe are.

    Attributes
    ----------
    encoding
        The column chunks in Parquet files.
    statistics
        What the footers of the files say about the values; None if the values were read, which says more.
    """

    encoding: ParquetEncoding
    statistics: FieldStatistics | None = None

    def placed(self, built: StripeFieldDescriptor) -> StripeFieldDescriptor:
        """The descriptor of the field. `built` has what was found while its values were read."""
        field, known = built.field, self.statistics
        if known is not None:
            field = replace(
                field,
                position_count=known.position_count,
                null_count=known.null_count,
                range_stats=known.range_stats,
                message=None,
            )
        buffers = [each for each in built.encodings if isinstance(each, NativeEncoding) and each.buffers]
        return StripeFieldDescriptor(field=field, encodings=(self.encoding, *buffers))
