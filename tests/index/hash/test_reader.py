"""Are indexes that others built found in, and damaged ones refused?"""

from __future__ import annotations

import shutil
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai.errors import AmudaiError, CorruptedData
from amudai.format import AnyValue, DataRef, IndexArtifact, IndexDescriptor
from amudai.index import Keys
from amudai.index.hash.keys import hash_key, hashed_path, key_prefix
from amudai.index.hash.reader import HashIndexReader
from amudai.shard import ShardReader
from amudai.types import BasicType, SchemaNode
from tests import effort, golden
from tests.index.hash import shards

pytestmark = pytest.mark.native

TEXT = SchemaNode(schema_id=0, name="x", basic_type=BasicType.STRING)


@pytest.mark.slow
@pytest.mark.parametrize("index_type", ["field-hashing-index", "hashmap-index"])
def test_everything_is_found_in_what_the_reference_built(index_type: str, tmp_path: Path) -> None:
    case = next(case for case in golden.INDEX_CASES if case.index == "field-hashing-index")
    folder = tmp_path / "t"
    shutil.copytree(case.folder, folder)
    amudai.write(case.source(), folder / "t.amudai.shard")
    shard = ShardReader(folder / "t.amudai.shard")
    artifacts = tuple(IndexArtifact(name="", data=DataRef(f"part{number}.amudai.shard", 0, 1)) for number in range(8))
    descriptor = IndexDescriptor(index_type=index_type, indexed_fields=(), artifacts=artifacts)
    nodes = shard.schema.fields()
    unsure = HashIndexReader(descriptor, shard, shard.root)
    index = HashIndexReader(descriptor, shard, shard.root, trust=True)
    for node in nodes:
        truth: defaultdict[str, list[int]] = defaultdict(list)
        for row, value in enumerate(case.source().column(node.name).to_pylist()):
            truth[value or ""].append(row)
        for value, rows in truth.items():
            assert unsure.answer((node,), Keys((value.encode(),))) is None
            found = index.answer((node,), Keys((value.encode(),)))
            assert found is not None
            assert found.maybe.positions().tolist() == rows
        missing = index.answer((node,), Keys((b"no such value",)))
        assert missing is not None
        assert missing.count == 0


def hashes_of(*names: str) -> list[int]:
    return [hash_key(key_prefix(hashed_path((TEXT,))), TEXT, name.encode()) for name in names]


Entry = tuple[int, list[int]]


def forged(folder: Path, buckets: list[list[Entry] | None], kind: pa.DataType | None = None) -> HashIndexReader:
    """An index of one partition with these buckets, of a shard with ten rows."""
    folder.mkdir(exist_ok=True)
    item = pa.struct([("hash", pa.uint64()), ("positions", pa.list_(pa.uint64()))])
    rows = [
        None if bucket is None else [{"hash": hash_, "positions": rows} for hash_, rows in bucket] for bucket in buckets
    ]
    table = pa.table({"bucket": pa.array(rows, pa.list_(item) if kind is None else kind)})
    amudai.write(table, folder / "part0.amudai.shard", overwrite=True)
    amudai.write({"x": ["a"] * 10}, folder / "t.amudai.shard", overwrite=True)
    shard = ShardReader(folder / "t.amudai.shard")
    descriptor = IndexDescriptor(
        index_type="field-hashing-index",
        properties=(("complete", AnyValue("bool", True)),),
        indexed_fields=((0,),),
        artifacts=(IndexArtifact(name="part0", data=DataRef("part0.amudai.shard", 0, 1)),),
    )
    return HashIndexReader(descriptor, shard, shard.root)


def asked(index: HashIndexReader, name: str) -> list[int]:
    found = index.answer((TEXT,), Keys((name.encode(),)))
    assert found is not None
    return found.maybe.positions().tolist()


def placed(names: dict[str, list[int]], buckets: int) -> list[list[Entry] | None]:
    found: list[list[Entry] | None] = [[] for _ in range(buckets)]
    for name, rows in names.items():
        (hash_,) = hashes_of(name)
        bucket = found[hash_ & (buckets - 1)]
        assert bucket is not None
        bucket.append((hash_, rows))
    return found


def test_other_numbers_of_buckets_partitions_and_stripes_are_read(tmp_path: Path) -> None:
    names = {f"n{number}": [number, number + 3] for number in range(6)}
    for buckets in (1, 4, 64):
        index = forged(tmp_path / str(buckets), placed(names, buckets))
        for name, rows in names.items():
            assert asked(index, name) == rows
        assert asked(index, "nowhere") == []
    folder = tmp_path / "stripes"
    forged(folder, placed(names, 64))
    table = amudai.open(folder / "part0.amudai.shard").read()
    amudai.write(table, folder / "part0.amudai.shard", stripe_rows=7, profile="minimal_size", overwrite=True)
    shard = ShardReader(folder / "t.amudai.shard")
    again = forged(tmp_path / "other", placed(names, 64))
    index = HashIndexReader(again._descriptor, shard, shard.root)
    for name, rows in names.items():
        assert asked(index, name) == rows


