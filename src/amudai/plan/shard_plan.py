"""The plan of a request for one shard: which rows match, and which must be checked, by evidence alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import pyarrow as pa

from amudai.arrow import ArrowFields
from amudai.lazy import lazy
from amudai.plan.columns import SelectedColumn, select
from amudai.plan.reading import require_scannable
from amudai.plan.request import ScanRequest
from amudai.predicate import Bound, BoundAlways, BoundAnd, BoundLeaf, BoundOr, bind
from amudai.rows import Positions, Rows
from amudai.shard import ShardReader

# Evidence and checks are imported by the first scan with a predicate: reading columns needs neither.
if TYPE_CHECKING:
    from amudai.plan.check import Checker
    from amudai.plan.leaf import LeafQuestion
    from amudai.plan.open_indexes import ShardIndexes
    from amudai.plan.prune import LeafEvidence, Pruner
    from amudai.plan.unusable import UnusableIndexes

__all__ = ["ShardPlan"]

# Returns the columns of the result, and their schema.
ChooseColumns: TypeAlias = Callable[[], tuple[Sequence[SelectedColumn], pa.Schema]]

# A smaller task costs more to send to another process than to run.
_LEAST_TASK_ROWS: Final = 1 << 16


class ShardPlan:
    """A request for rows of one shard, with all evidence about its predicate.

    The constructor binds the predicate, so a missing column or an impossible comparison is an error here. Evidence is
    asked when `positions` is first needed.

    Parameters
    ----------
    rows
        The rows to search. No other rows are found.
    choose
        Returns the columns of the result, instead of `request.columns`.
    indexes
        Returns the indexes of the shard, if other scans share their readers. It is called if the predicate needs them.
    """

    def __init__(
        self,
        shard: ShardReader,
        fields: ArrowFields,
        request: ScanRequest,
        rows: Rows,
        choose: ChooseColumns | None = None,
        indexes: Callable[[], ShardIndexes] | None = None,
    ) -> None:
        self.shard = shard
        self.request = request
        self.rows = rows
        self.bound: Bound = bind(request.where, fields)
        self.fields = fields
        self._choose = choose
        self._indexes = indexes
        if request.columns is not None:
            _ = self._selected  # a wrong name is an error at once; selecting all columns of a wide shard can wait

    @lazy
    def _selected(self) -> tuple[Sequence[SelectedColumn], pa.Schema]:
        if self._choose is not None:
            return self._choose()
        columns = select(self.fields, self.request.columns)
        if self.request.columns is None:
            return columns, self.fields.schema
        return columns, pa.schema([column.field for column in columns])

    @property
    def columns(self) -> Sequence[SelectedColumn]:
        """The columns of the result."""
        return self._selected[0]

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns of the result."""
        return self._selected[1]

    # ---- evidence ----

    @lazy
    def leaves(self) -> dict[str, LeafQuestion]:
        """The leaves of the predicate, by name."""
        from amudai.plan.leaf import LeafQuestion

        return {leaf.name: LeafQuestion(leaf, self.shard, self.fields, self._unusable) for leaf in _leaves(self.bound)}

    @lazy
    def _unusable(self) -> UnusableIndexes:
        from amudai.plan.unusable import UnusableIndexes

        return UnusableIndexes(self.request.on_damage)

    @lazy
    def positions(self) -> Positions:
        """The rows that match and the rows in doubt, by evidence alone. Deleted rows are left out."""
        if self.request.include_deleted:
            return self._found
        visibility = self.shard.visibility
        return visibility.of(self._found)

    @property
    def count(self) -> int | None:
        """How many rows match, up to the limit, if evidence alone tells; None otherwise."""
        if self._found.maybe:
            return None
        rows, limit = self._found.yes, self.request.limit
        count = rows.count if self.request.include_deleted else self.shard.visibility.count(rows)
        return count if limit is None else min(count, limit)

    @property
    def hidden(self) -> int:
        """How many rows are not in `positions` only because they are deleted."""
        if self.request.include_deleted or self.shard.visibility.deleted is None:
            return 0
        return self._found.count - self.positions.count

    @lazy
    def _found(self) -> Positions:
        """What evidence says, which does not know of deletes."""
        if isinstance(self.bound, BoundAlways):
            return Positions.surely(self.rows) if self.bound.value else Positions.none(self.rows.origin)
        require_scannable(self.shard, [node for each in self.leaves.values() for node in each.leaf.nodes])
        return self._pruner.prune(self.bound, self.rows)

    @lazy
    def work(self) -> Positions:
        """The rows to read or to check. If nothing is in doubt, rows beyond the limit are left out."""
        found, limit = self.positions, self.request.limit
        return found if found.maybe or limit is None else Positions.surely(found.yes.first(limit))

    @lazy
    def _pruner(self) -> Pruner:
        from amudai.plan.open_indexes import open_indexes
        from amudai.plan.prune import Pruner

        asks = any(question.keys is not None or question.terms for question in self.leaves.values())
        asked = [node for question in self.leaves.values() for node in question.leaf.nodes]
        kept = None if self._indexes is None or not asks else self._indexes()
        indexes = open_indexes(self.shard, self._unusable, asked, kept) if asks else ()
        return Pruner(self.shard, self.leaves, indexes, self.rows)

    def evidence(self, name: str) -> LeafEvidence | None:
        """The evidence about a leaf; None if it was never asked because the leaves before it left no rows."""
        return self._pruner.found.get(name)

    @lazy
    def checker(self) -> Checker:
        """Checks rows in doubt on their values."""
        from amudai.plan.check import Checker

        return Checker(self.bound, self._pruner.found)

    @property
    def unknown_indexes(self) -> tuple[str, ...]:
        """The types of indexes that this version does not know."""
        from amudai.plan.open_indexes import unknown_indexes

        return unknown_indexes(self.shard)

    @property
    def unused_indexes(self) -> tuple[str, ...]:
        """Indexes that were asked and cannot be used, each with the reason."""
        return self._unusable.notes

    # ---- tasks ----

    def stretches(self, count: int) -> list[tuple[int, int]]:
        """About `count` ranges of rows with about the same number of candidates. Together they hold all candidates.

        The ranges ascend, do not overlap and do not cross stripes.
        """
        candidates = self.work.candidates
        size = max(_LEAST_TASK_ROWS, -(-candidates.count // max(1, count)))
        parts = (
            part
            for stripe in self.shard.stripes
            for part in candidates.intersect(stripe.extent).each_part(size)
            if part
        )
        return [(int(part.starts[0]), part.end) for part in parts]


def _leaves(bound: Bound) -> Iterator[BoundLeaf]:
    match bound:
        case BoundLeaf():
            yield bound
        case BoundAnd(terms) | BoundOr(terms):
            for term in terms:
                yield from _leaves(term)
        case BoundAlways():
            return
