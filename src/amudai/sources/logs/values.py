"""Types of fields that are guessed from a sample, and their conversion from text."""

from __future__ import annotations

import json
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amudai.sources.logs.block import matches_in
from amudai.sources.logs.program import compiled
from amudai.sources.logs.template import Kind
from amudai.sources.times import is_time_type, parsed_times, time_type

__all__ = ["converted", "guessed_type", "unescaped"]

_INT: Final = r"^-?(?:0|[1-9]\d{0,17})$"
_FLOAT: Final = r"^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$"
# A number with leading zeros is a code, not a number.
_CODE: Final = r"^-?0\d"
_TIMES: Final = (
    r"%Y-%m-%d[T ]%H:%M:%S(,%f)?(%z)?",
    r"%d/%b/%Y:%H:%M:%S %z",
    r"%Y/%m/%d %H:%M:%S([.,]%f)?",
)
_TYPES: Final[dict[Kind, pa.DataType]] = {"int": pa.int64(), "float": pa.float64(), "text": pa.string()}


def guessed_type(kind: Kind, texts: pa.Array) -> pa.DataType:
    """The type of a field: that of its kind, or one that all texts of a sample fit."""
    if kind != "guess":
        return _TYPES[kind]
    filled = texts.drop_null()
    if not len(filled):
        return pa.string()
    if _all(filled, _INT):
        return pa.int64()
    if _all(filled, _FLOAT) and not pc.any(pc.match_substring_regex(filled, _CODE)).as_py():
        return pa.float64()
    found = time_type(filled)
    if found is not None:
        return found
    return next(
        (time[1].type for time in map(_times_by, _TIMES, [filled] * len(_TIMES)) if time is not None), pa.string()
    )


def converted(texts: pa.Array, kind: pa.DataType) -> tuple[pa.Array, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Values of a type that `guessed_type` returned, and which texts do not fit it. Those are null."""
    fits = np.ones(len(texts), np.bool_)
    if kind == pa.string():
        return texts, fits
    if kind in (pa.int64(), pa.float64()):
        good = pc.fill_null(pc.match_substring_regex(texts, _INT if kind == pa.int64() else _FLOAT), True)
        if not pc.all(good).as_py():
            fits = good.to_numpy(zero_copy_only=False)
            texts = pc.if_else(good, texts, None)
        return texts.cast(kind), fits
    if is_time_type(kind):
        whole = parsed_times(texts, kind)
        if whole is not None:
            return whole, fits
    return _each_time(texts, kind)


def _all(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _each_time(texts: pa.Array, kind: pa.DataType) -> tuple[pa.Array, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The times that some template reads, and which texts are others."""
    values = pa.nulls(len(texts), kind)
    for template in _TIMES:
        matched, times = _matched_times(template, texts)
        if times.type.tz == kind.tz:
            values = pc.if_else(pc.and_(matched, pc.is_null(values)), times.cast(kind, safe=False), values)
    fits = pc.or_(pc.is_valid(values), pc.is_null(texts)).to_numpy(zero_copy_only=False)
    return values, fits


def _times_by(template: str, texts: pa.Array) -> tuple[pa.Array, pa.Array] | None:
    matched, times = _matched_times(template, texts)
    return (matched, times) if pc.all(matched).as_py() else None


def _matched_times(template: str, texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Which texts are times of a template, and the times: with a zone if all that match have one."""
    program = compiled("{all=" + template + "}")
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    found = matches_in(data, offsets[:-1].copy(), offsets[1:].copy(), program, 1_000_000)
    matched = found.timed & (found.to[0] == offsets[1:])
    zoned = matched.any() and bool(found.zoned[matched].all())
    matched &= found.zoned == zoned
    kind = pa.timestamp("us", "UTC" if zoned else None)
    return pa.array(matched), pa.array(found.moments, pa.int64()).cast(kind)


def unescaped(texts: pa.Array) -> pa.Array:
    """The texts with the escapes of JSON replaced. A text with other escapes is kept as it is."""
    escaped = pc.fill_null(pc.match_substring(texts, "\\"), False)
    if not pc.any(escaped).as_py():
        return texts
    raw = texts.filter(escaped).to_pylist()
    try:
        plain = json.loads('["' + '","'.join(raw) + '"]', strict=False)
    except ValueError:
        plain = []
    if len(plain) != len(raw):
        plain = [_unescaped(text) for text in raw]
    # Half of a surrogate pair is no text.
    safe = [text.encode("utf-8", "replace").decode() for text in plain]
    return pc.replace_with_mask(texts, escaped, pa.array(safe, pa.string()))


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text
