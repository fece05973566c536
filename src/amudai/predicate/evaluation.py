"""Evaluation of a leaf of a bound predicate on the values of its column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow import computable, struct_member, taken, value_type, variant_values
from amudai.encoding import GUID_LENGTH, guid_texts, texts_among
from amudai.errors import InvalidArgument
from amudai.predicate.bound import BoundLeaf
from amudai.predicate.comparison import is_text, is_uuid
from amudai.predicate.matching import match_texts
from amudai.predicate.regex import required_texts
from amudai.predicate.tree import Compare, CompareOp, Interval, IsIn, IsNull, IsValid, Matches, Text
from amudai.types import BasicType, SchemaNode

__all__ = ["evaluate", "evaluate_values"]

Bools: TypeAlias = npt.NDArray[np.bool_]

_COMPARE: Final[Mapping[CompareOp, str]] = {
    "==": "equal",
    "!=": "not_equal",
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
}


def _pc() -> Any:
    """The functions of Arrow, which take long to import. Text operators do without them."""
    import pyarrow.compute

    return pyarrow.compute


def evaluate(leaf: BoundLeaf, array: pa.Array | pa.ChunkedArray) -> Bools:
    """A mask of the rows for which the leaf is true, with its negation applied.

    Parameters
    ----------
    array
        The top-level column of the leaf's path. Members of structs that are not on the path may be missing.
    """
    if isinstance(array, pa.ChunkedArray):
        parts = [evaluate(leaf, chunk) for chunk in array.chunks]
        return np.concatenate(parts) if parts else np.zeros(0, np.bool_)
    true, known = _at(leaf, array, 0)
    return known & ~true if leaf.negated else true


def evaluate_values(leaf: BoundLeaf, offsets: npt.NDArray[np.uint64], data: npt.NDArray[np.uint8]) -> Bools:
    """A mask of the stored values for which a leaf is true, without its negation. For dictionaries.

    The values are text, bytes, or decimals in Arrow's form.

    Parameters
    ----------
    offsets
        Where each value begins in `data`, and where the last one ends.
    """
    count = len(offsets) - 1
    match leaf.leaf:
        case IsNull():
            return np.zeros(count, np.bool_)
        case IsValid():
            return np.ones(count, np.bool_)
        case Text(_, op, text, case_sensitive) if is_text(leaf.type):
            return match_texts(offsets, data, text, op, case_sensitive)
    kind = value_type(leaf.type)
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_decimal(kind):
        array = pa.Array.from_buffers(kind, count, [None, pa.py_buffer(data[int(offsets[0]) :])])
    else:
        places = pa.py_buffer(offsets.astype(np.int64))
        array = pa.Array.from_buffers(_wide(kind), count, [None, places, pa.py_buffer(data)])
    return _leaf(leaf, array)[0]


def _wide(kind: pa.DataType) -> pa.DataType:
    if is_text(kind):
        return pa.large_string()
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.large_binary()
    raise InvalidArgument(f"values: expected text or bytes, found {kind}")


# ---- the way to the values ----


def _at(leaf: BoundLeaf, array: pa.Array, depth: int) -> tuple[Bools, Bools]:
    """Masks for the node at this depth of the path: where the leaf is true, and where it is true or false."""
    if isinstance(array, pa.ExtensionArray):
        return _at(leaf, array.storage, depth)
    if pa.types.is_run_end_encoded(array.type):
        return _at(leaf, _pc().run_end_decode(array), depth)
    if pa.types.is_dictionary(array.type):
        return _at_dictionary(leaf, array, depth)
    if depth == len(leaf.nodes) - 1:
        return _leaf(leaf, _one_column(array) if isinstance(array, pa.UnionArray) else array)
    node, child = leaf.nodes[depth], leaf.nodes[depth + 1]
    if node.basic_type is BasicType.UNION:
        variant = next(at for at, each in enumerate(node.children) if each.schema_id == child.schema_id)
        return _at(leaf, variant_values(array, variant), depth + 1)
    if node.basic_type is BasicType.STRUCT:
        return _at(leaf, struct_member(array, _member(node, child, array.type)), depth + 1)
    lengths, items = _items(node, child, array)
    true, _ = _at(leaf, items, depth + 1)
    return _any(true, lengths), _valid(array)


def _at_dictionary(leaf: BoundLeaf, array: pa.Array, depth: int) -> tuple[Bools, Bools]:
    """Evaluate each entry of the dictionary once, unless there are more entries than rows."""
    if len(array.dictionary) > len(array) or not len(array.dictionary):
        return _at(leaf, taken(array.dictionary, array.indices), depth)
    true, known = _at(leaf, array.dictionary, depth)
    valid = _valid(array.indices)
    codes = _pc().fill_null(array.indices, 0).to_numpy()
    true, known = true[codes], known[codes]
    if isinstance(leaf.leaf, IsNull):
        return true | ~valid, known | ~valid
    if isinstance(leaf.leaf, IsValid):
        return true & valid, known | ~valid
    return true & valid, known & valid


def _one_column(union: pa.UnionArray) -> pa.Array:
    """A column that is null where the union is: where the variant that is chosen is null."""
    valid = np.zeros(len(union), np.bool_)
    for variant in range(union.type.num_fields):
        below = variant_values(union, variant)
        valid |= _valid(_one_column(below) if isinstance(below, pa.UnionArray) else below)
    return pa.array(valid, mask=~valid)


def _member(node: SchemaNode, child: SchemaNode, kind: pa.StructType) -> int:
    """The index of `child` in the Arrow struct: by its place if no member is missing, otherwise by its name."""
    if [field.name for field in kind] == [each.name for each in node.children]:
        return next(at for at, each in enumerate(node.children) if each.schema_id == child.schema_id)
    place = kind.get_field_index(child.name)
    if place < 0:
        raise InvalidArgument(f"column: expected a struct with {child.name!r}, found {kind}")
    return int(place)


def _items(node: SchemaNode, child: SchemaNode, array: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """How many items each row has (0 for a null), and the items of all rows."""
    if node.basic_type is BasicType.MAP:
        kind = array.type
        entry = pa.struct([kind.key_field.with_name("key"), kind.item_field.with_name("value")])
        lengths, entries = _flattened(array.cast(pa.list_(entry)))
        return lengths, entries.field(0 if child.schema_id == node.children[0].schema_id else 1)
    return _flattened(array)


def _flattened(array: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
    lengths = _pc().fill_null(_pc().list_value_length(array), 0).to_numpy().astype(np.int64, copy=False)
    return lengths, _pc().list_flatten(array)


def _any(true: Bools, lengths: npt.NDArray[np.int64]) -> Bools:
    """The rows with at least one true item."""
    ends = np.cumsum(lengths)
    counts = np.concatenate([[0], np.cumsum(true)])
    return np.asarray(counts[ends] > counts[ends - lengths])


# ---- the values ----


def _leaf(leaf: BoundLeaf, array: pa.Array) -> tuple[Bools, Bools]:
    valid = _valid(array)
    match leaf.leaf:
        case IsNull():
            return ~valid, np.ones(len(array), np.bool_)
        case IsValid():
            return valid, np.ones(len(array), np.bool_)
        case Compare(_, op, _):
            array = _computable(array)
            found = _compared(op, array, _of(leaf.scalars[0], array.type))
        case Interval(_, low, high):
            array = _computable(array)
            ends = [_of(scalar, array.type) for scalar in leaf.scalars]
            found = _pc().and_(_compared(low.op, array, ends[0]), _compared(high.op, array, ends[1]))
        case IsIn():
            array = _computable(array)
            found = _pc().is_in(
                array, pa.array(_both_zeros([_of(each, array.type) for each in leaf.scalars]), array.type)
            )
        case Text(_, op, text, case_sensitive):
            texts, among = _as_text(leaf.type, _computable(array), valid)
            return _text(texts, text, op, case_sensitive, among), valid
        case Matches(_, pattern):
            texts, among = _as_text(leaf.type, _computable(array), valid)
            return _matches(texts, pattern, among), valid
    true = _bools(found)
    return true & valid if array.null_count else true, valid


def _compared(op: CompareOp, array: pa.Array, scalar: pa.Scalar) -> pa.Array:
    return getattr(_pc(), _COMPARE[op])(array, scalar)


def _as_text(kind: pa.DataType, array: pa.Array, valid: Bools) -> tuple[pa.Array, Bools]:
    """The values as text, and where they are: bytes that are no UTF-8 match nothing."""
    if is_text(kind):
        return array, valid
    count = len(array)
    if is_uuid(kind):
        width = array.type.byte_width
        stored = np.frombuffer(array.buffers()[1] or b"", np.uint8, count * width, array.offset * width)
        places = np.arange(0, GUID_LENGTH * count + 1, GUID_LENGTH, dtype=np.int64)
        buffers = [None, pa.py_buffer(places), pa.py_buffer(guid_texts(stored))]
        return pa.Array.from_buffers(pa.large_string(), count, buffers), valid
    array = array.cast(pa.large_binary())
    _, stored_places, content = array.buffers()
    places = np.frombuffer(stored_places or bytes(8), np.int64, count + 1, 8 * array.offset)
    data = np.frombuffer(content or b"", np.uint8)
    among = texts_among(places, data)
    if among is not None:
        valid = valid & among
        array = pa.array(array.to_pylist(), pa.large_binary(), mask=~among)
    return array.cast(pa.large_string()), valid


def _text(array: pa.Array, text: str, op: str, case_sensitive: bool, valid: Bools) -> Bools:
    array = _computable(array)
    width = np.int64 if pa.types.is_large_string(array.type) else np.int32
    _, places, content = array.buffers()
    offsets = (
        np.frombuffer(places, width, len(array) + 1, array.offset * np.dtype(width).itemsize)
        if places is not None and places.size
        else np.zeros(len(array) + 1, width)
    )
    data = np.frombuffer(content, np.uint8) if content is not None else np.zeros(0, np.uint8)
    return match_texts(offsets, data, text, op, case_sensitive) & valid


def _matches(array: pa.Array, pattern: str, valid: Bools) -> Bools:
    """Try the regular expression only on values with the texts that it requires: finding texts is ten times faster."""
    candidates = valid
    for text, case_sensitive in required_texts(pattern):
        candidates = candidates & _text(array, text, "contains", case_sensitive, candidates)
    if 2 * np.count_nonzero(candidates) > len(array):
        return _bools(_pc().match_substring_regex(array, pattern)) & valid
    found = np.zeros(len(array), np.bool_)
    found[candidates] = _bools(_pc().match_substring_regex(array.filter(pa.array(candidates)), pattern))
    return found


def _computable(array: pa.Array) -> pa.Array:
    """The same values in a type that Arrow compares."""
    array = computable(array)
    kind = array.type
    if pa.types.is_decimal(kind) and kind.scale < 0:
        # Arrow does not compare them: the same digits, with the power of ten left out.
        make = pa.decimal128 if pa.types.is_decimal128(kind) else pa.decimal256
        plain = make(kind.precision, 0)
        return pa.Array.from_buffers(plain, len(array), array.buffers(), array.null_count, array.offset)
    return array


def _of(scalar: pa.Scalar, kind: pa.DataType) -> pa.Scalar:
    if pa.types.is_decimal(scalar.type) and scalar.type.scale < 0:
        return pa.scalar(scalar.as_py().scaleb(scalar.type.scale), kind)
    return scalar if scalar.type.equals(kind) else scalar.cast(kind)


def _both_zeros(scalars: list[pa.Scalar]) -> list[pa.Scalar]:
    """Add 0.0 and -0.0 if one of them is there: Arrow looks floats up by their bits, but the two are equal."""
    if not pa.types.is_floating(scalars[0].type) or not any(each.as_py() == 0 for each in scalars):
        return scalars
    return [*scalars, *(pa.scalar(zero, scalars[0].type) for zero in (0.0, -0.0))]


def _valid(array: pa.Array) -> Bools:
    return np.ones(len(array), np.bool_) if not array.null_count else _bools(array.is_valid())


def _bools(array: pa.Array) -> Bools:
    known = _pc().fill_null(array, False) if array.null_count else array
    # Not by `to_numpy`: it would import pandas.
    first, last = known.offset, known.offset + len(known)
    stored = np.frombuffer(known.buffers()[1] or b"", np.uint8, count=-(-last // 8) - first // 8, offset=first // 8)
    return np.unpackbits(stored, count=first % 8 + len(known), bitorder="little")[first % 8 :].view(np.bool_)
