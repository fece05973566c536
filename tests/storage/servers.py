"""Object stores on this machine: moto for S3, azurite for Azure, one of our own for GCS, and a proxy with faults.

One server of each kind serves all tests of a process. A test has its own prefix.
"""

from __future__ import annotations

import base64
import http.client
import json
import logging
import os
import secrets
import shutil
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Literal

import pytest

from tests.storage.gcs import Gcs

BUCKET = "amudai-tests"
KEY, SECRET = "AKIATESTER", "hunter2-hunter2"
ACCOUNT = "acme"

_STARTED: list[subprocess.Popen[bytes]] = []


def stop() -> None:
    """End the processes of servers that this process has started."""
    for process in _STARTED:
        process.kill()
        process.wait()
    _STARTED.clear()


# ---- S3 ----


@cache
def s3_endpoint() -> str:
    """The address of a server for S3 with a bucket in it."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    for address, body in ((BUCKET, b""), (f"{BUCKET}?policy", PUBLIC)):
        headers = {"Content-Type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{address}", body, headers, method="PUT")).close()
    return endpoint


# Anybody may do anything: then plain HTTP works, too.
PUBLIC = (
    b'{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:*", '
    b'"Resource": "arn:aws:s3:::' + BUCKET.encode() + b'/*"}]}'
)


def s3_store(endpoint: str | None = None, **options: Any) -> Any:
    """An obstore store of the bucket."""
    from obstore.store import S3Store

    client = {"allow_http": True, **options.pop("client_options", {})}
    return S3Store(
        BUCKET,
        endpoint=endpoint or s3_endpoint(),
        access_key_id=KEY,
        secret_access_key=SECRET,
        region="us-east-1",
        virtual_hosted_style_request=False,
        client_options=client,
        **options,
    )


def s3_environment(endpoint: str | None = None) -> dict[str, str]:
    """The variables by which `s3://` URLs reach the server."""
    return {
        "AWS_ENDPOINT_URL": endpoint or s3_endpoint(),
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }


# ---- Azure ----


@dataclass(frozen=True)
class Azurite:
    endpoint: str
    key: str

    def store(self, **options: Any) -> Any:
        from obstore.store import AzureStore

        return AzureStore(
            BUCKET,
            account_name=ACCOUNT,
            account_key=self.key,
            endpoint=self.endpoint,
            client_options={"allow_http": True},
            **options,
        )

    def environment(self) -> dict[str, str]:
        """The variables by which `az://` URLs reach the server."""
        return {
            "AZURE_ENDPOINT": self.endpoint,
            "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": self.key,
            "AZURE_ALLOW_HTTP": "true",
        }


def azurite() -> Azurite:
    """The server for Azure. The test is skipped where it cannot run."""
    if shutil.which("node") is None:
        pytest.skip("azurite needs node, which is not installed")
    beside = Path(sys.prefix) / "azurite" / "node_modules" / ".bin" / "azurite-blob"
    program = str(beside) if beside.exists() else shutil.which("azurite-blob")
    if program is None:
        pytest.skip("azurite is not installed: npm install --prefix .venv/azurite azurite")
    return _azurite(program)


@cache
def _azurite(program: str) -> Azurite:
    key = base64.b64encode(secrets.token_bytes(64)).decode()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--blobPort", str(port)]
    process = subprocess.Popen(
        [program, *options],
        env={**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{key}"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _STARTED.append(process)
    found = Azurite(f"http://127.0.0.1:{port}/{ACCOUNT}", key)
    for _ in range(1200):  # on a busy machine node takes half a minute to start
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            time.sleep(0.1)
    _create_container(found)
    return found


def _create_container(azure: Azurite) -> None:
    """obstore creates no containers. The signature is that of Azure's shared keys."""
    import hashlib
    import hmac
    from email.utils import formatdate

    now = formatdate(usegmt=True)
    headers = f"x-ms-date:{now}\nx-ms-version:2021-12-02"
    signed = f"PUT\n\n\n\n\n\n\n\n\n\n\n\n{headers}\n/{ACCOUNT}/{ACCOUNT}/{BUCKET}\nrestype:container"
    mark = base64.b64encode(hmac.digest(base64.b64decode(azure.key), signed.encode(), hashlib.sha256)).decode()
    request = urllib.request.Request(
        f"{azure.endpoint}/{BUCKET}?restype=container",
        method="PUT",
        headers={
            "x-ms-date": now,
            "x-ms-version": "2021-12-02",
            "Authorization": f"SharedKey {ACCOUNT}:{mark}",
            "Content-Length": "0",
        },
    )
    urllib.request.urlopen(request).close()


