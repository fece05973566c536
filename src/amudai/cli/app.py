"""The commands, and how the command line is parsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Annotated, Any

import typer

from amudai.cli import (
    bench,
    export,
    head,
    index,
    indexes,
    ingest,
    inspect,
    sample,
    schema,
    search,
    stats,
    verify,
)
from amudai.cli.guard import INTERRUPTED, USAGE, error_line, guarded

__all__ = ["app", "run"]

app = typer.Typer(
    name="amudai",
    help="Write, search and inspect Amudai shards: columnar files that carry their own indexes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)

# In the order of first use: write a shard, search it, look inside, take the rows elsewhere.
COMMANDS: dict[str, Callable[..., int | None]] = {
    "ingest": ingest.run,
    "search": search.run,
    "head": head.run,
    "sample": sample.run,
    "schema": schema.run,
    "stats": stats.run,
    "inspect": inspect.run,
    "indexes": indexes.run,
    "index": index.run,
    "verify": verify.run,
    "export": export.run,
    "bench": bench.run,
}

for _name, _command in COMMANDS.items():
    app.command(_name, no_args_is_help=True)(guarded(_command))


def _version(asked: bool) -> None:
    if asked:
        print(f"amudai {version('amudai')}")
        raise typer.Exit


@app.callback()
def _main(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Write, search and inspect Amudai shards: columnar files that carry their own indexes."""


def run(arguments: Sequence[str]) -> int:
    """Run a command. Returns the exit code."""
    try:
        found: Any = app(args=list(arguments), prog_name="amudai", standalone_mode=False)
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
