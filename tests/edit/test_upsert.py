"""Replacing rows by their keys, against a list of rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import HashIndex, TermIndex, col
from amudai.api.packing import kept_groups
from amudai.errors import InvalidSchema
from amudai.storage import MemoryStore
from tests.edit.test_deletes import INDEXES, check, rows_of, table_of
from tests.effort import examples

SCHEMA = table_of([]).schema


def upserted(rows: list[dict[str, Any]], new: list[dict[str, Any]], key: tuple[str, ...]) -> list[dict[str, Any]]:
    keys = {tuple(row[name] for name in key) for row in new}
    return [row for row in rows if tuple(row[name] for name in key) not in keys] + new


@pytest.mark.slow
@examples(20)
@given(
    count=st.integers(0, 40),
    layout=st.sampled_from(["single", "two-level"]),
    batches=st.lists(st.sets(st.integers(0, 60), max_size=12), min_size=1, max_size=3),
    policy=st.sampled_from(["keep", "merge", "rebuild", "drop"]),
    key=st.sampled_from([("n",), ("n", "t"), ("t",)]),
)
def test_any_sequence_of_upserts(
    count: int, layout: Any, batches: list[set[int]], policy: Any, key: tuple[str, ...]
) -> None:
    store = MemoryStore()
    rows = rows_of(count)
    indexes = [TermIndex("t"), HashIndex("n", "k")]
    shard = amudai.write(table_of(rows), "a/0", store=store, stripe_rows=16, layout=layout, indexes=indexes)
    for number, wanted in enumerate(batches, 1):
        new = [{**rows_of(61)[n], "k": f"batch {number}"} for n in sorted(wanted, reverse=True)]
        shard = amudai.upsert(shard, table_of(new), key, to=f"a/{number}", store=store, indexes=policy)
        rows = upserted(rows, new, key)
        assert shard.read().to_pylist() == rows
        assert shard.num_rows == len(rows)
        for where, expected in (
            (col("t").has("disk"), [row for row in rows if row["t"].startswith("disk")]),
            (col("k") == f"batch {number}", new),
            (col("n") == 7, [row for row in rows if row["n"] == 7]),
        ):
            assert shard.read(where=where).to_pylist() == expected
        assert shard.verify().ok
    assert amudai.open("a/0", store=store).read().to_pylist() == rows_of(count)


def test_the_hash_index_finds_the_keys(tmp_path: Path) -> None:
    rows = rows_of(30_000)
    shard = amudai.write(table_of(rows), tmp_path / "a", indexes=[HashIndex("t")], profile="plain")
    before = shard.requests.bytes
    new = [{"n": 5000, "t": "disk 1500", "k": None}]
    found = amudai.upsert(shard, table_of(new), key="t", to=tmp_path / "b")
    assert found.scan(where=col("t") == "disk 1500").positions().tolist() == [30_000]
    assert found.num_rows == 30_000
    assert shard.requests.bytes - before < shard["t"].encoded_bytes / 2


@pytest.mark.slow
def test_the_new_root_owns_the_file_of_the_new_rows(tmp_path: Path) -> None:
    shard = amudai.write(table_of(rows_of(10)), tmp_path / "a", indexes=INDEXES)
    amudai.upsert(shard, table_of(rows_of(3)), key="n", to=tmp_path / "b")
    (made,) = tmp_path.glob("*.amudai.stripe")
    later = amudai.upsert(shard, table_of(rows_of(2)), key="n", to=tmp_path / "b", overwrite=True)
    assert later.num_rows == 10
    assert made.exists()  # readers of the shard that was replaced may still need it
    assert amudai.collect_garbage(tmp_path / "b", older_than=timedelta(0)) == [made.as_uri()]
    assert later.verify().ok


@pytest.mark.slow
def test_kept_indexes_in_files_of_their_own_belong_to_the_shard(tmp_path: Path) -> None:
    source, target = tmp_path / "a.amudai.shard", tmp_path / "b.amudai.shard"
    amudai.write(table_of(rows_of(20)), source, layout="two-level", indexes=[TermIndex("t"), HashIndex("n")]).close()
    amudai.upsert(source, table_of([rows_of(5)[3]]), "n", to=target).close()
    source.unlink()
    amudai.gc(tmp_path, dry_run=False, older_than=timedelta(0))
    with amudai.open(target) as shard:
        assert shard.count(col("n") == 7) == 1
        assert shard.verify(deep=True).ok
        assert {file.url.rpartition("/")[2] for file in shard.files} == {path.name for path in tmp_path.iterdir()}
        copied = amudai.copy(shard, tmp_path / "copy.amudai.shard")
    assert copied.num_rows == 20
    assert copied.verify(deep=True).ok


@pytest.mark.parametrize("policy", ["keep", "merge", "rebuild", "drop"])
def test_deletes_and_upserts_together(tmp_path: Path, policy: Literal["keep", "merge", "rebuild", "drop"]) -> None:
    rows = rows_of(30)
    shard = amudai.write(table_of(rows), tmp_path / "a", stripe_rows=10, indexes=[TermIndex("t")])
    fewer = amudai.delete(shard, "n in (2, 3, 4)", to=tmp_path / "b")
    new = [{**rows[n], "t": "net again"} for n in (3, 20)]
    found = amudai.upsert(fewer, table_of(new), key="n", to=tmp_path / "c", indexes=policy)
    assert found.read()["n"].to_pylist() == [n for n in range(30) if n not in (2, 3, 4, 20)] + [3, 20]
    assert found.count(col("t").has("again")) == 2
    assert amudai.delete(found, col("t").has("again"), to=tmp_path / "d").num_rows == 26
    back = amudai.undelete(found, to=tmp_path / "e")
    assert back.num_rows == back.num_positions == 32
    assert back.count("n = 3") == 2


def test_types_that_are_stored_in_several_ways(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int32()), ("at", pa.timestamp("ns")), ("price", pa.decimal128(12, 2))])
    for number, options in enumerate(({}, {"timestamps": "int64", "decimals": "int64"})):
        # The nanoseconds of the first row need no field of their own. Those of the second do.
        first = pa.table([[1, 2], [100, 200], [Decimal("1.10"), Decimal("2.20")]], schema=schema)
        second = pa.table([[2], [201], [Decimal("9.99")]], schema=schema)
        shard = amudai.write(first, tmp_path / f"a{number}", **options)  # type: ignore[arg-type]
        found = amudai.upsert(shard, second, key="id", to=tmp_path / f"b{number}")
        assert found.read().equals(pa.concat_tables([first.slice(0, 1), second]))


@pytest.mark.parametrize(
    "keys",
    [
        pa.array([bytes([at] * 16) for at in range(4)], pa.uuid()),
        pa.ExtensionArray.from_storage(pa.json_(), pa.array(["0", "1", "2", "3"])),
        pa.array(["a", "b", "c", "d"], pa.string_view()),
        pa.array([b"a", b"b", b"c", b"d"], pa.binary_view()),
        pa.array(["a", "b", "c", "d"]).dictionary_encode(),
        pa.array([Decimal("0.1"), Decimal("1.1"), Decimal("2.1"), Decimal("3.1")], pa.decimal32(5, 1)),
        pa.array([0.5, -0.0, 2.5, 3.5], pa.float16()),
    ],
    ids=lambda keys: str(keys.type),
)
@pytest.mark.parametrize("key", ["k", ("k", "j")])
def test_keys_of_any_type(keys: pa.Array, key: Any, tmp_path: Path) -> None:
    table = pa.table({"k": keys, "j": [0, 1, 2, 3]})
    shard = amudai.write(table[:3], tmp_path / "a")
    found = amudai.upsert(shard, table[1:2], key, to=tmp_path / "b")
    assert found.read()["j"].to_pylist() == [0, 2, 1]
    assert amudai.upsert(shard, table[3:], key, to=tmp_path / "c").read()["j"].to_pylist() == [0, 1, 2, 3]
    with pytest.raises(amudai.InvalidArgument, match="each key once"):
        amudai.upsert(shard, pa.concat_tables([table, table[:1]]), key, to=tmp_path / "d")


def test_keys_that_are_no_numbers(tmp_path: Path) -> None:
    shard = amudai.write({"k": [0.0, 1.0]}, tmp_path / "a")
    assert amudai.upsert(shard, {"k": [-0.0]}, "k", to=tmp_path / "b").num_rows == 2
    with pytest.raises(amudai.InvalidArgument, match="found NaN, which equals no key"):
        amudai.upsert(shard, {"k": [float("nan")]}, "k", to=tmp_path / "c")
    with pytest.raises(amudai.InvalidArgument, match="each key once"):
        amudai.upsert(shard, {"k": [0.0, -0.0]}, "k", to=tmp_path / "c")


def test_no_rows_and_readers(tmp_path: Path) -> None:
    shard = amudai.write(table_of(rows_of(10)), tmp_path / "a", indexes=INDEXES)
    check(amudai.upsert(shard, table_of([]), key="n", to=tmp_path / "b"), rows_of(10), set())
    reader = pa.RecordBatchReader.from_batches(SCHEMA, table_of(rows_of(12)).to_batches(5))
    found = amudai.upsert(shard, reader, key=["n"], to=tmp_path / "c")
    assert (found.num_rows, found.num_positions) == (12, 22)


def test_wrong_arguments(tmp_path: Path) -> None:
    shard = amudai.write(table_of(rows_of(10)), tmp_path / "a")
    twice = rows_of(3) + rows_of(2)
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"key": "x"}, amudai.InvalidArgument, "key: expected a column of the shard, found 'x'"),
        ({"key": []}, amudai.InvalidArgument, "key: expected one or several columns"),
        ({"key": ["n", "n"]}, amudai.InvalidArgument, "key: expected one or several columns, each once"),
        ({"key": "k"}, amudai.InvalidArgument, "key: expected a value in each row, found a null"),
        ({"key": "n", "data": table_of(twice)}, amudai.InvalidArgument, "each key once, found n = 0 more than once"),
        (
            {"key": ["n", "t"], "data": table_of(twice)},
            amudai.InvalidArgument,
            "each key once, found n = 0, t = 'disk 0' more than once",
        ),
        ({"key": "n", "data": {"n": [1]}}, amudai.InvalidSchema, "."),
        ({"key": "n", "indexes": "some"}, amudai.InvalidArgument, "indexes: expected one of"),
    ]
    for options, kind, message in wrong:
        with pytest.raises(kind, match=message):
            amudai.upsert(shard, to=tmp_path / "b", **{"data": table_of(rows_of(8)), **options})
    with pytest.raises(amudai.InvalidArgument, match="to: expected another place than the shard"):
        amudai.upsert(shard, table_of([]), "n", to=tmp_path / "a", overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


def test_new_rows_get_internal_fields_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)  # the clock says when the rows came in
    when = datetime(2020, 1, 2, tzinfo=UTC)
    old = amudai.write(
        {"id": [1, 2], "name": ["a", "b"]}, tmp_path / "old.amudai.shard", ingestion_time=when, record_id=True
    )
    begin = datetime.now(UTC).replace(microsecond=0)
    new = amudai.upsert(old, {"id": [2, 3], "name": ["c", "d"]}, key="id", to=tmp_path / "new.amudai.shard")
    assert new.read().to_pydict() == {"id": [1, 2, 3], "name": ["a", "c", "d"]}
    # Positions 0 and 1 are the old rows, 2 and 3 the new ones.
    times = new.internal["IngestionTimestamp"].read().to_pylist()
    assert times[:1] == old.internal["IngestionTimestamp"].read().to_pylist()[:1]
    assert all(begin <= each.to_pydatetime() <= datetime.now(UTC) for each in times[-2:])
    assert new.scan(where=amudai.col("@IngestionTimestamp") > when).count() == 2
    identities = new.internal["RecordIdentity"].read().to_pylist()
    assert len(set(identities)) == len(identities)
    assert None not in identities
    assert old.internal["RecordIdentity"].read().to_pylist()[0] == identities[0]


def test_new_rows_have_no_internal_fields_if_the_shard_has_none(tmp_path: Path) -> None:
    old = amudai.write({"id": [1, 2]}, tmp_path / "old.amudai.shard")
    new = amudai.upsert(old, {"id": [2]}, key="id", to=tmp_path / "new.amudai.shard")
    assert "Kusto.Amudai.IngestionTimestamp" not in new.internal
    assert "Kusto.Amudai.RecordIdentity" not in new.internal


def test_a_key_whose_name_is_also_a_path(tmp_path: Path) -> None:
    rows = pa.table({"a.b": [1, 2, 3], "a": [{"b": 3}, {"b": 3}, {"b": 1}], "c": ["x", "x", "y"], "`q`": [7, 8, 9]})
    shard = amudai.write(rows, tmp_path / "old.amudai.shard")
    new = rows.slice(2)
    for key in ("a.b", ["a.b", "c"], "`q`", ["`q`", "a.b"]):
        found = amudai.upsert(shard, new, key=key, to=tmp_path / "new.amudai.shard", overwrite=True)
        assert found.read() == rows, key


def test_structs_in_structs_that_are_packed(tmp_path: Path) -> None:
    inner = [{"q": 0.5, "r": "a"}, None, {"q": 1.5, "r": "b"}, {"q": 2.5, "r": "c"}]
    rows = pa.table({"k": range(4), "s": [{"x": at, "y": f"b{at}", "z": each} for at, each in enumerate(inner)]})
    shard = amudai.write(rows, tmp_path / "old.amudai.shard", packed=True)
    changed = amudai.upsert(shard, rows.slice(1, 2), key="k", to=tmp_path / "new.amudai.shard")
    assert changed.read()["k"].to_pylist() == [0, 3, 1, 2]
    packed = amudai.compact(changed, tmp_path / "packed.amudai.shard", sort_by="k")
    assert packed.read() == rows
    assert kept_groups(packed._reader) == {"packed_groups": [["s.x", "s.y"], ["s.z.q", "s.z.r"]]}


def test_a_shard_that_was_opened_with_fewer_columns(tmp_path: Path) -> None:
    """Rows are replaced as a whole: columns that nobody sees must not become null."""
    path, to = tmp_path / "old.amudai.shard", tmp_path / "new.amudai.shard"
    amudai.write({"id": [1, 2], "name": ["a", "b"], "price": [1.5, 2.5]}, path)
    shard = amudai.open(path, schema=pa.schema([("id", pa.int64()), ("name", pa.string())]))
    with pytest.raises(InvalidSchema, match="price"):
        amudai.upsert(shard, {"id": [2], "name": ["c"]}, key="id", to=to)
    found = amudai.upsert(shard, {"id": [2], "name": ["c"], "price": [3.5]}, key="id", to=to)
    assert found.read().to_pydict() == {"id": [1, 2], "name": ["a", "c"], "price": [1.5, 3.5]}


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        (pa.time64("ns"), [1, 12345678901]),
        (pa.dictionary(pa.int8(), pa.timestamp("ns")), [1, 1_700_000_000_000_000_101]),
        (pa.timestamp("s", "Europe/Berlin"), [0, 253402300799]),
    ],
)
def test_keys_that_no_time_of_python_holds(tmp_path: Path, kind: pa.DataType, keys: list[int]) -> None:
    """Nanoseconds are no part of Python's times, and in Berlin the last hour of the year 9999 is in the year 10000."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    column = pa.array(keys, pa.int64()).cast(plain)
    column = column.dictionary_encode().cast(kind) if pa.types.is_dictionary(kind) else column
    shard = amudai.write(pa.table({"k": column, "n": [1, 2]}), tmp_path / "old.amudai.shard")
    new = pa.table({"k": column, "n": [3, 4]})
    assert amudai.upsert(shard, new, key="k", to=tmp_path / "new.amudai.shard").read() == new
    assert shard.scan(where=col("k").isin(list(column))).positions().tolist() == [0, 1]


def test_no_rows_at_all_with_an_index_of_the_whole_key(tmp_path: Path) -> None:
    rows = pa.table({"a": [1, 2], "b": ["x", "y"]})
    shard = amudai.write(rows, tmp_path / "old.amudai.shard", indexes=[HashIndex(("a", "b"))])
    assert shard.count(col("a").isin([]) & (col("b") == "x")) == 0
    assert amudai.upsert(shard, rows.slice(2), key=["a", "b"], to=tmp_path / "new.amudai.shard").read() == rows
