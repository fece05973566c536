"""The text operators of a column: those of KQL, and SQL's LIKE."""

from __future__ import annotations

from collections.abc import Iterable

from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.predicate.like import like
from amudai.predicate.plain_values import list_of_values
from amudai.predicate.tree import Always, And, Matches, Or, Predicate, Text, TextOp, source

__all__ = ["TextOperators"]


class TextOperators:
    """The text operators of a column. `docs/operators.md` says what each operator means."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"col({source(self._path)})"

    def has(self, text: str) -> Predicate:
        """True if the text contains these words as whole words: `has("time")` is false for "timeout"."""
        return self._text("has", text, False)

    def has_cs(self, text: str) -> Predicate:
        """Like `has`, but case-sensitive."""
        return self._text("has", text, True)

    def hasprefix(self, text: str) -> Predicate:
        """True if a word begins with this text: `hasprefix("time")` is true for "read timeout"."""
        return self._text("hasprefix", text, False)

    def hasprefix_cs(self, text: str) -> Predicate:
        """Like `hasprefix`, but case-sensitive."""
        return self._text("hasprefix", text, True)

    def hassuffix(self, text: str) -> Predicate:
        """True if a word ends with this text: `hassuffix("out")` is true for "timeout after 5 s"."""
        return self._text("hassuffix", text, False)

    def hassuffix_cs(self, text: str) -> Predicate:
        """Like `hassuffix`, but case-sensitive."""
        return self._text("hassuffix", text, True)

    def contains(self, text: str) -> Predicate:
        """True if the text contains `text` anywhere."""
        return self._text("contains", text, False)

    def contains_cs(self, text: str) -> Predicate:
        """Like `contains`, but case-sensitive."""
        return self._text("contains", text, True)

    def startswith(self, text: str) -> Predicate:
        """True if the value begins with `text`."""
        return self._text("startswith", text, False)

    def startswith_cs(self, text: str) -> Predicate:
        """Like `startswith`, but case-sensitive."""
        return self._text("startswith", text, True)

    def endswith(self, text: str) -> Predicate:
        """True if the value ends with `text`."""
        return self._text("endswith", text, False)

    def endswith_cs(self, text: str) -> Predicate:
        """Like `endswith`, but case-sensitive."""
        return self._text("endswith", text, True)

    def iequals(self, text: str) -> Predicate:
        """True if the value equals `text`, ignoring case. This is `=~` in KQL."""
        return self._text("equals", text, False)

    def has_any(self, texts: Iterable[str]) -> Predicate:
        """True if `has` is true for at least one of `texts`."""
        found = tuple(self.has(text) for text in list_of_values("has_any", texts))
        return found[0] if len(found) == 1 else Or(found) if found else Always(False)

    def has_all(self, texts: Iterable[str]) -> Predicate:
        """True if `has` is true for all of `texts`."""
        found = tuple(self.has(text) for text in list_of_values("has_all", texts))
        return found[0] if len(found) == 1 else And(found) if found else Always(True)

    def matches(self, pattern: str) -> Predicate:
        """True if the text contains a match of a regular expression in RE2 syntax. Case-sensitive without `(?i)`."""
        if not isinstance(pattern, str):
            raise InvalidArgument(f"matches: expected a regular expression, found {shown(pattern)}")
        return Matches(self._path, pattern)

    def like(self, pattern: str, *, escape: str | None = None) -> Predicate:
        r"""True if the whole text matches the pattern, as in SQL: `%` is any text, even none; `_` is any one character.

        Parameters
        ----------
        escape
            A character that makes the next one stand for itself. None for no such character, as in SQL.

        Examples
        --------
        >>> amudai.col("path").like("/api/%"), amudai.col("path").like("%.json")
        (col("path").startswith_cs("/api/"), col("path").endswith_cs(".json"))
        >>> amudai.col("done").like(r"%100\%%", escape="\\")
        col("done").contains_cs("100%")
        """
        return like(self._path, pattern, escape, case_sensitive=True)

    def ilike(self, pattern: str, *, escape: str | None = None) -> Predicate:
        """Like `like`, but ignores case."""
        return like(self._path, pattern, escape, case_sensitive=False)

    def _text(self, op: TextOp, text: object, case_sensitive: bool) -> Predicate:
        if not isinstance(text, str):
            raise InvalidArgument(f"{op}: expected a text, found {shown(text)}")
        return Text(self._path, op, str(text), case_sensitive)
