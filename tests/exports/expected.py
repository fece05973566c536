"""What values are in JSON and in CSV: obvious, slow, and written without the kernels."""

from __future__ import annotations

import json
import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite, isnan
from typing import Any
from uuid import UUID

import pyarrow as pa

__all__ = ["csv_cell", "json_text", "json_value"]


def json_value(value: Any, kind: pa.DataType) -> Any:
    """A value of `Array.to_pylist` as JSON has it."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: json_value(value[field.name], field.type) for field in kind}
    if pa.types.is_map(kind):
        pairs = [[json_value(key, kind.key_type), json_value(item, kind.item_type)] for key, item in value]
        is_object = pa.types.is_string(kind.key_type) and len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs) if is_object else pairs
    if isinstance(value, list):
        return [json_value(each, kind.value_type) for each in value]
    if isinstance(value, float):
        return value if isfinite(value) else "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, datetime):
        digits = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}[kind.unit]
        return re.sub(r"\+00:00$", "Z", value.isoformat("T", digits))
    if isinstance(value, time):
        return value.isoformat({"s": "seconds", "ms": "milliseconds", "us": "microseconds"}[kind.unit])
    if isinstance(value, timedelta):
        micros = abs(value) // timedelta(microseconds=1)
        part = f".{micros % 10**6:06d}".rstrip("0").rstrip(".")
        return f"{'-' if value < timedelta() else ''}PT{micros // 10**6}{part}S"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, Decimal | UUID) else value


def json_text(value: Any) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def csv_cell(value: Any) -> str:
    """A value, as JSON has it, in a cell of CSV."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json_text(value)
    if text and not re.search(r'[",\r\n]|^\s|\s$', text):
        return text
    return '"' + text.replace('"', '""') + '"'
