"""Is the layout of a shard told as it is, and nothing read that was not asked for?"""

from __future__ import annotations

import json
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from tests.fixtures.make_sample import SAMPLE
from tests.forge import Forge, numbers, open_damaged, open_forged, strings

TABLE = pa.table(
    {
        "n": range(1000),
        "text": [f"text {row} of many" for row in range(1000)],
        "same": ["x"] * 1000,
        "s": [{"a": row, "b": [row, row]} if row % 5 else None for row in range(1000)],
    }
)


@pytest.fixture
def shard(tmp_path: Path) -> amudai.Shard:
    return amudai.write(
        TABLE,
        tmp_path / "x.amudai.shard",
        stripe_rows=600,
        layout="two-level",
        indexes=[amudai.TermIndex("text")],
        properties={"owner": "ops"},
    )


# ---- facts ----


def test_the_layout_is_that_of_the_shard(shard: amudai.Shard) -> None:
    layout = shard.inspect()
    assert (layout.url, layout.num_rows, layout.size) == (shard.url, 1000, shard.size)
    assert layout.properties == {"owner": "ops"}
    assert layout.indexes == shard.indexes
    assert layout.problems == ()
    assert next(iter(layout.files)) == shard.url
    sizes = {path.as_uri(): path.stat().st_size for path in Path(shard.url.removeprefix("file://")).parent.iterdir()}
    assert layout.files == sizes
    assert len(sizes) > 2
    assert [(stripe.ordinal, stripe.first_row, stripe.num_rows) for stripe in layout.stripes] == [
        (stripe.ordinal, stripe.first_row, stripe.num_rows) for stripe in shard.stripes
    ]


def test_totals_are_sums_over_stripes(shard: amudai.Shard) -> None:
    layout = shard.inspect(encodings=True)
    for field in (each for top in layout.fields for each in top.walk()):
        parts = [each for stripe in layout.stripes for top in stripe.fields for each in top.walk()]
        mine = [each for each in parts if each.path == field.path]
        assert len(mine) == 2
        assert field.bytes == sum(each.bytes for each in mine) == shard[field.path].encoded_bytes
        assert field.position_count == sum(each.position_count for each in mine)
        assert field.encodings == shard[field.path].encodings
        assert field.buffers == ()
    found = {field.path: field for top in layout.fields for field in top.walk()}
    assert list(found) == ["n", "text", "same", "s", "s.a", "s.b", "s.b.item"]
    assert {path: found[path].storage for path in ("n", "same", "s", "s.b")} == {
        "n": "blocks",
        "same": "constant",
        "s": "struct",
        "s.b": "list",
    }
    assert (found["s"].null_count, found["s.b.item"].position_count) == (200, 1600)


def test_blocks_hold_every_value(shard: amudai.Shard) -> None:
    (first, second) = shard.inspect(["n"], blocks=True).stripes
    for stripe, rows in ((first, 600), (second, 400)):
        (data,) = [buffer for buffer in stripe.fields[0].buffers if buffer.kind == "data"]
        assert sum(block.values for block in data.blocks) == rows
        assert data.block_count == len(data.blocks)
        assert sum(block.bytes for block in data.blocks) <= data.bytes


def test_columns_and_stripes_can_be_chosen(shard: amudai.Shard) -> None:
    layout = shard.inspect(["s.b", "n"], stripes=[1])
    assert [field.path for field in layout.fields] == ["s.b", "n"]
    assert [child.path for child in layout.fields[0].children] == ["s.b.item"]
    assert [stripe.ordinal for stripe in layout.stripes] == [1]
    assert layout.fields[1].position_count == 400
    assert layout.num_rows == 1000
    with pytest.raises(KeyError, match="'nope'"):
        shard.inspect(["nope"])
    with pytest.raises(amudai.InvalidArgument, match=r"stripes: expected 0\.\.1, found 2"):
        shard.inspect(stripes=[2])
    with pytest.raises(amudai.InvalidArgument, match="a list of names"):
        shard.inspect("n")


