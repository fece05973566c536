"""Does the command behave among other processes: exit codes, pipes, signals, start-up?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import amudai
from tests.cli.runs import amudai as start
from tests.cli.runs import finish, run

COMMANDS = ["ingest", "search", "head", "sample", "schema", "stats"]
COMMANDS += ["inspect", "indexes", "index", "verify", "export", "bench"]


@pytest.mark.slow
def test_exit_codes(shard: Path, tmp_path: Path) -> None:
    assert finish(start("search", "unicorn", shard, "--count")) == (0, "1\n", "")
    assert finish(start("search", "nothing", shard)) == (1, "", "")
    code, out, error = finish(start("search", "--nope", "x", shard))
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("error: ")
    code, out, error = finish(start("head", tmp_path / "none"))
    assert (code, out, error.count("\n")) == (3, "", 1)
    assert "Traceback" not in error
    assert "Traceback" in finish(start("head", tmp_path / "none", "--debug"))[2]


@pytest.mark.slow
def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    amudai.write({"n": range(200_000)}, tmp_path / "n.amudai.shard")
    for options in (["--format", "csv"], ["--json"], ["--format", "table"]):
        process = start("search", "", tmp_path / "n.amudai.shard", "--limit", 0, *options)
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stderr.close()
        assert process.wait(120) == 141


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, number: signal.Signals, code: int) -> None:
    # More than is read before the signal comes: the process waits for the end of its input.
    process = start("ingest", "-", "-o", tmp_path / "x.amudai.shard", "--format", "log", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(b"line\n" * 100_000)
    process.stdin.flush()
    for _ in range(2400):
        if list(tmp_path.iterdir()):
            break
        time.sleep(0.05)
    assert list(tmp_path.iterdir())  # it has begun
    process.send_signal(number)
    assert process.wait(120) == code
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_every_command_has_help() -> None:
    listed = run("--help").stdout
    for command in COMMANDS:
        assert command in listed
        text = run(command, "--help").stdout
        assert "--debug" in text
        assert "--json" in text


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"amudai {amudai.__version__}\n"


@pytest.mark.slow
def test_completion_is_offered() -> None:
    environment = {"_AMUDAI_COMPLETE": "complete_bash", "COMP_WORDS": "amudai ver", "COMP_CWORD": "1"}
    code, out, _ = finish(start(env=environment))
    assert code == 0
    assert "verify" in out.split()


def test_the_library_does_not_pay_for_the_command_line() -> None:
    code = "import sys, amudai; sys.exit(any(name in sys.modules for name in ('typer', 'rich', 'amudai.cli')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_bench_compares_with_parquet(tmp_path: Path) -> None:
    lines = [{"id": f"{row:032x}", "n": row, "text": f"request {row} of {row % 10} took long"} for row in range(3000)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    result = run("bench", tmp_path / "a.jsonl", "--repeat", 1, "--temp-dir", tmp_path, "--json")
    found = {line["what"]: line for line in json.loads(result.stdout)["lines"]}
    assert found["size"]["indexed"] > found["size"]["shard"] > 0
    assert found["read all"]["rows"] == 3000
    assert found["take random rows"]["rows"] == 1000
    assert found["range of n"]["rows"] > 0
    assert found["one value of id"]["rows"] == 1
    assert [line["rows"] for what, line in found.items() if what.startswith("common word")] == [3000]
    assert [line["rows"] for what, line in found.items() if what.startswith("rare word")] == [1]
    assert all(line["ratio"] > 0 for line in found.values())
    assert os.listdir(tmp_path) == ["a.jsonl"]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines[:300])))
    text = run("bench", tmp_path / "a.jsonl", "--repeat", 1).stdout
    assert "Parquet" in text
    assert "read all (300 rows)" in text


def test_bench_wants_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n")
    assert "some rows" in run("bench", tmp_path / "a.csv", code=2).stderr
