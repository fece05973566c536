"""What does a user call?

`open` gives a `Shard`. A `Shard` gives tables, batches, rows, `Field`s, and a picture of itself; what it shares with
other sources of rows is in `tabular.py`. Everything here is thin: it checks arguments and asks the rooms below.
"""

from amudai.api.add_indexes import add_indexes
from amudai.api.collect_garbage import collect_garbage
from amudai.api.field import Field, FieldStats
from amudai.api.ingest import ingest
from amudai.api.open import open  # noqa: A004
from amudai.api.progress import Progress
from amudai.api.scan import Scan
from amudai.api.shard import Shard
from amudai.api.stripe import Stripe
from amudai.api.task import Task
from amudai.api.write import ShardWriter, write
from amudai.index import HashIndex, TermIndex
from amudai.inspect import (
    BlockLayout,
    BufferLayout,
    FieldLayout,
    Index,
    Problem,
    ShardLayout,
    StripeLayout,
    Verification,
)
from amudai.predicate import Column, Predicate, col
from amudai.scan import Explanation
from amudai.sources import BadRecord, Source, read_files

__all__ = [
    "BadRecord",
    "BlockLayout",
    "BufferLayout",
    "Column",
    "Explanation",
    "Field",
    "FieldLayout",
    "FieldStats",
    "HashIndex",
    "Index",
    "Predicate",
    "Problem",
    "Progress",
    "Scan",
    "Shard",
    "ShardLayout",
    "ShardWriter",
    "Source",
    "Stripe",
    "StripeLayout",
    "Task",
    "TermIndex",
    "Verification",
    "add_indexes",
    "col",
    "collect_garbage",
    "ingest",
    "open",
    "read_files",
    "write",
]
