"""Which files are read: unknown endings, archives, stores, and streams of any compression."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import fsspec
import lz4.frame
import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard

import amudai
from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, MissingFile
from amudai.sources import read_files as read
from tests.sources.test_read_files import content, table, write

SYSLOG = b"Jan  5 10:00:00 host sshd[1]: accepted\nJan  5 10:00:01 host sshd[1]: closed\n"
JUNK = bytes(range(256)) * 10


def parquet(**columns: list[object]) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def names(source: amudai.Source, folder: Path) -> list[str]:
    return [os.path.relpath(path, folder) for path in source.files]


# ---- unknown endings ----


def test_logs_with_unknown_endings_are_recognised(tmp_path: Path) -> None:
    for name in ("syslog", "messages", "app.out", "syslog.2.gz"):
        write(tmp_path, name, gzip.compress(SYSLOG) if name.endswith(".gz") else SYSLOG)
    write(tmp_path, "core.dump", JUNK)
    write(tmp_path, "empty", b"")
    source = read(tmp_path)
    assert names(source, tmp_path) == ["app.out", "messages", "syslog", "syslog.2.gz"]
    assert table(source).num_rows == 8
    assert source.skipped == [
        (str(tmp_path / "core.dump"), "it is no text, and no format that is known"),
        (str(tmp_path / "empty"), "it is empty"),
    ]


def test_files_of_a_folder_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them ends the work or makes it wait."""
    folder = tmp_path / "logs"
    for name in ("a.log", "secret.log", "closed/b.log"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(SYSLOG)
    os.mkfifo(folder / "pipe")
    (folder / "gone.log").symlink_to(tmp_path / "nowhere")
    (folder / "round").symlink_to(folder)
    scandir, access = os.scandir, os.access

    def refusing(path: str) -> Iterator[os.DirEntry[str]]:
        if os.fspath(path).endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    # Root may read everything, and tests may run as root.
    monkeypatch.setattr(os, "scandir", refusing)
    monkeypatch.setattr(os, "access", lambda path, mode: not path.endswith("secret.log") and access(path, mode))
    source = read(folder)
    assert names(source, folder) == ["a.log"]
    assert sorted((os.path.relpath(each.path, folder), each.reason) for each in source.skipped) == [
        ("closed", "it cannot be read: Permission denied"),
        ("gone.log", "it cannot be read: No such file or directory"),
        ("pipe", "it is no regular file"),
        ("round", "it is a link to a folder"),
        ("secret.log", "it cannot be read: Permission denied"),
    ]


def test_a_pipe_that_the_caller_names_is_copied(tmp_path: Path) -> None:
    """As a shell writes it: amudai ingest <(command)."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[b"a,b\n1,x\n2,y\n"])
    writer.start()
    with read(path) as source:
        assert table(source).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}
        assert source.files == [str(path)]
    writer.join()


def test_an_empty_zip_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "e.zip", "w"):
        pass
    with pytest.raises(MissingFile, match=r"paths: expected files of a known format, found none$"):
        read(tmp_path / "e.zip")
    with pytest.raises(CorruptedData, match="not a zip file"):
        read(write(tmp_path, "f.zip", b""))


SYSLOG_LINE = b"Jan  1 00:00:01 host app: started\n"


@pytest.mark.parametrize("date", [0, 0xFFFF, 15 << 5 | 31])
def test_a_zip_archive_without_times(date: int, tmp_path: Path) -> None:
    """Programs that know no time write zeros: a month 0."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.log", SYSLOG_LINE)
    data = bytearray((tmp_path / "a.zip").read_bytes())
    for mark, distance in ((b"PK\3\4", 12), (b"PK\1\2", 14)):
        at = data.index(mark) + distance
        data[at : at + 2] = date.to_bytes(2, "little")
    # The year is that of today, as if nobody knew when the log was written.
    years = {datetime.now(UTC).year}
    (found,) = content(write(tmp_path, "b.zip", bytes(data)), extract=True)["timestamp"]
    assert found.year in years | {datetime.now(UTC).year}


