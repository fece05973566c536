"""Many shards and Spark: read some columns and rows, and write a folder of shards."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

import amudai
import amudai.spark

rows = {
    "day": [1, 1, 2, 2, 2],
    "status": [200, 503, 500, 503, 200],
    "message": ["ok", "read timeout", "write Timeout", "timeout again", "ok"],
}
lake = amudai.write_dataset(rows, "lake", partition_by=["day"], indexes=[amudai.TermIndex("message")])

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
frame = amudai.spark.read(spark, "lake", columns=["day", "status"], where="message has 'timeout'")
frame.show()
frame.write.format("amudai").mode("overwrite").save("timeouts")
assert amudai.dataset("timeouts").num_rows == 3
spark.stop()
