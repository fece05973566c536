"""Many shards and DuckDB: SQL with text search by the indexes of the shards."""

from __future__ import annotations

import amudai

rows = {
    "day": [1, 1, 2, 2, 2],
    "status": [200, 503, 500, 503, 200],
    "message": ["ok", "read timeout", "write Timeout", "timeout again", "ok"],
}
lake = amudai.write_dataset(rows, "lake", partition_by=["day"], indexes=[amudai.TermIndex("message")])

found = amudai.sql("SELECT day, count(*) FROM lake WHERE message ILIKE '%timeout%' GROUP BY day ORDER BY day")
print(found)
assert found.fetchall() == [(1, 1), (2, 2)]
assert amudai.sql("SELECT min(status) FROM lake WHERE has(message, 'timeout')").fetchall() == [(500,)]