@pytest.mark.parametrize("time", [10**15, -(10**15), 2**87, 1.7e10, "inf", "nan", "1e400", "-1e30"])
def test_a_tar_archive_with_absurd_times(time: float | str, tmp_path: Path) -> None:
    is_text = isinstance(time, str)
    with tarfile.open(tmp_path / "a.tar", "w", format=tarfile.PAX_FORMAT if is_text else tarfile.GNU_FORMAT) as archive:
        member = tarfile.TarInfo("a.log")
        member.size = len(SYSLOG_LINE)
        if is_text:
            member.pax_headers = {"mtime": str(time)}
        else:
            member.mtime = time
        archive.addfile(member, io.BytesIO(SYSLOG_LINE))
    before = datetime.now(UTC).year
    (found,) = content(tmp_path / "a.tar", extract=True)["timestamp"]
    assert before <= found.year <= datetime.now(UTC).year


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (parquet(a=[1, 2]), {"a": [1, 2]}),
        (b'{"a": 1}\n{"a": 2}\n', {"a": [1, 2]}),
        (b'\xef\xbb\xbf {"a": 1}\n', {"a": [1]}),
        (b"a,b\n1,x\n2,y\n", {"a": [1, 2], "b": ["x", "y"]}),
        (gzip.compress(b"a,b\n1,x\n"), {"a": [1], "b": ["x"]}),
        (lzma.compress(b'{"a": 1}\n'), {"a": [1]}),
        (lz4.frame.compress(b'{"a": 1}\n'), {"a": [1]}),
        (zstandard.compress(b'{"a": 1}\n'), {"a": [1]}),
    ],
    ids=["parquet", "json", "mark", "csv", "gzip", "xz", "lz4", "zstd"],
)
def test_content_tells_the_format(data: bytes, expected: dict[str, list[object]], tmp_path: Path) -> None:
    assert content(write(tmp_path, "data", data)) == expected
    with read(io.BytesIO(data), temp_dir=tmp_path) as source:
        assert table(source).to_pydict() == expected


@pytest.mark.parametrize(
    "line",
    [b"started, 1 of 3\n", b"[2024-01-01] started, done\n", b'10.0.0.1 - - [x] "GET /"\n', b"{broken}\n"],
)
def test_text_that_is_no_table_is_a_log(line: bytes, tmp_path: Path) -> None:
    assert content(write(tmp_path, "data", line * 3))["line"] == [line.decode().rstrip("\n")] * 3


def test_a_file_that_nobody_can_read_is_an_error_if_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"expected data of a known format, .*or format=.*core"):
        read(write(tmp_path, "core", JUNK))
    assert list(read(write(tmp_path, "empty", b"")).batches()) == []


def test_a_log_that_was_compressed_in_place(tmp_path: Path) -> None:
    assert content(write(tmp_path, "a.log", gzip.compress(b"x\ny\n")))["line"] == ["x", "y"]


def test_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/a\xff.log"
    Path(os.fsdecode(path)).write_bytes(b"x\n")
    assert content(os.fsdecode(path))["file"] == [f"{tmp_path}/a\\xff.log"]


# ---- archives ----

MEMBERS = {
    "./2024/a.csv": b"id,name\n1,x\n2,y\n",
    "2024/b.csv.gz": gzip.compress(b"id,name\n3,z\n"),
    "../../../outside.csv": b"id,name\n4,out\n",
    "/absolute.csv": b"id,name\n5,abs\n",
    "p.parquet": parquet(id=[6], name=["par"]),
    "__MACOSX/x.csv": b"id,name\n7,mac\n",
    "junk.bin": JUNK,
}
IDS = [1, 2, 3, 4, 5, 6]


