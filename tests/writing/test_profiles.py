"""A profile for each column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.encoding import PROFILES
from tests.effort import examples
from tests.writing.exact import assert_exact, kept

ROWS = 3000


def table() -> pa.Table:
    random = np.random.default_rng(5)
    text = [f"GET /users/{number * 7919 % 100_003} HTTP/1.1" for number in range(ROWS)]
    numbers = np.cumsum(random.integers(900, 1100, ROWS))
    nested = pa.StructArray.from_arrays([pa.array(text), pa.array(numbers)], ["url", "size"])
    lists = pa.ListArray.from_arrays(np.arange(0, ROWS + 1, 1, np.int32), pa.array(numbers))
    times = pa.array(numbers + 10**18, pa.timestamp("ns"))
    return pa.table({"text": text, "numbers": numbers, "http": nested, "sizes": lists, "at": times})


def encodings(shard: amudai.Shard, path: str) -> set[str]:
    return {cascade.partition("(")[0] for cascade in shard[path].encodings}


def test_each_column_has_its_profile(tmp_path: Path) -> None:
    chosen = {"text": "plain", "http": "plain", "http.size": "high_compression", "sizes.item": "plain", "*": "balanced"}
    shard = amudai.write(table(), tmp_path / "t.amudai.shard", profile=chosen)
    assert_exact(shard.read(), table())
    assert encodings(shard, "text") == encodings(shard, "http.url") == encodings(shard, "sizes.item") == {"plain"}
    # All others are stored as without profiles of other columns.
    balanced = amudai.write(table(), tmp_path / "b.amudai.shard")
    high = amudai.write(table(), tmp_path / "h.amudai.shard", profile="high_compression")
    assert shard["numbers"].encodings == balanced["numbers"].encodings
    assert shard["http.size"].encodings == high["http.size"].encodings
    assert "plain" not in encodings(shard, "numbers") | encodings(shard, "http.size")


def test_columns_that_are_not_named_are_balanced(tmp_path: Path) -> None:
    chosen = amudai.write(table(), tmp_path / "c.amudai.shard", profile={"text": "balanced"})
    balanced = amudai.write(table(), tmp_path / "b.amudai.shard")
    assert [chosen[name].encodings for name in table().column_names] == [
        balanced[name].encodings for name in table().column_names
    ]


def test_nanoseconds_have_the_profile_of_their_column(tmp_path: Path) -> None:
    shard = amudai.write(table(), tmp_path / "t.amudai.shard", profile={"at": "plain"})
    (stripe,) = shard.inspect(blocks=True).stripes
    found = {field.name: field for field in stripe.fields}
    for name in ("at", "at:nanoseconds"):
        data = next(buffer for buffer in found[name].buffers if buffer.kind == "data")
        assert {block.encoding for block in data.blocks} == {"plain"}
        assert not any(buffer.kind == "range index" for buffer in found[name].buffers)


def test_a_column_named_like_the_wildcard_is_quoted(tmp_path: Path) -> None:
    data = pa.table({"*": table()["text"], "other": table()["text"]})
    shard = amudai.write(data, tmp_path / "t.amudai.shard", profile={"`*`": "plain"})
    assert encodings(shard, "`*`") == {"plain"}
    assert encodings(shard, "other") != {"plain"}


def test_every_operation_that_writes_values_takes_profiles(tmp_path: Path) -> None:
    chosen = {"text": "plain"}
    data = table().select(["text", "numbers"])
    shard = amudai.write(data, tmp_path / "t.amudai.shard")
    made = [
        amudai.compact(shard, tmp_path / "c.amudai.shard", profile=chosen),
        amudai.salvage(shard, tmp_path / "s.amudai.shard", profile=chosen).shard,
        amudai.with_columns(shard, data, tmp_path / "w.amudai.shard", replace=True, profile=chosen),
        amudai.open(tmp_path / "d" / amudai.write_dataset(data, tmp_path / "d", profile=chosen).shards[0]),
    ]
    pq.write_table(data, tmp_path / "t.parquet")
    attached = amudai.attach(tmp_path / "t.parquet", to=tmp_path / "a.amudai.shard")
    made.append(amudai.materialize(attached, to=tmp_path / "m.amudai.shard", profile=chosen))
    made.append(amudai.ingest(tmp_path / "t.parquet", tmp_path / "i.amudai.shard", profile=chosen))
    for each in made:
        assert encodings(each, "text") == {"plain"}, each.url
        assert encodings(each, "numbers") != {"plain"}, each.url
        assert each.read().equals(data)
        assert each.verify().ok


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ({"txet": "plain"}, r"profile: column 'txet': expected one of text, .*text"),
        ({"http.nope": "plain"}, "profile: column 'http.nope': http has no 'nope'"),
        ({"text": "tiny"}, "profile of 'text': expected one of plain, .* found 'tiny'"),
        ({"text": 9}, "profile of 'text': expected one of plain, .* found 9"),
        ({"*": "tiny"}, r"profile of '\*': expected one of plain, .* found 'tiny'"),
        ({1: "plain"}, "profile: expected names of columns, found 1"),
        ({"sizes.item": "plain", "sizes.element": "plain"}, "profile: expected every column once, found"),
        ("tiny", "profile: expected one of plain, .* found 'tiny'"),
        (7, "profile: expected a name, or a dict .* found 7"),
        (["text"], "profile: expected a name, or a dict"),
    ],
)
def test_an_unknown_profile_or_column_is_refused(tmp_path: Path, profile: Any, said: str) -> None:
    with pytest.raises(amudai.AmudaiError, match=said):
        amudai.write(table(), tmp_path / "t.amudai.shard", profile=profile)
    assert not list(tmp_path.iterdir())


@given(st.dictionaries(st.sampled_from(["text", "http", "http.url", "sizes", "at", "*"]), st.sampled_from([*PROFILES])))
@examples(30)
def test_values_do_not_depend_on_profiles(tmp_path_factory: pytest.TempPathFactory, chosen: dict[str, str]) -> None:
    kept(table().slice(0, 300), tmp_path_factory.mktemp("p"), profile=chosen)
