"""KQL over shards: the answers of SQL, whatever the scan takes over; who runs what; and what is refused."""

from __future__ import annotations

import datetime as dt
import json
import random
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amudai
from amudai.datasets import true_rows
from amudai.interop import register
from amudai.storage import MemoryStore
from tests.effort import scaled
from tests.interop import tables

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'amudai[kql]'")
pytest.importorskip("duckdb_kql", reason="duckdb-kql is not installed: pip install 'amudai[kql]'")

TABLE = tables.logs()
SAMPLE = "tests/fixtures/sample.amudai.shard"

# The same condition in both languages. Text is never null in KQL: a comparison by != keeps nulls.
CONDITIONS = [
    ('message has "timeout"', "has(message, 'timeout')"),
    ('message !has "timeout"', "NOT has(message, 'timeout')"),
    ('not(message has_cs "Timeout")', "NOT has_cs(message, 'Timeout')"),
    ('message hasprefix "tim"', "hasprefix(message, 'tim')"),
    ('message !hassuffix_cs "out"', "NOT hassuffix_cs(message, 'out')"),
    ('message has_any ("kelvin", "retry")', "has_any(message, ['kelvin', 'retry'])"),
    ('message has_any (dynamic(["kelvin", "50%"]))', "has_any(message, ['kelvin', '50%'])"),
    ('message has_all ("timeout", "retry")', "has_all(message, ['timeout', 'retry'])"),
    ('message contains "TIME"', "message ILIKE '%TIME%'"),
    ('message contains "istanbul"', "message ILIKE '%istanbul%'"),
    ('message contains "KELVIN"', "message ILIKE '%KELVIN%'"),
    ('message contains "a_b"', "contains(lower(message), 'a_b')"),
    ('message !contains "time"', "coalesce(NOT message ILIKE '%time%', true)"),
    ('message contains_cs "Time"', "contains(message, 'Time')"),
    ('message startswith "RETRY"', "message ILIKE 'RETRY%'"),
    ('message startswith_cs "retry"', "starts_with(message, 'retry')"),
    ('message endswith_cs "retry"', "suffix(message, 'retry')"),
    ('message matches regex "t.meout$"', "regexp_matches(message, 't.meout$')"),
    ('level == "info"', "level = 'info'"),
    ('level != "info"', "level IS DISTINCT FROM 'info'"),
    ('level =~ "INFO"', "lower(level) = 'info'"),
    ('level in ("info", "x")', "level IN ('info', 'x')"),
    ('level in~ ("WARN", "x")', "lower(level) IN ('warn', 'x')"),
    ('level !in ("info")', "coalesce(level NOT IN ('info'), true)"),
    ("status >= 500", "status >= 500"),
    ("500 > status", "status < 500"),
    ("status == 404.0", "status = 404"),
    ("status != 200", "status IS DISTINCT FROM 200"),
    ("status in (404, 503)", "status IN (404, 503)"),
    ("status between (404 .. 500)", "status BETWEEN 404 AND 500"),
    ("status !between (404 .. 500)", "status NOT BETWEEN 404 AND 500"),
    ("ms < 1.0", "ms < 1.0"),
    ("ms > 1.0", "ms > 1.0"),
    ("ms == 0", "ms = 0"),
    ("ms != 0.5", "ms IS DISTINCT FROM 0.5"),
    ("ts >= datetime(2026-01-01 02:00)", "ts >= TIMESTAMP '2026-01-01 02:00:00'"),
    (
        "ts between (datetime(2026-01-01 01:00) .. 1h)",
        "ts BETWEEN TIMESTAMP '2026-01-01 01:00:00' AND TIMESTAMP '2026-01-01 02:00:00'",
    ),
    ("ts < datetime(2026-01-01) + 90m", "ts < TIMESTAMP '2026-01-01 01:30:00'"),
    ("ok", "ok"),
    ("ok == false", "NOT ok"),
    ("isnull(status)", "status IS NULL"),
    ("isnotnull(message)", "message IS NOT NULL"),
    ("isnotempty(message)", "coalesce(message, '') <> ''"),
    ('http.path == "/3"', "http.path = '/3'"),
    ("http.code > 2", "http.code > 2"),
    ('http.path has "3"', "has(http.path, '3')"),
    ("strlen(message) > 20", "length(message) > 20"),
    ("id % 3 == 1", "id % 3 = 1"),
]
TAILS = [
    ("count", "SELECT count(*) FROM found"),
    ("project id, level", "SELECT id, level FROM found"),
    ("summarize n = count(), max(id) by level", "SELECT level, count(*), max(id) FROM found GROUP BY level"),
    ("summarize count() by bin(ts, 1h)", "SELECT date_trunc('hour', ts), count(*) FROM found GROUP BY ALL"),
    ("summarize sum(id), countif(ok)", "SELECT coalesce(sum(id), 0)::BIGINT, count(*) FILTER (ok) FROM found"),
    ("top 5 by id desc | project id", "SELECT id FROM found ORDER BY id DESC LIMIT 5"),
    ("distinct status", "SELECT DISTINCT status FROM found"),
    ("extend n = id * 2 | where n > 99 and ok | project n", "SELECT id * 2 FROM found WHERE id >= 50 AND ok"),
    ("project-away http | sort by id asc | take 3 | project id", "SELECT id FROM found ORDER BY id LIMIT 3"),
    ("project n = id | where n < 100 | project-rename m = n | count", "SELECT count(*) FROM found WHERE id < 100"),
    ('where level == "warn" | project http.path', "SELECT http.path FROM found WHERE level = 'warn'"),
]  # fmt: skip


