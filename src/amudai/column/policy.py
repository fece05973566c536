"""The policy that picks among the encodings that a descriptor lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from amudai.column.contract import ColumnSource
from amudai.errors import AmudaiError, UnsupportedFeature
from amudai.format import DataEncoding, NativeEncoding, ParquetEncoding

__all__ = ["pick", "require_native", "stored_buffers"]

_NOTHING: Final = NativeEncoding(())


def pick(encodings: Sequence[DataEncoding], open_source: Callable[[DataEncoding], ColumnSource]) -> ColumnSource:
    """The source of the first encoding that can be read in full.

    If no encoding can be opened, the error of the first is raised. If some can be opened and none can be read in full,
    the first of them is taken: reading raises the error, and what is readable stays readable.

    `open_source` opens the source of one encoding, and raises an error where the descriptor tells that this version
    cannot read it. An encoding without an alternative is not looked at further. Two that can be opened are compared by
    reading all their blocks, and those of the columns below.
    """
    if len(encodings) <= 1:
        return open_source(encodings[0] if encodings else _NOTHING)
    opened: list[ColumnSource] = []
    first: AmudaiError | None = None
    for encoding in encodings:
        try:
            opened.append(open_source(encoding))
        except AmudaiError as error:
            first = error if first is None else first
    if len(opened) > 1:
        # Only the blocks themselves tell whether this version knows their encodings.
        for source in opened:
            if _is_readable(source):
                return source
    if opened:
        return opened[0]
    assert first is not None
    raise first


def _is_readable(source: ColumnSource) -> bool:
    """Whether every block of the source can be read, and of the columns below it too."""
    try:
        for each in source.walk():
            each.encodings()
            each.codes()
    except AmudaiError:
        return False
    return True


def require_native(encoding: DataEncoding) -> NativeEncoding:
    """The encoding, where it is one that this version can read."""
    if isinstance(encoding, NativeEncoding):
        if not encoding.packed_group:
            return encoding
        raise UnsupportedFeature("stored values: a packed group")
    is_parquet = isinstance(encoding, ParquetEncoding)
    raise UnsupportedFeature(f"stored values: {'columns of a Parquet file' if is_parquet else 'an unknown encoding'}")


def stored_buffers(encodings: Sequence[DataEncoding]) -> NativeEncoding:
    """The buffers of a constant column, which nobody reads; none where its encodings are not known."""
    for encoding in encodings:
        if isinstance(encoding, NativeEncoding) and not encoding.packed_group:
            return encoding
    return _NOTHING
