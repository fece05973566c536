"""Is every range found where the pieces say, and read with as few requests as promised?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import CorruptedData, InvalidArgument, StorageError
from amudai.storage import (
    MAX_READ,
    MERGE_GAP,
    Artifact,
    FetchedRanges,
    LocalStore,
    MemoryStore,
    Store,
    StoreCapabilities,
    file_url,
)
from amudai.storage import artifact as module
from amudai.storage.artifact import merge

SIZE = 1000
CONTENT = np.random.default_rng(2).bytes(SIZE)

Range = tuple[int, int]
ranges = st.lists(
    st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(lambda pair: (min(pair), max(pair))), max_size=30
)
short_ranges = st.lists(
    st.tuples(st.integers(0, SIZE), st.integers(0, 20)).map(lambda pair: (pair[0], min(SIZE, sum(pair)))), max_size=60
)


ZEROS = memoryview(bytes(2 * MAX_READ))
GAP = 8


class Sparse(Store):
    """A huge file of zeros that needs little memory, and remembers the ranges that were read."""

    capabilities = StoreCapabilities()

    def __init__(self, size: int) -> None:
        super().__init__()
        self.content = size
        self.asked: list[Range] = []

    def _size(self, url: str) -> int:
        return self.content

    def _fetch(self, url: str, ranges: Sequence[Range]) -> Sequence[memoryview]:
        self.asked += ranges
        return [ZEROS[: end - start] for start, end in ranges]

    def _put(self, url: str, parts: object) -> None:
        raise NotImplementedError


def small_limits() -> AbstractContextManager[object]:
    """A limit that a thousand bytes reach."""
    return patch.object(module, "MAX_READ", 64)


def arrays(asked: Sequence[Range]) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array(asked, np.uint64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def read(artifact: Artifact, asked: Sequence[Range]) -> list[bytes]:
    pieces = artifact.read_many(*arrays(asked))
    assert (pieces.which.dtype, pieces.starts.dtype) == (np.uint32, np.uint64)
    assert len(pieces.which) == len(pieces.starts) == len(asked)
    return [
        bytes(pieces.buffers[which][start : start + end - begin])
        for which, start, (begin, end) in zip(pieces.which.tolist(), pieces.starts.tolist(), asked, strict=True)
    ]


def slices(asked: Sequence[Range]) -> list[bytes]:
    return [CONTENT[start:end] for start, end in asked]


class Memory(MemoryStore):
    """Merges ranges only across small gaps."""

    capabilities = replace(MemoryStore.capabilities, merge_gap=GAP)


class Local(LocalStore):
    """Counts as if it merged ranges only across small gaps."""

    capabilities = replace(LocalStore.capabilities, merge_gap=GAP)


def plan(asked: Sequence[Range]) -> list[Range]:
    """The reads, by the obvious loop."""
    reads: list[list[int]] = []
    for start, end in sorted(each for each in asked if each[0] < each[1]):
        if reads and start < reads[-1][1]:
            reads[-1][1] = max(reads[-1][1], end)
        else:
            reads.append([start, end])
    merged: list[list[int]] = []
    for start, end in reads:
        if merged and start - merged[-1][1] <= GAP and end - merged[-1][0] <= module.MAX_READ:
            merged[-1][1] = end
        else:
            merged.append([start, end])
    return [(start, end) for start, end in merged]


@given(asked=ranges | short_ranges, tail=st.integers(0, SIZE))
def test_ranges_are_slices(asked: list[Range], tail: int) -> None:
    artifact = Artifact.open(Memory({"a": CONTENT}), "a", tail)
    with small_limits():
        assert read(artifact, asked) == slices(asked)


@given(asked=ranges | short_ranges, tail=st.integers(0, SIZE))
def test_ranges_of_a_mapped_file_are_slices(
    tmp_path_factory: pytest.TempPathFactory, asked: list[Range], tail: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "mapped"
    if not path.exists():
        path.write_bytes(CONTENT)
    local, memory = Local(), Memory({"a": CONTENT})
    with small_limits():
        assert read(Artifact.open(local, file_url(path), tail), asked) == slices(asked)
        assert read(Artifact.open(memory, "a", tail), asked) == slices(asked)
    assert (local.counters.requests, local.counters.bytes) == (memory.counters.requests, memory.counters.bytes)


@given(asked=ranges | short_ranges)
def test_the_reads_are_those_of_the_obvious_loop(asked: list[Range]) -> None:
    store = Memory({"a": CONTENT})
    with small_limits():
        Artifact.open(store, "a").read_many(*arrays(asked))
        expected = plan(asked)
    assert store.counters.requests - 1 == len(expected)
    assert store.counters.bytes == sum(end - start for start, end in expected)


@given(asked=(ranges | short_ranges).filter(lambda asked: any(start < end for start, end in asked)))
def test_merge(asked: list[Range]) -> None:
    asked = [(start, end) for start, end in asked if start < end]
    with small_limits():
        heads, lasts, member = merge(*arrays(asked), GAP)
        assert list(zip(heads.tolist(), lasts.tolist(), strict=True)) == plan(asked)
    assert (heads[1:] >= lasts[:-1]).all(), "a byte is read twice"
    for (start, end), which in zip(asked, member.tolist(), strict=True):
        assert heads[which] <= start
        assert end <= lasts[which]


def test_limits_of_merging() -> None:
    store = Sparse(1 << 40)
    artifact = Artifact.open(store, "a")
    at = 1 << 39
    artifact.read_many(*arrays([(at, at + 10), (at + 10 + MERGE_GAP, at + 20 + MERGE_GAP)]))
    artifact.read_many(*arrays([(at, at + 10), (at + 11 + MERGE_GAP, at + 20 + MERGE_GAP)]))
    artifact.read_many(*arrays([(at, at + 10), (at + 10, at + MAX_READ)]))
    artifact.read_many(*arrays([(at, at + 10), (at + 10, at + MAX_READ + 1)]))
    artifact.read_many(*arrays([(at, at + MAX_READ + 1), (at + MAX_READ + 1, at + MAX_READ + 2)]))
    artifact.read_many(*arrays([(at, at + MAX_READ + 1), (at + 10, at + 20)]))
    assert store.asked == [
        (at, at + 20 + MERGE_GAP),
        (at, at + 10),
        (at + 11 + MERGE_GAP, at + 20 + MERGE_GAP),
        (at, at + MAX_READ),
        (at, at + 10),
        (at + 10, at + MAX_READ + 1),
        (at, at + MAX_READ + 1),
        (at + MAX_READ + 1, at + MAX_READ + 2),
        (at, at + MAX_READ + 1),
    ]


def test_many_neighbours_are_few_reads() -> None:
    store = Sparse(1 << 40)
    starts = np.arange(50_000, dtype=np.uint64) * np.uint64(1000)
    pieces = Artifact.open(store, "a").read_many(starts, starts + np.uint64(1000))
    assert len(pieces.buffers) == len(store.asked) == -(-50_000 // (MAX_READ // 1000))
    assert max(end - start for start, end in store.asked) <= MAX_READ
    assert store.counters.bytes == 50_000_000


def test_a_mapped_file_is_one_buffer(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(CONTENT * 100)
    store = LocalStore()
    asked = [(0, 10), (50_000, 50_010), (50_020, 50_030)]
    pieces = Artifact.open(store, file_url(tmp_path / "a")).read_many(*arrays(asked))
    assert [len(each) for each in pieces.buffers] == [100 * SIZE]
    assert pieces.which.tolist() == [0, 0, 0]
    assert pieces.starts.tolist() == [0, 50_000, 50_020]
    assert (store.counters.requests, store.counters.bytes) == (3, 10 + 30)


def test_the_tail_costs_one_read() -> None:
    store = MemoryStore({"a": CONTENT})
    artifact = Artifact.open(store, "a", tail=100)
    assert (store.counters.requests, store.counters.bytes) == (2, 100)
    assert artifact.read(900, 1000) == CONTENT[900:]
    assert artifact.read(950, 960) == CONTENT[950:960]
    assert read(artifact, [(900, 910), (990, 1000)]) == slices([(900, 910), (990, 1000)])
    assert read(artifact, [(999, 1000)]) == slices([(999, 1000)])
    assert (store.counters.requests, store.counters.bytes) == (2, 100)
    assert read(artifact, [(0, 10), (990, 1000)]) == slices([(0, 10), (990, 1000)])
    assert (store.counters.requests, store.counters.bytes) == (3, 110)
    assert artifact.read(899, 901) == CONTENT[899:901]
    assert (store.counters.requests, store.counters.bytes) == (4, 112)


def test_a_tail_larger_than_the_file() -> None:
    store = MemoryStore({"a": CONTENT, "empty": b""})
    assert Artifact.open(store, "a", tail=1 << 20).read(0, SIZE) == CONTENT
    assert store.counters.requests == 2
    assert Artifact.open(store, "empty", tail=1 << 20).read(0, 0) == b""
    assert store.counters.requests == 3


def test_a_tail_from_elsewhere() -> None:
    store = MemoryStore({"a": CONTENT})
    artifact = Artifact(store, "a", SIZE, tail=(500, memoryview(CONTENT)[500:600]))
    assert read(artifact, [(500, 600), (510, 520)]) == slices([(500, 600), (510, 520)])
    assert store.counters.requests == 0
    assert read(artifact, [(500, 601), (0, 0), (510, 520)]) == slices([(500, 601), (0, 0), (510, 520)])
    assert store.counters.requests == 1


def test_nothing_asked() -> None:
    store = MemoryStore({"a": CONTENT})
    artifact = Artifact(store, "a", SIZE)
    assert read(artifact, []) == []
    assert read(artifact, [(5, 5)]) == [b""]
    assert read(artifact, [(5, 5), (1000, 1000)]) == [b"", b""]
    assert artifact.read(1000, 1000) == b""
    assert store.counters.requests == 0


BIG = 2**64 - 1


@pytest.mark.parametrize(
    ("start", "end"), [(0, SIZE + 1), (SIZE, SIZE + 1), (5, 4), (BIG, 0), (BIG, BIG), (0, BIG), (SIZE + 1, SIZE + 1)]
)
@pytest.mark.parametrize("tail", [0, 100])
def test_a_range_outside_is_damage(start: int, end: int, tail: int) -> None:
    store = MemoryStore({"a": CONTENT})
    artifact = Artifact.open(store, "a", tail)
    before = store.counters.requests
    found = rf"range: expected start <= end <= 1000, found {start}\.\.{end} \(url a, range {start}\.\.{end}\)"
    with pytest.raises(CorruptedData, match=found):
        artifact.read(start, end)
    for asked in ([(start, end)], [(0, 5), (start, end), (7, 9)]):
        with pytest.raises(CorruptedData, match=found):
            artifact.read_many(*arrays(asked))
    assert store.counters.requests == before


def test_negative_ranges_are_damage() -> None:
    artifact = Artifact(MemoryStore({"a": CONTENT}), "a", SIZE)
    with pytest.raises(CorruptedData):
        artifact.read(-5, 3)
    with pytest.raises(CorruptedData):
        artifact.read_many(np.array([-5, 0]), np.array([-3, 1]))  # type: ignore[arg-type]


def test_as_many_starts_as_ends() -> None:
    artifact = Artifact(MemoryStore({"a": CONTENT}), "a", SIZE)
    with pytest.raises(InvalidArgument):
        artifact.read_many(np.zeros(2, np.uint64), np.zeros(3, np.uint64))


def test_errors_of_the_store_name_the_range() -> None:
    artifact = Artifact(MemoryStore({"a": CONTENT}), "a", size=2000)  # the file was cut
    with pytest.raises(StorageError, match=r"expected 10 bytes, found 5 \(url a, range 995\.\.1005\)"):
        artifact.read(995, 1005)
    with pytest.raises(StorageError, match=r"short read: .* \(url a, range 0\.\.1005\)"):
        artifact.read_many(*arrays([(0, 5), (995, 1005)]))


def test_a_mapped_file_of_another_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(CONTENT)
    artifact = Artifact(LocalStore(), file_url(tmp_path / "a"), size=999)
    with pytest.raises(StorageError, match="expected a file of 999 bytes, found 1000"):
        artifact.read_many(*arrays([(0, 5), (100, 105)]))


def test_pieces_are_frozen() -> None:
    pieces = FetchedRanges([], np.zeros(0, np.uint32), np.zeros(0, np.uint64))
    with pytest.raises(AttributeError):
        pieces.buffers = []  # type: ignore[misc]
