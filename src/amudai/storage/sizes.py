"""Sizes such as 512MB."""

from __future__ import annotations

import re
from typing import Final

from amudai.arguments import shown
from amudai.errors import InvalidArgument

__all__ = ["Size", "size_of"]

Size = int | str

_UNITS: Final = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def size_of(size: Size) -> int:
    """The number of bytes that `size` stands for: an int, or a text with a unit.

    >>> size_of("512MB"), size_of("1 GiB"), size_of(4096)
    (512000000, 1073741824, 4096)
    """
    if isinstance(size, int) and not isinstance(size, bool):
        return size
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size) if isinstance(size, str) else None
    if match is None or match[2].upper() not in _UNITS:
        raise InvalidArgument(f"size: expected a number of bytes such as 512MB, found {shown(size)}")
    return int(float(match[1]) * _UNITS[match[2].upper()])
