"""Sorting in bounded memory: equal to a stable sort of all rows, whatever the number of runs."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.errors import InvalidArgument, MissingColumn
from amudai.scan import sort_keys, sorted_batches, sorting
from tests.effort import examples


def _expected(rows: list[dict[str, object]], by: list[tuple[str, bool]]) -> list[dict[str, object]]:
    """A stable sort in plain Python: nulls last, NaN before them, in both directions."""
    found = list(rows)
    for name, descending in reversed(by):
        ordinary = [row for row in found if row[name] is not None and row[name] == row[name]]
        nan = [row for row in found if row[name] is not None and row[name] != row[name]]
        null = [row for row in found if row[name] is None]
        if descending:  # `reverse=True` keeps equal rows in order
            ordinary.sort(key=lambda row: row[name], reverse=True)
        else:
            ordinary.sort(key=lambda row: row[name])
        found = ordinary + nan + null
    return found


VALUES = {
    "number": (pa.int64(), st.integers(-3, 3)),
    "float": (pa.float64(), st.sampled_from([0.5, -1.0, float("nan"), float("inf"), 2.0])),
    "text": (pa.string(), st.sampled_from(["", "a", "ab", "é", "z", "\U0001f600"])),
    "money": (pa.decimal128(9, 2), st.sampled_from([Decimal("1.50"), Decimal("-2.00"), Decimal("10.25")])),
    "flag": (pa.bool_(), st.booleans()),
}


@pytest.mark.slow
@given(data=st.data())
@examples(60)
def test_any_keys_give_the_order_of_a_stable_sort(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 60))
    columns = {
        name: data.draw(st.lists(st.one_of(st.none(), values), min_size=count, max_size=count))
        for name, (_, values) in VALUES.items()
    }
    table = pa.table({name: pa.array(columns[name], kind) for name, (kind, _) in VALUES.items()})
    table = table.append_column("at", pa.array(range(count), pa.int64()))
    by = data.draw(st.lists(st.tuples(st.sampled_from(sorted(VALUES)), st.booleans()), min_size=1, max_size=3))
    keys = sort_keys([(name, "descending" if down else "ascending") for name, down in by], table.schema)
    expected = [row["at"] for row in _expected(table.to_pylist(), by)]
    batches = table.to_batches(max_chunksize=data.draw(st.integers(1, 20)))
    whole = list(sorted_batches(batches, keys, memory=1 << 30, temp_folder=None))
    assert [at for batch in whole for at in batch.column("at").to_pylist()] == expected
    with pytest.MonkeyPatch.context() as patch:
        # Runs of one batch each, in several pieces, merged in several rounds.
        patch.setattr(sorting, "_run_bytes", lambda memory: 1)
        patch.setattr(sorting, "_FAN_IN", 3)
        parts = list(sorted_batches(batches, keys, memory=1, temp_folder=None))
    assert [at for batch in parts for at in batch.column("at").to_pylist()] == expected
    if count:
        assert pa.Table.from_batches(parts).schema == table.schema


def test_rows_that_do_not_fit_into_memory_are_sorted_on_disk() -> None:
    rng = random.Random(7)
    table = pa.table({"key": [rng.randrange(1000) for _ in range(200_000)], "at": range(200_000)})
    keys = sort_keys("key", table.schema)
    found = pa.Table.from_batches(
        sorted_batches(table.to_batches(max_chunksize=5_000), keys, memory=1, temp_folder=None)
    )
    assert found.combine_chunks().equals(table.sort_by([("key", "ascending"), ("at", "ascending")]).combine_chunks())


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.timestamp("ns", "UTC"), [3, None, 1, 2]),
        (pa.dictionary(pa.int8(), pa.string()), ["b", None, "a", "b"]),
        (pa.string_view(), ["b", None, "a", "b"]),
        (pa.duration("us"), [3, None, 1, 2]),
        (pa.date32(), [3, None, 1, 2]),
        (pa.float16(), [1.5, None, -1.0, 0.0]),
        (pa.binary(2), [b"bb", None, b"aa", b"ba"]),
    ],
    ids=str,
)
def test_types_that_arrow_does_not_sort_or_python_does_not_compare(kind: pa.DataType, values: list[object]) -> None:
    table = pa.table({"key": pa.array(values, kind), "at": range(4)})
    keys = sort_keys([("key", "descending")], table.schema)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_run_bytes", lambda memory: 1)
        found = pa.Table.from_batches(
            sorted_batches(table.to_batches(max_chunksize=1), keys, memory=1, temp_folder=None)
        )
    present = [at for at in range(4) if values[at] is not None]
    assert found.column("key").type == kind
    assert found.column("at").to_pylist() == [*sorted(present, key=lambda at: values[at], reverse=True), 1]


def test_members_of_structs_are_keys() -> None:
    table = pa.table({"http": [{"status": 500}, None, {"status": 200}]})
    keys = sort_keys("http.status", table.schema)
    found = pa.Table.from_batches(sorted_batches(table.to_batches(), keys, memory=1 << 20, temp_folder=None))
    assert found.to_pydict() == {"http": [{"status": 200}, {"status": 500}, None]}


def test_columns_that_cannot_be_sorted_are_refused() -> None:
    schema = pa.schema([("tags", pa.list_(pa.string())), ("n", pa.int64())])
    with pytest.raises(InvalidArgument, match="sort_by: expected a column that can be sorted, found list<"):
        sort_keys("tags", schema)
    with pytest.raises(MissingColumn, match="sort_by: expected a column, found 'm'"):
        sort_keys(["n", "m"], schema)
    with pytest.raises(InvalidArgument, match=r"found \('n', 'up'\)"):
        sort_keys([("n", "up")], schema)


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view(), pa.large_string(), pa.decimal32(5, 1)])
def test_dictionaries_of_types_that_arrow_cannot_sort(tmp_path: Path, kind: pa.DataType) -> None:
    values: list[object] = [Decimal(2), Decimal(1), Decimal(3)] if pa.types.is_decimal(kind) else ["b", "a", "c"]
    codes = pa.array([0, None, 1, 2], pa.int8())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(values, kind))
    shard = amudai.write(pa.table({"d": column, "n": range(4)}), tmp_path / "d.amudai.shard")
    by_value = amudai.compact(shard, tmp_path / "s.amudai.shard", sort_by="d")
    assert by_value["n"].read().to_pylist() == [2, 0, 3, 1]
