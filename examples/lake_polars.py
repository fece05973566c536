"""Many shards and polars: a lazy frame whose predicates are pushed down, words included."""

from __future__ import annotations

import polars as pl

import amudai

rows = {
    "day": [1, 1, 2, 2, 2],
    "status": [200, 503, 500, 503, 200],
    "message": ["ok", "read timeout", "write Timeout", "timeout again", "ok"],
}
lake = amudai.write_dataset(rows, "lake", partition_by=["day"], indexes=[amudai.TermIndex("message")])

lazy = amudai.scan_polars("lake/")
found = lazy.filter(pl.col("message").amudai.has("timeout"), pl.col("day") == 2).select("status").collect()
print(found)
assert found["status"].to_list() == [500, 503]
