"""The dictionary of a dictionary-encoded field: the value of each code.

The buffer has a header of 128 bytes and up to three sections, each an envelope (length, payload, padding, checksum):
the values in the order of their codes, the end of each value, and the codes in the order of their values.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from struct import Struct
from typing import Final, Self, TypeVar

import numpy as np
import numpy.typing as npt

from amudai.errors import CorruptedData, InvalidArgument
from amudai.format.container import Bytes, check_zeros, checksum
from amudai.types import BYTES, WIDTHS, BasicType, SchemaNode

__all__ = ["DictionaryHeader", "ValueDictionary", "check_dictionary_padding", "encode_dictionary", "section"]

_HEADER: Final = Struct("<BIBII6Q62xI")
_LENGTH: Final = 8
_CHECKSUM: Final = 4
_BUFFER_ALIGNMENT: Final = 64
_SECTION_ALIGNMENT: Final = 16
_SECTION_PADDING: Final = 64  # after a payload, so that wide loads from its last bytes stay inside
_MAX_COUNT: Final = 0xFFFF_FFFF
_OFFSETS: Final = np.dtype("<u8")
_IDS: Final = np.dtype("<u4")
_TYPES: Final[dict[int, BasicType]] = {kind.value: kind for kind in (*BYTES, *WIDTHS)}
_VARIABLE: Final = frozenset({BasicType.BINARY, BasicType.STRING})

S = TypeVar("S", bound=np.generic)


@dataclass(frozen=True, slots=True, kw_only=True)
class DictionaryHeader:
    """The first 128 bytes of a dictionary. Ranges are relative to the start of its buffer."""

    value_type: BasicType
    value_count: int
    null_id: int | None
    fixed_value_size: int
    values: tuple[int, int]
    offsets: tuple[int, int]
    sorted_ids: tuple[int, int]

    @classmethod
    def decode(cls, data: Bytes) -> Self:
        """The header of the buffer that begins with `data`."""
        if len(data) < _HEADER.size:
            raise CorruptedData(f"dictionary header: expected {_HEADER.size} bytes, found {len(data)}")
        kind, count, has_null, null_id, fixed, *ends, stored = _HEADER.unpack_from(data)
        computed = checksum(data[: _HEADER.size - _CHECKSUM])
        if stored != computed:
            raise CorruptedData(f"dictionary header checksum: expected {stored:#010x}, found {computed:#010x}")
        if kind not in _TYPES:
            raise CorruptedData(f"dictionary value_type: expected one of {sorted(_TYPES)}, found {kind}")
        if has_null > 1:
            raise CorruptedData(f"dictionary null_entry_present: expected 0 or 1, found {has_null}")
        if has_null and null_id >= count:
            raise CorruptedData(f"dictionary null_id: expected less than {count}, found {null_id}")
        return cls(
            value_type=_TYPES[kind],
            value_count=count,
            null_id=null_id if has_null else None,
            fixed_value_size=fixed,
            values=(ends[0], ends[1]),
            offsets=(ends[2], ends[3]),
            sorted_ids=(ends[4], ends[5]),
        )

    def encode(self) -> bytes:
        """The 128 bytes that state this header."""
        ends = (*self.values, *self.offsets, *self.sorted_ids)
        has_null, null_id = self.null_id is not None, self.null_id or 0
        packed = _HEADER.pack(self.value_type, self.value_count, has_null, null_id, self.fixed_value_size, *ends, 0)
        return packed[:-_CHECKSUM] + checksum(packed[:-_CHECKSUM]).to_bytes(_CHECKSUM, "little")

    def check(self, node: SchemaNode, expected_count: int | None = None) -> None:
        """Raise an error if the type, fixed size or number of entries is not that of the field."""
        if self.value_type is not node.basic_type:
            found = f"expected {node.basic_type.name}, found {self.value_type.name}"
            raise CorruptedData(f"dictionary value_type: {found}")
        fixed = _fixed_size(node)
        if self.fixed_value_size != fixed:
            raise CorruptedData(f"dictionary fixed_value_size: expected {fixed}, found {self.fixed_value_size}")
        if expected_count is not None and self.value_count != expected_count:
            raise CorruptedData(f"dictionary value_count: expected {expected_count}, found {self.value_count}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ValueDictionary:
    """The entries of a dictionary: code `i` is bytes `offsets[i] .. offsets[i + 1]` of `values`.

    Values of a fixed size have no `offsets`: code `i` is at `i * fixed_value_size`. `sorted_ids`, if requested and
    stored, lists the codes of all entries except the null entry, in the order of their bytes, or of their numbers.
    """

    value_type: BasicType
    value_count: int
    null_id: int | None
    fixed_value_size: int
    values: memoryview
    offsets: npt.NDArray[np.uint64] | None
    sorted_ids: npt.NDArray[np.uint32] | None

    @classmethod
    def decode(
        cls,
        buffer: Bytes,
        node: SchemaNode,
        *,
        expected_count: int | None = None,
        sorted_ids: bool = False,
        verify: bool = True,
    ) -> Self:
        """The dictionary in a whole buffer; `expected_count` is the descriptor's `dictionary_size`."""
        header = DictionaryHeader.decode(buffer)
        header.check(node, expected_count)
        values = section(buffer, *header.values, "values", verify)
        return cls(
            value_type=header.value_type,
            value_count=header.value_count,
            null_id=header.null_id,
            fixed_value_size=header.fixed_value_size,
            values=values,
            offsets=_offsets(buffer, header, len(values), verify),
            sorted_ids=_sorted_ids(buffer, header, verify) if sorted_ids else None,
        )


