"""Ratings round by round: lines with bands that can be pointed at, and taken away by the legend."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from kibitz.core.svg import FONT, seat_colour
from kibitz.play.result import interval_text

MANY = 6  # lines; of more, the bands are pale until one is pointed at
HEXAGON = "path://M10 0 L18.7 5 L18.7 15 L10 20 L1.3 15 L1.3 5 Z"
STAR = "path://M10 0 L12.9 6.6 L20 7.3 L14.6 12 L16.2 19 L10 15.3 L3.8 19 L5.4 12 L0 7.3 L7.1 6.6 Z"
SYMBOLS = ("circle", "rect", "triangle", "diamond", STAR, HEXAGON)
TOOLTIP = """(pointed) => {
  const rows = [pointed].flat().filter((row) => row.data && row.data.said);
  rows.sort((one, two) => two.data.value - one.data.value);
  return rows.length ? `<b>round ${rows[0].name}</b><br>`
    + rows.map((row) => row.marker + row.data.said).join("<br>") : "";
}"""


def rating_chart(history: Mapping[str, Any], unit: str, digits: int) -> ui.echart:
    """Make the chart of a league's history, as `league_orders.history_of` gives it."""
    chart = ui.echart(rating_options(history, unit, digits), renderer="svg").classes("kb-ratings")
    count = len(history["lines"])
    chart.props["aria-label"] = f"{unit} of {count} agents, round by round"
    chart.props["role"] = "img"
    return chart


def rating_options(history: Mapping[str, Any], unit: str, digits: int) -> dict[str, Any]:
    """Write the chart: for each agent its line, and its interval as a band."""
    many = len(history["lines"]) > MANY
    series: list[dict[str, Any]] = []
    for line in reversed(history["lines"]):  # the best is drawn last, over the others
        series += _series(line, history, digits, many)
    names = [
        {"name": line["name"], "icon": SYMBOLS[line["agent"] % len(SYMBOLS)]}
        for line in history["lines"]
    ]
    return {
        "animation": False, "textStyle": {"fontFamily": FONT},
        "grid": {"left": 12, "right": 16, "top": 36, "bottom": 64, "containLabel": True},
        "legend": {"type": "scroll", "bottom": 0, "data": names, "itemWidth": 11, "itemHeight": 11,
                   "pageIconSize": 12, "pageIconColor": "#888", "inactiveColor": "#999"},
        "tooltip": {
            "trigger": "item" if many else "axis", "confine": True, ":formatter": TOOLTIP,
            "backgroundColor": "var(--card)", "borderColor": "var(--line)",
            "textStyle": {"color": "var(--ink)", "fontSize": 13},
        },
        "xAxis": {
            "type": "category", "data": [str(number) for number in history["rounds"]],
            "name": "round", "nameLocation": "middle", "nameGap": 26, "boundaryGap": False,
            "axisLine": {"onZero": False},
        },
        "yAxis": {
            "type": "value", "min": history["low"], "max": history["high"], "name": unit,
            "nameTextStyle": {"align": "left"}, "axisLabel": {"showMinLabel": False,
            "showMaxLabel": False}, "splitLine": {"lineStyle": {"color": "#8884"}},
        },
        "series": series,
    }  # fmt: skip


def _series(
    line: Mapping[str, Any], history: Mapping[str, Any], digits: int, many: bool
) -> list[dict[str, Any]]:
    """Give three series of one name, which the legend takes together: the band's two, the line."""
    agent, name, low = line["agent"], line["name"], history["low"]
    rows = {row[0]: row[1:] for row in line["rows"]}
    points: list[Any] = []
    floors: list[float | None] = []
    heights: list[float | None] = []
    for number in history["rounds"]:
        mean, least, most = rows.get(number, (None, None, None))
        if mean is None:
            points.append(None)
            floors.append(None)
            heights.append(None)
            continue
        least = low if least is None else max(least, low)
        most = history["high"] if most is None else min(most, history["high"])
        found = interval_text(mean, least, most, digits)
        said = f"{html.escape(name)} <b>{found}</b>"
        points.append({"value": mean, "said": said})
        floors.append(least)
        heights.append(max(most - least, 0.0))
    look = {"color": seat_colour(agent), "name": name, "type": "line"}
    band = {
        **look, "stack": f"band {agent}", "stackStrategy": "all", "symbol": "none",
        "silent": True, "lineStyle": {"opacity": 0}, "tooltip": {"show": False},
    }  # fmt: skip
    dash = [int(part) for part in line["dash"].split()] if line["dash"] else "solid"
    opacity = 0.05 if many else 0.14
    return [
        {**band, "data": floors},
        {
            **band, "data": heights, "areaStyle": {"opacity": opacity},
            "emphasis": {"areaStyle": {"opacity": 0.28}},
        },
        {
            **look, "data": points, "symbol": SYMBOLS[agent % len(SYMBOLS)],
            "symbolSize": 8 if len(points) <= 24 else 5, "showSymbol": len(points) <= 60,
            "lineStyle": {"width": 2, "type": dash},
            "emphasis": {"focus": "series", "lineStyle": {"width": 3}},
        },
    ]  # fmt: skip
