"""Queries of TPC-H over one table: `amudai.sql` gives what DuckDB gives over the same rows as Parquet.

The rows have the distributions of TPC-H's table `lineitem`. Money is DECIMAL: the order of rows changes no sum.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from benchmarks.datasets import lineitem

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'amudai[duckdb]'")
pytest.importorskip("sqlglot", reason="sqlglot is not installed: pip install 'amudai[duckdb]'")

MONEY = ("l_extendedprice", "l_discount", "l_tax", "l_quantity")
PRICE = "sum(l_extendedprice * (1 - l_discount))"
QUERIES = {
    "1": f"""SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), {PRICE},
             sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), count(*)
             FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL 90 DAY
             GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus""",
    "6": """SELECT sum(l_extendedprice * l_discount) FROM lineitem
            WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL 1 YEAR
            AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24""",
    "4, inner": """SELECT count(DISTINCT l_orderkey) FROM lineitem
                   WHERE l_commitdate < l_receiptdate AND l_shipdate >= DATE '1993-07-01'""",
    "12, counts": """SELECT l_shipmode, count(*) FROM lineitem WHERE l_shipmode IN ('MAIL', 'SHIP')
                     AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
                     AND l_receiptdate >= DATE '1994-01-01' AND l_receiptdate < DATE '1994-01-01' + INTERVAL 1 YEAR
                     GROUP BY l_shipmode ORDER BY l_shipmode""",
    "15, view": f"""SELECT l_suppkey, {PRICE} AS revenue FROM lineitem
                    WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL 3 MONTH
                    GROUP BY l_suppkey ORDER BY revenue DESC, l_suppkey LIMIT 20""",
    "18, inner": """SELECT l_orderkey, sum(l_quantity) FROM lineitem GROUP BY l_orderkey
                    HAVING sum(l_quantity) > 200 ORDER BY l_orderkey""",
    "19, one table": f"""SELECT {PRICE} FROM lineitem WHERE l_shipinstruct = 'DELIVER IN PERSON'
                         AND ((l_quantity BETWEEN 1 AND 11 AND l_shipmode IN ('AIR', 'AIR REG'))
                         OR (l_quantity BETWEEN 20 AND 30 AND l_shipmode LIKE 'REG%'))""",
    "21, pairs": """SELECT count(*) FROM lineitem one JOIN lineitem other USING (l_orderkey)
                    WHERE one.l_suppkey <> other.l_suppkey AND one.l_receiptdate > one.l_commitdate
                    AND other.l_comment LIKE '%carefully%'""",
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> tuple[amudai.Dataset, Any]:
    folder = tmp_path_factory.mktemp("tpch")
    table = lineitem(6000)
    for name in MONEY:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table[name].cast(pa.float64()).cast(pa.decimal128(15, 2), safe=False))
    pq.write_table(table, folder / "lineitem.parquet")
    shards = amudai.write_dataset(table, folder / "lake", rows_per_shard=2500, indexes=[amudai.TermIndex("l_comment")])
    connection = duckdb.connect()
    connection.sql(f"CREATE VIEW lineitem AS SELECT * FROM '{folder / 'lineitem.parquet'}'")
    return shards, connection


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
def test_amudai_sql_and_duckdb_agree(name: str, tables: tuple[amudai.Dataset, Any]) -> None:
    shards, connection = tables
    expected = connection.sql(QUERIES[name]).fetchall()
    assert expected
    assert expected[0][-1]
    assert amudai.sql(QUERIES[name], lineitem=shards).fetchall() == expected
