"""Is a table exactly the one that was written? Types, nullability, metadata, and every value bit by bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

import amudai
from tests.writing.arrays import plain


def plain_column(column: pa.ChunkedArray) -> list[Any]:
    """Every value of a column, numbers as their bytes."""
    return [value for chunk in column.chunks for value in plain(chunk)]


def assert_exact(found: pa.Table, expected: pa.Table) -> None:
    """Fails where anything differs but the chunking."""
    assert found.schema.equals(expected.schema, check_metadata=True), f"{found.schema}\n{expected.schema}"
    assert found.num_rows == expected.num_rows
    for name, left, right in zip(found.column_names, found.columns, expected.columns, strict=True):
        for chunk in left.chunks:
            chunk.validate()
        assert plain_column(left) == plain_column(right), name


def kept(table: pa.Table, folder: Path, **options: Any) -> amudai.Shard:
    """The shard that was written from a table, after everything that must hold for it did."""
    shard = amudai.write(table, folder / "t.amudai.shard", overwrite=True, **options)
    assert shard.num_rows == table.num_rows
    assert_exact(shard.read(), table)
    found = shard.verify()
    assert found.ok, str(found)
    return shard


def names(folder: Path) -> list[str]:
    """The names of all files in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())
