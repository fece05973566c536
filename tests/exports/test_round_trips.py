"""Do our own readers get back what was exported?"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

import amudai

TABLE = pa.table(
    {
        "id": pa.array([1, -(2**63), 2**63 - 1, None]),
        "price": pa.array([Decimal("1.10"), Decimal("-99999999.99"), Decimal("0.00"), None], pa.decimal128(15, 2)),
        "ratio": pa.array([0.1, 1e-300, -1.5e16, None]),
        "text": pa.array(['say "hi", she said', "two\r\nlines", " edges\t", "漢字 😀 \\ é"]),
        "flag": pa.array([True, False, True, None]),
        "day": pa.array([date(1, 1, 1), date(2026, 1, 31), date(9999, 12, 31), None]),
        "local": pa.array([datetime(2026, 1, 31, 10, 30, 0, 5), datetime(1, 1, 1), None, None], pa.timestamp("us")),
        "utc": pa.array([datetime(2026, 1, 31, 10, tzinfo=UTC), None, None, None], pa.timestamp("us", "UTC")),
        "zoned": pa.array([datetime(2026, 7, 1, 10, tzinfo=UTC)] * 4, pa.timestamp("us", "Europe/Berlin")),
    }
)
LISTS = pa.table({"tags": [["a", "b,c"], [], None], "http": [{"status": 200, "path": 'a"b'}, None, {"status": None}]})


def export(table: pa.Table, path: Path, writer: Any) -> Path:
    with path.open("wb") as out:
        made = writer(out, table.column_names)
        for batch in table.to_batches():
            made.write(batch)
        made.close()
    return path


def read(path: Path, table: pa.Table) -> pa.Table:
    """The rows of a file, read with the types of a table; times with a zone as times in UTC."""
    types = {field.name: field.type for field in table.schema}
    zoned = [name for name, kind in types.items() if pa.types.is_timestamp(kind) and kind.tz is not None]
    types |= {name: pa.timestamp("us", "UTC") for name in zoned}
    if path.suffix == ".jsonl":
        types |= {name: pa.string() for name, kind in types.items() if pa.types.is_date(kind)}  # texts in JSON
    found = amudai.read_files(path, types=types).to_reader().read_all()
    return found.select(table.column_names).cast(table.schema)


@pytest.mark.parametrize(("ending", "writer"), [("csv", amudai.CsvWriter), ("jsonl", amudai.JsonLinesWriter)])
def test_values_come_back(tmp_path: Path, ending: str, writer: Any) -> None:
    path = export(TABLE, tmp_path / f"out.{ending}", writer)
    assert read(path, TABLE).to_pylist() == TABLE.to_pylist()


def test_lists_and_structs_come_back_from_json(tmp_path: Path) -> None:
    path = export(LISTS, tmp_path / "out.jsonl", amudai.JsonLinesWriter)
    assert read(path, LISTS).to_pylist() == LISTS.to_pylist()


def test_nulls_and_empty_texts_differ_in_csv(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2, 3], "t": ["", None, "null"]})
    path = export(table, tmp_path / "out.csv", amudai.CsvWriter)
    assert path.read_text() == 'n,t\n1,""\n2,\n3,null\n'
    options = pa.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""])
    assert pa.csv.read_csv(path, convert_options=options).equals(table)


def test_nulls_and_empty_texts_differ_in_json(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2, 3], "t": ["", None, "null"]})
    path = export(table, tmp_path / "out.jsonl", amudai.JsonLinesWriter)
    assert read(path, table).equals(table)
