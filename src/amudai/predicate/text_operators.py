"""The text operators of a column: KQL's, and SQL's LIKE."""

from __future__ import annotations

from collections.abc import Iterable

from amudai.errors import InvalidArgument
from amudai.predicate.like import like
from amudai.predicate.plain_values import list_of_values
from amudai.predicate.tree import Always, And, Matches, Or, Predicate, Text, TextOp, source

__all__ = ["TextOperators"]


class TextOperators:
    """What can be asked of a column's text. `docs/operators.md` says what each operator means."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __repr__(self) -> str:
        return f"col({source(self._path)})"

    def has(self, text: str) -> Predicate:
        """Holds these words, whole: `has("time")` is false for "timeout"."""
        return self._text("has", text, False)

    def has_cs(self, text: str) -> Predicate:
        """As `has`, minding case."""
        return self._text("has", text, True)

    def hasprefix(self, text: str) -> Predicate:
        """Holds words that begin so: `hasprefix("time")` is true for "read timeout"."""
        return self._text("hasprefix", text, False)

    def hasprefix_cs(self, text: str) -> Predicate:
        """As `hasprefix`, minding case."""
        return self._text("hasprefix", text, True)

    def hassuffix(self, text: str) -> Predicate:
        """Holds words that end so: `hassuffix("out")` is true for "timeout after 5 s"."""
        return self._text("hassuffix", text, False)

    def hassuffix_cs(self, text: str) -> Predicate:
        """As `hassuffix`, minding case."""
        return self._text("hassuffix", text, True)

    def contains(self, text: str) -> Predicate:
        """Holds this text anywhere."""
        return self._text("contains", text, False)

    def contains_cs(self, text: str) -> Predicate:
        """As `contains`, minding case."""
        return self._text("contains", text, True)

    def startswith(self, text: str) -> Predicate:
        """Begins with this text."""
        return self._text("startswith", text, False)

    def startswith_cs(self, text: str) -> Predicate:
        """As `startswith`, minding case."""
        return self._text("startswith", text, True)

    def endswith(self, text: str) -> Predicate:
        """Ends with this text."""
        return self._text("endswith", text, False)

    def endswith_cs(self, text: str) -> Predicate:
        """As `endswith`, minding case."""
        return self._text("endswith", text, True)

    def iequals(self, text: str) -> Predicate:
        """Is this text but for case: KQL's `=~`."""
        return self._text("equals", text, False)

    def has_any(self, texts: Iterable[str]) -> Predicate:
        """Has one of these, each as `has` understands it."""
        found = tuple(self.has(text) for text in list_of_values("has_any", texts))
        return found[0] if len(found) == 1 else Or(found) if found else Always(False)

    def has_all(self, texts: Iterable[str]) -> Predicate:
        """Has all of these, each as `has` understands it."""
        found = tuple(self.has(text) for text in list_of_values("has_all", texts))
        return found[0] if len(found) == 1 else And(found) if found else Always(True)

    def matches(self, pattern: str) -> Predicate:
        """Holds something that this regular expression matches, in the syntax of RE2. Case matters but for `(?i)`."""
        if not isinstance(pattern, str):
            raise InvalidArgument(f"matches: expected a regular expression, found {pattern!r}")
        return Matches(self._path, pattern)

    def like(self, pattern: str, *, escape: str | None = None) -> Predicate:
        r"""Fits this pattern as a whole, as in SQL: `%` is any text, also none, and `_` is any one character.

        Parameters
        ----------
        escape
            A character that takes away the meaning of the one behind it. SQL has none unless it is named.

        Examples
        --------
        >>> amudai.col("path").like("/api/%"), amudai.col("path").like("%.json")
        (col("path").startswith_cs("/api/"), col("path").endswith_cs(".json"))
        >>> amudai.col("done").like(r"%100\%%", escape="\\")
        col("done").contains_cs("100%")
        """
        return like(self._path, pattern, escape, case_sensitive=True)

    def ilike(self, pattern: str, *, escape: str | None = None) -> Predicate:
        """As `like`, ignoring case as the other operators do."""
        return like(self._path, pattern, escape, case_sensitive=False)

    def _text(self, op: TextOp, text: object, case_sensitive: bool) -> Predicate:
        if not isinstance(text, str):
            raise InvalidArgument(f"{op}: expected a text, found {text!r}")
        return Text(self._path, op, str(text), case_sensitive)
