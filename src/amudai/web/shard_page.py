"""The page of one shard: columns, bytes, statistics, values, stripes, indexes, health."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amudai import AmudaiError, Field, FieldLayout, FieldStats, Shard, ShardLayout, Verification
from amudai.asking import count_text, json_value, size_text, texts, time_text
from amudai.web.conditions import can_filter
from amudai.web.folder import Snapshot
from amudai.web.histogram import Histogram, bins_between, times_of
from amudai.web.html import Content, Html, tag, together
from amudai.web.layout import page, problem
from amudai.web.pictures import BarPart, bar, columns_chart, histogram_picture, legend, stacked
from amudai.web.question import Filter, Question

__all__ = ["column_part", "encodings_part", "shard_page", "verification_part"]

# The number of rows whose values are looked at for top values and distributions.
_ROWS: Final = 200_000
_TOP: Final = 12
_BINS: Final = 40
_MOST_STRIPES: Final = 200
_MOST_FIELDS: Final = 500
_PATTERNS: Final = 6
_LONG: Final = 60


def shard_page(snapshot: Snapshot, name: str) -> Html:
    """One shard, from its metadata: no block of values is read."""
    shard = snapshot.shard(name)
    layout = shard.inspect()
    facts = [
        count_text(shard.num_rows, "row"),
        *([f"{count_text(shard.num_positions - shard.num_rows, 'row')} deleted"] if _deleted(shard) else []),
        size_text(layout.size),
        count_text(len(layout.files), "file"),
        count_text(len(layout.stripes), "stripe"),
        *([] if layout.created is None else [f"created {layout.created[1]:%Y-%m-%d %H:%M} UTC"]),
    ]
    return page(
        name,
        snapshot.folder.name,
        Question(shard=name),
        tag("h1", name),
        tag("p", " · ".join(facts), class_="quiet"),
        tag("p", tag("a", "Show its rows", href=Question(shard=name).url()), class_="actions"),
        _bytes_section(layout),
        _columns_section(shard, layout, name),
        _stripes_section(layout),
        _indexes_section(shard),
        _health_section(name),
        _properties_section(layout),
        where="shard",
    )


def _deleted(shard: Shard) -> bool:
    return shard.num_positions > shard.num_rows


# ---- bytes ----


def _bytes_section(layout: ShardLayout) -> Html:
    """The bytes of the shard in one bar: its largest columns, all others, its indexes, the rest."""
    fields = sorted(layout.fields, key=lambda field: -field.bytes)
    large, small = fields[:_PATTERNS], fields[_PATTERNS:]
    indexes = sum(index.size or 0 for index in layout.indexes)
    values = sum(field.bytes for field in fields)
    shares = [BarPart(field.name, field.bytes, size_text(field.bytes), f"k{at}") for at, field in enumerate(large)]
    if small:
        rest = sum(field.bytes for field in small)
        shares.append(BarPart(count_text(len(small), "other column"), rest, size_text(rest), "k6"))
    if indexes:
        shares.append(BarPart("indexes", indexes, size_text(indexes), "k7"))
    other = max(0, layout.size - values - indexes)
    shares.append(BarPart("metadata and the rest", other, size_text(other), "k8"))
    said = ", ".join(f"{share.name} {share.text}" for share in shares)
    return tag(
        "section",
        tag("h2", "Bytes"),
        stacked(shares, f"The bytes of the shard: {said}"),
        legend(shares),
        aria_label="Bytes",
    )


# ---- columns ----


def _columns_section(shard: Shard, layout: ShardLayout, name: str) -> Html:
    fields = {field.path: field for top in shard.columns for field in _walk(top)}
    most = max((field.bytes for field in layout.fields), default=0)
    rows = []
    for top in layout.fields:
        for field in top.walk():
            rows += _column_rows(field, fields.get(field.path), most, name)
            if len(rows) >= 2 * _MOST_FIELDS:
                break
    head = _head("column", "type", "stored as", "#bytes", "", "#nulls", "min", "max", "#distinct")
    table = tag("table", head, tag("tbody", *rows), class_="columns", data_encodings=_link("encodings", name))
    cut = f"The first {_MOST_FIELDS} are shown." if len(rows) >= 2 * _MOST_FIELDS else None
    return tag(
        "section",
        tag("h2", "Columns"),
        tag("div", table, class_="wide", tabindex=0, role="region", aria_label="Columns"),
        tag("p", cut) if cut else None,
        aria_label="Columns",
    )


def _head(*names: str) -> Html:
    """The head of a table. A name that begins with # is of a column of numbers."""
    cells = [tag("th", name.lstrip("#"), scope="col", class_="num" if name[:1] == "#" else None) for name in names]
    return tag("thead", tag("tr", *cells))


