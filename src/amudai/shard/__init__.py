"""How is a shard put together?

`reader.py` opens a shard and hands out its facts when they are touched; `stripe.py` finds a stripe's descriptors and
opens its columns, whose values are the matter of `column`. `portable.py` says how another process opens the shard.
`build/` writes shards.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.shard.build.artifact import ArtifactSpace, PreparedStripe, RowSink, Sinks
    from amudai.shard.build.attached import AttachedField
    from amudai.shard.build.container_builders import ListBuilder, StructBuilder, builder_of
    from amudai.shard.build.field_builder import BitEncoder, FieldBuildContext, FieldBuilder
    from amudai.shard.build.metadata import ShardMetadata, StripeMetadata, with_field_indexes, write_metadata
    from amudai.shard.build.packed import PACKABLE, GroupRequest
    from amudai.shard.build.placed import folded, sum_of_known
    from amudai.shard.build.prepared import PreparedField
    from amudai.shard.build.shard import BuildOptions, ShardBuilder, StripeBuilder
    from amudai.shard.build.stored import Bits, StoredArray, StoredDictionary
    from amudai.shard.build.stripe import place_fields
    from amudai.shard.footer import pack_footer, unpack_footer
    from amudai.shard.portable import PortableShard
    from amudai.shard.reader import ShardReader, fingerprint_of_tail
    from amudai.shard.small_columns import SmallBatch
    from amudai.shard.stripe import StripeReader
    from amudai.shard.suffixes import INDEX_SUFFIX, STRIPE_SUFFIX
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.shard.build.artifact": "ArtifactSpace PreparedStripe RowSink Sinks",
            "amudai.shard.build.attached": "AttachedField",
            "amudai.shard.build.container_builders": "ListBuilder StructBuilder builder_of",
            "amudai.shard.build.field_builder": "BitEncoder FieldBuildContext FieldBuilder",
            "amudai.shard.build.metadata": "ShardMetadata StripeMetadata with_field_indexes write_metadata",
            "amudai.shard.build.packed": "PACKABLE GroupRequest",
            "amudai.shard.build.placed": "folded sum_of_known",
            "amudai.shard.build.prepared": "PreparedField",
            "amudai.shard.build.shard": "BuildOptions ShardBuilder StripeBuilder",
            "amudai.shard.build.stored": "Bits StoredArray StoredDictionary",
            "amudai.shard.build.stripe": "place_fields",
            "amudai.shard.portable": "PortableShard",
            "amudai.shard.footer": "pack_footer unpack_footer",
            "amudai.shard.reader": "ShardReader fingerprint_of_tail",
            "amudai.shard.small_columns": "SmallBatch",
            "amudai.shard.stripe": "StripeReader",
            "amudai.shard.suffixes": "INDEX_SUFFIX STRIPE_SUFFIX",
        },
    )

__all__ = [
    "INDEX_SUFFIX",
    "PACKABLE",
    "STRIPE_SUFFIX",
    "ArtifactSpace",
    "AttachedField",
    "BitEncoder",
    "Bits",
    "BuildOptions",
    "FieldBuildContext",
    "FieldBuilder",
    "GroupRequest",
    "ListBuilder",
    "PortableShard",
    "PreparedField",
    "PreparedStripe",
    "RowSink",
    "ShardBuilder",
    "ShardMetadata",
    "ShardReader",
    "Sinks",
    "SmallBatch",
    "StoredArray",
    "StoredDictionary",
    "StripeBuilder",
    "StripeMetadata",
    "StripeReader",
    "StructBuilder",
    "builder_of",
    "fingerprint_of_tail",
    "folded",
    "pack_footer",
    "place_fields",
    "sum_of_known",
    "unpack_footer",
    "with_field_indexes",
    "write_metadata",
]
