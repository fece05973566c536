"""Amounts as text for people: counts, times, sizes and rates."""

from __future__ import annotations

from typing import Final

__all__ = ["count_text", "rate_text", "size_text", "time_text"]

_UNITS: Final = ("kB", "MB", "GB", "TB", "PB", "EB")


def count_text(count: int, one: str, many: str | None = None) -> str:
    """A number of things.

    >>> count_text(1, "row"), count_text(1200, "row"), count_text(2, "index", "indexes")
    ('1 row', '1,200 rows', '2 indexes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def time_text(seconds: float) -> str:
    """A time for people.

    >>> time_text(0.00042), time_text(0.25), time_text(12.34), time_text(200)
    ('0.42 ms', '250 ms', '12.3 s', '3 min 20 s')
    """
    if seconds < 0.01:
        return f"{seconds * 1e3:.2f} ms"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def size_text(size: float) -> str:
    """A number of bytes.

    >>> size_text(0), size_text(1), size_text(999), size_text(1_234_567), size_text(10**21)
    ('0 B', '1 B', '999 B', '1.2 MB', '1,000.0 EB')
    """
    amount = round(size)
    if amount < 1000:
        return f"{amount} B"
    power = min(len(_UNITS), (len(str(amount)) - 1) // 3)
    return f"{amount / 1000**power:,.1f} {_UNITS[power - 1]}"


def rate_text(amount: float, seconds: float) -> str:
    """Bytes by time.

    >>> rate_text(3_000_000, 2)
    '1.5 MB/s'
    """
    return f"{size_text(amount / max(seconds, 1e-9))}/s"
