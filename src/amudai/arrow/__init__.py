"""How does Arrow see it?

`natural.py` gives the Arrow type of a stored field, `kept.py` the types that a writer kept, `storage.py` the stored
type of an Arrow field. On the way out `arrays.py` turns decoded columns into arrays of any of these types,
`arrow_fields.py` says which of them a shard's columns have and `fits.py` which a column can have at all. On the way in
`inputs.py` makes batches of what a user has, and `to_storage.py` makes of their arrays what encoders take.
"""

from amudai.arrow.arrays import least_bits, to_array
from amudai.arrow.arrow_fields import ArrowFields
from amudai.arrow.inputs import batches_of, matching
from amudai.arrow.kept import SCHEMA_PROPERTY
from amudai.arrow.natural import Bounds, arrow_field, child_type, project
from amudai.arrow.scalars import bytes_scalar, number_scalar
from amudai.arrow.storage import Timestamps, schema_nodes
from amudai.arrow.stored_form import stored_array, stored_form
from amudai.arrow.ticks import EPOCH, ticks_around
from amudai.arrow.to_storage import to_storage

__all__ = [
    "EPOCH",
    "SCHEMA_PROPERTY",
    "ArrowFields",
    "Bounds",
    "Timestamps",
    "arrow_field",
    "batches_of",
    "bytes_scalar",
    "child_type",
    "least_bits",
    "matching",
    "number_scalar",
    "project",
    "schema_nodes",
    "stored_array",
    "stored_form",
    "ticks_around",
    "to_array",
    "to_storage",
]
