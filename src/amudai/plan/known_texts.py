"""The distinct texts of a column, from the dictionaries of its stripes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.column import ColumnSource
from amudai.errors import InvalidArgument, located
from amudai.format import ValueDictionary
from amudai.predicate import match_texts
from amudai.shard import ShardReader
from amudai.types import BasicType, NodePath

__all__ = ["dictionary_texts"]


def dictionary_texts(shard: ShardReader, path: NodePath, name: str, prefix: str, limit: int | None) -> pa.Array:
    """The texts of a field that begin with `prefix`, in their order, each once."""
    if path[-1].basic_type is not BasicType.STRING:
        found = f"a column of type {path[-1].basic_type.name.lower()}"
        raise InvalidArgument(f"dictionary of {name!r}: expected a column of text, found {found}", url=shard.url)
    texts = pa.array([], pa.large_string())
    for stripe in shard.stripes:
        with located(url=shard.url, stripe=stripe.ordinal, field=name):
            source = stripe.column_at(path)
            for more in _texts(source, name, prefix):
                # The first of all are among the first of each stripe, so no more than these need to be kept.
                together = pa.concat_arrays([texts, more]).unique().sort()
                texts = together if limit is None else together.slice(0, min(limit, len(together)))
    return texts.cast(pa.string())


def _texts(source: ColumnSource, name: str, prefix: str) -> Iterator[pa.Array]:
    """The texts of one stripe: none, or an array."""
    codes = source.codes()
    if codes is not None:
        yield _entries(codes.entries, prefix)
    elif source.constant is not None:
        text = source.constant.value
        if isinstance(text, str):
            content = text.encode()
            yield _chosen(np.array([0, len(content)], np.uint64), np.frombuffer(content, np.uint8), None, prefix)
    elif not source.is_absent and source.position_count:
        raise InvalidArgument(
            f"dictionary of {name!r}: expected one in every stripe, found a column stored as {source.STORAGE}"
        )


def _entries(entries: ValueDictionary, prefix: str) -> pa.Array:
    assert entries.offsets is not None  # texts have no fixed size
    return _chosen(entries.offsets, np.frombuffer(entries.values, np.uint8), entries.null_id, prefix)


def _chosen(offsets: npt.NDArray[np.uint64], content: npt.NDArray[np.uint8], null: int | None, prefix: str) -> pa.Array:
    """The texts that begin with `prefix`, without the entry that stands for null."""
    mask = np.ones(len(offsets) - 1, np.bool_)
    if prefix:
        mask = match_texts(offsets, content, prefix, "startswith", case_sensitive=False)
    if null is not None:
        mask[null] = False
    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.large_string(), len(mask), buffers).filter(pa.array(mask))