def check_dictionary_padding(buffer: Bytes) -> None:
    """Raise an error if the padding of a dictionary, which was read before, is not zero."""
    header = DictionaryHeader.decode(buffer)
    used = sorted(each for each in (header.values, header.offsets, header.sorted_ids) if each[0] < each[1])
    at = _HEADER.size
    for start, end in used:
        check_zeros(buffer[at:start], "dictionary padding")
        length = int.from_bytes(buffer[start : start + _LENGTH], "little")
        check_zeros(buffer[start + _LENGTH + length : end - _CHECKSUM], "dictionary padding")
        at = max(at, end)
    check_zeros(buffer[at:], "dictionary padding")


def encode_dictionary(
    node: SchemaNode,
    *,
    value_count: int,
    data: Bytes,
    offsets: npt.NDArray[np.uint64] | None,
    null_id: int | None,
    sorted_ids: npt.NDArray[np.uint32] | None,
) -> bytes:
    """The buffer of a dictionary, including the null entry.

    Parameters
    ----------
    value_count
        The number of entries, including the null entry: the descriptor's `dictionary_size`.
    data
        The values in the order of their codes. The null entry has no bytes, or zeros if values have a fixed size.
    offsets
        0, followed by the end of each value in `data`; None if values have a fixed size.
    null_id
        The code of the null entry, if there is one.
    sorted_ids
        The codes of all entries except the null entry, in the order of their bytes. None leaves them out: reading
        values does not need them.
    """
    _check_written(node, value_count, len(data), offsets, null_id, sorted_ids)
    sections = (
        _envelope(data),
        () if offsets is None else _envelope(offsets.astype(_OFFSETS, copy=False).tobytes()),
        () if sorted_ids is None else _envelope(sorted_ids.astype(_IDS, copy=False).tobytes()),
    )
    ends = [_HEADER.size]
    for pieces in sections:
        ends.append(ends[-1] + sum(map(len, pieces)))
    header = DictionaryHeader(
        value_type=node.basic_type,
        value_count=value_count,
        null_id=null_id,
        fixed_value_size=_fixed_size(node),
        values=(ends[0], ends[1]),
        offsets=(ends[1], ends[2]),
        sorted_ids=(ends[2], ends[3]),
    )
    return b"".join((header.encode(), *chain(*sections), bytes(-ends[3] % _BUFFER_ALIGNMENT)))


def section(buffer: Bytes, start: int, end: int, what: str, verify: bool = True) -> memoryview:
    """The payload of the section at `start..end`, checked against its checksum. `what` names it in errors."""
    if not _HEADER.size <= start <= end <= len(buffer):
        room = f"{_HEADER.size}..{len(buffer)}"
        raise CorruptedData(f"dictionary {what}: expected a range within {room}, found {start}..{end}")
    size = end - start
    if size < _LENGTH + _CHECKSUM:
        raise CorruptedData(f"dictionary {what}: expected at least {_LENGTH + _CHECKSUM} bytes, found {size}")
    length = int.from_bytes(buffer[start : start + _LENGTH], "little")
    if length + _LENGTH + _CHECKSUM > size:
        raise CorruptedData(f"dictionary {what}: expected {length + _LENGTH + _CHECKSUM} bytes, found {size}")
    payload = memoryview(buffer)[start + _LENGTH : start + _LENGTH + length]
    if verify:
        stored, computed = int.from_bytes(buffer[end - _CHECKSUM : end], "little"), checksum(payload)
        if stored != computed:
            raise CorruptedData(f"dictionary {what} checksum: expected {stored:#010x}, found {computed:#010x}")
    return payload


