"""Any game of OpenSpiel as a picture: its board as OpenSpiel writes it, and moves to click."""

from __future__ import annotations

from collections.abc import Mapping

from kibitz.bridges.open_spiel.room.words import show
from kibitz.core.svg import (
    CORNER,
    board,
    button,
    figure,
    halo,
    legal,
    paint,
    seat_chip,
    tag,
    text,
    text_width,
)
from kibitz.core.svg import opinion as shade
from kibitz.core.table import Move, View

EDGE = 24
CHIP = 44  # height that a row of seats takes
SIZE, LARGE = 15, 24  # of the letters of the board; of a small board
SMALL = 24  # columns
NARROWEST = 480
WIDEST = 760
KEY = 32  # height of a button
GAP = 22  # between rows of buttons, for the figures of an opinion
STYLE = f"""
& .mono{{font-family:ui-monospace,Menlo,Consolas,monospace;white-space:pre;{paint("ink")}}}
"""


def draw(view: View, last: Move | None = None, opinion: Mapping[int, float] | None = None) -> str:
    """Draw the seats, the board as text, the last move, and a button for each legal action."""
    lines = show(view).splitlines()
    columns = max(map(len, lines), default=0)
    size = LARGE if columns <= SMALL else SIZE
    width = min(max(NARROWEST, 2 * EDGE + 0.62 * size * columns), WIDEST)
    seats = [seat_chip(view, seat, 16 + 180 * (seat % 3), 30 + CHIP * (seat // 3))
             for seat in range(view.game.players)]  # fmt: skip
    top = 30.0 + CHIP * (1 + (view.game.players - 1) // 3)
    high = 1.35 * size
    parts = [_line(words, size, top + high * (place + 0.3)) for place, words in enumerate(lines)]
    top += high * len(lines) + 8
    marked, below = _last(view, last, top)
    keys, bottom = _keys(view, top + below, width, opinion or {})
    return board(view, width, bottom + EDGE, *seats, *parts, marked, *keys, style=STYLE)


def _line(words: str, size: float, y: float) -> str:
    # Nothing in the text may look like an address: pages check that drawings load nothing.
    return text(
        EDGE, y, words.replace("//", "/ /"), size, "mono", text_anchor="start", xml_space="preserve"
    )


def _last(view: View, last: Move | None, top: float) -> tuple[str, float]:
    """Name the last move, if the viewer may know it."""
    if last is None or (view.game.secret and last.seat != view.seat):
        return "", 0.0
    words = f"seat {last.seat}: {last.words}"
    frame = {"x": EDGE - 6, "y": top - 2, "width": text_width(words, 14) + 16, "height": 26}
    named = text(EDGE, top + 11, words, 14, "ink", text_anchor="start")
    return tag("g", halo("rect", rx=CORNER, **frame), named), 34.0


def _keys(
    view: View, top: float, width: float, opinion: Mapping[int, float]
) -> tuple[list[str], float]:
    """Lay out the legal actions in rows; buttons where they are the viewer's to take."""
    actions = view.legal
    parts = []
    x, y = float(EDGE), top + GAP
    for action in actions:
        words = view.say(action)
        wide = min(text_width(words, 13) + 24, width - 2 * EDGE)
        if x + wide > width - EDGE:
            x, y = float(EDGE), y + KEY + GAP
        parts.append(_key(view, action, words, x, y, wide, opinion.get(action)))
        x += wide + 8
    return parts, (y + KEY if actions else top)


def _key(
    view: View, action: int, words: str, x: float, y: float, wide: float, value: float | None
) -> str:
    frame = {"x": x, "y": y, "width": wide, "height": KEY, "rx": CORNER}
    under = "" if value is None else shade(value, "rect", **frame)
    over = "" if value is None else figure(value, x + wide / 2, y - 9, 11)
    name = text(x + wide / 2, y + KEY / 2, words.replace("//", "/ /"), 13)
    if view.mover != view.seat:
        return tag("g", under, name, over)
    return button(view, action, under, legal("rect", **frame), name, over)
