"""Curves as SVG, on two logarithmic axes. Colours can be read on a light and on a dark page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape

COLOURS = ("#1f9e89", "#d1495b", "#3b76c4", "#e08e1b", "#8256a8", "#6b8e23", "#c2578c", "#5f7f8c", "#a0622d", "#333f9c")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 340, 64, 190, 28, 40
GREY = "#808080"

Curves = Mapping[str, Sequence[tuple[float, float]]]


def curves(title: str, across: str, values: Curves, text: Callable[[float], str]) -> str:
    """Lines through points. Points that are not above zero are left out. A dashed line shows linear growth."""
    lines = {name: [each for each in points if min(each) > 0] for name, points in values.items()}
    lines = {name: points for name, points in lines.items() if points}
    xs = [x for points in lines.values() for x, _ in points]
    ys = [y for points in lines.values() for _, y in points]
    out = [f'<text x="{LEFT}" y="16" font-weight="bold">{escape(title)}</text>']
    if xs:
        x_of, x_ticks = _scale(min(xs), max(xs), LEFT, WIDTH - RIGHT)
        y_of, y_ticks = _scale(min(ys), max(ys), HEIGHT - BOTTOM, TOP)
        for tick in x_ticks:
            out.append(_line(x_of(tick), TOP, x_of(tick), HEIGHT - BOTTOM, 'stroke-opacity="0.25"'))
            out.append(
                f'<text x="{x_of(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{_count(tick)}</text>'
            )
        for tick in y_ticks:
            out.append(_line(LEFT, y_of(tick), WIDTH - RIGHT, y_of(tick), 'stroke-opacity="0.25"'))
            out.append(f'<text x="{LEFT - 6}" y="{y_of(tick) + 4:.1f}" text-anchor="end">{escape(text(tick))}</text>')
        span = min(x_ticks[-1] / x_ticks[0], y_ticks[-1] / y_ticks[0])
        slope = (x_of(x_ticks[0]), y_of(y_ticks[0]), x_of(x_ticks[0] * span), y_of(y_ticks[0] * span))
        out.append(_line(*slope, 'stroke-dasharray="4 4"'))
        for at, (name, points) in enumerate(lines.items()):
            out += _curve(name, [(x_of(x), y_of(y), y) for x, y in points], at, text)
    out.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(across)}</text>'
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
    style = f'font-family="sans-serif" font-size="11" fill="{GREY}" stroke-width="1.5"'
    return f"{head} {style}>\n" + "\n".join(out) + "\n</svg>\n"


def _curve(name: str, points: Sequence[tuple[float, float, float]], at: int, text: Callable[[float], str]) -> list[str]:
    colour = COLOURS[at % len(COLOURS)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    out = [f'<polyline points="{path}" fill="none" stroke="{colour}"/>']
    out += [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{escape(f"{name}: {text(value)}")}</title></circle>'
        for x, y, value in points
    ]
    legend = TOP + 8 + 17 * at
    out.append(f'<rect x="{WIDTH - RIGHT + 12}" y="{legend - 8}" width="10" height="10" fill="{colour}"/>')
    out.append(f'<text x="{WIDTH - RIGHT + 28}" y="{legend + 1}">{escape(name)}</text>')
    return out


def _line(x1: float, y1: float, x2: float, y2: float, more: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{GREY}" {more}/>'


def _scale(low: float, high: float, begin: float, end: float) -> tuple[Callable[[float], float], list[float]]:
    """Where a value lies, and the powers of ten to mark."""
    first = math.floor(math.log10(low) + 1e-9)
    last = max(first + 1, math.ceil(math.log10(high) - 1e-9))
    ticks = [10.0**power for power in range(first, last + 1)]
    return lambda value: begin + (end - begin) * (math.log10(value) - first) / (last - first), ticks


def _count(value: float) -> str:
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"
