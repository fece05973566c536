"""The texts of a field in a batch of values, with their positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from amudai.encoding import GUID_LENGTH, guid_texts, texts_among
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.index.term.custom import is_unicode
from amudai.index.term.stored_form import TEXT_TYPES
from amudai.shard import StoredArray
from amudai.types import BasicType, NodePath, SchemaNode

__all__ = ["Texts", "exploded", "require_text_path", "slots_of", "texts_of"]

Bools = npt.NDArray[np.bool_]

_CONTAINERS = (BasicType.STRUCT, BasicType.LIST, BasicType.MAP, BasicType.FIXED_SIZE_LIST)


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """The strings of a batch by slot, with their validity and their positions, counted from the start of the batch.

    If there are `codes`, slot i holds string number `codes[i]`. If `positions` is None, slot i is at position i.
    """

    offsets: npt.NDArray[Any]
    data: npt.NDArray[np.uint8]
    validity: npt.NDArray[np.uint8] | None
    validity_at: int
    codes: npt.NDArray[np.uint32] | None
    positions: npt.NDArray[np.uint32] | None

    @property
    def count(self) -> int:
        """How many slots there are."""
        return len(self.offsets) - 1 if self.codes is None else len(self.codes)

    @property
    def size(self) -> int:
        """Bytes of the strings, or of the codes."""
        return int(self.offsets[-1]) - int(self.offsets[0]) if self.codes is None else self.codes.nbytes

    def part(self, first: int, last: int) -> Texts:
        """Slots `first .. last`."""
        return Texts(
            self.offsets if self.codes is not None else self.offsets[first : last + 1],
            self.data,
            self.validity,
            self.validity_at + first,
            None if self.codes is None else self.codes[first:last],
            np.arange(first, last, dtype=np.uint32) if self.positions is None else self.positions[first:last],
        )


def require_text_path(path: NodePath) -> None:
    """Raise an error if the field is not text, or if a union or the like is above it."""
    if path[-1].basic_type not in TEXT_TYPES:
        raise InvalidArgument(f"term index: expected a field of text, found {path[-1]}", field=path[-1].name)
    for node in path[:-1]:
        if node.basic_type not in _CONTAINERS:
            raise UnsupportedFeature(f"term index: below a {node.basic_type.name.lower()}", field=path[-1].name)


def slots_of(values: StoredArray, path: NodePath) -> int:
    """How many slots the field at the end of `path` has."""
    for node, below in pairwise(path):
        values = _below(values, node, below)
    return values.length


def _below(values: StoredArray, node: SchemaNode, below: SchemaNode) -> StoredArray:
    return values.children[[each.schema_id for each in node.children].index(below.schema_id)]


def texts_of(values: StoredArray, path: NodePath, *, by_slot: bool = False) -> Texts | None:
    """The texts of the field at the end of `path`; None if there are none. `path` begins with the node of `values`.

    Positions are rows, or slots if `by_slot`.
    """
    rows: npt.NDArray[np.uint32] | None = None
    hidden: Bools | None = None  # slots below a null
    for node, below in pairwise(path):
        valid = values.valid()
        if valid is not None:
            hidden = ~valid if hidden is None else hidden | ~valid
        child = _below(values, node, below)
        if node.basic_type is not BasicType.STRUCT:
            sizes = (
                np.full(values.length, node.fixed_size, np.int64)
                if node.basic_type is BasicType.FIXED_SIZE_LIST
                else np.diff(values.offsets if values.offsets is not None else np.zeros(1, np.int64))
            )
            owners = np.arange(values.length, dtype=np.uint32) if rows is None else rows
            rows = np.repeat(owners, sizes)
            hidden = None if hidden is None else np.repeat(hidden, sizes)
        values = child
    if values.length == 0 or values.null_count == values.length:
        return None
    strings, codes = values, None
    if values.dictionary is not None:
        strings = values.dictionary.values
        codes = values.dictionary.codes.astype(np.uint32, copy=False)
    if strings.data is None:
        return None
    offsets, data = strings.offsets, strings.data
    if path[-1].basic_type is BasicType.GUID:
        data = guid_texts(data)
        offsets = np.arange(0, len(data) + 1, GUID_LENGTH, dtype=np.int64)
    if offsets is None:
        return None
    if path[-1].basic_type is BasicType.BINARY:
        among = texts_among(offsets, data)
        if among is not None:  # bytes that are no text have no terms
            others = ~(among if codes is None else among[codes])
            hidden = others if hidden is None else hidden | others
    validity, at = None, 0
    if hidden is not None and hidden.any():
        valid = values.valid()
        validity = np.packbits(~hidden if valid is None else valid & ~hidden, bitorder="little")
    elif values.validity is not None:
        validity, at = values.validity.data, values.validity.first
    return Texts(offsets, data, validity, at, codes, None if by_slot else rows)


def exploded(texts: Texts, terms: Callable[[str], Iterable[str]]) -> Texts:
    """The terms of texts in place of the texts, each with the position of its text."""
    data, offsets = texts.data, texts.offsets.astype(np.int64, copy=False)
    count = texts.count
    valid = np.ones(count, np.bool_)
    if texts.validity is not None:
        bits = np.unpackbits(texts.validity, count=texts.validity_at + count, bitorder="little")
        valid = bits[texts.validity_at :].astype(np.bool_)
    known: dict[int, list[bytes]] = {}  # by number of the text: those of a dictionary are split once
    found: list[bytes] = []
    owners: list[int] = []
    for slot in np.flatnonzero(valid).tolist():
        at = slot if texts.codes is None else texts.codes.item(slot)
        split = known.get(at)
        if split is None:
            text = data[offsets.item(at) : offsets.item(at + 1)].tobytes().decode()
            split = list(dict.fromkeys(term.encode() for term in terms(text) if term and is_unicode(term)))
            if texts.codes is not None:
                known[at] = split
        found += split
        owners += [slot] * len(split)
    ends = np.zeros(len(found) + 1, np.int64)
    np.cumsum([len(term) for term in found], out=ends[1:])
    rows = np.array(owners, np.uint32)
    positions = rows if texts.positions is None else texts.positions[rows]
    return Texts(ends, np.frombuffer(b"".join(found), np.uint8), None, 0, None, positions)
