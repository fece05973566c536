"""Many shards and Dask: each task of a scan is a partition."""

from __future__ import annotations

import amudai
from amudai.interop import read_dask

rows = {
    "day": [1, 1, 2, 2, 2],
    "status": [200, 503, 500, 503, 200],
    "message": ["ok", "read timeout", "write Timeout", "timeout again", "ok"],
}
lake = amudai.write_dataset(rows, "lake", partition_by=["day"], indexes=[amudai.TermIndex("message")])

frame = read_dask("lake/", where="message has 'timeout' and day = 2")
print(frame[["status"]].compute(scheduler="synchronous"))
assert frame["status"].sum().compute(scheduler="synchronous") == 1003