def questions() -> list[tuple[str, str]]:
    """A hundred queries and more: each condition alone, then pairs by `and` and `or`, each with the next tail."""
    chance = random.Random(20)
    wheres = list(CONDITIONS)
    while len(wheres) < 104:
        (left, first), (right, second) = chance.sample(CONDITIONS, 2)
        op = chance.choice(["and", "or"])
        wheres.append((f"({left}) {op} ({right})", f"({first}) {op} ({second})"))
    tails = [TAILS[n % len(TAILS)] for n in range(len(wheres))]
    return [
        (f"where {asked} | {kql}", f"WITH found AS (FROM data WHERE {meant}) {sql}")
        for (asked, meant), (kql, sql) in zip(wheres, tails, strict=True)
    ]


@pytest.fixture(scope="module", params=["shard", "dataset"])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("kql")
    return tables.shard_of(TABLE, folder) if request.param == "shard" else tables.lake_of(TABLE, folder)


@pytest.fixture(scope="module")
def plain() -> Any:
    connection = duckdb.connect()
    register(connection)
    connection.register("given", TABLE)
    connection.execute("CREATE TABLE data AS FROM given")
    return connection


def rows(table: pa.Table) -> list[str]:
    return sorted(repr(tuple(row.values())) for row in table.to_pylist())


@pytest.mark.slow
def test_a_hundred_queries_have_the_answers_of_sql(source: Any, plain: Any) -> None:
    asked = questions()
    assert len(asked) >= 100
    wrong = [
        (kql, found, right)
        for kql, sql in asked
        if (found := rows(amudai.kql(kql, source).to_table())) != (right := rows(plain.sql(sql).to_arrow_table()))
    ]
    assert not wrong


OPERATORS = ["has", "has_cs", "hasprefix", "hasprefix_cs", "hassuffix", "hassuffix_cs"]
BY_DUCKDB = ["contains", "contains_cs", "startswith", "startswith_cs", "endswith", "=~", "==", "!="]
ALPHABET = "abkKi.-İıſßΣσé 1Z\u212a"


