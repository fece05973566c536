"""The choice among the encodings that a descriptor lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from amudai.column.context import Prefer
from amudai.column.contract import ColumnSource
from amudai.errors import AmudaiError, UnsupportedFeature
from amudai.format import BufferKind, DataEncoding, NativeEncoding

__all__ = ["pick", "range_index_of", "require_native", "stored_buffers", "with_values"]

_NOTHING: Final = NativeEncoding(())


def with_values(encodings: Sequence[DataEncoding]) -> Sequence[DataEncoding]:
    """The encodings that hold values, and not only the range index of values in Parquet files."""
    if len(encodings) < 2:
        return encodings
    return [encoding for encoding in encodings if not _is_range_index(encoding)] or encodings


def range_index_of(encodings: Sequence[DataEncoding]) -> NativeEncoding:
    """The encoding that holds nothing but the range index of values in Parquet files; an empty one if there is none."""
    return next((each for each in encodings if isinstance(each, NativeEncoding) and _is_range_index(each)), _NOTHING)


def _is_range_index(encoding: DataEncoding) -> bool:
    kinds = {buffer.kind for buffer in encoding.buffers} if isinstance(encoding, NativeEncoding) else set()
    return kinds == {BufferKind.RANGE_INDEX}


def pick(
    encodings: Sequence[DataEncoding],
    open_source: Callable[[DataEncoding], ColumnSource],
    prefer: Prefer = "native",
) -> ColumnSource:
    """The source of the first encoding that can be read in full. Those that are preferred come before the others.

    If no encoding can be opened, the error of the first is raised. If some can be opened but none can be read in full,
    the first that can be opened is used: its readable parts stay readable, and reading the others raises the error.

    `open_source` opens the source of one encoding. It raises an error if the descriptor shows that this version cannot
    read it. If only one encoding can be opened, it is used without further checks. If several of the format's own can
    be opened, all their blocks are read, and those of the columns below.
    """
    if len(encodings) <= 1:
        return open_source(encodings[0] if encodings else _NOTHING)
    native: list[ColumnSource] = []
    foreign: list[ColumnSource] = []
    first: AmudaiError | None = None
    for encoding in encodings:
        try:
            (native if isinstance(encoding, NativeEncoding) else foreign).append(open_source(encoding))
        except AmudaiError as error:
            first = error if first is None else first
    opened = [*foreign, *native] if prefer == "parquet" else [*native, *foreign]
    if len(native) > 1:
        # Only the blocks themselves show whether this version knows their encodings.
        for source in opened:
            if _is_readable(source):
                return source
    if opened:
        return opened[0]
    assert first is not None
    raise first


def _is_readable(source: ColumnSource) -> bool:
    """Whether every block of the source and of the columns below it can be read."""
    try:
        for each in source.walk():
            each.encodings()
            each.codes()
    except AmudaiError:
        return False
    return True


def require_native(encoding: DataEncoding) -> NativeEncoding:
    """The encoding, if this version can read it; otherwise an error."""
    if isinstance(encoding, NativeEncoding):
        return encoding
    raise UnsupportedFeature("stored values: an unknown encoding")


def stored_buffers(encodings: Sequence[DataEncoding]) -> NativeEncoding:
    """The buffers of a constant column, which are never read; none if its encodings are unknown."""
    for encoding in encodings:
        if isinstance(encoding, NativeEncoding):
            return encoding
    return _NOTHING
