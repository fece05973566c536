"""Patterns of the caller: regular expressions and grok."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from amudai import CorruptedData, InvalidArgument, read_files
from amudai.sources.logs.grok import NAMES
from amudai.sources.logs.pattern import line_pattern
from tests.sources.logs.files import notes, read, rows, write

LINES = [
    "10.0.0.1 GET /a 200 0.25 007 2024-01-02T03:04:05Z",
    "    a line that goes on",
    "10.0.0.2 POST /b 503 12 042 2024-01-02T03:04:06.5Z",
]
REGEX = r"^(?P<client>[\d.]+) (?P<method>[A-Z]+) (\S+) (?P<status>\d+) (?P<took>[\d.]+) (?P<code>\d+) (?P<time>\S+)$"
GROK = (
    "^%{IP:client} %{WORD:method} %{URIPATH} %{NUMBER:status:int} %{NUMBER:took} %{NUMBER:code} "
    "%{TIMESTAMP_ISO8601:time}$"
)


@pytest.mark.parametrize("pattern", [REGEX, GROK], ids=["regex", "grok"])
def test_groups_become_typed_columns(pattern: str, tmp_path: Path) -> None:
    source, found = read(write(tmp_path, LINES), pattern=pattern)
    names = ["line", "file", "line_number", "client", "method", "status", "took", "code", "time"]
    assert found.column_names == names
    types = [pa.string(), pa.string(), pa.int64(), pa.float64(), pa.string(), pa.timestamp("us", "UTC")]
    assert [found.schema.field(name).type for name in names[3:]] == types
    assert found["line"].to_pylist() == ["\n".join(LINES[:2]), LINES[2]]
    assert found["status"].to_pylist() == [200, 503]
    assert found["took"].to_pylist() == [0.25, 12.0]
    assert found["code"].to_pylist() == ["007", "042"]
    assert found["time"][1].as_py() == datetime.datetime(2024, 1, 2, 3, 4, 6, 500_000, tzinfo=datetime.UTC)
    assert notes(source)[0].endswith(": 2 lines matched, 1 joined a line before them, 0 did not match")


def test_times_of_other_forms(tmp_path: Path) -> None:
    lines = ["[10/Oct/2000:13:55:36 -0700] 2024-01-02 03:04:05,25", "[10/Oct/2000:13:55:37 +0000] 2024-01-02 03:04:06"]
    found = read(write(tmp_path, lines), pattern=r"\[%{HTTPDATE:at}\] (?<local>.+)")[1]
    assert found["at"].type == pa.timestamp("us", "UTC")
    assert found["at"][0].as_py() == datetime.datetime(2000, 10, 10, 20, 55, 36, tzinfo=datetime.UTC)
    assert found["local"].to_pylist() == [
        datetime.datetime(2024, 1, 2, 3, 4, 5, 250_000),
        datetime.datetime(2024, 1, 2, 3, 4, 6),
    ]


def test_a_well_known_pattern(tmp_path: Path) -> None:
    line = '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 23 "http://x/" "curl/8"'
    row = rows(write(tmp_path, [line]), pattern="%{COMBINEDAPACHELOG}")[0]
    assert (row["clientip"], row["auth"], row["verb"], row["response"], row["bytes"]) == (
        "127.0.0.1",
        "frank",
        "GET",
        200,
        23,
    )
    assert row["rawrequest"] is None


def test_every_grok_name_compiles() -> None:
    for name in NAMES:
        assert line_pattern(f"%{{{name}:value}}").fields[0].name == "value", name


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("IP", ["10.0.0.255", "::1", "fe80::1", "2001:db8:0:0:0:0:2:1"], ["10.0.0.256", "x"]),
        ("UUID", ["4bf92f35-77b3-4da6-a3ce-929d0e0e4736"], ["4bf92f35"]),
        ("NUMBER", ["1", "-1.5", "+.5"], ["x", "1."]),
        ("TIMESTAMP_ISO8601", ["2024-01-02T03:04:05.678Z", "2024-01-02 03:04:05+01:00"], ["2024-13-02T03:04:05"]),
        ("SYSLOGTIMESTAMP", ["Jan  2 03:04:05", "Dec 31 23:59:59"], ["Foo 2 03:04:05"]),
        ("LOGLEVEL", ["INFO", "warning", "Fatal"], ["hello"]),
        ("EMAILADDRESS", ["a.b@example.org"], ["a.b"]),
        ("MAC", ["00:1b:44:11:3a:b7", "00-1B-44-11-3A-B7", "001b.4411.3ab7"], ["00:1b"]),
        ("QS", ['"a \\" b"', "'x'"], ["x"]),
        ("URI", ["https://u@x.org:80/a?b=1"], ["x.org"]),
        ("PATH", ["/var/log/x.log", "C:\\a\\b"], ["x"]),
    ],
)
def test_grok_names(name: str, good: list[str], bad: list[str]) -> None:
    matched, texts = line_pattern(f"^%{{{name}:value}}$").found(pa.array([*good, *bad]))
    assert matched.to_pylist() == [True] * len(good) + [False] * len(bad)
    assert texts["value"].to_pylist()[: len(good)] == good


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(?P<a>[", r"pattern: expected a regular expression of RE2, found '\(\?P<a>\['"),
        ("(?P<a>x)(?=y)", "pattern: expected a regular expression of RE2"),
        ("(a|b)c", "pattern: expected named groups such as .* found none in '.a.b.c'"),
        ("%{NOSUCH:a}", "pattern: expected a known grok name, found 'NOSUCH'"),
        ("%{IP:a:bool}", "pattern: expected int, float or string after 'a', found 'bool'"),
        ("(?P<line>.*)", "pattern: expected another name for the group 'line'"),
    ],
)
def test_patterns_that_are_wrong(pattern: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, ["x"])
    with pytest.raises(InvalidArgument, match=message):
        read_files(path, pattern=pattern)


def test_a_value_that_does_not_fit_its_column_is_a_bad_record(tmp_path: Path) -> None:
    lines = ["n=1 of a line that is long enough"] * 20_000 + ["n=x", "n=2"]
    path = write(tmp_path, lines)
    with pytest.raises(CorruptedData, match="expected int64 in 'n', found 'x'"):
        rows(path, pattern="n=(?P<n>\\S+)")
    assert len(rows(path, pattern="n=(?P<n>\\S+)", on_error="skip")) == 20_001
    assert rows(path, pattern="n=(?P<n>\\S+)", types={"n": "string"})[-2]["n"] == "x"


def test_lines_that_do_not_match_have_null_groups(tmp_path: Path) -> None:
    found = rows(write(tmp_path, ["n=1", "other"]), pattern="n=(?P<n>\\d+)", multiline="separate")
    assert [row["n"] for row in found] == [1, None]
