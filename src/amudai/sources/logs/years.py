"""The years of times that name none.

The year is decided once for each file. Time may go back by up to a month, because lines are not always in order. A step
back of more than a month is a New Year that passed. The latest time gets the latest year in which it is not after the
modification of the file. A file that goes back too often is not in order, as if several logs were mixed: all of its
times are of one year.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from amudai.errors import InvalidArgument
from amudai.sources.logs.block import I64, Flags

__all__ = ["FirstYear", "Years", "check_year", "first_year", "in_years"]

_DAY: Final = 86_400
_DISORDER: Final = 31 * _DAY
_YEAR: Final = 366 * _DAY
_START_OF_2000: Final = 10_957 * _DAY
_FEBRUARY_29: Final = _START_OF_2000 + 59 * _DAY
_MARCH: Final = _FEBRUARY_29 + _DAY
# A clock without a zone may be ahead of the file's time, which is in UTC.
_AHEAD: Final = datetime.timedelta(days=1)
# No log without years is that old.
_MOST_PASSED: Final = 50


def check_year(year: int) -> None:
    """Raise `InvalidArgument` for a year that times cannot have.

    >>> check_year(2026)
    """
    if not datetime.MINYEAR <= year <= datetime.MAXYEAR - _MOST_PASSED:
        expected = f"{datetime.MINYEAR} to {datetime.MAXYEAR - _MOST_PASSED}"
        raise InvalidArgument(f"year: expected one from {expected}, found {year}")


@dataclass(frozen=True, slots=True)
class FirstYear:
    """The year of the first time of a file.

    Attributes
    ----------
    in_order
        Whether New Years pass in the file. If not, all times are of this year.
    """

    year: int
    in_order: bool = True


class Years:
    """Follows the times of a file, as times of the year 2000, and counts the New Years that passed."""

    def __init__(self, per_second: int, *, in_order: bool = True) -> None:
        self._in_order = in_order
        self._per_second = per_second
        self._previous: int | None = None
        self._passed = 0

    def passed(self, moments: I64) -> I64:
        """How many New Years passed before each of the next times, since the first time of all."""
        if not len(moments) or not self._in_order:
            return np.zeros(len(moments), np.int64)
        steps = np.diff(moments, prepend=moments[0] if self._previous is None else self._previous)
        back = steps < -_DISORDER * self._per_second
        # A late line of the old year is as far ahead as a year is long.
        ahead = steps > (_YEAR - _DISORDER) * self._per_second
        passed = np.full(len(moments), self._passed)
        if back.any() or ahead.any():
            passed += np.cumsum(back.astype(np.int64) - ahead)
        self._previous, self._passed = int(moments[-1]), int(passed[-1])
        return passed


def first_year(times: Iterable[I64], per_second: int, modified: float, told: int | None = None) -> FirstYear | None:
    """The year of the first time of a file; None if there is no time.

    Parameters
    ----------
    times
        All times of the file, as times of the year 2000, block by block.
    modified
        When the file was modified, in seconds from 1970.
    told
        The year that the caller states.
    """
    years = Years(per_second)
    latest: tuple[int, int] | None = None
    greatest, least_passed = 0, 0
    leap_days: set[int] = set()
    for moments in times:
        passed = years.passed(moments)
        if not len(passed):
            continue
        most = int(passed.max())
        last = most, int(moments[passed == most].max()) // per_second
        latest = last if latest is None else max(latest, last)
        greatest, least_passed = max(greatest, int(moments.max()) // per_second), min(least_passed, int(passed.min()))
        on_leap_day = (moments >= _FEBRUARY_29 * per_second) & (moments < _MARCH * per_second)
        if on_leap_day.any():
            leap_days.update(passed[on_leap_day].tolist())
    if latest is None:
        return None
    in_order = latest[0] - least_passed <= _MOST_PASSED
    if told is not None:
        return FirstYear(told, in_order)
    if not in_order:
        latest, leap_days = (0, greatest), {0} if leap_days else set()
    limit = datetime.datetime.fromtimestamp(modified, datetime.UTC).replace(tzinfo=None) + _AHEAD
    moment = datetime.datetime(2000, 1, 1) + datetime.timedelta(seconds=latest[1] - _START_OF_2000)
    is_later = (moment.month, moment.day, moment.time()) > (limit.month, limit.day, limit.time())
    first = limit.year - is_later - latest[0]
    # February 29 only exists in leap years.
    leap = (first - ago for ago in range(9) if all(_is_leap(first - ago + each) for each in leap_days))
    return FirstYear(next(leap, first), in_order)


def in_years(moments: I64, years: I64, per_second: int) -> tuple[I64, Flags]:
    """Times of the year 2000 moved to other years, and whether each exists there."""
    moved, exists = np.zeros(len(moments), np.int64), np.ones(len(moments), np.bool_)
    some_years = range(int(years.min()), int(years.max()) + 1) if len(years) else range(0)
    for year in some_years:
        chosen = slice(None) if len(some_years) == 1 else years == year
        start = (datetime.date(year, 1, 1) - datetime.date(1970, 1, 1)).days * _DAY
        shift = (start - _START_OF_2000) * per_second
        if _is_leap(year):
            moved[chosen] = moments[chosen] + shift
            continue
        after = moments >= _MARCH * per_second
        moved[chosen] = (moments + np.where(after, shift - _DAY * per_second, shift))[chosen]
        exists[chosen] = (after | (moments < _FEBRUARY_29 * per_second))[chosen]
    return moved, exists


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
