"""The shard property `amudai.followed`: how far growing files were read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Final

import xxhash

from amudai.errors import CorruptedData
from amudai.format.directory import ShardProperties
from amudai.format.property_values import AnyValue, Properties

__all__ = ["FOLLOWED_PROPERTY", "MARKED_BYTES", "FollowedFile", "followed_of", "followed_property", "mark_of"]

FOLLOWED_PROPERTY: Final = "amudai.followed"
# A file is recognised by this number of bytes before the place up to which it was read.
MARKED_BYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class FollowedFile:
    """A growing file, and how much of it is in the shard.

    Attributes
    ----------
    file
        Its path, relative to the folder of the shard.
    mark
        A hash of the last bytes that were read, by which the file is told from another that takes its name.
    size, lines
        How many bytes and lines of it were read.
    """

    file: str
    mark: str
    size: int
    lines: int


def mark_of(data: bytes) -> str:
    """A hash of the last bytes that were read."""
    return xxhash.xxh3_128_hexdigest(data)


def followed_property(files: Iterable[FollowedFile]) -> Properties:
    """The property with these files; none without files. Of a file that occurs more than once, the last counts."""
    latest = {each.file: each for each in files}
    if not latest:
        return ()
    return ((FOLLOWED_PROPERTY, AnyValue("string", json.dumps([asdict(each) for each in latest.values()]))),)


def followed_of(properties: ShardProperties) -> tuple[FollowedFile, ...]:
    """The files in the properties of a shard."""
    found = next((value for name, value in properties.custom if name == FOLLOWED_PROPERTY), None)
    if found is None:
        return ()
    try:
        files = tuple(FollowedFile(**each) for each in json.loads(str(found.value)))
    except (TypeError, ValueError, RecursionError) as error:
        raise CorruptedData(f"property {FOLLOWED_PROPERTY}: expected a list of files, found other text") from error
    for each in files:
        has_numbers = type(each.size) is int and type(each.lines) is int and min(each.size, each.lines) >= 0
        if not has_numbers or not isinstance(each.file, str) or not isinstance(each.mark, str):
            raise CorruptedData(f"property {FOLLOWED_PROPERTY}: expected names and numbers, found {each!r}")
    return files
