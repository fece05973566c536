"""Do all stores keep the promises of the contract? Written once, run against every store in `PLACES`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from amudai.errors import CorruptedData, ReplacedFile, StorageError, UnsupportedFeature
from amudai.storage import Artifact, Store, StoreCapabilities
from tests.storage.places import PLACES, Place

CONTENT = bytes(range(256)) * 4


@pytest.fixture(params=PLACES, ids=lambda make: make.__name__)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    found: Place = request.param(tmp_path)
    return found


@pytest.fixture
def writable(place: Place) -> Place:
    if not place.writes:
        pytest.skip("this store only reads")
    return place


@pytest.fixture
def url(place: Place) -> str:
    place.seed("a.bin", CONTENT)
    return place.url("a.bin")


def test_declares_what_it_can_do(place: Place) -> None:
    assert isinstance(place.store, Store)
    assert isinstance(place.store.capabilities, StoreCapabilities)


def test_a_mappable_store_gives_whole_files_without_a_copy(place: Place, url: str) -> None:
    if not place.store.capabilities.mappable:
        with pytest.raises(UnsupportedFeature, match=r"expected one with the capability mappable, found \w+Store"):
            place.store.mapped(url, 1, 1)
        return
    first, second = (place.store.mapped(url, 3, 70) for _ in range(2))
    assert (bytes(first), first.readonly) == (CONTENT, True)
    addresses = [np.frombuffer(view, np.uint8).ctypes.data for view in (first, second)]
    assert addresses[0] == addresses[1]
    assert (place.store.counters.requests, place.store.counters.bytes) == (6, 140)


def test_a_store_with_local_paths_names_its_files(place: Place, url: str) -> None:
    if not place.store.capabilities.local_path:
        with pytest.raises(UnsupportedFeature, match=r"expected one with the capability local_path, found \w+Store"):
            place.store.local_path(url)
        return
    assert Path(place.store.local_path(url)).read_bytes() == CONTENT
    Path(place.store.local_path(place.url("new"), new=True)).write_bytes(b"put past the store")
    assert place.store.size(place.url("new")) == 18


def test_a_listable_store_lists_its_files(place: Place, url: str) -> None:
    folder = url.removesuffix("a.bin") or "/"
    if not place.store.capabilities.listable:
        with pytest.raises(UnsupportedFeature, match=r"expected one with the capability listable, found \w+Store"):
            list(place.store.files_below(folder))
        return
    place.seed("b c.bin", b"123")
    found = sorted(place.store.files_below(folder), key=lambda file: file.url)
    assert [file.size for file in found] == [len(CONTENT), 3]
    for file in found:
        described = place.store.describe(file.url)
        assert (described.url, described.size, described.modified) == (file.url, file.size, file.modified)
        assert file.modified is not None
        assert abs(file.modified / 1e9 - time.time()) < 3600
        assert len(place.store.read_range(file.url, 0, file.size)) == file.size


def test_a_file_is_described(place: Place, url: str) -> None:
    assert place.store.describe(url).size == len(CONTENT)
    assert place.store.describe(url).url == url
    with pytest.raises(FileNotFoundError):
        place.store.describe(place.url("none"))


@pytest.mark.parametrize("count", [1, 1000, 1024, 5000])
def test_the_last_bytes(place: Place, url: str, count: int) -> None:
    file, tail = place.store.read_tail(url, count)
    assert (file.url, file.size, bytes(tail)) == (url, len(CONTENT), CONTENT[-count:])
    assert (tail.readonly, tail.format, tail.ndim) == (True, "B", 1)
    requests = 1 if place.store.capabilities.suffix_ranges else 2
    assert (place.store.counters.requests, place.store.counters.bytes) == (requests, min(count, len(CONTENT)))


def test_the_last_bytes_of_nothing(place: Place, url: str) -> None:
    file, tail = place.store.read_tail(url, 0)
    assert (file.size, tail) == (len(CONTENT), b"")
    place.seed("empty", b"")
    file, tail = place.store.read_tail(place.url("empty"), 10)
    assert (file.size, tail) == (0, b"")
    with pytest.raises(FileNotFoundError, match=r"expected a file, found none .*nothing"):
        place.store.read_tail(place.url("nothing"), 10)


def test_a_closed_store_opens_files_again(place: Place, url: str) -> None:
    (before,) = place.store.read_ranges(url, [(0, 1024)])
    place.store.forget(url)
    assert place.store.size(url) == len(CONTENT)
    place.store.close()
    assert bytes(place.store.read_ranges(url, [(3, 30)])[0]) == CONTENT[3:30]
    assert bytes(before) == CONTENT


def test_size(place: Place, url: str) -> None:
    assert place.store.size(url) == len(CONTENT)


def test_size_of_nothing(place: Place) -> None:
    place.seed("empty", b"")
    assert place.store.size(place.url("empty")) == 0


def test_one_range(place: Place, url: str) -> None:
    (found,) = place.store.read_ranges(url, [(3, 300)])
    assert bytes(found) == CONTENT[3:300]


def test_many_ranges_in_any_order(place: Place, url: str) -> None:
    ranges = [(0, 1), (1000, 1024), (5, 9), (9, 12), (7, 600), (5, 9), (0, 1024)]
    found = place.store.read_ranges(url, ranges)
    assert [bytes(each) for each in found] == [CONTENT[start:end] for start, end in ranges]


def test_views_are_read_only_bytes(place: Place, url: str) -> None:
    for view in place.store.read_ranges(url, [(3, 30), (4, 4)]):
        assert isinstance(view, memoryview)
        assert (view.readonly, view.format, view.ndim, view.c_contiguous) == (True, "B", 1, True)


def test_no_ranges(place: Place, url: str) -> None:
    assert list(place.store.read_ranges(url, [])) == []


def test_empty_ranges_cost_nothing(place: Place, url: str) -> None:
    found = place.store.read_ranges(url, [(0, 0), (1, 3), (1024, 1024)])
    assert [bytes(each) for each in found] == [b"", CONTENT[1:3], b""]
    assert (place.store.counters.requests, place.store.counters.bytes) == (1, 2)
    assert [bytes(each) for each in place.store.read_ranges(url, [(7, 7)])] == [b""]
    assert place.store.counters.requests == 1


def test_requests_and_bytes_are_counted(place: Place, url: str) -> None:
    place.store.size(url)
    place.store.read_ranges(url, [(0, 10), (20, 50)])
    place.store.read_ranges(url, [(0, 1024)])
    assert (place.store.counters.requests, place.store.counters.bytes) == (4, 1064)


@pytest.mark.parametrize("ranges", [[(1000, 1025)], [(1024, 1025)], [(5000, 5001)], [(0, 3), (1, 2000)]])
def test_no_bytes_behind_the_end(place: Place, url: str, ranges: list[tuple[int, int]]) -> None:
    with pytest.raises(StorageError, match=r"a\.bin"):
        place.store.read_ranges(url, ranges)


@pytest.mark.parametrize("ranges", [[(3, 2)], [(-1, 2)], [(-3, -1)], [(0, 3), (9, 5)]])
def test_no_senseless_ranges(place: Place, url: str, ranges: list[tuple[int, int]]) -> None:
    with pytest.raises(StorageError, match="expected 0 <= start <= end"):
        place.store.read_ranges(url, ranges)


def test_a_missing_file(place: Place) -> None:
    with pytest.raises(FileNotFoundError, match=r"expected a file, found none .*nothing") as caught:
        place.store.size(place.url("nothing"))
    assert isinstance(caught.value, StorageError)
    with pytest.raises(FileNotFoundError, match=r"expected a file, found none .*nothing"):
        place.store.read_ranges(place.url("nothing"), [(0, 1), (2, 3)])


def test_put_and_read(writable: Place) -> None:
    parts = [b"one", b"", b"two" * 100_000, b"three"]
    writable.store.put_if_absent(writable.url("new"), iter(parts))
    whole = b"".join(parts)
    assert writable.store.size(writable.url("new")) == len(whole)
    assert bytes(writable.store.read_ranges(writable.url("new"), [(0, len(whole))])[0]) == whole
    assert writable.names() == {"new"}


def test_put_nothing(writable: Place) -> None:
    writable.store.put_if_absent(writable.url("empty"), [])
    assert writable.store.size(writable.url("empty")) == 0


def test_a_second_put_is_refused(writable: Place) -> None:
    writable.store.put_if_absent(writable.url("once"), [b"first"])
    with pytest.raises(FileExistsError, match=r"never overwritten .*once") as caught:
        writable.store.put_if_absent(writable.url("once"), [b"second"])
    assert isinstance(caught.value, StorageError)
    assert bytes(writable.store.read_ranges(writable.url("once"), [(0, 5)])[0]) == b"first"
    assert writable.names() == {"once"}


@pytest.mark.parametrize("trouble", [RuntimeError("stop"), OSError("spool is gone"), KeyboardInterrupt()])
def test_an_error_in_the_parts_leaves_nothing(writable: Place, trouble: BaseException) -> None:
    def parts() -> Iterator[bytes]:
        yield b"some" * 100_000
        raise trouble

    with pytest.raises(type(trouble)) as caught:
        writable.store.put_if_absent(writable.url("half"), parts())
    assert caught.value is trouble
    assert writable.names() == set()
    writable.store.put_if_absent(writable.url("half"), [b"whole"])
    assert writable.store.size(writable.url("half")) == 5


def test_one_of_many_writers_wins(writable: Place) -> None:
    if not writable.races:
        assert not writable.store.capabilities.create_only
        pytest.skip("the file system does not promise it")

    def put(writer: int) -> bool:
        try:
            writable.store.put_if_absent(writable.url("contested"), [bytes([writer])] * 1000)
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(put, range(8)))
    assert won.count(True) == 1
    (found,) = writable.store.read_ranges(writable.url("contested"), [(0, 1000)])
    assert bytes(found) == bytes([won.index(True)]) * 1000
    assert writable.names() == {"contested"}


def test_a_store_that_cannot_create_says_so(place: Place) -> None:
    if place.writes:
        pytest.skip("this store writes")
    assert not place.store.capabilities.create_only
    with pytest.raises(UnsupportedFeature, match="creates a file only where there is none"):
        place.store.put_if_absent(place.url("new"), [b"x"])
    assert place.names() == set()


def test_an_artifact_reads_as_everywhere(place: Place) -> None:
    far = 2 * place.store.capabilities.merge_gap
    content = np.random.default_rng(1).bytes(2 * far)
    place.seed("big", content)
    artifact = Artifact.open(place.store, place.url("big"), tail=1000)
    opening = 1 if place.store.capabilities.suffix_ranges else 2
    assert (place.store.counters.requests, place.store.counters.bytes) == (opening, 1000)
    # Two neighbours, a far pair that is merged across its gap, one in the tail.
    starts = np.array([0, 100, far, far + 300, 2 * far - 500], np.uint64)
    ends = np.array([100, 150, far + 200, far + 400, 2 * far - 100], np.uint64)
    pieces = artifact.read_many(starts, ends)
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        begin = int(pieces.starts[i])
        assert bytes(pieces.buffers[pieces.which[i]][begin : begin + end - start]) == content[start:end]
    assert (place.store.counters.requests, place.store.counters.bytes) == (opening + 2, 1000 + 150 + 400)
    with pytest.raises(CorruptedData, match=rf"expected start <= end <= {2 * far}, found 9\.\.{2 * far + 1} .*big"):
        artifact.read(9, 2 * far + 1)
    assert place.store.counters.requests == opening + 2


def test_a_file_that_was_replaced_is_not_read(place: Place, url: str) -> None:
    file = place.store.identify(url)
    assert (file.url, file.size) == (url, len(CONTENT))
    assert bytes(place.store.read_range(url, 3, 9, file.tag)) == CONTENT[3:9]
    if file.tag is None:
        pytest.skip("this store has no tags")
    time.sleep(0.01)
    place.seed("a.bin", CONTENT[::-1])
    place.store.forget(url)
    with pytest.raises(ReplacedFile, match=r"it was replaced .*a\.bin"):
        place.store.read_ranges(url, [(3, 9), (20, 30)], file.tag)
    with pytest.raises(ReplacedFile, match=r"it was replaced .*a\.bin"):
        place.store.read_range(url, 3, 9, file.tag)
    assert bytes(place.store.read_range(url, 0, 3)) == CONTENT[:-4:-1]
    assert place.store.identify(url).tag != file.tag
    assert place.store.describe(url).tag == place.store.identify(url).tag


def test_replacing(writable: Place) -> None:
    store, url = writable.store, writable.url("root")
    if not store.capabilities.replaces:
        with pytest.raises(UnsupportedFeature, match=r"expected one with the capability replaces, found \w+Store"):
            store.replace(url, [b"new"], "tag")
        return
    store.put_if_absent(url, [b"first"])
    seen = store.identify(url).tag
    assert seen is not None

    def replace(writer: int) -> bool:
        try:
            store.replace(url, [b"by", bytes([writer])], seen)
        except ReplacedFile:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(replace, range(8)))
    assert won.count(True) == 1
    assert bytes(store.read_range(url, 0, 3)) == b"by" + bytes([won.index(True)])
    with pytest.raises(StorageError):
        store.replace(writable.url("nothing"), [b"x"], seen)
    assert writable.names() == {"root"}


def test_removing(place: Place, url: str) -> None:
    if not place.store.capabilities.removes:
        with pytest.raises(UnsupportedFeature, match=r"expected one with the capability removes, found \w+Store"):
            place.store.remove(url)
        return
    place.store.remove(url)
    assert place.names() == set()
    with pytest.raises(FileNotFoundError):
        place.store.size(url)
