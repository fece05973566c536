"""How does Arrow see it?

`natural.py` gives the Arrow type of a stored field, `kept.py` the types that a writer kept, `storage.py` the stored
type of an Arrow field. On the way out `arrays.py` turns decoded columns into arrays of any of these types,
`arrow_fields.py` says which of them a shard's columns have and `fits.py` which a column can have at all. On the way in
`inputs.py` makes batches of what a user has, and `storing.py` makes of their arrays what encoders take;
`nanoseconds.py` has the fields for what ticks of 100 ns leave of nanoseconds, and `annotations.py` extension types and
aliases. `uniting.py` has the types of several shards together, and `conforming.py` turns values of one shard into them.
`computing.py` turns values into types that Arrow's functions take.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.arrow.annotations import (
        Extension,
        aliases_of,
        annotated,
        check_aliases,
        extension_of,
        extensions_of,
    )
    from amudai.arrow.arrays import least_bits, to_array
    from amudai.arrow.arrow_fields import INTERNAL_MARK, ArrowFields, short_role
    from amudai.arrow.changed import changed_schema
    from amudai.arrow.columnless import concatenated, rows_without_columns, table_without_columns
    from amudai.arrow.computing import computable
    from amudai.arrow.conforming import conformed
    from amudai.arrow.decoded_together import small_arrays
    from amudai.arrow.foreign import stored_values
    from amudai.arrow.inputs import batches_of, columns_of, matching
    from amudai.arrow.kept import SCHEMA_PROPERTY
    from amudai.arrow.leaves import wide_scale
    from amudai.arrow.nanoseconds import nanosecond_nodes, stored_columns
    from amudai.arrow.natural import BoundsLookup, arrow_field, child_type, list_like, project, value_type
    from amudai.arrow.reorder import nulls, reordered, taken, taken_of_chunks, without_rows
    from amudai.arrow.scalars import bytes_scalar, number_array, number_scalar, text_array
    from amudai.arrow.scaled import is_scaled
    from amudai.arrow.storage import Decimals, Timestamps, schema_nodes
    from amudai.arrow.stored_forms import stored_array, stored_form
    from amudai.arrow.storing import to_storage
    from amudai.arrow.ticks import EPOCH, ticks_around
    from amudai.arrow.uniting import require_same_units, united_arrow_schema
    from amudai.arrow.variants import struct_member, variant_values
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.arrow.annotations": "Extension aliases_of annotated check_aliases extension_of extensions_of",
            "amudai.arrow.arrays": "least_bits to_array",
            "amudai.arrow.arrow_fields": "ArrowFields INTERNAL_MARK short_role",
            "amudai.arrow.columnless": "concatenated rows_without_columns table_without_columns",
            "amudai.arrow.computing": "computable",
            "amudai.arrow.conforming": "conformed",
            "amudai.arrow.changed": "changed_schema",
            "amudai.arrow.decoded_together": "small_arrays",
            "amudai.arrow.foreign": "stored_values",
            "amudai.arrow.inputs": "batches_of columns_of matching",
            "amudai.arrow.kept": "SCHEMA_PROPERTY",
            "amudai.arrow.natural": "BoundsLookup arrow_field child_type list_like project value_type",
            "amudai.arrow.leaves": "wide_scale",
            "amudai.arrow.nanoseconds": "nanosecond_nodes stored_columns",
            "amudai.arrow.reorder": "nulls reordered taken taken_of_chunks without_rows",
            "amudai.arrow.scalars": "bytes_scalar number_array number_scalar text_array",
            "amudai.arrow.scaled": "is_scaled",
            "amudai.arrow.storage": "Decimals Timestamps schema_nodes",
            "amudai.arrow.stored_forms": "stored_array stored_form",
            "amudai.arrow.storing": "to_storage",
            "amudai.arrow.ticks": "EPOCH ticks_around",
            "amudai.arrow.uniting": "require_same_units united_arrow_schema",
            "amudai.arrow.variants": "struct_member variant_values",
        },
    )

__all__ = [
    "EPOCH",
    "INTERNAL_MARK",
    "SCHEMA_PROPERTY",
    "ArrowFields",
    "BoundsLookup",
    "Decimals",
    "Extension",
    "Timestamps",
    "aliases_of",
    "annotated",
    "arrow_field",
    "batches_of",
    "bytes_scalar",
    "changed_schema",
    "check_aliases",
    "child_type",
    "columns_of",
    "computable",
    "concatenated",
    "conformed",
    "extension_of",
    "extensions_of",
    "is_scaled",
    "least_bits",
    "list_like",
    "matching",
    "nanosecond_nodes",
    "nulls",
    "number_array",
    "number_scalar",
    "project",
    "reordered",
    "require_same_units",
    "rows_without_columns",
    "schema_nodes",
    "short_role",
    "small_arrays",
    "stored_array",
    "stored_columns",
    "stored_form",
    "stored_values",
    "struct_member",
    "table_without_columns",
    "taken",
    "taken_of_chunks",
    "text_array",
    "ticks_around",
    "to_array",
    "to_storage",
    "united_arrow_schema",
    "value_type",
    "variant_values",
    "wide_scale",
    "without_rows",
]
