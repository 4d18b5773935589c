"""Walking with a cursor to where a tile and a meeple are to go."""

from __future__ import annotations

from kibitz.core.compiled import compiled
from kibitz.games.carcassonne.cells import (
    CENTRE,
    CURSOR_AIM,
    CURSOR_TURN,
    CURSOR_X,
    CURSOR_Y,
    DECIDING,
    FIRST_HALF,
    LAYING,
    OFFSET,
    PHASE,
    PLACES,
    TILE,
)
from kibitz.games.carcassonne.rules import (
    CONFIRM,
    END,
    POINT_AT_HALF,
    POINTED,
    ROTATE,
    TAKE,
    place_of,
)
from kibitz.games.carcassonne.tiles import EAST, NORTH, ROTATIONS, SOUTH, TURNS, WEST


@compiled()
def action_to(place):
    """Give the action of a cursor that goes to a side, or points at a place."""
    if place >= FIRST_HALF:
        return POINT_AT_HALF + place - FIRST_HALF
    for action in range(CENTRE + 1):
        if POINTED[action] == place:
            return action
    return CONFIRM


@compiled()
def step_towards(view, placement, meeple):
    """Give the next action with a cursor, so that the tile is laid as by a placement of direct
    control, and the meeple is set at a place; PLACES stands for none.
    """
    if view[PHASE] == LAYING:
        cell, turn = divmod(placement, ROTATIONS)
        x, y = place_of(view, cell)
        across, down = x + OFFSET - view[CURSOR_X], y + OFFSET - view[CURSOR_Y]
        if across != 0:
            return action_to(EAST if across > 0 else WEST)
        if down != 0:
            return action_to(SOUTH if down > 0 else NORTH)
        if view[CURSOR_TURN] % TURNS[view[TILE] - 1] != turn:
            return ROTATE
        return CONFIRM
    if view[PHASE] == DECIDING:
        return END if meeple == PLACES else TAKE
    return CONFIRM if view[CURSOR_AIM] == 1 + meeple else action_to(meeple)