def test_a_row_that_is_named_twice_is_one(tmp_path: Path) -> None:
    assert asked(forged(tmp_path / "t", placed({"a": [1, 1, 4]}, 2)), "a") == [1, 4]


@pytest.mark.parametrize("rows", [[], [10], [3, 2], [0, (1 << 64) - 1]])
def test_positions_that_cannot_be(tmp_path: Path, rows: list[int]) -> None:
    with pytest.raises(CorruptedData, match="positions of a hash"):
        asked(forged(tmp_path / "t", placed({"a": rows, "b": [1]}, 2)), "a")


def test_buckets_that_cannot_be(tmp_path: Path) -> None:
    sound = placed({"a": [1], "b": [2], "c": [3]}, 4)
    with pytest.raises(CorruptedData, match="power of two"):
        asked(forged(tmp_path / "three", sound[:3]), "a")
    turned = forged(tmp_path / "turned", [*sound[1:], sound[0]])
    with pytest.raises(CorruptedData, match="only hashes that belong to it"):
        [asked(turned, name) for name in "abc"]
    with pytest.raises(CorruptedData, match="each hash once"):
        asked(forged(tmp_path / "twice", [[*bucket, *bucket] if bucket else bucket for bucket in sound]), "a")
    with pytest.raises(CorruptedData, match="no null"):
        asked(forged(tmp_path / "null", [None, *sound[1:]]), "a")


def test_partitions_that_cannot_be(tmp_path: Path) -> None:
    strange = pa.list_(pa.struct([("hash", pa.int64()), ("positions", pa.list_(pa.uint64()))]))
    with pytest.raises(CorruptedData, match="expected list<struct"):
        asked(forged(tmp_path / "signed", [[], []], strange), "a")
    index = forged(tmp_path / "t", [[], []])
    descriptor = index._descriptor
    shard = ShardReader(tmp_path / "t" / "t.amudai.shard")
    for count in (0, 3):
        many = replace(descriptor, artifacts=descriptor.artifacts * count)
        with pytest.raises(CorruptedData, match="power of two"):
            HashIndexReader(many, shard, shard.root)
    empty = replace(descriptor, artifacts=(IndexArtifact(name="part0", data=DataRef("", 0, 0)),))
    with pytest.raises(CorruptedData, match="expected a reference"):
        asked(HashIndexReader(empty, shard, shard.root), "a")


def test_floats_of_an_index_that_hashes_bytes_are_not_looked_for(tmp_path: Path) -> None:
    index = forged(tmp_path / "t", [[], []])
    node = SchemaNode(schema_id=0, name="x", basic_type=BasicType.FLOAT64)
    assert index.answer((node,), Keys((b"\0" * 8,))) is None


@pytest.mark.slow
def test_a_flipped_bit_is_an_error_or_changes_no_answer(tmp_path: Path) -> None:
    names = [f"n{number % 40}" for number in range(100)]
    target = tmp_path / "t.amudai.shard"
    shards.build(pa.table({"x": names}), target, "x", two_level=True)
    wanted = "n7"
    rows = [row for row, name in enumerate(names) if name == wanted]
    refused = 0
    for path in sorted(tmp_path.glob("*.amudai.index")):
        content = path.read_bytes()
        for at in range(0, len(content), effort.spaced(3)):
            changed = bytearray(content)
            changed[at] ^= 1 << at % 8
            path.write_bytes(changed)
            try:
                index, _, nodes = shards.opened(target)
                found = index.answer(nodes, Keys((wanted.encode(),)))
            except AmudaiError:
                refused += 1
                continue
            assert found is not None
            assert found.maybe.positions().tolist() == rows, (path.name, at)
        path.write_bytes(content)
    assert refused > effort.scaled(100)


@pytest.mark.slow
def test_many_threads_may_ask(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    target = tmp_path / "t.amudai.shard"
    numbers = np.arange(20_000) % 1999
    shards.build(pa.table({"x": numbers}), target, "x")
    index, _, nodes = shards.opened(target)

    def rows(number: int) -> list[int]:
        found = index.answer(nodes, Keys((int(number).to_bytes(8, "little"),)))
        assert found is not None
        return found.maybe.positions().tolist()

    with ThreadPoolExecutor(4) as pool:
        for number, found in enumerate(pool.map(rows, range(1999))):
            assert found == np.flatnonzero(numbers == number).tolist()
