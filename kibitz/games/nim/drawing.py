"""Nim as a picture: match sticks in rows. A click takes a stick and all to its right.

Sticks stay where they lay at the start. Those just taken leave a ghost, earlier ones a dot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kibitz.core.svg import (
    CORNER,
    board,
    button,
    figure,
    halo,
    legal,
    number,
    paint,
    seat_chip,
    seat_mark,
    tag,
    text,
)
from kibitz.core.svg import opinion as shade
from kibitz.core.table import Move, View
from kibitz.games.nim.rules import MOST

SIDE = 112  # left for a row's name, right for its count
EDGE = 64  # above and below, for the seats
GAP = 28  # between rows, for the figures of an opinion
NARROWEST = 480

# The sticks of a row that may be taken are siblings in order, so `~` means "all to its right".
TAKEN = (
    "& .take:hover {0},& .take:hover~.take {0},"
    "& .row:not(:hover) .take:focus-visible {0},& .row:not(:hover) .take:focus-visible~.take {0}"
)
STYLE = f"""
& .band{{{paint("accent")};fill-opacity:0}}
{TAKEN.format(".band")}{{fill-opacity:.16}}
& .match{{transition:transform .15s}}
{TAKEN.format(".match")}{{transform:translateY(-6px)}}
@media (prefers-reduced-motion:reduce){{& .match{{transition:none}}}}
& .wood{{fill:#E2B97F;stroke:#9A6B34;stroke-width:.75}}
& .shade{{fill:#C49352;fill-opacity:.4}}
& .head{{fill:#C5352B;stroke:#7E1B15;stroke-width:.75}}
& .gloss{{fill:#FFFFFF;fill-opacity:.4}}
& .ghost *{{fill:none;{paint("ink", "stroke")};stroke-width:1;stroke-opacity:.5}}
& .ghost .shade,& .ghost .gloss{{display:none}}
& .much{{visibility:hidden}}
& .take:hover .much,& .row:not(:hover) .take:focus-visible .much{{visibility:visible}}
& .row:hover .was,& .row:focus-within .was{{visibility:hidden}}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """Where one row lies, and how large its sticks are."""

    left: float
    top: float
    pitch: float  # from stick to stick
    length: float

    @property
    def middle(self) -> float:
        """The height that words beside the row stand at."""
        return self.top + self.length / 2

    def centre(self, place: int) -> float:
        """Where a stick's middle is, from left to right."""
        return self.left + (place + 0.5) * self.pitch

    def frame(self, first: int, count: int = 1) -> dict[str, float]:
        """A box around sticks that lie side by side."""
        return {
            "x": self.left + first * self.pitch + 1,
            "y": self.top - 7,
            "width": count * self.pitch - 2,
            "height": self.length + 14,
            "rx": min(CORNER, count * self.pitch / 4),
        }


def draw(view: View, last: Move | None = None, opinion: Mapping[int, float] | None = None) -> str:
    """Draw the rows from the viewer's seat."""
    start = view.game.settings["rows"]
    length = min(max(480 / len(start) - GAP, 40), 88)
    pitch = min(max(672 / max(start), 12), 36, 0.7 * length)
    width = max(NARROWEST, 2 * SIDE + pitch * max(start))
    height = 2 * EDGE + (length + GAP) * len(start)
    column = (width + pitch * max(start)) / 2 + 28  # of the counts
    actions = view.legal
    parts = []
    for row, sticks in enumerate(start):
        top = EDGE + GAP / 2 + row * (length + GAP)
        place = Row((width - pitch * sticks) / 2, top, pitch, length)
        here = [action for action in actions if action // MOST == row]
        mine = here if view.acts else []
        parts.append(text(28, place.middle, f"row {row + 1}", 13, "quiet", text_anchor="start"))
        parts += _marks(view, row, place, here, mine, last, opinion or {})
        parts.append(_sticks(view, row, place, column, mine, last))
    return board(
        view,
        width,
        height,
        seat_chip(view, 1 - view.seat, 16, 34),
        text(width - 28, 34, _terms(view), 13, "quiet", text_anchor="end"),
        *parts,
        seat_chip(view, view.seat, 16, height - 34),
        style=STYLE,
    )


def _terms(view: View) -> str:
    """Say what the last stick does, and the cap."""
    settings = view.game.settings
    cap = f"at most {settings['k']} a turn · " if settings["k"] else ""
    return f"{cap}last stick {'loses' if settings['misere'] else 'wins'}"


def _taken(last: Move | None, row: int) -> int:
    """Count the sticks that the last move took from a row."""
    return last.action % MOST + 1 if last and last.action // MOST == row else 0


def _marks(
    view: View,
    row: int,
    place: Row,
    here: list[int],
    mine: list[int],
    last: Move | None,
    opinion: Mapping[int, float],
) -> list[str]:
    """Mark what was taken, what somebody thinks, and what may be taken, all behind the sticks."""
    sticks = int(view["rows"][row])
    marks = []
    taken = _taken(last, row)
    if taken:
        marks.append(halo("rect", **place.frame(sticks, taken)))
    held = {action: opinion[action] for action in here if action in opinion}
    best = max(held, key=held.__getitem__, default=None)
    for action, value in held.items():
        first = sticks - action % MOST - 1
        marks.append(shade(value, "rect", **place.frame(first)))
        if place.pitch >= 28 or action == best:  # where sticks are tight, only the best
            marks.append(figure(value, place.centre(first), place.top - 14, 11))
    if mine:
        marks.append(legal("rect", **place.frame(sticks - len(mine), len(mine))))
    return marks


def _sticks(
    view: View, row: int, place: Row, column: float, mine: list[int], last: Move | None
) -> str:
    """Draw a row's sticks, ghosts and dots, then its count and what was taken."""
    sticks = int(view["rows"][row])
    taken = _taken(last, row)
    parts = []
    for stick in range(view.game.settings["rows"][row]):
        x = place.centre(stick)
        action = row * MOST + sticks - stick - 1
        if stick >= sticks + taken:
            dot = min(2.5, place.pitch / 8)
            parts.append(tag("circle", cx=x, cy=place.middle, r=dot, class_="line"))
        elif stick >= sticks:
            parts.append(tag("g", _match(place, stick, row), class_="ghost"))
        elif action in mine:
            band = {**place.frame(stick), "x": x - place.pitch / 2, "width": place.pitch, "rx": 0}
            much = text(column + 36, place.middle, f"−{sticks - stick}", 16, "much accent strong")
            parts.append(
                button(
                    view,
                    action,
                    tag("rect", class_="band", **band),
                    tag("g", _match(place, stick, row), class_="match"),
                    much,
                    class_="take",
                )
            )
        else:
            parts.append(_match(place, stick, row))
    parts.append(text(column, place.middle, str(sticks), 16, "ink strong" if sticks else "quiet"))
    if last and taken:
        was = seat_mark(last.seat, column + 28, place.middle, 12)
        was += text(column + 40, place.middle, f"−{taken}", 14, "quiet", text_anchor="start")
        parts.append(tag("g", was, class_="was"))
    return tag("g", *parts, class_="row")


def _match(place: Row, stick: int, row: int) -> str:
    """Draw a match, its head up, a little askew as matches lie."""
    half = min(max(0.11 * place.pitch, 1.75), 0.045 * place.length)
    tall = 2.6 * half  # half the height of the head
    neck, end, side = number(1.5 * tall), number(place.length), number(half)
    tilt = ((5 * row + 3 * stick) % 7 - 3) * min(0.35, place.pitch / 100)
    at = f"translate({number(place.centre(stick))} {number(place.top)})"
    return tag(
        "g",
        tag("path", d=f"M-{side} {neck}V{end}H{side}V{neck}z", class_="wood"),
        tag("path", d=f"M{number(half / 4)} {neck}V{end}H{side}V{neck}z", class_="shade"),
        tag("ellipse", cy=tall, rx=1.6 * half, ry=tall, class_="head"),
        tag(
            "ellipse", cx=-0.5 * half, cy=0.7 * tall, rx=0.4 * half, ry=0.35 * tall, class_="gloss"
        ),
        transform=f"{at} rotate({number(tilt)} 0 {number(place.length / 2)})",
    )
