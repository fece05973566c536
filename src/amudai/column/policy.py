"""The policy that picks among the encodings that a descriptor lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from amudai.column.contract import ColumnSource
from amudai.errors import AmudaiError, CorruptedData, UnsupportedFeature
from amudai.format import BufferKind, DataEncoding, FieldDescriptor, NativeEncoding, ParquetEncoding
from amudai.types import BYTES, BasicType, SchemaNode

__all__ = ["is_dictionary", "pick", "require_readable", "stored_buffers"]

_NOTHING: Final = NativeEncoding(())
_LISTS: Final = frozenset({BasicType.LIST, BasicType.MAP})
_VARIABLE: Final = frozenset({BasicType.STRING, BasicType.BINARY})
_WITHOUT_BUFFERS: Final = frozenset({BasicType.UNIT, BasicType.STRUCT, BasicType.FIXED_SIZE_LIST})


def pick(encodings: Sequence[DataEncoding], open_source: Callable[[DataEncoding], ColumnSource]) -> ColumnSource:
    """The source of the first encoding that can be read in full. If none can be, the error of the first is raised.

    `open_source` opens the source of one encoding, and raises an error where its descriptor tells that it cannot be
    read. A column with a single encoding is opened and not looked at further: its errors come when it is read.
    """
    if len(encodings) <= 1:
        return open_source(encodings[0] if encodings else _NOTHING)
    opened: list[ColumnSource] = []
    first: AmudaiError | None = None
    for encoding in encodings:
        try:
            opened.append(open_source(encoding))
        except AmudaiError as error:
            first = first or error
    if len(opened) > 1:
        # Only a look at every block tells whether this version knows its encoding: worth it where there is a choice.
        for source in opened:
            if _is_readable(source):
                return source
    if opened:
        return opened[0]  # reading it raises the error, at the place where it is
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


def require_readable(node: SchemaNode, field: FieldDescriptor, encoding: DataEncoding) -> NativeEncoding:
    """The encoding, where its descriptor does not tell that this version cannot read it."""
    if not isinstance(encoding, NativeEncoding):
        is_parquet = isinstance(encoding, ParquetEncoding)
        raise _unsupported("columns of a Parquet file" if is_parquet else "an unknown encoding")
    if encoding.packed_group:
        raise _unsupported("a packed group")
    basic = node.basic_type
    if basic in _WITHOUT_BUFFERS:
        return encoding
    if basic in _LISTS:
        _require_buffer(encoding, BufferKind.OFFSETS)
        return encoding
    _require_buffer(encoding, BufferKind.DATA)
    if basic is BasicType.UNION:
        return encoding
    if is_dictionary(field, encoding):
        if basic not in BYTES:
            raise UnsupportedFeature(f"dictionary of {node} values: not readable by this version")
        entries = encoding.find(BufferKind.VALUE_DICTIONARY)
        if entries is None or entries.buffer is None:
            raise _missing(BufferKind.VALUE_DICTIONARY)
    elif basic in _VARIABLE and encoding.find(BufferKind.OFFSETS) is not None:
        data = encoding.find(BufferKind.DATA)
        if data is not None and not data.embedded_offsets:
            raise UnsupportedFeature("strings with separate offsets: not readable by this version")
    return encoding


def is_dictionary(field: FieldDescriptor, encoding: NativeEncoding) -> bool:
    """Whether values are stored as codes of a dictionary, which would otherwise pass for the values themselves."""
    return field.dictionary_size is not None or encoding.find(BufferKind.VALUE_DICTIONARY) is not None


def stored_buffers(encodings: Sequence[DataEncoding]) -> NativeEncoding:
    """The buffers of a constant column, which nobody reads; none where its encodings are not known."""
    for encoding in encodings:
        if isinstance(encoding, NativeEncoding) and not encoding.packed_group:
            return encoding
    return _NOTHING


def _require_buffer(encoding: NativeEncoding, kind: BufferKind) -> None:
    if encoding.find(kind) is None:
        raise _missing(kind)


def _missing(kind: BufferKind) -> CorruptedData:
    return CorruptedData(f"buffers: expected one of kind {kind.name}, found none")


def _unsupported(what: str) -> UnsupportedFeature:
    return UnsupportedFeature(f"stored values: {what}")
