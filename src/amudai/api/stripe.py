"""A stripe of a shard."""

from __future__ import annotations

from dataclasses import dataclass, field

from amudai.inspect import stripe_properties
from amudai.shard import StripeReader

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
