"""A column that arrives as an Arrow dictionary is stored as the same values without one would be, byte by byte.

The values decide which form is stored: a dictionary of the stripe where few differ, blocks where many do.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai.arrow import schema_nodes, to_storage
from amudai.edit import Publication, Root
from amudai.encoding import PROFILES, profile_of
from amudai.index import index_sinks
from amudai.shard import BuildOptions, ShardBuilder
from amudai.storage import open_store
from amudai.threads import Crew
from tests.effort import examples

TEXT = pa.dictionary(pa.int32(), pa.string())
MEGABYTE = 1 << 20


def dictionary(codes: Sequence[int | None] | np.ndarray, entries: Sequence[Any] | pa.Array) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(entries))


def random_codes(count: int, distinct: int, nulls: float = 0.0) -> pa.Array:
    random = np.random.default_rng(count + distinct)
    mask = random.random(count) < nulls if nulls else None
    return pa.array(random.integers(0, distinct, count).astype(np.int32), mask=mask)


def plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind):
        return pa.list_(plain_type(kind.value_type))
    if pa.types.is_struct(kind):
        members = [kind.field(at) for at in range(kind.num_fields)]
        return pa.struct([member.with_type(plain_type(member.type)) for member in members])
    return kind


def without_dictionary(array: pa.Array) -> pa.Array:
    """The same values, at any depth without a dictionary, in buffers that have nothing of the old ones."""
    if pa.types.is_struct(array.type):
        # What a null struct hides is stored all the same.
        members = [without_dictionary(array.field(at)) for at in range(array.type.num_fields)]
        return pa.StructArray.from_arrays(members, array.type.names, mask=array.is_null())
    return pa.array(array.to_pylist(), plain_type(array.type))


def shard_bytes(batches: Sequence[pa.Array], folder: Path, indexes: Sequence[Any] = (), **options: Any) -> bytes:
    """The file of a shard of one column, without the property that names Arrow's types."""
    nodes = schema_nodes([pa.field("c", batches[0].type)])
    profile = options.pop("profile", "balanced")
    chosen = BuildOptions(profile=profile_of(profile), **options)
    sinks = index_sinks(indexes, nodes, memory=64 * MEGABYTE, temp_folder=None, profile=profile, crew=Crew(1))
    folder.mkdir(exist_ok=True)
    path = folder / "c.amudai.shard"  # a root says which file it is in
    path.unlink(missing_ok=True)
    store, url = open_store(path)
    with Publication(store, url) as publication:
        builder = ShardBuilder(nodes, publication.sealing, publication.file, chosen, sinks=sinks)
        for batch in batches:
            builder.append([lambda batch=batch: to_storage(batch, nodes[0], "c")], len(batch))  # type: ignore[misc]
        publication.publish(Root(url=url, metadata=builder.finish()))
        builder.close()
    return path.read_bytes()


def assert_same(batches: Sequence[pa.Array], folder: Path, **options: Any) -> list[str]:
    """Both forms give the same file; returns the encodings of the column."""
    expected = shard_bytes([without_dictionary(batch) for batch in batches], folder / "plain", **options)
    assert shard_bytes(batches, folder / "coded", **options) == expected
    shard = amudai.open(folder / "coded" / "c.amudai.shard")
    values = [value for batch in batches for value in batch.to_pylist()]
    assert shard.read().column("c").to_pylist() == values
    return list(shard["c"].encodings)


WORDS = ["alpha", "", "beta", "a rather long entry, longer than sixteen bytes", "\u00e9t\u00e9"]

