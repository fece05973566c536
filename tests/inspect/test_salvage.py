"""Does `salvage` keep every row whose blocks are sound, and say what was lost?"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai import Salvage

ROWS = 30_000


def make_table(rows: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "n": rng.integers(0, 1 << 40, rows),
            "maybe": pa.array(rng.integers(0, 9, rows), mask=rng.random(rows) < 0.3),
            "flag": rng.random(rows) < 0.5,
            "text": [f"message {value} of {at}" for at, value in enumerate(rng.integers(0, 99, rows).tolist())],
            "level": np.array(["info", "warn", "error"])[rng.integers(0, 3, rows)],
            "tags": [list(range(at % 4)) for at in range(rows)],
            "pair": [{"a": at, "b": str(at % 7)} for at in range(rows)],
        }
    )


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return make_table()


@pytest.fixture(scope="module")
def whole(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("salvage") / "whole.amudai.shard"
    amudai.write(table, path, stripe_rows=20_000, indexes=[amudai.TermIndex("text")]).close()
    return path


def damaged(whole: Path, folder: Path, at: int) -> Path:
    content = bytearray(whole.read_bytes())
    content[at] ^= 0x10
    path = folder / "damaged.amudai.shard"
    path.write_bytes(content)
    return path


def block_place(shard: Path, column: str, stripe: int, block: int) -> tuple[int, int, int]:
    """A byte inside a block of a column, and the positions of the block's values."""
    with amudai.open(shard) as opened:
        found = opened.inspect(blocks=True).stripes[stripe]
        field = next(each for each in found.fields if each.path == column)
        buffer = next(each for each in field.buffers if each.blocks)
        assert buffer.blocks
        place = buffer.blocks[block]
        first = opened.stripes[stripe].first_row + place.first_value
        return buffer.start + place.start + place.bytes // 2, first, first + place.values


def lost_positions(saved: Salvage, column: str) -> set[int]:
    return {at for each in saved.lost if each.column == column for at in range(each.first, each.end)}


@pytest.mark.slow
@pytest.mark.parametrize("column", ["n", "text", "level", "maybe"])
def test_a_damaged_block_loses_its_rows_alone(whole: Path, table: pa.Table, tmp_path: Path, column: str) -> None:
    at, first, end = block_place(whole, column, 0, 1)
    saved = amudai.salvage(damaged(whole, tmp_path, at), tmp_path / "saved.amudai.shard")
    assert lost_positions(saved, column) == set(range(first, end))
    assert {each.column for each in saved.lost} == {column}
    assert saved.lost_rows == end - first
    kept = pa.concat_tables([table.slice(0, first), table.slice(end)])
    assert saved.shard.read().equals(kept)
    assert saved.shard.verify().ok
    assert [index.fields for index in saved.shard.indexes] == [("text",)]


def test_rows_with_lost_values_can_be_kept_with_nulls(whole: Path, table: pa.Table, tmp_path: Path) -> None:
    at, first, end = block_place(whole, "text", 1, 0)
    saved = amudai.salvage(damaged(whole, tmp_path, at), tmp_path / "saved.amudai.shard", missing="null")
    found = saved.shard.read()
    assert saved.lost_rows == 0
    assert found.drop_columns("text").equals(table.drop_columns("text"))
    texts = table["text"].to_pylist()
    assert found["text"].to_pylist() == texts[:first] + [None] * (end - first) + texts[end:]


