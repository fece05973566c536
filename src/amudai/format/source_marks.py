"""The shard property `amudai.sources`: marks of the files that a shard was made from."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

import xxhash

from amudai.errors import CorruptedData
from amudai.format.directory import ShardProperties
from amudai.format.property_values import AnyValue, Properties

__all__ = ["MAX_SOURCE_MARKS", "SOURCES_PROPERTY", "source_mark", "source_marks_of", "source_marks_property"]

SOURCES_PROPERTY: Final = "amudai.sources"
# More files are not noted: a mebibyte of marks would be read whenever the properties of the shard are.
MAX_SOURCE_MARKS: Final = 1 << 17


def source_mark(name: str, size: int, modified: int | None) -> int:
    """A number that distinguishes a file, and its state, from others.

    Parameters
    ----------
    name
        The path relative to the folder of the shard, or the URL.
    modified
        The time of the last modification in nanoseconds from 1970, if it is known.
    """
    text = f"{name}\0{size}\0{'' if modified is None else modified}"
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogateescape"))


def source_marks_property(marks: Iterable[int]) -> Properties:
    """The property with these marks; none if there are too many or none."""
    found = sorted(set(marks))
    if not 0 < len(found) <= MAX_SOURCE_MARKS:
        return ()
    return ((SOURCES_PROPERTY, AnyValue("bytes", struct.pack(f"<{len(found)}Q", *found))),)


def source_marks_of(properties: ShardProperties) -> frozenset[int]:
    """The marks in the properties of a shard."""
    found = next((value for name, value in properties.custom if name == SOURCES_PROPERTY), None)
    if found is None:
        return frozenset()
    if not isinstance(found.value, bytes) or len(found.value) % 8:
        raise CorruptedData(f"property {SOURCES_PROPERTY}: expected bytes, 8 for each file, found {found.kind}")
    return frozenset(struct.unpack(f"<{len(found.value) // 8}Q", found.value))
