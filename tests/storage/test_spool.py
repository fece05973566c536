"""Do pieces come back from the spool as they went in, wherever they lay?"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amudai.errors import InvalidArgument, StorageError
from amudai.storage import Spool, unpublished
from amudai.storage.spool import _CHUNK


@pytest.fixture(params=["unnamed", "unlinked"], autouse=True)
def scratch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "unlinked":
        monkeypatch.setattr(unpublished, "_UNNAMED", 0)


def read(spool: Spool, *extents: tuple[int, int]) -> bytes:
    out = BytesIO()
    spool.copy_to(out, extents)
    return out.getvalue()


@settings(deadline=None)
@given(
    pieces=st.lists(st.binary(max_size=30), max_size=12),
    limit=st.integers(0, 120),
    data=st.data(),
)
def test_any_pieces_in_any_order(pieces: list[bytes], limit: int, data: st.DataObject) -> None:
    with Spool(None, limit) as spool:
        starts = [spool.append(piece) for piece in pieces]
        whole = b"".join(pieces)
        assert starts == [sum(map(len, pieces[:at])) for at in range(len(pieces))]
        assert spool.size == len(whole)
        assert spool.size_in_memory <= limit
        ends = st.tuples(st.integers(0, len(whole)), st.integers(0, len(whole))).map(sorted)
        extents = data.draw(st.lists(ends, max_size=6))
        assert read(spool, *extents) == b"".join(whole[start:end] for start, end in extents)
        assert read(spool, (0, len(whole))) == whole


def test_what_fits_stays_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise AssertionError("no file is needed")

    monkeypatch.setattr(os, "open", refuse)
    with Spool(str(tmp_path), 10) as spool:
        spool.append(b"01234")
        spool.append(b"56789")
        spool.append(b"")
        assert (spool.size, spool.size_in_memory) == (10, 10)
        assert read(spool, (3, 7)) == b"3456"


def test_what_does_not_fit_has_no_name(tmp_path: Path) -> None:
    with Spool(str(tmp_path), 10) as spool:
        for _ in range(5):
            spool.append(bytes(100_000))
        assert (spool.size, spool.size_in_memory) == (500_000, 0)
        assert os.listdir(tmp_path) == []
        assert read(spool, (0, 500_000)) == bytes(500_000)
    assert os.listdir(tmp_path) == []


def test_pieces_are_copied_and_any_buffer_will_do() -> None:
    with Spool(None, 100) as spool:
        content = bytearray(b"first")
        spool.append(content)
        content[:] = b"other"
        spool.append(memoryview(b"second"))
        spool.append(np.arange(3, dtype=np.uint16))
        spool.append(np.empty((0, 3)))
        spool.append(np.full((2, 50), 7, np.uint8))  # this one lies in the file
        assert read(spool, (0, 17)) == b"firstsecond\0\0\1\0\2\0"
        assert read(spool, (16, spool.size)) == b"\0" + b"\7" * 100
        with pytest.raises((TypeError, BufferError, ValueError)):
            spool.append(np.zeros(10, np.uint8)[::2])


@pytest.mark.parametrize("limit", [0, 1 << 30], ids=["file", "memory"])
def test_large_extents_come_in_chunks(limit: int) -> None:
    content = np.random.default_rng(1).bytes(2 * _CHUNK + 100)
    with Spool(None, limit) as spool:
        spool.append(content[:1000])
        spool.append(content[1000:])
        found = list(spool.pieces([(0, 1000), (1000, len(content))]))
        assert b"".join(found) == content
        assert max(map(len, found)) <= _CHUNK
        if limit == 0:  # neighbours are read as one
            assert [len(piece) for piece in found] == [_CHUNK, _CHUNK, 100]


def test_a_whole_piece_in_memory_is_not_copied() -> None:
    piece = bytes(1000)
    with Spool(None, 10_000) as spool:
        start = spool.append(piece)
        (found,) = spool.pieces([(start, start + 1000)])
        assert found is piece


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 5_000, 1 << 30])
def test_many_threads(limit: int) -> None:
    pieces = [bytes([at % 251]) * (1 + at % 97) for at in range(2_000)]
    with Spool(None, limit) as spool, ThreadPoolExecutor(8) as pool:
        starts = list(pool.map(spool.append, pieces))
        for start, piece in zip(starts, pieces, strict=True):
            assert read(spool, (start, start + len(piece))) == piece
        assert spool.size == sum(map(len, pieces))


@pytest.mark.parametrize("extent", [(0, 11), (11, 11), (-1, 3), (5, 3)])
def test_extents_that_are_not_there(extent: tuple[int, int]) -> None:
    with Spool(None, 100) as spool:
        spool.append(bytes(10))
        with pytest.raises(InvalidArgument, match="range: expected start <= end <= 10, found"):
            read(spool, (0, 5), extent)


@pytest.mark.parametrize("limit", [0, 100])
def test_a_closed_spool_is_empty(limit: int, tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), limit)
    spool.append(b"content")
    spool.close()
    spool.close()
    for use in (lambda: spool.append(b"x"), lambda: read(spool, (0, 3))):
        with pytest.raises(InvalidArgument, match="spool: expected an open spool, found a closed one"):
            use()


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pwrite(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", pwrite)
    with Spool(str(tmp_path), 10) as spool:
        spool.append(bytes(10))
        with pytest.raises(StorageError, match=r"expected room for the file, found none left .*\(folder /"):
            spool.append(bytes(10))
    assert os.listdir(tmp_path) == []


def test_a_missing_folder(tmp_path: Path) -> None:
    with Spool(str(tmp_path / "none"), 0) as spool, pytest.raises(StorageError, match=r"none\)"):
        spool.append(b"x")


def test_short_writes_and_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    pwrite, pread = os.pwrite, os.pread
    monkeypatch.setattr(os, "pwrite", lambda handle, piece, at: pwrite(handle, piece[:7], at))
    monkeypatch.setattr(os, "pread", lambda handle, size, at: pread(handle, min(size, 5), at))
    content = bytes(range(100))
    with Spool(None, 0) as spool:
        spool.append(content)
        assert read(spool, (0, 100)) == content
        monkeypatch.setattr(os, "pread", lambda *_: b"")
        with pytest.raises(StorageError, match="expected 3 more bytes at 1, found the end of the file"):
            read(spool, (1, 4))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")
def test_closing_closes(tmp_path: Path) -> None:
    def opened() -> int:
        links = [os.path.join("/proc/self/fd", each) for each in os.listdir("/proc/self/fd")]
        return sum(os.readlink(link).startswith(str(tmp_path)) for link in links if os.path.lexists(link))

    spool = Spool(str(tmp_path), 0)
    spool.append(b"x")
    assert opened() == 1
    spool.close()
    assert opened() == 0


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


KILLED = """
import sys, time
from amudai.storage import Spool, unpublished
if sys.argv[2] == "unlinked":
    unpublished._UNNAMED = 0
spool = Spool(sys.argv[1], 0)
spool.append(bytes(1 << 20))
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["unnamed", "unlinked"])
def test_a_killed_process_leaves_nothing(folder: Path, how: str) -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED, str(folder), how], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGKILL)
    assert os.listdir(folder) == []


@pytest.mark.parametrize("limit", [0, 12, 1 << 20])
def test_views_show_pieces_wherever_they_lie(tmp_path: Path, limit: int) -> None:
    with Spool(str(tmp_path), limit) as spool:
        pieces = [b"first", b"second", b"", b"third" * 1000]
        starts = [spool.append(piece) for piece in pieces]
        views = [spool.view(start, start + len(piece)) for start, piece in zip(starts, pieces, strict=True)]
        assert [bytes(view) for view in views] == pieces
        later = spool.append(b"later")
        assert bytes(spool.view(later, later + 5)) == b"later"
        with pytest.raises(InvalidArgument, match="range: expected one that was appended at once"):
            spool.view(later, later + 6)
    assert [bytes(view) for view in views] == pieces  # views keep what they show
