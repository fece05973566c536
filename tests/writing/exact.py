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


def is_exactly(found: pa.ChunkedArray, expected: pa.ChunkedArray) -> bool:
    """Whether two columns of one type hold the same values."""
    # Arrow compares faster, but says that 0.0 equals -0.0, and knows nothing of values behind codes.
    if _arrow_compares_bits(found.type) and found.equals(expected):
        return True
    return plain_column(found) == plain_column(expected)


def _arrow_compares_bits(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return all(_arrow_compares_bits(kind.field(at).type) for at in range(kind.num_fields))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _arrow_compares_bits(kind.value_type)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    is_binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    is_number = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind)
    return is_text or is_binary or is_number or pa.types.is_temporal(kind)


def assert_exact(found: pa.Table, expected: pa.Table) -> None:
    """Fails where anything differs but the chunking."""
    assert found.schema.equals(expected.schema, check_metadata=True), f"{found.schema}\n{expected.schema}"
    assert found.num_rows == expected.num_rows
    for name, left, right in zip(found.column_names, found.columns, expected.columns, strict=True):
        for chunk in left.chunks:
            chunk.validate()
        assert is_exactly(left, right), name


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
