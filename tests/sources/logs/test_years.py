"""Years of times that name none: decided once for each file."""

from __future__ import annotations

import datetime
import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import InvalidArgument
from amudai.sources.logs import reader
from tests.effort import examples
from tests.sources.logs.files import NOW, notes, read, rows, write


def years(path: Path, **options: int) -> list[int | None]:
    return [None if row["timestamp"] is None else row["timestamp"].year for row in rows(path, **options)]


def lines(*days: str) -> list[str]:
    return [day if ":" in day else f"{day} 01:02:03 host app: x" for day in days]


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (["Mar  8", "Mar 10"], [2024, 2024]),
        # A clock may be ahead of UTC by some hours, but not by days.
        (["Mar 11"], [2024]),
        (["Mar 12"], [2023]),
        (["Dec 30", "Dec 31", "Jan  1", "Feb  1"], [2023, 2023, 2024, 2024]),
        (["Jun  1", "Dec 31", "Jan  1", "Jul  1", "Dec 31", "Jan  1"], [2022, 2022, 2023, 2023, 2023, 2024]),
        # A machine that was off for some months.
        (["Jun  1", "Feb  1"], [2023, 2024]),
        # The last lines decide, not the first: the file was modified in March.
        (["May  1", "Dec  1"], [2023, 2023]),
        # Disorder at New Year.
        (["Dec 31", "Jan  1", "Dec 31", "Jan  1"], [2023, 2024, 2023, 2024]),
        (["Feb 20", "Feb 19", "Feb 21"], [2024, 2024, 2024]),
    ],
)
def test_time_passes_new_year_forward_only(days: list[str], expected: list[int], tmp_path: Path) -> None:
    assert years(write(tmp_path, lines(*days))) == expected


def test_minutes_of_disorder_are_no_year(tmp_path: Path) -> None:
    clocks = ["Jan  1 00:00:02", "Dec 31 23:59:58", "Jan  1 00:00:01", "Jan  1 00:00:05"]
    path = write(tmp_path, [f"{clock} host app: x" for clock in clocks])
    assert years(path) == [2024, 2023, 2024, 2024]


def test_the_caller_names_the_year_of_the_first_line(tmp_path: Path) -> None:
    path = write(tmp_path, lines("Dec 31", "Jan  1"))
    source, found = read(path, year=2011)
    assert [time.year for time in found["timestamp"].to_pylist()] == [2011, 2012]
    assert "the first line is of the year 2011; year= can say another" in notes(source)


def test_logs_that_are_not_in_order_are_of_one_year(tmp_path: Path) -> None:
    path = write(tmp_path, lines(*["Jun  1", "Jan  5"] * 2000))
    source, found = read(path)
    assert {time.year for time in found["timestamp"].to_pylist()} == {2023}
    assert "lines are not in order: all are of the year 2023; year= can say another" in notes(source)
    assert set(years(path, year=2011)) == {2011}


@pytest.mark.parametrize("year", [-1, 0, 9950, 10**9])
def test_years_that_times_cannot_have(year: int, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=f"year: expected one from 1 to 9949, found {year}"):
        read(write(tmp_path, lines("Jun  1")), year=year)


def test_february_29(tmp_path: Path) -> None:
    leap = write(
        tmp_path, lines("Feb 28", "Feb 29", "Mar  1"), modified=datetime.datetime(2023, 7, 1, tzinfo=datetime.UTC)
    )
    assert years(leap) == [2020, 2020, 2020]
    assert years(leap, year=2023) == [2023, None, 2023]
    assert [row["timestamp"].isoformat() for row in rows(leap)][2] == "2020-03-01T01:02:03"
    # A file that passes a New Year before February 29.
    later = write(tmp_path, lines("Dec 31", "Feb 29"), modified=datetime.datetime(2023, 7, 1, tzinfo=datetime.UTC))
    assert years(later) == [2019, 2020]


def test_compressed_files_and_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_BLOCK", 64)
    days = ["Dec 30", "Dec 31", "Jan  1", "Mar  1", "Dec 31", "Jan  2"]
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines(*days)).encode()))
    os.utime(path, (0, NOW.timestamp()))
    assert years(path) == [2022, 2022, 2023, 2023, 2023, 2024]


# `%b` gives those of the locale.
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

gaps = st.lists(st.timedeltas(datetime.timedelta(0), datetime.timedelta(days=330)), min_size=1, max_size=12)


@examples(40)
@given(gaps=gaps, start=st.datetimes(datetime.datetime(1972, 1, 1), datetime.datetime(2020, 1, 1)))
def test_any_times_in_order(
    gaps: list[datetime.timedelta], start: datetime.datetime, tmp_path_factory: pytest.TempPathFactory
) -> None:
    times, at = [], start.replace(microsecond=0)
    for gap in gaps:
        at += datetime.timedelta(seconds=int(gap.total_seconds()))
        times.append(at)
    content = [f"{_MONTHS[time.month - 1]} {time:%d %H:%M:%S} host app: x" for time in times]
    path = write(tmp_path_factory.mktemp("logs"), content, modified=at.replace(tzinfo=datetime.UTC))
    assert [row["timestamp"] for row in rows(path)] == times