def test_internal_columns_are_listed() -> None:
    columns = {"n": numbers([1, 2], "i8"), "": numbers([3, 4], "i8")}
    columns[""].internal = "Later.Kind"
    shard = open_forged(Forge.of(columns))
    assert [column.name for column in shard.columns] == ["n"]
    assert len(shard.inspect().fields) == 2


def test_storage_is_mixed_if_stripes_differ(tmp_path: Path) -> None:
    with amudai.ShardWriter(tmp_path / "x.amudai.shard", pa.schema([("n", pa.int64())]), stripe_rows=2) as out:
        out.write(pa.table({"n": [7, 7, 1, 2]}))
    (field,) = amudai.open(tmp_path / "x.amudai.shard").inspect().fields
    assert field.storage == "mixed"


def test_a_shard_without_rows_has_fields(tmp_path: Path) -> None:
    schema = pa.schema([("n", pa.int64()), ("s", pa.struct([("a", pa.string())]))])
    shard = amudai.write(schema.empty_table(), tmp_path / "x.amudai.shard")
    layout = shard.inspect(encodings=True)
    assert [field.path for top in layout.fields for field in top.walk()] == ["n", "s", "s.a"]
    assert all(field.position_count == 0 for field in layout.fields)
    assert "n" in shard.tree()


def test_layouts_are_plain_frozen_values(shard: amudai.Shard) -> None:
    layout = shard.inspect(blocks=True)
    assert layout == shard.inspect(blocks=True)
    assert pickle.loads(pickle.dumps(layout)) == layout
    with pytest.raises(FrozenInstanceError):
        layout.size = 0  # type: ignore[misc]
    found = layout.to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["stripes"][1]["fields"][0]["buffers"][0]["kind"] == "data"


# ---- what it costs ----


def test_only_metadata_is_read_unless_blocks_are_asked_for() -> None:
    columns = {f"c{at}": numbers(range(at, at + 1000), "i8") for at in range(200)}
    shard = open_forged(Forge.of(columns))
    blocks = sum(len(column.stored.buffers[0].layout()[0]) for column in columns.values())
    before = shard.requests.bytes
    layout = shard.inspect()
    assert len(layout.fields) == 200
    assert all(field.encodings is None for field in layout.fields)
    assert sum(field.bytes for field in layout.fields) == blocks
    metadata = shard.requests.bytes - before
    assert metadata < blocks / 4
    shard.inspect(["c7"], encodings=True)
    assert shard.requests.bytes - before - metadata < blocks / 100


# ---- damage ----


def test_a_damaged_field_does_not_hide_the_others() -> None:
    shard = open_damaged(a=numbers([1, 2], "i8"), b=strings(["x", "y"]))
    assert shard.inspect().problems == ()  # metadata is sound
    layout = shard.inspect(encodings=True)
    assert [field.path for field in layout.fields] == ["a", "b"]
    assert len(layout.problems) == 2
    for field in layout.fields:
        assert field.problem is not None
        assert isinstance(field.problem.error, amudai.CorruptedData)
        assert "checksum" in field.problem.message
        assert field.bytes > 0
    assert "checksum" in layout.to_dict()["fields"][0]["problem"]
    with pytest.raises(amudai.CorruptedData, match="checksum"):
        _ = shard["a"].encodings
    assert shard["a"].encoded_bytes == layout.fields[0].bytes
    assert str(shard).count("unreadable: ") == 2


def test_a_damaged_descriptor_is_a_problem_of_its_field() -> None:
    shard = open_forged(Forge.of({"n": numbers([1, 2], "i8")}, broken_checksums=frozenset({"StripeFieldDescriptor"})))
    (field,) = shard.inspect().fields
    assert field.storage == "unreadable"
    assert field.problem is not None
    with pytest.raises(amudai.CorruptedData):
        _ = shard["n"].encoded_bytes


def test_the_sample_is_as_ever() -> None:
    layout = amudai.open(SAMPLE).inspect(encodings=True)
    assert {field.path: (field.bytes, field.encodings) for field in layout.fields[-1].walk()} == {
        "http": (2928, {"plain": 1}),
        "http.status": (1712, {"ffor": 1}),
        "http.path": (1040, {"dictionary(ffor)": 1}),
    }
