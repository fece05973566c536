"""Opening a column."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from amudai.column.absent import AbsentSource, UnitSource
from amudai.column.alternatives import CheaperSource
from amudai.column.blocks import BitsSource, FixedBytesSource, NumbersSource, VariableBytesSource
from amudai.column.constant import ConstantSource, constant_of, followed
from amudai.column.containers import ContainerSource
from amudai.column.context import ColumnContext
from amudai.column.contract import ColumnSource
from amudai.column.dictionary import DictionarySource, NumberDictionarySource
from amudai.column.lists import FixedSizeListSource, ListSource
from amudai.column.native import NativeSource
from amudai.column.parquet import ParquetSource
from amudai.column.policy import pick, range_index_of, require_native, stored_buffers, with_values
from amudai.column.separate import SeparateBytesSource, has_separate_offsets
from amudai.column.structs import StructSource
from amudai.column.unions import UnionSource
from amudai.errors import AmudaiError, CorruptedData, UnsupportedFeature
from amudai.format import BufferKind, DataEncoding, FieldDescriptor, NativeEncoding, ParquetEncoding
from amudai.types import WIDTHS, BasicType, SchemaNode

__all__ = ["open_column", "open_top_column"]

_LEAVES: Final[dict[BasicType, type[NativeSource]]] = {
    BasicType.UNIT: UnitSource,
    BasicType.BOOLEAN: BitsSource,
    **dict.fromkeys(WIDTHS, NumbersSource),
    BasicType.STRING: VariableBytesSource,
    BasicType.BINARY: VariableBytesSource,
    BasicType.FIXED_SIZE_BINARY: FixedBytesSource,
    BasicType.GUID: FixedBytesSource,
}
# The sources of columns that are stored as codes, by the source that would read their values.
_CODED: Final[dict[type[NativeSource], type[NativeSource]]] = {
    UnitSource: UnitSource,
    NumbersSource: NumberDictionarySource,
    VariableBytesSource: DictionarySource,
    FixedBytesSource: DictionarySource,
}
_CONTAINERS: Final[dict[BasicType, type[ContainerSource]]] = {
    BasicType.STRUCT: StructSource,
    BasicType.FIXED_SIZE_LIST: FixedSizeListSource,
    BasicType.LIST: ListSource,
    BasicType.MAP: ListSource,
    BasicType.UNION: UnionSource,
}


def open_column(
    context: ColumnContext, node: SchemaNode, path: str, positions: int | None, *, padded: bool = False
) -> ColumnSource:
    """The source of a column's values.

    Parameters
    ----------
    path
        The column's name as errors show it.
    positions
        The number of positions according to the parent; None below lists, whose offsets say it.
    padded
        Whether trailing positions may be missing. They are null: the reference implementation does not store all items
        of trailing null fixed-size lists.
    """
    stored = context.descriptor(node)
    if stored is None:
        return AbsentSource(context, node, path, positions, open_column)
    field, encodings = stored.field, stored.encodings
    try:
        count = field.position_count
        if positions is not None and count != positions and not (padded and count < positions):
            raise CorruptedData(f"position_count: expected {positions}, found {count}")
        constant = constant_of(node, field)
        if constant is not None:
            value = followed(constant, node, context)
            return ConstantSource(context, node, path, field, stored_buffers(encodings), value)
        if len(encodings) == 1 and isinstance(encodings[0], NativeEncoding):
            return _open_native(context, node, path, field, encodings[0])

        def open_source(encoding: DataEncoding) -> ColumnSource:
            if isinstance(encoding, ParquetEncoding):
                known = range_index_of(encodings)
                return ParquetSource(context, node, path, field, encoding, known, open_column)
            return _open_native(context, node, path, field, encoding)

        return pick(with_values(encodings), open_source, context.prefer)
    except AmudaiError as error:
        error.locate(url=context.url, stripe=context.stripe, field=path)
        raise


def open_top_column(context: ColumnContext, node: SchemaNode, path: str, positions: int) -> ColumnSource:
    """The source of a top-level column.

    Of one that is stored twice, each read takes the cheaper encoding, unless the context prefers one.
    """
    found = open_column(context, node, path, positions)
    stored = context.descriptor(node)
    if context.prefer != "cheaper" or stored is None or len(stored.encodings) < 2:
        return found
    if isinstance(found, ConstantSource | ParquetSource):
        return found
    if not any(isinstance(each, ParquetEncoding) for each in stored.encodings):
        return found
    other = open_column(replace(context, prefer="parquet"), node, path, positions)
    return CheaperSource(context, found, other) if isinstance(other, ParquetSource) else found


def _open_native(
    context: ColumnContext, node: SchemaNode, path: str, field: FieldDescriptor, encoding: DataEncoding
) -> ColumnSource:
    native = require_native(encoding)
    leaf = _LEAVES.get(node.basic_type)
    if leaf is None:
        return _CONTAINERS[node.basic_type](context, node, path, field, native, open_column)
    # Codes must not be mistaken for values, so either sign of a dictionary is enough.
    if field.dictionary_size is not None or native.find(BufferKind.VALUE_DICTIONARY) is not None:
        leaf = _CODED.get(leaf)
        if leaf is None:
            raise UnsupportedFeature(f"dictionary of {node} values: not readable by this version")
    elif leaf is VariableBytesSource and has_separate_offsets(native):
        leaf = SeparateBytesSource
    return leaf(context, node, path, field, native)
