"""An Iceberg table and text search: its Parquet files get indexes and stay where they are."""

from __future__ import annotations

import os

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

import amudai

os.makedirs("warehouse")
catalog = SqlCatalog("local", uri="sqlite:///catalog.db", warehouse=f"file://{os.path.abspath('warehouse')}")
catalog.create_namespace("lake")
table = catalog.create_table("lake.logs", schema=pa.schema({"status": pa.int64(), "message": pa.string()}))
table.append(pa.table({"status": [200, 503], "message": ["ok", "read timeout"]}))

lake = amudai.attach_iceberg(table, "warehouse/index", indexes=[amudai.TermIndex("message")])
assert lake.read(["status"], where="message has 'timeout'").to_pydict() == {"status": [503]}

table.append(pa.table({"status": [500], "message": ["write timeout"]}))
table.delete("status = 503")
found = amudai.open_iceberg(table).read(where="message has 'timeout'")
print(found.to_pylist())
assert found["status"].to_pylist() == [500]
