"""Zones and units of times, and bytes that are no text."""

from __future__ import annotations

import datetime
import zoneinfo
from pathlib import Path

import pyarrow as pa
import pytest

from amudai import CorruptedData, InvalidArgument, read_files
from tests.sources.logs.files import notes, read, rows, write

UTC = datetime.UTC


def times(path: Path, **options: str) -> list[datetime.datetime | None]:
    return [row["timestamp"] for row in rows(path, **options)]


def test_a_zone_in_the_text_gives_a_moment(tmp_path: Path) -> None:
    path = write(tmp_path, ["2024-01-02T03:04:05Z INFO a", "2024-01-02T03:04:05+02:00 INFO b"])
    assert read_files(path).schema.field("timestamp").type == pa.timestamp("us", "UTC")
    assert times(path) == [
        datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
        datetime.datetime(2024, 1, 2, 1, 4, 5, tzinfo=UTC),
    ]


def test_no_zone_gives_a_clock(tmp_path: Path) -> None:
    path = write(tmp_path, ["2024-01-02 03:04:05 INFO a"])
    assert read_files(path).schema.field("timestamp").type == pa.timestamp("us")


@pytest.mark.parametrize(
    ("zone", "minutes"),
    [("UTC", 0), ("GMT", 0), ("BST", 60), ("CET", 60), ("CEST", 120), ("EST", -300), ("JST", 540), ("ACST", 570)],
)
def test_a_name_that_has_one_meaning(zone: str, minutes: int, tmp_path: Path) -> None:
    path = write(tmp_path, [f"2024-01-02 13:04:05.25 {zone} ERROR a", f"2024-01-02 13:04:05 {zone}"])
    moment = datetime.datetime(2024, 1, 2, 13, 4, 5, tzinfo=UTC) - datetime.timedelta(minutes=minutes)
    _, found = read(path)
    assert found["timestamp"].to_pylist() == [moment.replace(microsecond=250_000), moment]
    assert found["level"].to_pylist() == ["ERROR", None]


@pytest.mark.parametrize(
    ("zone", "minutes"),
    [("GMT+0100", 60), ("GMT-05:30", -330), ("UTC+2", 120), ("UTC-11", -660), ("UTC+x", 0), ("GMT-", 0), ("UTC+99", 0)],
)
def test_an_offset_behind_a_name(zone: str, minutes: int, tmp_path: Path) -> None:
    moment = datetime.datetime(2024, 1, 2, 13, 4, 5, tzinfo=UTC) - datetime.timedelta(minutes=minutes)
    for separator in (" ", ""):
        path = write(tmp_path, [f"2024-01-02 13:04:05{separator}{zone} a", f"2024-01-02 13:04:05{separator}{zone}"])
        assert times(path) == [moment, moment]


@pytest.mark.parametrize("zone", ["CST", "CDT", "WEST", "PST", "PDT", "IST", "MSK", "CETX", "cet", "XCET", "EST5EDT"])
def test_a_name_of_several_meanings_is_none(zone: str, tmp_path: Path) -> None:
    path = write(tmp_path, [f"2024-01-02 03:04:05 {zone} a", f"2024-01-02 03:04:06 {zone} b"])
    _, found = read(path, extract=True)
    assert found.schema.field("timestamp").type == pa.timestamp("us")
    assert found["timestamp"][0].as_py() == datetime.datetime(2024, 1, 2, 3, 4, 5)
    assert found["message"].to_pylist() == [f"{zone} a", f"{zone} b"]
    assert times(path, timezone="America/Chicago")[0] == datetime.datetime(2024, 1, 2, 9, 4, 5, tzinfo=UTC)


def test_zones_of_postgresql(tmp_path: Path) -> None:
    lines = ["2024-07-01 03:04:05.678 {} [71] app@shop LOG:  connection received"] * 2
    for zone, hour in (("CEST", 1), ("EDT", 7), ("+03", 0), ("-05:30", 8)):
        path = write(tmp_path, [line.format(zone) for line in lines])
        source, found = read(path, extract=True)
        assert next(iter(source.decisions.values()))[0].value == "postgresql"
        minute = 34 if zone == "-05:30" else 4
        assert found["timestamp"][0].as_py() == datetime.datetime(2024, 7, 1, hour, minute, 5, 678_000, tzinfo=UTC)
        assert found["pid"].to_pylist() == [71, 71]
    path = write(tmp_path, [line.format("CST") for line in lines])
    assert times(path)[0] == datetime.datetime(2024, 7, 1, 3, 4, 5, 678_000)


def test_known_names_have_one_offset_in_the_world(tmp_path: Path) -> None:
    """A name that another place uses for another time would move its times in silence."""
    offsets: dict[str, set[datetime.timedelta | None]] = {}
    days = [datetime.datetime(year, month, 10, tzinfo=UTC) for year in range(2000, 2026) for month in (1, 7)]
    for place in sorted(zoneinfo.available_timezones()):
        zone = zoneinfo.ZoneInfo(place)
        for local in (day.astimezone(zone) for day in days):
            offsets.setdefault(str(local.tzname()), set()).add(local.utcoffset())
    if "CET" not in offsets:
        pytest.skip("no time zone database")
    known = 0
    for name, meant in sorted(offsets.items()):
        if not name.isalpha():
            continue
        path = write(tmp_path, [f"2024-01-02 13:04:05 {name} a"] * 2)
        (found, _) = times(path)
        assert found is not None
        if found.tzinfo is not None:
            assert meant == {datetime.datetime(2024, 1, 2, 13, 4, 5, tzinfo=UTC) - found}, name
            known += 1
    assert known >= 20


