"""What does a user see of a stripe?"""

from __future__ import annotations

from dataclasses import dataclass, field

from amudai.format import python_values
from amudai.shard import StripeReader

__all__ = ["Stripe"]


@dataclass(frozen=True, slots=True)
class Stripe:
    """A horizontal piece of a shard.

    >>> amudai.open("tests/fixtures/sample.amudai.shard").stripes
    (Stripe(ordinal=0, first_row=0, num_rows=400),)
    """

    ordinal: int
    first_row: int
    num_rows: int
    _reader: StripeReader = field(repr=False, compare=False)

    @property
    def properties(self) -> dict[str, object]:
        """What was noted about the stripe when it was written."""
        found = self._reader.properties
        return python_values((*found.custom, *found.standard))
