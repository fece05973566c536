"""Shards and polars: frames in and out, without a copy of the values."""

from __future__ import annotations

import polars as pl

import amudai
from amudai import col

levels = ["INFO", "ERROR", "INFO", "ERROR"]
frame = pl.DataFrame({"level": levels, "status": [200, 503, 204, 500], "ms": [3, 907, 5, 88]})
shard = amudai.write(frame, "requests.amudai.shard", overwrite=True)  # a frame can be written directly

failed = shard.to_polars(["status", "ms"], where=col("level") == "ERROR")
print(failed.sort("ms"))
assert failed.sort("ms")["status"].to_list() == [500, 503]

# Scans and shards also speak the Arrow PyCapsule protocol, so polars can read them directly.
assert pl.DataFrame(shard.scan(["status", "ms"], where=col("level") == "ERROR")).equals(failed)
assert pl.DataFrame(shard).equals(frame)

# No copy: the column of the frame has the same address as the column of the Arrow table.
table = shard.read(["ms"])
column = pl.DataFrame(table)["ms"].to_numpy(allow_copy=False)
assert column.ctypes.data == table["ms"].chunk(0).buffers()[1].address
print("the frame and the table share the values at", hex(column.ctypes.data))
