r"""Quotes with a backslash before them, as Spark, MySQL and Hive write them: `\"` in a quoted value becomes two quotes.

Only values in quotes have escapes. Two backslashes are one there; other characters behind a backslash stay as they are.
"""

from __future__ import annotations

import re

from amudai.sources.text import TextStream

__all__ = ["UnescapedStream", "unescaped"]


def unescaped(text: bytes, delimiter: str, quote: str, escape: str, *, same_size: bool = False) -> bytes:
    r"""A text that begins with a record, with doubled quotes in place of escaped ones.

    Parameters
    ----------
    same_size
        Whether two backslashes stay two characters, for the sizes of records.

    >>> unescaped(rb'"a\"b",c\d', ",", '"', "\\")
    b'"a""b",c\\d'
    """
    return _Unescaper(delimiter, quote, escape, same_size).fed(text, is_final=True)


class UnescapedStream:
    """A stream of text with doubled quotes in place of escaped ones. `begun` is what was read of it before."""

    def __init__(self, stream: TextStream, begun: bytes, delimiter: str, quote: str, escape: str) -> None:
        self._stream = stream
        self._unescaper = _Unescaper(delimiter, quote, escape)
        self._begun = begun

    def read(self, size: int) -> bytes:
        """The next bytes, about `size` of them; none at the end."""
        while True:
            found = self._begun or self._stream.read(size)
            self._begun = b""
            text = self._unescaper.fed(found, is_final=not found)
            if text or not found:
                return text

    def read_behind(self, rest: bytes, size: int) -> memoryview:
        """`rest` and the next bytes in one piece. It is `rest` at the end of the file."""
        return memoryview(rest + self.read(size))


class _Unescaper:
    """Follows the quotes of a text from one piece to the next."""

    def __init__(self, delimiter: str, quote: str, escape: str, same_size: bool = False) -> None:
        self._quote, self._escape, self._edges = quote.encode(), escape.encode(), delimiter.encode() + b"\r\n"
        mark = re.escape(self._quote)
        self._opening = re.compile(rb"(?<![^%b])%b" % (re.escape(self._edges), mark))
        self._token = re.compile(rb"%b[\s\S]|%b%b|%b" % (re.escape(self._escape), mark, mark, mark))
        self._one = b"  " if same_size else self._escape
        self._held = b""
        self._is_inside, self._is_edge = False, True

    def fed(self, data: bytes, *, is_final: bool) -> bytes:
        """The next piece of text. Escapes and quotes at its end wait for what follows."""
        data = self._held + data
        end = len(data) if is_final else len(data.rstrip(self._quote + self._escape))
        data, self._held = data[:end], data[end:]
        parts, last, at = [], 0, 0
        while True:
            found = (self._token if self._is_inside else self._opening).search(data, at)
            if found is None:
                break
            at = found.end()
            if not self._is_inside:
                self._is_inside = found.start() > 0 or self._is_edge
            elif found[0] == self._quote:
                self._is_inside = False
            elif found[0] in (self._escape + self._quote, 2 * self._escape):
                parts += [data[last : found.start()], 2 * self._quote if found[0][1:] == self._quote else self._one]
                last = at
        parts.append(data[last:])
        if data:
            self._is_edge = data[-1:] in self._edges
        return b"".join(parts)
