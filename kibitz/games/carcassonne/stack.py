"""The tiles to come: where they fit, and drawing them."""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import OVER, SEAT, SEATS
from kibitz.games.carcassonne.board import lay_tile, pending
from kibitz.games.carcassonne.cells import (
    ASIDE,
    BANK,
    BOX,
    CURSOR_AIM,
    CURSOR_TURN,
    CURSOR_X,
    CURSOR_Y,
    DECK,
    DRAWN,
    EDGE,
    EDGE_LIST,
    EDGES,
    GRID,
    IN_SET,
    LAYING,
    LEFT,
    MEEPLES,
    MOST_SEATS,
    OFFSET,
    PHASE,
    STEPS,
    SUPPLY,
    TILE,
)
from kibitz.games.carcassonne.tiles import FITS, ROTATIONS, SIDES, START


@compiled()
def fits_somewhere(state, kind):
    """Tell whether a tile of a kind can be laid."""
    for at in range(EDGE_LIST, EDGE_LIST + state[EDGES]):
        if FITS[kind, state[GRID + state[at]] - EDGE]:
            return True
    return False


@compiled()
def list_placements(state, placements):
    """Write where and how the drawn tile can be laid, 4 * cell + rotation; give how many."""
    kind = state[TILE] - 1
    n = 0
    for at in range(EDGE_LIST, EDGE_LIST + state[EDGES]):
        cell = int(state[at])
        turns = FITS[kind, state[GRID + cell] - EDGE]
        turn = 0
        while turns:
            if turns & 1:
                placements[n] = cell * ROTATIONS + turn
                n += 1
            turns >>= 1
            turn += 1
    return n


@compiled()
def draw_tile(state):
    """Draw the next tile that can be laid; if there is none the game is over."""
    state[PHASE] = LAYING
    state[CURSOR_X] = state[CURSOR_Y] = OFFSET
    state[CURSOR_TURN] = state[CURSOR_AIM] = 0
    state[STEPS] = 0
    state[TILE] = 0
    while state[DRAWN] < state[IN_SET] - 1:
        kind = state[DECK + state[DRAWN]]
        state[DRAWN] += 1
        state[LEFT + kind] -= 1
        if fits_somewhere(state, kind):
            state[TILE] = kind + 1
            return
        state[ASIDE] += 1
    points = np.zeros(MOST_SEATS)
    pending(state, points)
    for seat in range(state[SEATS]):
        state[BANK + seat] += int(points[seat])
    state[SEAT] = OVER


@compiled()
def begin(state):
    """Lay the start tile and draw the first, when the deck is mixed and all else is blank."""
    for place in range(state[IN_SET] - 1):
        state[LEFT + state[DECK + place]] += 1
    for side in range(SIDES):
        state[BOX + side] = OFFSET
    for seat in range(state[SEATS]):
        state[SUPPLY + seat] = MEEPLES
    lay_tile(state, 0, 0, START, 0)
    draw_tile(state)
