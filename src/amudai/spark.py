"""How does Spark read and write shards?

`register` makes `amudai` a format of a Spark session, and `read` reads some columns and rows of a shard or folder.
`compact` and `index` make one shard of many, by tasks of Spark. `build_jar` compiles the optional Java part, by which
Spark reads only the columns that it needs. All need `pip install amudai[spark]` and Java.

>>> import amudai.spark
>>> amudai.spark.__all__
['build_jar', 'compact', 'index', 'read', 'register']
"""

from amudai.interop import build_spark_jar as build_jar
from amudai.interop import spark_compact as compact
from amudai.interop import spark_index as index
from amudai.interop import spark_read as read
from amudai.interop import spark_register as register

__all__ = ["build_jar", "compact", "index", "read", "register"]
