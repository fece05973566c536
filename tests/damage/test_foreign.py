"""Files that are no shards, and paths that are no files: an error that says so, and of which file."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai.errors import CorruptedData, InvalidArgument, StorageError, UnsupportedFeature
from amudai.storage import MemoryStore

PARQUET = Path(__file__).resolve().parents[3] / "shared" / "data" / "parquet" / "alltypes_plain.parquet"
MARK = b"amud\0\1\0\0"


def _parquet() -> bytes:
    if PARQUET.is_file():
        return PARQUET.read_bytes()
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": [1, 2, 3]}), sink)
    return sink.getvalue().to_pybytes()


FOREIGN: dict[str, bytes] = {
    "nothing": b"",
    "one byte": b"a",
    "the magic alone": MARK[:4],
    "a header alone": MARK,
    "a header and a footer": MARK * 2,
    "headers only": MARK * 1000,
    "27 bytes": MARK + bytes(11) + MARK,
    "28 bytes": bytes(28),
    "28 bytes between marks": MARK + bytes(12) + MARK,
    "a Parquet file": _parquet(),
    "a picture": bytes.fromhex("89504e470d0a1a0a0000000d49484452") + bytes(100),
    "noise": bytes(at * 37 % 251 for at in range(100_000)),
    "zeros": bytes(100_000),
    "ones": b"\xff" * 100_000,
    "text": b"ts,level,message\n" * 5000,
    "a directory of 4 GiB": MARK + bytes(100) + b"\xff\xff\xff\xff" + MARK,
    "a directory of 15 MiB": MARK + bytes(100) + (15 << 20).to_bytes(4, "little") + MARK,
    "a directory of nothing": MARK + bytes(100) + bytes(4) + MARK,
    "a later version": bytes(100) + bytes(4) + b"amud\0\0\0\1",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_that_are_no_shards(name: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign file"
    path.write_bytes(FOREIGN[name])
    with pytest.raises((CorruptedData, UnsupportedFeature), match="foreign%20file"):
        amudai.open(path)
    with pytest.raises((CorruptedData, UnsupportedFeature), match="foreign file"):
        amudai.open("foreign file", store=MemoryStore({"foreign file": FOREIGN[name]}))


def test_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(StorageError, match=r"found a folder \(url .*folder"):
        amudai.open(folder)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"found none \(url .*missing"):
        amudai.open(tmp_path / "missing")
    with pytest.raises(StorageError, match=r"found none \(url .*missing/below"):
        amudai.open(tmp_path / "missing" / "below")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is refused to root")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"x")
    path.chmod(0)
    with pytest.raises(StorageError, match=r"refused \(url .*secret"):
        amudai.open(path)


def test_things_that_would_wait_for_ever(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(StorageError, match=r"a pipe or a socket \(url .*pipe"):
        amudai.open(pipe)
    with pytest.raises(StorageError, match=r"device.*\(url .*/dev/zero"):
        amudai.open("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        # The path of a socket must be short.
        here = os.open(tmp_path, os.O_RDONLY)
        try:
            bound.bind(f"/proc/self/fd/{here}/socket")
        except OSError:
            pytest.skip("no sockets in this folder")
        finally:
            os.close(here)
        with pytest.raises(StorageError, match="socket"):
            amudai.open(tmp_path / "socket")


@pytest.mark.parametrize(
    ("name", "error"), [("x" * 5000, StorageError), ("nul\0name", InvalidArgument), ("loop", StorageError)]
)
def test_names_that_the_system_refuses(name: str, error: type[amudai.AmudaiError], tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(error):
        amudai.open(f"{tmp_path}/{name}")
