"""The charts of a report, in plain SVG: intervals on one axis, and ratings round by round.

Agents have the seats' colours and shapes, and beyond six also another dash, by their place on the
ladder. Colours of paper and ink come from the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kibitz.core.markup import Markup, escape
from kibitz.core.svg import SEAT_COLOURS, number, seat_colour, seat_mark, tag, text, text_width
from kibitz.league.book import Standing

DASHES = (None, "7 4", "2 3", "9 3 2 3")
ROW_WIDTH, ROW_HEIGHT, ROW_PAD = 232, 24, 12  # of an interval in a row of a table
LABEL_GAP = 15  # between the names at the ends of lines
MOST_LABELS = 26  # beyond that a legend names the lines


def dash_of(agent: int) -> str | None:
    """Give the dash of an agent's line; none for the first six."""
    return DASHES[agent // len(SEAT_COLOURS) % len(DASHES)]


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values, and where it has ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def part(self, value: float) -> float:
        """Say how far along the axis a value lies, 0 to 1."""
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)

    def label(self, tick: float) -> str:
        """Write a tick, with as many decimals as the ticks need."""
        step = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else 1.0
        return f"{tick:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def axis_over(means: Iterable[float], ends: Iterable[float] = (), most: int = 5) -> Axis:
    """Lay an axis over values, and over the ends of their intervals as far as is reasonable.

    An agent of which next to nothing is known must not press all others together.
    """
    means = list(means) or [0.0]
    low, high = min(means), max(means)
    room = max(high - low, abs(high) * 0.02, 1.0)
    finite = [min(max(end, low - room / 2), high + room / 2) for end in ends if math.isfinite(end)]
    low, high = min([low, *finite]), max([high, *finite])
    if high - low < 1e-9:
        low, high = low - room / 2, high + room / 2
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Axis(low, high, tuple(step * tick for tick in range(first, last + 1)))


# --- intervals ---------------------------------------------------------------------------------


def _along(axis: Axis, value: float) -> float:
    return ROW_PAD + axis.part(value) * (ROW_WIDTH - 2 * ROW_PAD)


def _row(*parts: str, label: str) -> Markup:
    return Markup(
        tag(
            "svg", *parts, viewBox=f"0 0 {ROW_WIDTH} {ROW_HEIGHT}", width=ROW_WIDTH,
            height=ROW_HEIGHT, class_="interval", role="img", aria_label=label,
        )
    )  # fmt: skip


def interval_head(axis: Axis, label: str) -> Markup:
    """Draw the axis that stands above a column of intervals."""
    marks = [text(_along(axis, tick), 12, axis.label(tick), 11, "quiet") for tick in axis.ticks]
    return _row(*marks, label=label)


def interval(axis: Axis, mean: float, low: float, high: float, agent: int, label: str) -> Markup:
    """Draw a dot with whiskers; a whisker that leaves the axis has no end."""
    middle = ROW_HEIGHT / 2
    parts = [
        tag("line", x1=x, x2=x, y1=0, y2=ROW_HEIGHT, class_="grid")
        for x in (_along(axis, tick) for tick in axis.ticks)
    ]
    ends = (_along(axis, low), _along(axis, high))
    parts.append(tag("line", x1=ends[0], x2=ends[1], y1=middle, y2=middle, class_="whisker"))
    for value, x in zip((low, high), ends, strict=True):
        if axis.low <= value <= axis.high:
            parts.append(tag("line", x1=x, x2=x, y1=middle - 4, y2=middle + 4, class_="whisker"))
    parts.append(seat_mark(agent, _along(axis, mean), middle, 10))
    return _row(*parts, label=label)


def line_sample(agent: int) -> Markup:
    """Draw how an agent's line looks, to stand beside its name."""
    line = tag(
        "line", x1=0, x2=28, y1=8, y2=8, stroke=seat_colour(agent), stroke_width=2,
        stroke_dasharray=dash_of(agent),
    )  # fmt: skip
    return Markup(
        tag(
            "svg", line, seat_mark(agent, 14, 8, 10), viewBox="0 0 28 16", width=28, height=16,
            class_="sample", aria_hidden="true",
        )
    )  # fmt: skip


# --- round by round ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Frame:
    """Where the inside of a plot lies, and its axes."""

    left: float
    top: float
    width: float
    height: float
    across: Axis
    up: Axis

    def x(self, value: float) -> float:
        """Give where a round lies."""
        return self.across.part(value) * self.width

    def y(self, value: float) -> float:
        """Give where a rating lies."""
        return (1 - self.up.part(value)) * self.height


