"""Lines that continue a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amudai.errors import CorruptedData
from amudai.sources.logs import reader
from tests.sources.logs.files import notes, read, rows, write

TRACE = ["Traceback (most recent call last):", '  File "a.py", line 1', "ValueError: x"]
LINES = [
    "before the first record",
    "",
    "2024-01-02 03:04:05 ERROR failed",
    *TRACE,
    "2024-01-02 03:04:06 INFO went on",
    "",
    "2024-01-02 03:04:07 no level",
]


def shown(found: list[dict[str, Any]]) -> list[tuple[int, int | None, str | None, str]]:
    return [
        (row["line_number"], None if row["timestamp"] is None else row["timestamp"].second, row["level"], row["line"])
        for row in found
    ]


def test_join(tmp_path: Path) -> None:
    source, found = read(write(tmp_path, LINES))
    assert shown(found.to_pylist()) == [
        (1, None, None, "before the first record"),
        (2, None, None, ""),
        (3, 5, "ERROR", "\n".join([LINES[2], *TRACE])),
        (7, 6, "INFO", LINES[6] + "\n"),
        (9, 7, None, LINES[8]),
    ]
    assert notes(source) == ("iso, level: 3 lines matched, 4 joined a line before them, 2 did not match",)


def test_inherit(tmp_path: Path) -> None:
    source, found = read(write(tmp_path, LINES), multiline="inherit")
    assert shown(found.to_pylist()) == [
        (1, None, None, LINES[0]),
        (2, None, None, ""),
        (3, 5, "ERROR", LINES[2]),
        (4, 5, "ERROR", TRACE[0]),
        (5, 5, "ERROR", TRACE[1]),
        (6, 5, "ERROR", TRACE[2]),
        (7, 6, "INFO", LINES[6]),
        (8, 6, "INFO", ""),
        (9, 7, None, LINES[8]),
    ]
    assert "3 lines matched, 4 inherited from a line before them, 2 did not match" in notes(source)[0]


def test_separate(tmp_path: Path) -> None:
    source, found = read(write(tmp_path, LINES), multiline="separate")
    assert [row[:2] for row in shown(found.to_pylist())] == [
        *[(1, None), (2, None), (3, 5), (4, None), (5, None), (6, None), (7, 6), (8, None), (9, 7)]
    ]
    assert "3 lines matched, 0 followed a line before them, 6 did not match" in notes(source)[0]


def test_unknown_way() -> None:
    with pytest.raises(ValueError, match="multiline: expected 'join' or 'inherit' or 'separate', found 'merge'"):
        read(__file__, format="log", multiline="merge")


@pytest.mark.parametrize("block", [16, 50, 200, 1 << 20])
@pytest.mark.parametrize("multiline", ["join", "inherit", "separate"])
def test_blocks_make_no_difference(block: int, multiline: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, LINES * 5)
    whole = rows(path, multiline=multiline, extract=True)
    monkeypatch.setattr(reader, "_BLOCK", block)
    assert rows(path, multiline=multiline, extract=True) == whole


def test_mostly_stack_traces(tmp_path: Path) -> None:
    frames = [f"\tat com.example.A.m{number}(A.java:{number})" for number in range(300)]
    lines = ["java.lang.IllegalStateException: x", *frames, "2024-01-02 03:04:05,001 ERROR [main] a.B: b", *frames]
    found = rows(write(tmp_path, [*lines, "2024-01-02 03:04:06,002 INFO [main] a.B: c"]), extract=True)
    assert len(found) == 303
    assert found[301]["message"] == "\n".join(["b", *frames])
    assert (found[301]["level"], found[302]["message"]) == ("ERROR", "c")


def test_long_records_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_BLOCK", 100)
    monkeypatch.setattr(reader, "_LONGEST", 500)
    first, second = "2024-01-02 03:04:05 WARN long", "2024-01-02 03:04:06 INFO short"
    lines = [first, *[f"{number:09}" for number in range(100)], second]
    path = write(tmp_path, lines)
    source, table = read(path)
    found = table.to_pylist()
    assert "\n".join(row["line"] for row in found) == "\n".join(lines)
    assert len(found) > 2
    assert {(row["timestamp"].second, row["level"]) for row in found[:-1]} == {(5, "WARN")}
    assert found[-1]["line"] == second
    assert any("go on in another row" in note for note in notes(source))


def test_a_line_that_is_too_long_takes_no_other_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_BLOCK", 100)
    monkeypatch.setattr("amudai.sources.records.LONGEST", 2000)
    first, second = "2024-01-02 03:04:05 WARN long", "2024-01-02 03:04:06 INFO short"
    path = write(tmp_path, [first, " trace", "x" * 5000, second])
    source, table = read(path, on_error="keep")
    found = [(row["line"], row["line_number"], row["bad_record_place"]) for row in table.to_pylist()]
    assert found == [(f"{first}\n trace", 1, None), (second, 4, None), (None, None, f"{path}:3")]
    assert table["bad_record"].to_pylist()[-1] == "x" * 1000
    assert [record.line for record in source.bad_records.examples] == [3]
    with pytest.raises(CorruptedData, match=r"expected at most 2000 bytes, found more.*line 3"):
        read(path)


def test_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"2024-01-02 03:04:05 INFO a\r\n  b\r\n  c\rd\r\n2024-01-02 03:04:06 INFO e\r\n")
    assert [row["line"] for row in rows(path)] == [
        "2024-01-02 03:04:05 INFO a\n  b\n  c\rd",
        "2024-01-02 03:04:06 INFO e",
    ]


def test_lines_that_are_one_record_each(tmp_path: Path) -> None:
    line = '127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 23'
    assert [row["line"] for row in rows(write(tmp_path, [line, "garbage", line]))] == [line, "garbage", line]
