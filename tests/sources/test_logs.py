"""Logs: a row a line, and the times and levels of shapes that everybody knows."""

from __future__ import annotations

import datetime
import gzip
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amudai.sources import read_files
from amudai.sources.shapes import SHAPES, recognised, times_and_levels

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
DATA = Path(os.environ.get("AMUDAI_TEST_DATA", BESIDE)) / "logs"
requires_logs = pytest.mark.skipif(not DATA.is_dir(), reason="no real logs: no folder ../shared/data/logs")

NOW = datetime.datetime(2024, 3, 10, 12)

# A line of each shape: its time, as it must come out, and its level.
LINES = {
    "[Sun Dec 04 04:47:44 2005] [error] mod_jk child in error state 6": ("2005-12-04 04:47:44", "error"),
    "[Dec 04 04:47:44 2005] [notice] no weekday": ("2005-12-04 04:47:44", "notice"),
    "[Wed Oct 11 14:32:52.123456 2023] [core:warn] [pid 1] x": ("2023-10-11 14:32:52.123456", "warn"),
    '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 23': ("2000-10-10 20:55:36", None),
    "2024/02/29 23:59:59 [crit] 7#7: *1 open() failed": ("2024-02-29 23:59:59", "crit"),
    "2009/01/23 01:23:23.123123 a line of a go program": ("2009-01-23 01:23:23.123123", None),
    "17/06/09 20:10:40 INFO executor.Backend: Registered": ("2017-06-09 20:10:40", "INFO"),
    "99/12/31 23:59:59 WARN old.Thing: last century": ("1999-12-31 23:59:59", "WARN"),
    "081109 203615 148 INFO dfs.DataNode$PacketResponder: x": ("2008-11-09 20:36:15", "INFO"),
    "nova-api.log.1.2017-05-16_13:53:08 2017-05-16 00:00:00.008 25746 INFO nova [req-1] x": (
        "2017-05-16 00:00:00.008",
        "INFO",
    ),
    "2016-09-28 04:30:30, Info                  CBS    Loaded": ("2016-09-28 04:30:30", "Info"),
    "2015-07-29 17:41:44,747 - INFO  [QuorumPeer@774] - Notification": ("2015-07-29 17:41:44.747", "INFO"),
    "2024-01-02T03:04:05.678901234Z error: nanoseconds are cut": ("2024-01-02 03:04:05.678901", "error"),
    "2024-01-02T03:04:05+05:30 WARN east of Greenwich": ("2024-01-01 21:34:05", "WARN"),
    "2024-01-02T03:04:05.5-0800 [DEBUG] west": ("2024-01-02 11:04:05.5", "DEBUG"),
    "[2024-01-02 03:04:05] a time and nothing else": ("2024-01-02 03:04:05", None),
    "2024-01-02 03:04:05.123 4711 ERROR nova.compute [-] pid first": ("2024-01-02 03:04:05.123", "ERROR"),
    "2024-01-02 03:04:05,123 [main] FATAL com.example.App - log4j": ("2024-01-02 03:04:05.123", "FATAL"),
    "2024-01-02 03:04:05,123 - my.logger - WARNING - python": ("2024-01-02 03:04:05.123", "WARNING"),
    "<34>1 2003-10-11T22:14:15.003Z host su - ID47 - 'su root' failed": ("2003-10-11 22:14:15.003", None),
    "Jun 14 15:16:01 combo sshd(pam_unix)[19939]: authentication failure": ("2023-06-14 15:16:01", None),
    "<13>Mar  9 05:06:07 host app: padded day, this year": ("2024-03-09 05:06:07", None),
    "I0305 08:09:10.123456       1 controller.go:116] klog": ("2024-03-05 08:09:10.123456", "I"),
    'ts=2024-01-02T03:04:05.006Z caller=main.go:1 level=info msg="logfmt"': ("2024-01-02 03:04:05.006", "info"),
    'level=warn time="2024-01-02T03:04:05+01:00" msg=other order': ("2024-01-02 02:04:05", "warn"),
    "ts=1704164645.678 level=error msg=seconds": ("2024-01-02 03:04:05.678", "error"),
    '{"time": "2024-01-02T03:04:05Z", "level": "INFO", "msg": "x"}': ("2024-01-02 03:04:05", "INFO"),
    '{"severity":"ERROR","@timestamp":"2024-01-02T03:04:05.120Z"}': ("2024-01-02 03:04:05.12", "ERROR"),
    '{"level":"debug","ts":1704164645.25,"msg":"zap"}': ("2024-01-02 03:04:05.25", "debug"),
}