def _walk(field: Field) -> Iterator[Field]:
    yield field
    for child in field.children:
        yield from _walk(child)


def _column_rows(layout: FieldLayout, field: Field | None, most: int, name: str) -> list[Html]:
    depth = layout.path.count(".")
    stats = _stats(field)
    label: Content = layout.name
    is_value = field is not None and not layout.children
    if is_value:
        link = _link("column", name, column=layout.path)
        label = tag("a", layout.name, href=link, class_="more", aria_expanded="false", title="Values and distribution")
    cells = [
        tag("th", label, scope="row", class_=f"depth{min(depth, 4)}"),
        tag("td", layout.type, class_="type"),
        tag("td", layout.storage, class_="storage", data_path=layout.path),
        tag("td", size_text(layout.bytes), class_="num"),
        tag("td", bar(layout.bytes, most, ""), class_="picture"),
        tag("td", "" if layout.null_count is None else f"{layout.null_count:,}", class_="num"),
        tag("td", _bound(stats, "min"), class_="value"),
        tag("td", _bound(stats, "max"), class_="value"),
        tag("td", _distinct(stats), class_="num"),
    ]
    found = [tag("tr", *cells)]
    if layout.problem is not None:
        found.append(tag("tr", tag("td", tag("b", "damaged: "), layout.problem.message, colspan=9, class_="bad")))
    return found


def _stats(field: Field | None) -> FieldStats | None:
    try:
        return None if field is None else field.stats
    except AmudaiError:
        return None  # the layout says what is damaged


def _bound(stats: FieldStats | None, end: str) -> str:
    value = None if stats is None else getattr(stats, end)
    if value is None:
        return ""
    found = json_value(value)
    return _cut(found if isinstance(found, str) else str(found))


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def _distinct(stats: FieldStats | None) -> str:
    if stats is None or stats.distinct_count is None:
        return ""
    return f"{'' if stats.distinct_is_exact else 'about '}{stats.distinct_count:,}"


def _link(path: str, name: str, **more: str) -> str:
    return f"{path}?{urlencode({'name': name, **more})}"


def encodings_part(snapshot: Snapshot, name: str) -> dict[str, str]:
    """How the values of each column are encoded, by path. This reads all blocks."""
    layout = snapshot.shard(name).inspect(encodings=True)
    found = {}
    for top in layout.fields:
        for field in top.walk():
            blocks = sum((field.encodings or {}).values())
            if blocks:
                each = [
                    cascade if count == blocks else f"{cascade} {100 * count / blocks:.0f} %"
                    for cascade, count in list((field.encodings or {}).items())[:3]
                ]
                found[field.path] = f"{', '.join(each)} in {count_text(blocks, 'block')}"
    return found


# ---- one column ----


def column_part(snapshot: Snapshot, name: str, path: str) -> Html:
    """The statistics, the top values and the distribution of a column."""
    shard = snapshot.shard(name)
    field = shard[path]
    values = _values_of(field.read(slice(0, min(_ROWS, shard.num_positions))))
    stats = field.stats
    seen = f"of all {count_text(shard.num_positions, 'row')}"
    if shard.num_positions > _ROWS:
        seen = f"of the first {_ROWS:,} of {count_text(shard.num_positions, 'row')}"
    return tag(
        "div",
        tag("div", tag("h3", "Statistics"), _stats_list(stats)),
        tag("div", tag("h3", f"Top values {seen}"), _top(field, values, name)),
        tag("div", tag("h3", f"Distribution {seen}"), _distribution(field.path, values, name)),
        class_="column",
    )


def _values_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    return column


