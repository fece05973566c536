"""Sizes and counts as people read them."""

from __future__ import annotations

from typing import Final

__all__ = ["counted", "size_text"]

_UNITS: Final = ("B", "kB", "MB", "GB", "TB")


def size_text(size: float) -> str:
    """A size for people.

    >>> size_text(1_234_567)
    '1.2 MB'
    """
    for unit in _UNITS[:-1]:
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} {_UNITS[-1]}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number of things for people.

    >>> counted(1, "stripe"), counted(2000, "row"), counted(2, "index", "indexes")
    ('1 stripe', '2,000 rows', '2 indexes')
    """
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
