"""Shards and datasets as a source of Daft."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import pyarrow as pa

from amudai.api import ArrowDataset, ArrowTask, Tabular, Where, predicate_of
from amudai.errors import AmudaiError
from amudai.interop.comparisons import TURNED, Operator, compared
from amudai.interop.opening import opened
from amudai.interop.packages import required
from amudai.predicate import Predicate, all_of, any_of, col
from amudai.types import quote_name

try:
    from daft.expressions.visitor import PredicateVisitor
    from daft.io.source import DataSource, DataSourceTask
except ImportError:  # `read_daft` says what to install
    DataSource = DataSourceTask = object

    class PredicateVisitor:  # type: ignore[no-redef]
        """Stands for a class of Daft."""

        def __class_getitem__(cls, _: object) -> type:
            return cls


__all__ = ["AmudaiDaftSource", "from_daft", "read_daft"]

# Tasks of a source. Daft runs some of them side by side.
_TASKS: Final = 16


def read_daft(
    source: Tabular | str | os.PathLike[str], columns: Sequence[str] | None = None, where: Where | None = None
) -> Any:
    """Read a shard or a folder of shards as a Daft `DataFrame`. Needs `pip install amudai[daft]`.

    Columns, comparisons and limits of Daft reach the shards, where statistics and indexes rule rows out. Daft does not
    push down questions about text: ask them by `where`.

    Parameters
    ----------
    source
        A shard, a dataset, or the path or URL of one.
    columns
        Names of columns; None for all.
    where
        As for `Shard.scan`.
    """
    required("daft", "read_daft")
    return AmudaiDaftSource(opened(source), columns, where).read()


class AmudaiDaftSource(DataSource):  # type: ignore[misc]
    """Rows of a shard or dataset. Daft applies its filter again, so a source may return more rows than match."""

    def __init__(self, source: Tabular, columns: Sequence[str] | None = None, where: Where | None = None) -> None:
        self._source = source
        self._where = None if where is None else predicate_of(where)
        self._rows = self._limited(None, None)
        found = self._rows.schema
        self._schema = found if columns is None else pa.schema([found.field(name) for name in columns])

    @property
    def name(self) -> str:
        """The name of the source, for Daft's plans."""
        return "amudai"

    @property
    def schema(self) -> Any:
        """The columns, as Daft has them."""
        return _schema(self._schema)

    async def get_tasks(self, pushdowns: Any) -> AsyncIterator[Any]:
        """The tasks of a scan of the rows that may match, with all columns that Daft needs."""
        for task in self._tasks(pushdowns):
            yield AmudaiDaftTask(task)

    def _tasks(self, pushdowns: Any) -> list[ArrowTask]:
        asked = pushdowns.filters
        wanted = _needed_columns(pushdowns)
        columns = [name for name in self._schema.names if wanted is None or name in wanted]
        pushed = None if asked is None else from_daft(asked, self._schema)
        # A limit counts the rows that match: it is safe only if there is nothing left to check.
        limit = pushdowns.limit if asked is None else None
        try:
            return self._limited(pushed, limit).tasks(columns, None, _TASKS)
        except AmudaiError:
            return self._limited(None, limit).tasks(columns, None, _TASKS)

    def _limited(self, pushed: Predicate | None, limit: int | None) -> ArrowDataset:
        both = [term for term in (self._where, pushed) if term is not None]
        where = all_of(both) if len(both) == 2 else both[0] if both else None
        return ArrowDataset(self._source, where, limit, coded=False)  # Daft knows no dictionaries


class AmudaiDaftTask(DataSourceTask):  # type: ignore[misc]
    """One task of a scan."""

    def __init__(self, task: ArrowTask) -> None:
        self._task = task

    @property
    def schema(self) -> Any:
        """The columns of the rows."""
        return _schema(self._task.schema)

    async def read(self) -> AsyncIterator[Any]:
        """The rows, batch by batch."""
        from daft.recordbatch import RecordBatch

        for batch in self._task:
            yield RecordBatch.from_arrow_record_batches([batch], self._task.schema)


def _needed_columns(pushdowns: Any) -> set[str] | None:
    """The columns of the result and of the filter; None for all."""
    if pushdowns.columns is None:
        return None
    try:
        return {*pushdowns.columns, *pushdowns.filter_required_column_names()}
    except ValueError:
        return None  # Daft's visitors know no members of structs


def _schema(schema: pa.Schema) -> Any:
    return required("daft", "read_daft").Schema.from_pyarrow_schema(schema)


def from_daft(expression: Any, schema: pa.Schema) -> Predicate | None:
    """A predicate that is true wherever an expression of Daft is; None if nothing is known."""
    found = _DaftReader(schema).known(expression)
    return None if found is None else found.predicate


