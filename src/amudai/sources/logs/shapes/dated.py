"""Logs whose lines begin with a date that has two meanings: 02/01/2024 is in January or in February."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from amudai.sources.logs.shape import LogShape
from amudai.sources.logs.shapes.times import BEHIND_CLOCK

__all__ = ["dated_shape"]

_DATE: Final = re.compile(r"\[?(\d\d?)([/-])(\d\d?)\2\d{4},? \d\d?:\d\d:\d\d(?:[.,:]\d+)?( ?[AaPp][Mm]\b)?")


def dated_shape(sample: Sequence[str]) -> LogShape | None:
    """The shape of lines that begin with such a date; None if there are none, or if it can be read both ways.

    A number above 12 is a day. A clock with AM and PM is an American one, which has the month first. If only one of the
    numbers changes in the sample, it is the day. With dashes, the day is first unless the numbers say otherwise.
    """
    found = [match for line in sample if (match := _DATE.match(line)) is not None]
    if not found:
        return None
    firsts, seconds = ({int(match[place]) for match in found} for place in (1, 3))
    day_first, month_first = max(firsts) > 12, max(seconds) > 12
    if not day_first and not month_first:
        month_first = any(match[4] for match in found)
    if not day_first and not month_first:
        day_first, month_first = len(seconds) == 1 < len(firsts), len(firsts) == 1 < len(seconds)
    mark = found[0][2]
    if not day_first and not month_first:
        day_first = mark == "-"
    if day_first == month_first:
        return None
    date = f"%-d{mark}%-m{mark}%Y" if day_first else f"%-m{mark}%-d{mark}%Y"
    return LogShape(
        name="day first, level" if day_first else "month first, level",
        template=rf"\[?{date},? %-H:%M:%S([.,:]%f)?{BEHIND_CLOCK}\]?"
        r"([\s|:\-]*\[?{level=%L}\]?:?)?([\s|:\-]+{message=.*})?",
    )
