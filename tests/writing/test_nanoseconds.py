"""Nanoseconds that are not multiples of 100: ticks, and a hidden field with the rest."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai.api import writing
from amudai.column import Projection, StoredValues
from amudai.errors import CorruptedData, InvalidArgument, MissingColumn
from amudai.format.wire import amudai_pb2 as wire
from amudai.rows import Rows
from amudai.types import NANOSECONDS, SchemaNode
from tests.effort import examples
from tests.forge import Column, Forge, constants, datetimes, missing, numbers, open_forged
from tests.writing.exact import assert_exact, kept, names

EPOCH = 621_355_968_000_000_000
KINDS = [pa.timestamp("ns"), pa.timestamp("ns", "Europe/Vienna"), pa.duration("ns")]
FIRST, LAST = -(2**63), 2**63 - 1
NOON = 1_700_000_000_000_000_000

wide = st.integers(FIRST, LAST)
edges = st.sampled_from([FIRST, FIRST + 7, FIRST + 8, FIRST + 108, -101, -100, -99, -1, 0, 1, 99, 100, LAST - 7, LAST])
whole = st.integers(FIRST // 100 + 1, LAST // 100).map(lambda tick: 100 * tick)
near = st.integers(NOON, NOON + 1000)


def stored(shard: amudai.Shard) -> tuple[SchemaNode, ...]:
    return shard._reader.schema.fields()


def hidden(shard: amudai.Shard) -> list[str]:
    return [node.name for node in stored(shard) if node.internal == NANOSECONDS]


def storages(shard: amudai.Shard, name: str) -> list[str]:
    return [field.storage for stripe in shard.inspect().stripes for field in stripe.fields if field.name == name]


# ---- round trips ----


@examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(KINDS),
    values=st.lists(st.none() | st.one_of(wide, edges, whole, near), max_size=40),
    profile=st.sampled_from(["plain", "minimal_compression", "balanced", "high_compression"]),
    layout=st.sampled_from(["single", "two-level"]),
    stripe_rows=st.sampled_from([None, 1, 7]),
    threads=st.sampled_from([1, 3]),
)
def test_any_nanosecond_comes_back(
    kind: pa.DataType,
    values: list[int | None],
    profile: str,
    layout: str,
    stripe_rows: int | None,
    threads: int,
    tmp_path: Path,
) -> None:
    table = pa.table({"n": range(len(values)), "at": pa.array(values, kind)})
    shard = kept(table, tmp_path, profile=profile, layout=layout, stripe_rows=stripe_rows, threads=threads)
    fine = any(value is not None and value % 100 for value in values)
    assert hidden(shard) == (["at:nanoseconds"] if fine else [])
    rows = list(range(len(values)))[::-2]
    assert_exact(shard.take(rows), table.take(pa.array(rows, pa.int64())))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_wrapped_nanoseconds(kind: pa.DataType, tmp_path: Path) -> None:
    values = pa.array([1, None, -1, NOON + 23, -1, -1], kind)
    table = pa.table(
        {
            "dictionary": values.dictionary_encode(),
            "runs": pa.compute.run_end_encode(values),
            "slice": pa.concat_arrays([values, values]).slice(3, 6),
            "garbage": pa.Array.from_buffers(
                kind, 6, [pa.py_buffer(b"\x05"), pa.py_buffer(np.array([1, 7, 200, 7, 7, 7], np.int64))]
            ),
        }
    )
    shard = kept(table, tmp_path)
    assert hidden(shard) == [f"{name}:nanoseconds" for name in table.column_names]


def test_many_rows(tmp_path: Path) -> None:
    """More rows than a batch, an encoder's flush and a block, with zeros before the first rest."""
    count = 300_000
    times = NOON + np.arange(count, dtype=np.int64) * 1_000_000_100
    times[200_000:] += np.arange(count - 200_000) % 7
    shard = kept(pa.table({"at": pa.array(times, pa.timestamp("ns"))}), tmp_path)
    assert hidden(shard) == ["at:nanoseconds"]


