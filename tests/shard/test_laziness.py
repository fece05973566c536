"""Only what is asked for is read: requests and bytes are counted, never seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import obstore.store
import pytest

import amudai
from amudai.format import TAIL_READ, BufferKind, FieldDescriptor, StripeFieldDescriptor
from amudai.format import schema as schema_format
from amudai.rows import Rows
from amudai.shard import ShardReader
from amudai.storage import MemoryStore
from tests.forge import Column, Forge, constants, lists, numbers, strings, structs
from tests.forge.content import Buffer
from tests.oracle.numeric import plain


class RecordingStore(MemoryStore):
    """Remembers every range that was read, by file."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(files)
        self.sizes: list[str] = []
        self.reads: list[tuple[str, int, int]] = []

    def _size(self, url: str) -> int:
        self.sizes.append(url)
        return super()._size(url)

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        self.reads += [(url, start, end) for start, end in ranges]
        return super()._fetch(url, ranges)

    @contextmanager
    def watched(self) -> Iterator[list[tuple[str, int, int]]]:
        """What is read inside the block."""
        before = len(self.reads)
        found: list[tuple[str, int, int]] = []
        yield found
        found += self.reads[before:]


def opened(forge: Forge, **options: Any) -> tuple[amudai.Shard, RecordingStore]:
    store = RecordingStore(forge.files())
    return amudai.open(forge.name, store=store, **options), store


def total(reads: Sequence[tuple[str, int, int]]) -> int:
    return sum(end - start for _, start, end in reads)


def size_of(buffer: Buffer) -> int:
    return len(buffer.layout()[0])


def map_size(buffer: Buffer) -> int:
    data, map_at = buffer.layout()
    assert map_at is not None
    return len(data) - map_at


# ---- opening ----


def large() -> dict[str, Column]:
    return {f"c{i:03}": numbers(range(i, i + 500), "i8") for i in range(100)}


@pytest.mark.parametrize("columns", [{"a": numbers([1], "i8")}, large()], ids=["small", "large"])
def test_opening_is_one_size_and_one_read(columns: dict[str, Column]) -> None:
    shard, store = opened(Forge.of(columns))
    assert (shard.requests.requests, shard.requests.bytes) == (
        2,
        min(TAIL_READ, len(store._files["forged.amudai.shard"])),
    )
    assert shard.num_rows == columns[next(iter(columns))].stored.descriptor.position_count
    assert store.sizes == ["forged.amudai.shard"]
    assert len(store.reads) == 1


def test_a_store_with_suffix_ranges_opens_in_one_request() -> None:
    forge = Forge.of(large())
    store = obstore.store.MemoryStore()
    for name, content in forge.files().items():
        store.put(name, content)
    shard = amudai.open(forge.name, store=store)
    assert (shard.requests.requests, shard.requests.bytes) == (1, TAIL_READ)
    assert shard.read(["c007"])["c007"].to_pylist() == list(range(7, 507))


def varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number % 128 | 128)
        number >>= 7
    return bytes([*found, number])


@pytest.mark.parametrize(("padding", "reads"), [(60_000, 1), (70_000, 2)])
def test_a_directory_larger_than_the_tail_takes_a_second_read(padding: int, reads: int) -> None:
    unknown = varint(1999 << 3 | 2) + varint(padding) + bytes(padding)
    shard, store = opened(Forge.of({"a": numbers([1, 2], "i8")}, unknown={"ShardDirectory": unknown}))
    assert len(store.reads) == reads
    assert shard.read()["a"].to_pylist() == [1, 2]


def test_metadata_in_the_tail_costs_nothing_more() -> None:
    shard, store = opened(Forge.of(large(), properties={"owner": "ops"}))
    with store.watched() as reads:
        assert shard.properties == {"owner": "ops"}
        assert len(shard.schema) == 100
        assert shard["c007"].stats.max == 506
        assert len(shard.stripes) == 1
    assert reads == []


# ---- one of many ----


def test_one_column_of_many_reads_its_own_buffer() -> None:
    columns = large()
    shard, store = opened(Forge.of(columns))
    with store.watched() as reads:
        assert shard.read(["c050"])["c050"].to_pylist() == list(range(50, 550))
    assert len(reads) == 1
    assert total(reads) == size_of(columns["c050"].stored.buffers[0])
    with store.watched() as again:
        shard.read(["c050"], rows=slice(0, 10))
    assert total(again) <= total(reads)


def test_one_member_of_a_struct_reads_its_own_buffer() -> None:
    members = {f"m{i}": numbers(range(10_000), "i8") for i in range(4)}
    shard, store = opened(Forge.of({"s": structs(members)}))
    with store.watched() as reads:
        assert shard.read(["s.m2"], rows=slice(0, 1)).to_pylist() == [{"s": {"m2": 0}}]
    assert total(reads) == size_of(members["m2"].stored.buffers[0])


