"""Shards and datasets as lazy frames of polars."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa

from amudai.api import ArrowDataset, Tabular
from amudai.datasets import true_rows
from amudai.interop.opening import opened
from amudai.interop.packages import required
from amudai.interop.polars_predicates import MARK
from amudai.predicate import Predicate, col

__all__ = ["install_polars_namespace", "scan_polars"]

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
    polars = required("polars", "scan_polars")
    from amudai.interop import polars_reader as reader  # imports polars

    install_polars_namespace()
    table = opened(source)
    schema = polars.from_arrow(ArrowDataset(table).schema.empty_table()).schema
    if reader.fits():
        return polars.scan_external_reader(reader.AmudaiReaderBuilder(table, schema), sources=["amudai"], schema=schema)
    return _io_source(table, schema)


def _io_source(table: Tabular, schema: Any) -> Any:
    """A lazy frame by the interface for sources that older versions of polars have, too."""
    from polars.io.plugins import register_io_source

    from amudai.interop import polars_reader as reader

    def read(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        where = None if predicate is None else reader.pushed(predicate, table)
        needed = with_columns
        if predicate is not None and with_columns is not None:
            used = {*predicate.meta.root_names(), *with_columns}
            needed = [name for name in table.schema.names if name in used]
        part = None if n_rows is None else (0, n_rows)  # the predicate asks about the first `n_rows` rows
        for frame in reader.frames_of(table, needed, where, part, batch_size):
            found = frame if predicate is None else frame.filter(predicate)
            yield found if with_columns is None else found.select(with_columns)

    return register_io_source(read, schema=schema, validate_schema=False, is_pure=True)


def install_polars_namespace() -> None:
    """Give expressions of polars the attribute `amudai`, once."""
    polars = required("polars", "scan_polars")
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
        return required("polars", "scan_polars").from_arrow(known).alias(series.name)
