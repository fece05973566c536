"""The commands, and how the command line is parsed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final

from amudai.cli.declared import option, typed
from amudai.cli.guard import INTERRUPTED, USAGE, error_line, guarded
from amudai.cli.quick import quick_arguments

if TYPE_CHECKING:  # typer takes longer to import than most commands run
    import typer

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
    import typer

    app = typer.Typer(
        name="amudai",
        help="Write, search and inspect Amudai shards: columnar files that carry their own indexes.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_typed(_main))
    first = arguments[0] if arguments else ""
    for name in (first,) if first in COMMANDS else () if first == "--version" else COMMANDS:
        app.command(name, no_args_is_help=True)(_typed(_command(name)))
    return app


def _command(name: str) -> Callable[..., int]:
    return guarded(import_module(f"amudai.cli.{name}").run)


def _typed(command: Callable[..., int | None]) -> Callable[..., None]:
    """A command as typer wants it."""
    import typer

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        code = command(**arguments)
        if code:
            raise typer.Exit(code)

    signature = inspect.signature(command, eval_str=True)
    parameters = [typed(parameter) for parameter in signature.parameters.values()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # slow to import

        import typer

        print(f"amudai {version('amudai')}")
        raise typer.Exit


def _main(
    show_version: Annotated[
        bool, option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Write, search and inspect Amudai shards: columnar files that carry their own indexes."""


def run(arguments: Sequence[str]) -> int:
    """Run a command. Returns the exit code."""
    first = arguments[0] if arguments else ""
    if first in COMMANDS:
        command = _command(first)
        plain = quick_arguments(command, arguments[1:])
        if plain is not None:
            return command(**plain)
    return _run_typed(arguments)


def _run_typed(arguments: Sequence[str]) -> int:
    import typer

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
