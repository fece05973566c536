"""The page of the folder: its shards, with rows, bytes, times and indexes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from amudai.asking import count_text, size_text
from amudai.web.conditions import time_text_of
from amudai.web.folder import ShardFacts, Snapshot
from amudai.web.html import Content, Html, tag, together
from amudai.web.layout import page, problem
from amudai.web.pictures import bar
from amudai.web.question import Question

__all__ = ["SORTS", "folder_page", "folder_totals", "warnings_of"]

# Shards on one page. Only these are opened before the page is shown, unless they are to be sorted.
_PAGE: Final = 100
SORTS: Final[dict[str, Callable[[ShardFacts], Any]]] = {
    "name": lambda facts: facts.name,
    "rows": lambda facts: -facts.rows,
    "bytes": lambda facts: -facts.bytes,
    "time": lambda facts: -facts.times.last if facts.times is not None else 0,
}


def folder_page(snapshot: Snapshot, sort: str, number: int) -> Html:
    """The folder: one page of its shards."""
    if sort == "name":
        names = snapshot.names[number * _PAGE : (number + 1) * _PAGE]
        shown = [snapshot.facts(name) for name in names]
    else:
        ordered = sorted(snapshot.all_facts, key=SORTS[sort])
        shown = ordered[number * _PAGE : (number + 1) * _PAGE]
    most_rows, most_bytes = (max((each for each in sizes), default=0) for sizes in _sizes(shown))
    rows = [_row(facts, most_rows, most_bytes) for facts in shown]
    heads = [
        _head("shard", "name", sort),
        _head("rows", "rows", sort, "num"),
        tag("th", aria_hidden="true"),
        _head("bytes", "bytes", sort, "num"),
        tag("th", aria_hidden="true"),
        _head("times", "time", sort),
        tag("th", "indexes", scope="col"),
    ]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="shards")
    empty = tag("p", "No shards here: names end in .amudai.shard. ", tag("code", "amudai ingest"), " makes some.")
    return page(
        snapshot.folder.name,
        snapshot.folder.name,
        Question(),
        tag("h1", snapshot.folder.name),
        tag("p", folder_totals_line(snapshot), id="totals", class_="quiet", aria_live="polite"),
        _outside(snapshot),
        tag("div", table, class_="wide", tabindex=0, role="region", aria_label="Shards") if rows else empty,
        _pages(len(snapshot.files), sort, number),
        where="folder",
    )


def _sizes(shown: list[ShardFacts]) -> tuple[list[int], list[int]]:
    return [facts.rows for facts in shown], [facts.bytes for facts in shown]


def folder_totals_line(snapshot: Snapshot) -> str:
    """How many shards there are. What they hold is known once all were opened."""
    return f"{count_text(len(snapshot.files), 'shard')}, adding them up …"


def folder_totals(snapshot: Snapshot) -> Html:
    """What all shards hold together."""
    sound = snapshot.readable("")
    times = [facts.times for facts in sound if facts.times is not None]
    parts = [
        count_text(len(snapshot.files), "shard"),
        count_text(sum(facts.rows for facts in sound), "row"),
        size_text(sum(facts.bytes for facts in snapshot.all_facts)),
    ]
    if times:
        first, last = min(each.first for each in times), max(each.last for each in times)
        parts.append(f"{_time(first)} to {_time(last)}")
    return together(" · ".join(parts), *warnings_of(snapshot))


def warnings_of(snapshot: Snapshot) -> list[Html]:
    """What a reader of any answer must know: shards that are not searched."""
    if not snapshot.unreadable:
        return []
    names = [facts.name for facts in snapshot.unreadable]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    which = "it" if len(names) == 1 else "them"
    said = f"{count_text(len(names), 'shard')} cannot be read, so no question searches {which}: "
    return [problem(said, ", ".join(names[:5]) + more)]


def _outside(snapshot: Snapshot) -> Content:
    if not snapshot.outside:
        return None
    said = f"{count_text(len(snapshot.outside), 'link')} to shards outside of the folder: not shown, not searched."
    return problem("", said, class_="problem mild")


def _head(text: str, sort: str, now: str, class_: str | None = None) -> Html:
    is_now = sort == now
    label = tag("a", text, " ▾" if is_now else None, href=f".?{urlencode({'sort': sort})}")
    order = ("ascending" if sort == "name" else "descending") if is_now else None
    return tag("th", label, scope="col", class_=class_, aria_sort=order)


def _row(facts: ShardFacts, most_rows: int, most_bytes: int) -> Html:
    link = tag("a", facts.name, href=f"shard?{urlencode({'name': facts.name})}")
    if facts.problem is not None:
        said = tag("td", tag("b", "cannot be read: "), facts.problem, colspan=6, class_="bad")
        return tag("tr", tag("th", link, scope="row"), said)
    times = "" if facts.times is None else f"{_time(facts.times.first)} - {_time(facts.times.last)}"
    return tag(
        "tr",
        tag("th", link, scope="row"),
        tag("td", f"{facts.rows:,}", class_="num"),
        tag("td", bar(facts.rows, most_rows, ""), class_="picture"),
        tag("td", size_text(facts.bytes), class_="num"),
        tag("td", bar(facts.bytes, most_bytes, ""), class_="picture"),
        tag("td", times, class_="time"),
        tag("td", ", ".join(facts.indexes) or "-"),
    )


def _time(micros: int) -> str:
    return time_text_of(micros).replace("T", " ")[:19]


def _pages(shards: int, sort: str, number: int) -> Content:
    count = -(-shards // _PAGE)
    if count <= 1:
        return None

    def link(at: int, text: str, key: str) -> Content:
        return tag("a", text, href=f".?{urlencode({'sort': sort, 'page': at + 1})}", rel=key, data_key=key)

    return tag(
        "nav",
        link(number - 1, "← previous", "prev") if number else None,
        tag("span", f"page {number + 1} of {count}"),
        link(number + 1, "next →", "next") if number + 1 < count else None,
        class_="pages",
        aria_label="Pages of shards",
    )
