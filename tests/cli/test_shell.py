"""Does the shell answer line by line, and does it know what may come next?"""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

import amudai
from amudai.asking import KqlWords, completer
from tests.cli.runs import amudai as started
from tests.cli.runs import finish

pytest.importorskip("duckdb_kql", reason="duckdb-kql is not installed: pip install 'amudai[kql]'")
toolkit = pytest.importorskip("prompt_toolkit", reason="prompt_toolkit is not installed: pip install 'amudai[kql]'")


@pytest.mark.slow
def test_lines_of_a_pipe_are_answered_one_by_one(shard: Path) -> None:
    lines = [
        ".explain",
        'where message has "timeout" | count',
        ".explain",
        "where nothing == 1",
        "",
        "SELECT max(status) AS most FROM data",
        ".schema",
        ".help",
        ".quit",
        "count",
    ]
    code, out, errors = finish(started("shell", shard, stdin=subprocess.PIPE), "\n".join(lines).encode())
    assert code == 0
    assert out.startswith("no query yet\nCount\n  143\n1 row in ")
    assert "where: the scan\ncount: the scan\n" in out
    assert "most\n 502\n" in out
    assert "trace_id: string" in out
    assert out.rstrip().endswith("leave, as Ctrl-D does")
    assert errors == "error: kql: expected one of the columns http, level, message, status, trace_id, ts, found nothing (line 1, column 7)\n"  # fmt: skip # noqa: E501


@pytest.mark.parametrize(
    ("text", "begun", "offered"),
    [
        ("", "", ["where", "search"]),
        ("wh", "wh", ["where"]),
        ("where status >= 500 | summ", "summ", ["summarize"]),
        ("where tr", "tr", ["trace_id"]),
        ("where http.p", "http.p", ["http.path"]),
        ('where level == "', "", ["info", "error"]),
        ('where message has "tim', "tim", ["timeout"]),
        ('where message has_any ("unicorn", "FAI', "FAI", ["Failed"]),
        ('where http.path == "/v', "/v", ["/v1", "/v2", "/v3", "/v0"]),
        ('where status == "5', "5", []),
        ('where nothing == "5', "5", []),
    ],
)
def test_what_may_come_next(shard: Path, text: str, begun: str, offered: list[str]) -> None:
    words = KqlWords(amudai.open(shard))
    found = words.after(text)
    assert found[0] == begun
    assert sorted(found[1][: len(offered)]) == sorted(offered)
    document = toolkit.document.Document(text)
    shown = [each.text for each in completer(words).get_completions(document, None)]
    assert shown == found[1]


def test_values_come_from_dictionaries_and_term_indexes_wherever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amudai.asking.completion._ROWS", 100)  # what is looked at where there is no index
    rows = 3_000
    levels = [*Random(1).choices(["info", "warn", "debug"], k=rows - 2), "Fatal", "fine"]
    codes = [f"c{n % 1000:03}" for n in range(rows - 1)] + ["zebra crossing"]
    table = {"level": levels, "code": codes, "message": codes}
    indexes = [amudai.TermIndex("code", tokenizer="trivial"), amudai.TermIndex("message")]
    words = KqlWords(amudai.write(table, tmp_path / "far.amudai.shard", indexes=indexes))
    assert words.after('where level == "f') == ("f", ["Fatal", "fine"])
    assert words.after('where code == "ze') == ("ze", ["zebra crossing"])
    assert words.after('where message has "ze') == ("ze", ["zebra"])
    assert words.after('where code has "cro') == ("cro", [])  # its index has whole values only
    assert words.after("ze", "words") == ("ze", ["zebra"])