@pytest.mark.slow
@settings(max_examples=scaled(10))
@given(
    st.lists(st.none() | st.text(ALPHABET, max_size=12), min_size=1, max_size=20),
    st.text(ALPHABET, min_size=1, max_size=4),
)
def test_no_look_up_loses_a_row(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str | None], word: str
) -> None:  # fmt: skip
    table = pa.table({"message": pa.array(texts, pa.string()), "n": range(len(texts))})
    shard = amudai.write(table, tmp_path_factory.mktemp("kql") / "s", indexes=[amudai.TermIndex("message")])
    literal = json.dumps(word, ensure_ascii=False)
    for op in OPERATORS:
        right = table.filter(pa.array(true_rows(getattr(amudai.col("message"), op)(word), table)))["n"].to_pylist()
        # The second query hides the condition from the scan: DuckDB alone decides.
        for asked in (
            f"where message {op} {literal}",
            f"extend m = iff(n >= 0, message, message) | where m {op} {literal}",
        ):
            assert sorted(amudai.kql(asked, shard).to_table()["n"].to_pylist()) == right, asked
    for op in BY_DUCKDB:
        hidden = amudai.kql(f"extend m = iff(n >= 0, message, message) | where m {op} {literal}", shard)
        seen = amudai.kql(f"where message {op} {literal}", shard)
        assert sorted(seen.to_table()["n"].to_pylist()) == sorted(hidden.to_table()["n"].to_pylist()), (op, word)


# ---- who runs what ----


@pytest.mark.parametrize(
    ("query", "by", "where"),
    [
        ('where message has "failed" | count', "scan scan", 'col("message").has("failed")'),
        ("where status >= 500 | project status | take 2", "scan both scan", 'col("status") >= 500'),
        ('where message contains "zz" | take 2', "both duckdb", 'col("message").contains("zz")'),
        ("where status == 503 and strlen(message) > 3 | count", "both duckdb", 'col("status") == 503'),
        ("where strlen(message) > 3 | count", "duckdb duckdb", "True"),
        ("sort by ts asc | where status == 503", "duckdb scan", 'col("status") == 503'),
        ("take 5 | where status == 503", "scan duckdb", "True"),
        ("summarize n = count() by status | where status == 503", "duckdb duckdb", "True"),
        ("project s = status | where s == 503", "both scan", 'col("status") == 503'),
        ("extend status = 1 | where status == 503", "duckdb duckdb", "True"),
        ("project-rename s = status | where s == 503", "both scan", 'col("status") == 503'),
        ('project level, id = status | search "x" | project id', "both scan both", 'col("level").has("x")'),
        ('search kind=case_sensitive message:"Fail*"', "scan", 'col("message").hasprefix_cs("Fail")'),
        ("let low = 500; where status >= low | count", "scan scan", 'col("status") >= 500'),
        ("let status = 500; where status >= 500 | count", "scan scan", 'col("status") >= 500'),
    ],
)  # fmt: skip
def test_who_runs_what(query: str, by: str, where: str) -> None:
    found = amudai.kql(query, amudai.open(SAMPLE))
    words = {"scan": "the scan", "both": "the scan, then DuckDB", "duckdb": "DuckDB"}
    assert [step.by for step in found.explain().steps] == [words[each] for each in by.split()]
    assert found.explain().scans[0].where == where
    found.to_table()
    assert found.explain().scans[0].where.startswith(where)  # what was done; DuckDB may push down more


def test_a_take_stops_the_scan() -> None:
    found = amudai.kql("where status == 200 | take 2 | where level == 'INFO'", amudai.open(SAMPLE))
    assert found.to_table().num_rows == 2
    assert found.explain().scans[0].limit == 2


@pytest.mark.slow
def test_two_places_of_a_query_ask_for_their_own_rows() -> None:
    shard = amudai.open(SAMPLE)
    query = """
        data | where status == 503 | project ts, message
        | join kind=inner (data | where level == "ERROR" | project ts, status) on ts | count
    """
    found = amudai.kql(query, shard)
    assert found.to_table().to_pydict() == {"Count": [shard.count("status = 503 and level = 'ERROR'")]}
    assert {scan.where for scan in found.explain().scans} == {'col("status") == 503', 'col("level") == "ERROR"'}


def test_tables_have_names() -> None:
    shard = amudai.open(SAMPLE)
    sql = "SELECT count(*) FROM data WHERE status >= 500"
    expected = amudai.sql(sql, data=shard).fetchall()[0][0]
    query = "let bad = errors | where status >= 500; union bad, (data | where status == 7) | count"
    assert amudai.kql(query, shard, errors=shard).to_table().to_pydict() == {"Count": [expected]}
    named = amudai.kql(
        "union withsource=name data, errors | where status == 503 | summarize count() by name", shard, errors=shard
    )
    assert rows(named.to_table()) == ["('data', 4)", "('errors', 4)"]


