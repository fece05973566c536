"""Does every shard of the reference read to what was written, however it is asked?"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai.scan import run
from amudai.types import quote_name
from tests import golden
from tests.reading.same import same_values

CASES = [pytest.param(case, id=case.name) for case in golden.CASES]
# These hold nanoseconds that the format, which counts ticks of 100 ns, cannot hold.
FINER_THAN_TICKS = {"forced-numeric-2", "forced-numeric-3"}


@cache
def expected_of(case_name: str) -> pa.Table:
    return next(case for case in golden.CASES if case.name == case_name).expected()


def same(found: pa.Table, expected: pa.Table, case: golden.Case) -> bool:
    return same_values(found, expected, as_ticks=case.name in FINER_THAN_TICKS)


@pytest.mark.parametrize("case", CASES)
def test_reads_what_the_reference_wrote(case: golden.Case) -> None:
    with amudai.open(case.root) as shard:
        assert shard.num_rows == case.rows
        found = shard.read()
    found.validate(full=True)
    assert found.schema == shard.schema
    assert same(found, expected_of(case.name), case)


@pytest.mark.parametrize("case", CASES)
def test_without_verification(case: golden.Case) -> None:
    assert same(amudai.open(case.root, verify=False).read(), expected_of(case.name), case)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_on_one_thread_and_on_three(case: golden.Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "SERIAL_VALUES", 0)
    expected = expected_of(case.name)
    shard = amudai.open(case.root)
    assert same(shard.read(threads=3), expected, case)
    assert same(shard.read(threads=1), expected, case)
    assert same(amudai.open(case.root, threads=3).to_reader().read_all(), expected, case)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_batch_by_batch(case: golden.Case) -> None:
    expected = expected_of(case.name)
    for rows in (1000, max(1, case.rows // 3), case.rows + 1):
        batches = list(amudai.open(case.root).to_reader(batch_rows=rows))
        assert all(0 < batch.num_rows <= rows for batch in batches)
        found = pa.Table.from_batches(batches, amudai.open(case.root).schema)
        assert same(found, expected, case)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_any_slice_of_rows(case: golden.Case) -> None:
    shard, expected = amudai.open(case.root), expected_of(case.name)
    rng = np.random.default_rng(case.rows)
    cuts = [sorted(rng.integers(0, case.rows + 1, 2).tolist()) for _ in range(6)]
    borders = [stripe.first_row for stripe in shard.stripes]
    cuts += [[0, 1], [case.rows - 1, case.rows], [case.rows, case.rows]]
    cuts += [[max(0, at - 2), min(case.rows, at + 2)] for at in borders]
    for start, stop in cuts:
        if start >= 0:
            found = shard.read(rows=slice(start, stop))
            assert same(found, expected.slice(start, max(0, stop - start)), case), f"rows {start}..{stop}"
    tail = shard.to_reader(rows=slice(-case.rows // 2, None), batch_rows=700).read_all()
    assert same(tail, expected.slice(case.rows - tail.num_rows), case)


@pytest.mark.parametrize("case", CASES)
def test_any_rows_in_any_order(case: golden.Case) -> None:
    shard, expected = amudai.open(case.root), expected_of(case.name)
    rng = np.random.default_rng(case.rows + 1)
    assert shard.take([]).num_rows == 0
    if not case.rows:
        return
    for count in (1, 3, 50, 400):
        rows = rng.integers(0, case.rows, count)
        assert same(shard.take(rows), expected.take(rows), case), f"rows {rows.tolist()}"
    scattered = np.arange(case.rows % 5, case.rows, max(7, case.rows // 300))  # alone and in order
    assert same(shard.take(pa.array(scattered)), expected.take(scattered), case)


@pytest.mark.parametrize("case", CASES)
def test_each_column_alone(case: golden.Case) -> None:
    shard, expected = amudai.open(case.root), expected_of(case.name)
    for name in expected.column_names:
        assert same(shard.read([quote_name(name)]), expected.select([name]), case)
    backwards = expected.column_names[::-1]
    assert same(shard.read([*map(quote_name, backwards)]), expected.select(backwards), case)


@pytest.mark.parametrize("path", golden.SHARDS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_every_shard_is_sound(path: Path) -> None:
    shard = amudai.open(path)
    found = shard.verify()
    assert found.ok, str(found)
    assert found.files >= 1
    # Constants and columns of nothing but nulls have no blocks and need not be read row by row.
    assert 0 <= found.values <= shard.num_rows * len(shard.schema)
    if any("constant" not in field.encodings and "absent" not in field.encodings for field in shard.columns):
        assert found.blocks > 0
        assert found.values >= shard.num_rows


@pytest.mark.parametrize("index", golden.INDEX_CASES, ids=lambda index: index.name)
def test_artifacts_of_indexes_are_shards(index: golden.IndexCase) -> None:
    paths = sorted(index.folder.glob("*.amudai.shard"))
    assert paths
    rows = 0
    for path in paths:
        shard = amudai.open(path)
        table = shard.read()
        table.validate(full=True)
        assert table.num_rows == shard.num_rows
        assert same_values(shard.to_reader(batch_rows=333).read_all(), table)
        if shard.num_rows:
            wanted = np.random.default_rng(1).integers(0, shard.num_rows, 20)
            assert same_values(shard.take(wanted), table.take(wanted))
        rows += table.num_rows
    assert rows > 0
    assert index.source().num_rows == index.rows
