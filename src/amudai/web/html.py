"""HTML from Python: every text is escaped, unless it is HTML already."""

from __future__ import annotations

import re
from html import escape
from typing import Final

__all__ = ["Content", "Html", "highlighted", "tag", "together"]

# Elements of HTML that have no end. Shapes of SVG have one.
_EMPTY: Final = frozenset(["br", "input", "link", "meta"])


class Html(str):
    """A text that is HTML. All other texts are escaped."""

    __slots__ = ()


Content = Html | str | int | float | None


def together(*parts: Content) -> Html:
    """Several parts as one.

    >>> together("a < b", Html("<br>"), None)
    'a &lt; b<br>'
    """
    return Html("".join(part if isinstance(part, Html) else escape(str(part)) for part in parts if part is not None))


def tag(_name: str, *content: Content, **attributes: Content | bool) -> Html:
    """An element. Attributes that are None or False are left out; a trailing `_` is dropped, other `_` become `-`.

    >>> tag("a", "R&D", href="/?q=<b>", class_="wide", aria_label="x", hidden=True, title=None)
    '<a href="/?q=&lt;b&gt;" class="wide" aria-label="x" hidden>R&amp;D</a>'
    >>> tag("br")
    '<br>'
    """
    words = [_name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.rstrip("_").replace("_", "-")
        words.append(name if value is True else f'{name}="{escape(str(value))}"')
    start = f"<{' '.join(words)}>"
    return Html(start if _name in _EMPTY else f"{start}{together(*content)}</{_name}>")


def highlighted(text: str, words: re.Pattern[str] | None) -> Html:
    """A text with the words marked.

    >>> highlighted("read timeout <b>", re.compile("timeout"))
    'read <mark>timeout</mark> &lt;b&gt;'
    """
    if words is None:
        return together(text)
    parts, at = [], 0
    for match in words.finditer(text):
        if match.end() > match.start():
            parts += [together(text[at : match.start()]), tag("mark", match[0])]
            at = match.end()
    return together(*parts, text[at:])
