"""Do the files of a shard appear all at once, or not at all?"""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import amudai
from amudai.errors import InvalidArgument, ReplacedFile, StorageError, UnsupportedFeature
from amudai.storage import (
    Artifact,
    LocalStore,
    MemoryStore,
    SealedFile,
    Sealing,
    Store,
    StoreCapabilities,
    file_url,
    remove_files,
    sealed,
    unpublished,
)
from tests.storage.places import PLACES, Place

ROOT, STRIPES = "logs.amudai.shard", ("1f.amudai.stripe", "2e.amudai.stripe")
CONTENT = {STRIPES[0]: b"first" * 1000, STRIPES[1]: b"second", ROOT: b"root" * 100_000}


@pytest.fixture(params=["unnamed", "part", "no links"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the file system can do."""
    if request.param == "part":
        monkeypatch.setattr(unpublished, "_UNNAMED", 0)
    if request.param == "no links":

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", refuse)
    return str(request.param)


def fill(sealing: Sealing, url: Callable[[str], str], content: dict[str, bytes] | None = None) -> None:
    for name, whole in (content or CONTENT).items():
        with sealing.file(url(name)) as out:
            out.write(whole[:3])
            out.write(memoryview(whole)[3:])
            assert out.tell() == len(whole)


def seal(
    store: Store,
    url: Callable[[str], str],
    *,
    content: dict[str, bytes] | None = None,
    meanwhile: Callable[[], object] = lambda: None,
    overwrite: bool = False,
) -> None:
    """Write and publish; `meanwhile` happens when everything is written and nothing is published."""
    with Sealing(store, url(ROOT), overwrite=overwrite) as sealing:
        fill(sealing, url, content)
        meanwhile()
        sealing.publish()


def stop() -> None:
    raise RuntimeError("stop")


def local(folder: Path) -> Callable[[str], str]:
    return lambda name: file_url(folder / name)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(params=PLACES, ids=lambda make: make.__name__)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    found: Place = request.param(tmp_path)
    if not found.writes:
        pytest.skip("this store only reads")
    return found


class TestEverywhere:
    """What all stores that write have in common."""

    def test_files_appear_together(self, place: Place) -> None:
        with Sealing(place.store, place.url(ROOT)) as sealing:
            fill(sealing, place.url)
            assert place.names() <= {name for name in place.names() if name.endswith(".part")}
            sealing.publish()
        assert place.names() == set(CONTENT)
        for name, content in CONTENT.items():
            assert Artifact.open(place.store, place.url(name)).read(0, len(content)) == content

    def test_nothing_appears_without_publishing(self, place: Place) -> None:
        with Sealing(place.store, place.url(ROOT)) as sealing:
            fill(sealing, place.url)
        assert place.names() == set()

    def test_an_error_leaves_nothing(self, place: Place) -> None:
        with pytest.raises(RuntimeError, match="stop"):
            seal(place.store, place.url, meanwhile=stop)
        assert place.names() == set()

    def test_a_root_that_is_there_is_refused_at_once(self, place: Place) -> None:
        place.seed(ROOT, b"theirs")
        with pytest.raises(StorageError, match=r"a sealed file is never overwritten \(url .*logs\.amudai\.shard"):
            Sealing(place.store, place.url(ROOT))
        assert place.names() == {ROOT}

    def test_a_root_that_appears_meanwhile_stays(self, place: Place) -> None:
        with pytest.raises(StorageError, match="never overwritten"):
            seal(place.store, place.url, meanwhile=lambda: place.seed(ROOT, b"theirs"))
        (found,) = place.store.read_ranges(place.url(ROOT), [(0, 6)])
        assert bytes(found) == b"theirs"

    def test_align(self, place: Place) -> None:
        with Sealing(place.store, place.url(ROOT)) as sealing:
            out = sealing.file(place.url(ROOT))
            assert out.align(64) == 0
            assert out.write(b"12345678") == 8
            assert out.align(64) == out.tell() == 64
            assert out.align(64) == 64
            assert out.write(np.arange(2, dtype=np.uint32)) == 8
            assert out.write(b"") == 0
            sealing.publish()  # closes what is open
        (found,) = place.store.read_ranges(place.url(ROOT), [(0, 72)])
        assert bytes(found) == b"12345678" + bytes(56) + b"\0\0\0\0\1\0\0\0"

    def test_an_empty_file(self, place: Place) -> None:
        with Sealing(place.store, place.url(ROOT)) as sealing:
            sealing.file(place.url(ROOT))
            sealing.publish()
        assert place.store.size(place.url(ROOT)) == 0

    def test_calls_that_make_no_sense(self, place: Place) -> None:
        with Sealing(place.store, place.url(ROOT)) as sealing:
            with pytest.raises(InvalidArgument, match="publish: expected a root file, found that none was created"):
                sealing.publish()
            out = sealing.file(place.url(ROOT))
            with pytest.raises(InvalidArgument, match=r"a new name, found one that was created before \(url"):
                sealing.file(place.url(ROOT))
            out.close()
            out.close()
            with pytest.raises(InvalidArgument, match="file: expected an open file, found a closed one"):
                out.write(b"x")
            sealing.publish()
            for again in (sealing.publish, lambda: sealing.file(place.url("x"))):
                with pytest.raises(InvalidArgument, match="an open one, found one that was published or closed"):
                    again()


class TestElsewhere:
    """Stores that are not local."""

    def test_overwrite(self) -> None:
        store = MemoryStore({"old": b"old"})
        with Sealing(store, "old", overwrite=True) as sealing, Sealing(store, "old", overwrite=True) as other:
            for number, each in enumerate((sealing, other)):
                with each.file("old") as root:
                    root.write(bytes([number]))
            sealing.publish()
            with pytest.raises(ReplacedFile, match=r"it was replaced \(url old\)"):
                other.publish()
        assert store._files == {"old": b"\0"}

    def test_a_store_that_cannot_replace_says_so(self) -> None:
        class Keeping(MemoryStore):
            capabilities = StoreCapabilities(create_only=True)

        store = Keeping({"old": b"old"})
        with pytest.raises(UnsupportedFeature, match="overwrite: expected a store that can"):
            Sealing(store, "old", overwrite=True)
        with Sealing(store, "new", overwrite=True) as sealing:
            sealing.file("new")
            sealing.publish()
        assert store.size("old") == 3

    def test_what_is_left_behind_is_told(self) -> None:
        store = MemoryStore()
        with pytest.raises(StorageError) as error:
            seal(store, str, meanwhile=lambda: store._files.__setitem__(ROOT, b"theirs"))
        assert error.value.__notes__ == [f"files that nothing refers to were left behind: {', '.join(STRIPES)}"]

    def test_past_the_memory_files_wait_in_a_scratch_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sealed, "IN_MEMORY", 1000)
        store = MemoryStore()
        with Sealing(store, ROOT, temp_folder=str(tmp_path)) as sealing:
            outs = [sealing.file(name) for name in CONTENT]
            for at in range(0, 400_000, 999):  # turn by turn
                for out, content in zip(outs, CONTENT.values(), strict=True):
                    out.write(content[at : at + 999])
            assert os.listdir(tmp_path) == []
            sealing.publish()
        assert store._files == CONTENT

    def test_a_store_that_does_not_answer(self) -> None:
        class Broken(MemoryStore):
            def _size(self, url: str) -> int:
                raise StorageError("expected access to the file, found it refused")

        with pytest.raises(StorageError, match="found it refused"):
            Sealing(Broken(), "x")


class TestLocally:
    def test_every_kind_of_file_system(self, tmp_path: Path, system: str) -> None:
        with Sealing(LocalStore(), file_url(tmp_path / ROOT)) as sealing:
            fill(sealing, local(tmp_path))
            if system != "part":
                assert files(tmp_path) == {}
            sealing.publish()
        assert files(tmp_path) == CONTENT
        assert {path.stat().st_nlink for path in tmp_path.iterdir()} == {1}

    def test_permissions_are_the_usual_ones(self, tmp_path: Path, system: str) -> None:
        for mask in (0o022, 0o077, 0o002):
            before = os.umask(mask)
            try:
                folder = tmp_path / oct(mask)
                folder.mkdir()
                (folder / "usual").write_bytes(b"")
                with Sealing(LocalStore(), file_url(folder / ROOT), overwrite=mask == 0o077) as sealing:
                    fill(sealing, local(folder))
                    sealing.publish()
                modes = {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
                assert modes == {stat.S_IMODE((folder / "usual").stat().st_mode)}
            finally:
                os.umask(before)

    def test_a_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(StorageError, match="expected a folder to write into, found none"):
            Sealing(LocalStore(), file_url(tmp_path / "none" / ROOT))
        with Sealing(LocalStore(), file_url(tmp_path / ROOT)) as sealing, pytest.raises(StorageError, match="a folder"):
            sealing.file(file_url(tmp_path / "none" / "x"))

    @pytest.mark.parametrize("overwrite", [False, True])
    def test_a_folder_is_never_replaced(self, tmp_path: Path, overwrite: bool) -> None:
        (tmp_path / ROOT).mkdir()
        with pytest.raises(StorageError, match="expected a file, found a folder"):
            Sealing(LocalStore(), file_url(tmp_path / ROOT), overwrite=overwrite)

    def test_files_in_several_folders(self, tmp_path: Path) -> None:
        (tmp_path / "index").mkdir()
        with Sealing(LocalStore(), file_url(tmp_path / ROOT)) as sealing:
            sealing.file(file_url(tmp_path / "index" / "terms")).write(b"terms")
            sealing.file(file_url(tmp_path / ROOT)).write(b"root")
            sealing.publish()
        assert (tmp_path / "index" / "terms").read_bytes() == b"terms"

    def test_a_stripe_that_is_there_stays(self, tmp_path: Path, system: str) -> None:
        (tmp_path / STRIPES[1]).write_bytes(b"theirs")
        with pytest.raises(StorageError, match=r"never overwritten \(url .*2e\.amudai\.stripe"):
            seal(LocalStore(), local(tmp_path))
        assert files(tmp_path) == {STRIPES[1]: b"theirs"}

    def test_somebody_elses_file_is_not_withdrawn(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A name that was ours and is another's by now."""

        def sync(folder: str) -> None:
            (tmp_path / "theirs").write_bytes(b"theirs")
            os.replace(tmp_path / "theirs", tmp_path / STRIPES[0])
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(sealed, "sync_folder", sync)
        with pytest.raises(StorageError):
            seal(LocalStore(), local(tmp_path))
        assert files(tmp_path) == {STRIPES[0]: b"theirs"}

    @pytest.mark.slow
    def test_more_files_than_a_process_may_open(self, tmp_path: Path) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        used = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 40
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(80, 2 * used), hard))
        try:
            with Sealing(LocalStore(), file_url(tmp_path / ROOT)) as sealing:
                for at in range(500):
                    with sealing.file(file_url(tmp_path / f"{at}.amudai.stripe")) as out:
                        out.write(b"%d" % at)
                sealing.file(file_url(tmp_path / ROOT)).write(b"root")
                assert all(name.endswith(".part") for name in os.listdir(tmp_path))
                sealing.publish()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        expected = {f"{at}.amudai.stripe": b"%d" % at for at in range(500)}
        assert files(tmp_path) == {**expected, ROOT: b"root"}

    def test_parts_of_others_are_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / ".amudai-0123456789abcdef.part").write_bytes(b"somebody is writing this")
        seal(LocalStore(), local(tmp_path))
        assert set(files(tmp_path)) == {".amudai-0123456789abcdef.part", *CONTENT}

    def test_one_of_many_writers_wins(self, tmp_path: Path) -> None:
        won, barrier = [], threading.Barrier(6)

        def write(writer: int) -> None:
            with Sealing(LocalStore(), file_url(tmp_path / ROOT)) as sealing:
                sealing.file(file_url(tmp_path / f"{writer}.stripe")).write(b"%d" % writer)
                sealing.file(file_url(tmp_path / ROOT)).write(b"%d" % writer)
                barrier.wait()
                try:
                    sealing.publish()
                except StorageError:
                    return
                won.append(writer)

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (winner,) = won
        assert files(tmp_path) == {f"{winner}.stripe": b"%d" % winner, ROOT: b"%d" % winner}


