"""Converting Arrow arrays to the form that shards store.

The inverse of `arrays`: an array and its schema node, from `schema_nodes`, become a tree of `StoredArray`, node by
node. Buffers are used without a copy if the stored form is the same as Arrow's.

A slot below a null struct, or in a variant of a union that is not chosen, is hidden: it holds no value of the table,
but it is stored. If a hidden slot holds something that cannot be stored, it is stored as null. A visible slot that
cannot be stored raises an error.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow.buffers import Mask, VisibleSlots, validity_of, view, visible
from amudai.arrow.leaves import leaf, leaf_fits
from amudai.arrow.natural import dtype_of
from amudai.arrow.take import MISSING, Places, spans, take
from amudai.errors import InvalidArgument, located
from amudai.shard import Bits, StoredArray, StoredDictionary
from amudai.types import BYTES, CONTAINERS, BasicType, SchemaNode, quote_name

__all__ = ["to_storage"]

_VARIABLE: Final = frozenset({BasicType.STRING, BasicType.BINARY})
_ROLES: Final = {
    BasicType.LIST: ("item",),
    BasicType.FIXED_SIZE_LIST: ("item",),
    BasicType.MAP: ("key", "value"),
}


def to_storage(array: pa.Array, node: SchemaNode, path: str, *, rounded: bool = False) -> StoredArray:
    """The values of an array in the form that the encoders of this node take. The array is not changed.

    An Arrow dictionary of strings or other bytes stays a dictionary (`StoredArray.dictionary`); others are expanded.

    Parameters
    ----------
    node
        The result of `schema_nodes` for the array's field. It decides how times are stored (`timestamps="int64"`).
    path
        The column's name, for errors.
    rounded
        Whether nanoseconds are rounded down to ticks, because `to_nanoseconds` stores the rest. Otherwise nanoseconds
        that are finer than a tick raise an error.

    Examples
    --------
    >>> from amudai.arrow import schema_nodes
    >>> (node,) = schema_nodes([pa.field("tags", pa.list_(pa.string()))])
    >>> stored = to_storage(pa.array([["a", "b"], None, ["c"]]), node, "tags")
    >>> stored.offsets, stored.null_count, stored.children[0].data.tobytes()
    (array([0, 2, 2, 3], dtype=int32), 1, b'abc')
    """
    if not getattr(array, "is_cpu", True):
        raise InvalidArgument("values: expected them in main memory, found another device", field=path)
    try:
        array.validate()
    except pa.ArrowInvalid as error:
        raise InvalidArgument(f"values: expected a sound Arrow array, found {error}", field=path) from error
    return _ColumnConverter(keep_dictionaries=True, rounded=rounded).stored(array, node, path, None)


class _ColumnConverter:
    """Converts one column, with everything below it."""

    def __init__(self, *, keep_dictionaries: bool, rounded: bool) -> None:
        self._keep_dictionaries = keep_dictionaries
        self._rounded = rounded

    def stored(self, array: pa.Array, node: SchemaNode, path: str, seen: VisibleSlots) -> StoredArray:
        kind = array.type
        if isinstance(kind, pa.BaseExtensionType):
            return self.stored(array.storage, node, path, seen)
        if pa.types.is_dictionary(kind):
            return self._dictionary(array, node, path, seen)
        if pa.types.is_run_end_encoded(kind):
            return self._runs(array, node, path, seen)
        if pa.types.is_string_view(kind):
            array = array.cast(pa.large_string())
        elif pa.types.is_binary_view(kind):
            array = array.cast(pa.large_binary())
        if not _fits(array.type, node):
            raise InvalidArgument(f"values: expected an Arrow type that is stored as {node}, found {kind}", field=path)
        if node.basic_type in CONTAINERS:
            return self._container(array, node, path, seen)
        with located(field=path):
            return leaf(array, node, seen, rounded=self._rounded)

    # ---- dictionaries and runs ----

    def _dictionary(self, array: pa.DictionaryArray, node: SchemaNode, path: str, seen: VisibleSlots) -> StoredArray:
        indices, values = array.indices, array.dictionary
        validity, _ = validity_of(indices)
        valid = None if validity is None else validity.mask()
        codes = view(indices.buffers()[1], dtype_of(indices.type), indices.offset, len(indices))
        if valid is not None:
            codes = np.where(valid, codes, codes.dtype.type(0))
        used = codes if valid is None else codes[valid]
        if len(used) and not 0 <= int(used.min()) <= int(used.max()) < len(values):
            found = f"{int(used.min())}..{int(used.max())}"
            raise InvalidArgument(f"dictionary indices: expected 0..{len(values) - 1}, found {found}", field=path)
        if len(values) > len(codes):
            # A slice of a table has the whole dictionary.
            chosen, numbers = np.unique(used, return_inverse=True)
            try:
                values = values.take(pa.array(chosen))
            except pa.ArrowNotImplementedError:
                pass
            else:
                codes = np.zeros(len(codes), np.int64)
                codes[slice(None) if valid is None else valid] = numbers

        def shown() -> Mask:
            mask = np.zeros(len(values), np.bool_)
            mask[codes[visible(valid, seen, len(codes))]] = True
            return mask

        entries = _ColumnConverter(keep_dictionaries=False, rounded=self._rounded).stored(values, node, path, shown)
        if not self._keep_dictionaries or not _is_encoded_by_dictionary(node):
            places = codes.astype(np.int64)
            if valid is not None:
                places[~valid] = MISSING
            return take(entries, places)
        known = entries.valid()
        if known is not None:
            present = known[codes] if valid is None else valid & known[codes]
            codes = np.where(present, codes, codes.dtype.type(0))
            validity = Bits.of(present)
        nulls = 0 if validity is None else len(codes) - int(np.count_nonzero(validity.mask()))
        return StoredArray(
            node=node,
            length=len(codes),
            null_count=nulls,
            validity=validity if nulls else None,
            dictionary=StoredDictionary(codes, entries),
        )

    def _runs(self, array: pa.RunEndEncodedArray, node: SchemaNode, path: str, seen: VisibleSlots) -> StoredArray:
        first, count = array.find_physical_offset(), array.find_physical_length()
        ends = array.run_ends.slice(first, count).to_numpy().astype(np.int64) - array.offset
        lengths = np.diff(np.minimum(ends, len(array)), prepend=0)
        places = np.repeat(np.arange(count), lengths)

        def shown() -> Mask:
            mask = np.zeros(count, np.bool_)
            mask[places[visible(None, seen, len(places))]] = True
            return mask

        return take(self.stored(array.values.slice(first, count), node, path, shown), places)

    # ---- containers ----

    def _container(self, array: pa.Array, node: SchemaNode, path: str, seen: VisibleSlots) -> StoredArray:
        match node.basic_type:
            case BasicType.STRUCT:
                return self._struct(array, node, path, seen)
            case BasicType.FIXED_SIZE_LIST:
                return self._fixed_list(array, node, path, seen)
            case BasicType.UNION:
                return self._union(array, node, path, seen)
            case _:
                return self._list(array, node, path, seen)

    def _children(
        self, arrays: list[pa.Array], node: SchemaNode, path: str, seen: VisibleSlots
    ) -> tuple[StoredArray, ...]:
        return tuple(
            self.stored(array, child, _below(path, node, index), seen)
            for index, (array, child) in enumerate(zip(arrays, node.children, strict=True))
        )

    def _struct(self, array: pa.StructArray, node: SchemaNode, path: str, seen: VisibleSlots) -> StoredArray:
        validity, nulls = validity_of(array)
        shown: VisibleSlots = seen
        if validity is not None:
            shown = lambda: visible(validity.mask(), seen, len(array))  # noqa: E731
        members = [array.field(index) for index in range(array.type.num_fields)]
        children = self._children(members, node, path, shown)
        return StoredArray(node=node, length=len(array), null_count=nulls, validity=validity, children=children)

    def _fixed_list(self, array: pa.FixedSizeListArray, node: SchemaNode, path: str, seen: VisibleSlots) -> StoredArray:
        size, count = node.fixed_size, len(array)
        validity, nulls = validity_of(array)
        valid = None if validity is None else validity.mask()
        shown: VisibleSlots = None
        if validity is not None or seen is not None:
            shown = lambda: np.repeat(visible(valid, seen, count), size)  # noqa: E731
        items = array.values.slice(array.offset * size, count * size)
        (child,) = self._children([items], node, path, shown)
        if valid is not None:
            child = _nulled(child, np.repeat(valid, size))
        return StoredArray(node=node, length=count, null_count=nulls, validity=validity, children=(child,))

    def _list(self, array: pa.Array, node: SchemaNode, path: str, seen: VisibleSlots) -> StoredArray:
        """Lists and maps. Items are reordered only for list views, or if null lists have items."""
        validity, nulls = validity_of(array)
        valid = None if validity is None else validity.mask()
        starts, lengths, offsets = _ranges(array)
        if len(lengths) and int(lengths.min()) < 0:
            raise InvalidArgument(f"list lengths: expected none below 0, found {int(lengths.min())}", field=path)
        if valid is not None and lengths[~valid].any():
            lengths, offsets = np.where(valid, lengths, 0), None
        if offsets is not None:
            low, high, in_order = int(offsets[0]), int(offsets[-1]), True
            offsets = offsets - offsets.dtype.type(low) if low else offsets
        else:
            low, high, in_order = _extent(starts, lengths)
            offsets = np.zeros(len(array) + 1, np.int64)
            np.cumsum(lengths, out=offsets[1:])
        items = array.values
        if low < 0 or high > len(items):
            raise InvalidArgument(f"list items: expected 0..{len(items)}, found {low}..{high}", field=path)

        def shown() -> Mask:
            mine = visible(valid, seen, len(array)) & (lengths != 0)
            change = np.zeros(high - low + 1, np.int64)
            np.add.at(change, starts[mine] - low, 1)
            np.add.at(change, starts[mine] + lengths[mine] - low, -1)
            return np.cumsum(change)[:-1] > 0

        # All items between the first and the last are converted, even those that are in no list.
        items = items.slice(low, high - low)
        parts = [items.field(0), items.field(1)] if node.basic_type is BasicType.MAP else [items]
        children = self._children(parts, node, path, shown)
        if not in_order:
            places = spans(starts - low, lengths)
            children = tuple(take(child, places) for child in children)
        if node.basic_type is BasicType.MAP and children[0].null_count:
            found = children[0].null_count
            raise InvalidArgument(f"map keys: expected no nulls, found {found}", field=_below(path, node, 0))
        return StoredArray(
            node=node, length=len(array), null_count=nulls, validity=validity, offsets=offsets, children=children
        )

    def _union(self, array: pa.UnionArray, node: SchemaNode, path: str, seen: VisibleSlots) -> StoredArray:
        kind, count = array.type, len(array)
        buffers = array.buffers()
        codes = view(buffers[1], "i1", array.offset, count)
        numbers = np.full(256, len(kind.type_codes), np.uint16)
        numbers[np.array(kind.type_codes, np.uint8)] = np.arange(len(kind.type_codes))
        chosen = numbers[codes.view(np.uint8)]
        if count and int(chosen.max()) >= len(kind.type_codes):
            found = int(codes[int(np.argmax(chosen))])
            raise InvalidArgument(f"type codes: expected some of {kind.type_codes}, found {found}", field=path)
        data = chosen.astype(np.uint8)
        dense = kind.mode == "dense"
        places = view(buffers[2], "i4", array.offset, count) if dense else None
        offsets = None if places is None else places.astype(np.uint64)
        children = []
        for index, child in enumerate(node.children):
            mine = data == index
            items = array.field(index)
            if places is None or offsets is None:
                shown: VisibleSlots = lambda mine=mine: mine & visible(None, seen, count)  # noqa: E731
            else:
                # A slice of a dense union has the whole children.
                used = places[mine]
                low, high = (int(used.min()), int(used.max()) + 1) if len(used) else (0, 0)
                if low < 0 or high > len(items):
                    expected = f"0..{len(items) - 1}"
                    raise InvalidArgument(f"offsets: expected {expected}, found {low}..{high - 1}", field=path)
                items = items.slice(low, high - low)
                offsets[mine] -= np.uint64(low)
                shown = _VisibleItems(offsets, mine, seen, high - low)
            children.append(self.stored(items, child, _below(path, node, index), shown))
        return StoredArray(node=node, length=count, data=data, offsets=offsets, children=tuple(children))


class _VisibleItems:
    """The items of a dense union's variant that are visible at some position."""

    def __init__(self, offsets: npt.NDArray[np.uint64], mine: Mask, seen: VisibleSlots, length: int) -> None:
        self._offsets, self._mine, self._seen, self._length = offsets, mine, seen, length

    def __call__(self) -> Mask:
        mask = np.zeros(self._length, np.bool_)
        mask[self._offsets[self._mine & visible(None, self._seen, len(self._mine))]] = True
        return mask


