"""The column of times: zones, years and units.

A shape whose lines mostly name a zone has moments: `timestamp[us, tz=UTC]`. Otherwise times are what a clock showed:
`timestamp[us]`. A line of the other kind is a bad record, or has no time if the caller allows it. A zone from the
caller makes moments of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amudai.errors import InvalidArgument
from amudai.sources.logs.block import I64, Flags
from amudai.sources.logs.recognise import RecognisedShape
from amudai.sources.logs.years import FirstYear, Years, in_years

__all__ = ["TimeColumn", "check_timezone"]


@lru_cache(maxsize=16)
def check_timezone(zone: str) -> None:
    """Raise `InvalidArgument` unless Arrow knows the zone."""
    try:
        pc.assume_timezone(pa.array([0], pa.timestamp("us")), zone)
    except pa.ArrowInvalid as error:
        raise InvalidArgument(
            f"timezone: expected a name such as 'Europe/Berlin' or '+02:00', found {zone!r}"
        ) from error


@dataclass(slots=True)
class TimeColumn:
    """Makes the times of one file from what a program finds.

    Attributes
    ----------
    first_year
        The year of the first line, for shapes without a year.
    timezone
        The zone of times that name none.
    allows_mixed
        Whether lines may name a zone while others do not. Those of the rarer kind have no time then.
    other_zones
        How many lines have no time because they name a zone and others do not, or the other way round.
    cut
        How many times lost digits.
    """

    recognised: RecognisedShape
    timezone: str | None
    allows_mixed: bool
    first_year: FirstYear | None = None
    other_zones: int = 0
    cut: int = 0
    _years: Years = field(init=False)

    def __post_init__(self) -> None:
        self._years = Years(self.per_second, in_order=self.first_year is None or self.first_year.in_order)

    @property
    def per_second(self) -> int:
        """Units of a second."""
        return 1_000_000_000 if self.recognised.nanoseconds else 1_000_000

    @property
    def type(self) -> pa.DataType:
        """The type of the column."""
        return pa.timestamp(self._unit, "UTC" if self._has_zone else None)

    @property
    def _unit(self) -> str:
        return "ns" if self.recognised.nanoseconds else "us"

    @property
    def _has_zone(self) -> bool:
        return self.recognised.zoned or self.recognised.shape.is_utc or self.timezone is not None

    def values(
        self, moments: I64, timed: Flags, zoned: Flags, cut: Flags, misfit: Callable[[int, str], None]
    ) -> pa.Array:
        """The times of the next lines; null unless `timed`. `misfit` is told of lines whose zone differs."""
        self.cut += int(cut.sum())
        sound = timed
        if self.first_year is not None:
            moments, sound = self._in_years(moments, timed)
        if self.recognised.shape.is_utc:
            zoned = np.ones(len(zoned), np.bool_)
        if not self._has_zone or self.timezone is None:
            other = sound & (zoned != self._has_zone)
            self.other_zones += int(other.sum())
            for row in [] if self.allows_mixed else np.flatnonzero(other).tolist():
                misfit(row, self._mixed())
            return self._array(moments, sound & ~other).cast(self.type)
        times = self._array(moments, sound).cast(self.type)
        if zoned.all():
            return times
        local = pc.assume_timezone(
            self._array(moments, sound & ~zoned), self.timezone, ambiguous="earliest", nonexistent="latest"
        )
        return pc.if_else(pa.array(zoned), times, local.cast(self.type))

    def _mixed(self) -> str:
        expected, found = ("with", "without") if self._has_zone else ("without", "with")
        way_out = 'timezone= says the zone of the others; mixed_zones="text" lets such lines have no time'
        return f"expected a time {expected} a zone, as most lines have, found one {found}: {way_out}"

    def _array(self, moments: I64, sound: Flags) -> pa.Array:
        nulls = None if sound.all() else pa.py_buffer(np.packbits(sound, bitorder="little"))
        return pa.Array.from_buffers(pa.timestamp(self._unit), len(moments), [nulls, pa.py_buffer(moments)])

    def _in_years(self, moments: I64, timed: Flags) -> tuple[I64, Flags]:
        assert self.first_year is not None
        given = moments if timed.all() else moments[timed]
        years = self._years.passed(given) + self.first_year.year
        moved, exists = in_years(given, years, self.per_second)
        if len(given) == len(moments):
            return moved, exists
        sound, all_moved = timed.copy(), np.zeros(len(moments), np.int64)
        all_moved[timed], sound[timed] = moved, exists
        return all_moved, sound
