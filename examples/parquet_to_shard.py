"""From a Parquet file to a shard with indexes, and back: the same columns, types and rows."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

import amudai
from amudai import col

count = 50_000
table = pa.table(
    {
        "order": pa.array(range(count), pa.int64()),
        "customer": pa.array([f"customer-{number * 7919 % 9973:05d}" for number in range(count)]),
        "note": pa.array(["left at the door" if number % 500 else "address unknown" for number in range(count)]),
        "price": pa.array([None if number % 10 == 9 else number % 997 / 4 for number in range(count)]),
    }
)
pq.write_table(table, "orders.parquet", compression="zstd")

# The file is streamed. Folders, patterns and lists of files work the same way.
indexes = [amudai.TermIndex("note"), amudai.HashIndex("customer")]
shard = amudai.ingest("orders.parquet", "orders.amudai.shard", indexes=indexes, overwrite=True)
assert shard.schema == table.schema
assert shard.read().equals(table)
print(shard)

scan = shard.scan(["order", "customer"], where=col("note").has("unknown") & (col("customer") == "customer-00000"))
print(scan.to_table().to_pylist())
print(scan.explain())

# From the shard to Parquet.
pq.write_table(shard.read(), "again.parquet")
assert pq.read_table("again.parquet").equals(table)
