"""Exit codes and error messages, the same for all commands.

0: the command did what was asked. 1: `search` found nothing, or `verify` found a problem. 2: the command line makes no
sense. 3: something failed. 130: Ctrl-C. 141: nobody reads the output any more. An error is one line; `--debug` shows
the traceback.
"""

from __future__ import annotations

import errno
import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Final

import pyarrow as pa

from amudai import AmudaiError, InvalidArgument
from amudai.cli.declared import option
from amudai.cli.terminal import warnings_as_notes

__all__ = ["FAILED", "INTERRUPTED", "NOTHING", "OK", "PIPE_CLOSED", "USAGE", "error_line", "guarded"]

OK: Final = 0
NOTHING: Final = 1
USAGE: Final = 2
FAILED: Final = 3
INTERRUPTED: Final = 130
PIPE_CLOSED: Final = 141

Debug = Annotated[bool, option("--debug", help="Show the traceback of an error.")]


def guarded(command: Callable[..., int | None]) -> Callable[..., int]:
    """Wrap a command: add the option `--debug`, turn errors into messages and exit codes."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def run(*, debug: bool = False, **arguments: Any) -> int:
        try:
            with warnings_as_notes():
                code = command(**arguments) or OK
            sys.stdout.flush()
        except BaseException as error:
            if isinstance(error, SystemExit) or type(error).__module__.startswith(("typer", "click")):
                raise
            if debug and not isinstance(error, KeyboardInterrupt):
                traceback.print_exc()
            code = _code(error)
            if code == PIPE_CLOSED:
                _leave_pipe()
            elif not isinstance(error, KeyboardInterrupt):
                error_line(_said(error))
        return code

    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug)
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()]
    run.__signature__ = inspect.Signature([*parameters, debug])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in [*parameters, debug]}
    return run


def error_line(text: str) -> None:
    """Print an error on standard error."""
    try:
        print(f"error: {text}", file=sys.stderr)
    except UnicodeEncodeError:
        print(f"error: {text.encode('ascii', 'backslashreplace').decode()}", file=sys.stderr)


def _code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, InvalidArgument):
        return USAGE
    if isinstance(error, OSError) and error.errno == errno.EPIPE:
        return PIPE_CLOSED
    return FAILED


def _said(error: BaseException) -> str:
    if isinstance(error, InvalidArgument):
        return str(error)  # may have several lines, with a mark under the place in a predicate
    if isinstance(error, AmudaiError):
        return _one_line(str(error))
    if isinstance(error, OSError) and error.strerror:
        return _one_line(f"{error.strerror}{f': {error.filename}' if error.filename else ''}")
    if isinstance(error, pa.ArrowException | MemoryError):
        return _one_line(str(error) or type(error).__name__)
    return _one_line(f"unexpected {type(error).__name__}: {error} (--debug shows the traceback)")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _leave_pipe() -> None:
    """Send the rest of the output nowhere, so that the interpreter does not complain when it exits."""
    with suppress(OSError, ValueError):  # standard output may not be a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
