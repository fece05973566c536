"""How is a shard put together?

`reader.py` opens a shard and hands out its facts when they are touched; `stripe.py` finds a stripe's descriptors and
opens its columns, whose values are the matter of `column`. `portable.py` says how another process opens the shard.
`build/` writes shards.
"""

from amudai.shard.portable import PortableShard
from amudai.shard.reader import ShardReader, fingerprint_of_tail
from amudai.shard.stripe import StripeReader

__all__ = ["PortableShard", "ShardReader", "StripeReader", "fingerprint_of_tail"]
