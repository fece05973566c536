"""Shards and datasets as lazy frames of polars."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from amudai.api import ArrowDataset, Tabular
from amudai.datasets import true_rows
from amudai.errors import AmudaiError
from amudai.interop.packages import required
from amudai.interop.pandas_frames import opened
from amudai.interop.polars_predicates import MARK, from_polars
from amudai.predicate import Predicate, col
from amudai.types import quote_name

__all__ = ["install_polars_namespace", "scan_polars"]

_LEAST: Final = (1, 20)
_WORDS: Final = ("has", "has_cs", "hasprefix", "hasprefix_cs", "hassuffix", "hassuffix_cs")
_LISTS: Final = ("has_any", "has_all")


def scan_polars(source: Tabular | str | os.PathLike[str]) -> Any:
    """A shard or a folder of shards as a polars `LazyFrame`. Needs `pip install amudai[polars]`.

    Columns, slices and predicates are pushed down: comparisons, `is_in`, `is_between`, `is_null`, the text predicates
    of `str`, and trees of them with `&`, `|` and `~`. A scan may find more rows than a predicate asks for. Polars'
    own predicate is applied to them, so an answer is always polars' own.

    After the first call, expressions have the operators of amudai: `pl.col("message").amudai.has("timeout")`.

    Parameters
    ----------
    source
        A shard, a dataset, or the path or URL of one.

    Examples
    --------
    >>> import polars as pl
    >>> logs = amudai.scan_polars("tests/fixtures/sample.amudai.shard")
    >>> logs.filter(pl.col("message").amudai.has("timeout"), pl.col("status") >= 500).select("status").collect().height
    11
    """
    polars = required("polars", "scan_polars", extra="polars", least=_LEAST)
    install_polars_namespace()
    table = opened(source)
    empty = polars.from_arrow(ArrowDataset(table).schema.empty_table())

    def read(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        where = None if predicate is None else pushed(predicate, table)
        # The predicate asks about the first `n_rows` rows. If no row is deleted, these are the first positions.
        rows, limit = None, n_rows
        if n_rows is not None and where is not None:
            is_whole = table.num_rows == table.num_positions
            rows, limit, where = (slice(0, n_rows), None, where) if is_whole else (None, n_rows, None)
        needed = with_columns
        if predicate is not None and with_columns is not None:
            used = {*predicate.meta.root_names(), *with_columns}
            needed = [name for name in table.schema.names if name in used]
        for batch in table.scan(_quoted(needed), where, rows, limit=limit, batch_rows=batch_size):
            frame = polars.DataFrame(height=batch.num_rows) if needed == [] else polars.from_arrow(batch)
            if predicate is not None:
                frame = frame.filter(predicate)
            yield frame if with_columns is None else frame.select(with_columns)

    from polars.io.plugins import register_io_source

    return register_io_source(read, schema=empty.schema, validate_schema=False, is_pure=True)


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


def _quoted(names: list[str] | None) -> list[str] | None:
    return None if names is None else [quote_name(name) for name in names]


def install_polars_namespace() -> None:
    """Give expressions of polars the attribute `amudai`, once."""
    polars = required("polars", "scan_polars", extra="polars", least=_LEAST)
    if hasattr(polars.Expr, "amudai"):
        return

    class AmudaiExpressions:
        """The operators of amudai for text: `pl.col("message").amudai.has("timeout")`."""

        def __init__(self, expression: Any) -> None:
            self._expression = expression

    for name in (*_WORDS, *_LISTS):
        setattr(AmudaiExpressions, name, _operator(polars, name))
    polars.api.register_expr_namespace("amudai")(AmudaiExpressions)


def _operator(polars: Any, name: str) -> Any:
    def ask(self: Any, words: Any) -> Any:
        asked = list(words) if name in _LISTS else words
        evaluated = _Evaluated(getattr(col("text"), name)(asked))  # refuses what is no word
        # A scan finds the literal in a predicate and asks its indexes.
        mark = polars.lit(f"{MARK}{json.dumps([name, asked])}").alias("amudai")
        text = polars.struct(self._expression, mark)
        return text.map_batches(evaluated, return_dtype=polars.Boolean, is_elementwise=True)

    ask.__name__ = name
    ask.__doc__ = f"As `amudai.col(...).{name}`: true, false, or null for a null."
    return ask


class _Evaluated:
    """Evaluates an operator on a series of structs, whose first member is the text."""

    def __init__(self, predicate: Predicate) -> None:
        self._predicate = predicate

    def __call__(self, series: Any) -> Any:
        text = series.struct.field(series.struct.fields[0])
        mask = true_rows(self._predicate, pa.table({"text": text.to_arrow()}))
        known = pa.array(mask, mask=text.is_null().to_numpy())
        return required("polars", "scan_polars", extra="polars").from_arrow(known).alias(series.name)
