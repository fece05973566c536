"""The line formats of well-known logs.

A shape finds the time and the level of a line. Its patterns capture both as text. The layout says what each character
of the time means, so that times are computed for all lines at once.
"""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["SHAPES", "LogShape", "recognised", "times_and_levels"]

I64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogShape:
    """One kind of log line.

    Attributes
    ----------
    time
        A pattern with the group `t` for the time and perhaps the group `level`.
    layout
        The fixed part of a time, character by character: Y year, y year without century, m month, b name of the month,
        d day, H hour, M minute, S second, f fraction, z zone, E seconds from 1970. With `tail`, a fraction and a zone
        may follow.
    level
        A pattern for the level alone, if it may be anywhere in the line.
    """

    name: str
    time: str
    layout: str
    tail: bool = False
    level: str = ""


# The patterns are written so that the regex engine never backtracks: that is several times faster.
_CLOCK: Final = r"\d\d:\d\d:\d\d"
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_ISO: Final = rf"(?P<t>\d{{4}}-\d\d-\d\d[T ]{_CLOCK}(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?)"
_ISO_LAYOUT: Final = "YYYY-mm-dd HH:MM:SS"
_LEVEL: Final = (
    r"(?P<level>(?i:trace|debug|verbose|info|information|notice|warn|warning|err|error|severe|crit|critical|fatal|alert"
    r"|emerg|emergency|panic))\b"
)

SHAPES: Final[tuple[LogShape, ...]] = (
    LogShape(
        name="apache error",
        time=rf"^\[(?:\w{{3}} )?(?P<t>{_MONTH} \d\d {_CLOCK} \d{{4}})\] \[(?:[\w.\-]*:)?(?P<level>\w+)\]",
        layout="bbb dd HH:MM:SS YYYY",
    ),
    LogShape(
        name="apache error, microseconds",
        time=rf"^\[(?:\w{{3}} )?(?P<t>{_MONTH} \d\d {_CLOCK}\.\d{{6}} \d{{4}})\] \[(?:[\w.\-]*:)?(?P<level>\w+)\]",
        layout="bbb dd HH:MM:SS.ffffff YYYY",
    ),
    LogShape(
        name="access",
        time=rf"^\S+ \S+ [^\[]*\[(?P<t>\d\d/{_MONTH}/\d{{4}}:{_CLOCK} [+-]\d{{4}})\]",
        layout="dd/bbb/YYYY:HH:MM:SS zzzzz",
    ),
    LogShape(
        name="nginx error, go",
        time=rf"^(?P<t>\d{{4}}/\d\d/\d\d {_CLOCK}(?:\.\d{{1,9}})?)(?: \[(?P<level>\w+)\])?",
        layout="YYYY/mm/dd HH:MM:SS",
        tail=True,
    ),
    LogShape(
        name="spark",
        time=rf"^(?P<t>\d\d/\d\d/\d\d {_CLOCK}) (?P<level>[A-Z]+) ",
        layout="yy/mm/dd HH:MM:SS",
    ),
    LogShape(
        name="hdfs",
        time=r"^(?P<t>\d{6} \d{6}) \d+ (?P<level>[A-Z]+) ",
        layout="yymmdd HHMMSS",
    ),
    LogShape(
        name="openstack",
        time=rf"^\S+ (?P<t>\d{{4}}-\d\d-\d\d {_CLOCK}\.\d{{3}}) \d+ (?P<level>[A-Z]+) ",
        layout="YYYY-mm-dd HH:MM:SS.fff",
    ),
    LogShape(
        name="windows cbs",
        time=rf"^(?P<t>\d{{4}}-\d\d-\d\d {_CLOCK}), (?P<level>\w+) ",
        layout=_ISO_LAYOUT,
    ),
    LogShape(name="iso, level", time=rf"^\[?{_ISO}\]?(?:[\s|:\-]+\[?{_LEVEL})?", layout=_ISO_LAYOUT, tail=True),
    LogShape(name="iso, number, level", time=rf"^\[?{_ISO}\]?(?:[\s]+\d+ {_LEVEL})?", layout=_ISO_LAYOUT, tail=True),
    LogShape(
        name="iso, thread, level",
        time=rf"^\[?{_ISO}\]?(?:[\s]+\[[^\]]*\][\s\-]*\[?{_LEVEL})?",
        layout=_ISO_LAYOUT,
        tail=True,
    ),
    LogShape(
        name="iso, name, level",
        time=rf"^\[?{_ISO}\]?(?: - \S+ - {_LEVEL})?",
        layout=_ISO_LAYOUT,
        tail=True,
    ),
    LogShape(name="syslog, rfc 5424", time=rf"^<\d{{1,3}}>\d {_ISO}", layout=_ISO_LAYOUT, tail=True),
    LogShape(name="syslog", time=rf"^(?:<\d{{1,3}}>)?(?P<t>{_MONTH} [ \d]\d {_CLOCK}) ", layout="bbb dd HH:MM:SS"),
    LogShape(
        name="klog",
        time=rf"^(?P<level>[IWEF])(?P<t>\d{{4}} {_CLOCK}\.\d{{6}}) ",
        layout="mmdd HH:MM:SS.ffffff",
    ),
    LogShape(
        name="logfmt",
        time=rf"(?:^|\s)(?:time|ts|timestamp|t)=\"?{_ISO}",
        layout=_ISO_LAYOUT,
        tail=True,
        level=r"(?:^|\s)(?:level|lvl|severity)=\"?(?P<level>\w+)",
    ),
    LogShape(
        name="logfmt, seconds",
        time=r"(?:^|\s)(?:time|ts|timestamp|t)=\"?(?P<t>\d{10}(?:\.\d{1,9})?)(?:[\s\"]|$)",
        layout="EEEEEEEEEE",
        tail=True,
        level=r"(?:^|\s)(?:level|lvl|severity)=\"?(?P<level>\w+)",
    ),
    LogShape(
        name="json",
        time=rf"\"(?:@timestamp|timestamp|time|ts|datetime|date)\"\s*:\s*\"{_ISO}",
        layout=_ISO_LAYOUT,
        tail=True,
        level=r"\"(?:level|severity|lvl|levelname|log\.level)\"\s*:\s*\"(?P<level>\w+)",
    ),
    LogShape(
        name="json, seconds",
        time=r"\"(?:@timestamp|timestamp|time|ts)\"\s*:\s*(?P<t>\d{10}(?:\.\d{1,9})?)\s*[,}]",
        layout="EEEEEEEEEE",
        tail=True,
        level=r"\"(?:level|severity|lvl|levelname|log\.level)\"\s*:\s*\"(?P<level>\w+)",
    ),
)

