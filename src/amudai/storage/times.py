"""Times of files. A file can claim any time: some file systems keep 64 bits of seconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["moment"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIRST: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def moment(nanoseconds: int) -> datetime:
    """A time of a file, given in nanoseconds from 1970. Times before the year 1 or after 9999 become the first or last.

    >>> moment(1_767_225_600_000_000_000).isoformat(), moment(10**30).year
    ('2026-01-01T00:00:00+00:00', 9999)
    """
    return _EPOCH + timedelta(microseconds=min(max(nanoseconds // 1000, _FIRST), _LAST))
