"""A log-log plot as SVG, written by hand: curves that grow, and the slope of linear growth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

Curve = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 920, 480
LEFT, RIGHT, TOP, BOTTOM = 70, 310, 40, 50
COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8e5ea2", "#e08e0b", "#3d3d3d", "#17a2a2", "#a0522d")
UNITS = ((1e-6, "µs", 1e6), (1e-3, "ms", 1e3), (1.0, "s", 1.0))


def draw(title: str, x_label: str, curves: Mapping[str, Curve]) -> str:
    """Return the SVG of all curves over their size, seconds upwards, both axes logarithmic."""
    xs = [math.log10(x) for curve in curves.values() for x, _ in curve]
    ys = [math.log10(y) for curve in curves.values() for _, y in curve]
    left, right = math.floor(min(xs)), math.ceil(max(xs))
    low, high = math.floor(min(ys)), math.ceil(max(ys))

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - left) / max(right - left, 1)
        up = (y - low) / max(high - low, 1)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (
            HEIGHT - TOP - BOTTOM
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
    ]
    for decade in range(left, right + 1):
        x, bottom = place(decade, low)
        _, top = place(decade, high)
        parts.append(_line(x, bottom, x, top, "#dddddd"))
        parts.append(_text(x, bottom + 18, f"{10**decade:,}", "middle"))
    for decade in range(low, high + 1):
        start, y = place(left, decade)
        end, _ = place(right, decade)
        parts.append(_line(start, y, end, y, "#dddddd"))
        parts.append(_text(start - 8, y + 4, _duration(decade), "end"))
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    parts.append(_text(middle, HEIGHT - 12, x_label, "middle"))
    steps = min(right - left, high - low)
    start_x, start_y = place(left, low)
    end_x, end_y = place(left + steps, low + steps)
    parts.append(_line(start_x, start_y, end_x, end_y, "#999999", dash=True))
    parts.append(_text(end_x - 10, end_y + 26, "linear", "end", "#777777"))
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = [place(math.log10(x), math.log10(y)) for x, y in curve]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        legend = TOP + 10 + 20 * number
        edge = WIDTH - RIGHT + 20
        parts.append(f'<rect x="{edge}" y="{legend - 9}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(edge + 18, legend + 1, name, "start"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: bool = False) -> str:
    style = ' stroke-dasharray="5 4"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{style}/>'
    )


def _text(x: float, y: float, text: str, anchor: str, colour: str = "black") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"'
    return f"<text {place}>{escape(text)}</text>"


def _duration(decade: int) -> str:
    seconds = 10.0**decade
    _, unit, factor = next(
        (entry for entry in reversed(UNITS) if seconds >= entry[0] * 0.999), UNITS[0]
    )
    return f"{seconds * factor:g} {unit}"
