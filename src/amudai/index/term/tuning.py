"""The settings of a term index that trade size against speed, by profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["Tuning", "tuning_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The sizes of pages and blocks of an index, and how much it compresses.

    Attributes
    ----------
    page_terms, fan_out
        Entries of a leaf page, and of a page above the leaves.
    level, small_level
        The Zstandard level for terms, and that of a small index, for which more effort takes little time.
    gain
        A long list is compressed if that takes less than this fraction of its bit-packed size; 0 means never.
    list_values
        Integers in a compressed block.
    compress_numbers
        Whether the numbers of a page may be compressed as well. Saves a few percent of the index, and costs each
        look-up some microseconds.
    """

    page_terms: int = 2048
    fan_out: int = 1024
    level: int = 1
    small_level: int = 1
    gain: float = 0.0
    list_values: int = 16_384
    compress_numbers: bool = False


_BY_PROFILE: Final = {
    "plain": Tuning(),
    "minimal_compression": Tuning(),
    "balanced": Tuning(small_level=12, gain=0.8, compress_numbers=True),
    "high_compression": Tuning(page_terms=1024, level=12, small_level=12, gain=1.0, compress_numbers=True),
    "minimal_size": Tuning(
        page_terms=4096, level=15, small_level=15, gain=1.0, list_values=32_768, compress_numbers=True
    ),
}


def tuning_of(profile: str) -> Tuning:
    """The tuning for a profile of the shard."""
    return _BY_PROFILE.get(profile, Tuning())