def _is_encoded_by_dictionary(node: SchemaNode) -> bool:
    """Whether the encoders of this node take codes and entries instead of values."""
    return node.basic_type in _VARIABLE or (node.basic_type in BYTES and node.fixed_size > 0 and not node.is_decimal)


def _fits(kind: pa.DataType, node: SchemaNode) -> bool:
    """Whether values of this Arrow type are stored as the node says, or can be converted to it."""
    match node.basic_type:
        case BasicType.LIST:
            lists = pa.types.is_list(kind) or pa.types.is_large_list(kind)
            return bool(lists or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind))
        case BasicType.FIXED_SIZE_LIST:
            return bool(pa.types.is_fixed_size_list(kind)) and kind.list_size == node.fixed_size
        case BasicType.MAP:
            return bool(pa.types.is_map(kind))
        case BasicType.STRUCT:
            return bool(pa.types.is_struct(kind)) and _names(kind) == [child.name for child in node.children]
        case BasicType.UNION:
            return bool(pa.types.is_union(kind)) and _names(kind) == [child.name for child in node.children]
        case _:
            return leaf_fits(kind, node)


def _names(kind: pa.DataType) -> list[str]:
    return [kind.field(index).name for index in range(kind.num_fields)]


def _below(path: str, node: SchemaNode, index: int) -> str:
    roles = _ROLES.get(node.basic_type)
    return f"{path}.{roles[index] if roles else quote_name(node.children[index].name) or index}"


