"""Pictures as SVG. Colours are classes of the style sheet; shapes, patterns and texts say the same without colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from amudai.asking import count_text
from amudai.web.conditions import time_text_of
from amudai.web.histogram import Histogram
from amudai.web.html import Content, Html, tag, together

__all__ = ["BarPart", "bar", "columns_chart", "histogram_picture", "legend", "stacked"]

_WIDE: Final = 1000
_TALL: Final = 100
# The part of a bar, in percent, that has room for a number.
_LABELLED: Final = 2


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a whole: its name, its size, its size as text, and the class of its colour and pattern."""

    name: str
    size: float
    text: str
    kind: str


def _svg(width: float, height: float, *content: Content, label: str, class_: str, stretched: bool = True) -> Html:
    return tag(
        "svg",
        *content,
        viewBox=f"0 0 {width:g} {height:g}",
        preserveAspectRatio="none" if stretched else None,
        role="img",
        aria_label=label,
        class_=class_,
    )


def bar(part: float, whole: float, label: str) -> Html:
    """A horizontal bar, as long as its part of the whole."""
    length = 0 if whole <= 0 else max(0.5, 100 * part / whole) if part else 0
    return _svg(100, 10, tag("rect", width=f"{length:.2f}", height=10, class_="k0"), label=label, class_="bar")


def stacked(shares: Sequence[BarPart], label: str) -> Html:
    """One bar with all parts side by side. Parts that are wide enough bear their number in the legend."""
    whole = sum(share.size for share in shares) or 1
    at, parts = 0.0, []
    for number, share in enumerate(shares, 1):
        width = share.size / whole * 100
        if width > 0:
            title = tag("title", f"{share.name}: {share.text}")
            shape = tag("rect", x=f"{at:.3f}%", width=f"{max(width, 0.1):.3f}%", height="100%", class_=share.kind)
            sign = tag("text", number, x=f"{at + width / 2:.3f}%", y="70%", class_=f"on-{share.kind}")
            parts.append(tag("g", title, shape, sign if width > _LABELLED else None))
        at += width
    return tag("svg", *parts, role="img", aria_label=label, class_="stacked")


def legend(shares: Sequence[BarPart]) -> Html:
    """What the parts of a bar are, by their numbers: a sample of each, its name and its size."""
    items = []
    for number, share in enumerate(shares, 1):
        shape = tag("rect", width="100%", height="100%", class_=share.kind)
        sample = tag("svg", shape, tag("text", number, x="50%", y="75%", class_=f"on-{share.kind}"), class_="sample")
        items.append(tag("li", sample, tag("span", share.name), tag("b", share.text)))
    return tag("ul", *items, class_="legend")


def columns_chart(heights: Sequence[float], titles: Sequence[str], label: str) -> Html:
    """Upright bars side by side, each with a text."""
    most = max(heights, default=0) or 1
    step = _WIDE / max(1, len(heights))
    bars = []
    for at, (height, title) in enumerate(zip(heights, titles, strict=True)):
        tall = max(1.5, _TALL * height / most) if height else 0
        shape = tag(
            "rect",
            x=f"{at * step:.2f}",
            y=f"{_TALL - tall:.2f}",
            width=f"{max(step * 0.9, step - 2):.2f}",
            height=f"{tall:.2f}",
            class_="k0",
        )
        bars.append(tag("g", shape, tag("title", title)))
    return _svg(_WIDE, _TALL, *bars, label=label, class_="chart")


def histogram_picture(histogram: Histogram, link: Callable[[str, str], str]) -> Html:
    """Rows over time. Each bar is a link to the question about its stretch of time."""
    bins, most = histogram.bins, int(histogram.rows.max()) or 1
    step = _WIDE / bins.count
    bars = []
    for at, rows in enumerate(histogram.rows.tolist()):
        since, until = (time_text_of(edge) for edge in bins.edges(at))
        tall = max(2.0, _TALL * rows / most) if rows else 0
        begin, wide = f"{at * step:.2f}", f"{max(step * 0.88, step - 3):.2f}"
        behind = tag("rect", x=begin, y=0, width=f"{step:.2f}", height=_TALL, class_="behind")
        shape = tag("rect", x=begin, y=f"{_TALL - tall:.2f}", width=wide, height=f"{tall:.2f}", class_="k0")
        title = tag("title", f"{_short(since)}: {count_text(rows, 'row')}")
        bars.append(
            tag("a", behind, shape, title, href=link(since, until), tabindex=-1, data_from=since, data_to=until)
        )
    first, last = bins.start, bins.start + bins.count * bins.width
    label = (
        f"Rows over time by {histogram.column}, from {_short(time_text_of(first))} to {_short(time_text_of(last))}: "
        f"at most {count_text(most, 'row')} in {_width(bins.width)}"
    )
    picture = tag(
        "svg",
        *bars,
        tag("rect", class_="brush", y=0, height=_TALL, width=0),
        viewBox=f"0 0 {_WIDE} {_TALL}",
        preserveAspectRatio="none",
        role="group",
        tabindex=0,
        aria_label=f"{label}. Arrow keys choose a stretch of time, Enter narrows to it.",
        class_="histogram",
    )
    # At the borders of bars, which are round times.
    ticks = [_short(time_text_of(first + bins.width * (bins.count * part // 4)), last - first) for part in range(5)]
    how = []
    if histogram.counted:
        how.append(f"{count_text(histogram.counted, 'row')} placed by statistics")
    if histogram.read:
        how.append(f"the times of {count_text(histogram.read, 'row')} read")
    if histogram.outside:
        how.append(f"{count_text(histogram.outside, 'row')} without a time here")
    caption = together(
        tag("b", histogram.column),
        f" by {_width(bins.width)}, highest bar {count_text(int(histogram.rows.max()), 'row')}",
        tag("span", "; ".join(how), class_="quiet"),
        tag("span", " still counting", class_="quiet") if histogram.is_partial else None,
    )
    return tag(
        "figure",
        tag("figcaption", caption, tag("output", class_="stretch", aria_live="polite")),
        picture,
        tag("div", *(tag("span", text) for text in ticks), class_="ticks", aria_hidden="true"),
        class_="times",
    )


def _short(text: str, span: int = 0) -> str:
    """A time without what it does not need: `T`, and seconds if there are none."""
    shown = text.replace("T", " ")
    if span > 3 * 86_400_000_000 * 10:
        return shown[:10]
    return shown.removesuffix(":00") if len(shown) == 19 else shown[:23]


def _width(micros: int) -> str:
    for unit, name in ((86_400_000_000, "day"), (3_600_000_000, "hour"), (60_000_000, "minute"), (1_000_000, "second")):
        if micros % unit == 0:
            count = micros // unit
            return name if count == 1 else f"{count} {name}s"
    return f"{micros / 1000:g} ms"
