"""Carcassonne in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.errors import AmbiguousMove, IllegalMove, UnreadableMove
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
from kibitz.games.carcassonne.meeples import segment_at
from kibitz.games.carcassonne.rules import (
    CONFIRM,
    MEEPLE_AT,
    NO_MEEPLE,
    POINT_AT_HALF,
    POINTED,
    ROTATE,
    TAKE,
    place_of,
)
from kibitz.games.carcassonne.tiles import (
    AT_SIDE,
    CITY,
    CLOISTER,
    EAST,
    FEATURE,
    FEATURE_NAMES,
    FIELD,
    FITS,
    GRASS,
    LETTERS,
    NORTH,
    ROAD,
    ROTATIONS,
    SEGMENTS,
    SHIELD,
    SHOWS,
    SIDE_NAMES,
    SIDES,
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

In a terminal roads are light lines, cities heavy ones, a cloister is a cross. Beside its tile a
meeple of the first seat is A in a city or cloister, a on a road, α in a field; a ' is a shield.

Whoever has most meeples on a feature scores it, and all who have equally many score it in full. A
tile that fits nowhere is set aside. When all tiles are drawn, what is unfinished scores too.
"""
_FARMERS = """
A meeple may also stand in a field, where it stays to the end: then the field scores 3 for each
finished city that it touches. Fields are named by half sides: 'nnw' is the western half of the
northern side, then 'nne', 'ene', 'ese', 'sse', 'ssw', 'wsw' and 'wnw'.
"""
_DIRECT = """
Places are counted from the start tile: 'e2 n1' is two to the east and one to the north. Type that
to lay the tile there, with 'turned 1' to 'turned 3' for quarters clockwise where there is a choice;
then 'road west', 'city north', 'cloister' or 'no meeple'.
"""
_CURSOR = """
The tile is moved from the start tile: 'north', 'south', 'west', 'east', 'turn' and 'confirm'. Then
'take' a meeple or 'end' the turn; point it 'north', 'south', 'west', 'east' or to the 'centre', and
'confirm'. Where it cannot stand, it goes back. The tile stays within one cell of the outermost
tiles, and after {steps} steps the turn ends by itself.
"""


_ALONE = """
Alone you draw and lay every tile, and play for as many points as you can.
"""
# Beginnings of paragraphs that are not for pages, and what those say instead.
IN_A_TERMINAL = ("In a terminal", "Places are counted")
IN_A_BROWSER = (
    "Click a dashed cell to hold your tile there, click it again to turn the tile, and the tick to "
    "lay it. Then click a place for a meeple, or no meeple."
)


def rules(settings: Mapping[str, Any]) -> str:
    """Explain the game as it is set."""
    farmers = _FARMERS if settings["farmers"] else ""
    how = _DIRECT if settings["control"] == "direct" else _CURSOR.format(steps=settings["steps"])
    alone = _ALONE if settings["players"] == 1 else ""
    return _BASE + alone + farmers + how


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


# Words that people use for ours; single letters stand for sides.
SYNONYMS = {
    "n": "north", "e": "east", "s": "south", "w": "west", "up": "north", "down": "south",
    "right": "east", "left": "west", "center": "centre", "middle": "centre",
    "monastery": "cloister", "farmer": "field", "farm": "field", "rotate": "turn", "r": "turn",
    "ok": "confirm",
    "place": "confirm", "lay": "confirm", "skip": "end", "pass": "end", "done": "end",
}  # fmt: skip
NO_MEEPLE_WORDS = ("none", "no", "nothing", "end", "-", "no meeple")
ACROSS = re.compile(r"(?<![a-z])(e|w|east|west)\s*(\d{1,3})(?!\d)")
DOWN = re.compile(r"(?<![a-z])(n|s|north|south)\s*(\d{1,3})(?!\d)")
TURN = re.compile(r"(?:turned|turn|rotated|rotate|r)?\s*([0-3])")


def read(view: View, text: str) -> int:
    """Find the action that words mean: 'e2 n1 turned 1', 'road west', 'no meeple', 'confirm'."""
    words = text.lower().replace(",", " ").split()
    direct = view.game.settings["control"] == "direct"
    if direct and view["phase"] == LAYING:
        return _read_place(view, " ".join(words), text)
    ours = " ".join(SYNONYMS.get(word, word) for word in words)
    if direct and ours in NO_MEEPLE_WORDS:
        return NO_MEEPLE
    return read_by_saying(view, ours or text, say)