def write(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    os.utime(path, (0, NOW.replace(tzinfo=datetime.UTC).timestamp()))
    return path


def rows(path: Any, **options: Any) -> list[dict[str, Any]]:
    source = read_files(path, **options)
    found: list[dict[str, Any]] = pa.Table.from_batches(source.batches(), source.schema).to_pylist()
    return found


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:30])
def test_well_known_lines(line: str, tmp_path: Path) -> None:
    time, level = LINES[line]
    found = rows(write(tmp_path, "a.log", [line, line]))
    expected = {
        "line": line,
        "file": str(tmp_path / "a.log"),
        "timestamp": datetime.datetime.fromisoformat(time),
        "level": level,
    }
    assert found == [{**expected, "line_number": 1}, {**expected, "line_number": 2}]


def test_every_shape_has_a_line_here() -> None:
    found = {shape.name for shape in (recognised(pa.array([line])) for line in LINES) if shape is not None}
    assert found == {shape.name for shape in SHAPES}


@pytest.mark.parametrize(
    "lines",
    [
        ["just some text", "and more of it"],
        [],
        ["", "", ""],
        ["2024-13-01 is no date", "12:34:56 is only a time"],
        ["2024-01-02 03:04:05 one in three", "is not", "enough"],
    ],
)
def test_other_text_has_no_time(lines: list[str], tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", lines)
    assert read_files(path).schema.names == ["line", "file", "line_number"]
    assert [row["line"] for row in rows(path)] == lines


def test_lines_of_another_shape_have_no_time(tmp_path: Path) -> None:
    lines = [
        "2024-01-02 03:04:05 ERROR failed",
        "Traceback (most recent call last):",
        "2024-01-02 03:04:06 INFO went on",
        "2024-02-30 03:04:06 INFO no such day",
        "2024-01-02 24:04:06 INFO no such hour",
        "",
        "2024-01-02 03:04:07 no level",
    ]
    found = rows(write(tmp_path, "a.log", lines))
    assert [row["timestamp"] is not None for row in found] == [True, False, True, False, False, False, True]
    assert [row["level"] for row in found] == ["ERROR", None, "INFO", "INFO", "INFO", None, None]
    assert [row["line_number"] for row in found] == list(range(1, 8))


def test_the_year_of_lines_that_name_none(tmp_path: Path) -> None:
    lines = [f"{day} 01:02:03 host app: x" for day in ("Mar 10", "Mar 11", "Mar 12", "Dec 31", "Feb 29", "Jan  1")]
    path = write(tmp_path, "a.log", lines)
    assert [row["timestamp"].year for row in rows(path)] == [2024, 2024, 2023, 2023, 2024, 2024]
    assert {row["timestamp"].year for row in rows(path, year=2012)} == {2012}
    assert [row["timestamp"] is None for row in rows(path, year=2011)] == [False] * 4 + [True, False]
    os.utime(path, (0, datetime.datetime(2023, 1, 5, tzinfo=datetime.UTC).timestamp()))
    assert [row["timestamp"].year for row in rows(path)] == [2022, 2022, 2022, 2022, 2020, 2023]


def test_logs_of_several_shapes(tmp_path: Path) -> None:
    write(tmp_path, "a.log", ["Jun 14 15:16:01 combo sshd: x"])
    write(tmp_path, "b.log", ["2016-09-28 04:30:30, Info   CBS    Loaded"])
    write(tmp_path, "c.txt", ["no shape"])
    (tmp_path / "d.log.gz").write_bytes(gzip.compress(b"17/06/09 20:10:40 INFO spark: x\n"))
    found = rows(tmp_path)
    assert [row["level"] for row in found] == [None, "Info", None, "INFO"]
    assert [row["timestamp"] is None for row in found] == [False, False, True, False]
    assert [os.path.basename(row["file"]) for row in found] == ["a.log", "b.log", "c.txt", "d.log.gz"]


def test_types_of_log_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "a.log", ["2024-01-02 03:04:05 INFO x"])
    types = {"timestamp": pa.timestamp("ns"), "file": pa.dictionary(pa.int32(), pa.string())}
    source = read_files(path, types=types)
    assert source.schema.field("timestamp").type == pa.timestamp("ns")
    assert next(source.batches())["file"].type == types["file"]


