"""How is a shard built?

`fields.py` has a builder for each kind of schema node: values go in, encoded buffers and statistics come out, in a
spool. `stripe.py` puts the buffers of a stripe into a file and says where they lie, `shard.py` adds the metadata around
them.
"""

from amudai.shard.build.shard import STRIPE_SUFFIX, BuildOptions, ShardBuilder

__all__ = ["STRIPE_SUFFIX", "BuildOptions", "ShardBuilder"]
