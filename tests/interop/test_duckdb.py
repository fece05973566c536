"""SQL by DuckDB over shards has the answers of DuckDB over Parquet."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai.interop import register
from amudai.predicate import Always
from tests.effort import scaled
from tests.interop import tables

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'amudai[duckdb]'")
pytest.importorskip("sqlglot", reason="sqlglot is not installed: pip install 'amudai[duckdb]'")
from amudai.interop.prefilter import prefilters, renamed  # noqa: E402 - needs sqlglot

TABLE = tables.logs()
HOSTS = pa.table({"id": range(0, 300, 3), "zone": [("eu", "us")[n % 2] for n in range(100)]})


class Both:
    """The same data as shards and as Parquet."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.source = tables.shard_of(TABLE, folder) if kind == "shard" else tables.lake_of(TABLE, folder)
        pq.write_table(TABLE, folder / "logs.parquet")
        self.plain = duckdb.connect()
        register(self.plain)
        # A table, not a view: on Parquet files DuckDB rules out row groups by bounds that do not know of NaN.
        self.plain.sql(f"CREATE TABLE logs AS SELECT * FROM '{folder}/logs.parquet'")
        self.plain.register("hosts", HOSTS)

    def answers(self, query: str) -> tuple[list[Any], list[Any]]:
        connection = duckdb.connect()
        connection.register("hosts", HOSTS)
        ours = amudai.sql(query, connection=connection, logs=self.source).fetchall()
        return sorted(map(repr, ours)), sorted(map(repr, self.plain.sql(query).fetchall()))


@pytest.fixture(scope="module", params=["shard", "dataset"])
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(tmp_path_factory.mktemp("both"), request.param)


QUERIES = [
    "SELECT id FROM logs WHERE message LIKE '%timeout%'",
    "SELECT id FROM logs WHERE message ILIKE '%TimeOut%'",
    "SELECT id FROM logs WHERE message ILIKE '%kelvin%'",
    "SELECT id FROM logs WHERE message ILIKE '%istanbul%'",
    "SELECT id FROM logs WHERE message ILIKE '%STRAßE%'",
    "SELECT id FROM logs WHERE message NOT LIKE '%timeout%'",
    "SELECT id FROM logs WHERE NOT (message LIKE '%timeout%')",
    "SELECT id FROM logs WHERE message LIKE '50!%%' ESCAPE '!'",
    "SELECT id FROM logs WHERE message LIKE 'a_b%' OR contains(message, 'retry')",
    "SELECT id FROM logs WHERE message LIKE 'a_b%' OR status = 500",
    "SELECT id FROM logs WHERE regexp_matches(message, 't.meout$')",
    "SELECT id FROM logs WHERE regexp_matches(message, 'TIMEOUT', 'i') AND ms > 1",
    "SELECT id FROM logs WHERE starts_with(message, 'timeout') AND suffix(message, 'retry')",
    "SELECT id FROM logs WHERE has(message, 'timeout') AND status >= 500",
    "SELECT id FROM logs WHERE has_any(message, ['kelvin', 'retry']) AND NOT has(message, 'timeout')",
    "SELECT count(*), min(ts) FROM logs WHERE MESSAGE LIKE '%retry%' AND ts >= TIMESTAMP '2026-01-01 02:00:00'",
    "SELECT l.id, r.id FROM logs l JOIN logs r ON l.id = r.id + 1 WHERE l.message LIKE '%timeout%'",
    "SELECT l.id, r.id FROM logs l JOIN logs r USING (id) WHERE l.message LIKE '%tim%' AND r.message LIKE '%ret%'",
    "SELECT h.id, l.message FROM hosts h LEFT JOIN logs l USING (id) WHERE l.message LIKE '%timeout%'",
    "SELECT h.id, l.message FROM hosts h LEFT JOIN logs l ON h.id = l.id AND l.message LIKE '%timeout%'",
    "SELECT h.id, l.message FROM hosts h LEFT JOIN logs l USING (id) WHERE l.message LIKE '%timeout%' OR l.id IS NULL",
    "SELECT h.zone, l.id FROM logs l FULL JOIN hosts h ON l.id = h.id WHERE l.message LIKE '%timeout%'",
    "SELECT l.id FROM logs l ANTI JOIN hosts h USING (id) WHERE l.message LIKE '%timeout%'",
    "WITH t AS (SELECT * FROM logs WHERE message LIKE '%retry%') SELECT a.id FROM t a JOIN t b ON a.id = b.id - 1",
    "WITH logs AS (SELECT * FROM logs WHERE message LIKE '%retry%') SELECT id FROM logs WHERE status = 500",
    "SELECT id FROM logs WHERE message LIKE '%timeout%' UNION ALL SELECT id FROM logs WHERE status = 404",
    "SELECT id FROM hosts h WHERE EXISTS (SELECT 1 FROM logs l WHERE l.id = h.id AND l.message LIKE '%timeout%')",
    "SELECT id FROM hosts h WHERE NOT EXISTS (SELECT 1 FROM logs l WHERE l.id = h.id AND l.message LIKE '%timeout%')",
    "SELECT id FROM hosts WHERE id NOT IN (SELECT id FROM logs WHERE message LIKE '%retry%')",
    "SELECT id, (SELECT count(*) FROM logs l WHERE l.id < o.id AND l.message LIKE '%retry%') FROM logs o WHERE id < 9",
    "SELECT * FROM (SELECT id, message FROM logs ORDER BY id LIMIT 50) WHERE message LIKE '%timeout%'",
    "SELECT h.id, l.id FROM hosts h ASOF JOIN logs l ON h.id >= l.id WHERE l.message LIKE '%timeout%'",
    "SELECT id, row_number() OVER (ORDER BY id) FROM logs WHERE message LIKE '%retry%'",
    "SELECT level, count(*) FROM logs WHERE message LIKE '%retry%' GROUP BY ALL HAVING count(*) > 3",
    "FROM logs SELECT id WHERE message LIKE '%\n%'",
    "SELECT http.path, count(*) FROM logs WHERE http.code = 3 AND message LIKE '%retry%' GROUP BY 1",
    "SELECT x.id FROM logs x, logs y WHERE x.id = y.id AND x.message LIKE '%timeout%' AND y.level LIKE 'w%'",
    "SELECT sum(status) FROM logs WHERE ms BETWEEN 0 AND 1 AND level IN ('info', 'warn') AND id BETWEEN 10 AND 200",
]


