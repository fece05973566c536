"""The commands, and how the command line is parsed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, Final

import typer

from amudai.cli.guard import INTERRUPTED, USAGE, error_line, guarded

__all__ = ["app_for", "run"]

# In the order of first use: write a shard, search it, look inside, take the rows elsewhere.
COMMANDS: Final = (
    "ingest",
    "attach",
    "append",
    "search",
    "query",
    "shell",
    "serve",
    "head",
    "tail",
    "sample",
    "schema",
    "stats",
    "inspect",
    "indexes",
    "index",
    "delete",
    "undelete",
    "upsert",
    "compact",
    "columns",
    "verify",
    "salvage",
    "merge",
    "copy",
    "files",
    "gc",
    "export",
    "bench",
)


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The command line, with the one command that the arguments name, or else with all commands.

    Importing a command takes longer than most commands run.
    """
    app = typer.Typer(
        name="amudai",
        help="Write, search and inspect Amudai shards: columnar files that carry their own indexes.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_main)
    first = arguments[0] if arguments else ""
    for name in (first,) if first in COMMANDS else () if first == "--version" else COMMANDS:
        command = import_module(f"amudai.cli.{name}").run
        app.command(name, no_args_is_help=True)(guarded(command))
    return app


def _version(asked: bool) -> None:
    if asked:
        print(f"amudai {version('amudai')}")
        raise typer.Exit


def _main(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Write, search and inspect Amudai shards: columnar files that carry their own indexes."""


def run(arguments: Sequence[str]) -> int:
    """Run a command. Returns the exit code."""
    try:
        found: Any = app_for(arguments)(args=list(arguments), prog_name="amudai", standalone_mode=False)
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        # Typer's message about a command line that it cannot parse.
        said = str(error.format_message())
        if not said:
            return USAGE  # its help has been printed
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "amudai"
        error_line(f"{said.rstrip('.')} (see {path} --help)")
        return int(getattr(error, "exit_code", USAGE))
    return found if isinstance(found, int) else 0
