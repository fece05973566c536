"""Which columns are stored twice: in blocks, and in Parquet files?"""

from __future__ import annotations

from amudai.format import BufferKind, NativeEncoding, ParquetEncoding
from amudai.shard import StripeReader
from amudai.types import SchemaNode

__all__ = ["is_stored_twice"]


def is_stored_twice(stripe: StripeReader, node: SchemaNode) -> bool:
    """Whether a column has values in both. A range index of a column in Parquet files does not count."""
    stored = stripe.descriptor(node)
    if stored is None:
        return False
    kinds = {type(each) for each in stored.encodings if not _is_range_index(each)}
    return {NativeEncoding, ParquetEncoding} <= kinds


def _is_range_index(encoding: object) -> bool:
    return isinstance(encoding, NativeEncoding) and {each.kind for each in encoding.buffers} == {BufferKind.RANGE_INDEX}
