"""Logs for tests, and their rows."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from amudai.sources import read_files
from amudai.sources.source import Source

__all__ = ["NOW", "notes", "read", "rows", "write"]

NOW = datetime.datetime(2024, 3, 10, 12, tzinfo=datetime.UTC)


def write(folder: Path, lines: list[str], name: str = "a.log", modified: datetime.datetime = NOW) -> Path:
    """A log that was modified at a known time."""
    path = folder / name
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    os.utime(path, (0, modified.timestamp()))
    return path


def read(path: Any, **options: Any) -> tuple[Source, pa.Table]:
    """A source that was read, and its rows."""
    source = read_files(path, **options)
    return source, pa.Table.from_batches(source.batches(), source.schema)


def rows(path: Any, **options: Any) -> list[dict[str, Any]]:
    """The rows of logs."""
    found: list[dict[str, Any]] = read(path, **options)[1].to_pylist()
    return found


def notes(source: Source) -> tuple[str, ...]:
    """The notes about the only file of a source."""
    found: tuple[str, ...] = next(iter(source.notes.values()))
    return found
