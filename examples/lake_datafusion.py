"""Many shards and DataFusion, by way of a dataset of pyarrow."""

from __future__ import annotations

import datafusion

import amudai

rows = {
    "day": [1, 1, 2, 2, 2],
    "status": [200, 503, 500, 503, 200],
    "message": ["ok", "read timeout", "write Timeout", "timeout again", "ok"],
}
lake = amudai.write_dataset(rows, "lake", partition_by=["day"], indexes=[amudai.TermIndex("message")])

context = datafusion.SessionContext()
context.register_dataset("lake", lake.to_pyarrow_dataset())
found = context.sql("SELECT count(*) AS failed FROM lake WHERE status >= 500 AND day = 2").to_pydict()
print(found)
assert found == {"failed": [2]}
