"""Are the answers of the server those of the rows?"""

from __future__ import annotations

import io
import json
import re
import shlex
from datetime import datetime
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import amudai
from amudai.shard import ShardReader
from amudai.web.answer import answer
from amudai.web.app import WebLimits
from amudai.web.conditions import time_text_of
from amudai.web.copying import as_command, as_kql, as_python
from amudai.web.folder import Folder
from amudai.web.histogram import bins_between
from amudai.web.parts import Counted
from amudai.web.question import Question
from amudai.web.warming import load_languages, warm
from amudai.web.workers import Job
from tests.web.places import BEGIN, ROWS, client, log_table, make_folder

ROW = re.compile(r"<tr><th.*?</tr>", re.DOTALL)
CELL = re.compile(r"<td(.*?)>(.*?)</td>", re.DOTALL)


class Answer:
    """The parts of an answer, put together as the script does."""

    def __init__(self, folder: Path, **params: Any) -> None:
        self.lines = [json.loads(line) for line in client(folder).get("/results", params=params).text.splitlines()]

    def last(self, part: str) -> str:
        return next((line["html"] for line in reversed(self.lines) if line["part"] == part), "")

    def text(self, part: str) -> str:
        return unescape(re.sub(r"<[^>]*>", "", self.last(part)))

    @property
    def rows(self) -> list[list[str]]:
        html = "".join(line["html"] for line in self.lines if line["part"] == "rows")
        return [[unescape(re.sub(r"<[^>]*>", "", cell[1])) for cell in CELL.findall(row)] for row in ROW.findall(html)]

    @property
    def bars(self) -> dict[str, int]:
        found = re.findall(r'data-from="([^"]*)".*?</a>', self.last("histogram"), re.DOTALL)
        titles = re.findall(r"<title>[^<]*: ([\d,]+) rows?</title>", self.last("histogram"))
        return dict(zip(found, [int(each.replace(",", "")) for each in titles], strict=True))


def expected(condition: Any) -> list[dict[str, Any]]:
    return [row for row in log_table().to_pylist() if condition(row)]


def failed(row: dict[str, Any]) -> bool:
    return (row["status"] or 0) >= 502


def minute(row: dict[str, Any]) -> int:
    return int(row["ts"].minute)


QUESTIONS: list[tuple[dict[str, Any], Any]] = [
    ({}, lambda row: True),
    ({"q": "timeout"}, lambda row: "timeout" in row["message"]),
    ({"q": "timeout 120"}, lambda row: row["message"] == "request 120 ended with timeout"),
    ({"q": "status >= 502"}, failed),
    (
        {"q": "status >= 502 or took = 4", "is": "level:ERROR"},
        lambda row: (failed(row) or row["took"] == 4) and row["level"] == "ERROR",
    ),
    ({"q": "message has 'fine'", "not": "level:ERROR", "is": "status"}, lambda row: row["status"] is None),
    ({"from": "2026-01-01T00:10:00", "to": "2026-01-01T00:11"}, lambda row: minute(row) == 10),
    ({"is": "ts:2026-01-01T00:00:07.000000Z"}, lambda row: row["ts"].second == 7 and minute(row) == 0),
    ({"q": "where status >= 502", "is": "level:ERROR"}, failed),
    (
        {"q": "where message has 'timeout'", "from": "2026-01-01T00:10:00"},
        lambda row: "timeout" in row["message"] and minute(row) >= 10,
    ),
    ({"q": "SELECT * FROM data WHERE status >= 502", "not": "took:4"}, lambda row: failed(row) and row["took"] != 4),
    (
        {"q": "SELECT * FROM data", "is": "status", "to": "2026-01-01T00:05"},
        lambda row: row["status"] is None and minute(row) < 5,
    ),
]


@pytest.mark.parametrize(("params", "condition"), QUESTIONS, ids=[json.dumps(params) for params, _ in QUESTIONS])
def test_an_answer_has_the_rows_that_match(folder: Path, params: dict[str, Any], condition: Any) -> None:
    right = expected(condition)
    found = Answer(folder, **params)
    assert found.last("problem") == ""
    assert found.text("count").split(" row")[0] == f"{len(right):,}"
    # Where words were asked for, the text with the index stands behind the time.
    message, status = (1, 3) if params.get("q", "").startswith("timeout") else (3, 2)
    assert [row[message] for row in found.rows] == [row["message"] for row in right[:100]]
    statuses = ["null" if row["status"] is None else str(row["status"]) for row in right[:100]]
    assert [row[status] for row in found.rows] == statuses
    assert found.lines[-1]["part"] == "end"
    by_bar: dict[str, int] = {}
    edges = sorted(found.bars)
    for row in right:
        when = time_text_of(int((row["ts"] - datetime(1970, 1, 1, tzinfo=BEGIN.tzinfo)).total_seconds()) * 1_000_000)
        bar = max(edge for edge in edges if edge <= when)
        by_bar[bar] = by_bar.get(bar, 0) + 1
    assert {bar: rows for bar, rows in found.bars.items() if rows} == by_bar