# ---- what the package refuses and we run ----


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ('search "timeout"', "timeout"),
        ('search "timeout" and "kelvin"', "timeout kelvin"),
        ('search "timeout" and not("kelvin")', "timeout -kelvin"),
        ('search ("timeout" or "nothing") and status >= 500', "timeout status"),
        ('where * has "timeout"', "timeout"),
        ("search *", ""),
    ],
)
def test_search_looks_in_all_texts(source: Any, query: str, condition: str) -> None:
    found = amudai.kql(query + " | project id", source).to_table()["id"].to_pylist()
    texts = [
        [row["message"], row["level"], (row["http"] or {}).get("path")]
        for row in TABLE.select(["message", "level", "http"]).to_pylist()
    ]

    def holds(at: int, word: str) -> bool:
        if word == "status":
            status = TABLE["status"][at].as_py()
            return status is not None and status >= 500
        predicate = amudai.col("t").has(word.removeprefix("-"))
        one = pa.table({"t": pa.array(texts[at], pa.string())})
        has = any(true_rows(predicate, one))
        # A negation is not true where a text is null and none has the word, as everywhere in amudai.
        return (not has and None not in texts[at]) if word.startswith("-") else has

    assert sorted(found) == [at for at in range(len(texts)) if all(holds(at, word) for word in condition.split())]


def test_search_looks_in_lists(tmp_path: Path) -> None:
    table = pa.table({"tags": [["red wine", "b"], ["redwine"], None, []], "n": [1, 2, 3, 4]})
    shard = amudai.write(table, tmp_path / "s")
    assert amudai.kql('search "red"', shard).to_table()["n"].to_pylist() == [1]
    # DuckDB has to decide.
    assert amudai.kql('search "red" or n + 1 == 5', shard).to_table()["n"].to_pylist() == [1, 4]


def test_columns_by_pattern_and_samples() -> None:
    shard = amudai.open(SAMPLE)
    assert amudai.kql("project-keep s*, level", shard).schema.names == ["level", "status"]
    assert amudai.kql("project-away s*, m*", shard).schema.names == ["ts", "level", "http"]
    assert amudai.kql("project-reorder message, s*", shard).schema.names[:3] == ["message", "status", "ts"]
    assert amudai.kql("project level | distinct *", shard).count() == 3
    assert amudai.kql("where status == 503 | sample 3", shard).to_table()["status"].to_pylist() == [503] * 3
    assert amudai.kql("summarize sum(status)", shard).schema.field("sum_status").type == pa.int64()


# ---- the page ----

PAGE = Path(__file__).parents[2] / "docs" / "kql.md"
# What begins a query, and a function of the query's own: the steps are the operators after and in it.
UNNAMED = ("datatable", "invoke", "print", "range")
LINE = re.compile(r"^\| (`.+?) \| (refused|the scan|DuckDB)(.*?) \| `(.+)` \|$", re.M)


@pytest.mark.parametrize(("operator", "by", "more", "example"), LINE.findall(PAGE.read_text()))
def test_every_operator_of_the_page_runs_where_it_says(operator: str, by: str, more: str, example: str) -> None:
    shard, query = amudai.open(SAMPLE), example.replace("\\|", "|")
    name = operator.split("`")[1]
    if by == "refused":
        with pytest.raises(amudai.UnsupportedFeature, match=rf"found {name} at line 1, column {query.index(name) + 1}"):
            amudai.kql(query, shard)
        return
    found = amudai.kql(query, shard)
    assert found.to_table().num_rows > 0
    steps = found.explain().steps
    stated = "the scan, then DuckDB" if more == ", then DuckDB" else by
    assert any(step.by == stated for step in steps if step.operator == name or name in UNNAMED)


