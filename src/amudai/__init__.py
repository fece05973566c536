"""Amudai: columnar shards that carry their own indexes, read as Arrow.

>>> import amudai
>>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
>>> shard.read(["status"]).num_rows
400
"""

from amudai.api import (
    Field,
    FieldStats,
    Problem,
    Progress,
    Shard,
    ShardWriter,
    Stripe,
    Verification,
    ingest,
    open,  # noqa: A004
    write,
)
from amudai.errors import (
    AmudaiError,
    CorruptedData,
    InvalidArgument,
    InvalidSchema,
    StorageError,
    UnsupportedFeature,
)

__all__ = [
    "AmudaiError",
    "CorruptedData",
    "Field",
    "FieldStats",
    "InvalidArgument",
    "InvalidSchema",
    "Problem",
    "Progress",
    "Shard",
    "ShardWriter",
    "StorageError",
    "Stripe",
    "UnsupportedFeature",
    "Verification",
    "ingest",
    "open",
    "write",
]

__version__ = "0.1.0"
