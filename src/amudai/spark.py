"""How does Spark read and write shards?

>>> import amudai.spark
>>> amudai.spark.register  # doctest: +ELLIPSIS
<function register at ...>
"""

from amudai.interop import spark_read as read
from amudai.interop import spark_register as register

__all__ = ["read", "register"]
