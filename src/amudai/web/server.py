"""Runs the server on this machine, for the person who started it."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from amudai import Limits, StorageError, UnsupportedFeature
from amudai.web.folder import Folder

__all__ = ["ServerOptions", "serve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How a server runs.

    Attributes
    ----------
    port
        The port; 0 for any that is free.
    allow
        Folders and prefixes of URLs that shards may refer to, besides their own folder.
    queries, seconds, memory
        How many queries may run at once, how long each may run, and how many bytes of memory each may take.
    token
        The token of the address; a new one for each server.
    """

    port: int = 0
    allow: Sequence[str] = ()
    queries: int = 10
    seconds: float = 60
    memory: int = 1 << 30
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))


def serve(location: str, options: ServerOptions, started: Callable[[str], None]) -> None:
    """Serve a folder, or a shard, on this machine until Ctrl-C. `started` is called with the address.

    Needs `pip install amudai[serve]`.
    """
    try:
        import uvicorn

        from amudai.web.app import WebLimits, web_app
        from amudai.web.warming import load_languages, warm
    except ImportError as error:
        advice = "pip install 'amudai[serve]'"
        raise UnsupportedFeature(f"serve: expected the package {error.name}, found none: {advice}") from error
    folder = Folder(location, options.allow, Limits(memory=options.memory))
    try:
        listening = socket.create_server(("127.0.0.1", options.port))
    except OSError as error:
        raise StorageError(f"--port: expected one that is free, found {options.port}: {error.strerror}") from error
    port = int(listening.getsockname()[1])
    limits = WebLimits(queries=options.queries, seconds=options.seconds, memory=options.memory)
    app = web_app(folder, options.token, port, limits)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=2
    )
    load_languages()
    threading.Thread(target=warm, args=(folder, limits.of_query), name="amudai-warm", daemon=True).start()
    started(f"http://127.0.0.1:{port}/?token={options.token}")
    with listening:
        uvicorn.Server(config).run([listening])
