"""DuckDB queries over a shard: amudai finds the rows, DuckDB reads them as Arrow batches and does the rest in SQL."""

from __future__ import annotations

import duckdb
import numpy as np

import amudai
from amudai import col

rng = np.random.default_rng(1)
rows = {
    "service": rng.choice(["gateway", "billing", "search"], 100_000),
    "status": rng.choice([200, 404, 503], 100_000, p=[0.9, 0.07, 0.03]),
    "message": rng.choice(["all well", "upstream timeout", "not found"], 100_000),
}
shard = amudai.write(rows, "requests.amudai.shard", indexes=[amudai.TermIndex("message")], overwrite=True)

# A stream of batches. DuckDB reads a few at a time, without a copy.
timeouts = shard.to_reader(["service", "status"], where=col("message").has("timeout"))
found = duckdb.from_arrow(timeouts).aggregate("service, count(*) AS n", "service").order("service").fetchall()
print(found)
assert sum(count for _, count in found) == shard.count(col("message").has("timeout"))

# A query can also name a Python variable that holds a reader, a scan or a shard.
errors = shard.scan(["service"], where=col("status") >= 500)
((count,),) = duckdb.sql("SELECT count(*) FROM errors").fetchall()
assert count == errors.count()

# The other direction: write the result of a query as a shard.
summary = duckdb.sql("SELECT range AS n, n * n AS square FROM range(1000)").to_arrow_table()
print(amudai.write(summary, "squares.amudai.shard", overwrite=True).take([30]).to_pylist())
