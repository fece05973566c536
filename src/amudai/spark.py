"""How does Spark read and write shards?

`register` makes `amudai` a format of a Spark session, and `read` reads some columns and rows of a shard or folder. Both
need `pip install amudai[spark]` and Java.

>>> import amudai.spark
>>> amudai.spark.__all__
['read', 'register']
"""

from amudai.interop import spark_read as read
from amudai.interop import spark_register as register

__all__ = ["read", "register"]