OLD = {ROOT: b"old root", "old1.stripe": b"old", "old2.stripe": b"old", "kept.stripe": b"another shard's"}


class TestOverwriting:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for name, content in OLD.items():
            (tmp_path / name).write_bytes(content)
        return tmp_path

    def test_the_old_shard_goes_when_the_new_one_is_there(self, folder: Path, system: str) -> None:
        store, url = LocalStore(), local(folder)
        old = Artifact.open(store, url(ROOT))
        with Sealing(store, url(ROOT), overwrite=True) as sealing:
            fill(sealing, url)
            if system != "part":
                assert files(folder) == OLD
            sealing.publish()
        assert files(folder) == {**OLD, **CONTENT}
        gone = [url("old1.stripe"), url("old2.stripe")]
        assert remove_files(store, [*gone, url("never.stripe"), f"file://{folder}", "s3://elsewhere/x"]) == gone
        assert files(folder) == {**CONTENT, "kept.stripe": b"another shard's"}
        assert Artifact.open(store, url(ROOT)).read(0, 4) == b"root"  # not what the store had mapped
        with pytest.raises(StorageError, match="it was replaced"):
            old.read_many(np.array([0, 4], np.uint64), np.array([1, 5], np.uint64))

    def test_a_store_of_another_class_with_local_paths(self, folder: Path) -> None:
        class Below(MemoryStore):
            """Names below a folder as URLs; it remembers what it was told to forget."""

            capabilities = StoreCapabilities(local_path=True)
            forgotten: ClassVar[list[str]] = []

            def local_path(self, url: str, *, new: bool = False) -> str:
                return str(folder / url)

            def forget(self, url: str) -> None:
                self.forgotten.append(url)

        seal(Below(), str, overwrite=True)
        assert files(folder) == {**OLD, **CONTENT}
        assert Below.forgotten == [ROOT]

    def test_there_may_be_no_old_shard(self, tmp_path: Path) -> None:
        seal(LocalStore(), local(tmp_path), overwrite=True)
        assert files(tmp_path) == CONTENT

    def test_an_error_keeps_the_old_shard(self, folder: Path, system: str) -> None:
        with pytest.raises(RuntimeError):
            seal(LocalStore(), local(folder), overwrite=True, meanwhile=stop)
        assert files(folder) == OLD

    @pytest.mark.parametrize("nth", range(3))
    def test_a_failure_at_the_end_keeps_one_of_them(
        self, folder: Path, system: str, monkeypatch: pytest.MonkeyPatch, nth: int
    ) -> None:
        calls = iter(range(100))
        sync, replace = sealed.sync_folder, os.replace

        def failing_sync(path: str) -> None:
            if next(calls) == nth:
                raise OSError(errno.EIO, "Input/output error")
            sync(path)

        def failing_replace(source: str, target: str) -> None:
            if str(target).endswith(ROOT) and nth == 2:
                raise OSError(errno.EIO, "Input/output error")
            replace(source, target)

        monkeypatch.setattr(sealed, "sync_folder", failing_sync)
        monkeypatch.setattr(os, "replace", failing_replace)
        url = local(folder)
        with pytest.raises(StorageError, match="Input/output error"):
            seal(LocalStore(), url, overwrite=True)
        # 1: the new root already has its name, but it might not survive a loss of power.
        assert files(folder) == ({**OLD, **CONTENT} if nth == 1 else OLD)

    def test_an_interrupt_after_the_replacing_removes_nothing(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        replace = os.replace

        def interrupted(source: str, target: str) -> None:
            replace(source, target)
            raise KeyboardInterrupt

        monkeypatch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            seal(LocalStore(), local(folder), overwrite=True)
        assert files(folder) == {**OLD, **CONTENT}

    @pytest.mark.slow
    def test_a_reader_finds_the_old_or_the_new(self, tmp_path: Path, system: str) -> None:
        path, stop, seen = tmp_path / ROOT, threading.Event(), set()
        path.write_bytes(b"0" * 100_000)
        problems: list[BaseException] = []

        def look() -> None:
            try:
                while not stop.is_set():
                    content = bytes(LocalStore().read_ranges(file_url(path), [(0, 100_000)])[0])
                    assert len(set(content)) == 1
                    seen.add(content[0])
            except BaseException as error:
                problems.append(error)

        readers = [threading.Thread(target=look) for _ in range(3)]
        for reader in readers:
            reader.start()
        for round_ in range(1, 30):
            with Sealing(LocalStore(), file_url(path), overwrite=True) as sealing:
                sealing.file(file_url(path)).write(bytes([48 + round_]) * 100_000)
                sealing.publish()
        stop.set()
        for reader in readers:
            reader.join()
        assert problems == []
        assert len(seen) > 1


class TestTrouble:
    """Every call of the system may fail, at every time: nothing is left."""

    @pytest.mark.parametrize(
        ("call", "trouble", "after"),
        [
            *((call, OSError(errno.EIO, "Input/output error"), False) for call in ("open", "fsync", "link", "fstat")),
            *((call, KeyboardInterrupt(), False) for call in ("open", "fsync", "link", "fstat")),
            *((call, KeyboardInterrupt(), True) for call in ("fsync", "link", "fstat")),
        ],
        ids=lambda value: value if isinstance(value, str) else type(value).__name__,
    )
    def test_one_failing_call(
        self,
        tmp_path: Path,
        system: str,
        monkeypatch: pytest.MonkeyPatch,
        call: str,
        trouble: BaseException,
        after: bool,
    ) -> None:
        """The first fails, before or after it was done, then the second ... until all succeed."""
        real = getattr(os, call)
        failures = 0
        for nth in range(100):
            folder = tmp_path / str(nth)
            folder.mkdir()
            calls = iter(range(1000))

            def failing(*given: object, nth: int = nth, calls: object = calls, **named: object) -> object:
                fails = next(calls) == nth  # type: ignore[call-overload]
                if fails and not after:
                    raise trouble
                result = real(*given, **named)
                if fails:
                    raise trouble
                return result

            with monkeypatch.context() as patch:
                patch.setattr(os, call, failing)
                try:
                    seal(LocalStore(), local(folder))
                except (StorageError, KeyboardInterrupt):
                    failures += 1
                else:
                    break
            assert files(folder) == {}, f"call {nth} of {call}"
        assert files(folder) == CONTENT
        assert failures > 0 or system == "no links"

    @pytest.mark.parametrize("size", [100, 1 << 20], ids=["noticed when flushed", "noticed when written"])
    def test_a_file_too_large(self, tmp_path: Path, system: str, size: int) -> None:
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
        try:
            with pytest.raises(StorageError, match="File too large"):
                seal(LocalStore(), local(tmp_path), content={"small.stripe": b"fits", ROOT: bytes(size)})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert files(tmp_path) == {}

    def test_a_full_disk(self, tmp_path: Path, system: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def fsync(_: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(StorageError, match=r"expected room for the file, found none left .* \(url file"):
            seal(LocalStore(), local(tmp_path))
        assert files(tmp_path) == {}

    def test_an_error_inside_of_a_file(self, tmp_path: Path, system: str) -> None:
        def write_half() -> None:
            url = file_url(tmp_path / ROOT)
            with Sealing(LocalStore(), url) as sealing, sealing.file(url) as out:
                out.write(b"half")
                stop()

        with pytest.raises(RuntimeError):
            write_half()
        assert files(tmp_path) == {}


@pytest.mark.parametrize("overwrite", [False, True])
def test_content_reaches_the_disk_before_names_and_names_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    steps: list[str] = []
    fsync, link, replace = os.fsync, os.link, os.replace

    def seen_fsync(handle: int) -> None:
        steps.append("sync folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "sync file")
        fsync(handle)

    def seen_link(source: str, target: str, **how: object) -> None:
        steps.append(f"name {'a part' if target.endswith('.part') else os.path.basename(target)}")
        link(source, target, **how)  # type: ignore[arg-type]

    def seen_replace(source: str, target: str) -> None:
        steps.append(f"replace {os.path.basename(target)}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", seen_fsync)
    monkeypatch.setattr(os, "link", seen_link)
    monkeypatch.setattr(os, "replace", seen_replace)
    with Sealing(LocalStore(), file_url(tmp_path / ROOT), overwrite=overwrite) as sealing:
        root = sealing.file(file_url(tmp_path / ROOT))  # begun first, published last
        fill(sealing, local(tmp_path), {name: CONTENT[name] for name in STRIPES})
        root.write(b"root")
        sealing.publish()
    stripes = ["sync file"] * 3 + [f"name {name}" for name in STRIPES] + ["sync folder"]
    end = ["name a part", f"replace {ROOT}"] if overwrite else [f"name {ROOT}"]
    assert steps == [*stripes, *end, "sync folder"]


WRITER = """
import os, signal, sys
from pathlib import Path
from amudai.storage import LocalStore, Sealing, file_url, unpublished

folder, kind, moment = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
if kind == "part":
    unpublished._UNNAMED = 0

def die():
    os.kill(os.getpid(), signal.SIGKILL)

if moment == "root":
    link = os.link
    def killing(source, target, **how):
        if target.endswith("logs.amudai.shard"):
            die()
        link(source, target, **how)
    os.link = killing

with Sealing(LocalStore(), file_url(folder / "logs.amudai.shard")) as sealing:
    with sealing.file(file_url(folder / "1f.amudai.stripe")) as out:
        out.write(bytes(1 << 20))
    out = sealing.file(file_url(folder / "logs.amudai.shard"))
    out.write(bytes(1 << 20))
    if moment == "writing":
        die()
    sealing.publish()
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["writing", "root"])
@pytest.mark.parametrize("kind", ["unnamed", "part"])
def test_a_killed_writer_leaves_no_root_and_the_next_one_succeeds(tmp_path: Path, kind: str, moment: str) -> None:
    killed = subprocess.run([sys.executable, "-c", WRITER, str(tmp_path), kind, moment], check=False)
    assert killed.returncode == -signal.SIGKILL
    left = set(os.listdir(tmp_path))
    parts = {name for name in left if name.startswith(".amudai-") and name.endswith(".part")}
    # Between the first name and the root's, files that nothing refers to may be left.
    assert left - parts == ({"1f.amudai.stripe"} if moment == "root" else set())
    if kind == "unnamed":
        assert parts == set()
    with Sealing(LocalStore(), file_url(tmp_path / ROOT)) as sealing:
        fill(sealing, local(tmp_path), {"3d.amudai.stripe": b"x", ROOT: b"root"})
        sealing.publish()
    assert set(os.listdir(tmp_path)) == left | {"3d.amudai.stripe", ROOT}


def test_a_file_is_something_to_write_to(tmp_path: Path) -> None:
    with Sealing(LocalStore(), file_url(tmp_path / ROOT)) as sealing:
        assert isinstance(sealing.file(file_url(tmp_path / ROOT)), SealedFile)


# ---- writers that are given up ----


def _parts(folder: Path) -> list[Path]:
    return list(folder.glob(".amudai-*"))


def test_a_part_file_goes_with_its_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C may arrive between any two steps of a writer, also before somebody has promised to close it."""
    monkeypatch.setattr(unpublished, "_UNNAMED", 0)
    file = unpublished.UnpublishedFile(str(tmp_path))
    child = os.fork()
    if child == 0:
        file._removal()  # what Python does at its end
        os._exit(0)
    os.waitpid(child, 0)
    assert len(_parts(tmp_path)) == 1
    del file
    assert not _parts(tmp_path)


def test_a_writer_that_cannot_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpublished, "_UNNAMED", 0)
    with pytest.raises(amudai.InvalidArgument) as kept:  # the error keeps the frames, and they keep the files
        amudai.write({"n": [1]}, tmp_path / "n.amudai.shard", indexes=[amudai.TermIndex("missing")])
    assert kept.value
    assert not list(tmp_path.iterdir())