def test_the_page_has_all_operators() -> None:
    listed = {name for operators, *_ in LINE.findall(PAGE.read_text()) for name in re.findall(r"`([\w-]+)`", operators)}
    assert len(listed) > 50
    assert {"where", "search", "project", "take", "count", "summarize", "make-series"} <= listed


# ---- the face of a result ----


def test_a_result_has_the_face_of_a_scan() -> None:
    shard = amudai.open(SAMPLE)
    found = amudai.kql("where status >= 500 | project status, level", shard)
    table = found.to_table()
    assert table == found.to_table()  # a second run
    assert found.count() == table.num_rows == 11
    assert pa.Table.from_batches(list(found), found.schema) == found.to_reader().read_all() == table
    assert pa.table(found) == table
    assert found.to_polars().shape == found.to_pandas().shape == (11, 2)
    assert found.explain().to_dict()["steps"][0] == {"operator": "where", "by": "the scan"}
    assert repr(found).startswith("<amudai.QueryResult of status, level")
    empty = amudai.kql("where status == 1", shard).to_table()
    assert (empty.num_rows, empty.schema.names) == (0, shard.schema.names)


def test_the_clock_stands_still_between_the_scan_and_duckdb(tmp_path: Path) -> None:
    now = pa.array([0], pa.timestamp("us"))
    shard = amudai.write(pa.table({"ts": now}), tmp_path / "s")
    assert amudai.kql("where ts < ago(1h) and ts < now() | count", shard).to_table().to_pydict() == {"Count": [1]}
    zoned = amudai.write(pa.table({"ts": now.cast(pa.timestamp("us", "UTC"))}), tmp_path / "z")
    assert amudai.kql("where ts == datetime(1970-01-01) | count", zoned).to_table().to_pydict() == {"Count": [1]}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_with_a_zone_are_times_of_utc(tmp_path: Path, unit: str) -> None:
    values = [dt.datetime(2026, 1, 1, hour) for hour in (1, 1, 2)]
    zoned = (
        pa.array(values, pa.timestamp("us")).cast(pa.timestamp(unit, "UTC")).cast(pa.timestamp(unit, "Europe/Berlin"))
    )
    shard = amudai.write(pa.table({"ts": zoned, "n": [1, 2, 3]}), tmp_path / "s")
    query = "where ts between (datetime(2026-01-01 01:00) .. 2h) | summarize count() by bin(ts, 1h) | sort by ts asc"
    assert amudai.kql(query, shard).to_table().to_pydict() == {"ts": [values[0], values[2]], "count_": [2, 1]}
    # DuckDB decides, and pushes down what it can.
    late = amudai.kql("extend m = n + 0 | where ts > datetime(2026-01-01 01:00) and m > 0 | project ts, m", shard)
    assert [row["m"] for row in late.to_table().to_pylist()] == [3]
    assert amudai.kql("summarize n = max(n) by ts | where ts < datetime(2026-01-01 02:00)", shard).count() == 1


@pytest.mark.parametrize(("size", "microseconds"), [("1ms", 1000), ("100ms", 100_000), ("7m", 420_000_000)])
def test_bins_are_exact(size: str, microseconds: int, tmp_path: Path) -> None:
    """Seconds as doubles put 00:00:00.3 into the bin of 100 ms before."""
    times = [1_704_067_200_000_000 + 1000 * each for each in range(1000)] + [-1, -100_000, -1_704_067_200_100_001]
    shard = amudai.write({"ts": pa.array(times, pa.timestamp("us"))}, tmp_path / "t.amudai.shard")
    found = amudai.kql(f"project ts, bin = bin(ts, {size})", shard).to_table()
    assert sorted(found["bin"].cast(pa.int64()).to_pylist()) == sorted(
        at // microseconds * microseconds for at in times
    )


