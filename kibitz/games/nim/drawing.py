"""Nim as a picture: match sticks in rows. A click takes a stick and all to its right."""

from __future__ import annotations

from collections.abc import Mapping

from kibitz.core.svg import (
    CORNER,
    board,
    button,
    figure,
    halo,
    legal,
    number,
    opinion as shade,
    paint,
    seat_chip,
    seat_mark,
    tag,
    text,
)
from kibitz.core.table import Move, View
from kibitz.games.nim.rules import MOST

SIDE = 104  # left for a row's name, right for its count
GAP = 28  # between rows, for the figures of an opinion
EDGE = 64  # above and below, for the seats
NARROWEST = 480

# Sticks that a click would take are siblings in order, so `~` is "all to its right".
TAKEN = (
    "& .take:hover{0},& .take:hover~.take{0},"
    "& .row:not(:hover) .take:focus-visible{0},& .row:not(:hover) .take:focus-visible~.take{0}"
)
STYLE = f"""
& .band{{{paint("accent")};fill-opacity:0}}
{TAKEN.format(" .band")}{{fill-opacity:.16}}
& .match{{transition:transform .15s}}
{TAKEN.format(" .match")}{{transform:translateY(-6px)}}
@media (prefers-reduced-motion:reduce){{& .match{{transition:none}}}}
& .wood{{fill:#E2B97F;stroke:#9A6B34;stroke-width:.75}}
& .shade{{fill:#C4935252}}
& .head{{fill:#C5352B;stroke:#7E1B15;stroke-width:.75}}
& .gloss{{fill:#FFFFFF;fill-opacity:.4}}
& .ghost *{{fill:none;{paint("quiet", "stroke")};stroke-width:1;stroke-opacity:.75}}
& .much{{visibility:hidden}}
& .take:hover .much,& .row:not(:hover) .take:focus-visible .much{{visibility:visible}}
& .row:hover .was{{visibility:hidden}}
"""


def draw(view: View, last: Move | None = None, opinion: Mapping[int, float] | None = None) -> str:
    """Draw the rows; sticks stay where they lay, and a dot is where one was taken."""
    start = view.game.settings["rows"]
    pitch = min(max(672 / max(start), 12), 36)
    length = min(max(480 / len(start) - 28, 40), 88)
    width = max(NARROWEST, 2 * SIDE + pitch * max(start))
    height = 2 * EDGE + (length + GAP) * len(start)
    rows = [
        _row(view, row, width, EDGE + GAP / 2 + row * (length + GAP), pitch, length, last, opinion)
        for row in range(len(start))
    ]
    return board(
        view, width, height,
        seat_chip(view, 1 - view.seat, 16, 34),
        text(width - 28, 34, _terms(view), 13, "quiet", text_anchor="end"),
        *rows,
        seat_chip(view, view.seat, 16, height - 34),
        style=STYLE,
    )  # fmt: skip


def _terms(view: View) -> str:
    """Say what the last stick does, and the cap."""
    settings = view.game.settings
    cap = f"at most {settings['k']} a turn · " if settings["k"] else ""
    return f"{cap}last stick {'loses' if settings['misere'] else 'wins'}"


def _row(
    view: View, row: int, width: float, top: float, pitch: float, length: float,
    last: Move | None, opinion: Mapping[int, float] | None,
) -> str:  # fmt: skip
    start = view.game.settings["rows"][row]
    sticks = int(view["rows"][row])
    taken = last.action % MOST + 1 if last and last.action // MOST == row else 0
    left = (width - pitch * start) / 2
    middle = top + length / 2

    def run(first: int, count: int) -> dict[str, float]:
        """Frame sticks that lie side by side."""
        return {
            "x": left + first * pitch + 1, "y": top - 7,
            "width": count * pitch - 2, "height": length + 14, "rx": min(CORNER, pitch / 2),
        }  # fmt: skip

    parts = [text(28, middle, f"row {row + 1}", 13, "quiet", text_anchor="start")]
    if taken:
        parts.append(halo("rect", **run(sticks, taken)))
    legal_here = [action for action in view.legal if action // MOST == row]
    parts += _opinions(legal_here, opinion or {}, sticks, left, top, pitch, length)

    mine = legal_here if view.mover == view.seat else []
    if mine:
        parts.append(legal("rect", **run(sticks - len(mine), len(mine))))
    column = (width + pitch * max(view.game.settings["rows"])) / 2 + 20
    parts.append(text(column + 8, middle, str(sticks), 16, "ink strong" if sticks else "quiet"))
    places = []
    for place in range(start):
        x = left + (place + 0.5) * pitch
        if place < sticks:
            match = _match(x, top, pitch, length, row * 5 + place * 3)
            action = row * MOST + sticks - place - 1
            if action in mine:
                much = text(column + 44, middle, f"−{sticks - place}", 16, "much accent strong")
                band = tag("rect", class_="band", x=x - pitch / 2, y=top - 7, width=pitch,
                           height=length + 14)  # fmt: skip
                match = button(view, action, band, match, much, class_="take")
            places.append(match)
        elif place < sticks + taken:
            places.append(tag("g", _match(x, top, pitch, length, row * 5 + place * 3, bare=True), class_="ghost"))
        else:
            places.append(tag("circle", cx=x, cy=middle, r=min(2.5, pitch / 8), class_="line"))
    if last and taken:
        was = seat_mark(last.seat, column + 36, middle, 12)
        was += text(column + 48, middle, f"−{taken}", 14, "quiet", text_anchor="start")
        places.append(tag("g", was, class_="was"))
    return tag("g", *parts, tag("g", *places, class_="row"))


def _opinions(
    actions: list[int], opinion: Mapping[int, float], sticks: int,
    left: float, top: float, pitch: float, length: float,
) -> list[str]:  # fmt: skip
    """Shade the stick that each action takes first; where sticks are tight only the best has a figure."""
    held = {action: opinion[action] for action in actions if action in opinion}
    best = max(held, key=held.__getitem__, default=None)
    marks = []
    for action, value in held.items():
        x = left + (sticks - action % MOST - 1) * pitch
        marks.append(shade(value, "rect", x=x + 1, y=top - 7, width=pitch - 2, height=length + 14,
                           rx=min(CORNER, pitch / 2)))  # fmt: skip
        if pitch >= 28 or action == best:
            marks.append(figure(value, x + pitch / 2, top - 13, 11))
    return marks


def _match(x: float, y: float, pitch: float, length: float, lot: int, bare: bool = False) -> str:
    """Draw a match, its head up, a little askew as matches lie."""
    half = min(max(pitch * 0.11, 1.75), 4)
    tall = 2.6 * half  # half the height of the head
    neck = 1.5 * tall
    wood = f"M{number(-half)} {number(neck)}V{number(length)}H{number(half)}V{number(neck)}z"
    shade = f"M{number(half / 4)} {number(neck)}V{number(length)}H{number(half)}V{number(neck)}z"
    parts = [
        tag("path", d=wood, class_="wood"),
        "" if bare else tag("path", d=shade, class_="shade"),
        tag("ellipse", cy=tall, rx=1.6 * half, ry=tall, class_="head"),
        "" if bare else tag("ellipse", cx=-0.5 * half, cy=0.7 * tall, rx=0.4 * half, ry=0.35 * tall, class_="gloss"),
    ]
    tilt = (lot % 7 - 3) * min(0.35, pitch / 100)
    place = f"translate({number(x)} {number(y)}) rotate({number(tilt)} 0 {number(length / 2)})"
    return tag("g", tag("g", *parts, transform=place), class_=None if bare else "match")
