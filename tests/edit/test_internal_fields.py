"""Internal fields that writers fill, creation times, and reading both."""

from __future__ import annotations

import os
import pickle
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai import TermIndex, col
from amudai.errors import InvalidArgument, MissingColumn
from amudai.shard import ShardReader
from tests.writing.exact import assert_exact

WHEN = datetime(2026, 5, 4, 3, 2, 1, 500, tzinfo=UTC)
TABLE = pa.table({"at": pa.array([1, 150, None], pa.timestamp("ns")), "word": ["x", "y", None]})


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_times_and_identities_are_hidden_but_there(tmp_path: Path, layout: Any) -> None:
    place = tmp_path / "t.amudai.shard"
    shard = amudai.write(
        TABLE, place, ingestion_time=WHEN, record_id=b"0123456789", stripe_rows=2, layout=layout, created=WHEN
    )
    assert_exact(shard.read(), TABLE)
    assert shard.schema.names == ["at", "word"]
    assert list(shard.internal) == ["Kusto.Amudai.IngestionTimestamp", "Kusto.Amudai.RecordIdentity"]
    times = shard.internal["IngestionTimestamp"].read().to_pylist()
    assert [each.to_pydatetime() for each in times] == [WHEN] * 3
    ids = [b"0123456789" + at.to_bytes(6, "big") for at in range(3)]
    assert shard.internal["Kusto.Amudai.RecordIdentity"].read().to_pylist() == ids
    assert shard.verify().ok
    assert shard.read(["word", "@RecordIdentity"]).column(1).to_pylist() == ids
    before, after = WHEN - timedelta(seconds=1), WHEN + timedelta(seconds=1)
    assert shard.count(where=col("@IngestionTimestamp").between(before, after)) == 3
    assert shard.count(where=col("@Kusto.Amudai.IngestionTimestamp") > after) == 0
    assert shard.scan(where=col("@RecordIdentity") == ids[2]).positions().tolist() == [2]
    assert shard.count(where="`@IngestionTimestamp` < datetime(2026-05-05T00:00Z) and word = 'y'") == 1


def test_operations_keep_internal_fields_and_creation_times(tmp_path: Path) -> None:
    shard = amudai.write(TABLE, tmp_path / "0.amudai.shard", ingestion_time=WHEN, record_id=True, created=WHEN)
    ids = shard.internal["RecordIdentity"].read()
    assert len(set(ids.to_pylist())) == 3
    for number, change in enumerate(
        (
            lambda to: amudai.with_columns(shard, {"n": [1, 2, 3]}, to),
            lambda to: amudai.with_columns(shard, {"at": [1, 2, 3]}, to, replace=True),
            lambda to: amudai.drop_columns(shard, ["at"], to),
            lambda to: amudai.rename_columns(shard, {"at": "when"}, to),
            lambda to: amudai.add_indexes(shard, [TermIndex("word")], to),
        ),
        1,
    ):
        new = change(tmp_path / f"{number}.amudai.shard")
        assert new.internal["RecordIdentity"].read().equals(ids)
        assert new.internal["IngestionTimestamp"].stats.null_count == 0
        assert new.created == (WHEN, WHEN)
        assert new.verify().ok


def test_a_column_may_have_the_name_of_an_internal_field(tmp_path: Path) -> None:
    rows = {"@IngestionTimestamp": [7, 8]}
    shard = amudai.write(rows, tmp_path / "t.amudai.shard", ingestion_time=WHEN)
    assert shard.read(["@IngestionTimestamp"]).to_pydict() == rows
    assert shard.count(where=col("@IngestionTimestamp") == 8) == 1


def test_internal_fields_that_are_not_there(tmp_path: Path) -> None:
    shard = amudai.write(TABLE, tmp_path / "t.amudai.shard")
    assert dict(shard.internal) == {}
    assert "at:nanoseconds" in [node.name for node in ShardReader(shard.url).schema.fields()]
    with pytest.raises(
        MissingColumn, match="internal field 'RecordIdentity': expected one of the shard, which has none"
    ):
        shard.internal["RecordIdentity"]
    with pytest.raises(MissingColumn, match="column '@RecordIdentity': expected one of at, word"):
        shard.read(["@RecordIdentity"])


