"""The cursor: its buttons, where it may go, and what does nothing."""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.games.carcassonne.board import STEP_X, STEP_Y, cell_at
from kibitz.games.carcassonne.cells import (
    CENTRE,
    CURSOR_AIM,
    CURSOR_TURN,
    CURSOR_X,
    CURSOR_Y,
    DECIDING,
    EASTMOST,
    EDGE,
    FIRST_HALF,
    GRID,
    LAYING,
    NORTHMOST,
    OFFSET,
    PHASE,
    SOUTHMOST,
    TILE,
    WESTMOST,
)
from kibitz.games.carcassonne.meeples import is_free
from kibitz.games.carcassonne.tiles import EAST, FITS, NORTH, SIDES, SOUTH, TURNS, WEST

# Actions with a cursor.
ROTATE, CONFIRM = 4, 5
TAKE, END = 0, 1
POINT_AT_HALF = 6
# Sides in the order of the actions of a cursor, with the centre last.
POINTED = np.array([NORTH, SOUTH, WEST, EAST, CENTRE], np.int64)


@compiled()
def fits_at(state, cell, turn):
    """Tell whether the drawn tile can be laid in a cell, turned so."""
    kind = state[TILE] - 1
    demand = state[GRID + cell]
    return demand >= EDGE and FITS[kind, demand - EDGE] >> (turn % TURNS[kind]) & 1 == 1


@compiled()
def crosses_boundary(state, side):
    """Tell whether a step would leave the cells within one of the outermost tiles."""
    x, y = state[CURSOR_X] + STEP_X[side], state[CURSOR_Y] + STEP_Y[side]
    return (
        x < state[WESTMOST] - 1
        or x > state[EASTMOST] + 1
        or y < state[NORTHMOST] - 1
        or y > state[SOUTHMOST] + 1
    )


@compiled()
def cursor_fits(state):
    """Tell whether the drawn tile can be laid at the cursor."""
    cell = cell_at(int(state[CURSOR_X]) - OFFSET, int(state[CURSOR_Y]) - OFFSET)
    return fits_at(state, cell, int(state[CURSOR_TURN]))


@compiled()
def place_at(action):
    """Give the place for a meeple that an action points at."""
    return POINTED[action] if action < CONFIRM else FIRST_HALF + action - POINT_AT_HALF


@compiled()
def is_idle(state, action):
    """Tell whether an action does nothing, is refused, or points where no meeple can stand."""
    if state[PHASE] == LAYING:
        if action < SIDES:
            return crosses_boundary(state, POINTED[action])
        if action == ROTATE:
            return TURNS[state[TILE] - 1] == 1
        return not cursor_fits(state)
    if state[PHASE] == DECIDING:
        return False
    aim = int(state[CURSOR_AIM]) - 1
    if action == CONFIRM:
        return aim < 0 or not is_free(state, aim)
    place = place_at(action)
    return place == aim or not is_free(state, place)
