"""Shards and pandas: frames in and out, without a copy if pandas keeps the Arrow types."""

from __future__ import annotations

import numpy as np
import pandas as pd

import amudai
from amudai import col

frame = pd.DataFrame({"service": ["gateway", "billing"] * 500, "ms": np.arange(1000, dtype="int64")})
shard = amudai.write(frame, "timings.amudai.shard", overwrite=True)  # a frame can be written directly

slow = shard.to_pandas(where=(col("service") == "billing") & (col("ms") >= 990))
print(slow)
assert slow["ms"].tolist() == [991, 993, 995, 997, 999]

# With pandas' Arrow types, the frame and the table share their memory, also for strings.
table = shard.read()
shared = table.to_pandas(types_mapper=pd.ArrowDtype)
kept = shared["service"].array.__arrow_array__().chunk(0)
assert kept.buffers()[2].address == table["service"].chunk(0).buffers()[2].address
print(shared.groupby("service")["ms"].mean())

# A numeric column without nulls is a NumPy view.
view = table["ms"].chunk(0).to_numpy(zero_copy_only=True)
assert view.ctypes.data == table["ms"].chunk(0).buffers()[1].address