def _read_place(view: View, words: str, text: str) -> int:
    """Find the placement that words mean; without a rotation, the only one that fits."""
    left = words.removeprefix("lay ")
    steps = []
    for pattern, positive in ((ACROSS, "e"), (DOWN, "s")):
        found = pattern.search(left)
        steps.append(0 if found is None else int(found[2]) * (1 if found[1][0] == positive else -1))
        left = pattern.sub(" ", left, count=1).strip()
    turned = TURN.fullmatch(left) if left else None
    if not any(steps) or (left and turned is None):
        raise unreadable(view, text)
    place = place_name(*steps)
    cell = int(cell_at(*steps)) if max(map(abs, steps)) <= OFFSET else -1
    # A cell has other places too, far off; there is one that its neighbours know.
    if cell < 0 or (view["grid"][cell] >= EDGE and place_of(view.cells, cell) != tuple(steps)):
        raise UnreadableMove(f"carcassonne: {place} is farther off than tiles can lie.")
    fits = [action for action in view.legal if action // ROTATIONS == cell]
    names = ", ".join(f"'{say(view, action)}'" for action in fits)
    if turned is None:
        if len(fits) > 1 and cell * ROTATIONS not in fits:
            raise AmbiguousMove(f"carcassonne: the tile fits there in several ways: {names}.")
        return fits[0] if len(fits) == 1 else cell * ROTATIONS
    kind = view["tile"] - 1
    action = cell * ROTATIONS + int(turned[1]) % int(TURNS[kind])
    if fits and action not in fits:
        raise IllegalMove(f"carcassonne: at {place} the tile fits only like this: {names}.")
    return action


# --- the board -----------------------------------------------------------------------------------

# Lines by their arms to the north, east, south and west: none, a road (light), a city (heavy).
_ARMS = " ╶╺╷┌┍╻┎┏╴─╼┐┬┮┒┰┲╸╾━┑┭┯┓┱┳╵└┕│├┝╽┟┢┘┴┶┤┼┾┧╁╆┙┵┷┥┽┿┪╅╈╹┖┗╿┞┡┃┠┣┚┸┺┦╀╄┨╂╊┛┹┻┩╃╇┫╉╋"
# Rows and columns of tiles that a terminal has room for, and how wide each is.
ROWS, COLUMNS, WIDE = 15, 18, 4
SEAT_MARKS = "ABCDE"
ON_ROADS, IN_FIELDS = "abcde", "αβγδε"


def kind_name(kind: int, turn: int = 0) -> str:
    """Describe a kind of tile, turned: 'D: city n, road e w'."""
    parts = []
    for segment in range(4):
        if FEATURE[kind, segment]:
            on = [side for side in range(SIDES) if AT_SIDE[kind, turn, side] == segment]
            sides = " ".join(SIDE_NAMES[side][0] for side in on)
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
    """Draw the tiles around the last one or the cursor, what is to be laid, and the seats."""
    laid = view["laid"]
    xs, ys = view["x"][:laid] - OFFSET, view["y"][:laid] - OFFSET
    x, y = int(xs[-1]), int(ys[-1])
    if view.game.settings["control"] == "cursor" and not view.over:
        x, y = (int(steps) - OFFSET for steps in view["cursor"][:2])
    left, right = _window(xs, x, COLUMNS)
    top, bottom = _window(ys, y, ROWS)
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
        mark = meeple_mark(kind, meeple) if meeple else "'" if SHIELD[kind].any() else " "
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


def meeple_mark(kind: int, meeple: int) -> str:
    """Give the letter of a meeple on a tile: it tells the seat, and what it stands on."""
    seat, segment = divmod(meeple - 1, SEGMENTS)
    marks = {ROAD: ON_ROADS, FIELD: IN_FIELDS}.get(int(FEATURE[kind, segment]), SEAT_MARKS)
    return marks[seat]


def _below(view: View) -> list[str]:
    """Say what is to be laid, and how the seats stand."""
    lines = []
    left = int(view["left"].sum())
    aside = f", {view['aside']} set aside" if view["aside"] else ""
    if view["tile"]:
        kind = view["tile"] - 1
        turn = int(view["cursor"][2]) if view.game.settings["control"] == "cursor" else 0
        lines.append(f"  lay {glyph(kind, turn)}  {kind_name(kind, turn)};  {left} to come{aside}")
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