_MONTHS: Final = [calendar.month_abbr[month].encode() for month in range(1, 13)]
_LONGEST: Final = 36  # characters of a time with its fraction and zone
_SECOND: Final = 1_000_000
_DAY: Final = 86_400 * _SECOND


def recognised(sample: pa.Array) -> LogShape | None:
    """The shape that finds a time in most lines, then a level in most; None if it finds a time in less than half."""
    best, most = None, (0, 0)
    for shape in SHAPES:
        times, levels = _captured(sample, shape)
        found = len(sample) - times.null_count, len(sample) - levels.null_count
        if found > most:
            best, most = shape, found
    filled = pc.sum(pc.not_equal(pc.utf8_trim_whitespace(sample), "")).as_py() or 0
    return best if most[0] * 2 >= filled and most[0] else None


def times_and_levels(
    lines: pa.Array, shape: LogShape, latest: datetime.datetime, year: int | None
) -> tuple[pa.Array, pa.Array]:
    """Timestamps (in microseconds; UTC if the line has a zone) and levels; null if a line has none.

    Parameters
    ----------
    latest
        Lines without a year get the latest year in which they are not more than a day after `latest`.
    year
        The year of such lines, if the caller knows it.
    """
    texts, levels = _captured(lines, shape)
    there = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
    padded = pc.ascii_rpad(texts.drop_null(), _LONGEST, " ")
    rows = np.frombuffer(padded.buffers()[2] or b"", np.uint8)
    first = np.frombuffer(padded.buffers()[1], np.int32, 1, 4 * padded.offset)[0] if len(padded) else 0
    rows = rows[first : first + _LONGEST * len(padded)].reshape(len(padded), _LONGEST)
    moments, sound = _moments(rows, shape, latest, year)
    values, valid = np.zeros(len(lines), np.int64), np.zeros(len(lines), np.bool_)
    values[there], valid[there] = moments, sound
    return pa.array(values, pa.timestamp("us"), mask=~valid), levels


def _captured(lines: pa.Array, shape: LogShape) -> tuple[pa.Array, pa.Array]:
    """The texts of times and levels."""
    found = pc.extract_regex(lines, shape.time)
    times = pc.struct_field(found, "t")
    if shape.level:
        levels = pc.struct_field(pc.extract_regex(lines, shape.level), "level")
    elif found.type.get_field_index("level") >= 0:
        levels = pc.struct_field(found, "level")
    else:
        levels = pa.nulls(len(lines), pa.string())
    # A group that did not match is empty.
    return times, pc.if_else(pc.equal(levels, ""), None, levels)


