"""Where everything lies in a state of Carcassonne.

The plane is wound up: the cell of the place (x, y), x to the east and y to the south of the start
tile, is (x + WINDING * y) modulo CELLS. Tiles hang together, so no two places that matter at the
same time are more than 75 steps apart, and the two numbers are such that places with the same
cell are at least 77 steps apart. So every shape that the tiles allow has room in 2,965 cells
instead of 145 x 145, and a step to a neighbour is an addition.

grid       of each cell: 0, or 1 + the tile there, or EDGE + what an empty cell beside a tile
           demands (see tiles.py)
edge       the empty cells beside tiles, ascending; `edges` counts them
kind, turn of each tile in the order in which they were laid: its kind, its rotation
x, y       of each tile: its place, plus OFFSET
meeple     of each tile: 0, or 1 + SEGMENTS * seat + the segment where a meeple stands
part       of each tile and segment: 1 + its feature as it was when laid; `root_of` gives what has
           become of it
feature    of each feature: road, city, cloister or field. Features that join are told by
root       the one that they have become part of; itself, if none
open       how many sides (of a cloister: neighbours) are still missing
size       its tiles, each counted once; of a field, its segments
shields    of a city
meeples    of all seats on it, BITS bits each
deck       kinds in the order in which they are drawn, the start tile left out; what is to come is
           hidden
drawn      how many have been; `left` of each kind how many have not, which everybody knows
tile       1 + the kind to be laid now, or 0
laid       how many tiles lie; `features` counts the features so far
aside      how many could not be laid
bank       points of each seat so far
supply     meeples of each seat that stand nowhere
phase      LAYING, or DECIDING on a meeple; with a cursor also POINTING where it goes
box        the outermost tiles: west, east, north, south, plus OFFSET
cursor     its x and y plus OFFSET, its rotation, and 1 + where the meeple points, or 0; once a
           tile is laid, where that lies, with either control
steps      actions in this turn, with a cursor
"""

from __future__ import annotations

from kibitz.core.game import Cells, Layout
from kibitz.core.options import Choice, Flag, Whole
from kibitz.games.carcassonne.tiles import (
    ALL_TILES,
    DEMANDS,
    FIELD,
    FIELDS,
    KINDS,
    LANDS,
    PUBLISHED,
    ROTATIONS,
    SEGMENTS,
)

MOST_SEATS = 5
MEEPLES = 7
BITS = 3  # that count the meeples of a seat

_REACH = (ALL_TILES + 4) // 2  # half the distance that cells must keep
WINDING = 2 * _REACH + 1
CELLS = 2 * _REACH * (_REACH + 1) + 1
OFFSET = ALL_TILES + 1
EDGE = 100
MOST_EDGE = 2 * ALL_TILES + 2
MOST_FEATURES = int(((LANDS + FIELDS) * PUBLISHED).sum())
MOST_PLIES = 32_000  # what a cell can count

LAYING, DECIDING, POINTING = range(3)
PLACES = 13  # of a meeple on a tile: four sides, the centre, then the eight halves of sides
CENTRE, FIRST_HALF = 4, 5
# Actions with direct control.
MEEPLE_AT = ROTATIONS * CELLS
NO_MEEPLE = MEEPLE_AT + PLACES

CURSOR = 1  # among the values of the option `control`
ENCODINGS = ("vector", "tiles", "packed", "geography", "features", "planes")

OPTIONS = (
    Choice(
        name="control", default="direct", names=("direct", "cursor"),
        help="choose a place at once, or move a cursor there step by step",
    ),
    Flag(name="farmers", default=False, help="meeples may also stand in fields"),
    Whole(
        name="tiles", default=ALL_TILES, help="tiles in the set, mixed as in the whole one",
        low=4, high=ALL_TILES,
    ),
    Choice(
        name="encoding", default="features", names=ENCODINGS,
        help="how learners see the board",
    ),
    Whole(
        name="steps", default=100, help="cursor: actions after which a turn ends by itself",
        low=5, high=MOST_PLIES // ALL_TILES,
    ),
    Flag(name="exact", default=False, help="cursor: nothing is legal that would do nothing"),
    Flag(
        name="prospects", default=True,
        help="learners also see what would come of each option",
    ),
)  # fmt: skip

LAYOUT = Layout(
    OPTIONS,
    {
        "grid": Cells(CELLS, 0, EDGE + DEMANDS - 1),
        "edge": Cells(MOST_EDGE, 0, CELLS - 1),
        "edges": Cells(1, 0, MOST_EDGE),
        "kind": Cells(ALL_TILES, 0, KINDS - 1),
        "turn": Cells(ALL_TILES, 0, ROTATIONS - 1),
        "x": Cells(ALL_TILES, 0, 2 * OFFSET),
        "y": Cells(ALL_TILES, 0, 2 * OFFSET),
        "meeple": Cells(ALL_TILES, 0, MOST_SEATS * SEGMENTS),
        "part": Cells(ALL_TILES * SEGMENTS, 0, MOST_FEATURES),
        "feature": Cells(MOST_FEATURES, 0, FIELD),
        "root": Cells(MOST_FEATURES, 0, MOST_FEATURES - 1),
        "open": Cells(MOST_FEATURES, 0, SEGMENTS * ALL_TILES),
        "size": Cells(MOST_FEATURES, 0, SEGMENTS * ALL_TILES),
        "shields": Cells(MOST_FEATURES, 0, ALL_TILES),
        "meeples": Cells(MOST_FEATURES, 0, (1 << BITS * MOST_SEATS) - 1),
        "deck": Cells(ALL_TILES - 1, 0, KINDS - 1),
        "drawn": Cells(1, 0, ALL_TILES - 1),
        "left": Cells(KINDS, 0, int(PUBLISHED.max())),
        "tile": Cells(1, 0, KINDS),
        "laid": Cells(1, 0, ALL_TILES),
        "features": Cells(1, 0, MOST_FEATURES),
        "aside": Cells(1, 0, ALL_TILES),
        "bank": Cells(MOST_SEATS, 0, 32767),
        "supply": Cells(MOST_SEATS, 0, MEEPLES),
        "phase": Cells(1, 0, POINTING),
        "box": Cells(4, 0, 2 * OFFSET),
        "cursor": Cells(4, 0, 2 * OFFSET),
        "steps": Cells(1, 0, MOST_PLIES),
    },
)
CONTROL = LAYOUT.option("control")
FARMERS = LAYOUT.option("farmers")
IN_SET = LAYOUT.option("tiles")
ENCODING = LAYOUT.option("encoding")
MOST_STEPS = LAYOUT.option("steps")
EXACT = LAYOUT.option("exact")
PROSPECTS = LAYOUT.option("prospects")
(
    GRID, EDGE_LIST, EDGES, KIND, TURN, X, Y, MEEPLE, PART, FEATURE_KIND, ROOT, OPEN, SIZE,
    SHIELDS, MEEPLE_COUNTS, DECK, DRAWN, LEFT, TILE, LAID, FEATURES_USED, ASIDE, BANK, SUPPLY,
    PHASE, BOX, CURSOR_CELLS, STEPS,
) = (LAYOUT.start(name) for name in LAYOUT.own)  # fmt: skip
CURSOR_X, CURSOR_Y, CURSOR_TURN, CURSOR_AIM = (CURSOR_CELLS + place for place in range(4))
WESTMOST, EASTMOST, NORTHMOST, SOUTHMOST = (BOX + place for place in range(4))
