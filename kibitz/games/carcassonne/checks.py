"""What must be true of every table of Carcassonne."""

from __future__ import annotations

import numpy as np

from kibitz.core.game import PLIES
from kibitz.core.table import Table
from kibitz.games.carcassonne.board import STEP, cell_at, moved, root_of
from kibitz.games.carcassonne.cells import (
    ASIDE,
    BITS,
    CELLS,
    DECK,
    DRAWN,
    EDGE,
    EDGE_LIST,
    EDGES,
    FEATURES_USED,
    GRID,
    IN_SET,
    KIND,
    LAID,
    LEFT,
    MEEPLE,
    MEEPLE_COUNTS,
    MEEPLES,
    OFFSET,
    OPEN,
    PART,
    ROOT,
    SUPPLY,
    TILE,
    TURN,
    X,
    Y,
)
from kibitz.games.carcassonne.stack import begin
from kibitz.games.carcassonne.tiles import (
    ALL_TILES,
    COUNTS,
    KINDS,
    SEGMENTS,
    SHOWS,
    SIDES,
    START,
)


def flaw(table: Table) -> str | None:
    """Say what is wrong with a table as it stands, or None."""
    state = table.cells
    found = _tiles_flaw(state)
    if found is None and state[PLIES] == 0:
        found = _dealt_flaw(table)
    return found or _board_flaw(state) or _meeples_flaw(state, table.game.players)


def _dealt_flaw(table: Table) -> str | None:
    """Say whether a table without a move differs from what its deck makes of it."""
    deck = table.game.cell("deck")
    dealt = table.game.blank()
    dealt[deck] = table.cells[deck]
    begin(dealt)
    return None if np.array_equal(dealt, table.cells) else "it was not dealt from its deck"


def _tiles_flaw(state: np.ndarray) -> str | None:
    """Say which tiles there are too many or too few of."""
    tiles, drawn, laid = int(state[IN_SET]), int(state[DRAWN]), int(state[LAID])
    deck = state[DECK : DECK + tiles - 1]
    if state[DECK + tiles - 1 : DECK + ALL_TILES - 1].any():
        return "the deck has more tiles than the set"
    counts = np.bincount(deck, minlength=KINDS)
    counts[START] += 1
    if (counts != COUNTS[tiles]).any():
        return "the deck has other tiles than the set"
    left = np.bincount(deck[drawn:], minlength=KINDS)
    if (left != state[LEFT : LEFT + KINDS]).any():
        return "the tiles that are left are miscounted"
    if 1 + drawn != laid + state[ASIDE] + (state[TILE] > 0):
        return "a tile that was drawn is nowhere"
    on_board = np.bincount(state[KIND : KIND + laid], minlength=KINDS)
    if (on_board + left > COUNTS[tiles]).any():
        return "a tile lies there twice"
    return None


def _board_flaw(state: np.ndarray) -> str | None:
    """Say where tiles do not match, or the edge is not what lies beside them."""
    laid = int(state[LAID])
    cells = [
        cell_at(int(state[X + tile]) - OFFSET, int(state[Y + tile]) - OFFSET)
        for tile in range(laid)
    ]
    grid = state[GRID : GRID + CELLS]
    if [int(grid[cell]) for cell in cells] != list(range(1, laid + 1)):
        return "a tile does not lie where it should"
    demands: dict[int, int] = {}
    for tile, cell in enumerate(cells):
        for side in range(SIDES):
            shown = int(SHOWS[state[KIND + tile], state[TURN + tile], side])
            beside = moved(cell, int(STEP[side]))
            opposite = (side + 2) % SIDES
            if 0 < grid[beside] < EDGE:
                other = int(grid[beside]) - 1
                if SHOWS[state[KIND + other], state[TURN + other], opposite] != shown:
                    return f"tiles {tile} and {other} do not match"
            else:
                demands[beside] = demands.get(beside, 0) + (shown << (2 * opposite))
    edge = state[EDGE_LIST : EDGE_LIST + state[EDGES]].tolist()
    if edge != sorted(demands) or any(grid[cell] != EDGE + demands[cell] for cell in edge):
        return "the edge is not what lies beside the tiles"
    if np.count_nonzero(grid) != laid + len(edge):
        return "there is something on the board that is no tile"
    return None


def _meeples_flaw(state: np.ndarray, seats: int) -> str | None:
    """Say whose meeples are lost, or stand where they do not."""
    standing = np.zeros(seats, np.int64)
    counted: dict[int, int] = {}
    for tile in np.flatnonzero(state[MEEPLE : MEEPLE + state[LAID]]):
        seat, segment = divmod(int(state[MEEPLE + tile]) - 1, SEGMENTS)
        standing[seat] += 1
        feature = root_of(state, int(state[PART + tile * SEGMENTS + segment]) - 1)
        counted[feature] = counted.get(feature, 0) + (1 << (BITS * seat))
    for seat in range(seats):
        if standing[seat] + state[SUPPLY + seat] != MEEPLES:
            return f"seat {seat} has {standing[seat] + state[SUPPLY + seat]} meeples"
    for feature in range(state[FEATURES_USED]):
        if state[ROOT + feature] == feature:
            if state[MEEPLE_COUNTS + feature] != counted.get(feature, 0):
                return f"the meeples of feature {feature} are miscounted"
            if state[OPEN + feature] < 0:
                return f"feature {feature} has fewer than no open sides"
    return None