def _stats_list(stats: FieldStats) -> Html:
    pairs: list[tuple[str, object]] = [("values", f"{stats.count:,}")]
    pairs += [("nulls", None if stats.null_count is None else f"{stats.null_count:,}")]
    pairs += [("distinct", _distinct(stats)), ("min", _bound(stats, "min")), ("max", _bound(stats, "max"))]
    pairs += [("bytes before encoding", None if stats.raw_bytes is None else size_text(stats.raw_bytes))]
    pairs += [(key.replace("_", " "), f"{value:,}") for key, value in stats.details.items()]
    shown = [together(tag("dt", key), tag("dd", str(value))) for key, value in pairs if value not in (None, "")]
    return tag("dl", *shown, class_="facts")


def _top(field: Field, values: pa.ChunkedArray, name: str) -> Html:
    counts = _counts(values)
    most = counts.most_common(_TOP)
    largest = most[0][1] if most else 0
    rows = []
    for text, count in most:
        shown: Content = tag("i", "null") if text is None else _cut(text)
        if "." not in field.path and can_filter(values.type) and (text is None or len(text) < 1000):
            asked = Question(shard=name, filters=(Filter(field.name, text),))
            shown = tag("a", shown, href=asked.url(), title="Rows with this value")
        picture = bar(count, largest, "")
        cells = (tag("th", shown, scope="row"), tag("td", f"{count:,}", class_="num"))
        rows.append(tag("tr", *cells, tag("td", picture, class_="picture")))
    more = len(counts) - len(most)
    return together(
        tag("table", tag("tbody", *rows), class_="top"),
        tag("p", f"and {count_text(more, 'more value')}", class_="quiet") if more > 0 else None,
    )


def _counts(values: pa.ChunkedArray) -> Counter[str | None]:
    """How often each value occurs, by its text."""
    try:
        counted: Any = pc.value_counts(values)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return Counter(texts(values))  # a type that pyarrow does not count
    return Counter(dict(zip(texts(counted.field("values")), counted.field("counts").to_pylist(), strict=True)))


def _distribution(path: str, values: pa.ChunkedArray, name: str) -> Html:
    kind = values.type
    if pa.types.is_timestamp(kind):
        micros, _ = times_of(values)
        if not len(micros):
            return tag("p", "no times")
        histogram = Histogram(path, bins_between(int(micros.min()), int(micros.max())), is_partial=False)
        histogram.add_times(values)
        asked = Question(shard=name)
        return histogram_picture(histogram, lambda since, until: asked.with_(since=since, until=until).url())
    if pa.types.is_boolean(kind) or pa.types.is_nested(kind):
        return tag("p", "none for this type", class_="quiet")
    what = ""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = np.asarray(values.drop_null().cast(pa.float64(), safe=False).to_numpy())
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        numbers = np.asarray(pc.binary_length(values.drop_null()).to_numpy(), np.float64)
        what = "bytes of text: "
    else:
        return tag("p", "none for this type", class_="quiet")
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return tag("p", "no values", class_="quiet")
    if numbers.min() == numbers.max():
        return tag("p", f"{what}{numbers[0]:g} in all of them")
    low, high = _shown_range(numbers)
    count = min(_BINS, int(high - low) + 1) if _are_whole(numbers) else _BINS
    heights, edges = np.histogram(np.clip(numbers, low, high), count, (low, high))
    titles = [
        f"{what}{low:g} to {high:g}: {count_text(int(tall), 'value')}"
        for tall, low, high in zip(heights, edges[:-1], edges[1:], strict=True)
    ]
    label = f"Distribution of {path}: {what}{numbers.min():g} to {numbers.max():g}"
    middle = f"median {np.median(numbers):g}"
    rest = f" and more, up to {numbers.max():g}" if high < numbers.max() else ""
    ticks = (f"{what}{low:g}", middle, f"{high:g}{rest}")
    return tag(
        "figure",
        columns_chart(heights.tolist(), titles, label),
        tag("div", *(tag("span", text) for text in ticks), class_="ticks"),
    )