def history_plot(
    history: Sequence[Standing],
    agents: Mapping[int, tuple[int, str]],
    unit: str,
    width: float,
    height: float,
    labels: bool = True,
) -> Markup:
    """Plot ratings with their intervals by round.

    `agents` gives for each member of the history its number, by which it looks, and its name. The
    parts of each agent are a group with `data-agent`, so that a page can bring it to the front.
    """
    rows: dict[int, list[Standing]] = {}
    for row in history:
        if row.member in agents:
            rows.setdefault(row.member, []).append(row)
    labels = labels and len(rows) <= MOST_LABELS
    order = sorted(rows, key=lambda member: agents[member][0])
    frame = _frame(history, rows, agents, width, height, labels)
    ends = _spread({member: frame.y(rows[member][-1].strength) for member in order}, frame.height)
    parts = [_axes(frame, unit)]
    # The best is drawn last, over the others.
    for member in reversed(order):
        number_of, name = agents[member]
        drawn = [_line(frame, rows[member], number_of)]
        if labels:
            drawn.append(_label(frame, rows[member][-1], ends[member], number_of, name))
        parts.append(
            tag("g", tag("title", escape(name)), *drawn, class_="line", data_agent=number_of)
        )
    return Markup(
        tag(
            "svg", *parts, viewBox=f"0 0 {number(width)} {number(height)}", class_="plot",
            role="img", aria_label=f"{unit} of {len(order)} agents, round by round",
        )
    )  # fmt: skip


def _frame(
    history: Sequence[Standing],
    rows: Mapping[int, Sequence[Standing]],
    agents: Mapping[int, tuple[int, str]],
    width: float,
    height: float,
    labels: bool,
) -> Frame:
    shown = [row for member in rows.values() for row in member]
    last = [member[-1] for member in rows.values()]
    up = axis_over(
        (row.strength for row in shown), [end for row in last for end in (row.low, row.high)], 6
    )
    rounds = sorted({row.round for row in shown}) or [1]
    first, final = rounds[0], rounds[-1]
    step = max(1, math.ceil((final - first) / (width / 80)))
    ticks = tuple(float(tick) for tick in range(first, final + 1) if (final - tick) % step == 0)
    across = Axis(first - 0.5, final + 0.5, ticks) if first == final else Axis(first, final, ticks)
    left = 16 + max(text_width(up.label(tick), 12) for tick in up.ticks or (0.0,))
    longest = max((text_width(_short(agents[member][1]), 12) for member in rows), default=0)
    right = 44 + longest if labels else 16
    return Frame(left, 28, width - left - right, height - 28 - 44, across, up)


def _axes(frame: Frame, unit: str) -> str:
    bottom = frame.top + frame.height
    parts = []
    for tick in frame.up.ticks:
        y = frame.top + frame.y(tick)
        right = frame.left + frame.width
        parts.append(tag("line", x1=frame.left, x2=right, y1=y, y2=y, class_="grid"))
        parts.append(text(frame.left - 8, y, frame.up.label(tick), 12, "quiet", text_anchor="end"))
    for tick in frame.across.ticks:
        x = frame.left + frame.x(tick)
        parts.append(tag("line", x1=x, x2=x, y1=bottom, y2=bottom + 4, class_="grid"))
        parts.append(text(x, bottom + 16, f"{tick:.0f}", 12, "quiet"))
    middle = frame.left + frame.width / 2
    parts.append(text(middle, bottom + 36, "round", 12, "quiet"))
    parts.append(text(4, 10, unit, 12, "quiet", text_anchor="start"))
    return "".join(parts)


def _line(frame: Frame, rows: Sequence[Standing], agent: int) -> str:
    colour = seat_colour(agent)
    spots = [(frame.x(row.round), frame.y(row.strength)) for row in rows]
    upper = [(frame.x(row.round), frame.y(row.high)) for row in rows]
    lower = [(frame.x(row.round), frame.y(row.low)) for row in reversed(rows)]
    band = tag("polygon", points=_points([*upper, *lower]), fill=colour, class_="band")
    line = tag(
        "polyline", points=_points(spots), fill="none", stroke=colour, class_="course",
        stroke_dasharray=dash_of(agent),
    )  # fmt: skip
    wide = tag("polyline", points=_points(spots), fill="none", class_="grip")  # for the pointer
    mark = seat_mark(agent, *spots[-1], 9)
    place = f"translate({number(frame.left)} {number(frame.top)})"
    return tag("g", band, line, wide, mark, transform=place)


def _label(frame: Frame, last: Standing, at: float, agent: int, name: str) -> str:
    """Name a line beside its end, with a thin line to it where names had to make way."""
    right = frame.left + frame.width
    x, y = frame.left + frame.x(last.round), frame.top + frame.y(last.strength)
    points = _points([(x + 6, y), (right + 10, y), (right + 22, frame.top + at)])
    lead = tag("polyline", points=points, fill="none", class_="lead")
    mark = seat_mark(agent, right + 30, frame.top + at, 9)
    return lead + mark + text(right + 40, frame.top + at, _short(name), 12, text_anchor="start")


def _spread(wanted: Mapping[int, float], height: float) -> dict[int, float]:
    """Move names apart, as little as it takes, and keep them within the height."""
    order = sorted(wanted, key=lambda member: wanted[member])
    gap = min(LABEL_GAP, height / max(len(order) - 1, 1))
    # Less their gaps, places must only not fall: names that would are put at their mean together.
    groups: list[list[float]] = []
    for at, member in enumerate(order):
        group = [wanted[member] - at * gap]
        while groups and sum(groups[-1]) / len(groups[-1]) > sum(group) / len(group):
            group = groups.pop() + group
        groups.append(group)
    most = height - (len(order) - 1) * gap
    means = [min(max(sum(group) / len(group), 0.0), most) for group in groups for _ in group]
    return {member: means[at] + at * gap for at, member in enumerate(order)}


def _points(spots: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{number(round(x, 1))},{number(round(y, 1))}" for x, y in spots)


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