def test_pandas(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "at": pd.to_datetime([NOON + 1, None, -12_345], unit="ns", utc=True).astype("datetime64[ns, UTC]"),
            "took": pd.to_timedelta([1, 2, None], unit="ns").astype("timedelta64[ns]"),
        }
    )
    shard = amudai.write(frame, tmp_path / "t.amudai.shard")
    pd.testing.assert_frame_equal(shard.to_pandas(), frame)
    assert shard.scan(where=amudai.col("at") == frame["at"][0]).positions().tolist() == [0]
    assert shard.scan(where=amudai.col("at") < pd.Timestamp(-12_344, tz="UTC")).positions().tolist() == [2]
    assert shard.scan(where=amudai.col("took").isin([pd.Timedelta(2)])).positions().tolist() == [1]


def test_below_the_top_they_are_integers(tmp_path: Path) -> None:
    kind = pa.struct([("at", pa.timestamp("ns")), ("took", pa.list_(pa.duration("ns")))])
    values = [{"at": NOON + 1, "took": [1, None]}, None, {"at": FIRST, "took": []}]
    table = pa.table(
        {"s": pa.array(values, kind), "m": pa.array([[("k", LAST)], [], None], pa.map_("string", KINDS[0]))}
    )
    shard = kept(table, tmp_path)
    assert hidden(shard) == []
    assert [str(node) for node in stored(shard)] == [
        "struct<at: int64, took: list<int64>>",
        "map<string, int64>",
    ]
    at = amudai.col("s.at")
    assert shard.scan(where=at == pa.scalar(NOON + 1, KINDS[0])).positions().tolist() == [0]
    assert shard.scan(where=at < pa.scalar(NOON + 1, KINDS[0])).positions().tolist() == [2]


def test_raw_integers_need_no_hidden_field(tmp_path: Path) -> None:
    shard = kept(pa.table({"at": pa.array([1, FIRST], pa.timestamp("ns"))}), tmp_path, timestamps="int64")
    assert [str(node) for node in stored(shard)] == ["int64"]


# ---- what is stored ----


