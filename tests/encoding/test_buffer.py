"""Are the blocks of a buffer found, however they are mapped, cut into runs and read?"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai import encoding as package
from amudai.encoding import BlockBuffer
from amudai.encoding import buffer as module
from amudai.errors import CorruptedData
from amudai.rows import Rows
from tests.effort import examples
from tests.encoding import cascades, runs
from tests.encoding.runs import Block
from tests.oracle import block, presence
from tests.oracle.binary import lz4, zstd
from tests.oracle.binary import plain as binary_plain
from tests.oracle.numeric import plain

pytestmark = pytest.mark.native

COUNTS = [5, 1, 1024, 33, 700, 2, 2, 90, 1, 400, 17, 3]


@pytest.fixture(scope="module")
def blocks() -> list[Block]:
    rng, random = np.random.default_rng(4), Random(4)
    found = []
    for turn, count in enumerate(COUNTS):
        values = cascades.shaped(rng, count, "i8", "plain", turn)
        part, _ = runs.presence_of(runs.PRESENCE[turn % len(runs.PRESENCE)], count, rng)
        found.append(Block(block.build(part, cascades.encode(random, values, "i8", 3)[0]), count))
    return found


@pytest.fixture(scope="module")
def text_blocks() -> list[Block]:
    rng = np.random.default_rng(5)
    found = []
    for turn, count in enumerate(COUNTS):
        values = [f"row {at} {'x' * int(rng.integers(60))}".encode() for at in range(count)]
        encode = [binary_plain.encode, lz4.encode, zstd.encode][turn % 3]
        part, _ = runs.presence_of(runs.PRESENCE[turn % len(runs.PRESENCE)], count, rng)
        found.append(Block(block.build(part, encode(values)), count))
    return found


def numbers(buffer: BlockBuffer, ranges: Rows) -> tuple[bytes, list[bool] | None, int]:
    found = package.decode_numbers(buffer, ranges, "i8")
    valid = found.valid()
    return found.numbers("i8").tobytes(), None if valid is None else valid.tolist(), found.nulls


def strings(buffer: BlockBuffer, ranges: Rows) -> tuple[bytes, bytes, list[bool] | None, int]:
    found = package.decode_variable(buffer, ranges, text=True, wide=False)
    valid = found.valid()
    return (
        found.data.to_pybytes(),
        found.offsets.to_pybytes(),
        None if valid is None else valid.tolist(),
        found.nulls,
    )


@pytest.mark.parametrize("segment_size", [1, 2, 5, 11, 12, 13])
def test_maps_of_several_segments(blocks: list[Block], segment_size: int) -> None:
    expected, found = runs.buffer_of(blocks), runs.buffer_of(blocks, segment_size=segment_size)
    assert found.block_map.block_count == len(blocks)
    assert np.diff(found.block_map.values).tolist() == COUNTS
    for _, spans in runs.patterns(COUNTS, np.random.default_rng(segment_size)):
        assert numbers(found, runs.ranges_of(spans)) == numbers(expected, runs.ranges_of(spans))


@pytest.mark.parametrize("run_bytes", [1, 100, 3000, 20_000])
def test_runs_may_be_cut_anywhere(
    blocks: list[Block], text_blocks: list[Block], run_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(run_bytes)
    expected = [
        (
            spans,
            numbers(runs.buffer_of(blocks), runs.ranges_of(spans)),
            strings(runs.buffer_of(text_blocks), runs.ranges_of(spans)),
        )
        for _, spans in runs.patterns(COUNTS, rng)
    ]
    monkeypatch.setattr(module, "RUN_BYTES", run_bytes)
    whole = list(runs.buffer_of(blocks).runs(Rows.one(0, sum(COUNTS))))
    assert len(whole) > 1
    assert sum(run.slots for run in whole) == sum(COUNTS)
    if run_bytes == 1:
        assert [len(run.blocks) for run in whole] == [1] * len(blocks)
    for spans, as_numbers, as_strings in expected:
        assert numbers(runs.buffer_of(blocks), runs.ranges_of(spans)) == as_numbers
        assert strings(runs.buffer_of(text_blocks), runs.ranges_of(spans)) == as_strings


def test_all_spans_of_a_block_are_in_one_run(blocks: list[Block], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RUN_BYTES", 1)
    every_second = Rows.of_positions(np.arange(0, sum(COUNTS), 2, dtype=np.uint64))
    found = list(runs.buffer_of(blocks).runs(every_second))
    touched = [at for at, (first, last) in enumerate(borders(COUNTS)) if any(p % 2 == 0 for p in range(first, last))]
    assert len(found) == len(touched)


def borders(counts: Sequence[int]) -> list[tuple[int, int]]:
    ends = np.cumsum(counts).tolist()
    return list(zip([0, *ends[:-1]], ends, strict=True))


def test_only_the_blocks_that_are_wanted_are_read(blocks: list[Block]) -> None:
    buffer = runs.buffer_of(blocks)
    store = buffer._artifact.store
    before = store.counters.bytes
    numbers(buffer, Rows.one(2, 4))  # of the first block
    read = store.counters.bytes - before
    assert read < len(blocks[0].data) + 500  # with the map
    # Everything at once: one request for blocks and map.
    fresh = runs.buffer_of(blocks)
    store = fresh._artifact.store
    before = store.counters.requests
    numbers(fresh, Rows.one(0, sum(COUNTS)))
    assert store.counters.requests - before == 1


def test_bytes_that_were_read_by_others(blocks: list[Block]) -> None:
    buffer, other = runs.buffer_of(blocks), runs.buffer_of(blocks)
    start, end = buffer.ref
    buffer.keep(buffer._artifact.read(start, end))
    before = buffer._artifact.store.counters.requests
    for _, spans in runs.patterns(COUNTS, np.random.default_rng(1)):
        assert numbers(buffer, runs.ranges_of(spans)) == numbers(other, runs.ranges_of(spans))
    assert buffer._artifact.store.counters.requests == before


def test_blocks_far_apart_in_large_files() -> None:
    # Each block is larger than the gap across which reads are merged.
    values = [list(range(at, at + 4000)) for at in range(0, 40_000, 4000)]
    buffer = runs.buffer_of([Block(block.build(b"", plain.encode(part, "i8")), 4000) for part in values])
    assert buffer.block_map.block_count == 10
    wanted = np.array([7, 4001, 20_000, 20_002, 39_999], np.uint64)
    found = package.decode_numbers(buffer, Rows.of_positions(wanted), "i8")
    assert found.numbers("i8").tolist() == wanted.tolist()


@examples(100)
@given(data=st.data())
def test_any_cut_of_any_blocks(data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=12))
    total = sum(counts)
    blocks = [
        Block(block.build(b"", plain.encode(list(range(first, last)), "u2")), last - first)
        for first, last in borders(counts)
    ]
    buffer = runs.buffer_of(blocks, segment_size=data.draw(st.integers(1, 5)))
    positions = np.array(sorted(data.draw(st.sets(st.integers(0, total - 1)))), np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "RUN_BYTES", data.draw(st.sampled_from([1, 60, 200, 5000])))
        found = package.decode_numbers(buffer, Rows.of_positions(positions), "u2")
    assert found.numbers("u2").tolist() == positions.tolist()


def test_positions_behind_the_end_are_refused(blocks: list[Block]) -> None:
    total = sum(COUNTS)
    with pytest.raises(CorruptedData, match=f"expected at most {total}"):
        numbers(runs.buffer_of(blocks), Rows.one(0, total + 1))


def test_a_map_of_another_length_is_refused(blocks: list[Block]) -> None:
    total = sum(COUNTS)
    with pytest.raises(CorruptedData, match="value_count"):
        numbers(runs.buffer_of(blocks, values=total + 1), Rows.one(0, 1))


@pytest.mark.parametrize("at", [0, 9, 20, -1])
def test_checksums_are_compared_unless_told_otherwise(at: int) -> None:
    good = Block(block.build(presence.encode([True, False, True]), plain.encode([1, 2, 3], "i8")), 3)
    damaged = bytearray(good.data)
    damaged[at] ^= 1
    stored = [good, Block(bytes(damaged), 3), good]
    with pytest.raises(CorruptedData, match="block checksum") as caught:
        numbers(runs.buffer_of(stored), Rows.one(0, 9))
    assert (caught.value.place["block"], caught.value.place["url"]) == (1, "run")
    # Blocks that are not touched are not looked at.
    assert numbers(runs.buffer_of(stored), Rows.one(0, 3)) == numbers(runs.buffer_of([good]), Rows.one(0, 3))
    if at == -1:
        unverified = runs.buffer_of(stored, verify=False)
        assert numbers(unverified, Rows.one(0, 9)) == numbers(runs.buffer_of([good] * 3), Rows.one(0, 9))


def test_all_blocks(blocks: list[Block]) -> None:
    assert sum(len(opened) for opened in runs.buffer_of(blocks).all_blocks()) == len(blocks)
    assert sum(package.describe_numbers(runs.buffer_of(blocks), "i8").values()) == len(blocks)


@examples(60)
@given(data=st.data())
def test_a_few_numbers(data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=8))
    total = sum(counts)
    ends = np.cumsum(counts).tolist()
    starts = [0, *ends[:-1]]
    few = [
        Block(block.build(b"", plain.encode(list(range(s, e)), "u2")), e - s) for s, e in zip(starts, ends, strict=True)
    ]
    first = data.draw(st.integers(0, total))
    last = data.draw(st.integers(first, total))
    buffer = runs.buffer_of(few)
    assert package.decode_few(buffer, first, last, "u2").tolist() == list(range(first, last))
    with pytest.raises(CorruptedData, match=f"expected at most {total}"):
        package.decode_few(buffer, first, total + 1, "u2")


def test_a_few_numbers_of_a_damaged_block() -> None:
    good = Block(block.build(b"", plain.encode([1, 2, 3], "i8")), 3)
    damaged = bytearray(good.data)
    damaged[-1] ^= 1
    buffer = runs.buffer_of([good, Block(bytes(damaged), 3)])
    assert package.decode_few(buffer, 1, 3, "i8").tolist() == [2, 3]
    with pytest.raises(CorruptedData, match="block checksum") as caught:
        package.decode_few(buffer, 4, 5, "i8")
    assert (caught.value.place["block"], caught.value.place["url"]) == (1, "run")
