"""Is the garbage collector left alone during work on many columns, and only then?"""

from __future__ import annotations

import gc
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai.collection import MANY_COLUMNS, uncollected


def test_the_collector_rests_during_work_on_many_columns() -> None:
    assert gc.isenabled()
    with uncollected(MANY_COLUMNS - 1):
        assert gc.isenabled()
    with uncollected(MANY_COLUMNS):
        assert not gc.isenabled()
        with pytest.raises(ValueError, match="inside"), uncollected(MANY_COLUMNS):
            raise ValueError("inside")
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with uncollected(MANY_COLUMNS):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_reading_and_writing_many_columns_leave_the_collector_on(tmp_path: Path) -> None:
    table = pa.table({f"c{at}": [at] for at in range(MANY_COLUMNS)})
    with amudai.write(table, tmp_path / "wide.amudai.shard") as shard:
        assert shard.schema.equals(table.schema)
        assert shard.read().equals(table)
    assert gc.isenabled()


def test_the_collector_rests_while_a_table_is_written_but_not_while_batches_are_made(tmp_path: Path) -> None:
    table = pa.table({f"c{at}": [at] for at in range(MANY_COLUMNS)})
    seen: list[bool] = []
    amudai.write(table, tmp_path / "a", progress=lambda _: seen.append(gc.isenabled()))
    assert seen
    assert not any(seen)
    assert gc.isenabled()
    seen.clear()
    amudai.write(iter(table.to_batches()), tmp_path / "b", progress=lambda _: seen.append(gc.isenabled()))
    assert seen
    assert all(seen)
