"""Are many small columns, which are read together, what each of them is alone?"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai.errors import AmudaiError
from tests.effort import scaled

pytestmark = pytest.mark.native

ROWS = 700
COLUMNS = 48  # more than are read one by one


def table(rows: int = ROWS) -> pa.Table:
    """Columns of every simple type, some with nulls, and some of types that are read alone."""
    rng = np.random.default_rng(7)
    some = rng.random(rows) < 0.2
    words = np.array(["", "info", "ä" * 20, "a longer text that repeats itself itself itself"])
    columns: dict[str, pa.Array] = {}
    for at in range(COLUMNS):
        mask = some if at % 3 == 0 else None
        numbers = rng.integers(-90, 90, rows)
        match at % 12:
            case 0:
                found = pa.array(numbers, pa.int64(), mask=mask)
            case 1:
                found = pa.array(np.cumsum(np.abs(numbers)), pa.uint32(), mask=mask)
            case 2:
                found = pa.array(numbers, pa.int8(), mask=mask)
            case 3:
                found = pa.array(np.round(rng.normal(0, 50, rows), 2), pa.float64(), mask=mask)
            case 4:
                found = pa.array(rng.normal(0, 1, rows), pa.float32(), mask=mask)
            case 5:
                found = pa.array(words[rng.integers(0, 4, rows)], pa.string(), mask=mask)
            case 6:
                found = pa.array([rng.bytes(each % 9) for each in range(rows)], pa.binary(), mask=mask)
            case 7:
                found = pa.array(numbers, pa.timestamp("us", "UTC"), mask=mask)
            case 8:
                found = pa.array(numbers.astype(np.int32), pa.date32(), mask=mask)
            case 9:
                found = pa.array(numbers > 0, pa.bool_(), mask=mask)
            case 10:
                found = pa.array([Decimal(int(each)) / 100 for each in numbers], pa.decimal128(9, 2))
            case _:
                found = pa.array([[int(each), None] for each in numbers], pa.list_(pa.int16()))
        columns[f"c{at}"] = found
    columns["same"] = pa.array([5] * rows)
    columns["null"] = pa.nulls(rows, pa.int32())
    columns["view"] = pa.array([str(each) for each in range(rows)], pa.string_view())
    columns["large"] = pa.array([str(each) for each in range(rows)], pa.large_string())
    return pa.table(columns)


@pytest.mark.parametrize("profile", ["plain", "balanced", "minimal_size"])
def test_columns_are_what_was_written(tmp_path: Path, profile: str) -> None:
    written = table()
    with amudai.write(written, tmp_path / "t.amudai.shard", profile=profile) as shard:  # type: ignore[arg-type]
        for threads in (1, 2):
            found = shard.read(threads=threads)
            found.validate(full=True)
            assert found.equals(written)
        assert shard.read(written.column_names[::-1]).equals(written.select(written.column_names[::-1]))
        for rows in (slice(3, 600), slice(0, 1), slice(0, 0)):
            assert shard.read(rows=rows).equals(written.slice(rows.start, rows.stop - rows.start))
        scattered = shard.scan(where=amudai.col("large").isin(["5", "690"])).to_table()
        assert scattered.equals(pa.concat_tables([written.slice(5, 1), written.slice(690, 1)]))


def test_one_row_and_none(tmp_path: Path) -> None:
    for rows in (0, 1):
        with amudai.write(table(rows), tmp_path / f"{rows}.amudai.shard") as shard:
            assert shard.read().equals(table(rows))


def test_deleted_rows_and_several_stripes(tmp_path: Path) -> None:
    written = table()
    path = tmp_path / "t.amudai.shard"
    with amudai.write(written, path, stripe_rows=300) as shard:
        assert shard.read().equals(written)
    with amudai.delete(path, positions=[5], to=tmp_path / "fewer.amudai.shard") as shard:
        assert shard.read().equals(pa.concat_tables([written.slice(0, 5), written.slice(6)]))


def test_blocks_are_counted(tmp_path: Path) -> None:
    with amudai.write(table(), tmp_path / "t.amudai.shard") as shard:
        names = shard.schema.names
        together = shard.scan(names)
        together.to_table()
        alone = 0
        for name in names:
            scan = shard.scan([name])
            scan.to_table()
            alone += scan.explain().blocks_decoded
        assert together.explain().blocks_decoded == alone > len(names) // 2


def test_limits_hold(tmp_path: Path) -> None:
    path = tmp_path / "t.amudai.shard"
    amudai.write(table(), path)
    with pytest.raises(amudai.LimitExceeded, match="memory"):
        amudai.open(path, limits=amudai.Limits(memory=1000)).read()
    assert amudai.open(path, limits=amudai.Limits(memory=1 << 20)).read().equals(table())


def outcome(shard: amudai.Shard, names: list[str] | None) -> pa.Table | type[AmudaiError]:
    try:
        return shard.read(names)
    except AmudaiError as error:
        return type(error)


@pytest.mark.parametrize("verify", [True, False])
def test_damage_is_what_it_is_to_a_column_alone(tmp_path: Path, verify: bool) -> None:
    path = tmp_path / "t.amudai.shard"
    amudai.write(table(60).select([f"c{at}" for at in range(COLUMNS)]), path)
    sound = path.read_bytes()
    random = Random(5)
    met = 0
    for number in range(scaled(100)):
        damaged = bytearray(sound)
        # The second half has the descriptors.
        at = random.randrange(len(sound) // 2 if number % 2 else 0, len(sound))
        damaged[at] ^= 1 << random.randrange(8)
        path.with_name("d.amudai.shard").write_bytes(damaged)
        try:
            shard = amudai.open(path.with_name("d.amudai.shard"), verify=verify)
            names = shard.schema.names
        except AmudaiError:
            continue
        together = outcome(shard, None)
        each = [outcome(shard, [name]) for name in names]
        refused = [kind for kind in each if isinstance(kind, type)]
        if refused:
            assert together in refused
            met += 1
        else:
            assert isinstance(together, pa.Table)
            parts = [part.columns[0] for part in each if isinstance(part, pa.Table)]
            assert together.equals(pa.table(parts, names=names))
    assert met or not verify
