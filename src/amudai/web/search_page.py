"""The page of a question: its frame, and the parts of the answer as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import pyarrow as pa

from amudai.asking import count_text, size_text, texts, time_text
from amudai.web.asked import marks_of
from amudai.web.conditions import can_filter
from amudai.web.copying import as_command, as_kql, as_python
from amudai.web.folder import Snapshot
from amudai.web.folder_page import warnings_of
from amudai.web.histogram import Histogram
from amudai.web.html import Content, Html, highlighted, tag, together
from amudai.web.layout import page
from amudai.web.parts import AnswerRows, Columns, Counted, Part
from amudai.web.pictures import BarPart, histogram_picture, legend, stacked
from amudai.web.question import PAGE_ROWS, Filter, Question
from amudai.web.receipt import AnswerReceipt

__all__ = ["AnswerView", "row_part", "search_page"]

_NAMES: Final = {"words": "words", "where": "a condition", "kql": "KQL", "sql": "SQL"}
# Longer texts are cut in the table; the row in full has more.
_CELL: Final = 300
# Texts up to this length stay on one line.
_SHORT: Final = 40
_FULL: Final = 200_000
_CLICKED: Final = 1_000
# Characters that one does not see, or that turn the order of others round, are shown by their codes.
_CODES: Final = (*range(9), 11, 12, *range(14, 32), *range(127, 160), 0x200E, 0x200F, *range(0x202A, 0x202F))
_UNSEEN: Final = {code: repr(chr(code))[1:-1] for code in (*_CODES, *range(0x2066, 0x206A))}


def search_page(question: Question, snapshot: Snapshot) -> Html:
    """The frame of the answer. A script fills it with the parts."""
    sections = [
        tag("div", *_chips(question), class_="chips"),
        tag("div", *warnings_of(snapshot)) if not question.shard else None,
        tag("div", id="problem"),
        tag("div", id="histogram", class_="holder"),
        tag(
            "div",
            tag("p", "asking …", id="count", aria_live="polite", class_="count"),
            tag("div", id="columns"),
            _downloads(question),
            tag("details", tag("summary", "Copy"), tag("div", id="copies"), class_="menu", id="copy"),
            class_="bar-of-tools",
        ),
        tag(
            "div",
            tag("table", tag("thead"), tag("tbody"), id="rows"),
            tag("div", id="nothing"),
            class_="wide rows",
            tabindex=0,
            role="region",
            aria_label="Rows",
        ),
        tag("nav", id="pages", class_="pages", aria_label="Pages of rows"),
        tag("details", tag("summary", "Receipt (r)"), tag("div", id="receipt-body"), id="receipt", class_="receipt"),
        tag("noscript", tag("p", "Answers are shown by a script of this server. Please allow it.")),
    ]
    title = question.text or question.shard or snapshot.folder.name
    return page(title, snapshot.folder.name, question, *sections, where="search")


def _chips(question: Question) -> Iterator[Html]:
    """What narrows the question, each with a link that takes it away."""
    if question.text:
        yield tag("span", "asked as ", tag("b", _NAMES[question.spoken]), class_="chip quiet")
    if question.shard:
        name = tag("a", question.shard, href=f"shard?name={_quote(question.shard)}")
        yield _chip(question.with_(shard=""), f"in {question.shard}", "in ", name)
    for each in question.filters:
        others = tuple(other for other in question.filters if other != each)
        before = f"{each.column} {'≠' if each.excludes else '='} "
        value = tag("i", "null") if each.value is None else _cut(each.value, 60)
        yield _chip(question.with_(filters=others), f"{before}{each.value or 'null'}", before, value)
    if question.since or question.until:
        said = " to ".join([question.since or "the first", question.until or "the last"])
        yield _chip(question.with_(since="", until=""), said, said.replace("T", " "))


def _chip(without: Question, label: str, *said: Content) -> Html:
    remove = tag("a", "✕", href=without.url(), aria_label=f"Remove: {label}", class_="remove")
    return tag("span", *said, remove, class_="chip")


def _quote(text: str) -> str:
    return quote(text, safe="")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _downloads(question: Question) -> Html:
    links = [
        tag("a", name, href=question.url("download", format=kind), download=True)
        for kind, name in (("parquet", "Parquet"), ("csv", "CSV"))
    ]
    return tag("details", tag("summary", "Download"), tag("div", *links), class_="menu", id="download")


class AnswerView:
    """Turns parts of an answer into HTML, each with the name of its place on the page."""

    def __init__(self, question: Question, snapshot: Snapshot) -> None:
        self._question = question
        self._snapshot = snapshot
        self._marks = marks_of(question)
        self._kinds: list[pa.DataType] = []

    def shown(self, part: Part) -> Iterator[tuple[str, Html]]:
        """The places that a part fills, and what they get."""
        match part:
            case Columns():
                self._kinds = list(part.schema.types)
                yield "head", self._head(part.schema)
                yield "columns", self._chooser(part)
                yield "copies", self._copies(part.schema)
            case AnswerRows():
                yield "rows", self._rows(part)
            case Counted():
                yield "count", self._count(part)
                yield "pages", self._pages(part)
                if part.is_final and not part.rows:
                    yield "nothing", tag("p", self._nothing(), class_="nothing")
            case Histogram():
                yield "histogram", histogram_picture(part, self._narrowed)
            case AnswerReceipt():
                yield "receipt", receipt_picture(part)

    def _narrowed(self, since: str, until: str) -> str:
        return self._question.with_(since=since, until=until).url()

    def _head(self, schema: pa.Schema) -> Html:
        cells = [tag("th", "#", scope="col", class_="num")]
        for field in schema:
            clicked = can_filter(field.type)
            kind = tag("small", str(field.type))
            name = "num" if _is_number(field.type) else None
            column = _column(field.name) if clicked else None
            cells.append(tag("th", field.name, kind, scope="col", class_=name, data_column=column))
        return tag("tr", *cells)

    def _chooser(self, part: Columns) -> Html:
        chosen = self._question.columns or part.every
        if self._question.spoken in ("kql", "sql"):
            every = part.every
        else:
            every = tuple(self._snapshot.table(self._question.shard).schema.names)
        boxes = [
            tag("label", tag("input", type="checkbox", name="col", value=name, checked=name in chosen), name)
            for name in every
        ]
        kept = [pair for pair in self._question.pairs() if pair[0] not in ("col", "page")]
        hidden = [tag("input", type="hidden", name=name, value=value) for name, value in kept]
        form = tag("form", *hidden, tag("div", *boxes, class_="boxes"), tag("button", "Show"), action="search")
        count = f"{len(part.schema)} of {len(every)} columns" if len(part.schema) < len(every) else "Columns"
        return tag("details", tag("summary", count), form, class_="menu", id="choose")

    def _copies(self, schema: pa.Schema) -> Html:
        question, folder = self._question, self._snapshot.folder
        if question.spoken in ("words", "where"):
            schema = self._snapshot.table(question.shard).schema
        kql = as_kql(question, schema)
        copies = [
            ("Python", as_python(question, folder, schema)),
            ("CLI", as_command(question, folder, schema)),
            ("KQL", kql),
        ]
        return together(
            *(
                tag(
                    "div",
                    tag("b", name),
                    tag("button", "Copy", type="button", data_copy=True, aria_label=f"Copy as {name}"),
                    tag("pre", text),
                    class_="copied",
                )
                if text is not None
                else tag("div", tag("b", name), tag("p", "KQL has no such words for it.", class_="quiet"))
                for name, text in copies
            )
        )

    def _rows(self, part: AnswerRows) -> Html:
        shown = [texts(column) for column in part.table.columns]
        rows = []
        for at in range(part.table.num_rows):
            number = part.first + at + 1
            if part.places is None:
                link = self._question.with_(page=0).url("row", n=str(number))
            else:
                shard, position = part.places[at]
                link = self._question.with_(page=0, shard=self._question.shard).url(
                    "row", of=shard, position=str(position)
                )
            opened = tag("a", f"{number:,}", href=link, class_="open", title="Open in full")
            cells = [tag("th", opened, scope="row", class_="num")]
            cells += [self._cell(column[at], kind) for column, kind in zip(shown, self._kinds, strict=True)]
            rows.append(tag("tr", *cells))
        return together(*rows)

    def _cell(self, text: str | None, kind: pa.DataType) -> Html:
        if text is None:
            return tag("td", "null", class_="null num" if _is_number(kind) else "null", data_null=True)
        is_number = _is_number(kind)
        is_time = pa.types.is_timestamp(kind)
        shown = _time(text) if is_time else _cut(text, _CELL).translate(_UNSEEN)
        is_cut = shown != text
        name = "num" if is_number else "time" if is_time else "short" if len(shown) <= _SHORT else "long"
        kept = text if is_cut else None
        marked = highlighted(shown, self._marks)
        inner = tag("span", marked) if name == "long" else marked
        # HTML has no zero characters and knows one kind of line end: such a text would come back as another.
        is_unsafe = len(text) > _CLICKED or "\0" in text or "\r" in text
        return tag("td", inner, class_=name, data_v=None if is_unsafe else kept, data_long=is_unsafe)

    def _count(self, part: Counted) -> Html:
        if part.is_final:
            said = count_text(part.rows, "row")
        else:
            said = f"{count_text(part.rows, 'row')} or more, still counting"
        first = self._question.page * PAGE_ROWS
        shown = min(part.rows, first + PAGE_ROWS)
        where = f", {first + 1:,}-{shown:,} shown" if part.rows > PAGE_ROWS and shown > first else ""
        return together(tag("b", said), where)

    def _nothing(self) -> str:
        """What to say where no row is shown."""
        question = self._question
        if question.filters or question.since or question.until:
            return "No rows match. The ✕ behind a filter above takes it away."
        if question.spoken == "words" and question.text:
            return 'No row has all of these words. A part of a word is found by a condition: message contains "part".'
        return "No rows match." if question.text else "There are no rows."

    def _pages(self, part: Counted) -> Html:
        question, number = self._question, self._question.page
        links: list[Content] = []
        if number:
            before = question.with_(page=number - 1).url()
            links.append(tag("a", "← previous", href=before, rel="prev", data_key="prev"))
        if number or part.more:
            of = f" of {max(1, -(-part.rows // PAGE_ROWS)):,}" if part.is_final else ""
            links.append(tag("span", f"page {number + 1:,}{of}"))
        if part.more:
            behind = question.with_(page=number + 1).url()
            links.append(tag("a", "next →", href=behind, rel="next", data_key="next"))
        return together(*links)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _column(name: str) -> str:
    return str(Filter(name, None))


def _time(text: str) -> str:
    """A time as the table shows it: without `T`, and without a fraction that is zero."""
    shown = text.replace("T", " ")
    return re.sub(r"\.0+(?=\D|$)", "", shown)


def row_part(question: Question, table: pa.Table, label: str) -> Html:
    """A row in full: every column on a line of its own, with links that filter by its value."""
    marks = marks_of(question)
    items = []
    for field, column in zip(table.schema, table.columns, strict=True):
        text = texts(column)[0]
        shown: Content = tag("i", "null", class_="null")
        if text is not None:
            cut = f"… ({len(text):,} characters in all)" if len(text) > _FULL else ""
            shown = together(highlighted(text[:_FULL].translate(_UNSEEN), marks), cut)
        links: Content = None
        if can_filter(field.type) and (text is None or len(text) <= _CLICKED):
            both = [
                tag("a", name, href=question.with_(filters=(*question.filters, Filter(field.name, text, flag))).url())
                for name, flag in (("only", False), ("without", True))
            ]
            links = tag("span", *both, class_="filters")
        items.append(tag("div", tag("dt", field.name, tag("small", str(field.type)), links), tag("dd", shown)))
    return together(tag("h2", label), tag("dl", *items, class_="full"))


# ---- the receipt ----


def receipt_picture(receipt: AnswerReceipt) -> Html:
    """What the answer took: what ruled out how many rows, what was read, and how long it took."""
    total = receipt.total_rows
    parts: list[Content] = []
    if total:
        shares = [
            BarPart("ruled out unread", receipt.ruled_out, f"{receipt.ruled_out:,}", "k8"),
            BarPart("match by index and statistics alone", receipt.sure, f"{receipt.sure:,}", "k0"),
            BarPart("left to a look at values", receipt.doubtful, f"{receipt.doubtful:,}", "k1"),
        ]
        shares = [share for share in shares if share.size]
        if receipt.deleted:
            shares.append(BarPart("deleted", receipt.deleted, f"{receipt.deleted:,}", "k2"))
        said = ", ".join(f"{share.name} {share.text}" for share in shares)
        parts += [
            tag("h3", f"What became of {count_text(total, 'row')}"),
            stacked(shares, f"Of {count_text(total, 'row')}: {said}"),
            legend(shares),
        ]
    for leaf in receipt.leaves.values():
        parts.append(_leaf(leaf.text, leaf.asked, leaf.ruled_out, leaf.settled, leaf.checked))
    parts.append(_cost(receipt))
    if receipt.shards_ruled_out:
        named = ", ".join(f"{count:,} by {name}" for name, count in receipt.shards_ruled_out.items())
        parts.append(tag("p", f"Shards ruled out without opening them: {named}."))
    parts += [tag("p", f"Index not used: {name}") for name in receipt.unused]
    if receipt.asked is not None:
        steps = [tag("li", tag("code", step.operator), f": {step.by}") for step in receipt.asked.steps]
        parts.append(together(tag("h3", "Who ran what"), tag("ol", *steps)) if steps else None)
        parts.append(tag("details", tag("summary", "SQL for DuckDB"), tag("pre", receipt.asked.sql)))
    return together(*parts)


def _leaf(text: str, asked: int, ruled_out: dict[str, int], settled: dict[str, int], checked: int) -> Html:
    """One condition as a bar: what each piece of evidence ruled out, what matched, what had to be compared."""
    shares = []
    for at, (name, rows) in enumerate(ruled_out.items()):
        if rows:
            shares.append(BarPart(f"ruled out by {name}", rows, f"{rows:,}", f"k{8 - at % 3}"))
    for name, rows in settled.items():
        if rows:
            shares.append(BarPart(f"match by {name}", rows, f"{rows:,}", "k0"))
    left = asked - sum(share.size for share in shares)
    if left > 0:
        shares.append(BarPart("in doubt", left, f"{int(left):,}", "k1"))
    said = ", ".join(f"{share.name} {share.text}" for share in shares)
    compared = f"; the values of {count_text(checked, 'row')} were compared" if checked else ""
    return tag(
        "div",
        tag("h4", tag("code", text), tag("span", f" asked about {count_text(asked, 'row')}{compared}", class_="quiet")),
        stacked(shares, f"{text}: {said}") if shares else None,
        legend(shares) if shares else None,
        class_="leaf",
    )


def _cost(receipt: AnswerReceipt) -> Html:
    first = receipt.first_rows
    tiles = [
        ("first page", "-" if first is None else time_text(first)),
        ("all in all", time_text(receipt.elapsed)),
        ("read", size_text(receipt.bytes)),
        ("requests", f"{receipt.requests:,}"),
        ("blocks decoded", f"{receipt.blocks_decoded:,}"),
    ]
    shown = [tag("div", tag("b", text), tag("span", name)) for name, text in tiles]
    phases = [
        BarPart(name, seconds, time_text(seconds), f"k{at}")
        for at, (name, seconds) in enumerate(receipt.seconds.items())
        if seconds
    ]
    said = ", ".join(f"{share.name} {share.text}" for share in phases)
    return tag(
        "div",
        tag("h3", "What it took"),
        tag("div", *shown, class_="tiles"),
        together(stacked(phases, f"Time by phase: {said}"), legend(phases)) if phases else None,
    )