def test_rows_get_the_time_at_which_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    begin = datetime.now(UTC)
    with amudai.ShardWriter(tmp_path / "t.amudai.shard", TABLE.schema, ingestion_time=True) as out:
        out.write(TABLE)
        out.write(TABLE)
    shard = amudai.open(tmp_path / "t.amudai.shard")
    times = [each.to_pydatetime() for each in shard.internal["IngestionTimestamp"].read().to_pylist()]
    assert len(times) == 6
    assert begin <= times[0] == times[2] <= times[3] == times[5] <= datetime.now(UTC)
    assert shard.created is not None
    assert begin <= shard.created[0] == shard.created[1] <= datetime.now(UTC)


def test_the_same_options_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH")

    def written(**options: Any) -> bytes:
        amudai.write(TABLE, tmp_path / "t.amudai.shard", overwrite=True, **options)
        return (tmp_path / "t.amudai.shard").read_bytes()

    fixed: dict[str, Any] = {"created": WHEN, "ingestion_time": WHEN, "record_id": b"0123456789"}
    assert written(**fixed) == written(**fixed)
    assert written(created=WHEN) == written(created=WHEN.astimezone(timezone(timedelta(hours=2))))
    assert written() != written()
    assert written(created=WHEN, record_id=True) != written(created=WHEN, record_id=True)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    assert written() == written()
    assert amudai.open(tmp_path / "t.amudai.shard").created == (datetime(2026, 1, 1, tzinfo=UTC),) * 2
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(InvalidArgument, match="SOURCE_DATE_EPOCH: expected a number of seconds from 1970"):
        written()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"created": datetime(2026, 1, 1)}, "created: expected a datetime with a time zone"),
        ({"ingestion_time": "now"}, "ingestion_time: expected a datetime with a time zone, found 'now'"),
        ({"record_id": b"short"}, "record_id: expected True, False or 10 bytes, found b'short'"),
        ({"record_id": 7}, "record_id: expected True, False or 10 bytes, found 7"),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        amudai.write(TABLE, tmp_path / "t.amudai.shard", **options)
    assert os.listdir(tmp_path) == []


# ---- a whole schema ----

WHOLE = pa.schema(
    [
        ("tags", pa.list_(pa.string())),
        pa.field("word", pa.large_string(), metadata={"k": "v"}),
        ("price", pa.decimal128(9, 2)),
        ("at", pa.timestamp("ns")),
        ("later", pa.timestamp("ns")),
        ("place", pa.struct([("x", pa.int8())])),
    ],
    metadata={"owner": "ops"},
)


@pytest.mark.parametrize("stripe_rows", [None, 2])
def test_a_whole_schema_says_columns_order_and_types(tmp_path: Path, stripe_rows: int | None) -> None:
    amudai.write(TABLE.append_column("n", pa.array([1, 2, 3])), tmp_path / "t.amudai.shard", stripe_rows=stripe_rows)
    shard = amudai.open(tmp_path / "t.amudai.shard", schema=WHOLE)
    columns = [
        TABLE[field.name].cast(field.type) if field.name in TABLE.column_names else pa.nulls(3, field.type)
        for field in WHOLE
    ]
    expected = pa.table(columns, schema=WHOLE)
    assert_exact(shard.read(), expected)
    assert shard.schema.equals(WHOLE, check_metadata=True)
    assert shard.take([2, 0], ["price", "word"]).to_pydict() == {"price": [None, None], "word": [None, "x"]}
    assert shard.count(where=col("price").is_null()) == 3
    assert shard.count(where=col("tags").is_null() & (col("word") == "y")) == 1
    assert shard.count(where=(col("later") > datetime(2026, 1, 1)) | (col("place.x") == 1)) == 0
    assert shard.count(where=~(col("price") > 1)) == 0
    assert shard["price"].stats.null_count == 3
    with pytest.raises(MissingColumn, match="column 'n': expected one of tags, word"):
        shard.read(["n"])
    tasks = pickle.loads(pickle.dumps(shard.scan(["place", "at"]).tasks(2)))
    found = pa.concat_tables([task.to_table() for task in tasks])
    assert_exact(found, expected.select(["place", "at"]).replace_schema_metadata(None))


def test_whole_schemas_that_cannot_be(tmp_path: Path) -> None:
    amudai.write(TABLE, tmp_path / "t.amudai.shard")
    strict = pa.schema([pa.field("n", pa.int8(), nullable=False)])
    with pytest.raises(InvalidArgument, match="schema: expected a column 'n', which is not null, found none"):
        amudai.open(tmp_path / "t.amudai.shard", schema=strict).read()
    with pytest.raises(InvalidArgument, match="word"):
        amudai.open(tmp_path / "t.amudai.shard", schema=pa.schema([("word", pa.int8())])).read()
