"""A column in one stripe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from amudai.api.field_stats import FieldFacts, FieldStats
from amudai.format import FieldDescriptor, python_values
from amudai.shard import StripeReader
from amudai.types import SchemaNode

if TYPE_CHECKING:
    from amudai.api.field import Field

__all__ = ["StripeField"]


class StripeField:
    """A column in one stripe, or a member of one. Made by `stripe["name"]`.

    Examples
    --------
    >>> level = amudai.open("tests/fixtures/sample.amudai.shard").stripes[0]["level"]
    >>> level.stats.dictionary_size, level.stats.distinct_count
    (3, 3)
    >>> level.encodings
    {'dictionary(run_length)': 1}
    """

    def __init__(self, field: Field, stripe: StripeReader) -> None:
        self._field = field
        self._stripe = stripe

    @property
    def path(self) -> str:
        """The path of the column."""
        return self._field.path

    @property
    def stats(self) -> FieldStats:
        """Statistics of the values in the stripe, its constant, and the size of its dictionary."""
        return self._facts.stats()

    @property
    def properties(self) -> dict[str, object]:
        """The properties that were given to the column when the stripe was written."""
        found = self._descriptor(self._field._nodes[-1])
        return {} if found is None else python_values(found.custom)

    @property
    def standard_properties(self) -> dict[str, object]:
        """The properties whose names the format reserves. This library writes none."""
        found = self._descriptor(self._field._nodes[-1])
        return {} if found is None else python_values(found.standard)

    @property
    def encodings(self) -> dict[str, int]:
        """How the values are stored: each cascade of encodings with its number of blocks. Reads the column."""
        return dict(self._stripe.column_at(self._field._nodes).encodings())

    def ranges(self) -> pa.Table:
        """The bounds of each stretch of rows, from the range index of the column. No value is read.

        Columns of numbers and times that are written with the default options have a range index. Any other column is
        an error.

        Returns
        -------
        ranges
            A table with a row for each stretch of 256 rows: `first_row`, its position in the shard; `rows`, those
            deleted since included; `min` and `max`, null for a stretch without values; and `nulls`, the rows that are
            null or NaN. `max` of times in nanoseconds may lie up to 99 ns above the largest.

        Examples
        --------
        >>> stripe = amudai.open("tests/fixtures/sample.amudai.shard").stripes[0]
        >>> stripe["status"].ranges().slice(1).to_pylist()
        [{'first_row': 256, 'rows': 144, 'min': 200, 'max': 503, 'nulls': 0}]
        """
        from amudai.api.stretches import stretches  # opens an index, which few need

        return stretches(self._field._nodes, self._stripe, self._facts, self._field.path)

    def __repr__(self) -> str:
        return f"<amudai.StripeField {self.path} of stripe {self._stripe.ordinal}: {self._field.stored_type}>"

    @property
    def _facts(self) -> FieldFacts:
        return self._field._facts(self._descriptor, self._stripe.num_positions)

    def _descriptor(self, node: SchemaNode) -> FieldDescriptor | None:
        found = self._stripe.descriptor(node)
        return None if found is None else found.field
