"""Plots as SVG.

Colours come from CSS classes of the page that shows the plot, so that the page decides about light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Bar", "Part", "log_bars", "stacked_bars"]

_WIDTH = 960
_LABELS = 190  # for the names on the left
_VALUES = 190  # for the figures on the right
_ROW = 26
_PLOT = _WIDTH - _LABELS - _VALUES


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar: how much, of which series, and what it says when pointed at."""

    amount: float
    series: str
    title: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its name, its pieces, and what stands behind it."""

    name: str
    parts: Sequence[Part]
    value: str


def stacked_bars(bars: Sequence[Bar], series: Sequence[str]) -> str:
    """Bars of pieces, one below the other; all share one scale, the longest is full."""
    longest = max((sum(part.amount for part in bar.parts) for bar in bars), default=0) or 1
    lines, top = [], 0
    for bar in bars:
        lines.append(_label(bar.name, top))
        left = float(_LABELS)
        for part in bar.parts:
            width = _PLOT * part.amount / longest
            shown = max(width, 1.5) if part.amount else 0  # what is there shall be seen
            lines.append(_box(left, top + 4, shown, _ROW - 9, series.index(part.series), part.title))
            left += width
        lines.append(_text(max(left, _LABELS) + 8, top + 17, bar.value, "value"))
        top += _ROW
    return _svg(lines, top + 4) + _legend(series)


def log_bars(names: Sequence[str], series: Sequence[str], values: Sequence[Sequence[float]], text: Callable) -> str:
    """For each name a bar of every series, on a logarithmic axis."""
    low = 10 ** math.floor(math.log10(min(min(each) for each in values)) - 0.001)
    high = max(max(each) for each in values)
    decades = math.log10(high / low)
    thick, gap = 13, 12
    top, lines = 24, []
    height = top + len(names) * (len(series) * thick + gap)
    tick = low
    while tick <= high:
        x = _LABELS + _PLOT * math.log10(tick / low) / decades
        lines.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="18" y2="{height}"/>')
        lines.append(_text(x, 12, text(tick), "tick"))
        tick *= 10
    for name, amounts in zip(names, values, strict=True):
        lines.append(_label(name, top + (len(series) * thick - _ROW) / 2 + 2))
        for at, amount in enumerate(amounts):
            width = max(2.0, _PLOT * math.log10(amount / low) / decades)
            y = top + at * thick
            lines.append(_box(_LABELS, y + 1, width, thick - 2, at, f"{name}, {series[at]}: {text(amount)}"))
            lines.append(_text(_LABELS + width + 6, y + 11, text(amount), "value"))
        top += len(series) * thick + gap
    return _svg(lines, height) + _legend(series)


def _svg(lines: Sequence[str], height: float) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img">{"".join(lines)}</svg>'


def _box(x: float, y: float, width: float, height: float, series: int, title: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}"'
    return f'<rect class="s{series}" {place}><title>{escape(title)}</title></rect>'


def _label(text: str, top: float) -> str:
    return _text(_LABELS - 10, top + 17, text, "label")


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _legend(series: Sequence[str]) -> str:
    items = "".join(f'<span><i class="s{at}"></i>{escape(name)}</span>' for at, name in enumerate(series))
    return f'<p class="legend">{items}</p>'
