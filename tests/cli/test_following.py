"""`ingest --follow` and `tail`: rows that arrive while others look."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import amudai
from tests.cli.runs import amudai as start
from tests.cli.runs import finish, run

INTERRUPTED = 130


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes that end with the test, whatever happens."""
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def first_lines(process: subprocess.Popen[bytes], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().decode().rstrip() for _ in range(count)]


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_rows_of_a_growing_log_can_be_watched(tmp_path: Path, processes: list[subprocess.Popen[bytes]]) -> None:
    log, folder = tmp_path / "app.log", tmp_path / "logs"
    log.write_text("2026-01-01 10:00:00 INFO started\n")
    writer = start("ingest", "--follow", log, "-o", folder, "--every-seconds", 0.2, "--index", "line", "--json")
    processes.append(writer)
    assert json.loads(first_lines(writer, 1)[0])["rows"] == 1
    reader = start("tail", folder, "--columns", "line_number", "--json", "--every-seconds", 0.1)
    processes.append(reader)
    assert first_lines(reader, 1) == ['{"line_number": 1}']
    with log.open("a") as file:
        file.write("2026-01-01 10:00:01 WARN slow\n")
    assert first_lines(reader, 1) == ['{"line_number": 2}']
    with log.open("a") as file:
        file.write("2026-01-01 10:00:02 INFO ended\n")
    time.sleep(0.1)
    for process in processes:
        process.send_signal(signal.SIGINT)
        code, _, error = finish(process)
        assert (code, error) == (INTERRUPTED, "")
    shards = amudai.dataset(folder)
    assert shards.num_rows == 3  # an interrupt loses nothing
    assert shards.count(amudai.col("line").has("slow")) == 1


@pytest.mark.slow
def test_standard_input_is_followed_to_its_end(tmp_path: Path) -> None:
    process = start("ingest", "--follow", "-", "-o", tmp_path / "lake", "--json", stdin=subprocess.PIPE)
    code, out, error = finish(process, b'{"n": 1}\n{"n": 2}\n')
    assert (code, error) == (0, "")
    assert json.loads(out)["rows"] == 2


def test_tail_shows_the_last_rows(shard: Path) -> None:
    said = run("tail", shard, "-n", 2, "--columns", "status", "--where", "status = 200", "--no-follow", "--json")
    assert said.stdout == '{"status": 200}\n{"status": 200}\n'
    rows = [json.loads(line) for line in run("tail", shard, "--no-follow", "--json").stdout.splitlines()]
    assert [row["message"] for row in rows] == amudai.open(shard).read(["message"])["message"].to_pylist()[-10:]


@pytest.mark.parametrize("where", [None, "status >= 500", "message has 'unicorn'", "status = 1"])
@pytest.mark.parametrize("count", [0, 1, 5, 2000])
def test_the_tail_is_the_end_of_all_rows_that_match(shard: Path, where: str | None, count: int) -> None:
    opened = amudai.open(shard)
    expected = opened.scan(["trace_id"], where).to_table()
    assert opened.tail(count, ["trace_id"], where) == expected.slice(max(0, expected.num_rows - count))


def test_options_that_do_not_go_with_following_are_refused(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("x\n")
    for options in (["--dry-run"], ["--overwrite"], ["--only-new"], ["--layout", "two-level"]):
        said = run("ingest", "--follow", log, "-o", tmp_path / "logs", *options, code=2).stderr
        assert f"expected no {options[0]}" in said
    assert "expected one file" in run("ingest", "--follow", log, log, "-o", tmp_path / "logs", code=2).stderr
    assert os.listdir(tmp_path) == ["app.log"]


def test_standard_input_is_searched_and_queried() -> None:
    text = b"2026-01-01 10:00:00 INFO started\n2026-01-01 10:00:01 WARN read timeout\n"
    code, out, error = finish(start("search", "timeout", "-", "--json", stdin=subprocess.PIPE), text)
    assert (code, error) == (0, "")
    assert json.loads(out)["line"] == "2026-01-01 10:00:01 WARN read timeout"
    code, out, error = finish(start("query", "count", "-", "--format", "csv", stdin=subprocess.PIPE), text)
    assert (code, out, error) == (0, "Count\n2\n", "")