def _shown_range(numbers: Any) -> tuple[float, float]:
    """From the least value to the greatest; without the last percent if it would squeeze all others together."""
    low, high = float(numbers.min()), float(numbers.max())
    most = float(np.quantile(numbers, 0.99))
    return (low, most) if low < most and high - low > 3 * (most - low) else (low, high)


def _are_whole(numbers: Any) -> bool:
    return bool((numbers == np.floor(numbers)).all())


# ---- stripes, indexes, health ----


def _stripes_section(layout: ShardLayout) -> Html:
    most = max((stripe.bytes for stripe in layout.stripes), default=0)
    rows = [
        tag(
            "tr",
            tag("th", stripe.ordinal, scope="row", class_="num"),
            tag("td", f"{stripe.first_row:,}", class_="num"),
            tag("td", f"{stripe.num_rows:,}", class_="num"),
            tag("td", f"{stripe.num_positions - stripe.num_rows:,}", class_="num"),
            tag("td", size_text(stripe.bytes), class_="num"),
            tag("td", bar(stripe.bytes, most, ""), class_="picture"),
        )
        for stripe in layout.stripes[:_MOST_STRIPES]
    ]
    head = _head("#stripe", "#first row", "#rows", "#deleted", "#bytes", "")
    more = len(layout.stripes) - len(rows)
    return tag(
        "section",
        tag("h2", "Stripes"),
        tag("div", tag("table", head, tag("tbody", *rows), class_="stripes"), class_="wide"),
        tag("p", f"and {count_text(more, 'more stripe')}", class_="quiet") if more else None,
        aria_label="Stripes",
    )


def _indexes_section(shard: Shard) -> Html:
    rows = [
        tag(
            "tr",
            tag("th", index.type, scope="row"),
            tag("td", ", ".join(index.fields)),
            tag("td", "whole shard" if index.stripe is None else f"stripe {index.stripe}"),
            tag("td", "" if index.size is None else size_text(index.size), class_="num"),
            tag("td", _properties(index.properties)[:200]),
        )
        for index in shard.indexes[:_MOST_STRIPES]
    ]
    head = _head("index", "columns", "of", "#bytes", "properties")
    none = tag("p", "none: ", tag("code", "amudai index"), " adds some.", class_="quiet")
    table = tag("div", tag("table", head, tag("tbody", *rows)), class_="wide")
    return tag("section", tag("h2", "Indexes"), table if rows else none, aria_label="Indexes")


def _health_section(name: str) -> Html:
    return tag(
        "section",
        tag("h2", "Health"),
        tag("p", "Read every byte, compare all checksums, decode every value."),
        tag("button", "Verify", type="button", id="verify", data_url=_link("verify", name)),
        tag("progress", id="verify-progress", max=1000, value=0, hidden=True, aria_label="Progress"),
        tag("div", id="verify-result", aria_live="polite"),
        aria_label="Health",
    )


def verification_part(found: Verification, seconds: float) -> Html:
    """What a verification found."""
    seen = ", ".join(
        [count_text(found.files, "file"), count_text(found.blocks, "block"), count_text(found.values, "value")]
    )
    seen = f"{seen}, {size_text(found.bytes)} in {time_text(seconds)}"
    if found.ok:
        return tag("p", tag("b", "✓ Sound. "), seen, class_="good")
    items = [tag("li", each.message) for each in found.problems[:100]]
    return problem(f"✗ {count_text(len(found.problems), 'problem')}. ", seen, tag("ul", *items))


def _properties(properties: Mapping[str, object]) -> str:
    """Properties of an index: those that are true by their name alone.

    >>> _properties({"tokenizers": ["unicode-log"], "complete": True})
    'tokenizers: unicode-log · complete'
    """
    shown = []
    for key, value in properties.items():
        texts = value if isinstance(value, list | tuple) else [value]
        shown.append(key if value is True else f"{key}: {', '.join(str(json_value(each)) for each in texts)}")
    return " · ".join(shown)


def _properties_section(layout: ShardLayout) -> Content:
    if not layout.properties:
        return None
    pairs = [
        together(tag("dt", key), tag("dd", str(json_value(value))[:500])) for key, value in layout.properties.items()
    ]
    return tag("section", tag("h2", "Properties"), tag("dl", *pairs, class_="facts"), aria_label="Properties")
