"""Many shards and Ray Data: filters and columns are pushed down, and a dataset of Ray becomes shards."""

from __future__ import annotations

import ray
from ray.data.expressions import col

import amudai
from amudai.interop import read_ray, write_ray

rows = {
    "day": [1, 1, 2, 2, 2],
    "status": [200, 503, 500, 503, 200],
    "message": ["ok", "read timeout", "write Timeout", "timeout again", "ok"],
}
lake = amudai.write_dataset(rows, "lake", partition_by=["day"], indexes=[amudai.TermIndex("message")])

ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
timeouts = read_ray("lake/", where="message has 'timeout'").filter(expr=col("day") == 2)
print(timeouts.select_columns(["status"]).take_all())
write_ray(timeouts, "timeouts", indexes=[amudai.TermIndex("message")])
assert amudai.dataset("timeouts").count("message has 'again'") == 1
ray.shutdown()
