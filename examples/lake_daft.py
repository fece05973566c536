"""Many shards and Daft: filters, columns and limits are pushed down."""

from __future__ import annotations

import daft

import amudai
from amudai.interop import read_daft

rows = {
    "day": [1, 1, 2, 2, 2],
    "status": [200, 503, 500, 503, 200],
    "message": ["ok", "read timeout", "write Timeout", "timeout again", "ok"],
}
lake = amudai.write_dataset(rows, "lake", partition_by=["day"], indexes=[amudai.TermIndex("message")])

frame = read_daft("lake/", where="message has 'timeout'").where(daft.col("day") == 2).select("status")
print(frame.to_pydict())
assert sorted(frame.to_pydict()["status"]) == [500, 503]