def test_the_bytes(tmp_path: Path) -> None:
    """As docs/format/values.md has them."""
    times = pa.array([NOON + 123_456_789, None, -1, FIRST], pa.timestamp("ns"))
    shard = amudai.write(pa.table({"at": times, "n": range(4)}), tmp_path / "t.amudai.shard")
    at, n, rest = stored(shard)
    assert (at.name, str(at), n.name) == ("at", "datetime", "n")
    assert (rest.name, str(rest), rest.schema_id, rest.internal) == ("at:nanoseconds", "uint8", 2, "amudai.Nanoseconds")
    ticks = amudai.open(shard.url, schema={"at": pa.uint64()}).read(["at"])
    assert ticks["at"].to_pylist() == [638_355_968_001_234_567, None, EPOCH - 1, EPOCH - 92_233_720_368_547_759]
    (stripe,) = shard._reader.stripes
    found = stripe.column(rest).read(Rows.all(stripe.origin), Projection(rest))
    assert isinstance(found, StoredValues)
    assert found.values.numbers("u1").tolist() == [89, 0, 99, 92]
    assert found.values.nulls == 0


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_whole_ticks_leave_no_trace(layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are the same as those of a writer that knows no hidden fields: their names and their bytes."""
    times = pa.array([None, *range(0, 100_000, 100)], pa.timestamp("ns"))
    table = pa.table({"at": times, "n": range(1001), "took": times.cast("int64").cast(pa.duration("ns"))})
    files = []
    for folder in (tmp_path / "here", tmp_path / "there"):
        folder.mkdir()
        amudai.write(table, folder / "t.amudai.shard", layout=layout, stripe_rows=600)
        files.append({name: (folder / name).read_bytes() for name in names(folder)})
        monkeypatch.setattr(writing, "nanosecond_nodes", lambda _, columns: (None,) * len(columns))
    assert files[0] == files[1]


def test_rests_that_come_late(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.timestamp("ns")), ("b", pa.duration("ns")), ("c", pa.timestamp("ns"))])
    batches = [
        {"a": [100, 200], "b": [100, None], "c": [None, 0]},
        {"a": [100, 200], "b": [1, 300], "c": [100, 0]},
        {"a": [100, 200], "b": [100, 300], "c": [0, 199]},
        {"a": [100, 200], "b": [47, 47], "c": [0, 199]},
    ]
    with amudai.ShardWriter(tmp_path / "t.amudai.shard", schema) as out:
        for batch in batches:
            out.write(batch)
            out.end_stripe()
    shard = amudai.open(tmp_path / "t.amudai.shard")
    assert hidden(shard) == ["b:nanoseconds", "c:nanoseconds"]
    assert [node.schema_id for node in stored(shard)] == [0, 1, 2, 3, 4]
    assert storages(shard, "b:nanoseconds") == ["constant", "blocks", "constant", "constant"]
    assert storages(shard, "c:nanoseconds") == ["constant", "constant", "blocks", "blocks"]
    expected = pa.concat_tables([pa.table(batch, schema=schema) for batch in batches])
    assert_exact(shard.read(), expected)
    assert shard.verify().ok


def test_rests_within_a_stripe_that_come_late(tmp_path: Path) -> None:
    schema = pa.schema([("at", pa.timestamp("ns"))])
    with amudai.ShardWriter(tmp_path / "t.amudai.shard", schema) as out:
        out.write({"at": [100, 200]})
        out.write({"at": [None, 301]})
        out.write({"at": [400]})
    found = amudai.open(tmp_path / "t.amudai.shard").read()["at"].cast("int64").to_pylist()
    assert found == [100, 200, None, 301, 400]


def test_no_rows(tmp_path: Path) -> None:
    shard = kept(pa.table({"at": pa.array([], pa.timestamp("ns"))}), tmp_path)
    assert hidden(shard) == []


def test_a_constant_tick_with_different_rests(tmp_path: Path) -> None:
    shard = kept(pa.table({"at": pa.array([101, 102, 103], pa.timestamp("ns"))}), tmp_path)
    assert storages(shard, "at") == ["constant"]
    assert shard.scan(where=amudai.col("at") == pa.scalar(102, pa.timestamp("ns"))).positions().tolist() == [1]


# ---- who sees the hidden field ----


@pytest.fixture
def shard(tmp_path: Path) -> amudai.Shard:
    times = pa.array([NOON + 1, None, NOON + 102], pa.timestamp("ns"))
    return amudai.write(pa.table({"at": times, "n": [1, 2, 3]}), tmp_path / "t.amudai.shard")


def test_nobody_sees_the_hidden_field(shard: amudai.Shard) -> None:
    assert shard.schema.names == shard.read().column_names == ["at", "n"]
    assert [column.name for column in shard.columns] == ["at", "n"]
    assert "nanoseconds" not in str(shard)
    for use in (
        lambda name: shard.read([name]),
        lambda name: shard[name],
        lambda name: shard.count(amudai.col(name) == 1),
        lambda name: amudai.open(shard.url, schema={name: pa.int8()}).schema,
        lambda name: amudai.add_indexes(shard, [amudai.HashIndex(name)], shard.url.replace("t.amudai", "u.amudai")),
    ):
        with pytest.raises(MissingColumn) as caught:
            use("at:nanoseconds")  # type: ignore[no-untyped-call]
        assert "one of at, n" in str(caught.value) or "expected columns of the shard" in str(caught.value)


def test_inspect_shows_the_hidden_field(shard: amudai.Shard) -> None:
    assert [field.path for field in shard.inspect().fields] == ["at", "n", "at:nanoseconds"]


def test_other_types(shard: amudai.Shard) -> None:
    """Another type gets what it can hold, or an error. Raw ticks are the stored ones."""
    assert amudai.open(shard.url, schema={"at": pa.int64()}).read()["at"][0].as_py() == EPOCH + NOON // 100
    for kind in (pa.timestamp("us"), pa.date32()):
        with pytest.raises(InvalidArgument, match="finer than its unit"):
            amudai.open(shard.url, schema={"at": kind}).read()


def test_statistics_are_bounds(shard: amudai.Shard) -> None:
    stats = shard["at"].stats
    assert pd.Timestamp(NOON + 1 - 99) <= stats.min <= pd.Timestamp(NOON + 1)
    assert pd.Timestamp(NOON + 102) <= stats.max <= pd.Timestamp(NOON + 102 + 99)
    assert stats.null_count == 1


def test_statistics_of_the_extremes(tmp_path: Path) -> None:
    table = pa.table({"at": pa.array([FIRST, 0, 199, LAST], pa.duration("ns"))})
    stats = amudai.write(table, tmp_path / "t.amudai.shard")["at"].stats
    assert (stats.min, stats.max) == (None, None)


def test_indexes_can_be_added(shard: amudai.Shard) -> None:
    target = shard.url.replace("t.amudai", "u.amudai")
    found = amudai.add_indexes(shard, [amudai.HashIndex("at")], target)
    assert_exact(found.read(), shard.read())
    assert found.verify().ok
    assert found.scan(where=amudai.col("at") == pa.scalar(NOON + 102, KINDS[0])).positions().tolist() == [2]
    assert found.scan(where=amudai.col("at") == pa.scalar(NOON + 103, KINDS[0])).positions().tolist() == []


def test_tasks_read_it(shard: amudai.Shard) -> None:
    scan = shard.scan(where=amudai.col("at") > pa.scalar(NOON + 1, KINDS[0]))
    (task,) = pickle.loads(pickle.dumps(scan.tasks(1)))
    assert task.to_table()["n"].to_pylist() == [3]


# ---- shards of others ----


def rests(values: list[int | None]) -> Column:
    return replace(numbers(values, "u1"), internal=NANOSECONDS)


def test_a_stripe_without_the_field_has_whole_ticks() -> None:
    times = datetimes([EPOCH, EPOCH + 1])
    forge = Forge.of(
        {"at": times, "at:nanoseconds": rests([1, 2])}, {"at": times, "at:nanoseconds": missing(rests([]))}
    )
    found = open_forged(forge).read()
    assert found.column_names == ["at"]
    assert found["at"].cast("int64").to_pylist() == [1, 102, 0, 100]


def test_a_rest_that_is_null_is_zero() -> None:
    found = open_forged(Forge.of({"at": datetimes([EPOCH, EPOCH]), "at:nanoseconds": rests([5, None])})).read()
    assert found["at"].cast("int64").to_pylist() == [5, 0]


def test_other_internal_fields_are_not_taken_for_nanoseconds() -> None:
    other = replace(numbers([5], "u1"), internal="somebody.Else")
    found = open_forged(Forge.of({"at": datetimes([EPOCH]), "at:nanoseconds": other})).read()
    assert found["at"].cast("int64").to_pylist() == [0]
    visible = open_forged(Forge.of({"at": datetimes([EPOCH]), "at:nanoseconds": numbers([5], "u1")})).read()
    assert visible.to_pydict()["at:nanoseconds"] == [5]
    assert visible["at"].cast("int64").to_pylist() == [0]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (rests([3, 100]), r"nanoseconds after a tick: expected 0\.\.99, found 100"),
        (constants(rests([]), 2, wire.AnyValue(u64_value=200)), r"expected 0\.\.99, found 200"),
        (constants(rests([]), 2, "x"), "constant_value: expected u64"),
        (replace(numbers([1, 2], "i1"), internal=NANOSECONDS), "expected uint8, found int8"),
        (replace(numbers([1, 2], "u2"), internal=NANOSECONDS), "expected uint8, found uint16"),
    ],
    ids=["100", "constant", "text", "signed", "wide"],
)
def test_hostile_rests(column: Column, said: str) -> None:
    shard = open_forged(Forge.of({"at": datetimes([EPOCH, EPOCH]), "at:nanoseconds": column}))
    with pytest.raises(CorruptedData, match=said) as caught:
        shard.read()
    assert "at" in str(caught.value)
    assert not shard.verify().ok


def test_a_claim_of_many_constants() -> None:
    """Constants can claim any number of rows: nothing is allocated before the claim is compared with the memory."""
    count = 1 << 50
    times = constants(datetimes([]), count, wire.AnyValue(u64_value=EPOCH))
    shard = open_forged(
        Forge.of({"at": times, "at:nanoseconds": constants(rests([]), count, wire.AnyValue(u64_value=5))})
    )
    with pytest.raises(InvalidArgument, match="do not fit into memory"):
        shard.read()
    assert shard.take([7, count - 1])["at"].cast("int64").to_pylist() == [5, 5]
    where = amudai.col("at") == pa.scalar(5, pa.timestamp("ns"))
    assert shard.scan(where=where).count() == count