@pytest.mark.parametrize("query", QUERIES)
def test_the_answer_is_that_of_duckdb(both: Both, query: str) -> None:
    ours, theirs = both.answers(query)
    assert ours == theirs


def condition(chance: random.Random, table: str, depth: int = 2) -> str:
    if depth and chance.random() < 0.5:
        parts = [condition(chance, table, depth - 1) for _ in range(2)]
        joined = f"({parts[0]}) {chance.choice(['AND', 'OR'])} ({parts[1]})"
        return f"NOT ({joined})" if chance.random() < 0.2 else joined
    word = chance.choice(["timeout", "Timeout", "retry", "50%", "kelvin", "i", "k", "_b", "straße", "x"])
    pattern = chance.choice([f"%{word}%", f"{word}%", f"%{word}", f"%{word}%r%", word])
    return chance.choice(
        [
            f"{table}.message LIKE '{pattern}'",
            f"{table}.message NOT LIKE '{pattern}'",
            f"{table}.message ILIKE '{pattern}'",
            f"contains({table}.message, '{word}')",
            f"starts_with({table}.message, '{word}')",
            f"regexp_matches({table}.message, '{word.replace('%', '.')}')",
            f"has({table}.message, '{word.strip('%_')}')",
            f"{table}.status {chance.choice(['=', '<', '>=', '<>'])} {chance.choice([200, 404, 500])}",
            f"{table}.ms {chance.choice(['=', '<', '>'])} {chance.choice(['0', '1.5'])}",
            f"{table}.level = 'warn'",
            f"{table}.message IS NULL",
            f"{table}.id BETWEEN 20 AND 150",
        ]
    )


