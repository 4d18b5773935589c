"""Carcassonne in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.errors import UnreadableMove
from kibitz.core.reading import read_by_saying, unreadable
from kibitz.core.table import View
from kibitz.games.carcassonne.board import cell_at, pending
from kibitz.games.carcassonne.cells import (
    CELLS,
    CENTRE,
    DECIDING,
    EDGE,
    LAYING,
    MOST_SEATS,
    OFFSET,
    WINDING,
)
from kibitz.games.carcassonne.rules import (
    CONFIRM,
    MEEPLE_AT,
    NO_MEEPLE,
    POINT_AT_HALF,
    POINTED,
    ROTATE,
    TAKE,
    place_of,
    segment_at,
)
from kibitz.games.carcassonne.tiles import (
    AT_SIDE,
    CITY,
    CLOISTER,
    EAST,
    FEATURE,
    FEATURE_NAMES,
    FITS,
    GRASS,
    LETTERS,
    NORTH,
    ROAD,
    ROTATIONS,
    SHIELD,
    SHOWS,
    SIDE_NAMES,
    SOUTH,
    TURNS,
    WEST,
)

HALF_NAMES = ("nnw", "nne", "ene", "ese", "sse", "ssw", "wsw", "wnw")
PLACE_NAMES = (*SIDE_NAMES, "centre", *HALF_NAMES)

_BASE = """\
Tiles show roads, cities, fields and cloisters. On your turn you draw one and lay it beside others
so that all its sides match. Then you may set one of your seven meeples on it: on a road, a city or
a cloister that nobody occupies, also not on another tile of it. Then what is finished scores, and
its meeples return to you.

road      1 for each tile
city      2 for each tile and 2 for each shield; unfinished at the end, 1 and 1
cloister  1 for itself and for each of its eight neighbours

