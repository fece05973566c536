"""Command lines that need no parser: plain options and arguments, without a mistake.

Everything else is left to typer, which also says what is wrong. Whatever is parsed here, typer would parse to the same.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Sequence
from types import UnionType
from typing import Any, Final, get_args, get_origin

from amudai.cli.declared import declared_of

__all__ = ["quick_arguments"]


# What a parameter may state without a meaning for the parser, or with one that is known here.
_PLAIN: Final = frozenset({"help", "max", "metavar", "min", "rich_help_panel", "show_default"})


class _Unclear(Exception):
    """The command line is not plain."""


def quick_arguments(command: Callable[..., Any], words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments that a command line gives to a command; None if typer is to look at it."""
    if not words or "_AMUDAI_COMPLETE" in os.environ:
        return None
    try:
        return _parsed(inspect.signature(command), list(words))
    except _Unclear:
        return None


def _parsed(signature: inspect.Signature, words: list[str]) -> dict[str, Any]:
    options: dict[str, inspect.Parameter] = {}
    places: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        _, declared = declared_of(parameter)
        if declared is None or not declared.details.keys() <= _PLAIN:
            raise _Unclear
        if not declared.is_option:
            places.append(parameter)
        options.update(dict.fromkeys(declared.names, parameter))
    given: dict[str, list[str]] = {}
    values: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            values += words
            break
        if not word.startswith("-") or word == "-":
            values.append(word)
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name not in options:
            raise _Unclear
        parameter = options[name]
        if not _is_flag(parameter):
            if not equals and (not words or words[0].startswith("-")):
                raise _Unclear
            value = value if equals else words.pop(0)
        elif equals:
            raise _Unclear
        given.setdefault(parameter.name, []).append(value)
    found = {name: _option(signature.parameters[name], texts) for name, texts in given.items()}
    found.update(_placed(places, values))
    for name, parameter in signature.parameters.items():
        if name not in found:
            if parameter.default is parameter.empty:
                raise _Unclear
            found[name] = parameter.default
    return found


def _placed(places: list[inspect.Parameter], values: list[str]) -> dict[str, Any]:
    """The arguments, in their order: one word each, and what is left to the one that takes several."""
    several = [_is_list(parameter) for parameter in places]
    if len(values) < len(places) or sum(several) > 1 or (len(values) > len(places) and not any(several)):
        raise _Unclear
    found: dict[str, Any] = {}
    for parameter, is_list in zip(places, several, strict=True):
        count = len(values) - (len(places) - len(found) - 1) if is_list else 1
        taken, values = values[:count], values[count:]
        found[parameter.name] = taken if is_list else _value(parameter, taken[0])
    return found


def _option(parameter: inspect.Parameter, texts: list[str]) -> Any:
    if _is_list(parameter):
        return texts
    if len(texts) > 1:
        raise _Unclear
    return True if _is_flag(parameter) else _value(parameter, texts[0])


def _value(parameter: inspect.Parameter, text: str) -> Any:
    kind = _kind(parameter)
    if kind is str:
        return text
    if kind is not int or not re.fullmatch(r"[0-9]{1,18}", text):
        raise _Unclear
    _, declared = declared_of(parameter)
    assert declared is not None
    least, most = declared.details.get("min"), declared.details.get("max")
    number = int(text)
    if (least is not None and number < least) or (most is not None and number > most):
        raise _Unclear
    return number


def _kind(parameter: inspect.Parameter) -> Any:
    """The type of a parameter, without None."""
    kind, _ = declared_of(parameter)
    if get_origin(kind) is UnionType:
        (kind,) = [each for each in get_args(kind) if each is not type(None)]
    return kind


def _is_list(parameter: inspect.Parameter) -> bool:
    return bool(_kind(parameter) == list[str])


def _is_flag(parameter: inspect.Parameter) -> bool:
    return _kind(parameter) is bool