def test_neighbours_are_read_together() -> None:
    columns = large()
    names = [f"c{i:03}" for i in range(20, 70)]
    shard, store = opened(Forge.of(columns))
    with store.watched() as reads:
        table = shard.read(names)
    assert len(reads) == 1
    assert table["c069"].to_pylist() == list(range(69, 569))
    # Nothing but these columns and the padding between them.
    wanted = sum(size_of(columns[name].stored.buffers[0]) for name in names)
    assert wanted <= total(reads) < wanted + 64 * len(names)


def test_columns_far_apart_are_not() -> None:
    shard, store = opened(Forge.of(large()))
    with store.watched() as reads:
        shard.read(["c000", "c040", "c080"])
    assert len(reads) == 3


def test_statistics_are_read_without_any_block() -> None:
    columns = {f"c{i:04}": numbers(range(i, i + 3), "i8") for i in range(1500)}
    shard, store = opened(Forge.of(columns))
    with store.watched() as reads:
        assert shard["c0000"].stats.max == 2
    descriptors = sum(size_of(column.stored.buffers[0]) for column in columns.values())
    first = min(start for _, start, _ in reads)
    assert first >= descriptors  # behind the last buffer


# ---- one row of many ----


def blocks_of(column: Column) -> list[int]:
    blocks = column.stored.buffers[0].blocks
    assert blocks is not None
    return [len(block) for _, block in blocks]


def far_from_the_tail(column: Column) -> Column:
    """The same column with something behind it that is larger than what opening reads."""
    # Of several buffers of a kind, the first counts.
    column.stored.buffers.append(Buffer(kind=BufferKind.DATA, raw=bytes(2 * TAIL_READ)))
    return column


BIG: dict[str, tuple[Column, Callable[[int], Any]]] = {
    "numbers": (far_from_the_tail(numbers(range(50_000), "i8", plain.encode, 500)), lambda row: row),
    "strings": (
        far_from_the_tail(strings([f"value {i}" for i in range(50_000)], block_values=500)),
        lambda row: f"value {row}",
    ),
}


@pytest.mark.parametrize("name", BIG)
def test_one_row_reads_the_map_and_one_block(name: str) -> None:
    column, expected = BIG[name]
    shard, store = opened(Forge.of({"c": column}))
    with store.watched() as reads:
        assert shard.take([20_250])["c"].to_pylist() == [expected(20_250)]
    assert len(reads) == 2
    assert total(reads) == map_size(column.stored.buffers[0]) + blocks_of(column)[40]
    with store.watched() as again:
        assert shard.take([20_251, 20_000])["c"].to_pylist() == [expected(20_251), expected(20_000)]
    assert total(again) <= blocks_of(column)[40]  # the map is known


@pytest.mark.parametrize("name", BIG)
def test_a_few_rows_read_their_blocks(name: str) -> None:
    column, expected = BIG[name]
    shard, store = opened(Forge.of({"c": column}))
    rows = [49_999, 3, 25_000, 4]
    with store.watched() as reads:
        assert shard.take(rows)["c"].to_pylist() == [expected(row) for row in rows]
    blocks = blocks_of(column)
    wanted = blocks[0] + blocks[50] + blocks[99]
    # The last block may be read together with the map, which lies right behind it.
    assert total(reads) <= wanted + map_size(column.stored.buffers[0])
    assert len(reads) <= 4


@pytest.mark.parametrize("name", BIG)
def test_a_slice_reads_the_blocks_that_cover_it(name: str) -> None:
    column, expected = BIG[name]
    shard, store = opened(Forge.of({"c": column}))
    with store.watched() as reads:
        found = shard.read(rows=slice(10_400, 11_100))["c"]
    assert found.to_pylist() == [expected(row) for row in range(10_400, 11_100)]
    assert total(reads) == map_size(column.stored.buffers[0]) + sum(blocks_of(column)[20:23])


def test_one_list_reads_its_items_only() -> None:
    items = far_from_the_tail(numbers(range(60_000), "i8", plain.encode, 500))
    column = lists([3] * 20_000, items)
    shard, store = opened(Forge.of({"c": column}))
    with store.watched() as reads:
        assert shard.take([10_000])["c"].to_pylist() == [[30_000, 30_001, 30_002]]
    offsets = column.stored.buffers[0]
    wanted = map_size(offsets) + blocks_of(column)[0] + map_size(items.stored.buffers[0]) + blocks_of(items)[60]
    assert total(reads) == wanted


