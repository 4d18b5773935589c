"""Learning curves as small SVG charts, in the colours of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import log10
from typing import Any

from kibitz.core.markup import Markup
from kibitz.core.svg import number, seat_colour, tag, text

WIDTH, HEIGHT = 336, 176
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 12, 40  # around the inside of a chart

Point = tuple[float, float]


def curve_chart(curve: Mapping[str, Any]) -> Markup:
    """Draw a curve: `points` over `x`, with `y` as its label.

    percent   figures are shares
    log       x grows by factors
    trials    points are tries of their own; the line is the best so far
    """
    points: list[Point] = [(x, y) for x, y in curve["points"]]
    percent, trials = bool(curve.get("percent")), bool(curve.get("trials"))
    high = 1.0 if percent else max(1.0, max(y for _, y in points) * 1.1)
    spots = _spots(points, high, bool(curve.get("log")))
    line = spots
    if trials:
        best = accumulate((y for _, y in points), max)
        raised = [(x, y) for (x, _), y in zip(points, best, strict=True)]
        line = _spots(raised, high, False)
    colour = seat_colour(0)
    parts = [
        *_frame(high, percent),
        *_ends(points, curve["x"]),
        tag("polyline", points=_pairs(line), fill="none", stroke=colour, class_="course"),
    ]
    marks = spots if trials else [spots[-1]]
    parts += [tag("circle", cx=x, cy=y, r=4, fill=colour) for x, y in marks]
    return Markup(
        tag(
            "svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="plot", role="img",
            aria_label=f"{curve['y']} over {curve['x']}",
        )
    )  # fmt: skip


def _spots(points: Sequence[Point], high: float, log: bool) -> list[Point]:
    """Place points in the chart."""
    across = [log10(1 + x) if log else x for x, _ in points]
    low, span = across[0], max(across[-1] - across[0], 1e-9)
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    return [
        (LEFT + width * (x - low) / span, TOP + height * (1 - min(y / high, 1)))
        for x, (_, y) in zip(across, points, strict=True)
    ]


def _frame(high: float, percent: bool) -> list[str]:
    parts = []
    for part in (0.0, 0.5, 1.0):
        y = TOP + (HEIGHT - TOP - BOTTOM) * (1 - part)
        label = f"{100 * part:.0f}%" if percent else f"{high * part:.1f}"
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
        parts.append(text(LEFT - 8, y, label, 12, "quiet", text_anchor="end"))
    return parts


def _ends(points: Sequence[Point], label: str) -> list[str]:
    y = HEIGHT - BOTTOM + 16
    return [
        text(LEFT, y, f"{points[0][0]:,.0f}", 12, "quiet", text_anchor="start"),
        text(WIDTH - RIGHT, y, f"{points[-1][0]:,.0f}", 12, "quiet", text_anchor="end"),
        text((LEFT + WIDTH - RIGHT) / 2, y, label, 12, "quiet"),
    ]


def _pairs(spots: Sequence[Point]) -> str:
    return " ".join(f"{number(round(x, 1))},{number(round(y, 1))}" for x, y in spots)
