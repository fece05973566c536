"""How does DuckDB ask a shard? It takes batches as Arrow: rows are found by us, the rest is SQL."""

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

# A stream of batches; DuckDB reads them where they are, a few at a time.
timeouts = shard.to_reader(["service", "status"], where=col("message").has("timeout"))
found = duckdb.from_arrow(timeouts).aggregate("service, count(*) AS n", "service").order("service").fetchall()
print(found)
assert sum(count for _, count in found) == shard.count(col("message").has("timeout"))

# A variable can be named in the text of a query as well: a reader, a scan or a shard.
errors = shard.scan(["service"], where=col("status") >= 500)
((count,),) = duckdb.sql("SELECT count(*) FROM errors").fetchall()
assert count == errors.count()

# And back: the result of a query is written as a shard, batch by batch.
summary = duckdb.sql("SELECT range AS n, n * n AS square FROM range(1000)").to_arrow_table()
print(amudai.write(summary, "squares.amudai.shard", overwrite=True).take([30]).to_pylist())