def _fixed_size(node: SchemaNode) -> int:
    """The bytes of each value; 0 if values have any size."""
    if node.basic_type in WIDTHS:
        return WIDTHS[node.basic_type]
    return 0 if node.basic_type in _VARIABLE else node.fixed_size


def _envelope(payload: Bytes) -> tuple[Bytes, ...]:
    """The parts of a section: length, payload, padding, checksum."""
    length, signature = len(payload).to_bytes(_LENGTH, "little"), checksum(payload).to_bytes(_CHECKSUM, "little")
    least = _LENGTH + len(payload) + _SECTION_PADDING + _CHECKSUM
    return length, payload, bytes(_SECTION_PADDING + -least % _SECTION_ALIGNMENT), signature


def _check_written(
    node: SchemaNode,
    count: int,
    size: int,
    offsets: npt.NDArray[np.uint64] | None,
    null_id: int | None,
    sorted_ids: npt.NDArray[np.uint32] | None,
) -> None:
    """Raise an error for a dictionary that `ValueDictionary` would not read. The ids themselves are not checked."""
    if node.basic_type not in _TYPES:
        raise InvalidArgument(f"dictionary of {node}: expected strings, binaries, guids or numbers, found another type")
    if not 0 <= count <= _MAX_COUNT or (null_id is not None and not 0 <= null_id < count):
        raise InvalidArgument(f"dictionary null_id: expected less than {count}, found {null_id}")
    if (offsets is None) == (node.basic_type in _VARIABLE):
        raise InvalidArgument(f"dictionary of {node}: expected offsets for values of any size, and only for them")
    if offsets is None:
        expected = count * _fixed_size(node)
        if size != expected:
            raise InvalidArgument(f"dictionary values: expected {expected} bytes, found {size}")
    elif len(offsets) != count + 1 or offsets[0] != 0 or offsets[-1] != size:
        found = f"{len(offsets)} of them up to {offsets[-1] if len(offsets) else 0}"
        raise InvalidArgument(f"dictionary offsets: expected {count + 1} of them up to {size}, found {found}")
    ids = count - (null_id is not None)
    if sorted_ids is not None and len(sorted_ids) != ids:
        raise InvalidArgument(f"dictionary sorted ids: expected {ids}, found {len(sorted_ids)}")


def _offsets(buffer: Bytes, header: DictionaryHeader, values_size: int, verify: bool) -> npt.NDArray[np.uint64] | None:
    count, (start, end) = header.value_count, header.offsets
    if header.value_type not in _VARIABLE:
        if values_size != count * header.fixed_value_size:
            expected = f"{count} values of {header.fixed_value_size} bytes"
            raise CorruptedData(f"dictionary values: expected {expected}, found {values_size} bytes")
        return None
    payload = section(buffer, start, end, "offsets", verify)
    if len(payload) != (count + 1) * _OFFSETS.itemsize:
        expected = f"{(count + 1) * _OFFSETS.itemsize} bytes for {count} values"
        raise CorruptedData(f"dictionary offsets: expected {expected}, found {len(payload)}")
    offsets = _aligned(np.frombuffer(payload, _OFFSETS))
    if offsets[0] != 0 or offsets[-1] != values_size:
        found = f"{offsets[0]}..{offsets[-1]}"
        raise CorruptedData(f"dictionary offsets: expected 0..{values_size}, found {found}")
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if len(falls):
        at = int(falls[0])
        found = f"{offsets[at + 1]} at {at + 1}"
        raise CorruptedData(f"dictionary offsets: expected at least {offsets[at]}, found {found}")
    return offsets


def _sorted_ids(buffer: Bytes, header: DictionaryHeader, verify: bool) -> npt.NDArray[np.uint32] | None:
    start, end = header.sorted_ids
    if start == end:
        return None
    payload = section(buffer, start, end, "sorted ids", verify)
    count = header.value_count - (header.null_id is not None)
    if len(payload) != count * _IDS.itemsize:
        expected = f"{count * _IDS.itemsize} bytes for {count} values"
        raise CorruptedData(f"dictionary sorted ids: expected {expected}, found {len(payload)}")
    ids = _aligned(np.frombuffer(payload, _IDS))
    if count and (largest := int(ids.max())) >= header.value_count:
        raise CorruptedData(f"dictionary sorted ids: expected less than {header.value_count}, found {largest}")
    listed = np.zeros(header.value_count, np.bool_)
    listed[ids] = True
    if int(listed.sum()) != count or (header.null_id is not None and listed[header.null_id]):
        expected = f"each of {count} values once"
        raise CorruptedData(f"dictionary sorted ids: expected {expected}, found {int(listed.sum())} different ids")
    return ids


def _aligned(array: npt.NDArray[S]) -> npt.NDArray[S]:
    return array if array.flags.aligned else array.copy()