Whoever has most meeples on a feature scores it, and all who have equally many score it in full. A
tile that fits nowhere is set aside. When all tiles are drawn, what is unfinished scores too.
"""
_FARMERS = """
A meeple may also stand in a field, where it stays to the end: then the field scores 3 for each
finished city that it touches.
"""
_DIRECT = """
Places are counted from the start tile: 'e2 n1' is two to the east and one to the north, '0' the
start tile itself. Type 'e2 n1' to lay the tile there, with 'turned 1' to 'turned 3' for quarters
clockwise where there is a choice; then 'road west', 'city north', 'cloister' or 'no meeple'.
"""
_CURSOR = """
The tile is moved from the start tile: 'north', 'south', 'west', 'east', 'turn' and 'confirm'. Then
'take' a meeple or 'end' the turn; point it 'north', 'south', 'west', 'east' or to the 'centre', and
'confirm'. Where it cannot stand, it goes back. You can leave no more than one cell beyond the
outermost tiles, and after {steps} steps the turn ends by itself.
"""


def rules(settings: Mapping[str, Any]) -> str:
    """Explain the game as it is set."""
    farmers = _FARMERS if settings["farmers"] else ""
    how = _DIRECT if settings["control"] == "direct" else _CURSOR.format(steps=settings["steps"])
    return _BASE + farmers + how


# --- moves ---------------------------------------------------------------------------------------


def place_name(x: int, y: int) -> str:
    """Name a place by the steps to it from the start tile."""
    across = f"{'e' if x > 0 else 'w'}{abs(x)}" if x else ""
    down = f"{'s' if y > 0 else 'n'}{abs(y)}" if y else ""
    return " ".join(filter(None, (across, down))) or "0"


def say(view: View, action: int) -> str:
    """Put an action into words."""
    if view.game.settings["control"] == "cursor":
        return _say_cursor(view["phase"], action)
    if action == NO_MEEPLE:
        return "no meeple"
    if action >= MEEPLE_AT:
        return meeple_name(view, action - MEEPLE_AT)
    cell, turn = divmod(action, ROTATIONS)
    is_beside = view["grid"][cell] >= EDGE
    name = place_name(*(place_of(view.cells, cell) if is_beside else _unwound(cell)))
    return f"{name} turned {turn}" if turn else name


def _unwound(cell: int) -> tuple[int, int]:
    """Give the place nearest to the start tile that has a cell."""
    ways = (
        ((cell - WINDING * y + CELLS // 2) % CELLS - CELLS // 2, y) for y in range(-OFFSET, OFFSET)
    )
    return min(ways, key=lambda place: abs(place[0]) + abs(place[1]))


def meeple_name(view: View, place: int) -> str:
    """Say where a meeple is set on the tile that was just laid: 'road west', 'cloister'."""
    tile = view["laid"] - 1
    segment = segment_at(view.cells, tile, place)
    if segment < 0:  # nothing is there: it cannot be legal
        return f"meeple {PLACE_NAMES[place]}"
    if place == CENTRE:
        return "cloister"
    return f"{FEATURE_NAMES[int(FEATURE[view['kind'][tile], segment])]} {PLACE_NAMES[place]}"


def _say_cursor(phase: int, action: int) -> str:
    if phase == LAYING and action == ROTATE:
        return "turn"
    if phase == DECIDING:
        return "take a meeple" if action == TAKE else "end the turn"
    if action == CONFIRM:
        return "confirm"
    if action >= POINT_AT_HALF:
        return HALF_NAMES[action - POINT_AT_HALF]
    return PLACE_NAMES[POINTED[action]]


PLACE = re.compile(
    r"(?:lay\s+)?(?:(?P<origin>0)|(?P<across>[ew]\s*\d+)?[\s,]*(?P<down>[ns]\s*\d+)?)"
    r"(?:[\s,]*(?:turned|turn|rotated|r)?\s*(?P<turn>[0-3]))?"
)


def read(view: View, text: str) -> int:
    """Find the action that words mean: 'e2 n1 turned 1', 'road west', 'no meeple', 'confirm'."""
    words = " ".join(text.strip().lower().split())
    settings = view.game.settings
    if settings["control"] == "direct" and view["phase"] == LAYING:
        return _read_place(view, words, text)
    if words in ("none", "no", "nothing", "-"):
        words = "no meeple" if settings["control"] == "direct" else words
    return read_by_saying(view, words, say)


def _read_place(view: View, words: str, text: str) -> int:
    """Find the placement that words mean; without a rotation, the only one that fits."""
    found = PLACE.fullmatch(words)
    if found is None or not (found["origin"] or found["across"] or found["down"]):
        raise unreadable(view, text)
    x = _steps(found["across"], "e")
    y = _steps(found["down"], "s")
    if max(abs(x), abs(y)) > OFFSET:
        raise UnreadableMove(f"carcassonne: {words} lies farther off than tiles can.")
    cell = int(cell_at(x, y))
    if found["turn"] is not None:
        kind = view["tile"] - 1
        return cell * ROTATIONS + int(found["turn"]) % int(TURNS[kind] if kind >= 0 else ROTATIONS)
    fits = [action for action in view.legal if action // ROTATIONS == cell]
    if len(fits) > 1 and cell * ROTATIONS not in fits:
        names = ", ".join(f"'{say(view, action)}'" for action in fits)
        raise UnreadableMove(f"carcassonne: the tile fits there in several ways: {names}.")
    return fits[0] if len(fits) == 1 else cell * ROTATIONS


def _steps(text: str | None, positive: str) -> int:
    if text is None:
        return 0
    steps = int(text[1:])
    return steps if text[0] == positive else -steps


# --- the board -----------------------------------------------------------------------------------

# Lines by their arms to the north, east, south and west: none, a road (light), a city (heavy).
_ARMS = " ╶╺╷┌┍╻┎┏╴─╼┐┬┮┒┰┲╸╾━┑┭┯┓┱┳╵└┕│├┝╽┟┢┘┴┶┤┼┾┧╁╆┙┵┷┥┽┿┪╅╈╹┖┗╿┞┡┃┠┣┚┸┺┦╀╄┨╂╊┛┹┻┩╃╇┫╉╋"
# Rows and columns of tiles that a terminal has room for, and how wide each is.
ROWS, COLUMNS, WIDE = 15, 18, 4
SEAT_MARKS = "ABCDE"


def kind_name(kind: int) -> str:
    """Describe a kind of tile: 'D: city n, road e w'."""
    parts = []
    for segment in range(4):
        if FEATURE[kind, segment]:
            sides = " ".join(
                name[0] for side, name in enumerate(SIDE_NAMES) if AT_SIDE[kind, 0, side] == segment
            )
            shield = " with a shield" if SHIELD[kind, segment] else ""
            name = FEATURE_NAMES[int(FEATURE[kind, segment])]
            parts.append(f"{name} {sides}{shield}".strip())
    return f"{LETTERS[kind]}: {', '.join(parts)}"


def glyph(kind: int, turn: int) -> str:
    """Draw a tile in three characters: light lines are roads, heavy ones cities."""
    arms = [{GRASS: 0, ROAD: 1, CITY: 2}[int(shown)] for shown in SHOWS[kind, turn]]
    north, east, south, west = (arms[side] for side in (NORTH, EAST, SOUTH, WEST))
    left, right = " ─━"[west], " ─━"[east]
    middle = _ARMS[27 * north + 9 * west + 3 * south + east]
    if (FEATURE[kind] == CITY).sum() > 1:  # two cities, apart
        left, right = left.replace("━", "╸"), right.replace("━", "╺")
        middle = "╏" if north and south else _ARMS[27 * north + 3 * south]
    if FEATURE[kind, 0] == CLOISTER:
        middle = "†"
    elif middle == " ":
        middle = "·"
    return left + middle + right


def standing(view: View) -> list[tuple[int, int]]:
    """Give points so far and pending points of each seat."""
    more = np.zeros(MOST_SEATS)
    if not view.over:
        pending(view.cells, more)
    return [(int(view["bank"][seat]), int(more[seat])) for seat in range(view.game.players)]


def brief(view: View) -> str:
    """Say in one short line how the game stands."""
    points = " ".join(f"{bank}+{more}" for bank, more in standing(view))
    tile = f" tile {LETTERS[view['tile'] - 1]}" if view["tile"] else ""
    return f"{view['laid']} laid{tile} points {points}"


def show(view: View) -> str:
    """Draw the tiles around the last one, then what is to be laid, and how the seats stand."""
    laid = view["laid"]
    xs, ys = view["x"][:laid] - OFFSET, view["y"][:laid] - OFFSET
    left, right = _window(xs, int(xs[-1]), COLUMNS)
    top, bottom = _window(ys, int(ys[-1]), ROWS)
    rows = {y: [_cell(view, x, y) for x in range(left, right + 1)] for y in range(top, bottom + 1)}
    header = "".join(f"{_axis(x, 'we'):^{WIDE}}" for x in range(left, right + 1))
    lines = [f"      {header}"]
    lines += [f"{_axis(y, 'ns'):>4}  {''.join(cells)}" for y, cells in rows.items()]
    lines += _below(view)
    return "\n".join(line.rstrip() for line in lines)


def _axis(steps: int, letters: str) -> str:
    return f"{letters[steps > 0]}{abs(steps)}" if steps else "0"


def _window(places: np.ndarray, last: int, most: int) -> tuple[int, int]:
    """Give the first and the last row or column to show: all with their edge, or those nearest."""
    low, high = int(places.min()) - 1, int(places.max()) + 1
    if high - low < most:
        return low, high
    first = min(max(low, last - most // 2), high - most + 1)
    return first, first + most - 1


def _cell(view: View, x: int, y: int) -> str:
    """Draw a cell: a tile with the mark of a meeple or a shield, or where the drawn one fits."""
    content = int(view["grid"][cell_at(x, y)])
    if 0 < content < EDGE:
        tile = content - 1
        kind = int(view["kind"][tile])
        drawn = glyph(kind, int(view["turn"][tile]))
        meeple = int(view["meeple"][tile])
        mark = SEAT_MARKS[(meeple - 1) // 8] if meeple else "'" if SHIELD[kind].any() else " "
        if mark == " ":
            mark = drawn[2].replace("╺", "━")  # roads and cities go on to the next tile
    elif content >= EDGE and view["tile"] and FITS[view["tile"] - 1, content - EDGE]:
        drawn, mark = " ○ ", " "
    else:
        drawn, mark = "   ", " "
    if view.game.settings["control"] == "cursor" and view["phase"] == LAYING and not view.over:
        at = view["cursor"]
        if (int(at[0]) - OFFSET, int(at[1]) - OFFSET) == (x, y):
            drawn = f"[{drawn[1]}]"
    return drawn + mark


def _below(view: View) -> list[str]:
    """Say what is to be laid, and how the seats stand."""
    lines = []
    left = int(view["left"].sum())
    aside = f", {view['aside']} set aside" if view["aside"] else ""
    if view["tile"]:
        kind = view["tile"] - 1
        turn = int(view["cursor"][2]) if view.game.settings["control"] == "cursor" else 0
        lines.append(f"  lay {glyph(kind, turn)}  {kind_name(kind)};  {left} to come{aside}")
    elif not view.over:
        last = view["laid"] - 1
        where = place_name(int(view["x"][last]) - OFFSET, int(view["y"][last]) - OFFSET)
        aim = int(view["cursor"][3])
        points = f", pointing {PLACE_NAMES[aim - 1]}" if aim else ""
        lines.append(f"  a meeple at {where}{points}?  {left} to come{aside}")
    else:
        lines.append(f"  all tiles are drawn{aside}")
    for seat, (bank, more) in enumerate(standing(view)):
        mark = ">" if seat == view.mover else " "
        you = " (you)" if seat == view.seat else ""
        soon = "" if view.over else f" and {more} pending"
        meeples = int(view["supply"][seat])
        lines.append(
            f"{mark} {SEAT_MARKS[seat]} seat {seat}{you}: {bank} points{soon}, "
            f"{meeples} meeple{'s' * (meeples != 1)}"
        )
    return lines