@pytest.mark.slow
def test_generated_queries_have_the_answers_of_duckdb(both: Both) -> None:
    chance = random.Random(17)
    for _ in range(scaled(160)):
        form = chance.choice(
            [
                "SELECT l.id, l.status FROM logs l WHERE {l}",
                "SELECT level, count(*), max(ts) FROM logs l WHERE {l} GROUP BY level",
                "SELECT l.id FROM logs l {join} JOIN logs r ON l.id = r.id + 1 WHERE {l} AND {r}",
                "SELECT h.id, l.id FROM hosts h {join} JOIN logs l ON h.id = l.id WHERE {l}",
                "WITH c AS (SELECT * FROM logs l WHERE {l}) SELECT r.id FROM c r WHERE {r}",
                "SELECT h.id FROM hosts h WHERE h.id {maybe} IN (SELECT id FROM logs l WHERE {l})",
            ]
        )
        query = form.format(
            l=condition(chance, "l"),
            r=condition(chance, "r"),
            join=chance.choice(["", "LEFT", "RIGHT", "FULL"]),
            maybe=chance.choice(["", "NOT"]),
        )
        ours, theirs = both.answers(query)
        assert ours == theirs, query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "SELECT 1 FROM logs WHERE message LIKE '%a%b'",
            'col("message").contains_cs("a") & col("message").endswith_cs("b")',
        ),
        ("SELECT 1 FROM logs WHERE message ILIKE 'abc%'", 'col("message").contains("abc")'),
        ("SELECT 1 FROM logs l WHERE l.message = 'x' AND id = 3", 'col("message") == "x"'),
        (
            "SELECT 1 FROM logs WHERE has(message, 'x') OR has(message, 'y')",
            'col("message").has("x") | col("message").has("y")',
        ),
        (
            "SELECT 1 FROM logs a, logs b WHERE a.message LIKE 'x%' AND b.level LIKE 'y%'",
            'col("message").startswith_cs("x") | col("level").startswith_cs("y")',
        ),
        ("SELECT 1 FROM logs a, logs b WHERE a.message LIKE 'x%'", "Always(True)"),
        ("SELECT 1 FROM logs WHERE message NOT LIKE 'x%'", "Always(True)"),
        ("SELECT 1 FROM logs WHERE lower(message) LIKE 'x%'", "Always(True)"),
        ("SELECT 1 FROM logs, hosts WHERE message LIKE 'x%'", "Always(True)"),
        ("SELECT 1 FROM hosts ASOF JOIN logs ON hosts.id >= logs.id WHERE logs.message LIKE 'x%'", "Always(True)"),
        ("SELECT 1 FROM logs TABLESAMPLE 10% WHERE message LIKE 'x%'", "Always(True)"),
        ("SELECT 1 FROM (SELECT * FROM logs LIMIT 5) WHERE message LIKE 'x%'", "Always(True)"),
        ("SELECT 1 FROM other.logs WHERE message LIKE 'x%'", "Always(True)"),
        ("not SQL at all", "Always(True)"),
    ],
)
def test_conditions_are_found_where_they_are_safe(query: str, expected: str) -> None:
    assert str(prefilters(query, {"logs": TABLE.schema})["logs"]) == expected


def test_indexes_are_asked_before_duckdb_sees_a_row(tmp_path: Path) -> None:
    shard = tables.shard_of(TABLE, tmp_path)
    rows = shard.to_pyarrow_dataset()
    assert isinstance(prefilters("SELECT 1 FROM logs", {"logs": shard.schema})["logs"], Always)
    duckdb.connect().sql("SELECT id FROM rows WHERE status = 503 AND message LIKE '%retry%'").fetchall()
    assert str(rows.scans[-1].explain()).startswith('col("status") == 503')


def test_variables_of_the_caller_are_tables(both: Both) -> None:
    my_logs = both.source
    assert amudai.sql("SELECT count(*) FROM my_logs").fetchall() == [(300,)]
    assert amudai.sql("SELECT count(*) FROM MY_LOGS", my_logs=my_logs).fetchall() == [(300,)]
    with pytest.raises(duckdb.CatalogException):
        amudai.sql("SELECT 1 FROM nothing_here")
    with pytest.raises(amudai.InvalidArgument, match="x: expected a shard or a dataset"):
        amudai.sql("SELECT 1 FROM x", x=5)  # type: ignore[arg-type]