def test_batches_read_as_they_go() -> None:
    column, _ = BIG["numbers"]
    shard, store = opened(Forge.of({"c": column}), threads=1)
    reader = shard.to_reader(batch_rows=500)
    reader.read_next_batch()
    assert total(store.reads) < TAIL_READ + size_of(column.stored.buffers[0]) // 2


# ---- stripes ----


def test_files_of_other_stripes_are_not_touched() -> None:
    forge = Forge.of(*({"n": numbers([i, i + 1], "i8")} for i in range(5)), layout="two-level")
    shard, store = opened(forge)
    assert shard.read(rows=slice(4, 6))["n"].to_pylist() == [2, 3]
    assert shard.take([5])["n"].to_pylist() == [3]
    touched = {url for url, _, _ in store.reads} | set(store.sizes)
    assert touched == {forge.name, "0000000000000002.amudai.stripe"}


def test_constants_read_no_buffer() -> None:
    columns = {**large(), "k": constants(strings([]), 500, "same")}
    shard, store = opened(Forge.of(columns))
    with store.watched() as reads:
        assert shard.read(["k"])["k"].to_pylist() == ["same"] * 500
    assert reads == []


# ---- ten thousand columns ----

WIDE = 10_000


@pytest.fixture(scope="module")
def wide() -> dict[str, bytes]:
    return Forge.of({f"column_{i:05}": numbers([i, i + 1], "i8") for i in range(WIDE)}).files()


@pytest.mark.slow
def test_two_columns_of_ten_thousand(wide: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = {"stripe": 0, "shard": 0, "schema": 0}

    def counting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def decode(*arguments: Any) -> Any:
            decoded[name] += 1
            return real(*arguments)

        return decode

    monkeypatch.setattr(StripeFieldDescriptor, "decode", counting("stripe", StripeFieldDescriptor.decode))
    monkeypatch.setattr(FieldDescriptor, "decode", counting("shard", FieldDescriptor.decode))
    reader = schema_format._FieldReader
    monkeypatch.setattr(reader, "field", counting("schema", reader.field))

    store = RecordingStore(wide)
    ((name, content),) = wide.items()
    shard = amudai.open(name, store=store)
    names = ["column_09000", "column_00007"]
    assert shard.read(names).to_pydict() == {"column_09000": [9000, 9001], "column_00007": [7, 8]}
    assert decoded == {"stripe": 2, "shard": 0, "schema": 2}
    # Size, tail, schema, stripe list, field list, two descriptors, two buffers.
    assert shard.requests.requests <= 9
    # The schema and a field list are all that grows with the number of columns: some 72 and 18 bytes for each.
    assert total(store.reads) < TAIL_READ + 90 * WIDE
    assert len(content) > 4_000_000


@pytest.mark.slow
def test_a_thousand_columns_of_ten_thousand_take_few_requests(wide: dict[str, bytes]) -> None:
    ((name, _),) = wide.items()
    shard = amudai.open(name, store=MemoryStore(wide))
    table = shard.read([f"column_{i:05}" for i in range(5000, 6000)])
    assert table["column_05999"].to_pylist() == [5999, 6000]
    assert shard.requests.requests <= 8


@pytest.mark.slow
def test_a_key_of_an_index_does_not_cost_a_look_at_every_stripe(tmp_path: Path) -> None:
    keys = {"key": [f"id{row // 2}" for row in range(600)], "n": range(600)}
    found = {}
    for stripes in (100, 300):
        path = tmp_path / f"{stripes}.amudai.shard"
        amudai.write(keys, path, indexes=[amudai.HashIndex("key")], stripe_rows=600 // stripes).close()
        store = RecordingStore({path.name: path.read_bytes()})
        shard = amudai.open(path.name, store=store)
        assert shard.read(["n"], where=amudai.col("key").isin(["id1", "id298"]))["n"].to_pylist() == [2, 3, 596, 597]
        found[stripes] = len(store.reads)
    assert found[300] <= found[100] + 2


@pytest.mark.parametrize("stripes", [1, 3, 200])
def test_stripes_with_rows_are_found(stripes: int, tmp_path: Path) -> None:
    path = tmp_path / "shard"
    amudai.write({"n": range(400)}, path, stripe_rows=-(-400 // stripes)).close()
    shard = ShardReader(str(path))
    for positions in ([], [0], [399], [3, 4, 5, 200], range(400), range(1, 400, 2), [*range(90, 310), 399]):
        rows = Rows.of_positions(np.array(positions, np.uint64), shard.origin)
        holding = [stripe.ordinal for stripe in shard.stripes if rows.intersect(stripe.extent)]
        said = [stripe.ordinal for stripe in shard.stripes_with(rows)]
        assert set(holding) <= set(said)
        assert len(said) <= max(len(holding), 1) or len(positions) >= stripes
