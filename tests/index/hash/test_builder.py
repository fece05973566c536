"""Is the index the same however little memory there is, and who may have one?"""

from __future__ import annotations

import struct
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.errors import InvalidArgument
from amudai.index import BuildPlan, Keys
from amudai.index.artifacts import open_artifact
from amudai.index.hash import builder
from amudai.index.hash.builder import HashIndexBuilder
from amudai.index.hash.spec import HashIndex
from amudai.shard import ShardReader
from amudai.types import BasicType, SchemaNode
from tests.effort import examples
from tests.index.hash import shards
from tests.kernel_modules import KERNELS

U64 = st.integers(0, (1 << 64) - 1)


def skewed(rows: int) -> pa.Table:
    """A value in every second row, one in every tenth, and many that are rare."""
    names = ["hot" if row % 2 else "warm" if row % 10 == 0 else f"rare {row * 7919 % 3001}" for row in range(rows)]
    return pa.table({"x": names, "l": pa.array([[name, "everywhere", "everywhere"] for name in names])})


@pytest.mark.slow
def test_little_memory_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = skewed(20_000)
    shards.build(table, tmp_path / "a.amudai.shard", "x", "l.item", batch_rows=5000)
    monkeypatch.setattr(builder, "_LEAST_MEMORY", 1)
    spilled = tmp_path / "b" / "a.amudai.shard"
    spilled.parent.mkdir()
    # Staged by 256 entries, spooled to a file, finished by 85 at once: hot hashes are many times as many.
    shards.build(table, spilled, "x", "l.item", memory=1 << 14, batch_rows=777)
    assert spilled.read_bytes() == (tmp_path / "a.amudai.shard").read_bytes()
    index, _, nodes = shards.opened(spilled)
    truth: defaultdict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(table["x"].to_pylist()):
        truth[name].append(row)
    for name, rows in truth.items():
        found = index.answer(nodes[:1], Keys((name.encode(),)))
        assert found is not None
        assert found.maybe.positions().tolist() == rows
    found = index.answer(shards.resolved(nodes, "l.item"), Keys((b"everywhere",)))
    assert found is not None
    assert (found.maybe.starts.tolist(), found.maybe.ends.tolist()) == ([0], [20_000])


def test_the_same_rows_give_the_same_bytes(tmp_path: Path) -> None:
    table = skewed(3000)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shards.build(table, tmp_path / name / "t.amudai.shard", "x", batch_rows=100 if name == "one" else 3000)
    assert (tmp_path / "one/t.amudai.shard").read_bytes() == (tmp_path / "two/t.amudai.shard").read_bytes()


def test_more_partitions_for_more_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "_PARTITION_ENTRIES", 100)
    table = pa.table({"x": np.arange(5000)})
    shards.build(table, tmp_path / "t.amudai.shard", "x")
    index, descriptor, nodes = shards.opened(tmp_path / "t.amudai.shard")
    assert len(descriptor.artifacts) == 64
    for row in range(0, 5000, 37):
        found = index.answer(nodes, Keys((struct.pack("<q", row),)))
        assert found is not None
        assert found.maybe.positions().tolist() == [row]


def test_buckets_are_where_the_format_wants_them(tmp_path: Path) -> None:
    names = [f"name {number}" for number in range(3000)]
    target = tmp_path / "t.amudai.shard"
    shards.build(pa.table({"x": names}), target, "x")
    expected: list[set[int]] = [set() for _ in range(8)]
    for name in names:
        hash_ = xxhash.xxh3_64_intdigest(f"x:{name}".encode())
        expected[hash_ >> 61].add(hash_)
    shard = ShardReader(target)
    for artifact, hashes in zip(shard.indexes.descriptors[0].artifacts, expected, strict=True):
        part = open_artifact(artifact, shard, shard.root)
        size = 2
        while size < len(hashes) // 2:
            size *= 2
        assert part.num_rows == size
        assert str(part.schema.fields()[0]) == "list<struct<hash: uint64, positions: list<uint64>>>"
        assert [node.name for node in part.schema.fields()] == ["bucket"]