# ---- GCS ----


@cache
def gcs_endpoint() -> str:
    """The address of a server for GCS with a bucket in it."""
    return Gcs(BUCKET).endpoint


def gcs_store(endpoint: str | None = None, **options: Any) -> Any:
    """An obstore store of the bucket."""
    from obstore.store import GCSStore

    client = {"allow_http": True, **options.pop("client_options", {})}
    return GCSStore(BUCKET, service_account_key=_gcs_account(endpoint), client_options=client, **options)


def gcs_environment(endpoint: str | None = None) -> dict[str, str]:
    """The variables by which `gs://` URLs reach the server."""
    return {"GOOGLE_SERVICE_ACCOUNT_KEY": _gcs_account(endpoint), "GOOGLE_ALLOW_HTTP": "true"}


def _gcs_account(endpoint: str | None) -> str:
    """The key of an account that needs no token."""
    unused = {"client_email": "", "private_key": SECRET, "private_key_id": KEY}
    return json.dumps({"gcs_base_url": endpoint or gcs_endpoint(), "disable_oauth": True, **unused})


# The variables by which URLs of a scheme reach their server.
ENVIRONMENTS: dict[str, Callable[[], dict[str, str]]] = {
    "s3": s3_environment,
    "az": lambda: azurite().environment(),
    "gs": gcs_environment,
}


# ---- faults ----

# `error`: an answer of 503. `reset`: the connection is reset before the request is passed on. `lost`: it is reset after
# the server has answered. `cut`: half of the answer's body. `slow`: the answer takes two seconds.
Fault = Literal["error", "reset", "lost", "cut", "slow"]
SLOW_SECONDS = 2.0


@dataclass(frozen=True)
class Request:
    number: int  # from 1
    method: str
    path: str
    headers: dict[str, str]


class Proxy:
    """Passes requests on to a server. `fault` says what goes wrong with a request; None if nothing does."""

    def __init__(self, endpoint: str, fault: Callable[[Request], Fault | None], delay: float = 0) -> None:
        self.requests: list[Request] = []
        self.fault = fault
        self.delay = delay
        self._target = endpoint.removeprefix("http://").partition("/")[0]
        self._lock = Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline(65537)
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                proxy._pass_on(self)

            def log_message(self, *_: Any) -> None:
                return None

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        path = endpoint.removeprefix("http://").partition("/")[2]
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}{'/' + path if path else ''}"
        Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _pass_on(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        with self._lock:
            request = Request(len(self.requests) + 1, handler.command, handler.path, dict(handler.headers.items()))
            self.requests.append(request)
        fault = self.fault(request)
        if self.delay or fault == "slow":
            time.sleep(SLOW_SECONDS if fault == "slow" else self.delay)
        if fault == "reset":
            return _reset(handler)
        if fault == "error":
            return _answer(handler, 503, {}, b"injected")
        upstream = http.client.HTTPConnection(self._target, timeout=60)
        upstream.request(handler.command, handler.path, body, request.headers)
        answer = upstream.getresponse()
        content = answer.read()
        upstream.close()
        if fault == "lost":
            return _reset(handler)
        headers = {name.title(): value for name, value in answer.getheaders() if name.lower() not in _HOPS}
        if handler.command != "HEAD":
            headers["Content-Length"] = str(len(content))
        if fault == "cut" and len(content) > 1:
            _answer(handler, answer.status, headers, content[: len(content) // 2])
            return _reset(handler)
        return _answer(handler, answer.status, headers, content)


_HOPS = {"transfer-encoding", "connection", "keep-alive", "date", "server"}


def _answer(handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str], content: bytes) -> None:
    handler.send_response(status)
    for name, value in ({"Content-Length": str(len(content))} | headers).items():
        handler.send_header(name, value)
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(content)
    handler.wfile.flush()


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


@contextmanager
def proxy(
    endpoint: str, fault: Callable[[Request], Fault | None] = lambda _: None, delay: float = 0
) -> Iterator[Proxy]:
    """A proxy in front of a server."""
    found = Proxy(endpoint, fault, delay)
    try:
        yield found
    finally:
        found.close()