def test_bins_of_timespans_are_timespans(tmp_path: Path) -> None:
    hour = 3_600_000_000
    shard = amudai.write(
        {"ts": pa.array([hour, 3 * hour // 2, 26 * hour], pa.timestamp("us"))}, tmp_path / "t.amudai.shard"
    )
    query = "project age = ts - datetime(1970-01-01) | summarize n = count() by bin(age, 30m + 30m) | order by age asc"
    found = amudai.kql(query, shard).to_table().to_pylist()
    spans = [each["age"].days * 24 * hour + each["age"].nanoseconds // 1000 for each in found]
    assert (spans, [each["n"] for each in found]) == ([hour, 26 * hour], [2, 1])


def test_texts_of_lists_and_structs_are_json(tmp_path: Path) -> None:
    data = pa.table({"l": [["a", None], [], None], "s": [{"n": 1}, None, {"n": None}]})
    shard = amudai.write(data, tmp_path / "t.amudai.shard")
    found = amudai.kql('project l = tostring(l), s = strcat(s, "!")', shard).to_table()
    assert found.to_pydict() == {"l": ['["a",null]', "[]", ""], "s": ['{"n":1}!', "!", '{"n":null}!']}


@pytest.mark.parametrize(
    "literal", ['h"failed"', "H'failed'", '@"failed"', 'h@"failed"', "```failed```", "~~~failed~~~"]
)
def test_every_literal_of_a_text(literal: str) -> None:
    expected = amudai.kql('where message has "failed" | count', amudai.open(SAMPLE)).to_table()
    assert amudai.kql(f"where message has {literal} | count", amudai.open(SAMPLE)).to_table() == expected
    assert expected["Count"][0].as_py() > 0


def test_a_sum_beyond_64_bits_is_an_error(tmp_path: Path) -> None:
    shard = amudai.write(pa.table({"n": [2**62] * 3}), tmp_path / "s")
    found = amudai.kql("summarize sum(n)", shard)
    with pytest.raises(amudai.InvalidArgument, match="out of range"):
        found.to_table()
    assert amudai.kql("take 1 | summarize sum(n)", shard).to_table().to_pydict() == {"sum_n": [2**62]}


def test_damage_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "s.amudai.shard"
    amudai.write(TABLE, path, profile="plain")
    written = bytearray(path.read_bytes())
    at = written.index(b"retry")
    written[at : at + 5] = b"RETRY"
    path.write_bytes(written)
    with pytest.raises(amudai.CorruptedData):
        amudai.kql("where strlen(message) > 3 | summarize count() by level", amudai.open(path)).to_table()


# ---- what is refused ----


@pytest.mark.parametrize(
    ("query", "error", "said"),
    [
        ("", amudai.InvalidArgument, "expected a query, found none"),
        ("where status ==", amudai.InvalidArgument, "at line 1, column"),
        ("where level == 'INFO' | where status = 500", amudai.InvalidArgument, "== in .* line 1, column 38, found ="),
        ("join (data | where status = 3) on ts", amudai.InvalidArgument, "== in the condition at line 1, column 27"),
        ("where status >", amudai.InvalidArgument, "line 1, column 15, found the end of the text"),
        ("where status == 500 |", amudai.InvalidArgument, "column 21, found a bar without an operator"),
        ("where status == 500 | wear 3", amudai.InvalidArgument, "column 21, found wear, which is not an operator"),
        ("where status == 500\n| top 5", amudai.InvalidArgument, "line 2, column 1, found top in a form"),
        ("where ts > datetime(2026-13-01)", amudai.InvalidArgument, r"found 2026-13-01 \(line 1, column 21\)"),
        ("where ts > ago(3h) + timespan(3q)", amudai.InvalidArgument, r"found 3q \(line 1, column 31\)"),
        ("where nothing == 3", amudai.InvalidArgument, r"found nothing \(line 1, column 7\)"),
        ("T | count", amudai.InvalidArgument, r"expected the table data, found T \(line 1, column 1\)"),
        ("['/etc/passwd'] | count", amudai.InvalidArgument, "expected the table data, found /etc/passwd"),
        ('database("x").data | count', amudai.UnsupportedFeature, "x.data"),
        ("count\n| make-series count() on ts step 1h", amudai.UnsupportedFeature, "make-series at line 2, column 3"),
        ("evaluate bag_unpack(http)", amudai.UnsupportedFeature, "found evaluate at line 1, column 1"),
        ("where status == 1 | reduce by message", amudai.UnsupportedFeature, "found reduce at line 1, column 21"),
        ("serialize | take 2", amudai.UnsupportedFeature, "found serialize at line 1, column 1"),
        ("where status == 1\n| serialize n = 1", amudai.UnsupportedFeature, "found serialize at line 2, column 3"),
        ("where level in ((data | parse-kv message as (a: long)))", amudai.UnsupportedFeature, "parse-kv at .*umn 25"),
        ("where status == 1 | as x", amudai.UnsupportedFeature, "found as at line 1, column 21"),
        ("extend n = row_number()", amudai.UnsupportedFeature, r"function row_number \(line 1, column 12\)"),
        ('summarize count() by level | search "x"', amudai.UnsupportedFeature, r"search before .*column 30\)"),
        ('search "a*b"', amudai.UnsupportedFeature, "at the ends of a text"),
        ('search in (data) "a"', amudai.UnsupportedFeature, "found search in"),
        ("project-keep nothing*", amudai.InvalidArgument, r"found nothing\* "),
        (".show tables", amudai.AmudaiError, "kql: "),
        ("externaldata(a:string) ['x.csv']", amudai.UnsupportedFeature, "found externaldata at line 1, column 1"),
    ],
)  # fmt: skip
def test_refusals_name_the_place(query: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        amudai.kql(query, amudai.open(SAMPLE))


@pytest.mark.parametrize("query", ["project status, nothing", "extend n = nothing + 1", "summarize count() by nothing"])
def test_missing_columns_are_named_with_their_place(query: str) -> None:
    place = rf"found nothing \(line 1, column {query.index('nothing') + 1}\)"
    with pytest.raises(amudai.InvalidArgument, match=place):
        amudai.kql(query, amudai.open(SAMPLE)).to_table()


def test_literals_that_only_duckdb_can_read_are_read() -> None:
    shard = amudai.open(SAMPLE)
    for literal in ("datetime(2026-01-01T00:00:12.5Z)", "datetime(2026-1-1)", "datetime(null)", "timespan(1.02:03:04)"):
        assert amudai.kql(f"print x = {literal}", shard).count() == 1


def test_arguments_are_checked() -> None:
    with pytest.raises(amudai.InvalidArgument, match="text: expected KQL"):
        amudai.kql(3, amudai.open(SAMPLE))  # type: ignore[arg-type]
    with pytest.raises(amudai.InvalidArgument, match="data: expected a shard"):
        amudai.kql("count", 3)  # type: ignore[arg-type]
    with pytest.raises(amudai.InvalidArgument, match="hosts: expected a shard"):
        amudai.kql("count", amudai.open(SAMPLE), hosts=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [16, 40, 3000])
def test_names_that_unfold_without_end_are_refused(count: int) -> None:
    """Each name of `let` means the one before it twice."""
    lets = "".join(f"let a{at} = a{at - 1} + a{at - 1}; " for at in range(1, count))
    shard = amudai.write({"n": [1]}, "t", store=MemoryStore())
    with pytest.raises(amudai.LimitExceeded, match="kql: expected a query that unfolds to at most"):
        amudai.kql(f"let a0 = 1; {lets}where n > a{count - 1}", shard)


@pytest.mark.parametrize("operator", ["and", "or", "+"])
def test_chains_without_end_are_refused(operator: str) -> None:
    shard = amudai.write({"n": [1]}, "t", store=MemoryStore())
    chain = f" {operator} ".join(["1"] * 3000) if operator == "+" else f" {operator} ".join(["n > 0"] * 3000)
    with pytest.raises(amudai.InvalidArgument, match="nested too deeply"):
        amudai.kql(f"where 0 < {chain}" if operator == "+" else f"where {chain}", shard)
    short = f" {operator} ".join(["n > 0"] * 200)
    if operator != "+":
        assert amudai.kql(f"where {short}", shard).count() == 1


def test_many_values_are_not_too_many() -> None:
    shard = amudai.write({"n": [1, 7, 90_000]}, "t", store=MemoryStore())
    assert amudai.kql(f"where n in ({', '.join(map(str, range(3000)))})", shard).count() == 2