def test_partitions_are_prepared_on_several_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, created = skewed(500), datetime(2026, 1, 1, tzinfo=UTC)
    paths = [tmp_path / f"{threads}.amudai.shard" for threads in (1, 2)]
    amudai.write(table, paths[0], indexes=[HashIndex("x")], created=created, threads=1)
    together = Barrier(2, timeout=60)
    prepared = HashIndexBuilder._prepared

    def waiting(self: HashIndexBuilder, *given: Any) -> Any:
        together.wait()  # an error unless another thread prepares a partition at the same time
        return prepared(self, *given)

    monkeypatch.setattr(HashIndexBuilder, "_prepared", waiting)
    amudai.write(table, paths[1], indexes=[HashIndex("x")], created=created, threads=2)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_only_single_values_have_keys() -> None:
    inner = SchemaNode(schema_id=1, name="item", basic_type=BasicType.STRING)
    for kind in (BasicType.LIST, BasicType.STRUCT, BasicType.UNIT, BasicType.UNION):
        node = SchemaNode(schema_id=0, name="x", basic_type=kind, children=(inner,))
        with pytest.raises(InvalidArgument, match="single values"):
            HashIndexBuilder(HashIndex("x"), BuildPlan(((node,),), 1 << 20, None, "balanced"))
    union = SchemaNode(schema_id=0, name="x", basic_type=BasicType.UNION, children=(inner,))
    with pytest.raises(InvalidArgument, match="through structs, lists and maps"):
        HashIndexBuilder(HashIndex("x"), BuildPlan(((union, inner),), 1 << 20, None, "balanced"))


@pytest.mark.parametrize("fields", [(), ("a", "a"), ("a", 3)])
def test_fields_are_named_once(fields: Any) -> None:
    with pytest.raises(InvalidArgument):
        HashIndex(*fields)


# ---- kernels ----


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
@examples(100)
@given(
    st.lists(
        st.tuples(st.sampled_from([0, 1, 5, 1 << 63, (1 << 64) - 1, 1 << 40]) | U64, st.integers(0, 30)), max_size=80
    ),
    st.integers(1, 12),
    st.integers(0, 6),
)
def test_entries(kernels: Any, entries: list[tuple[int, int]], bits: int, bucket_bits: int) -> None:
    hashes, positions = (np.array([entry[at] for entry in entries], np.uint64) for at in (0, 1))
    pairs, counts = kernels.partition_entries(hashes, positions, bits)
    expected = sorted(entries, key=lambda entry: entry[0] >> (64 - bits))  # stable
    assert pairs.reshape(-1, 2).tolist() == [list(entry) for entry in expected]
    assert counts.tolist() == [sum(hash_ >> (64 - bits) == top for hash_, _ in entries) for top in range(1 << bits)]

    groups: defaultdict[int, set[int]] = defaultdict(set)
    for hash_, position in entries:
        groups[hash_].add(position)
    found = kernels.group_entries(pairs)
    assert listed(found) == [(hash_, sorted(groups[hash_])) for hash_ in sorted(groups)]
    buckets = 1 << bucket_bits
    ordered = kernels.order_by_bucket(*found, buckets)
    assert listed(ordered) == sorted(listed(found), key=lambda group: (group[0] & (buckets - 1), group[0]))


def listed(groups: Any) -> list[tuple[int, list[int]]]:
    hashes, ends, positions = (array.tolist() for array in groups)
    starts = [0, *ends][:-1]
    return [(hash_, positions[start:end]) for hash_, start, end in zip(hashes, starts, ends, strict=True)]


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_kernels_refuse_what_does_not_fit(kernels: Any) -> None:
    one, two = np.zeros(1, np.uint64), np.zeros(2, np.uint64)
    for call in (
        lambda: kernels.partition_entries(one, two, 3),
        lambda: kernels.partition_entries(one, one, 0),
        lambda: kernels.group_entries(one),
        lambda: kernels.order_by_bucket(one, one + np.uint64(2), one, 2),
        lambda: kernels.order_by_bucket(two, np.array([1, 0], np.uint64), one, 2),
        lambda: kernels.order_by_bucket(one, one, one, 3),
        lambda: kernels.order_by_bucket(two, one, one, 2),
        lambda: kernels.hash_keys(b"x:", None, np.zeros(3, np.uint8), 2, None, 0, 2),
        lambda: kernels.hash_keys(b"x:", np.array([0, 9], np.int32), np.zeros(3, np.uint8), None, None, 0, 1),
        lambda: kernels.hash_keys(b"x:", None, np.zeros(9, np.uint8), 1, np.zeros(1, np.uint8), 0, 9),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
            call()


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
@examples(60)
@given(st.lists(st.none() | st.binary(max_size=300) | st.just(b"z" * 5000), max_size=80), st.binary(max_size=40))
def test_keys(kernels: Any, values: list[bytes | None], prefix: bytes) -> None:
    array = pa.array(values, pa.binary())
    validity = array.buffers()[0]
    bits = None if validity is None else np.frombuffer(validity, np.uint8)
    offsets = np.frombuffer(array.buffers()[1], np.int32, len(values) + 1)
    data = np.frombuffer(array.buffers()[2] or b"", np.uint8)
    found = kernels.hash_keys(prefix, offsets, data, None, bits, 0, len(values))
    assert found.tolist() == [xxhash.xxh3_64_intdigest(prefix + (value or b"")) for value in values]
