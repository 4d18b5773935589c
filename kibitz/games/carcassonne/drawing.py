"""Carcassonne as a picture: the tiles on the table, as large as fits, and a side with the rest.

Where the drawn tile fits, an empty cell shows it faintly, once for each rotation: that of no
quarters at the upper left, then clockwise; pointing at one shows it in full. Then ghosts of a
meeple stand on the tile that was laid, wherever one may be set. With a cursor the tile is a ghost
itself, and a pad has the buttons. Cells say in `data-place` where they are; a page may hold a tile
in one of them and turn it: `choosing` is the class of such a cell, `chosen` that of the rotation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kibitz.core.svg import board, button, figure, halo, legal, paint, tag, text
from kibitz.core.svg import opinion as shade
from kibitz.core.table import Move, View
from kibitz.games.carcassonne import drawing_sides, drawing_tiles
from kibitz.games.carcassonne.cells import DECIDING, EDGE, LAYING, OFFSET, POINTING
from kibitz.games.carcassonne.drawing_sides import WIDE, box, ground, placed, slip
from kibitz.games.carcassonne.drawing_tiles import art, meeple, place_spot, spot
from kibitz.games.carcassonne.meeples import segment_at
from kibitz.games.carcassonne.rules import (
    MEEPLE_AT,
    NO_MEEPLE,
    cursor_fits,
    place_of,
)
from kibitz.games.carcassonne.tiles import FIRST_FIELD, FITS, ROTATIONS, SEGMENTS
from kibitz.games.carcassonne.words import kind_name, place_name

WIDTH, HEIGHT = 1080, 720
MARGIN = 16
SIDE = WIDTH - WIDE - MARGIN  # where the side begins
FRAME = (MARGIN + 28, MARGIN + 16, SIDE - 2 * MARGIN, HEIGHT - 60)  # left, top, right, bottom
LARGEST = 144  # a tile on a small board
POOR = 30  # a tile below this size has no room for details
TINY = 7  # and below this no room for a picture
ROOMY = 90  # and from this on, for figures beside its meeples; the one at the side always has it

CURSOR_PROMPTS = (  # by phase
    "Move the tile to a dashed cell, turn it, and confirm",
    "Set a meeple here?",
    "Where shall the meeple stand?",
)
QUARTERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))  # where a rotation is shown in a cell
_GROWN = "".join(  # from its quarter over the whole cell; lengths are in units of its own drawing
    f"& .q{turn}{how} .thumb{{transform:translate({-54 * x}px,{-54 * y}px) scale(2)}}"
    for turn, (x, y) in enumerate(QUARTERS)
    for how in (":hover", ":focus-visible", ".chosen")
)
STYLE = f"""
{drawing_tiles.STYLE}{drawing_sides.STYLE}
& .thumb{{opacity:.42;pointer-events:none;transition:opacity .15s}}
& .dim{{opacity:.2}}
& .cell:hover .thumb,& .cell:focus-within .thumb,& .choosing .thumb{{opacity:.12}}
& .cell:not(.choosing) [role=button]:hover .thumb,& [role=button]:focus-visible .thumb,
& .choosing .chosen .thumb{{opacity:1}}
{_GROWN}
& .room{{fill:transparent}}
& .choosing [role=button] .legal{{stroke:none}}
& .faint{{opacity:.7}}
& .fits{{fill:none;{paint("quiet", "stroke")};stroke-opacity:.5;stroke-dasharray:4 4}}
& .ghost{{opacity:.72;pointer-events:none}}
& [role=button]:hover .ghost,& [role=button]:focus-visible .ghost{{opacity:1}}
& .spot{{fill:#FFFFFF;fill-opacity:.5}}
& .bound{{fill:none;{paint("line", "stroke")};stroke-width:1.5}}
& .aim{{fill:none;{paint("accent", "stroke")};stroke-width:3.5}}
& .astray{{stroke-dasharray:7 5}}
@media (prefers-reduced-motion:reduce){{& .thumb{{transition:none}}}}
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which cells are drawn, and where."""

    west: int  # the first column
    north: int  # the first row
    columns: int
    rows: int
    size: int  # of a tile
    left: float
    top: float

    def middle(self, x: int, y: int) -> tuple[float, float]:
        """Give where the middle of a cell is drawn."""
        return (
            self.left + (x - self.west + 0.5) * self.size,
            self.top + (y - self.north + 0.5) * self.size,
        )

    @property
    def figure(self) -> float:
        """How tall meeples are: relatively taller where tiles are small."""
        return min(max(0.36 * self.size, 21), 0.56 * self.size)


def _plan(view: View) -> Plan:
    """Make room for the tiles and one cell around them; for a finished game the tiles alone."""
    west, east, north, south = (int(side) - OFFSET for side in view["box"])
    more = 0 if view.over else 1
    columns, rows = east - west + 1 + 2 * more, south - north + 1 + 2 * more
    left, top, right, bottom = FRAME
    size = int(min(LARGEST, (right - left) / columns, (bottom - top) / rows))
    return Plan(
        west - more, north - more, columns, rows, size,
        round((left + right - columns * size) / 2), round((top + bottom - rows * size) / 2),
    )  # fmt: skip


def draw(view: View, last: Move | None = None, opinion: Mapping[int, float] | None = None) -> str:
    """Draw the table, and beside it what the seats have, the viewer's lowest."""
    plan, thoughts = _plan(view), opinion or {}
    actions = view.legal if view.acts else []
    cursor = view.game.settings["control"] == "cursor"
    parts = [_labels(plan), _tiles(view, plan, last)]
    if view["tile"] and (cursor or not actions):
        parts.append(_fitting(view, plan))
    elif view["tile"]:
        parts.append(_targets(view, plan, actions, thoughts))
    parts.append(_meeples(view, plan, last))
    x, y = plan.middle(*_place(view, view["laid"] - 1))
    tall = min(plan.figure, 0.34 * plan.size)  # there may be several on one tile
    parts.append(_ghosts(view, actions, thoughts, x, y, plan.size, tall))
    if cursor and not view.over:
        parts.append(_cursor(view, plan, last))
    parts.append(_prompt(view, actions, thoughts))
    parts.append(_side(view, actions, thoughts, cursor))
    return board(view, WIDTH, HEIGHT, *parts, style=STYLE)


def _side(view: View, actions: list[int], thoughts: Mapping[int, float], cursor: bool) -> str:
    """Draw everything beside the board."""
    half = drawing_sides.TILE / 2
    ghosts = _ghosts(view, actions, thoughts, SIDE + half, MARGIN + 30 + half, 2 * half, 30)
    parts = [
        drawing_sides.tiles(view, SIDE, MARGIN, ghosts),
        drawing_sides.seats(view, SIDE, HEIGHT - 8),
    ]
    top = MARGIN + drawing_sides.HEAD
    room = HEIGHT - 16 - drawing_sides.SEAT * view.game.players - top
    if not view.over:
        columns = drawing_sides.columns(room - (drawing_sides.PAD if cursor else 0))
        parts.append(drawing_sides.kinds(view, SIDE, top, columns))
        used = drawing_sides.kinds_height(columns)
        if cursor:
            pad = SIDE, top + used, room - used
            parts.append(drawing_sides.pad(view, actions, thoughts, *pad))
    return tag("g", *parts)


def _place(view: View, tile: int) -> tuple[int, int]:
    """Give where a tile lies."""
    return int(view["x"][tile]) - OFFSET, int(view["y"][tile]) - OFFSET


# --- what lies there -----------------------------------------------------------------------------


def _labels(plan: Plan) -> str:
    """Number columns and rows from the start tile, as words do; every few where they are small."""
    each = -(-24 // plan.size)
    parts = []
    for x in range(plan.west, plan.west + plan.columns):
        if x % each == 0:
            parts.append(text(plan.middle(x, 0)[0], plan.top - 9, place_name(x, 0), 11, "quiet"))
    for y in range(plan.north, plan.north + plan.rows):
        if y % each == 0:
            at = plan.middle(0, y)[1]
            name = place_name(0, y)
            parts.append(text(plan.left - 7, at, name, 11, "quiet", text_anchor="end"))
    return tag("g", *parts)


def _tiles(view: View, plan: Plan, last: Move | None) -> str:
    """Draw all tiles; the last one comes last, so that its halo lies on its neighbours."""
    parts = []
    newest = view["laid"] - 1
    for tile in range(view["laid"]):
        kind, turn = int(view["kind"][tile]), int(view["turn"][tile])
        place = _place(view, tile)
        x, y = plan.middle(*place)
        if tile == newest and tile and last and not _wandering(view, last):
            parts.append(halo("rect", **box(x, y, plan.size + 14, plan.size + 14)) * 2)
        name = place_name(*place)
        title = tag("title", f"{name}, {kind_name(kind)}")
        picture = art(kind, turn, plan.size >= POOR)
        parts.append(placed(title + picture, x, y, plan.size, data_place=name))
    return tag("g", *parts)


def _wandering(view: View, last: Move) -> bool:
    """Tell whether the last move was a step of a cursor with the tile that is still to be laid."""
    return view["phase"] == LAYING and view["steps"] > 0 and last.seat == view.mover


def _meeples(view: View, plan: Plan, last: Move | None) -> str:
    """Draw the meeples on the board; the one that was just set has a halo."""
    parts = []
    for tile in range(view["laid"]):
        found = int(view["meeple"][tile]) - 1
        if found < 0:
            continue
        seat, segment = divmod(found, SEGMENTS)
        x, y = plan.middle(*_place(view, tile))
        dx, dy = spot(int(view["kind"][tile]), int(view["turn"][tile]), segment)
        x, y = x + dx * plan.size / 100, y + dy * plan.size / 100
        fresh = tile == view["laid"] - 1 and last and not _wandering(view, last)
        if fresh:
            parts.append(halo("circle", cx=x, cy=y, r=plan.figure * 0.8) * 2)
        parts.append(meeple(seat, x, y, plan.figure, segment >= FIRST_FIELD))
    return tag("g", *parts)


# --- what may be done ----------------------------------------------------------------------------


def _fitting(view: View, plan: Plan) -> str:
    """Outline the cells where the drawn tile fits, for those who cannot lay it there."""
    parts = []
    for cell in view["edge"][: view["edges"]]:
        if FITS[view["tile"] - 1, view["grid"][cell] - EDGE]:
            x, y = plan.middle(*place_of(view.cells, int(cell)))
            side = plan.size * 0.92
            parts.append(tag("rect", class_="fits", **box(x, y, side, side, side / 14)))
    return tag("g", *parts)


def _targets(view: View, plan: Plan, actions: list[int], thoughts: Mapping[int, float]) -> str:
    """Draw a button for every cell and rotation in which the drawn tile fits."""
    cells: dict[int, list[int]] = {}
    for action in actions:
        cells.setdefault(action // ROTATIONS, []).append(action)
    parts = []
    for cell, choices in cells.items():
        place = place_of(view.cells, cell)
        x, y = plan.middle(*place)
        if len(choices) == 1:
            inside = [_target(view, choices[0], x, y, plan.size * 0.92, thoughts)]
        else:
            whole = box(x, y, plan.size, plan.size)  # a click between the rotations counts too
            inside = [tag("rect", class_="room", **whole)]
            for action in choices:
                right, down = QUARTERS[action % ROTATIONS]
                px, py = x + right * plan.size / 4, y + down * plan.size / 4
                name = f"q{action % ROTATIONS}"
                inside.append(_target(view, action, px, py, plan.size * 0.46, thoughts, name))
        parts.append(tag("g", *inside, class_="cell", data_place=place_name(*place)))
    return tag("g", *parts)


def _target(
    view: View, action: int, x: float, y: float, side: float, thoughts: Mapping[int, float],
    class_: str | None = None,
) -> str:  # fmt: skip
    """Draw a button that lays the drawn tile: the tile, faintly, as it would lie there."""
    where = box(x, y, side, side, side / 14)
    inside, look = [], "thumb"
    if action in thoughts:
        inside.append(shade(thoughts[action], "rect", **where))
        look = "thumb dim"
    if side >= TINY:
        tile = art(view["tile"] - 1, action % ROTATIONS, False)
        inside.append(placed(tag("g", tile, class_=look), x, y, side))
    inside.append(legal("rect", **where))
    if action in thoughts and side >= POOR:
        inside.append(slip(thoughts[action], x, y + side / 2 - 10, 13))
    elif action in thoughts and side >= 2 * TINY:
        inside.append(figure(thoughts[action], x, y, min(11, side / 2.4)))
    return button(view, action, *inside, class_=class_)


def _ghosts(
    view: View, actions: list[int], thoughts: Mapping[int, float], x: float, y: float,
    size: float, tall: float,
) -> str:  # fmt: skip
    """Draw a button for every place on the tile just laid where a meeple may be set."""
    if view["phase"] != DECIDING or view.game.settings["control"] == "cursor":
        return ""
    tile = view["laid"] - 1
    kind, turn = int(view["kind"][tile]), int(view["turn"][tile])
    parts = []
    for action in actions:
        if action == NO_MEEPLE:
            continue
        segment = int(segment_at(view.cells, tile, action - MEEPLE_AT))
        dx, dy = spot(kind, turn, segment)
        px, py = x + dx * size / 100, y + dy * size / 100
        where = {"cx": px, "cy": py, "r": tall * 0.6}
        inside = tag("circle", class_="spot", **where)
        if action in thoughts:
            inside += shade(thoughts[action], "circle", **where)
        inside += meeple(view.mover, px, py, tall, segment >= FIRST_FIELD, "ghost")
        inside += legal("circle", **where)
        if action in thoughts and size >= ROOMY:
            inside += slip(thoughts[action], px, py + tall * 0.6, min(12, tall / 2.4))
        parts.append(button(view, action, inside))
    return tag("g", *parts)


def _cursor(view: View, plan: Plan, last: Move | None) -> str:
    """Draw how far a cursor may go, and the tile or the meeple that it moves."""
    edge = {"width": plan.columns * plan.size, "height": plan.rows * plan.size, "rx": 6}
    parts = [tag("rect", class_="bound", x=plan.left, y=plan.top, **edge)]
    across, down, turn, aim = (int(cell) for cell in view["cursor"])
    if view["phase"] == LAYING:
        x, y = plan.middle(across - OFFSET, down - OFFSET)
        if last and _wandering(view, last):
            parts.append(halo("rect", **box(x, y, plan.size + 16, plan.size + 14)) * 2)
        picture = art(view["tile"] - 1, turn, plan.size >= POOR)
        astray = "" if cursor_fits(view.cells) else " astray"
        parts.append(placed(picture, x, y, plan.size, class_="faint"))
        parts.append(tag("rect", class_=f"aim{astray}", **box(x, y, plan.size, plan.size, 3)))
    else:
        tile = view["laid"] - 1
        x, y = plan.middle(*_place(view, tile))
        parts.append(tag("rect", class_="aim", **box(x, y, plan.size, plan.size, 3)))
        if view["phase"] == POINTING and aim:
            parts.append(_aimed(view, plan, aim - 1, x, y))
    return tag("g", *parts)


def _aimed(view: View, plan: Plan, place: int, x: float, y: float) -> str:
    """Draw the meeple where it points, on what is there if there is something."""
    tile = view["laid"] - 1
    segment = int(segment_at(view.cells, tile, place))
    dx, dy = place_spot(place)
    if segment >= 0:
        dx, dy = spot(int(view["kind"][tile]), int(view["turn"][tile]), segment)
    x, y = x + dx * plan.size / 100, y + dy * plan.size / 100
    return meeple(view.mover, x, y, plan.figure, segment >= FIRST_FIELD, "ghost")


def _prompt(view: View, actions: list[int], thoughts: Mapping[int, float]) -> str:
    """Say below the board what is to be done, and offer to set no meeple."""
    middle, y = (FRAME[0] + FRAME[2]) / 2, HEIGHT - 30
    if view.over:
        return text(middle, y, "All tiles are drawn, and everything has been scored.", 14, "quiet")
    phase = view["phase"]
    if not actions:
        doing = "lays a tile" if phase == LAYING else "may set a meeple"
        words = "Your turn" if view.is_you(view.mover) else f"{view.call(view.mover)} {doing}"
        return text(middle, y, words, 14, "quiet")
    if view.game.settings["control"] == "cursor":
        return text(middle, y, CURSOR_PROMPTS[phase])
    if phase == LAYING:
        return text(middle, y, "Lay your tile in one of the dashed cells")
    where = box(middle + 96, y, 132, 34, 17)
    inside = ground(thoughts.get(NO_MEEPLE), where)
    inside += text(middle + 96, y, "no meeple", 15, "ink strong")
    if NO_MEEPLE in thoughts:
        inside += figure(thoughts[NO_MEEPLE], middle + 182, y)
    words = text(middle + 18, y, "Set a meeple on the tile, or", text_anchor="end")
    return tag("g", words, button(view, NO_MEEPLE, inside))
