"""Frames of pandas and polars, made of Arrow data."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pyarrow as pa

from amudai.errors import UnsupportedFeature

__all__ = ["to_pandas", "to_polars"]


def to_pandas(data: pa.Table | pa.ChunkedArray, options: dict[str, Any]) -> Any:
    """A pandas `DataFrame` of a table, or a `Series` of an array; `options` go to pyarrow's `to_pandas`."""
    _require("pandas")
    return data.to_pandas(**options)


def to_polars(data: pa.Table | pa.ChunkedArray) -> Any:
    """A polars `DataFrame` of a table, or a `Series` of an array."""
    return _require("polars").from_arrow(data)


def _require(package: str) -> Any:
    # Only here: importing pandas or polars takes longer than most reads.
    try:
        return import_module(package)
    except ImportError as error:
        message = f"to_{package}: expected the package {package}, found none: pip install {package}"
        raise UnsupportedFeature(message) from error