def zipped(folder: Path, name: str = "logs.zip") -> Path:
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as out:
        for member, data in MEMBERS.items():
            out.writestr(member, data)
    return folder / name


def tarred(folder: Path, name: str) -> Path:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as out:
        for member, data in MEMBERS.items():
            info = tarfile.TarInfo(member)
            info.size, info.mtime = len(data), 1_700_000_000
            out.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("link.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        out.addfile(link)
    compress = {".tar": bytes, ".tgz": gzip.compress, ".xz": lzma.compress, ".zst": zstandard.compress}
    path = folder / name
    path.write_bytes(compress[os.path.splitext(name)[1]](plain.getvalue()))
    return path


@pytest.mark.parametrize("name", ["logs.zip", "logs.tar", "logs.tgz", "logs.tar.xz", "logs.tar.zst"])
def test_an_archive_is_read_as_a_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = zipped(tmp_path / "in") if name == "logs.zip" else tarred(tmp_path / "in", name)
    before = {each.name for each in tmp_path.rglob("*")}
    (tmp_path / "copies").mkdir()
    with read(path, temp_dir=tmp_path / "copies") as source:
        assert sorted(table(source)["id"].to_pylist()) == IDS
        assert sorted(table(source)["id"].to_pylist()) == IDS  # once more
        skipped = {("junk.bin", "it is no text, and no format that is known")}
        if name != "logs.zip":
            skipped.add(("link.csv", "it is a link"))
        assert {(os.path.relpath(each.path, path), each.reason) for each in source.skipped} == skipped
        assert len(source.skipped) == len(skipped)
        assert f"{path}/2024/b.csv.gz" in source.files
    assert {each.name for each in tmp_path.rglob("*")} == before | {"copies"}  # nothing was unpacked, nothing is left
    with read(tmp_path / "in") as source:
        assert sorted(table(source)["id"].to_pylist()) == IDS
    shard = amudai.ingest(path, tmp_path / "x.amudai.shard")
    assert sorted(shard.read(["id"])["id"].to_pylist()) == IDS


def test_members_of_an_archive(tmp_path: Path) -> None:
    for path in (zipped(tmp_path), tarred(tmp_path, "logs.tgz")):
        assert sorted(content(f"{path}/2024")["id"]) == [1, 2, 3]
        assert content(f"{path}/2024/b.csv.gz")["id"] == [3]
        assert sorted(content(f"{path}/**/b.*")["id"]) == [3]
        with pytest.raises(MissingFile, match=r"archive: expected a member of this name, found none.*none\.csv"):
            read(f"{path}/none.csv")


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tar.xz"])
def test_damaged_archives(name: str, tmp_path: Path) -> None:
    for data in (b"", b"no archive at all", gzip.compress(b"nor this")[:-3]):
        with pytest.raises(AmudaiError, match=name):
            table(read(write(tmp_path, name, data)))


@pytest.mark.parametrize("name", ["logs.zip", "logs.tar", "logs.tgz", "logs.tar.xz"])
def test_archives_that_were_cut(name: str, tmp_path: Path) -> None:
    whole = (zipped(tmp_path) if name == "logs.zip" else tarred(tmp_path, name)).read_bytes()
    for size in range(1, len(whole), max(1, len(whole) // 25)):
        path = write(tmp_path, name, whole[:size])
        try:
            found = table(read(path))["id"].to_pylist()
        except AmudaiError:
            continue
        assert found == IDS or name == "logs.tar"  # a plain tar may end after any member


def test_a_member_with_a_wrong_checksum(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("a.csv", "id\n12345\n")
    path.write_bytes(path.read_bytes().replace(b"12345", b"12346"))
    with pytest.raises(CorruptedData, match=r"CRC.*x\.zip/a\.csv"):
        table(read(path))


def test_a_name_that_would_fill_the_memory(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 32
    with pytest.raises(CorruptedData, match="expected names of at most"):
        read(write(tmp_path, "x.tar", info.tobuf(tarfile.USTAR_FORMAT) + bytes(10_000)))


def test_archives_inside_archives_and_encrypted_members_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("a.csv", "id\n1\n")
        out.writestr("inner.zip", b"PK")
        out.writestr("secret.csv", "id\n2\n")
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"secret.csv") - 46  # the central directory
    data[entry + 8] |= 1
    path.write_bytes(bytes(data))
    source = read(path)
    assert table(source).to_pydict() == {"id": [1]}
    assert [(os.path.basename(name), reason) for name, reason in source.skipped] == [
        ("inner.zip", "it is an archive inside an archive"),
        ("secret.csv", "it is encrypted"),
    ]


@pytest.mark.slow
def test_a_large_tar_is_read_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members are read in the order of the archive, so that decompression does not start again for each."""
    monkeypatch.setattr("amudai.sources.archives._WINDOW", 1 << 16)
    restarts = 0
    from amudai.sources.archives import _Window

    plain = _Window._restart

    def counted(self: _Window) -> None:
        nonlocal restarts
        restarts += 1
        plain(self)

    monkeypatch.setattr(_Window, "_restart", counted)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for number in range(40):
            data = b"id\n" + f"{number}\n".encode() * 30_000
            info = tarfile.TarInfo(f"{number:02}.csv")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    with read(write(tmp_path, "x.tar.gz", out.getvalue())) as source:
        assert table(source).num_rows == 40 * 30_000
    assert restarts <= 45  # one for the list, and few besides


# ---- stores ----


@pytest.fixture
def memory() -> str:
    """A folder in fsspec's memory, with files."""
    filesystem = fsspec.filesystem("memory")
    root = f"/in-{os.urandom(4).hex()}"
    filesystem.pipe(f"{root}/a.csv", b"id\n1\n")
    filesystem.pipe(f"{root}/day=2/b.csv.gz", gzip.compress(b"id\n2\n"))
    filesystem.pipe(f"{root}/day=3/c.parquet", parquet(id=[3]))
    filesystem.pipe(f"{root}/_tmp/d.csv", b"id\n4\n")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("e.csv", "id\n5\n")
    filesystem.pipe(f"{root}/day=5/e.zip", archive.getvalue())
    return f"memory:/{root}"


def test_urls_of_stores(memory: str, tmp_path: Path) -> None:
    expected = {"id": [1, 2, 3, 5], "day": [None, 2, 3, 5]}
    assert content(memory) == content(f"{memory}/") == expected
    assert content(f"{memory}/a.csv") == {"id": [1]}
    assert content(f"{memory}/**/*.parquet") == {"id": [3], "day": [3]}
    assert content(f"{memory}/day=5/e.zip/e.csv") == {"id": [5], "day": [5]}
    source = read(f"{memory}/a.csv")
    assert (source.files, source.size) == ([f"{memory}/a.csv"], 5)
    assert amudai.ingest(memory, tmp_path / "x.amudai.shard").read().to_pydict() == expected
    with pytest.raises(MissingFile, match=r"nothing\.csv"):
        read(f"{memory}/nothing.csv")
    with pytest.raises(MissingFile, match="expected some file to match"):
        read(f"{memory}/*.json")


def test_urls_of_local_files(tmp_path: Path) -> None:
    write(tmp_path, "our data/a.csv", "id\n1\n")
    assert content(f"file://{tmp_path}/our%20data/a.csv") == {"id": [1]}
    assert content(f"file://{tmp_path}/our%20data") == {"id": [1]}


def test_urls_that_make_no_sense() -> None:
    with pytest.raises(InvalidArgument, match="without credentials") as refused:
        read("https://user:secret@host/a.csv")
    assert "secret" not in str(refused.value)
    with pytest.raises(InvalidArgument, match="query"):
        read("https://host/a.csv?token=secret")
    with pytest.raises(InvalidArgument, match="a store that is installed"):
        read("nonsense://host/a.csv")
