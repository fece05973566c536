"""Do queries keep their limits, read nothing but their tables, and stop when they are cancelled?"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import amudai
from amudai import Cancelled, InvalidArgument, LimitExceeded, QueryLimits

pytest.importorskip("duckdb_kql", reason="duckdb-kql is not installed: pip install 'amudai[kql]'")

LOGS = "tests/fixtures/sample.amudai.shard"
ALONE = QueryLimits(memory=64 << 20, threads=1, only_tables=True)
# Far more work than any test may take.
ENDLESS = "SELECT count(*) AS n FROM range(1000000000000) a, data WHERE hash(a.range) = status"


def test_a_query_keeps_its_limit_of_memory() -> None:
    logs = amudai.open(LOGS)
    text = "SELECT list(a.range || 'x' || message) AS l FROM range(100000) a, data"
    with pytest.raises(LimitExceeded, match=r"^sql: Out of Memory Error"):
        amudai.sql_result(text, limits=ALONE, data=logs).to_table()
    # The database is used again.
    assert amudai.sql_result("SELECT count(*) AS n FROM data", limits=ALONE, data=logs).to_table()["n"].to_pylist() == [400]  # fmt: skip # noqa: E501


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM data, read_csv('{file}')",
        "SELECT * FROM read_parquet('http://localhost:1/x.parquet')",
        "SELECT getenv('HOME') FROM data",
    ],
)
def test_a_query_reads_nothing_but_its_tables(text: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a,b\nsecret,1\n")
    with pytest.raises(InvalidArgument) as caught:
        amudai.sql_result(text.format(file=file), limits=ALONE, data=amudai.open(LOGS)).to_table()
    assert "secret,1" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["SET memory_limit = '1GB'", "ATTACH 'x.db'", "COPY data TO 'x.csv'", "INSTALL httpfs"]
)
def test_a_query_changes_nothing(text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"^sql: expected one query"):
        amudai.sql_result(text, limits=ALONE, data=amudai.open(LOGS))


def test_limits_hold_for_kql_too() -> None:
    logs = amudai.open(LOGS)
    assert amudai.kql("where status >= 500 | count", logs, limits=ALONE).to_table().to_pylist() == [{"Count": 11}]
    with pytest.raises(InvalidArgument, match=r"^limits: expected amudai\.QueryLimits, found 5"):
        amudai.kql("count", logs, limits=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"^memory: expected"):
        QueryLimits(memory=0)


@pytest.mark.parametrize("limits", [None, ALONE])
def test_cancelling_stops_a_query_that_runs(limits: QueryLimits | None) -> None:
    found = amudai.sql_result(ENDLESS, limits=limits, data=amudai.open(LOGS))
    worked: list[float] = []

    def cancel() -> None:
        worked.append(time.process_time())
        found.cancel()

    threading.Timer(0.2, cancel).start()
    with pytest.raises(Cancelled, match=r"^sql: the query was cancelled$"):
        found.to_table()
    # The work that followed, not the time: a busy machine may let it wait.
    assert time.process_time() - worked[0] < 2 * (os.cpu_count() or 1)


def test_queries_at_once_have_databases_of_their_own() -> None:
    logs = amudai.open(LOGS)
    found = [amudai.kql("project status", logs, limits=ALONE) for _ in range(3)]
    rows = [iter(each) for each in found]
    assert [next(each).num_rows for each in rows] == [400, 400, 400]
    found[0].cancel()
    with pytest.raises(Cancelled):
        found[0].count()
    assert found[1].count() == 400


@pytest.mark.parametrize("ask", [amudai.QueryResult.count, amudai.QueryResult.to_table])
def test_ctrl_c_stops_a_query(ask: Callable[[amudai.QueryResult], object]) -> None:
    found = amudai.sql_result(ENDLESS, data=amudai.open(LOGS))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    later = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    try:
        later.start()
        with pytest.raises(KeyboardInterrupt):
            ask(found)
    finally:
        later.join()
        signal.signal(signal.SIGINT, before)
    # The main thread can go on asking.
    assert amudai.kql("count", amudai.open(LOGS)).to_table().to_pylist() == [{"Count": 400}]
