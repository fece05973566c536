"""A folder of shards to look at, and servers of it."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import uvicorn

import amudai
from amudai.web import web_app
from amudai.web.app import WebLimits
from amudai.web.folder import Folder

TOKEN = "the-token-of-the-tests"
PORT = 8123
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = 3_000
HOSTILE = "<script>document.title = 'taken'</script><img src=x onerror=alert(1)>"


def log_table(rows: int = ROWS, first: int = 0) -> pa.Table:
    """Log records, one for each second: every tenth is a timeout, and one message is HTML."""
    numbers = range(first, first + rows)
    return pa.table(
        {
            "ts": pa.array([BEGIN + timedelta(seconds=n) for n in numbers], pa.timestamp("us", "UTC")),
            "level": ["ERROR" if n % 10 == 0 else "INFO" for n in numbers],
            "status": pa.array([None if n % 100 == 7 else 500 + n % 4 if n % 10 == 0 else 200 for n in numbers]),
            "message": [HOSTILE if n == 42 else _message(n) for n in numbers],
            "took": [n % 17 / 4 for n in numbers],
        }
    )


def _message(n: int) -> str:
    return f"request {n} ended with timeout" if n % 10 == 0 else f"request {n} is fine"


def make_folder(folder: Path) -> Path:
    """Three shards of one table, the last in a folder below."""
    indexes = [amudai.TermIndex("message")]
    part = ROWS // 3
    for at, name in enumerate(("a", "b", "below/c")):
        path = folder / f"{name}.amudai.shard"
        path.parent.mkdir(parents=True, exist_ok=True)
        amudai.write(log_table(part, at * part), path, indexes=indexes, stripe_rows=500)
    return folder


class Client:
    """A client inside of this process."""

    def __init__(self, app: Any, token: str | None) -> None:
        self._app = app
        self._cookies = {} if token is None else {f"amudai-{PORT}": token}

    def get(self, url: str, **options: Any) -> httpx.Response:
        return self.request("GET", url, **options)

    def request(self, method: str, url: str, **options: Any) -> httpx.Response:
        return asyncio.run(self.answered(method, url, **options))

    async def answered(self, method: str, url: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self._app, raise_app_exceptions=False)
        base = f"http://127.0.0.1:{PORT}"
        async with httpx.AsyncClient(transport=transport, base_url=base, cookies=self._cookies, timeout=60) as made:
            found = await made.request(method, url, **options)
            self._cookies.update(made.cookies)
            return found


def client(folder: Path, token: str | None = TOKEN, **limits: Any) -> Client:
    """A client inside of this process, with the cookie that the token becomes."""
    return Client(web_app(Folder(str(folder)), TOKEN, PORT, WebLimits(**limits)), token)


@contextmanager
def serving(folder: Path, **limits: Any) -> Iterator[str]:
    """A server on a port of its own, by its address with the token."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = web_app(Folder(str(folder)), TOKEN, port, WebLimits(**limits))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}/?token={TOKEN}"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()
