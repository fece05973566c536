"""Files at URLs of object stores and of web servers."""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import obstore.store
import pytest

from amudai.errors import InvalidArgument
from amudai.sources import read_files as read
from amudai.storage import ObjectStore
from tests.sources.test_inputs import parquet
from tests.sources.test_read_files import content, write

FILES = {
    "/logs/a.csv": b"id\n1\n",
    "/logs/day=2/b.csv.gz": gzip.compress(b"id\n2\n"),
    "/logs/day=3/c.parquet": parquet(id=[3]),
}


class Handler(BaseHTTPRequestHandler):
    """Answers HEAD and GET with ranges, as web servers do."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(send=False)

    def do_GET(self) -> None:
        self._answer(send=True)

    def _answer(self, *, send: bool) -> None:
        data = FILES.get(self.path)
        if data is None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        start, end = (int(asked[1]), int(asked[2]) + 1) if asked else (0, len(data))
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(end - start))
        self.send_header("Last-Modified", "Mon, 02 Mar 2026 10:00:00 GMT")
        self.send_header("Accept-Ranges", "bytes")
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.end_headers()
        if send:
            self.wfile.write(data[start:end])

    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_files_of_a_web_server(server: str) -> None:
    urls = [f"{server}{path}" for path in FILES]
    assert content(urls) == {"id": [1, 2, 3], "day": [None, 2, 3]}
    source = read(urls[0])
    assert (source.size, source.files) == (5, [urls[0]])
    with pytest.raises(FileNotFoundError):
        read(f"{server}/logs/none.csv")
    with pytest.raises(InvalidArgument, match="because this store lists none"):
        read(f"{server}/logs/")


def test_folders_of_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, data in FILES.items():
        write(tmp_path, path[1:], data)
    write(tmp_path, "logs/our notes/d.csv", "id\n4\n")

    def local(base: str) -> ObjectStore:
        folder = tmp_path / base.removeprefix("s3://bucket/")
        objects = obstore.store.LocalStore(folder) if folder.is_dir() else obstore.store.MemoryStore()
        return ObjectStore(objects, base)

    monkeypatch.setattr("amudai.sources.remote.object_store_at", local)
    assert sorted(content("s3://bucket/logs/")["id"]) == sorted(content("s3://bucket/logs")["id"]) == [1, 2, 3, 4]
    assert content("s3://bucket/logs/a.csv") == {"id": [1]}
    assert content("s3://bucket/logs/**/*.parquet") == {"id": [3], "day": [3]}
    assert read("s3://bucket/logs/**/d.csv").files == ["s3://bucket/logs/our%20notes/d.csv"]
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        read("s3://bucket/logs/none.csv")
