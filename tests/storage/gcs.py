"""A server for Google Cloud Storage on this machine: those requests of its XML interface that obstore makes.

No package brings one that takes obstore's uploads. This one keeps objects in memory, and answers as the documentation
of the XML API says: conditions on generations and tags, ranges, lists in pages, custom metadata.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 5  # objects in a page of a list
_CUSTOM = "x-goog-meta-"


@dataclass(frozen=True)
class Stored:
    """An object: its bytes, the number of this version, custom metadata, and the second in which it was put."""

    content: bytes
    generation: int
    custom: dict[str, str]
    modified: datetime

    @property
    def tag(self) -> str:
        return f'"{md5(self.content + str(self.generation).encode()).hexdigest()}"'


class Gcs:
    """The server, with an empty bucket. `endpoint` is its address."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._objects: dict[str, Stored] = {}
        self._lock = Lock()
        self._generation = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65537)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, headers, content = outer._answer(self.command, self.path, self.headers, body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)
                self.wfile.flush()

            def log_message(self, *_: Any) -> None:
                return None

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def _answer(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, dict[str, str], bytes]:
        url = urlsplit(path)
        bucket, _, key = (unquote(part) for part in url.path.removeprefix("/").partition("/"))
        if bucket != self._bucket:
            return _error(404, "NoSuchBucket")
        if not key:
            return self._list({name: values[0] for name, values in parse_qs(url.query).items()})
        with self._lock:
            found = self._objects.get(key)
            if method == "PUT":
                return self._put(key, found, headers, body)
            if found is None:
                return _error(404, "NoSuchKey")
            if method == "DELETE":
                del self._objects[key]
                return 204, {}, b""
        return _read(found, headers)

    def _put(self, key: str, found: Stored | None, headers: Any, body: bytes) -> tuple[int, dict[str, str], bytes]:
        expected = headers.get("x-goog-if-generation-match")
        if expected is not None and int(expected) != (found.generation if found else 0):
            return _error(412, "PreconditionFailed")
        custom = {name.lower(): value for name, value in headers.items() if name.lower().startswith(_CUSTOM)}
        self._generation += 1
        self._objects[key] = Stored(body, self._generation, custom, datetime.now(UTC).replace(microsecond=0))
        return 200, _described(self._objects[key]), b""

    def _list(self, query: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        with self._lock:
            objects = dict(self._objects)
        names: dict[str, Stored | None] = {}  # None for a folder
        for key in sorted(objects):
            if key.startswith(prefix):
                folder = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
                name = f"{prefix}{folder[0]}{folder[1]}" if folder[1] else key
                names[name] = None if folder[1] else objects[key]
        after = query.get("continuation-token", "")
        page = [name for name in names if name > after]
        parts = [_listed(name, names[name]) for name in page[:PAGE]]
        if len(page) > PAGE:
            parts.append(f"<NextContinuationToken>{escape(page[PAGE - 1])}</NextContinuationToken>")
        parts.append(f"<IsTruncated>{str(len(page) > PAGE).lower()}</IsTruncated>")
        text = f"<?xml version='1.0' encoding='UTF-8'?><ListBucketResult>{''.join(parts)}</ListBucketResult>"
        return 200, {"Content-Type": "application/xml"}, text.encode()


def _read(found: Stored, headers: Any) -> tuple[int, dict[str, str], bytes]:
    wanted = headers.get("If-Match")
    if wanted is not None and wanted != found.tag:
        return _error(412, "PreconditionFailed")
    asked = headers.get("Range")
    if asked is None:
        return 200, _described(found) | {"Content-Length": str(len(found.content))}, found.content
    size = len(found.content)
    first, _, last = asked.removeprefix("bytes=").partition("-")
    start = int(first) if first else max(0, size - int(last))
    end = min(size, int(last) + 1) if first and last else size
    if start >= end:
        return _error(416, "InvalidRange")
    content = found.content[start:end]
    return 206, _described(found) | {"Content-Range": f"bytes {start}-{end - 1}/{size}"}, content


def _described(found: Stored) -> dict[str, str]:
    return {
        "ETag": found.tag,
        "Last-Modified": format_datetime(found.modified, usegmt=True),
        "x-goog-generation": str(found.generation),
        **found.custom,
    }


def _listed(name: str, found: Stored | None) -> str:
    if found is None:
        return f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
    facts = {
        "Key": name,
        "Generation": found.generation,
        "LastModified": f"{found.modified:%Y-%m-%dT%H:%M:%SZ}",
        "ETag": found.tag,
        "Size": len(found.content),
    }
    return f"<Contents>{''.join(f'<{fact}>{escape(str(value))}</{fact}>' for fact, value in facts.items())}</Contents>"


def _error(status: int, code: str) -> tuple[int, dict[str, str], bytes]:
    text = f"<?xml version='1.0' encoding='UTF-8'?><Error><Code>{code}</Code><Message>{code}</Message></Error>"
    return status, {"Content-Type": "application/xml"}, text.encode()
