"""Values as JSON and as text.

In JSON, numbers, texts, booleans, lists and objects stay what they are. Times are in ISO 8601, decimals are texts that
keep every digit, bytes are hexadecimal, NaN and the infinities are named. Tables and CSV show the same without quotes
around texts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite, isnan
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["json_line", "json_value", "json_values", "texts"]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def json_values(array: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values of an array as JSON has them.

    >>> json_values(pa.array([1.5, float("nan"), None]))
    [1.5, 'NaN', None]
    >>> json_values(pa.array([[{"t": datetime(2026, 1, 31, 10)}], None]))
    [[{'t': '2026-01-31T10:00:00.000000'}], None]
    """
    if isinstance(array, pa.ChunkedArray):
        return [value for chunk in array.chunks for value in json_values(chunk)]
    for fits, convert in _CONVERTERS:
        if fits(array.type):
            return convert(array)
    return [json_value(scalar) for scalar in array]


def json_value(value: object) -> Any:
    """One Python or Arrow value as JSON has it."""
    if isinstance(value, pa.Scalar):
        if isinstance(value, pa.UnionScalar | pa.ExtensionScalar):
            return json_value(value.value)
        if any(fits(value.type) for fits, _ in _CONVERTERS):
            return json_values(pa.array([value], value.type))[0]
        return json_value(value.as_py())

    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, timedelta):
        return _duration(round(value / timedelta(microseconds=1)), 10**6)
    if isinstance(value, dict):
        return {str(name): json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    return str(value)


def json_line(value: object) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


def texts(array: pa.Array | pa.ChunkedArray) -> list[str | None]:
    """The values of an array as texts, for tables and CSV; None for nulls.

    >>> texts(pa.array([{"a": 1}, None])), texts(pa.array([True])), texts(pa.array(["x"]))
    (['{"a": 1}', None], ['true'], ['x'])
    """
    return [value if value is None or isinstance(value, str) else json_line(value) for value in json_values(array)]


# ---- one way for each kind of type ----


def _plain(array: pa.Array) -> list[Any]:
    found: list[Any] = array.to_pylist()
    return found


def _floats(array: pa.Array) -> list[Any]:
    return [None if value is None else _float(value) for value in array.to_pylist()]


def _float(value: float) -> float | str:
    if isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _instants(array: pa.Array) -> list[Any]:
    # Arrow's own text has nanoseconds and years that Python lacks. Times with a zone are shown in UTC, with a Z.
    zoned = array.type.tz is not None
    naive = array.cast(pa.timestamp(array.type.unit, "UTC")).cast(pa.timestamp(array.type.unit)) if zoned else array
    found = naive.cast(pa.string()).to_pylist()
    return [None if text is None else text.replace(" ", "T", 1) + ("Z" if zoned else "") for text in found]


def _cast(array: pa.Array) -> list[Any]:
    found: list[Any] = array.cast(pa.string()).to_pylist()
    return found


def _durations(array: pa.Array) -> list[Any]:
    per_second = _PER_SECOND[array.type.unit]
    counts = array.cast(pa.int64()).to_pylist()
    return [None if count is None else _duration(count, per_second) for count in counts]


def _duration(count: int, per_second: int) -> str:
    """A time span as ISO 8601 writes seconds.

    >>> _duration(-1500, 1000)
    '-PT1.5S'
    """
    whole, part = divmod(abs(count), per_second)
    digits = f"{part:0{len(str(per_second)) - 1}d}".rstrip("0") if part else ""
    return f"{'-' if count < 0 else ''}PT{whole}{f'.{digits}' if digits else ''}S"


def _bytes(array: pa.Array) -> list[Any]:
    return [None if value is None else value.hex() for value in array.to_pylist()]


def _structs(array: pa.Array) -> list[Any]:
    names = [field.name for field in array.type]
    members = [json_values(member) for member in array.flatten()]
    rows = zip(*members, strict=True) if members else (() for _ in range(len(array)))
    valid = array.is_valid().to_pylist()
    return [dict(zip(names, row, strict=True)) if present else None for row, present in zip(rows, valid, strict=True)]


def _lists(array: pa.Array) -> list[Any]:
    items = iter(json_values(array.flatten()))  # without the items of nulls
    lengths = pc.list_value_length(array).to_pylist()
    return [None if length is None else [next(items) for _ in range(length)] for length in lengths]


def _maps(array: pa.Array) -> list[Any]:
    """An object if the keys are texts and no key occurs twice, otherwise a list of pairs."""
    entries = array.cast(pa.list_(pa.struct([("key", array.type.key_type), ("value", array.type.item_type)])))
    as_texts = pa.types.is_string(array.type.key_type) or pa.types.is_large_string(array.type.key_type)
    found: list[Any] = []
    for pairs in _lists(entries):
        whole = None if pairs is None else {pair["key"]: pair["value"] for pair in pairs} if as_texts else None
        if pairs is None or (whole is not None and len(whole) == len(pairs)):
            found.append(whole)
        else:
            found.append([[pair["key"], pair["value"]] for pair in pairs])
    return found


def _decoded(array: pa.Array) -> list[Any]:
    if pa.types.is_dictionary(array.type):
        entries = json_values(array.dictionary)
        return [None if code is None else entries[code] for code in array.indices.to_pylist()]
    return json_values(pc.run_end_decode(array))


def _extension(array: pa.Array) -> list[Any]:
    if isinstance(array.type, pa.UuidType):
        return [None if value is None else str(UUID(bytes=value)) for value in array.storage.to_pylist()]
    return json_values(array.storage)


def _decimals(array: pa.Array) -> list[Any]:
    return [None if value is None else str(Decimal(value)) for value in array.to_pylist()]


def _is_list(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(fits(kind) for fits in (*kinds, pa.types.is_list_view, pa.types.is_large_list_view))


def _is_bytes(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(fits(kind) for fits in kinds)


def _is_plain(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    return any(fits(kind) for fits in (*kinds, pa.types.is_string_view))


_CONVERTERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], list[Any]]], ...] = (
    (lambda kind: isinstance(kind, pa.BaseExtensionType), _extension),
    (_is_plain, _plain),
    (pa.types.is_floating, _floats),
    (pa.types.is_timestamp, _instants),
    (pa.types.is_date, _cast),
    (pa.types.is_time, _cast),
    (pa.types.is_duration, _durations),
    (pa.types.is_decimal, _decimals),
    (_is_bytes, _bytes),
    (pa.types.is_struct, _structs),
    (pa.types.is_map, _maps),
    (_is_list, _lists),
    (lambda kind: pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind), _decoded),
)
