"""Recognising the format of a file by its first bytes."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from typing import Final

from amudai.errors import CorruptedData
from amudai.format import MAGIC
from amudai.sources.compression import recognised_compression
from amudai.sources.files import InputFile, translated

__all__ = ["RecognisedFormat", "recognise"]

_HEAD: Final = 1 << 16
_LINES: Final = 50
# The share of characters that a text may have besides printable ones: a log may contain some stray bytes.
_STRAY: Final = 0.02
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# An object, or an array of objects, texts or arrays. An array of numbers could as well be a time in brackets.
_JSON: Final = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[{\[\"])")
_COLUMN: Final = re.compile(r"[^\W\d][\w .\-/()#%$]{0,63}")


@dataclass(frozen=True, slots=True)
class RecognisedFormat:
    """What the first bytes of a file tell.

    Attributes
    ----------
    format
        The name of the format; None if no reader knows it.
    reason
        Why there is no format.
    """

    format: str | None
    compression: str | None = None
    reason: str = ""


def recognise(file: InputFile) -> RecognisedFormat:
    """The format and compression of a file, whatever its name."""
    with translated(file):
        with file.content.open() as stored:
            head: bytes = stored.read(_HEAD)
        compression = file.compression or recognised_compression(head)
        if compression is not None:
            head = _decompressed_head(file, compression)
    if not head:
        return RecognisedFormat(None, compression, "it is empty")
    if head.startswith(b"PAR1"):
        return RecognisedFormat("parquet", compression)
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return RecognisedFormat("arrow", compression)
    if head.startswith(MAGIC):
        return RecognisedFormat(None, compression, "it is part of a shard")
    text = _text(head)
    if text is None:
        return RecognisedFormat(None, compression, "it is no text, and no format that is known")
    if _JSON.match(text):
        return RecognisedFormat("json", compression)
    return RecognisedFormat("csv" if _is_csv(text) else "log", compression)


def _decompressed_head(file: InputFile, compression: str) -> bytes:
    try:
        with file.recognised("", compression).open() as content:
            head: bytes = content.read(_HEAD)
            return head
    except OSError as error:
        raise CorruptedData(f"file: expected sound data, found {error}", file=file.path) from error


def _text(head: bytes) -> str | None:
    """The bytes as text; None if they are something else."""
    encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
    # Incremental: the last character may be cut.
    text = codecs.getincrementaldecoder(encoding)("replace").decode(head).removeprefix("\ufeff")
    if "\0" in text or len(_CONTROLS.findall(text)) > _STRAY * len(text):
        return None
    return text


def _is_csv(text: str) -> bool:
    """Whether the first lines are a header and records with as many values.

    Logs are text as well, so the first line must have names that can be those of columns.
    """
    lines = text.splitlines()
    if len(text) >= _HEAD // 4 and not text.endswith("\n"):
        lines.pop()
    lines = [line for line in lines[:_LINES] if line.strip()]
    return len(lines) > 1 and any(_is_table(lines, delimiter) for delimiter in ",\t;|")


def _is_table(lines: list[str], delimiter: str) -> bool:
    if delimiter not in lines[0]:
        return False
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        rows = [line.split(delimiter) for line in lines]
    names = rows[0]
    if len(set(names)) < len(names) or not all(_COLUMN.fullmatch(name.strip()) for name in names):
        return False
    return all(len(row) == len(names) for row in rows[1:-1]) and len(rows[-1]) <= len(names)