SHAPES: dict[str, list[pa.Array]] = {
    "few values": [dictionary(random_codes(70_000, 5), WORDS)],
    "nulls among codes": [dictionary(random_codes(3_000, 5, 0.3), WORDS)],
    "null is an entry": [dictionary(random_codes(3_000, 3, 0.1), ["x", None, "y"])],
    "two null entries": [dictionary([0, 1, 2, 3, None, 2] * 50, [None, "y", None, "x"])],
    "nothing but nulls": [dictionary([None, None, None], ["x"])],
    "nothing but null entries": [dictionary([0, 1, 0], pa.array([None, None], pa.string()))],
    "a dictionary without entries": [dictionary([None, None], pa.array([], pa.string()))],
    "null first": [dictionary([None, 1, 0, None], ["x", "y"])],
    "one value": [dictionary([1] * 500, ["x", "y"])],
    "entries that no row has": [dictionary([7, 3, 7, 3] * 200, [f"entry {at}" for at in range(9)])],
    "more entries than rows": [dictionary([900, 5, None, 900], [f"entry {at}" for at in range(1_000)])],
    "entries that repeat": [dictionary([0, 1, 2, 3, 1] * 300, ["x", "y", "x", "y"])],
    "entries in another order": [dictionary([4, 2, 0, 3, 1] * 300, WORDS)],
    "another dictionary in each batch": [
        dictionary(random_codes(900, 3), ["a", "b", "c"]),
        dictionary(random_codes(901, 3), ["c", "d", "a"]),
        dictionary([None, 0], ["b"]),
        dictionary(random_codes(902, 4, 0.2), ["e", "a", None, "d"]),
    ],
    "a slice": [dictionary(random_codes(4_000, 5, 0.2), WORDS).slice(1_001, 2_003)],
    "a slice of the entries": [
        pa.DictionaryArray.from_arrays(random_codes(1_000, 3), pa.array(["x", *WORDS]).slice(2, 3))
    ],
    "an empty batch between": [dictionary([0, 1], ["x", "y"]), dictionary([], ["z"]), dictionary([0], ["y"])],
    "too many values": [dictionary(np.arange(40_000), [f"value {at * 7919}" for at in range(40_000)])],
    "too many values later on": [
        dictionary(random_codes(70_000, 5, 0.1), WORDS),
        *(dictionary(np.arange(65_536), [f"value {at * 7919 + part}" for at in range(65_536)]) for part in range(3)),
    ],
    "long values": [dictionary(random_codes(3_000, 4, 0.1), [letter * 20_000 for letter in "abcd"])],
    "binary": [dictionary(random_codes(500, 3, 0.1), [b"\xff\x00", b"", b"x"])],
    "large strings": [dictionary(random_codes(500, 5, 0.1), pa.array(WORDS, pa.large_string()))],
    "string views": [dictionary(random_codes(500, 5, 0.1), pa.array(WORDS, pa.string_view()))],
    "bytes of one size": [dictionary(random_codes(900, 3, 0.1), pa.array([b"abc", b"abd", None], pa.binary(3)))],
    "bytes of size 0": [dictionary([0, None, 0], pa.array([b""], pa.binary(0)))],
    "many values of one size": [
        dictionary(np.arange(40_000), pa.array([bytes(at.to_bytes(8, "big")) for at in range(40_000)], pa.binary(8)))
    ],
    "numbers": [dictionary(random_codes(500, 3, 0.1), pa.array([7, None, -7], pa.int64()))],
    "booleans": [dictionary(random_codes(500, 3, 0.1), pa.array([True, None, False]))],
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("profile", ["balanced", "plain"])
def test_a_dictionary_is_stored_as_its_values_are(shape: str, profile: str, tmp_path: Path) -> None:
    assert_same(SHAPES[shape], tmp_path, profile=profile)


@pytest.mark.slow
def test_the_values_decide_about_a_dictionary_in_the_stripe(tmp_path: Path) -> None:
    assert assert_same(SHAPES["few values"], tmp_path)[0].startswith("dictionary(")
    for shape in ("too many values", "too many values later on", "many values of one size"):
        assert not any(name.startswith("dictionary(") for name in assert_same(SHAPES[shape], tmp_path)), shape


@pytest.mark.slow
@pytest.mark.parametrize("memory", [MEGABYTE // 8, 4 * MEGABYTE])
@pytest.mark.parametrize("shape", ["long values", "too many values later on", "many values of one size"])
def test_with_little_memory(shape: str, memory: int, tmp_path: Path) -> None:
    assert_same(SHAPES[shape], tmp_path, memory=memory)


def test_below_lists_and_structs(tmp_path: Path) -> None:
    words = dictionary(random_codes(3_000, 5, 0.2), WORDS)
    offsets = pa.array(np.sort(np.random.default_rng(1).integers(0, 3_000, 400)).astype(np.int32))
    lists = pa.ListArray.from_arrays(offsets, words)
    for array in (
        lists,
        lists.slice(11, 200),
        pa.StructArray.from_arrays([words], ["w"], mask=pa.array(np.arange(3_000) % 7 == 0)),
        pa.StructArray.from_arrays([words], ["w"]).slice(100, 999),
        pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays([words], ["w"])),
        pa.array([["a", "b"], None, [], ["a", None]], pa.list_(TEXT)),
    ):
        assert_same([array, array.slice(3)], tmp_path)


def test_indexes_are_the_same(tmp_path: Path) -> None:
    batches = [
        dictionary(random_codes(2_000, 3, 0.2), ["GET /a b", "POST /b c", None]),
        dictionary(random_codes(2_001, 2), ["disk full", "GET /a b"]),
    ]
    assert_same(batches, tmp_path, indexes=[amudai.TermIndex("c"), amudai.HashIndex("c")])
    lists = pa.ListArray.from_arrays(pa.array([0, 3, 3, 900], pa.int32()), batches[0])
    assert_same([lists, lists.slice(1)], tmp_path, indexes=[amudai.TermIndex("c")])


ENTRIES = st.lists(st.none() | st.text("ab\u00e9", max_size=20), max_size=6)


@st.composite
def batches_of_dictionaries(draw: st.DrawFn) -> list[pa.Array]:
    batches = []
    for _ in range(draw(st.integers(1, 4))):
        entries = draw(ENTRIES)
        codes = st.none() | st.integers(0, len(entries) - 1) if entries else st.none()
        array = dictionary(draw(st.lists(codes, max_size=40)), pa.array(entries, pa.string()))
        batches.append(array.slice(draw(st.integers(0, len(array)))))
    return batches


@examples(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=batches_of_dictionaries(), profile=st.sampled_from(list(PROFILES)))
def test_any_dictionaries(batches: list[pa.Array], profile: str, tmp_path: Path) -> None:
    assert_same(batches, tmp_path, profile=profile)


def test_statistics_and_types_come_back(tmp_path: Path) -> None:
    """The same through the public face, where the Arrow type is kept as well."""
    coded = dictionary(random_codes(5_000, 5, 0.1), WORDS)
    shards = [
        amudai.write(pa.table({"c": array}), tmp_path / f"{at}.amudai.shard", bloom=["c"])
        for at, array in enumerate((coded, without_dictionary(coded)))
    ]
    assert shards[0].schema.field("c").type == coded.type
    assert shards[0]["c"].stats == shards[1]["c"].stats
    assert shards[0]["c"].stats.null_count == coded.null_count
    assert list(shards[0]["c"].encodings) == list(shards[1]["c"].encodings)
