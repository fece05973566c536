"""Values as JSON and as text.

`amudai.JsonLinesWriter` decides what Arrow values are in JSON. Tables show the same without quotes around texts.
"""

from __future__ import annotations

import io
import json
from datetime import date, datetime, time, timedelta
from typing import Any

import pyarrow as pa

from amudai import JsonLinesWriter

__all__ = ["json_line", "json_value", "json_values", "texts"]


def json_values(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of an array as JSON has them.

    >>> json_values(pa.array([1.5, float("nan"), None]))
    [1.5, 'NaN', None]
    >>> json_values(pa.array([[{"t": datetime(2026, 1, 31, 10)}], None]))
    [[{'t': '2026-01-31T10:00:00.000000'}], None]
    """
    lines = io.BytesIO()
    writer = JsonLinesWriter(lines, ["value"])
    for chunk in array.chunks if isinstance(array, pa.ChunkedArray) else [array]:
        writer.write(pa.record_batch([chunk], ["value"]))
    return [json.loads(line)["value"] for line in lines.getvalue().splitlines()]


def json_value(value: object) -> Any:
    """One Python or Arrow value as JSON has it."""
    if isinstance(value, pa.Scalar):
        if isinstance(value, pa.UnionScalar | pa.ExtensionScalar):
            return json_value(value.value)
        return json_values(pa.array([value], value.type))[0]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | timedelta):
        return json_value(pa.scalar(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(name): json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    return str(value)


def json_line(value: object) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def texts(array: pa.Array | pa.ChunkedArray) -> list[str | None]:
    """The values of an array as texts, for tables; None for nulls.

    >>> texts(pa.array([{"a": 1}, None])), texts(pa.array([True])), texts(pa.array(["x"]))
    (['{"a": 1}', None], ['true'], ['x'])
    """
    return [value if value is None or isinstance(value, str) else json_line(value) for value in json_values(array)]
