"""What a table of Mexican train holds, and which lines are open.

tiles     number b (b + 1) / 2 + a is tile (a, b), a <= b: the first ones make up every smaller set
state     holder      of each tile: a seat, PLAYED, BONEYARD, or ABSENT from this set or hand
          line        of each tile that is played: a seat's, or SHARED; ENGINE for the engine
          place       of each tile that is played: how many lie before it on its line
          end         of each line: the number that is open there
          length      of each line: its tiles
          penny       of each seat: 1 where it is up
          tiles       of each seat: how many it holds
          may         of each seat and number: at most how many of its tiles can have that number,
                      as everybody knows from passing; at most MANY
          pips        of each seat, from the hands before
          before      of each seat: pips left in the hand before this one
          hand, left  this hand's number, and how many tiles the boneyard has
          double      0, or 1 + the line with an open double that must be covered
          again       1 where the seat to move has just played a double, 2 where it has drawn
          future      hidden from all: what later deals and draws are made of
"""

from __future__ import annotations

from kibitz.core.compiled import compiled
from kibitz.core.game import SEATS, Cells, Layout
from kibitz.core.options import Flag, Whole
from kibitz.games.mexican_train.tiles import MOST_NUMBER, MOST_TILES, NUMBERS

MOST_SEATS = 12
LINES = MOST_SEATS + 1
SHARED = MOST_SEATS  # the line of everybody
ENGINE = LINES  # the "line" of the engine itself
MANY = 99  # more than any hand can have of a number
MOST_PLIES = 32_000  # what a cell can count
MIXED = 8  # circles for each hidden tile

BONEYARD, PLAYED, ABSENT = 20, 21, 22  # holders that are no seats; the last two are for all to see
PASS = LINES * MOST_TILES
DRAW = PASS + 1
DOUBLE, DREW = 1, 2  # in `again`
SEEDS = 4  # cells of 15 bits
BITS = 15

OPTIONS = (
    Whole(
        name="highest", default=9, help="the highest number of pips on half a tile",
        low=6, high=MOST_NUMBER,
    ),
    Whole(
        name="hands", default=0, help="hands to play, at most; none for one from every double",
        low=1, high=NUMBERS, none=0,
    ),
    Whole(
        name="boneyard", default=0, help="tiles dealt to each, while they last; none for all",
        low=1, high=20, none=0,
    ),
    Flag(name="cover", default=False, help="an open double must be answered first"),
    Flag(
        name="lines", default=True,
        help="learners see of each option which lines it leaves",
    ),
)  # fmt: skip

LAYOUT = Layout(
    OPTIONS,
    {
        "holder": Cells(MOST_TILES, 0, ABSENT),
        "line": Cells(MOST_TILES, 0, ENGINE),
        "place": Cells(MOST_TILES, 0, MOST_TILES),
        "end": Cells(LINES, 0, MOST_NUMBER),
        "length": Cells(LINES, 0, MOST_TILES),
        "penny": Cells(MOST_SEATS, 0, 1),
        "tiles": Cells(MOST_SEATS, 0, MOST_TILES),
        "may": Cells(MOST_SEATS * NUMBERS, 0, MANY),
        "pips": Cells(MOST_SEATS, 0, 32767),
        "before": Cells(MOST_SEATS, 0, 32767),
        "hand": Cells(1, 0, NUMBERS),
        "left": Cells(1, 0, MOST_TILES),
        "double": Cells(1, 0, LINES),
        "again": Cells(1, 0, DREW),
        "future": Cells(SEEDS, 0, (1 << BITS) - 1),
    },
)
HIGHEST = LAYOUT.option("highest")
HANDS_TO_PLAY = LAYOUT.option("hands")
DEALT = LAYOUT.option("boneyard")
COVER = LAYOUT.option("cover")
SHOWS_LINES = LAYOUT.option("lines")
(
    HOLDER,
    LINE,
    PLACE,
    END,
    LENGTH,
    PENNY,
    TILES,
    MAY,
    PIPS,
    BEFORE,
    HAND,
    LEFT,
    OPEN_DOUBLE,
    AGAIN,
    FUTURE,
) = (LAYOUT.start(name) for name in LAYOUT.own)


@compiled()
def tiles_in_set(state):
    """Count the tiles of the set."""
    return (int(state[HIGHEST]) + 1) * (int(state[HIGHEST]) + 2) // 2


@compiled()
def hands_to_play(state):
    """Count the hands of the game."""
    doubles = int(state[HIGHEST]) + 1
    return doubles if state[HANDS_TO_PLAY] == 0 else min(doubles, int(state[HANDS_TO_PLAY]))


@compiled()
def is_shared_open(state):
    """Tell whether every seat's line has been started."""
    for seat in range(state[SEATS]):
        if state[LENGTH + seat] == 0:
            return False
    return True


@compiled()
def is_open(state, seat, line, shared):
    """Tell whether a seat may play on a line."""
    if state[OPEN_DOUBLE] > 0:
        return line == state[OPEN_DOUBLE] - 1
    if line == SHARED:
        return shared
    return line == seat or (line < state[SEATS] and state[PENNY + line] == 1)
