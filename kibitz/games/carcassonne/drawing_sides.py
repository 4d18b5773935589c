"""What stands beside the board: the drawn tile, the tiles to come, a cursor's pad, the seats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kibitz.core.svg import (
    CORNER,
    button,
    figure,
    legal,
    number,
    paint,
    seat_colour,
    seat_mark,
    standing,
    tag,
    text,
    won,
)
from kibitz.core.svg import opinion as shade
from kibitz.core.table import View
from kibitz.games.carcassonne.cells import DECIDING, LAYING, MEEPLES, POINTING
from kibitz.games.carcassonne.drawing_tiles import MEEPLE, art
from kibitz.games.carcassonne.rules import CONFIRM, POINT_AT_HALF, ROTATE, TAKE
from kibitz.games.carcassonne.tiles import KINDS
from kibitz.games.carcassonne.words import HALF_NAMES, kind_name
from kibitz.games.carcassonne.words import standing as points_of

WIDE = 264
TILE = 104  # the drawn tile
HEAD = 150  # where the table of kinds begins
SEAT = 48  # a seat's height
PAD_ROW = 38
PAD = 164  # the least height of a pad
NARROW = 60  # a button's width below which a figure stands under its sign

STYLE = f"""
& .back{{fill:#3D5A4C;stroke:#21352B;stroke-width:1.2}}
& .hatch{{fill:none;stroke:#7E9C83;stroke-width:1.2}}
& .count{{fill:#FFFFFF;font-weight:700}}
& .rule{{{paint("line", "stroke")};stroke-width:1}}
& .slip{{{paint("paper")};fill-opacity:.86;pointer-events:none}}
& .gone{{opacity:.22}}
& .away{{fill:none;{paint("quiet", "stroke")};stroke-width:1.4;stroke-opacity:.7}}
& .sign{{fill:none;{paint("ink", "stroke")};stroke-width:2.4;stroke-linecap:round;
stroke-linejoin:round}}
"""


def box(x: float, y: float, wide: float, tall: float, corner: float = CORNER) -> dict[str, float]:
    """Give a rectangle around a point."""
    return {"x": x - wide / 2, "y": y - tall / 2, "width": wide, "height": tall, "rx": corner}


def ground(value: float | None, where: Mapping[str, float]) -> str:
    """Draw what a choice is written on: paper, what somebody thinks of it, a dashed outline."""
    thought = "" if value is None else shade(value, "rect", **where)
    return tag("rect", class_="paper", **where) + thought + legal("rect", **where)


def slip(value: float, x: float, y: float, size: float) -> str:
    """Write what somebody thinks on a slip of paper, since tiles are colourful."""
    where = box(x, y, 2.5 * size, 1.3 * size, 3)
    return tag("rect", class_="slip", **where) + figure(value, x, y, size)


def placed(inside: str, x: float, y: float, side: float, **attributes: str | None) -> str:
    """Put a picture of a tile around a point, so large."""
    at = f"translate({number(x)} {number(y)}) scale({number(side / 100)})"
    return tag("g", inside, transform=at, **attributes)


def _say(x: float, y: float, words: str, size: float = 13, class_: str = "quiet") -> str:
    """Write words from x on."""
    return text(x, y, words, size, class_, text_anchor="start")


# --- tiles ---------------------------------------------------------------------------------------


def shown(view: View) -> tuple[int, int]:
    """Give the kind and the rotation of the tile that this turn is about."""
    if view["tile"]:
        return view["tile"] - 1, int(view["cursor"][2])
    last = view["laid"] - 1
    return int(view["kind"][last]), int(view["turn"][last])


def tiles(view: View, x: float, y: float, ghosts: str) -> str:
    """Draw the tile of this turn, ghosts of meeples on it, and the stack that is left."""
    kind, turn = shown(view)
    head = "The last tile" if view.over else _whose(view)
    middle = x + TILE / 2, y + 30 + TILE / 2
    return tag(
        "g",
        _say(x, y + 10, head, 14, "ink strong"),
        tag("rect", class_="back", **box(*middle, TILE + 4, TILE + 4, 3)),
        placed(tag("title", kind_name(kind)) + art(kind, turn), *middle, TILE),
        ghosts,
        _stack(view, x + TILE + 28, y + 30),
    )


def _whose(view: View) -> str:
    """Say whose turn it is about the tile."""
    return "Your tile" if view.is_you(view.mover) else f"{view.call(view.mover)}'s tile"


def _stack(view: View, x: float, y: float) -> str:
    """Draw the tiles to come, face down, the more the higher, and count them."""
    left = int(view["left"].sum())
    side, middle = 58, (x + 29, y + 45)
    parts = []
    if left:
        for i in range(min(4, (left + 15) // 16), -1, -1):
            where = box(middle[0] + 2.5 * i, middle[1] - 2.5 * i, side, side, 4)
            parts.append(tag("rect", class_="back", **where))
        parts.append(tag("path", class_="hatch", d=_lattice(*middle, 24)))
        parts.append(tag("circle", class_="back", cx=middle[0], cy=middle[1], r=19))
        parts.append(text(*middle, str(left), 19, "count"))
    else:
        parts.append(tag("rect", class_="legal", **box(*middle, side, side, 4)))
    words = "to come" if left else "none to come"
    parts.append(text(middle[0], y + 88, words, 13, "quiet"))
    if view["aside"]:
        parts.append(text(middle[0], y + 105, f"{view['aside']} set aside", 12, "quiet"))
    return tag("g", tag("title", f"{left} tiles to come"), *parts)


def _lattice(x: float, y: float, half: float) -> str:
    """Cross a square with slanted lines both ways."""
    lines = ""
    for aside in range(-36, 37, 12):
        low, high = max(-half, aside - half), min(half, aside + half)
        for way in (1, -1):
            ends = ((x + at, y + way * (at - aside)) for at in (low, high))
            lines += "M" + "L".join(f"{number(px)} {number(py)}" for px, py in ends)
    return lines


def kinds(view: View, x: float, y: float, columns: int) -> str:
    """Draw every kind small, with how many are to come; those of which none is are faint."""
    pitch = WIDE / columns
    side = pitch - 10
    parts = [_say(x, y, "Kinds to come", 12)]
    for kind in range(KINDS):
        row, column = divmod(kind, columns)
        left = int(view["left"][kind])
        px, py = x + (column + 0.5) * pitch, y + 14 + side / 2 + row * (side + 17)
        name = tag("title", f"{kind_name(kind)}; {left} to come")
        count = text(px, py + side / 2 + 8, str(left), 11, "ink" if left else "quiet")
        picture = placed(art(kind, 0, False), px, py, side, class_=None if left else "gone")
        parts.append(tag("g", name, picture, count))
    return tag("g", *parts)


def columns(room: float) -> int:
    """Give how many columns the table of kinds needs so that its height has room."""
    return next((count for count in (5, 6) if kinds_height(count) <= room), 8)


def kinds_height(columns: int) -> float:
    """Give how tall the table of kinds is."""
    return 14 + (WIDE / columns + 7) * -(-KINDS // columns)


# --- seats ---------------------------------------------------------------------------------------


def seats(view: View, x: float, bottom: float) -> str:
    """Draw the seats in turn order, the viewer's lowest."""
    count, points = view.game.players, points_of(view)
    order = [(view.seat + i) % count for i in range(1, count + 1)]
    top = bottom - SEAT * count
    parts = []
    for i, seat in enumerate(order):
        y = top + SEAT * i
        if not _lit(view, seat) and not (i and _lit(view, order[i - 1])):
            parts.append(tag("path", class_="rule", d=f"M{number(x)} {number(y)}h{WIDE}"))
        parts.append(_seat(view, seat, x, y, *points[seat]))
    return tag("g", *parts)


def _lit(view: View, seat: int) -> bool:
    """Tell whether a seat is framed: it moves, or has won."""
    return seat == view.mover or won(view, seat)


def _seat(view: View, seat: int, x: float, y: float, bank: int, more: int) -> str:
    """Say who sits there, with points, points that would be added now, and meeples left."""
    lit, line = _lit(view, seat), ""
    supply = int(view["supply"][seat])
    frame = box(x + WIDE / 2, y + SEAT / 2, WIDE, SEAT - 4)
    if lit:
        line = tag("rect", fill="none", stroke=seat_colour(seat), stroke_width=2, **frame)
    figures = [_little(seat, x + 36 + 17 * i, y + 34, i < supply) for i in range(MEEPLES)]
    right = x + WIDE - 12
    pending = text(right, y + 34, f"+{more} pending", 12, "quiet", text_anchor="end")
    return tag(
        "g",
        line,
        seat_mark(seat, x + 18, y + 15, 14),
        _say(x + 34, y + 15, standing(view, seat), 14, "ink strong" if lit else "ink"),
        text(right, y + 15, str(bank), 18, "ink strong", text_anchor="end"),
        tag("g", tag("title", f"{supply} of {MEEPLES} meeples left"), *figures),
        "" if view.over else pending,
        data_seat=seat,
    )


def _little(seat: int, x: float, y: float, there: bool) -> str:
    """Draw a meeple that is left, or the outline of one that stands on the board."""
    at = f"translate({number(x)} {number(y)}) scale(.6)"
    if there:
        return tag("path", d=MEEPLE, transform=at, fill=seat_colour(seat))
    return tag("path", d=MEEPLE, transform=at, class_="away")


# --- the pad of a cursor -------------------------------------------------------------------------

_ARROW = "M0 7V-7M-5.5-1.5L0-7L5.5-1.5"
_SIGNS = {  # of actions, by phase: a path, and its turn
    (LAYING, ROTATE): ("M6-3.5A7 7 0 1 0 7 2M6.5-9V-3.5H1", 0),
    (POINTING, ROTATE): ("M0-2.5A2.5 2.5 0 1 1 0 2.5A2.5 2.5 0 1 1 0-2.5", 0),
}  # fmt: skip
_TURNS = (0, 180, -90, 90)  # of the arrow: north, south, west, east
# Column and row of north, south, west, east, the middle; then of the eight halves, on a wide pad.
_SPOTS = ((1, 0), (1, 2), (0, 1), (2, 1), (1, 1))
_HALVES = ((1, 0), (3, 0), (4, 1), (4, 3), (3, 4), (1, 4), (0, 3), (0, 1))


def pad(
    view: View, actions: Iterable[int], thoughts: Mapping[int, float], x: float, y: float,
    tall: float,
) -> str:  # fmt: skip
    """Draw the buttons of a cursor, in a compass; or the choice whether to set a meeple."""
    phase = view["phase"]
    wide = phase == POINTING and view.game.settings["farmers"]
    columns, rows = (5, 6) if wide else (3, 4)
    across, down = WIDE / columns, min(PAD_ROW, tall / rows)
    top = y + (tall - rows * down) / 2
    parts = []
    for action in actions:
        where = box(x + WIDE / 2, top + (rows - 0.5) * down, WIDE - 4, down - 4)
        if phase == DECIDING:
            where = box(x + WIDE / 2, top + (action + 1) * down, WIDE - 4, down - 4)
        elif action != CONFIRM:
            column, row = _spot(action, wide)
            where = box(x + (column + 0.5) * across, top + (row + 0.5) * down, across - 4, down - 4)
        inside = ground(thoughts.get(action), where)
        parts.append(button(view, action, inside, _sign(phase, action, where, thoughts)))
    return tag("g", *parts)


def _spot(action: int, wide: bool) -> tuple[int, int]:
    """Give the column and the row of a button on the pad."""
    if action >= POINT_AT_HALF:
        return _HALVES[action - POINT_AT_HALF]
    column, row = _SPOTS[action]
    return (column + 1, row + 1) if wide else (column, row)


def _sign(
    phase: int, action: int, where: Mapping[str, float], thoughts: Mapping[int, float]
) -> str:
    """Draw what a button of the pad does, and what somebody thinks of it."""
    x, y = where["x"] + where["width"] / 2, where["y"] + where["height"] / 2
    words, small, beside = _word(phase, action), where["width"] < NARROW, ""
    if action in thoughts and small:
        beside, y = figure(thoughts[action], x, y + 7, 10), y - 7
    elif action in thoughts:
        right = where["x"] + where["width"] - 6
        beside = figure(thoughts[action], right, y, 12, text_anchor="end")
        x -= 18
    if words:
        return text(x, y, words, 11 if small else 14, "ink strong") + beside
    line, turn = _SIGNS.get((phase, action), (_ARROW, _TURNS[action % 4]))
    scale = 0.7 if small else 1
    at = f"translate({number(x)} {number(y)}) rotate({turn}) scale({scale})"
    return tag("path", class_="sign", d=line, transform=at) + beside


def _word(phase: int, action: int) -> str:
    """Give the word on a button that has one."""
    if phase == DECIDING:
        return "take a meeple" if action == TAKE else "end the turn"
    if action >= POINT_AT_HALF:
        return HALF_NAMES[action - POINT_AT_HALF]
    return "confirm" if action == CONFIRM else ""
