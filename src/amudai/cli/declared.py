"""Options and arguments of commands as typer has them, but without typer, whose import takes longer than a search.

`typed` makes typer's own of them, where it is typer that parses, prints help or explains a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, get_args, get_origin

__all__ = ["Declared", "argument", "declared_of", "option", "typed"]


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter of a command: its names if it is an option, and what typer knows about it besides."""

    is_option: bool
    names: tuple[str, ...]
    details: Mapping[str, Any]


def option(*names: str, **details: Any) -> Any:
    """An option, with the words of `typer.Option`."""
    return Declared(True, names, details)


def argument(**details: Any) -> Any:
    """An argument, with the words of `typer.Argument`."""
    return Declared(False, (), details)


def declared_of(parameter: Parameter) -> tuple[Any, Declared | None]:
    """The type of a parameter, and how it is declared; None if it is declared with typer."""
    kind = parameter.annotation
    if get_origin(kind) is not Annotated:
        return kind, None
    kind, *notes = get_args(kind)
    return kind, next((note for note in notes if isinstance(note, Declared)), None)


def typed(parameter: Parameter) -> Parameter:
    """The parameter, declared with typer."""
    kind, found = declared_of(parameter)
    if found is None:
        return parameter
    import typer

    made = typer.Option(*found.names, **found.details) if found.is_option else typer.Argument(**found.details)
    return parameter.replace(annotation=Annotated[kind, made])
