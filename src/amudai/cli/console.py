"""The console of rich that output for people goes to."""

from __future__ import annotations

from typing import NoReturn

from rich.console import Console

__all__ = ["PlainConsole"]


class PlainConsole(Console):
    """A console that tells the guard when nobody reads its output any more."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error that the guard knows; rich would exit with code 1."""
        raise BrokenPipeError(32, "Broken pipe")
