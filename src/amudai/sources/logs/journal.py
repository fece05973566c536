"""Fields of systemd's journal that are not written as plain text, as they have control characters or are no UTF-8.

Journald's JSON has an array of the bytes then, or an array of several values. Its export format has the name of the
field alone, and below it the size in eight bytes and the bytes.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pyarrow as pa

__all__ = ["array_text", "escaped", "readable", "sized_text"]

_SIZE: Final = 8
_DECODER: Final = json.JSONDecoder(strict=False)


def readable(raw: bytes) -> str:
    r"""The bytes as text, with those that are not UTF-8 as escapes.

    >>> readable(b"gr\xc3\xbcn \xff")
    'grün \\xff'
    """
    return raw.decode("utf-8", "backslashreplace")


def escaped(texts: pa.Array) -> pa.Array:
    """The texts, with bytes that are not UTF-8 as escapes."""
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raw = texts.cast(pa.binary()).to_pylist()
        return pa.array([None if text is None else readable(text) for text in raw], pa.string())
    return texts


def array_text(rest: bytes) -> str:
    r"""The text of a field whose value is the array at the beginning of some bytes. Other arrays stay as they are.

    >>> array_text(b'[104, 105], "_PID": "1"}'), array_text(b'["a", [98, 255]]}'), array_text(b"[300]}")
    ('hi', 'a\nb\\xff', '[300]')
    """
    text = readable(rest)
    end = len(text)
    try:
        values, end = _DECODER.raw_decode(text)
        return _text_of(values)
    except (ValueError, RecursionError):
        return text[:end]


def _text_of(values: list[Any]) -> str:
    if all(type(value) is int for value in values):  # True is no byte
        return readable(bytes(values))  # ValueError for what is no byte
    if not all(isinstance(value, str | list) for value in values):
        raise ValueError("expected texts and arrays of bytes")
    text = "\n".join(value if isinstance(value, str) else _text_of(value) for value in values)
    return text.encode("utf-8", "replace").decode()  # half of a surrogate pair is no text


def sized_text(rest: bytes) -> str:
    r"""The text of a field of the export format: its size in eight bytes, its bytes, and a line feed.

    >>> sized_text(bytes([3, 0, 0, 0, 0, 0, 0, 0]) + b"a\nb\n_PID=1\n")
    'a\nb'
    """
    size, data = int.from_bytes(rest[:_SIZE], "little"), rest[_SIZE:]
    is_sound = size == len(data) or data[size : size + 1] == b"\n"
    return readable(data[:size] if is_sound else rest)
