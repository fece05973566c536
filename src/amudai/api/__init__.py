"""What does a user call?

`open` gives a `Shard`; a `Shard` gives tables, batches, rows, `Field`s, and a picture of itself. Everything here is
thin: it checks arguments and asks the rooms below.
"""

from amudai.api.field import Field, FieldStats
from amudai.api.open import open  # noqa: A004
from amudai.api.progress import Progress
from amudai.api.shard import Shard
from amudai.api.stripe import Stripe
from amudai.api.verify import Problem, Verification
from amudai.api.write import ShardWriter, ingest, write

__all__ = [
    "Field",
    "FieldStats",
    "Problem",
    "Progress",
    "Shard",
    "ShardWriter",
    "Stripe",
    "Verification",
    "ingest",
    "open",
    "write",
]