def test_statistics_place_rows_where_they_can(folder: Path) -> None:
    # Three shards of 1,000 seconds each, in bins of a minute: most stripes lie in several.
    assert "the times of 3,000 rows read" in Answer(folder).text("histogram")


def test_range_indexes_place_rows_where_they_can(tmp_path: Path) -> None:
    # A row each second, in bars of half an hour: most stretches of 256 rows lie within a bar.
    rows = np.arange(100_000)
    times = pa.array(rows * 1_000_000, pa.timestamp("us"))
    shard = amudai.write({"ts": times, "n": rows * 7919 % 101}, tmp_path / "l.amudai.shard", stripe_rows=60_000)
    amudai.delete(shard.url, "n = 5 and ts < datetime(1970-01-01T10:00)", to=tmp_path / "d.amudai.shard")
    kept = np.flatnonzero((rows * 7919 % 101 == 5) & (rows >= 36_000))
    found = Answer(tmp_path, q="n = 5", shard="d.amudai.shard")
    said = re.search(r"(\d+) rows placed.* the times of (\d+) rows", found.text("histogram"))
    assert said is not None
    placed, read = int(said[1]), int(said[2])
    assert placed + read == len(kept)
    assert 0 < read < placed / 4
    right = np.bincount(kept // 1_800, minlength=56)
    assert list(found.bars.values()) == right.tolist()
    assert found.text("count").startswith(f"{len(kept)} rows")


@pytest.mark.slow
def test_shards_within_one_bar_are_only_counted(tmp_path: Path) -> None:
    for hour in range(30):
        amudai.write(log_table(100, hour * 3600), tmp_path / f"{hour:02}.amudai.shard")
    found = Answer(tmp_path, q="level = 'ERROR'")
    assert "300 rows placed by statistics" in found.text("histogram")
    assert "read" not in found.text("histogram").split("placed")[1]
    assert set(found.bars.values()) == {0, 10}
    assert found.text("count").startswith("300 rows")


@pytest.mark.slow
def test_a_question_opens_each_shard_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amudai.datasets.members._OPEN_BYTES", 0)
    for part in range(140):  # more than a dataset then keeps open
        amudai.write(log_table(20, part * 20), tmp_path / f"{part:03}.amudai.shard")
    snapshot = Folder(str(tmp_path)).now()
    _ = snapshot.table("").schema, snapshot.table("").num_positions
    rows = sum(row["took"] == 4 and row["status"] == 502 for row in log_table(2_800).to_pylist())
    opened: list[str] = []
    init = ShardReader.__init__

    def noted(self: ShardReader, url: str, *more: Any, **options: Any) -> None:
        opened.append(url)
        init(self, url, *more, **options)

    monkeypatch.setattr(ShardReader, "__init__", noted)
    question = Question(text="took = 4 and status = 502")
    parts = list(answer(question, snapshot, Job(), WebLimits().of_query))
    assert [part.rows for part in parts if isinstance(part, Counted)][-1] == rows
    assert len(opened) == len(set(opened)) == 140


@pytest.mark.slow
def test_warming_up_asks_all_languages_and_bears_any_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken: list[str] = []

    def noted(question: Question, *more: Any) -> Any:
        spoken.append(question.spoken)
        return answer(question, *more)

    monkeypatch.setattr("amudai.web.warming.answer", noted)
    warm(Folder(str(folder)), WebLimits().of_query)
    assert set(spoken) == {"words", "where", "kql", "sql"}
    warm(Folder(str(tmp_path)), WebLimits().of_query)
    amudai.write({"odd name": [1, 2]}, tmp_path / "odd.amudai.shard")
    (tmp_path / "bad.amudai.shard").write_bytes(b"no shard")
    del spoken[:]
    warm(Folder(str(tmp_path)), WebLimits().of_query)
    assert {"kql", "sql"} <= set(spoken)


def test_languages_are_loaded_as_far_as_they_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def without_sqlglot(name: str) -> None:
        asked.append(name)
        if name == "sqlglot":
            raise ModuleNotFoundError(name)

    monkeypatch.setattr("amudai.web.warming.import_module", without_sqlglot)
    load_languages()
    assert {"duckdb", "duckdb_kql", "sqlglot"} <= set(asked)


@pytest.mark.slow
@pytest.mark.parametrize(
    "question", ["", "status < 1000", "where status < 1000", "SELECT * FROM data WHERE status < 1000"]
)
def test_pages_follow_one_another(folder: Path, question: str) -> None:
    every = [row["message"] for row in log_table().to_pylist() if not question or row["status"] is not None]
    for page in (1, 2, 11, -(-len(every) // 100)):
        found = Answer(folder, q=question, page=page)
        assert [row[3] for row in found.rows] == every[(page - 1) * 100 : page * 100]
        assert f"page {page}" in found.text("pages")
        assert ("next" in found.text("pages")) == (page * 100 < len(every))
    behind = Answer(folder, q=question, page=-(-len(every) // 100) + 1)
    assert behind.rows == []


def test_one_shard_and_some_columns(folder: Path) -> None:
    params = [("shard", "b.amudai.shard"), ("col", "message"), ("col", "level"), ("q", "timeout")]
    text = client(folder).get(f"/results?{urlencode(params)}").text
    found = [json.loads(line) for line in text.splitlines()]
    html = next(line["html"] for line in found if line["part"] == "rows")
    assert CELL.findall(ROW.findall(html)[0])[0][1] == "request 1000 ended with <mark>timeout</mark>"
    assert all(len(CELL.findall(row)) == 2 for row in ROW.findall(html))


def test_a_row_in_full(folder: Path) -> None:
    made = client(folder)
    for url in ("row?of=below/c.amudai.shard&position=5", "row?n=2006", "row?q=where+true&n=2006"):
        found = made.get(f"/{url}&part=1")
        assert found.status_code == 200, found.text
        assert "request 2005 is fine" in found.text
        assert "is=level%3AINFO" in found.text
        assert "not=level%3AINFO" in found.text
    assert made.get("/row?n=3001").status_code == 400
    assert made.get("/row?of=a.amudai.shard&position=1000").status_code == 400
    assert made.get("/row?of=a.amudai.shard&position=x").status_code == 400


@pytest.mark.parametrize("question", ["timeout", "message has 'timeout'", "where message has 'timeout'"])
def test_downloads_have_all_rows(folder: Path, question: str) -> None:
    right = [row["message"] for row in expected(lambda row: "timeout" in row["message"])]
    made = client(folder)
    for kind in ("parquet", "csv"):
        found = made.get("/download", params={"q": question, "format": kind, "col": "message"})
        assert found.headers["content-disposition"] == f'attachment; filename="rows.{kind}"'
        content = io.BytesIO(found.content)
        table = pa.parquet.read_table(content) if kind == "parquet" else pa.csv.read_csv(content)
        assert table["message"].to_pylist() == right
    assert made.get("/download?format=exe").status_code == 400
    assert made.get("/download?format=csv&q=nothing+%3D+1").status_code == 400


@pytest.mark.parametrize(
    "question",
    [
        "",
        "timeout",
        "timeout request",
        "status = 500 and message has 'timeout'",
        "status between 501 and 502",
        "level in ('ERROR') and status is not null",
        "level not in ('INFO') and took <> 2",
        "where status >= 502 | project ts, message",
        "SELECT message FROM data WHERE status = 503 ORDER BY message DESC",
    ],
)
def test_what_is_copied_asks_the_same(folder: Path, question: str) -> None:
    asked = Question(text=question)
    schema = amudai.dataset(folder).schema
    if asked.spoken in ("words", "where"):
        asked = asked.with_(filters=Question.parse("not=took:0.25").filters)
    elif asked.spoken == "sql":
        schema = pa.schema([("message", pa.string())])
    served = Folder(str(folder))
    right = int(Answer(folder, **dict(asked.pairs())).text("count").split(" ")[0].replace(",", ""))
    found: dict[str, Any] = {}
    exec(as_python(asked, served, schema).replace("print(", "("), found)
    assert found["found"].to_table().num_rows == right
    kql = as_kql(asked, schema)
    if asked.spoken == "sql":
        assert kql is None
    elif question:
        assert kql is not None
        assert amudai.kql(kql, amudai.dataset(folder)).count() == right
    words = shlex.split(as_command(asked, served, schema))
    assert words[:2] == (["amudai", "query"] if asked.spoken in ("kql", "sql") else ["amudai", "search"])
    assert str(folder) in words


def test_conditions_that_kql_turns_round_are_not_copied_as_kql() -> None:
    schema = log_table(1).schema
    assert as_kql(Question(text="not status = 1"), schema) is None
    assert as_kql(Question(text="message like 'a%'"), schema) is None


def test_mistakes_are_said_with_their_place(folder: Path) -> None:
    assert "expected a value, found `and`" in Answer(folder, q="status >= and").text("problem")
    assert "line 1, column 7" in Answer(folder, q="where nothing == 1").text("problem")
    assert "line 1, column 12, found the end of the text" in Answer(folder, q="where ts ==  ").text("problem")
    assert "expected one of the columns" in Answer(folder, **{"is": "nothing:1"}).text("problem")
    assert "expected a time such as" in Answer(folder, **{"from": "tomorrow"}).text("problem")
    assert "expected one query" in Answer(folder, q="DROP TABLE data", lang="sql").text("problem")


def test_the_receipt_adds_up(folder: Path) -> None:
    found = Answer(folder, q="message has 'timeout'").text("receipt")
    assert "What became of 3,000 rows" in found
    assert "ruled out by term index2,700" in found
    assert "match by term index300" in found
    asked = Answer(folder, q="where message has 'timeout' | summarize count() by level").text("receipt")
    assert "where: the scan" in asked
    assert "summarize: DuckDB" in asked


def test_completion(folder: Path) -> None:
    made = client(folder)
    for text, language, right in (
        ("tim", "words", "timeout"),
        ("where sta", "kql", "status"),
        ("level = 'E", "where", "ERROR"),
        ("SELECT mess", "sql", "message"),
    ):
        found = made.get("/complete", params={"q": text}).json()
        assert found["language"] == language
        assert right in found["words"]


# ---- the folder and its shards ----


def test_the_folder_lists_its_shards(folder: Path) -> None:
    page = client(folder).get("/").text
    for text in ("a.amudai.shard", "below/c.amudai.shard", "1,000", "words of message", "2026-01-01 00:16:39"):
        assert text in page
    totals = client(folder).get("/totals").text
    assert totals.startswith("3 shards · 3,000 rows · ")
    assert totals.endswith("2026-01-01 00:00:00 to 2026-01-01 00:49:59")
    for sort in ("rows", "bytes", "time"):
        assert client(folder).get(f"/?sort={sort}").status_code == 200


def test_new_shards_are_seen(tmp_path: Path) -> None:
    make_folder(tmp_path)
    served = Folder(str(tmp_path))
    assert len(served.now().files) == 3
    amudai.write(log_table(5), tmp_path / "new.amudai.shard")
    served._seen = -10  # as if a second had passed
    assert served.now().names == ("a.amudai.shard", "b.amudai.shard", "below/c.amudai.shard", "new.amudai.shard")
    assert served.now().table("").num_rows == ROWS + 5


def test_a_damaged_shard_is_shown_and_left_out_of_answers(tmp_path: Path) -> None:
    make_folder(tmp_path)
    path = tmp_path / "b.amudai.shard"
    path.write_bytes(path.read_bytes()[:-100])
    page = client(tmp_path).get("/").text
    assert page.count("cannot be read") == 1
    assert "1 shard cannot be read, so no question searches it" in client(tmp_path).get("/search?q=x").text
    assert Answer(tmp_path).text("count").startswith("2,000 rows")
    assert client(tmp_path).get("/shard?name=b.amudai.shard").status_code == 500


def test_damage_inside_of_a_shard_is_an_error_of_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.amudai.shard"
    amudai.write({"n": list(range(100_000)), "text": [f"word{n}" for n in range(100_000)]}, path)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = b"\x00" * 64
    path.write_bytes(content)
    made = client(tmp_path)
    said = json.loads(made.get("/verify?name=a.amudai.shard").text.splitlines()[-2])
    assert said["part"] == "result"
    assert "✗" in said["html"]
    assert "problem" in Answer(tmp_path, q="text has 'word99999'").last("problem")
    assert made.get("/shard?name=a.amudai.shard").status_code == 200


def test_the_page_of_a_shard(folder: Path) -> None:
    made = client(folder)
    page = made.get("/shard?name=a.amudai.shard").text
    for text in ("1,000 rows", "2 stripes", "inverted-text-index-v1", "Verify", "2026-01-01T00:16:39"):
        assert text in page
    assert "in 2 blocks" in made.get("/encodings?name=a.amudai.shard").json()["took"]
    column = unescape(made.get("/column?name=a.amudai.shard&column=level&part=1").text)
    assert "Top values of all 1,000 rows" in column
    assert '>INFO</a></th><td class="num">900</td>' in column
    took = made.get("/column?name=a.amudai.shard&column=took&part=1").text
    assert "median 2" in took
    assert made.get("/column?name=a.amudai.shard&column=nothing").status_code == 400
    lines = [json.loads(line) for line in made.get("/verify?name=a.amudai.shard").text.splitlines()]
    assert "✓ Sound" in lines[-2]["html"]
    assert lines[0]["part"] == "progress"


@pytest.mark.parametrize(
    "kind",
    [pa.int64(), pa.string(), pa.float64(), pa.bool_(), pa.timestamp("ns"), pa.date32(), pa.decimal128(9, 2),
     pa.list_(pa.int64()), pa.struct([("a", pa.int64())]), pa.binary(), pa.time64("us"), pa.duration("us"),
     pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)  # fmt: skip
def test_columns_of_any_type_are_shown(tmp_path: Path, kind: pa.DataType) -> None:
    for name, rows in (("nulls", 5), ("none", 0)):
        amudai.write(pa.table({"x": pa.nulls(rows, kind)}), tmp_path / f"{name}.amudai.shard")
    made = client(tmp_path)
    for name in ("nulls", "none"):
        assert made.get(f"/shard?name={name}.amudai.shard").status_code == 200
        assert made.get(f"/column?name={name}.amudai.shard&column=x").status_code == 200
    found = Answer(tmp_path)
    assert found.last("problem") == ""
    assert found.text("count") == "5 rows"


def test_an_empty_folder(tmp_path: Path) -> None:
    made = client(tmp_path)
    assert "No shards here" in made.get("/").text
    assert "expected one with shards that can be read" in made.get("/results").text


def test_bins_hold_all_times() -> None:
    for first, last in ((0, 0), (-5, 10**9), (10**15, 10**15 + 86_400_000_000 * 365 * 200), (7, 10**18)):
        bins = bins_between(first, last)
        assert bins.start <= first
        assert last < bins.start + bins.count * bins.width
        assert bins.count <= 80


def test_the_package_has_all_assets_and_they_are_small(folder: Path) -> None:
    made = client(folder)
    size = 0
    for name, kind in (("page.js", "text/javascript"), ("style.css", "text/css"), ("icon.svg", "image/svg+xml")):
        found = made.get(f"/assets/{name}")
        assert found.status_code == 200
        assert found.headers["content-type"].startswith(kind)
        size += len(found.content)
    assert 10_000 < size < 300_000


def test_characters_that_one_does_not_see_are_shown(tmp_path: Path) -> None:
    text = "b\x1b[31m\u202egnp.exe"
    amudai.write(pa.table({"text": [text, "a\x00b"]}), tmp_path / "s.amudai.shard")
    rows = Answer(tmp_path).last("rows")
    assert r">b\x1b[31m\u202egnp.exe</td>" in rows
    assert r"data-long>a\x00b</td>" in rows  # a browser would change it: no filter by it
    # A click still filters by the value itself.
    assert f'data-v="{text}"' in rows
    assert Answer(tmp_path, **{"is": f"text:{text}"}).text("count").startswith("1 row")


def test_an_answer_without_rows_says_so(folder: Path) -> None:
    assert "No row has all of these words" in Answer(folder, q="nonesuch").text("nothing")
    assert "takes it away" in Answer(folder, **{"is": "level:NONE"}).text("nothing")
    assert "No rows match." in Answer(folder, q="where status == 1").text("nothing")
    assert "highest bar 0 rows" in Answer(folder, q="nonesuch").text("histogram")


def test_bars_are_as_wide_as_the_query_rounds(folder: Path) -> None:
    found = Answer(folder, q="summarize count() by bin(ts, 10m)")
    assert set(found.bars.values()) == {1}
    assert "by 10 minutes" in found.text("histogram")