def _moments(
    rows: npt.NDArray[np.uint8], shape: LogShape, latest: datetime.datetime, year: int | None
) -> tuple[I64, npt.NDArray[np.bool_]]:
    """Microseconds from 1970 of times in this layout, and whether each is a valid time."""
    end = len(shape.layout)
    fraction, behind = _fraction(rows, end) if shape.tail else (_digits(rows, shape.layout, "f"), None)
    if not shape.tail:
        fraction *= 10 ** (6 - shape.layout.count("f"))
    if "E" in shape.layout:
        return _digits(rows, shape.layout, "E") * _SECOND + fraction, np.ones(len(rows), np.bool_)
    days, months = _digits(rows, shape.layout, "d"), _months(rows, shape.layout)
    years = _years(rows, shape.layout, months, days, latest, year)
    hours, minutes, seconds = (_digits(rows, shape.layout, part) for part in "HMS")
    firsts = ((years - 1970) * 12 + months - 1).astype("M8[M]")
    lengths = ((firsts + 1).astype("M8[D]") - firsts.astype("M8[D]")).astype(np.int64)
    sound = (months >= 1) & (months <= 12) & (days >= 1) & (days <= lengths)
    # A leap second is the first moment of the next minute.
    sound &= (hours < 24) & (minutes < 60) & (seconds <= 60)
    whole = firsts.astype("M8[D]").astype(np.int64) + days - 1
    moments = whole * _DAY + ((hours * 60 + minutes) * 60 + seconds) * _SECOND + fraction
    if behind is not None:
        moments -= _zones(rows, behind) * 60 * _SECOND
    elif "z" in shape.layout:
        moments -= _zones(rows, np.full(len(rows), shape.layout.index("z"))) * 60 * _SECOND
    return moments, sound


def _digits(rows: npt.NDArray[np.uint8], layout: str, part: str) -> I64:
    """The number in the characters of one part of the layout. Spaces count as 0."""
    number = np.zeros(len(rows), np.int64)
    for place, name in enumerate(layout):
        if name == part:
            digit = rows[:, place].astype(np.int64) - ord("0")
            number = number * 10 + np.maximum(digit, 0)
    return number


def _months(rows: npt.NDArray[np.uint8], layout: str) -> I64:
    if "b" not in layout:
        return _digits(rows, layout, "m")
    first = layout.index("b")
    names = np.ascontiguousarray(rows[:, first : first + 3])
    array = pa.Array.from_buffers(pa.binary(3), len(rows), [None, pa.py_buffer(names)])
    found: I64 = pc.fill_null(pc.index_in(array, pa.array(_MONTHS, pa.binary(3))), -1).to_numpy().astype(np.int64) + 1
    return found


def _years(
    rows: npt.NDArray[np.uint8], layout: str, months: I64, days: I64, latest: datetime.datetime, year: int | None
) -> I64:
    if "Y" in layout:
        return _digits(rows, layout, "Y")
    if "y" in layout:
        short = _digits(rows, layout, "y")
        return np.where(short < 70, short + 2000, short + 1900)
    if year is not None:
        return np.full(len(rows), year, np.int64)
    limit = latest + datetime.timedelta(days=1)
    years = np.full(len(rows), limit.year, np.int64)
    years -= (months * 100 + days) > limit.month * 100 + limit.day
    # February 29 only exists in leap years.
    odd = (months == 2) & (days == 29)
    for _ in range(8):
        years -= odd & ~((years % 4 == 0) & ((years % 100 != 0) | (years % 400 == 0)))
    return years


def _fraction(rows: npt.NDArray[np.uint8], end: int) -> tuple[I64, I64]:
    """Microseconds of the fraction after the fixed part, and its end. Digits after the sixth are dropped."""
    there = (rows[:, end] == ord(".")) | (rows[:, end] == ord(","))
    fraction, behind = np.zeros(len(rows), np.int64), np.full(len(rows), end, np.int64) + there
    going = there
    for place in range(9):
        digit = rows[:, end + 1 + place].astype(np.int64) - ord("0")
        going = going & (digit >= 0) & (digit <= 9)
        if not going.any():
            break
        behind += going
        if place < 6:
            fraction += np.where(going, digit, 0) * 10 ** (5 - place)
    return fraction, behind


def _zones(rows: npt.NDArray[np.uint8], first: I64) -> I64:
    """Minutes east of UTC, from `+hh:mm` or `+hhmm`; 0 for anything else."""
    minutes = np.zeros(len(rows), np.int64)
    sign = np.take_along_axis(rows, first[:, None], 1)[:, 0]
    there = np.flatnonzero((sign == ord("+")) | (sign == ord("-")))
    if not len(there):
        return minutes
    digit: Callable[[int], I64] = lambda place: rows[there, first[there] + place].astype(np.int64) - ord("0")  # noqa: E731
    colon = digit(3) == ord(":") - ord("0")
    tens, ones = np.where(colon, digit(4), digit(3)), np.where(colon, digit(5), digit(4))
    east = (digit(1) * 10 + digit(2)) * 60 + tens * 10 + ones
    minutes[there] = np.where(sign[there] == ord("-"), -east, east)
    return minutes
