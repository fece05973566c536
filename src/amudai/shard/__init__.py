"""How is a shard put together?

`reader.py` opens a shard and hands out its facts when they are touched; `stripe.py` finds a stripe's descriptors and
buffers; `field.py` reads the values of one schema node, at any depth. Values leave as `Column` trees of decoded
buffers: what Arrow makes of them is `arrow`'s matter.
"""

from amudai.shard.column import Absent, Column, Constant, Joined, Stored
from amudai.shard.field import FieldReader
from amudai.shard.projection import Projection
from amudai.shard.reader import ShardReader
from amudai.shard.stripe import StripeReader

__all__ = [
    "Absent",
    "Column",
    "Constant",
    "FieldReader",
    "Joined",
    "Projection",
    "ShardReader",
    "Stored",
    "StripeReader",
]
