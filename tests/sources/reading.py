"""Files of a test, and what is read from them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from amudai.sources import Source
from amudai.sources import read_files as read

__all__ = ["bad", "content", "read", "table", "write"]


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def table(source: Source) -> pa.Table:
    batches = list(source.batches())
    assert all(batch.schema.equals(source.schema, check_metadata=True) for batch in batches)
    return pa.Table.from_batches(batches, source.schema)


def content(path: Any, **options: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = table(read(path, **options)).to_pydict()
    return found


def bad(source: Source) -> list[tuple[str, int]]:
    """What was skipped, as file names and lines."""
    list(source.batches())
    assert source.bad_records.count == len(source.bad_records.examples)
    return [(os.path.basename(found.file), found.line) for found in source.bad_records.examples]