def test_a_name_stands_for_all_rows_in_a_connection_of_the_caller(tmp_path: Path) -> None:
    logs = amudai.write({"id": [1, 2, 3], "m": ["a timeout", "b", "c"]}, tmp_path / "logs.amudai.shard")
    connection = duckdb.connect()

    def ask(query: str) -> Any:
        return amudai.sql(query, connection=connection, logs=logs)

    few = ask("SELECT id FROM logs WHERE m LIKE '%timeout%'")
    scans = connection.sql("SELECT count(*) FROM logs")
    others = ask("SELECT id FROM Logs AS x WHERE x.m LIKE 'c%'")
    assert (few.fetchall(), others.fetchall(), scans.fetchall()) == ([(1,)], [(3,)], [(3,)])
    connection.execute("CREATE VIEW everything AS FROM logs")
    connection.execute("CREATE MACRO rows_of() AS TABLE FROM logs")
    connection.execute("CREATE MACRO how_many() AS (SELECT count(*) FROM logs)")
    for everything in ("(SELECT count(*) FROM everything)", "(SELECT count(*) FROM rows_of())", "how_many()"):
        assert ask(f"SELECT {everything}, count(*) FROM logs WHERE logs.m LIKE '%timeout%'").fetchall() == [(3, 1)]
    named = connection.sql("SELECT count(*) FROM duckdb_views() WHERE view_name LIKE 'amudai_%'").fetchall()
    ask("SELECT id FROM logs WHERE m LIKE '%timeout%'")
    assert connection.sql("SELECT count(*) FROM duckdb_views() WHERE view_name LIKE 'amudai_%'").fetchall() == named
    connection.execute("SET default_collation = 'nocase'")
    assert ask("SELECT id FROM logs WHERE m = 'B'").fetchall() == [(2,)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('SELECT "logs".a FROM "logs" WHERE 1', 'SELECT "logs".a FROM x AS "logs" WHERE 1'),
        ("FROM logs -- logs\nWHERE b = 'logs'", "FROM x AS logs -- logs\nWHERE b = 'logs'"),
        ("SELECT 'ü', * FROM Logs l, logs WHERE l.a", "SELECT 'ü', * FROM x l, x AS logs WHERE l.a"),
        ("WITH logs AS (FROM logs) FROM logs", "WITH logs AS (FROM x AS logs) FROM logs"),
        ("WITH c AS (FROM logs) FROM c, main.logs", "WITH c AS (FROM x AS logs) FROM c, main.logs"),
    ],
)
def test_tables_get_other_names(query: str, expected: str) -> None:
    assert renamed(query, {"logs": "x"}) == expected


@pytest.mark.slow
def test_functions_mean_what_predicates_mean(both: Both) -> None:
    asked: list[tuple[str, Any, str]] = [("has", "timeout", "'timeout'"), ("hasprefix_cs", "Tim", "'Tim'")]
    asked.append(("has_all", ["50", "retry"], "['50', 'retry']"))
    for name, argument, text in asked:
        query = f"SELECT id FROM logs WHERE {name}(message, {text}) ORDER BY id"
        found = amudai.sql(query, logs=both.source).fetchall()
        expected = both.source.read(["id"], getattr(amudai.col("message"), name)(argument))["id"].to_pylist()
        assert [row[0] for row in found] == expected
        assert expected
    assert amudai.sql("SELECT has(NULL, 'x'), has('a b', 'B')").fetchall() == [(None, True)]


def test_times_in_nanoseconds_with_a_zone_keep_all_digits(tmp_path: Path) -> None:
    stored = [1_700_000_000_123_456_789, None]
    logs = amudai.write({"ts": pa.array(stored, pa.timestamp("ns", "UTC")), "n": [1, 2]}, tmp_path / "ns.amudai.shard")
    assert amudai.sql("SELECT epoch_ns(ts) FROM logs ORDER BY n", logs=logs).fetchall() == [(each,) for each in stored]
    assert amudai.sql(
        "SELECT n FROM logs WHERE ts = TIMESTAMP_NS '2023-11-14 22:13:20.123456789'", logs=logs
    ).fetchall()
    hours = amudai.sql("SELECT epoch(date_trunc('hour', ts::TIMESTAMPTZ)) FROM logs WHERE n = 1", logs=logs)
    assert hours.fetchall() == [(1_700_000_000 - 1_700_000_000 % 3600,)]
    with pytest.raises(amudai.UnsupportedFeature, match="cast the column, as in ts::TIMESTAMPTZ"):
        amudai.sql("SELECT date_trunc('hour', ts) FROM logs", logs=logs)
