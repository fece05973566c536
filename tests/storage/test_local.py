"""Do local files keep what only local files can promise?"""

from __future__ import annotations

import errno
import gc
import os
import resource
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from amudai.errors import ReplacedFile, StorageError
from amudai.storage import Artifact, LocalStore, file_url
from amudai.storage.local import MAX_COPIED, MAX_OPEN


@pytest.fixture
def store() -> Iterator[LocalStore]:
    found = LocalStore()
    yield found
    found.close()


def test_a_folder_is_no_file(store: LocalStore, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="expected a file, found a folder"):
        store.size(file_url(tmp_path))


def test_a_file_is_no_folder(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(StorageError, match="expected a file, found none"):
        store.size(file_url(tmp_path / "file" / "below"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_does_not_block(store: LocalStore, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="found a device, a pipe or a socket"):
        store.size(file_url(tmp_path / "pipe"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_refused_file(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    (tmp_path / "secret").chmod(0)
    with pytest.raises(StorageError, match="found it refused"):
        store.size(file_url(tmp_path / "secret"))


def test_a_refusal_of_the_system_is_told(store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StorageError, match=r"expected access to the file, found it refused \(url file:///"):
        store.size(file_url(tmp_path / "secret"))
    with pytest.raises(StorageError, match="found it refused"):
        store.put_if_absent(file_url(tmp_path / "new"), [b"x"])


@pytest.mark.parametrize(
    "url", ["/tmp/x", "x", "file:x", "file:/x", "file://host/x", "s3://b/x", "file:///a%2f..%2fb", "file:///a\0b"]
)
def test_what_is_no_url_of_a_local_file(store: LocalStore, url: str) -> None:
    with pytest.raises(StorageError):
        store.size(url)
    with pytest.raises(StorageError):
        store.put_if_absent(url, [b"x"])


@pytest.mark.parametrize("name", ["a b", "ünïcode", "100%", "%41", "a#b?c", "a\\b", "a\nb", "~", "a:b@c", "\udcff"])
def test_any_name(store: LocalStore, tmp_path: Path, name: str) -> None:
    store.put_if_absent(file_url(tmp_path / name), [b"content"])
    assert os.listdir(tmp_path) == [name]
    assert Artifact.open(store, file_url(tmp_path / name)).read(0, 7) == b"content"


def test_an_escaped_name_is_found(store: LocalStore, tmp_path: Path) -> None:
    """The reference implementation stores the name as the URL spells it."""
    folder = tmp_path / "our logs"
    folder.mkdir()
    url = file_url(folder / "a b.amudai.stripe")
    (folder / "a%20b.amudai.stripe").write_bytes(b"escaped")
    assert bytes(store.read_ranges(url, [(0, 7)])[0]) == b"escaped"
    (folder / "a b.amudai.stripe").write_bytes(b"decoded")
    assert bytes(LocalStore().read_ranges(url, [(0, 7)])[0]) == b"decoded"


@pytest.mark.slow
def test_views_outlive_the_store(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    store = LocalStore()
    (view,) = store.read_ranges(file_url(tmp_path / "a"), [(2, 5)])
    store.close()
    del store
    gc.collect()
    assert bytes(view) == b"234"


@pytest.mark.parametrize("size", [0, 1, MAX_COPIED, MAX_COPIED + 1, 3 * MAX_COPIED])
def test_small_and_large_pieces_are_the_same_bytes(store: LocalStore, tmp_path: Path, size: int) -> None:
    content = bytes(at % 251 for at in range(4 * MAX_COPIED))
    (tmp_path / "a").write_bytes(content)
    url = file_url(tmp_path / "a")
    for start in (0, 1, 4 * MAX_COPIED - size):
        found = store.read_range(url, start, start + size)
        assert found == content[start : start + size]
        assert found.readonly
    assert (store.counters.requests, store.counters.bytes) == (3, 3 * size)
    for start, end in ((-1, 1), (2, 1), (4 * MAX_COPIED, 4 * MAX_COPIED + 1)):
        with pytest.raises(StorageError, match=r"range: expected start <= end <= .*\(url file:///"):
            store.read_range(url, start, end)


def test_a_file_that_became_shorter_is_an_error(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    url = file_url(tmp_path / "a")
    assert store.size(url) == 10
    os.truncate(tmp_path / "a", 4)
    for end in (4, 8):
        with pytest.raises(ReplacedFile, match=r"found it changed: something wrote into it \(url file:///"):
            store.read_range(url, 3, end)


def test_files_are_mapped_while_others_read(store: LocalStore, tmp_path: Path) -> None:
    """A descriptor that a mapping replaces is closed once its last reader is done."""
    content = bytes(at % 251 for at in range(2 * MAX_COPIED))
    urls = []
    for name in range(20):
        (tmp_path / str(name)).write_bytes(content)
        urls.append(file_url(tmp_path / str(name)))

    def work(turn: int) -> bool:
        found = []
        for url in urls:
            size = (MAX_COPIED + 1) if turn % 4 == 0 else 100 + turn
            found.append(store.read_range(url, turn, turn + size) == content[turn : turn + size])
        return all(found)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))


def test_a_failure_to_read_is_told(store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    (tmp_path / "a").write_bytes(b"0123456789")
    monkeypatch.setattr(os, "pread", fail)
    with pytest.raises(StorageError, match=r"found OSError: .*Input/output error \(url file:///"):
        store.read_range(file_url(tmp_path / "a"), 0, 4)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")
def test_closing_closes(tmp_path: Path) -> None:
    def opened() -> int:
        return sum(
            os.path.realpath(f"/proc/self/fd/{each}").startswith(str(tmp_path)) for each in os.listdir("/proc/self/fd")
        )

    store = LocalStore()
    for i in range(MAX_OPEN + 10):
        (tmp_path / str(i)).write_bytes(b"x")
        assert store.size(file_url(tmp_path / str(i))) == 1
    assert opened() == MAX_OPEN
    views = store.read_ranges(file_url(tmp_path / "0"), [(0, 1)])
    of_mapping = 1 if sys.version_info < (3, 13) else 0
    assert opened() == MAX_OPEN + of_mapping
    assert store.read_range(file_url(tmp_path / "0"), 0, 1) == b"x"
    store.close()
    assert opened() == of_mapping
    assert views[0] == b"x"
    del views
    assert opened() == 0


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")
def test_what_is_no_file_is_closed_at_once(store: LocalStore, tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(StorageError, match="found a folder"):
            store.size(file_url(tmp_path))
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_replaced_file_stays_what_it_was(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old old")
    artifact = Artifact.open(store, file_url(tmp_path / "a"))
    (tmp_path / "b").write_bytes(b"new")
    os.replace(tmp_path / "b", tmp_path / "a")
    assert artifact.read(0, 7) == b"old old"


def test_a_missing_folder_is_named(store: LocalStore, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="expected a folder to write into, found none"):
        store.put_if_absent(file_url(tmp_path / "none" / "x"), [b"x"])
    assert os.listdir(tmp_path) == []


def test_a_new_file_has_usual_permissions(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    store.put_if_absent(file_url(tmp_path / "new"), [b"x"])
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == stat.S_IMODE((tmp_path / "usual").stat().st_mode)
    assert (tmp_path / "new").stat().st_nlink == 1


def test_the_longest_name(store: LocalStore, tmp_path: Path) -> None:
    store.put_if_absent(file_url(tmp_path / ("x" * 255)), [b"x"])
    with pytest.raises(StorageError, match="File name too long"):
        store.put_if_absent(file_url(tmp_path / ("x" * 256)), [b"x"])
    assert os.listdir(tmp_path) == ["x" * 255]


def test_a_link_to_nowhere_is_not_written_through(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(StorageError, match="never overwritten"):
        store.put_if_absent(file_url(tmp_path / "link"), [b"x"])
    assert os.listdir(tmp_path) == ["link"]


def test_a_file_that_appears_while_writing_stays(store: LocalStore, tmp_path: Path) -> None:
    def parts() -> Iterator[bytes]:
        yield b"mine"
        (tmp_path / "x").write_bytes(b"theirs")

    with pytest.raises(StorageError, match="never overwritten"):
        store.put_if_absent(file_url(tmp_path / "x"), parts())
    assert (tmp_path / "x").read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("size", [100, 1 << 20], ids=["noticed when flushed", "noticed when written"])
def test_a_full_disk_leaves_nothing(store: LocalStore, tmp_path: Path, size: int) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(StorageError, match="File too large"):
            store.put_if_absent(file_url(tmp_path / "x"), [bytes(size)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == []


class TestWithoutLinks:
    """File systems without hard links get the name claimed first."""

    @pytest.fixture(autouse=True)
    def no_links(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)

    def test_put(self, store: LocalStore, tmp_path: Path) -> None:
        store.put_if_absent(file_url(tmp_path / "x"), [b"content"])
        assert (tmp_path / "x").read_bytes() == b"content"
        assert os.listdir(tmp_path) == ["x"]

    def test_a_file_that_appears_while_writing_stays(self, store: LocalStore, tmp_path: Path) -> None:
        test_a_file_that_appears_while_writing_stays(store, tmp_path)

    def test_no_litter(self, store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "replace", fail)
        with pytest.raises(StorageError, match="Input/output error"):
            store.put_if_absent(file_url(tmp_path / "x"), [b"content"])
        assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("broken", [0, 1], ids=["of the file", "of the folder"])
def test_a_failed_sync_is_a_failed_put(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: int
) -> None:
    calls = iter(range(10))

    def fsync(_: int) -> None:
        if next(calls) == broken:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(StorageError, match="Input/output error"):
        store.put_if_absent(file_url(tmp_path / "x"), [b"content"])
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_synced_is_no_failure(
    store: LocalStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", fsync)
    store.put_if_absent(file_url(tmp_path / "x"), [b"content"])
    assert (tmp_path / "x").read_bytes() == b"content"
