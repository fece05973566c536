"""The command `serve`: look at a folder of shards in a browser."""

from __future__ import annotations

import sys
import webbrowser
from typing import Annotated

import typer

from amudai.cli.options import Allow
from amudai.web import ServerOptions, serve

__all__ = ["run"]


def run(
    location: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Path of a folder of shards, or of a shard.", show_default=False)
    ],
    port: Annotated[int, typer.Option("--port", help="Port; 0 for any that is free.", min=0, max=65535)] = 0,
    queries: Annotated[int, typer.Option("--queries", help="Queries that may run at once.", min=1, max=100)] = 10,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds that a query may take.", min=0.1)] = 60,
    memory: Annotated[
        int, typer.Option("--memory", metavar="MB", help="Megabytes that a query may take.", min=16)
    ] = 1024,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the browser, too.")] = False,
    allow: Allow = None,
) -> int:
    """Show a folder of shards in a browser: look, search, ask in KQL or SQL. Only this machine can see it."""
    options = ServerOptions(port=port, allow=allow or (), queries=queries, seconds=timeout, memory=memory << 20)

    def started(url: str) -> None:
        print(f"Serving {location}, read only, to this machine. Ctrl-C stops it.\n\n  {url}\n")
        sys.stdout.flush()
        if open_browser:
            webbrowser.open(url)

    serve(location, options, started)
    return 0