def _nulled(child: StoredArray, kept: Mask) -> StoredArray:
    """The child with nulls where `kept` is false."""
    valid = child.valid()
    if child.node.basic_type is BasicType.UNIT or (valid is not None and not (valid & ~kept).any()):
        return child
    places: Places = np.where(kept, np.arange(child.length), MISSING)
    return take(child, places)


def _ranges(array: pa.Array) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any] | None]:
    """Starts and lengths of the lists, and their offsets if the type has offsets."""
    kind, count = array.type, len(array)
    buffers = array.buffers()
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        dtype = "i8" if pa.types.is_large_list_view(kind) else "i4"
        starts = view(buffers[1], dtype, array.offset, count).astype(np.int64)
        return starts, view(buffers[2], dtype, array.offset, count).astype(np.int64), None
    dtype = "i8" if pa.types.is_large_list(kind) else "i4"
    # An empty array may come without any offset.
    offsets = view(buffers[1], dtype, array.offset, count + 1) if count else np.zeros(1, dtype)
    return offsets[:-1], np.diff(offsets), offsets


def _extent(starts: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> tuple[int, int, bool]:
    """The first item of all lists, the end of the last item, and whether the lists follow each other without gaps."""
    filled = lengths != 0
    if not filled.any():
        return 0, 0, True
    starts, ends = starts[filled], (starts + lengths)[filled]
    return int(starts.min()), int(ends.max()), bool((starts[1:] == ends[:-1]).all())
