"""How does Arrow see it?

`natural.py` gives the Arrow type of a stored field, `kept.py` the types that a writer kept, `storage.py` the stored
type of an Arrow field; `arrays.py` turns decoded columns into arrays of any of these types. `fields.py` says which of
them a shard's columns have, `fits.py` which a column can have at all.
"""

from amudai.arrow.arrays import least_bits, to_array
from amudai.arrow.fields import ArrowFields
from amudai.arrow.kept import SCHEMA_PROPERTY, kept_schema
from amudai.arrow.natural import Bounds, arrow_field, child_type, project
from amudai.arrow.storage import schema_nodes

__all__ = [
    "SCHEMA_PROPERTY",
    "ArrowFields",
    "Bounds",
    "arrow_field",
    "child_type",
    "kept_schema",
    "least_bits",
    "project",
    "schema_nodes",
    "to_array",
]
