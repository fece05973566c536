"""What a request needs of one shard, as far as evidence tells."""

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
    from amudai.plan.prune import LeafEvidence, Pruner

__all__ = ["ShardPlan"]

# What gives the columns of the result, and their schema.
Select: TypeAlias = Callable[[], tuple[Sequence[SelectedColumn], pa.Schema]]

# A task below this size costs more to hand to another process than to run.
_LEAST_TASK_ROWS: Final = 1 << 16


class ShardPlan:
    """A request for rows of one shard, with all evidence about its predicate.

    The predicate is bound at once: a column that is missing, or cannot be compared so, is an error here. Evidence is
    asked when `positions` is first needed.

    Parameters
    ----------
    rows
        The rows that the request is about; no other row is found.
    choose
        Gives the columns of the result, for callers that name columns in another way than the request.
    """

    def __init__(
        self,
        shard: ShardReader,
        fields: ArrowFields,
        request: ScanRequest,
        rows: Rows,
        choose: Select | None = None,
    ) -> None:
        self.shard = shard
        self.request = request
        self.rows = rows
        self.bound: Bound = bind(request.where, fields)
        self._fields = fields
        self._choose = choose
        if request.columns is not None:
            _ = self._selected  # a wrong name is an error at once; all columns of a wide shard can wait

    @lazy
    def _selected(self) -> tuple[Sequence[SelectedColumn], pa.Schema]:
        if self._choose is not None:
            return self._choose()
        columns = select(self._fields, self.request.columns)
        if self.request.columns is None:
            return columns, self._fields.schema
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
        """What each leaf of the predicate asks, by the leaf's name."""
        from amudai.plan.leaf import LeafQuestion

        return {leaf.name: LeafQuestion(leaf, self.shard, self._fields) for leaf in _leaves(self.bound)}

    @lazy
    def positions(self) -> Positions:
        """The rows that match and the rows in doubt, by evidence alone, without rows that were deleted."""
        visibility = self.shard.visibility
        if isinstance(self.bound, BoundAlways):
            found = Positions.surely(self.rows) if self.bound.value else Positions.none(self.rows.origin)
        else:
            require_scannable(self.shard, [node for each in self.leaves.values() for node in each.leaf.nodes])
            found = self._pruner.prune(self.bound, self.rows)
        return visibility.of(found)

    @lazy
    def work(self) -> Positions:
        """The rows to read or to check: where nothing is in doubt, the rows beyond the limit are left out."""
        found, limit = self.positions, self.request.limit
        return found if found.maybe or limit is None else Positions.surely(found.yes.first(limit))

    @lazy
    def _pruner(self) -> Pruner:
        from amudai.plan.open_indexes import open_indexes
        from amudai.plan.prune import Pruner

        asks = any(question.keys is not None or question.terms for question in self.leaves.values())
        indexes = open_indexes(self.shard, self.request.on_damage) if asks else ()
        return Pruner(self.shard, self.leaves, indexes, self.rows)

    def evidence(self, name: str) -> LeafEvidence | None:
        """What is known of a leaf; None where it was never asked, as the leaves before it had left no row."""
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

    # ---- pieces of work ----

    def stretches(self, count: int) -> list[tuple[int, int]]:
        """Up to `count` stretches of rows, of about the same number of candidates, that hold all candidates.

        Stretches ascend, do not overlap and do not cross stripes.
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
