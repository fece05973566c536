"""What all pages share: head, search box, chips of the question, shortcuts."""

from __future__ import annotations

from typing import Final

from amudai.web.html import Content, Html, tag, together
from amudai.web.question import LANGUAGES, Question

__all__ = ["SHORTCUTS", "page", "problem", "search_form"]

_NAMES: Final = {"auto": "auto", "words": "words", "where": "where", "kql": "KQL", "sql": "SQL"}
SHORTCUTS: Final = (
    ("/", "go to the search box"),
    ("Enter", "ask; in a list of offers, take one"),
    ("Shift+Enter", "a new line in the search box"),
    ("Tab", "take an offer, if one is chosen; else the next element"),
    ("j, k or ↓, ↑", "next and previous row of the results"),
    ("Enter or o", "open the row in full"),
    ("n, p", "next and previous page of rows"),
    ("h", "go to the histogram: ←, → choose, with Shift several, Enter narrows"),
    ("r", "open or close the receipt"),
    ("c", "choose columns"),
    ("g", "go to the folder"),
    ("t", "light, dark, or as the system"),
    ("Esc", "stop a query; close what is open"),
    ("?", "this list"),
)


def page(title: str, folder: str, question: Question, *content: Content, where: str = "") -> Html:
    """A whole page."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title} · amudai"),
        tag("link", rel="icon", href="assets/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href="assets/style.css"),
        tag("script", src="assets/page.js", defer=True),
    )
    top = tag(
        "header",
        tag("a", "Skip to content", href="#content", class_="skip"),
        tag("a", _mark(), tag("b", "amudai"), href=".", class_="brand", title="The folder (g)"),
        tag("span", folder, class_="folder", title="The folder that is served, read only"),
        search_form(question),
        tag(
            "div",
            tag("button", "◐", type="button", id="theme", aria_label="Light, dark, or as the system (t)", title="t"),
            tag("button", "?", type="button", id="help", aria_label="Shortcuts (?)", title="?"),
            class_="tools",
        ),
    )
    keys = tag("dl", *(together(tag("dt", tag("kbd", key)), tag("dd", what)) for key, what in SHORTCUTS))
    dialog = tag("dialog", tag("h2", "Shortcuts"), keys, _close(), id="shortcuts", aria_label="Shortcuts")
    row = tag("dialog", tag("div", id="row-content"), _close(), id="row", aria_label="One row in full")
    body = tag("body", top, tag("main", *content, id="content", tabindex=-1), dialog, row, data_page=where or None)
    return Html(f"<!doctype html>{tag('html', head, body, lang='en')}")


def _mark() -> Html:
    bars = [tag("rect", x=x, y=y, width=4, height=20 - y, class_="k0") for x, y in ((1, 8), (8, 2), (15, 11))]
    return tag("svg", *bars, viewBox="0 0 20 20", class_="mark", aria_hidden="true")


def _close() -> Html:
    return tag("form", tag("button", "Close (Esc)"), method="dialog")


def search_form(question: Question) -> Html:
    """The search box with its language, and what else the question has."""
    box = tag(
        "textarea",
        question.text,
        name="q",
        id="q",
        rows=1,
        placeholder="words, a condition, KQL or SQL",
        aria_label="Search: words, a condition, KQL or SQL",
        aria_autocomplete="list",
        aria_controls="offers",
        autocomplete="off",
        autocapitalize="off",
        spellcheck="false",
    )
    options = [tag("option", _NAMES[each], value=each, selected=each == question.language) for each in LANGUAGES]
    kept = [pair for pair in question.pairs() if pair[0] not in ("q", "lang", "from", "to", "page")]
    return tag(
        "form",
        tag("div", box, tag("ul", id="offers", role="listbox", aria_label="Offers", hidden=True), class_="box"),
        tag("select", *options, name="lang", aria_label="Language of the question"),
        tag("button", "Ask", class_="first"),
        tag("button", "Stop", type="button", id="stop", hidden=True),
        tag(
            "span",
            _time("from", question.since),
            tag("span", "to", aria_hidden="true"),
            _time("to", question.until),
            class_="span",
        ),
        *(tag("input", type="hidden", name=name, value=value) for name, value in kept),
        id="ask",
        action="search",
        method="get",
        role="search",
    )


def _time(name: str, value: str) -> Html:
    what = "from" if name == "from" else "before"
    return tag(
        "input",
        type="text",
        name=name,
        value=value,
        placeholder=f"{what} (UTC)",
        aria_label=f"Times {what}, in UTC, such as 2026-01-31T10:00",
        title=f"Times {what}, in UTC, such as 2026-01-31T10:00",
        size=19,
    )


def problem(title: str, said: str, *more: Content, class_: str = "problem") -> Html:
    """An error, or a warning, as a box. Lines after the first point at a place in the text above them."""
    first, *lines = said.split("\n")
    rest = tag("pre", "\n".join(lines)) if lines else None
    return tag("div", tag("b", title) if title else None, first, rest, *more, class_=class_, role="alert")
