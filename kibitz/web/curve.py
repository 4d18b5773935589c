"""The curve of a run as a chart: which figures to show, over what, and how they look."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from kibitz.core.plots import COLOURS

Row = Mapping[str, Any]

# Figures whose names begin so say how well it plays; they are shown first.
TELLING = ("agreement", "share", "score", "fitness", "best", "first_", "second_")
MOST_SHOWN = 3  # of them, until somebody chooses
SPREAD = "spread"  # figures with this in their names are intervals of others
STEEP = 500  # times as much at the end as in the first row
SHORT = "value => Intl.NumberFormat('en', {notation: 'compact'}).format(value)"
DASHES = ("solid", "dashed", "dotted")
INK, QUIET, LINE = "var(--ink)", "var(--quiet)", "var(--line)"


def name_of(column: str) -> str:
    """Say what a column is called."""
    return column.replace("given/", "").replace(".safetensors", "").replace("_", " ")


def columns_of(rows: Sequence[Row]) -> list[str]:
    """List the columns that hold numbers, in some row or all."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [name for name in names if isinstance(newest(rows, name), int | float)]


def newest(rows: Sequence[Row], column: str) -> Any:
    """Return the last known value of a column; not every row has all of them."""
    return next((row[column] for row in reversed(rows) if column in row), "")


def counts_of(rows: Sequence[Row]) -> list[str]:
    """List what rows can be shown over: columns that rise from row to row."""
    found: list[str] = []
    for name in columns_of(rows):
        values = [row.get(name) for row in rows]
        numbers = [value for value in values if isinstance(value, int | float)]
        rises = all(a < b for a, b in pairwise(numbers))
        tells = name.startswith(TELLING)
        if len(numbers) == len(values) and rises and not tells and (len(numbers) > 1 or not found):
            found.append(name)
    return found


def figures_of(rows: Sequence[Row]) -> list[str]:
    """List the figures, those that say how well it plays first; counts and spreads are none."""
    counts = set(counts_of(rows)) if len(rows) > 2 else set(columns_of(rows)[:1])
    names = [name for name in columns_of(rows) if name not in counts and SPREAD not in name]
    names = names or [name for name in columns_of(rows)[1:] if SPREAD not in name]
    return sorted(names, key=lambda name: not name.startswith(TELLING))


def usual(figures: Sequence[str]) -> list[str]:
    """Choose what to show unless somebody has."""
    telling = [name for name in figures if name.startswith(TELLING)]
    return (telling or list(figures))[:MOST_SHOWN]


def spread_of(column: str, rows: Sequence[Row]) -> str:
    """Find the column that holds half the interval of another, or nothing."""
    kind, _, rest = column.partition("_")
    wanted = f"{kind}_{SPREAD}{'_' if rest else ''}{rest}"
    return wanted if wanted in columns_of(rows) else ""


def is_share(column: str, rows: Sequence[Row]) -> bool:
    """Tell whether all figures of a column lie between 0 and 1."""
    values = [value for row in rows if (value := _number(row.get(column))) is not None]
    return bool(values) and min(values) >= 0.0 and max(values) <= 1.0


def colour_of(column: str, figures: Sequence[str]) -> str:
    """Give a figure its colour, the same whatever else is shown."""
    place = figures.index(column) if column in figures else 0
    return COLOURS[place % len(COLOURS)]


def is_steep(rows: Sequence[Row], over: str) -> bool:
    """Tell whether most happens at the beginning: rows then stand closest there."""
    values = [value for row in rows if (value := _number(row.get(over))) is not None and value > 0]
    return bool(values) and values[-1] >= STEEP * values[0]


def chart(
    rows: Sequence[Row], over: str, shown: Sequence[str], log: bool = False
) -> dict[str, Any]:
    """Make the options of an ECharts chart: shares on the left, other figures on the right.

    `log` goes over orders of magnitude, which have no place for nought.
    """
    if log:
        rows = [row for row in rows if (_number(row.get(over)) or 0) > 0]
    figures = figures_of(rows)
    shares = [name for name in shown if is_share(name, rows)]
    others = [name for name in shown if name not in shares]
    axes = []
    if shares:
        axes.append(_axis("share", "left", min=0, max=1))
    if others:
        label = name_of(others[0]) if len(others) == 1 else "value"
        axes.append(_axis(label, "right" if shares else "left", scale=True))
    series: list[dict[str, Any]] = []
    for name in shown:
        place = figures.index(name) if name in figures else 0
        look = {
            "colour": colour_of(name, figures), "dash": DASHES[place // len(COLOURS) % len(DASHES)],
            "axis": 0 if name in shares else len(axes) - 1,
        }  # fmt: skip
        points = [[row.get(over), _number(row.get(name))] for row in rows]
        series.append(_line(name_of(name), points, look))
        spread = spread_of(name, rows)
        if spread:
            series += _band(name, spread, rows, over, look)
    return {
        "animation": False, "textStyle": {"fontFamily": "inherit"},
        "grid": {"left": 56, "right": 56 if len(axes) > 1 else 20, "top": 28, "bottom": 48},
        "tooltip": {
            "trigger": "axis", "backgroundColor": "var(--card)", "borderColor": LINE,
            "textStyle": {"color": INK, "fontSize": 13}, "confine": True,
            ":valueFormatter": "value => value == null ? '' : Number(value.toPrecision(4))",
        },
        "xAxis": {
            "type": "log" if log else "value", "name": name_of(over), "nameLocation": "middle",
            "nameGap": 30, "nameTextStyle": {"color": QUIET},
            "axisLabel": {
                "color": QUIET, "hideOverlap": True, "showMaxLabel": False, ":formatter": SHORT,
            },
            "axisLine": {"lineStyle": {"color": LINE}}, "splitLine": {"show": False},
            "max": "dataMax",
        },
        "yAxis": axes or [_axis("", "left")],
        "series": series,
    }  # fmt: skip


def _axis(name: str, side: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "value", "name": name, "position": side, "nameTextStyle": {"color": QUIET},
        "axisLabel": {"color": QUIET, ":formatter": SHORT},
        "splitLine": {"show": side == "left", "lineStyle": {"color": LINE}}, **more,
    }  # fmt: skip


def _line(name: str, points: list[list[Any]], look: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name, "type": "line", "data": points, "color": look["colour"],
        "yAxisIndex": look["axis"], "symbolSize": 6, "showSymbol": len(points) < 40,
        "lineStyle": {"width": 2, "type": look["dash"]}, "connectNulls": True,
    }  # fmt: skip


def _band(
    name: str, spread: str, rows: Sequence[Row], over: str, look: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Draw an interval: an unseen line at its low end, and an area as high as it is upon that."""
    low, height = [], []
    for row in rows:
        value, half = _number(row.get(name)), _number(row.get(spread))
        known = value is not None and half is not None
        low.append([row.get(over), value - half if known else None])  # type: ignore[operator]
        height.append([row.get(over), 2 * half if known else None])  # type: ignore[operator]
    plain = {
        "type": "line", "symbol": "none", "stack": name, "silent": True, "yAxisIndex": look["axis"],
        "lineStyle": {"width": 0}, "color": look["colour"], "tooltip": {"show": False},
        "stackStrategy": "all",
    }  # fmt: skip
    area = {"areaStyle": {"opacity": 0.14, "color": look["colour"]}}
    return [{**plain, "data": low}, {**plain, **area, "data": height}]


def _number(value: Any) -> float | None:
    """Give a number that can be drawn."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value
