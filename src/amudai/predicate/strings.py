"""The text operators of Polars: `col("name").str`."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_letters
from typing import Final

from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.predicate.plain_values import list_of_values
from amudai.predicate.regex import quoted
from amudai.predicate.rust_regex import rust_to_re2
from amudai.predicate.tree import Matches, Or, Predicate, Text, TextOp, source

__all__ = ["Strings"]

# A regular expression that matches nothing.
_NOTHING: Final = r"[^\x00-\x{10FFFF}]"


class Strings:
    """The text operators of Polars for one column, with the same names and meaning. They are case-sensitive.

    Examples
    --------
    >>> message = amudai.col("message").str
    >>> message.contains("time.*out"), message.contains("1.5", literal=True)
    (col("message").matches("time.*out"), col("message").contains_cs("1.5"))
    >>> message.starts_with("GET") | message.ends_with(" 500")
    col("message").startswith_cs("GET") | col("message").endswith_cs(" 500")
    """

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"col({source(self._path)}).str"

    def contains(self, pattern: str, *, literal: bool = False) -> Predicate:
        r"""True if the text contains a match of a regular expression or, with `literal`, the text `pattern`.

        The syntax is that of Rust, as in Polars. A construct that our engine, RE2, cannot express raises an error that
        names it.

        Examples
        --------
        >>> amudai.col("message").str.contains("(?i)timeout|refused")
        col("message").matches("(?i)timeout|refused")
        >>> amudai.col("message").str.contains("a[0-9&&[^4]]")
        Traceback (most recent call last):
        amudai.errors.UnsupportedFeature: str.contains: expected a regular expression that RE2 can express, found && ...
        """
        if literal:
            return self._text("contains", pattern)
        return Matches(self._path, rust_to_re2("str.contains", _required("contains", pattern)))

    def contains_any(self, patterns: Iterable[str], *, ascii_case_insensitive: bool = False) -> Predicate:
        """True if the text contains one of `patterns`, which are plain texts and not regular expressions.

        Parameters
        ----------
        ascii_case_insensitive
            Ignore the case of the letters A to Z, but of no other letters.
        """
        texts = [_required("contains_any", each) for each in list_of_values("str.contains_any", patterns)]
        if ascii_case_insensitive:
            found: list[Predicate] = [Matches(self._path, "".join(map(_in_ascii_case, text))) for text in texts]
        else:
            found = [self._text("contains", text) for text in texts]
        if not found:
            return Matches(self._path, _NOTHING)  # false, but neither true nor false for a null
        return found[0] if len(found) == 1 else Or(tuple(found))

    def starts_with(self, prefix: str) -> Predicate:
        """True if the text begins with `prefix`."""
        return self._text("startswith", prefix)

    def ends_with(self, suffix: str) -> Predicate:
        """True if the text ends with `suffix`."""
        return self._text("endswith", suffix)

    def _text(self, op: TextOp, text: object) -> Predicate:
        return Text(self._path, op, _required(op, text), True)


def _required(op: str, text: object) -> str:
    if not isinstance(text, str):
        raise InvalidArgument(f"str.{op}: expected a text, found {shown(text)}")
    return str(text)


def _in_ascii_case(character: str) -> str:
    if character not in ascii_letters:
        return quoted(character)
    return f"[{character.upper()}{character.lower()}]"
