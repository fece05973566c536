"""Log search: ingest log files once into a shard with a term index, then find words in milliseconds."""

from __future__ import annotations

import gzip
from pathlib import Path

import amudai
from amudai import col

lines = [
    f"2026-03-02 10:{number // 60 % 60:02d}:{number % 60:02d} {'WARN' if number % 9 == 0 else 'INFO'} "
    f"request {number} took {number * 31 % 400} ms"
    for number in range(20_000)
]
lines[4711] = "2026-03-02 10:18:31 ERROR Deadlock detected, request 4711 rolled back"
Path("logs").mkdir(exist_ok=True)
Path("logs/app.log").write_text("\n".join(lines[:10_000]))
Path("logs/app.log.gz").write_bytes(gzip.compress("\n".join(lines[10_000:]).encode()))

# Each line is a row with the line itself, its file and line number, and its time and level if they are recognised.
shard = amudai.ingest("logs", "app.amudai.shard", indexes=[amudai.TermIndex("line")], overwrite=True)
print(shard.schema.names)
assert shard.num_rows == 20_000

found = shard.scan(["file", "line_number", "line"], where=col("line").has("deadlock"))
print(found.to_table().to_pylist())
assert found.to_table()["line_number"].to_pylist() == [4712]
print(found.explain())

slow = shard.scan(["line"], where=(col("level") == "WARN") & col("line").has_all(["took", "399"]))
assert slow.count() == sum("WARN" in line and "took 399 ms" in line for line in lines)
for line in slow.to_table()["line"].to_pylist()[:3]:
    print(line)
