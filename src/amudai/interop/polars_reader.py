"""Shards and datasets behind the interface by which polars calls readers of other packages.

Polars hands such a reader the columns, a slice and the conjuncts of a filter. It filters the rows that come back once
more, so a reader may return more rows than match. The interface came with polars 2.0 and is marked as unstable:
`fits` compares it with the one that is written for here.

A reader is scanned directly. Behind a resolver of polars (`LazyFrameResolver`) less would reach it: polars 2.1 keeps a
filter after `head` above a resolver, and reads a column in order to count rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any, Final

from amudai.api import Tabular
from amudai.errors import AmudaiError
from amudai.interop.polars_predicates import from_polars
from amudai.predicate import Predicate, all_of
from amudai.types import quote_name

try:
    from polars.io.external_reader import FileReader, FileReaderBuilder, ReaderCapabilities
except ImportError:  # older versions of polars: `fits` says no
    FileReader = FileReaderBuilder = ReaderCapabilities = object

__all__ = ["AmudaiFileReader", "AmudaiReaderBuilder", "fits", "frames_of", "pushed"]

_ARGUMENTS: Final = {"columns", "row_index", "pre_slice", "filters", "num_pipelines"}
_CAPABILITIES: Final = {"row_index", "pre_slice", "negative_pre_slice", "supported_filter"}


def fits() -> bool:
    """Whether the installed polars calls readers as they are written here."""
    try:
        asked = set(inspect.signature(FileReader.collect_batches).parameters) - {"self"}
        offered = set(inspect.signature(ReaderCapabilities).parameters)
    except (AttributeError, ValueError):
        return False
    return asked == _ARGUMENTS and offered >= _CAPABILITIES


class AmudaiReaderBuilder(FileReaderBuilder):  # type: ignore[misc]
    """Makes the reader of a shard or dataset, which is one source for polars: a dataset rules its shards out itself."""

    def __init__(self, table: Tabular, schema: Any) -> None:
        self._table = table
        self._schema = schema

    def reader_capabilities(self) -> Any:
        """Slices are exact, filters are not: polars applies them to the rows that are found."""
        return ReaderCapabilities(pre_slice=True, negative_pre_slice=True, supported_filter="partial")

    def build_file_reader(self, source: str | bytes, multi_scan_context: dict[Any, Any]) -> AmudaiFileReader:  # noqa: ARG002
        """The reader of all rows."""
        return AmudaiFileReader(self._table, self._schema)

    def explain_properties(self) -> dict[str, str]:
        """What polars prints in its plans."""
        return {"name": "amudai", "rows": repr(self._table)}


class AmudaiFileReader(FileReader):  # type: ignore[misc]
    """Reads rows for one query of polars."""

    def __init__(self, table: Tabular, schema: Any) -> None:
        self._table = table
        self._schema = schema

    def schema(self) -> Any:
        """All columns, with their types in polars."""
        return self._schema

    def n_rows_in_file(self, limit: int | None = None) -> int:  # noqa: ARG002 - counting costs nothing
        """How many rows there are."""
        return self._table.num_rows

    def collect_batches(
        self,
        *,
        columns: Sequence[str],
        row_index: tuple[str, int] | None,
        pre_slice: tuple[int, int] | None,
        filters: Sequence[Any],
        num_pipelines: int,
    ) -> Iterator[Any]:
        """The rows of a slice that may match all filters."""
        del row_index, num_pipelines  # polars numbers rows itself; the threads are those of the shard
        known = [found for each in filters if (found := pushed(each.expr, self._table)) is not None]
        where = all_of(known) if len(known) > 1 else known[0] if known else None
        return frames_of(self._table, list(columns), where, pre_slice)


def pushed(predicate: Any, table: Tabular) -> Predicate | None:
    """A predicate of ours that is true wherever a predicate of polars is; None if nothing is known."""
    found = from_polars(predicate, table.schema)
    if found is None:
        return None
    try:
        table.scan([], found)
    except AmudaiError:
        return None
    return found


def frames_of(
    table: Tabular,
    columns: Sequence[str] | None,
    where: Predicate | None,
    part: tuple[int, int] | None = None,
    batch_rows: int | None = None,
) -> Iterator[Any]:
    """The rows that match, as frames of polars.

    Parameters
    ----------
    part
        The first row to look at and how many, before `where`, counted without deleted rows; a negative number counts
        from the end. None for all. If rows are deleted, more rows of the part come back than match `where`.
    """
    from polars import DataFrame, from_arrow

    rows, limit, skipped = None, None, 0
    if part is not None:
        count = table.num_rows
        start = part[0] if part[0] >= 0 else count + part[0]
        start, end = max(0, start), max(0, min(count, start + part[1]))
        if count == table.num_positions:
            rows = slice(start, max(start, end))
        else:  # nobody knows at which position the part begins
            where, limit, skipped = None, end, min(start, end)
    wanted = None if columns is None else [quote_name(name) for name in columns]
    for found in table.scan(wanted, where, rows, limit=limit, batch_rows=batch_rows):
        batch = found.slice(skipped) if skipped else found
        skipped -= min(skipped, found.num_rows)
        if batch.num_rows:
            yield DataFrame(height=batch.num_rows) if wanted == [] else from_arrow(batch)