@pytest.mark.parametrize(("zone", "hour"), [("UTC", 3), ("+02:00", 1), ("Europe/Berlin", 2), ("America/New_York", 8)])
def test_the_caller_names_the_zone(zone: str, hour: int, tmp_path: Path) -> None:
    path = write(tmp_path, ["2024-01-02 03:04:05 INFO a", "Traceback", "2024-01-02 03:04:05Z INFO b"])
    assert read_files(path, timezone=zone).schema.field("timestamp").type == pa.timestamp("us", "UTC")
    moments = [
        datetime.datetime(2024, 1, 2, hour, 4, 5, tzinfo=UTC),
        datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
    ]
    assert times(path, timezone=zone) == moments


def test_an_hour_that_a_clock_shows_twice_counts_as_the_first(tmp_path: Path) -> None:
    path = write(tmp_path, ["2024-10-27 02:30:00 INFO a", "2024-03-31 02:30:00 INFO skipped in spring"])
    moments = [datetime.datetime(2024, 10, 27, 0, 30, tzinfo=UTC), datetime.datetime(2024, 3, 31, 1, tzinfo=UTC)]
    assert times(path, timezone="Europe/Berlin") == moments


def test_the_zone_of_times_without_a_year(tmp_path: Path) -> None:
    path = write(tmp_path, ["Feb  1 12:00:00 host app: x"])
    assert times(path, timezone="+02:00") == [datetime.datetime(2024, 2, 1, 10, tzinfo=UTC)]


def test_an_unknown_zone(tmp_path: Path) -> None:
    path = write(tmp_path, ["2024-01-02 03:04:05 INFO a"])
    with pytest.raises(InvalidArgument, match=r"timezone: expected a name such as .* found 'Mars/Olympus'"):
        read_files(path, timezone="Mars/Olympus")


@pytest.mark.parametrize(
    ("most", "other", "kind"),
    [
        ("2024-01-02 03:04:05Z", "2024-01-02 03:04:05", "without"),
        ("2024-01-02 03:04:05", "2024-01-02 03:04:05Z", "with"),
    ],
)
def test_only_some_lines_name_a_zone(most: str, other: str, kind: str, tmp_path: Path) -> None:
    path = write(tmp_path, [f"{most} INFO a", f"{most} INFO b", f"{other} INFO c"])
    with pytest.raises(CorruptedData, match=rf"as most lines have, found one {kind}: timezone= says.*line 3"):
        read(path)
    source, found = read(path, on_error="skip")
    assert (found.num_rows, source.bad_records.count) == (2, 1)
    source, found = read(path, mixed_zones="text")
    assert [value is None for value in found["timestamp"].to_pylist()] == [False, False, True]
    assert found["level"].to_pylist() == ["INFO"] * 3
    assert f"1 times {kind} a zone were left out; timezone= makes moments of all" in notes(source)


def test_nanoseconds(tmp_path: Path) -> None:
    path = write(tmp_path, ["2024-01-02T03:04:05.1Z INFO a", "2024-01-02T03:04:05.123456789Z INFO b"])
    found = read(path)[1]["timestamp"]
    assert found.type == pa.timestamp("ns", "UTC")
    assert found.cast(pa.int64()).to_pylist() == [1704164645100000000, 1704164645123456789]


def test_nanoseconds_after_the_sample_are_cut_and_counted(tmp_path: Path) -> None:
    lines = ["2024-01-02T03:04:05.123456Z INFO a"] * 130_000 + ["2024-01-02T03:04:05.123456789Z INFO b"]
    source, found = read(write(tmp_path, lines))
    assert found["timestamp"].type == pa.timestamp("us", "UTC")
    assert found["timestamp"][-1].value == 1704164645123456
    assert "1 times were cut to microseconds" in notes(source)


def test_times_that_do_not_exist(tmp_path: Path) -> None:
    good = "2024-01-02 03:04:05 INFO a"
    lines = [good, "2024-02-30 03:04:06 INFO no such day", "2024-01-02 24:04:06 INFO no such hour", good]
    found = rows(write(tmp_path, lines))
    assert [row["timestamp"] is None for row in found] == [False, True, True, False]
    assert [row["level"] for row in found] == ["INFO"] * 4


def test_a_leap_second_is_the_next_minute(tmp_path: Path) -> None:
    assert times(write(tmp_path, ["2016-12-31 23:59:60 INFO a"])) == [datetime.datetime(2017, 1, 1)]


@pytest.mark.parametrize(
    ("encoding", "told"), [("cp1252", True), ("utf-16", True), ("utf-16", False), ("utf-16-le", False)]
)
def test_other_encodings(encoding: str, told: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes("2024-01-02 03:04:05 INFO größer\n".encode(encoding))
    source, found = read(path, **({"encoding": encoding} if told else {}))
    assert found["line"].to_pylist() == ["2024-01-02 03:04:05 INFO größer"]
    decisions = [(decision.option, decision.value) for decision in source.decisions[str(path)]]
    assert decisions == [("encoding", encoding), ("shape", "iso, level")]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"2024-01-02 03:04:05 INFO a\n2024-01-02 03:04:06 INFO \xff\n2024-01-02 03:04:07 INFO c\n")
    with pytest.raises(CorruptedData, match="expected UTF-8, found other bytes") as caught:
        rows(path)
    assert "line 2" in str(caught.value)
    assert [row["line_number"] for row in rows(path, on_error="skip", extract=True)] == [1, 3]
