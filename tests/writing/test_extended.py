"""What a shard for readers of this library alone may use: numbers as codes of a dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai import col
from amudai.format import BufferKind, NativeEncoding
from tests.effort import examples
from tests.oracle import dictionary as oracle
from tests.writing.arrays import Maker, kinds
from tests.writing.exact import assert_exact, kept

ROWS = 80_000
DISTINCT = 5000


def few_numbers() -> pa.Table:
    """Columns whose blocks of numbers are large, although there are few distinct numbers."""
    random = np.random.default_rng(3)
    ids = random.integers(-(1 << 62), 1 << 62, DISTINCT)
    floats = random.random(DISTINCT)
    floats[:4] = [0.0, -0.0, np.nan, np.inf]
    codes = random.integers(0, DISTINCT, ROWS)
    nulls = random.random(ROWS) < 0.1
    return pa.table(
        {
            "id": ids[codes],
            "some": pa.array(ids[codes], mask=nulls),
            "price": floats[codes],
            "at": pa.array(ids[codes] // 100 * 100, pa.timestamp("ns")),
            "took": pa.array(ids[codes] // 100 * 100, pa.duration("ns")),
            "small": pa.array(floats[codes].astype(np.float32)),
            "unsigned": ids[codes].view(np.uint64),
            "nested": pa.StructArray.from_arrays([pa.array(ids[codes])], ["id"], mask=pa.array(nulls)),
        }
    )


def storages(shard: amudai.Shard, *paths: str) -> set[str]:
    return {field.storage for stripe in shard.inspect().stripes for field in stripe.fields if field.name in paths}


@pytest.mark.slow
def test_numbers_become_codes_where_that_is_smaller(tmp_path: Path) -> None:
    table = few_numbers()
    plain = amudai.write(table, tmp_path / "p.amudai.shard")
    shard = kept(table, tmp_path, compatibility="extended")
    coded = ("id", "some", "price", "at", "took", "small", "unsigned", "nested.id")
    assert storages(shard, *coded) == {"dictionary"}
    assert storages(plain, *coded) == {"blocks"}
    assert shard.size < 0.9 * plain.size
    assert shard.verify(deep=True).ok
    for where in (
        "id > 0",
        "some < 0",
        "price >= 0.5",
        "at > datetime(2000-01-01)",
        "unsigned > 9223372036854775808",
        "nested.id < 0",
    ):
        assert shard.scan(where=where).positions().tolist() == plain.scan(where=where).positions().tolist(), where
    some = table["id"][5].as_py()
    assert (
        shard.scan(where=col("id") == some).positions().tolist()
        == plain.scan(where=col("id") == some).positions().tolist()
    )


def test_the_entries_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    shard = amudai.write(few_numbers(), tmp_path / "t.amudai.shard", compatibility="extended")
    reader = shard._reader
    nodes = {node.name: node for node in reader.schema.fields()}
    for name, code in (("id", "<i8"), ("some", "<i8"), ("price", "<f8"), ("unsigned", "<u8")):
        stored = reader.stripes[0].descriptor(nodes[name])
        assert stored is not None
        (encoding,) = stored.encodings
        assert isinstance(encoding, NativeEncoding)
        found = encoding.find(BufferKind.VALUE_DICTIONARY)
        assert found is not None
        assert found.buffer is not None
        content = Path(shard.url.removeprefix("file://")).read_bytes()[found.buffer.start : found.buffer.end]
        entries, order = oracle.decode(content), oracle.decode_sorted_ids(content)
        assert order is not None
        assert len(entries) == stored.field.dictionary_size
        ascending = np.frombuffer(b"".join(entries[at] or b"" for at in order), code)
        assert (ascending[1:][~np.isnan(ascending[1:])] >= ascending[:-1][~np.isnan(ascending[1:])]).all()
        assert {entries.index(None)} if None in entries else set() == set(range(len(entries))) - set(order)


def test_numbers_that_differ_stay_in_blocks(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    table = pa.table({"x": random.random(ROWS), "n": np.arange(ROWS), "one": np.full(ROWS, 5)})
    shard = kept(table, tmp_path, compatibility="extended")
    assert storages(shard, "x", "n") == {"blocks"}
    assert storages(shard, "one") == {"constant"}
    many = np.concatenate([np.zeros(100_000, np.int64), random.integers(0, 1 << 60, 200_000)])
    assert storages(kept(pa.table({"n": many}), tmp_path, compatibility="extended"), "n") == {"blocks"}


def test_the_plain_profile_has_no_dictionaries(tmp_path: Path) -> None:
    shard = amudai.write(few_numbers(), tmp_path / "t.amudai.shard", profile="plain", compatibility="extended")
    assert storages(shard, "id", "price") == {"blocks"}


@pytest.mark.slow
def test_edits_of_extended_shards(tmp_path: Path) -> None:
    table = few_numbers()
    shard = amudai.write(
        table,
        tmp_path / "t.amudai.shard",
        compatibility="extended",
        stripe_rows=60_000,
        indexes=[amudai.HashIndex("id")],
    )
    some = table["id"][5].as_py()
    expected = np.flatnonzero(table["id"].to_numpy() == some)
    assert shard.scan(where=col("id") == some).positions().tolist() == expected.tolist()
    less = amudai.delete(shard, col("id") == some, to=tmp_path / "d.amudai.shard")
    rest = table.filter(pa.array(table["id"].to_numpy() != some))
    assert_exact(less.read(), rest)
    twice = amudai.merge([shard, less], tmp_path / "m.amudai.shard")
    assert_exact(twice.read(), pa.concat_tables([table, rest]))
    again = amudai.compact(less, tmp_path / "c.amudai.shard", compatibility="extended")
    assert storages(again, "id", "price") == {"dictionary"}
    assert_exact(again.read(), rest)
    plain = amudai.compact(less, tmp_path / "p.amudai.shard")
    assert storages(plain, "id", "price") == {"blocks"}
    more = amudai.with_columns(shard, {"more": table["id"]}, tmp_path / "w.amudai.shard", compatibility="extended")
    assert storages(more, "more") == {"dictionary"}
    assert more.read(["more"])["more"].equals(table["id"])
    saved = amudai.salvage(shard, tmp_path / "s.amudai.shard", compatibility="extended")
    assert storages(saved.shard, "id") == {"dictionary"}
    assert_exact(saved.shard.read(), table)
    assert_exact(amudai.copy(twice, tmp_path / "y.amudai.shard").read(), twice.read())


@pytest.mark.parametrize("word", ["all", None, True])
def test_other_words_are_refused(tmp_path: Path, word: Any) -> None:
    with pytest.raises(amudai.InvalidArgument, match="compatibility: expected reference or extended, found"):
        amudai.write({"a": [1]}, tmp_path / "t.amudai.shard", compatibility=word)
    assert not list(tmp_path.iterdir())


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=st.lists(kinds, min_size=1, max_size=3), count=st.integers(0, 40), seed=st.integers(0, 2**32 - 1))
def test_any_nesting_comes_back(
    columns: list[pa.DataType], count: int, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amudai.encoding.number_dictionary._WORTH_IT", 1e9)  # however large the dictionary is
    maker = Maker(seed)
    table = pa.table([maker.array(kind, count) for kind in columns], names=[f"c{at}" for at in range(len(columns))])
    kept(table, tmp_path, compatibility="extended", stripe_rows=16)
