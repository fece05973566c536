"""How is a shard built?

There is a builder for each kind of schema node, in `leaf_builders.py` or `container_builders.py`: values go in, encoded
buffers and statistics come out, in a spool. `stripe.py` puts the buffers of a stripe into a file and says where they
lie, `shard.py` puts it all together, `placed.py` describes it and `metadata.py` writes the description. `artifact.py`
is what an index needs to be built along the way.
"""

from amudai.shard.build.artifact import INDEX_SUFFIX, ArtifactSpace, PreparedStripe, RowSink, Sinks
from amudai.shard.build.container_builders import ListBuilder, StructBuilder, builder_of
from amudai.shard.build.field_builder import BitEncoder, FieldBuildContext, FieldBuilder
from amudai.shard.build.metadata import ShardMetadata, StripeMetadata, write_metadata
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.shard import STRIPE_SUFFIX, BuildOptions, ShardBuilder, StripeBuilder
from amudai.shard.build.stored import StoredArray

__all__ = [
    "INDEX_SUFFIX",
    "STRIPE_SUFFIX",
    "ArtifactSpace",
    "BitEncoder",
    "BuildOptions",
    "FieldBuildContext",
    "FieldBuilder",
    "ListBuilder",
    "PreparedField",
    "PreparedStripe",
    "RowSink",
    "ShardBuilder",
    "ShardMetadata",
    "Sinks",
    "StoredArray",
    "StripeBuilder",
    "StripeMetadata",
    "StructBuilder",
    "builder_of",
    "write_metadata",
]
