"""Messages of the library, in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from amudai import AmudaiError, InvalidArgument

__all__ = ["in_option_words", "spoken"]

_OPTIONS: Final = (
    "columns comment decimal delimiter duplicates encoding escape extract format header mixed_zones multiline nan "
    "null on_error only_new overwrite pattern profile quote skip timestamps timezone year"
)
_NAMES: Final = "|".join(_OPTIONS.split())
_RULES: Final = (
    # Some messages say both.
    (re.compile(r"\b\w+= or (--[\w-]+)"), lambda match: match[1]),
    # types={'id': pa.uint64()} is said as --type 'id=uint64'.
    (re.compile(r"\btypes=\{(['\"])(.+?)\1: ([^}]*)\}"), lambda match: f"--type '{match[2]}={_kind(match[3])}'"),
    (re.compile(r"\bpa\.(\w+)\(\)"), lambda match: match[1]),
    (re.compile(r"\btypes(=|:)"), lambda match: f"--type{match[1].rstrip('=')}"),
    (re.compile(rf"\b({_NAMES})=True\b"), lambda match: _flag(match[1])),
    (re.compile(rf"\b({_NAMES})=False\b"), lambda match: f"--no-{_flag(match[1])[2:]}"),
    (re.compile(rf"\b({_NAMES})=(['\"])(.*?)\2"), lambda match: f"{_flag(match[1])} {match[3] or repr('')}"),
    (re.compile(rf"\b({_NAMES})="), lambda match: _flag(match[1])),
)
# An error about an argument begins with its name. Others may begin with such a word, but mean the content of a file.
_ARGUMENT: Final = re.compile(rf"^({_NAMES}):")


def spoken(message: str) -> str:
    """A message with options as they are typed.

    >>> spoken("expected int64, found double: say types={'n': ...}")
    "expected int64, found double: say --type 'n=TYPE'"
    >>> spoken('found it twice: duplicates="rename" keeps both')
    'found it twice: --duplicates rename keeps both'
    """
    for rule, said in _RULES:
        message = rule.sub(said, message)
    return message


@contextmanager
def in_option_words() -> Iterator[None]:
    """Let the errors of the library speak of options of the command line."""
    try:
        yield
    except AmudaiError as error:
        error.message = spoken(error.message)
        if isinstance(error, InvalidArgument):
            error.message = _ARGUMENT.sub(lambda match: f"{_flag(match[1])}:", error.message)
        raise


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _kind(text: str) -> str:
    return "TYPE" if text == "..." else re.sub(r"\bpa\.(\w+)\(\)", r"\1", text)