class _ColumnName(str):
    """The name of a column."""

    __slots__ = ()


class _LiteralValue:
    """A value in an expression."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Known:
    """A predicate that is true wherever a part of an expression is. If `exact`, the reverse holds, too."""

    __slots__ = ("exact", "predicate")

    def __init__(self, predicate: Predicate, exact: bool = True) -> None:
        self.predicate = predicate
        self.exact = exact


class _DaftReader(PredicateVisitor[Any]):  # type: ignore[misc]
    """Reads expressions of Daft. The result of each part is a column, a literal, a predicate, or None if unknown."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def visit_col(self, name: str) -> Any:
        return _ColumnName(name) if name in self._schema.names else None

    def visit_lit(self, value: Any) -> Any:
        return _LiteralValue(value)

    def visit_alias(self, expr: Any, alias: str) -> Any:  # noqa: ARG002 - Daft's interface
        return self._visited(expr)

    def _unknown(self, *_: Any) -> None:
        return None

    visit_list = visit_cast = visit_try_cast = visit_function = visit_coalesce = _unknown

    def visit_and(self, left: Any, right: Any) -> Any:
        known = [part for part in (self.known(left), self.known(right)) if part is not None]
        if len(known) < 2:
            return _Known(known[0].predicate, exact=False) if known else None
        return _Known(all_of([part.predicate for part in known]), all(part.exact for part in known))

    def visit_or(self, left: Any, right: Any) -> Any:
        known = [part for part in (self.known(left), self.known(right)) if part is not None]
        if len(known) < 2:
            return None
        return _Known(any_of([part.predicate for part in known]), all(part.exact for part in known))

    def visit_not(self, expr: Any) -> Any:
        known = self.known(expr)
        return _Known(~known.predicate) if known is not None and known.exact else None

    def visit_equal(self, left: Any, right: Any) -> Any:
        return self._compared("eq", left, right)

    def visit_not_equal(self, left: Any, right: Any) -> Any:
        return self._compared("ne", left, right)

    def visit_less_than(self, left: Any, right: Any) -> Any:
        return self._compared("lt", left, right)

    def visit_less_than_or_equal(self, left: Any, right: Any) -> Any:
        return self._compared("le", left, right)

    def visit_greater_than(self, left: Any, right: Any) -> Any:
        return self._compared("gt", left, right)

    def visit_greater_than_or_equal(self, left: Any, right: Any) -> Any:
        return self._compared("ge", left, right)

    def visit_between(self, expr: Any, lower: Any, upper: Any) -> Any:
        low, high = self._compared("ge", expr, lower), self._compared("le", expr, upper)
        return None if low is None or high is None else _Known(low.predicate & high.predicate)

    def visit_is_in(self, expr: Any, items: list[Any]) -> Any:
        found = [part.predicate for item in items if (part := self._compared("eq", expr, item)) is not None]
        if not found or len(found) < len(items):
            return None
        return _Known(any_of(found) if len(found) > 1 else found[0])

    def visit_is_null(self, expr: Any) -> Any:
        name = self._visited(expr)
        return _Known(col(quote_name(name)).is_null()) if isinstance(name, _ColumnName) else None

    def visit_not_null(self, expr: Any) -> Any:
        name = self._visited(expr)
        return _Known(col(quote_name(name)).is_valid()) if isinstance(name, _ColumnName) else None

    def known(self, expr: Any) -> _Known | None:
        """A predicate that is true wherever an expression is; None if nothing is known."""
        found = self._visited(expr)
        if isinstance(found, _ColumnName) and pa.types.is_boolean(self._schema.field(found).type):
            return _Known(col(quote_name(found)) == True)  # noqa: E712 - an operator of a column
        return found if isinstance(found, _Known) else None

    def _visited(self, expr: Any) -> Any:
        try:
            return self.visit(expr)
        except ValueError:
            return None  # Daft's visitors know no members of structs

    def _compared(self, operator: Operator, left: Any, right: Any) -> _Known | None:
        one, other = self._visited(left), self._visited(right)
        if isinstance(one, _LiteralValue):
            one, other, operator = other, one, TURNED[operator]
        if not isinstance(one, _ColumnName) or not isinstance(other, _LiteralValue):
            return None
        kind = self._schema.field(one).type
        value = other.value
        if isinstance(value, dt.datetime):
            if not pa.types.is_timestamp(kind) or kind.unit not in ("us", "ns") or kind.tz or value.tzinfo:
                return None
            value = pa.scalar(value, kind)
        found = compared(quote_name(one), kind, operator, value)
        return None if found is None else _Known(found)
