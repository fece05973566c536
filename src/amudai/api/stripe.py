"""A stripe of a shard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amudai.api.stripe_field import StripeField
from amudai.format import python_values
from amudai.inspect import stripe_properties
from amudai.shard import StripeReader

if TYPE_CHECKING:
    from amudai.api.field import Field

__all__ = ["Stripe"]


@dataclass(frozen=True, slots=True)
class Stripe:
    """A run of consecutive rows that are stored together. Made by `shard.stripes`.

    Attributes
    ----------
    ordinal
        The number of the stripe, from 0.
    first_row
        The position of its first row in the shard.
    num_rows, num_positions
        How many rows it has, deleted ones left out; and how many positions, those of deleted rows included.

    Examples
    --------
    >>> amudai.open("tests/fixtures/sample.amudai.shard").stripes
    (Stripe(ordinal=0, first_row=0, num_rows=400, num_positions=400),)
    """

    ordinal: int
    first_row: int
    num_rows: int
    num_positions: int
    _reader: StripeReader = field(repr=False, compare=False)
    _column: Callable[[str], Field] = field(repr=False, compare=False)

    @property
    def rows(self) -> range:
        """The positions of its rows in the shard.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").stripes[0].rows
        range(0, 400)
        """
        return range(self.first_row, self.first_row + self.num_positions)

    @property
    def properties(self) -> dict[str, object]:
        """The properties that were given to the stripe when it was written."""
        return stripe_properties(self._reader)

    @property
    def standard_properties(self) -> dict[str, object]:
        """The properties whose names the format reserves. This library writes none."""
        return python_values(self._reader.properties.standard)

    def __getitem__(self, column: str) -> StripeField:
        """One column, by name or path: its statistics and encodings in this stripe.

        >>> stats = amudai.open("tests/fixtures/sample.amudai.shard").stripes[0]["status"].stats
        >>> stats.min, stats.max, stats.is_constant
        (200, 503, False)
        """
        return StripeField(self._column(column), self._reader)
