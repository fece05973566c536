"""Profiles: the trade-off between size and speed.

A profile has a price: how many bytes a nanosecond of decoding is worth. The writer stores each block in the way for
which bytes plus price times decoding time is smallest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from amudai.arguments import shown
from amudai.errors import InvalidArgument

__all__ = ["PROFILES", "Profile", "profile_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The settings of a profile.

    Attributes
    ----------
    price
        Bytes that a nanosecond of decoding a value is worth.
    cascades
        Whether encodings inside encodings are tried.
    zstd_levels
        Levels of Zstandard that are tried, the fastest first; empty for no Zstandard.
    slow_level
        A level of Zstandard that takes ten times as long, for text that it makes much smaller; 0 for none.
    lz4_level
        0 for LZ4's fast search, 2 for the kernels' own (nearly as small as 3, twice as fast), 3 to 12 for LZ4's slow
        search. Text of which 1, a quicker search of the kernels, makes nearly as little gets that.
    block_values, codec_values
        Values in a block of numbers, and in a block that must be decompressed as a whole.
    text_bytes, text_rows
        The approximate size of a block of strings in bytes, and the most rows it may have.
    range_index
        Whether fields of numbers get a range index.
    extended
        Whether encodings are tried that only this library reads.
    """

    name: str
    price: float
    plain: bool = False
    cascades: bool = True
    zstd_levels: tuple[int, ...] = ()
    slow_level: int = 0
    lz4_level: int = 0
    block_values: int = 8192
    codec_values: int = 8192
    text_bytes: int = 64 * 1024
    text_rows: int = 4096
    range_index: bool = True
    extended: bool = False


_ALL: Final = (
    Profile(name="plain", price=0.0, plain=True, cascades=False, range_index=False),
    Profile(name="minimal_compression", price=1.0, cascades=False),
    Profile(name="balanced", price=0.25, zstd_levels=(1,), lz4_level=2),
    Profile(
        name="high_compression",
        price=0.015,
        zstd_levels=(1, 9),
        lz4_level=9,
        codec_values=32_768,
        text_bytes=128 * 1024,
        text_rows=8192,
    ),
    Profile(
        name="minimal_size",
        price=0.0,
        zstd_levels=(1, 9),
        slow_level=17,
        lz4_level=2,
        codec_values=65_536,
        text_bytes=512 * 1024,
        text_rows=65_536,
    ),
)
PROFILES: Final[Mapping[str, Profile]] = {profile.name: profile for profile in _ALL}


def profile_of(name: str, whose: str = "") -> Profile:
    """The profile of this name. `whose` says in an error whose profile it is.

    >>> profile_of("balanced").price
    0.25
    """
    found = PROFILES.get(name) if isinstance(name, str) else None
    if found is None:
        raise InvalidArgument(f"profile{whose}: expected one of {', '.join(PROFILES)}, found {shown(name)}")
    return found