@pytest.mark.slow
def test_damaged_items_lose_the_lists_that_hold_them(whole: Path, table: pa.Table, tmp_path: Path) -> None:
    with amudai.open(whole) as opened:
        tags = next(each for each in opened.inspect(blocks=True).stripes[0].fields if each.path == "tags")
        buffer = tags.children[0].buffers[0]
        assert buffer.blocks
        block = buffer.blocks[0]
    ends = np.cumsum([at % 4 for at in range(20_000)])
    begins = ends - [at % 4 for at in range(20_000)]
    low, high = block.first_value, block.first_value + block.values
    hit = set(np.flatnonzero((begins < high) & (ends > low) & (ends > begins)).tolist())
    path = damaged(whole, tmp_path, buffer.start + block.start + block.bytes // 2)
    saved = amudai.salvage(path, tmp_path / "saved.amudai.shard", columns=["tags", "n"])
    lost = lost_positions(saved, "tags")
    assert lost == hit
    kept = [at for at in range(ROWS) if at not in hit]
    assert saved.shard.read().equals(table.select(["tags", "n"]).take(kept))


@pytest.mark.slow
def test_every_flip_keeps_what_can_be_read(tmp_path: Path) -> None:
    """Every value of the result is right, and no row is lost that reads well."""
    table = make_table(3000).select(["n", "maybe", "text", "level"])
    path = tmp_path / "small.amudai.shard"
    amudai.write(table, path, stripe_rows=1500).close()
    rows = table.to_pylist()
    rng = np.random.default_rng(8)
    saved_some = 0
    for at in rng.integers(64, path.stat().st_size, 40).tolist():
        bad = damaged(path, tmp_path, at)
        try:
            saved = amudai.salvage(bad, tmp_path / "saved.amudai.shard", overwrite=True)
        except amudai.CorruptedData:
            continue  # the schema, the directory or the stripe list
        saved_some += 1
        gone = {at for each in saved.lost for at in range(each.first, each.end)}
        assert saved.shard.read().to_pylist() == [row for place, row in enumerate(rows) if place not in gone]
        with amudai.open(bad) as opened:
            for place in list(gone)[::200]:
                with pytest.raises(amudai.AmudaiError):
                    opened.take([place])
    assert saved_some > 20


def test_deleted_rows_stay_deleted(whole: Path, table: pa.Table, tmp_path: Path) -> None:
    with amudai.open(whole) as opened:
        amudai.delete(opened, positions=range(100), to=whole.parent / "fewer.amudai.shard", overwrite=True).close()
    saved = amudai.salvage(whole.parent / "fewer.amudai.shard", tmp_path / "saved.amudai.shard")
    assert (saved.lost, saved.lost_rows) == ((), 0)
    assert saved.shard.read().equals(table.slice(100))


def test_internal_fields_are_kept_where_they_are_sound(tmp_path: Path) -> None:
    when = datetime(2026, 3, 1, tzinfo=UTC)
    path = tmp_path / "noted.amudai.shard"
    amudai.write({"n": range(5_000)}, path, ingestion_time=when, record_id=b"0123456789").close()
    at, first, end = block_place(path, "`Kusto.Amudai.RecordIdentity`", 0, 1)
    saved = amudai.salvage(damaged(path, tmp_path, at), tmp_path / "saved.amudai.shard")
    assert saved.lost_rows == 0
    found = saved.shard.read(["n", "@RecordIdentity", "@IngestionTimestamp"])
    assert found["n"].to_pylist() == list(range(5_000))
    identities = [b"0123456789" + row.to_bytes(6, "big") for row in range(5_000)]
    assert found[1].to_pylist() == identities[:first] + [None] * (end - first) + identities[end:]
    assert set(found[2].to_pylist()) == {pa.scalar(when, found[2].type).as_py()}


def test_a_missing_stripe_file_loses_its_rows(table: pa.Table, tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    amudai.write(table, tmp_path / "whole" / "t.amudai.shard", stripe_rows=20_000, layout="two-level").close()
    with amudai.open(tmp_path / "whole" / "t.amudai.shard") as opened:
        place = opened.inspect().stripes[1].fields[0].buffers[0].file
    # A copy, of which no file is open.
    shutil.copytree(tmp_path / "whole", tmp_path / "copy")
    (tmp_path / "copy" / place.rpartition("/")[2]).unlink()
    saved = amudai.salvage(tmp_path / "copy" / "t.amudai.shard", tmp_path / "saved.amudai.shard")
    assert saved.shard.read().equals(table.slice(0, 20_000))
    assert saved.lost_rows == ROWS - 20_000


def test_damaged_properties_lose_the_arrow_types_alone(whole: Path, table: pa.Table, tmp_path: Path) -> None:
    content = whole.read_bytes()
    at = content.index(b"amudai.arrow.schema")
    saved = amudai.salvage(damaged(whole, tmp_path, at), tmp_path / "saved.amudai.shard", columns=["n", "text"])
    assert saved.shard.read().to_pydict() == table.select(["n", "text"]).to_pydict()
    assert any("Arrow types" in note for note in saved.notes)


def test_the_shard_itself_is_refused_as_the_target(whole: Path) -> None:
    with pytest.raises(amudai.InvalidArgument, match="another place"):
        amudai.salvage(whole, whole, overwrite=True)
    with pytest.raises(amudai.InvalidArgument, match="missing"):
        amudai.salvage(whole, whole.parent / "other.amudai.shard", missing="keep")  # type: ignore[arg-type]
