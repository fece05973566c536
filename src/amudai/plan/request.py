"""The request of a scan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from amudai.arguments import flag, is_one_of, shown, whole_number
from amudai.errors import InvalidArgument
from amudai.frozen import quick_init
from amudai.predicate import EVERYTHING, Predicate

__all__ = ["OnDamage", "ScanRequest"]

OnDamage = Literal["raise", "ignore"]

_MOST_ROWS: Final = 1 << 62  # no shard has more


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRequest:
    """The columns, predicate and limits of a scan. It names no shard and pickles.

    Attributes
    ----------
    columns
        Names of the columns of the result; None for all columns.
    where
        The predicate that rows must match. It is bound to the columns of each shard.
    limit
        The most rows to return; None for no limit.
    batch_rows
        The most rows in a batch; None to let the scan choose.
    on_damage
        `"raise"` makes a damaged index an error. `"ignore"` makes it a warning, and values are read instead.
    include_deleted
        Whether deleted rows are returned like all others.
    """

    columns: tuple[str, ...] | None = None
    where: Predicate = EVERYTHING
    limit: int | None = None
    batch_rows: int | None = None
    on_damage: OnDamage = "raise"
    include_deleted: bool = False

    def __post_init__(self) -> None:
        if self.limit is not None:
            object.__setattr__(self, "limit", min(whole_number(self.limit, "limit"), _MOST_ROWS))
        if self.batch_rows is not None:
            object.__setattr__(self, "batch_rows", whole_number(self.batch_rows, "batch_rows", 1))
        flag(self.include_deleted, "include_deleted")
        if not is_one_of(self.on_damage, ("raise", "ignore")):
            raise InvalidArgument(f"on_damaged_index: expected raise or ignore, found {shown(self.on_damage)}")
