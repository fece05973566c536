"""Does search find what is there, and show it?"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

import amudai
from amudai.asking import Words
from amudai.cli.rows import TableWriter
from amudai.cli.search import advise
from tests.cli.runs import run


def numbers(text: str) -> list[int]:
    return [int(json.loads(line)["message"].split()[1]) for line in text.splitlines()]


FAILED = [row for row in range(1000) if row % 7 == 0]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["unicorn"], [321]),
        (["UNICORN"], [321]),
        (["failed timeout"], FAILED),
        (["timeout  failed"], FAILED),
        (["failed done"], []),
        (["failed unicorn", "--any"], sorted({*FAILED, 321})),
        (["unico"], []),
        (["unico", "--prefix"], [321]),
        (["nicor", "--contains"], [321]),
        (["failed", "--case-sensitive"], []),
        (["Failed", "-s"], FAILED),
        (["error"], FAILED),  # in another column
        (["error", "--column", "message"], []),
        (["error", "-c", "message", "-c", "level"], FAILED),
        (["v3 done"], [row for row in range(1000) if row % 4 == 3 and row % 5 and row % 7]),  # in two columns
        (["", "--where", "status = 502"], [row for row in FAILED if row % 3 == 2]),
        (["timeout", "--where", "status = 502 and http.size < 100"], [14, 56, 77, 98]),
    ],
)
def test_search_finds_the_rows(shard: Path, arguments: list[str], expected: list[int]) -> None:
    words, *options = arguments
    code = 0 if expected else 1
    assert numbers(run("search", words, shard, *options, "--limit", 0, "--json", code=code).stdout) == expected
    assert run("search", words, shard, *options, "--count", code=code).stdout == f"{len(expected)}\n"


def test_search_stops_at_the_limit(shard: Path) -> None:
    assert numbers(run("search", "timeout", shard, "--json").stdout) == FAILED[:20]
    assert numbers(run("search", "timeout", shard, "--json", "-n", 3).stdout) == FAILED[:3]


def test_several_shards_are_one_answer(shard: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.amudai.shard"
    amudai.write({"shard": ["x"], "message": ["request 9 timeout"]}, other)
    found = [json.loads(line) for line in run("search", "timeout", shard, other, "-n", 0, "--json").stdout.splitlines()]
    assert [each["_shard"] for each in found] == [shard.name] * len(FAILED) + [other.name]
    assert found[-1]["shard"] == "x"
    assert found[-1]["status"] is None
    assert run("search", "timeout", shard, other, "--count").stdout == f"{len(FAILED) + 1}\n"
    counted = json.loads(run("search", "timeout", shard, other, "--count", "--json").stdout)
    assert counted["count"] == len(FAILED) + 1
    assert [each["count"] for each in counted["shards"]] == [len(FAILED), 1]
    assert len(run("search", "timeout", other, shard, "-n", 5, "--json").stdout.splitlines()) == 5


def test_a_folder_is_searched_as_one_table(tmp_path: Path) -> None:
    amudai.write_dataset(
        {"day": [1, 2, 2], "m": ["old timeout", "fine", "new timeout"]}, tmp_path, partition_by=["day"]
    )
    found = [json.loads(line) for line in run("search", "timeout", tmp_path, "--json").stdout.splitlines()]
    assert [(each["m"], each["day"]) for each in found] == [("old timeout", 1), ("new timeout", 2)]
    assert run("search", "timeout", tmp_path, "--where", "day = 2", "--count").stdout == "1\n"
    why = json.loads(run("search", "timeout", tmp_path, "-w", "day = 2", "--json", "--explain").stderr)
    assert (why["shards"], why["shards_ruled_out"]) == (2, {"folders and columns": 1})
    assert run("head", tmp_path, "-n", 1, "--json").stdout == '{"m": "old timeout", "day": 1}\n'
    assert len(run("sample", tmp_path, "-n", 2, "--json").stdout.splitlines()) == 2


def test_rows_are_appended_to_folders_and_shards(tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"n": 3}\n')
    folder, shard = tmp_path / "lake", tmp_path / "one.amudai.shard"
    amudai.write_dataset({"n": [1, 2]}, folder)
    amudai.write({"n": [1, 2]}, shard)
    assert json.loads(run("append", folder, tmp_path / "new.jsonl", "--json").stdout)["shards"] == 2
    assert "3 rows in all" in run("append", shard, tmp_path / "new.jsonl").stdout
    assert amudai.open(shard).read()["n"].to_pylist() == amudai.dataset(folder).read()["n"].to_pylist() == [1, 2, 3]
    assert run("append", tmp_path / "nowhere", tmp_path / "new.jsonl", code=3).stderr.count("\n") == 1


def test_columns_and_formats(shard: Path) -> None:
    options = ["--columns", "message, status", "--limit", 2]
    assert run("search", "timeout", shard, *options, "--format", "csv").stdout == (
        "message,status\nrequest 0 Failed: read timeout,500\nrequest 7 Failed: read timeout,501\n"
    )
    assert run("search", "timeout", shard, *options).stdout == (
        "message                         status\n"
        "request 0 Failed: read timeout     500\n"
        "request 7 Failed: read timeout     501\n"
    )
    assert run("search", "nothing", shard, *options, code=1).stdout == ""
    assert run("search", "nothing", shard, *options, "-f", "csv", code=1).stdout == "message,status\n"
    assert "expected table, jsonl, csv, found 'xml'" in run("search", "x", shard, "-f", "xml", code=2).stderr


def test_explain_goes_to_standard_error(shard: Path) -> None:
    result = run("search", "unicorn", shard, "-c", "message", "--explain", "--count")
    assert result.stdout == "1\n"
    assert "term index" in result.stderr
    result = run("search", "unicorn", shard, "-c", "message", "--explain", "--json")
    assert json.loads(result.stderr)["found"] == 1


def test_errors_are_one_line_or_point_at_the_place(shard: Path, tmp_path: Path) -> None:
    assert run("search", "x", tmp_path / "no.amudai.shard", code=3).stderr.count("\n") == 1
    assert run("search", "", shard, "--where", "status >", code=2).stderr == (
        "error: where: expected a value, found the end\n  status >\n          ^\n"
    )
    assert "'nope'" in run("search", "x", shard, "--column", "nope", code=2).stderr
    assert "found both" in run("search", "x", shard, "--prefix", "--contains", code=2).stderr
    assert "Traceback" in run("search", "x", tmp_path / "no.amudai.shard", "--debug", code=3).stderr


def test_every_text_is_searched(tmp_path: Path) -> None:
    table = pa.table(
        {
            "a.b": ["x"],
            "tags": [["needle", "y"]],
            "deep": [{"list": [{"text": "pin"}], "number": 1}],
            "coded": pa.array(["thimble"]).dictionary_encode(),
            "n": [1],
        }
    )
    shard = amudai.write(table, tmp_path / "x.amudai.shard")
    assert shard.text_columns == ("`a.b`", "tags", "deep.list.text", "coded")
    for word in ("x", "needle", "pin", "thimble"):
        assert run("search", word, tmp_path / "x.amudai.shard", "--count").stdout == "1\n"
    amudai.write({"n": [1]}, tmp_path / "n.amudai.shard")
    assert "shard with text columns" in run("search", "x", tmp_path / "n.amudai.shard", code=2).stderr


def test_columns_with_an_index_are_recommended(shard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with amudai.open(shard) as opened:
        advise([opened])
    said = capsys.readouterr().err
    assert "without an index were searched too: level, trace_id, http.path" in said
    assert "(--column message is faster)" in said


# ---- tables ----


def printed(batch: dict[str, list[object]], *, width: int, words: str = "", color: bool = False) -> list[str]:
    out = io.StringIO()
    system = "standard" if color else None
    console = Console(file=out, width=width, force_terminal=True, color_system=system, highlight=False)
    writer = TableWriter(list(batch), console, Words(tuple(words.split())).pattern())
    writer.write(pa.RecordBatch.from_pydict(batch))
    writer.close()
    return out.getvalue().splitlines()


def test_what_was_found_is_marked_on_terminals_alone(shard: Path) -> None:
    lines = printed({"m": ["a Timeout, no timeouts"]}, width=80, words="timeout", color=True)
    assert re.findall("\x1b\\[[0-9;]*m([^\x1b]*)\x1b\\[0m", lines[1]) == ["Timeout"]
    assert "\x1b" not in run("search", "timeout", shard).stdout


def test_tables_fit_the_terminal() -> None:
    row: dict[str, list[object]] = {"id": [1], "first": ["x" * 50], "message": ["y" * 60 + " needle " + "z" * 60]}
    lines = printed(row, width=50, words="needle")
    assert all(len(line) <= 50 for line in lines)
    assert "needle" in lines[1]
    assert lines[1].count("…") == 3
    many = {f"column_{index:02}": [f"{index:020}"] for index in range(20)}
    lines = printed({**many, "last": ["a needle"]}, width=60, words="needle")
    assert all(len(line) <= 60 for line in lines)
    assert "needle" in lines[1]
    assert "more columns (choose with --columns): " in lines[-1]


def test_terminals_are_not_played_with() -> None:
    (_, line) = printed({"m": ["a\x1b[31mred\nnext\x9b"]}, width=80)
    assert line == "a\\x1b[31mred\\nnext\\x9b"


def test_wide_characters_count_twice() -> None:
    lines = printed({"m": ["漢字漢字漢字", "ab"], "n": [1, 2]}, width=80)
    assert lines[1:] == ["漢字漢字漢字  1", "ab            2"]
    assert printed({"m": ["漢字漢字漢字"]}, width=7)[1] == "漢字漢…"


def test_csv_keeps_nulls_and_empty_texts_apart(tmp_path: Path) -> None:
    values = ["", None, 'a "b", c', "two\nlines", " edge"]
    amudai.write({"t": values}, tmp_path / "x.amudai.shard")
    text = run("head", tmp_path / "x.amudai.shard", "-f", "csv").stdout
    assert text.splitlines()[:3] == ["t", '""', ""]
    assert [row["t"] for row in csv.DictReader(io.StringIO(text.replace("\n\n", "\nNULL\n", 1)))][2:] == values[2:]