moments = st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2069, 12, 31, 23, 59, 59))


@settings(deadline=None)
@given(moments=st.lists(moments, min_size=1, max_size=8), zone=st.integers(-14 * 60, 14 * 60))
def test_any_time(moments: list[datetime.datetime], zone: int) -> None:
    """Against Python's own way to print times."""
    east = datetime.timezone(datetime.timedelta(minutes=zone))
    forms = {
        "iso, level": [f"{moment.replace(tzinfo=east).isoformat()} INFO x" for moment in moments],
        "apache error": [f"[{moment:%a %b %d %H:%M:%S %Y}] [info] x" for moment in moments],
        "access": [f'h - - [{moment:%d/%b/%Y:%H:%M:%S} {moment.replace(tzinfo=east):%z}] "x"' for moment in moments],
        "spark": [f"{moment:%y/%m/%d %H:%M:%S} INFO x" for moment in moments],
        "hdfs": [f"{moment:%y%m%d %H%M%S} 1 INFO x" for moment in moments],
    }
    for shape in SHAPES:
        if shape.name not in forms:
            continue
        times, _ = times_and_levels(pa.array(forms[shape.name]), shape, NOW, None)
        whole = [moment if shape.name == "iso, level" else moment.replace(microsecond=0) for moment in moments]
        if shape.name in ("iso, level", "access"):
            whole = [moment - datetime.timedelta(minutes=zone) for moment in whole]
        assert times.to_pylist() == whole, shape.name


@requires_logs
@pytest.mark.parametrize(
    ("name", "shape", "first", "last", "levels"),
    [
        ("Apache", "apache error", "2005-12-04 04:47:44", "2005-12-05 19:15:57", {"notice", "error"}),
        ("HDFS", "hdfs", "2008-11-09 20:36:15", "2008-11-11 10:20:17", {"INFO", "WARN"}),
        ("Linux", "syslog", "2005-06-14 15:16:01", "2005-07-27 14:42:00", set()),
        ("OpenSSH", "syslog", "2005-12-10 06:55:46", "2005-12-10 11:04:45", set()),
        ("OpenStack", "openstack", "2017-05-16 00:00:00.008", "2017-05-16 00:14:47.687", {"INFO", "WARNING"}),
        ("Spark", "spark", "2017-06-09 20:10:40", "2017-06-09 20:11:11", {"INFO"}),
        ("Windows", "windows cbs", "2016-09-28 04:30:30", "2016-09-29 02:04:40", {"Info"}),
        ("Zookeeper", "iso, level", "2015-07-29 17:41:44.747", "2015-08-10 18:12:34.004", {"INFO", "WARN", "ERROR"}),
    ],
)
def test_real_logs(name: str, shape: str, first: str, last: str, levels: set[str]) -> None:
    path = DATA / f"{name}_2k.log"
    lines = path.read_text(encoding="utf-8").split("\n")
    found = rows(path, year=2005)
    assert len(found) == 2000
    assert [row["line"] for row in found] == [line.removesuffix("\r") for line in lines[:2000]]
    best = recognised(pa.array(lines[:200]))
    assert best is not None
    assert best.name == shape
    assert all(row["timestamp"] is not None for row in found)
    assert found[0]["timestamp"] == datetime.datetime.fromisoformat(first)
    assert found[-1]["timestamp"] == datetime.datetime.fromisoformat(last)
    assert {row["level"] for row in found} - {None} == levels
