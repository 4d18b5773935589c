"""Kuhn poker as a picture: a card for every seat, chips below, and a button for each move."""

from __future__ import annotations

from collections.abc import Mapping

from kibitz.core.game import HIDDEN
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
    tag,
    text,
)
from kibitz.core.svg import opinion as shade
from kibitz.core.table import Move, View

WIDE, TALL = 72, 104  # a card
COLUMN = 168  # a seat
TOP = 80
KEY, KEY_TALL = 120, 44  # a button

STYLE = f"""
& .face{{{paint("paper")};{paint("ink", "stroke")};stroke-width:1.25}}
& .back{{{paint("line")};{paint("ink", "stroke")};stroke-width:1.25}}
& .weave{{fill:none;{paint("quiet", "stroke")};stroke-width:1.5}}
& .chip{{fill:#E69F00;stroke:#7A5200}}
& .folded{{opacity:.4}}
"""


def draw(view: View, last: Move | None = None, opinion: Mapping[int, float] | None = None) -> str:
    """Draw the table, the viewer's place first."""
    seats = view.game.players
    width, height = COLUMN * (seats + 1), TOP + TALL + 148
    parts = []
    for step in range(seats):
        seat = (view.seat + step) % seats
        parts += _place(view, seat, step * COLUMN, last)
    middle = COLUMN * (seats + 0.5)
    parts.append(_card(view["face_down"], middle))
    parts.append(text(middle, TOP + TALL + 28, f"pot {view['paid'].sum()}", 14, "quiet"))
    for place, action in enumerate(view.legal):
        left = width / 2 + (place - 1) * (KEY + 16) + 8
        parts.append(_key(view, action, left, height - 68, (opinion or {}).get(action)))
    return board(view, width, height, *parts, style=STYLE)


def _place(view: View, seat: int, left: float, last: Move | None) -> list[str]:
    """Draw a seat with its card and its chips."""
    middle = left + COLUMN / 2
    card = _card(int(view["cards"][seat]), middle)
    paid = int(view["paid"][seat])
    chips = [
        tag("circle", cx=middle + 22 * (chip - (paid - 1) / 2), cy=TOP + TALL + 28, r=9,
            class_="chip")
        for chip in range(paid)
    ]  # fmt: skip
    parts = [seat_chip(view, seat, left + 8, 34)]
    if last and last.seat == seat:
        parts.append(halo("rect", x=middle - WIDE / 2 - 8, y=TOP - 8, width=WIDE + 16,
                          height=TALL + 16, rx=CORNER))  # fmt: skip
        parts.append(text(middle, TOP + TALL + 56, last.words, 13, "quiet"))
    stays = bool(view["still_in"][seat])
    return [*parts, card if stays else tag("g", card, class_="folded"), *chips]


def _card(card: int, middle: float) -> str:
    """Draw a card with its number, or the patterned back of one that the viewer may not see."""
    left = middle - WIDE / 2
    edge = {"x": left, "y": TOP, "width": WIDE, "height": TALL, "rx": CORNER}
    if card != HIDDEN:
        face = tag("rect", class_="face", **edge)
        return tag("g", face, text(middle, TOP + TALL / 2, str(card), 40, "ink strong"))
    lines = "".join(
        f"M{number(left + 8)} {number(TOP + y)}l{WIDE - 16} 16m0 -16l-{WIDE - 16} 16"
        for y in range(8, TALL - 16, 16)
    )
    return tag("g", tag("rect", class_="back", **edge), tag("path", d=lines, class_="weave"))


def _key(view: View, action: int, left: float, top: float, value: float | None) -> str:
    """Draw what a move is called; a button only where it is the viewer's to make."""
    frame = {"x": left, "y": top, "width": KEY, "height": KEY_TALL, "rx": CORNER}
    under = "" if value is None else shade(value, "rect", **frame)
    over = "" if value is None else figure(value, left + KEY / 2, top + KEY_TALL + 12)
    name = text(left + KEY / 2, top + KEY_TALL / 2, view.say(action), 16)
    if view.mover != view.seat:
        return tag("g", under, name, over) if under else ""
    return button(view, action, under, legal("rect", **frame), name, over)
