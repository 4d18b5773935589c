"""Carcassonne: lay tiles that fit, and set meeples on what will score.

The base game: 72 tiles of 24 kinds, two to five seats, seven meeples each. A turn: the tile that
was drawn is laid beside others so that all sides match; then a meeple may be set on one of its
features that nobody occupies; then finished features score. A tile that fits nowhere is set aside,
and another drawn. A road scores 1 a tile; a city 2 a tile and 2 a shield, unfinished 1 and 1; a
cloister 1 for itself and each of its eight neighbours. Whoever has most meeples there scores,
several in full if they have equally many, and the meeples return. When all tiles are drawn,
unfinished features score too, and fields, where farmers play: 3 for each finished city they touch.

control    direct: choose a cell and a rotation, then a place for a meeple or none.
           cursor: the tile is moved step by step from the start tile, turned, and confirmed; then
           a meeple is taken or the turn ended; then it points somewhere, and is confirmed, or goes
           back where it cannot stand. Unless `exact`, what does nothing is legal too: to step over
           the boundary, one cell beyond the outermost tiles, or to confirm where nothing fits.
           After so many `steps` the tile is laid where it is nearest, and the turn is over.

state      see cells.py
action     direct: 4 * cell + rotation for a tile; MEEPLE_AT + place, or NO_MEEPLE
           cursor: by phase. Laying: north, south, west, east, turn, confirm. Deciding: take a
           meeple, end the turn. Pointing: north, south, west, east, centre, confirm, then the
           eight halves of sides where farmers play.
points     so far; at the end, all of them

v1  first release
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.chance import shuffle
from kibitz.core.compiled import DEAL, DESCRIBE, LEGAL, LOOK, PLAY, REDEAL, SCORE, Rules, compiled
from kibitz.core.game import HIDDEN, OVER, PLIES, SEAT, SEATS, VIEWER, Game, copy_cells
from kibitz.games.carcassonne.board import (
    STEP_X,
    STEP_Y,
    lay_tile,
    pay_finished,
    place_of,
)
from kibitz.games.carcassonne.buttons import BUTTON_COLUMNS, describe_buttons
from kibitz.games.carcassonne.cells import (
    BANK,
    CONTROL,
    CURSOR,
    CURSOR_AIM,
    CURSOR_TURN,
    CURSOR_X,
    CURSOR_Y,
    DECIDING,
    DECK,
    DRAWN,
    EDGE_LIST,
    EDGES,
    EXACT,
    FARMERS,
    FIRST_HALF,
    IN_SET,
    LAID,
    LAYING,
    LAYOUT,
    LEFT,
    MEEPLE_AT,
    MOST_SEATS,
    MOST_STEPS,
    NO_MEEPLE,
    OFFSET,
    OPTIONS,
    PHASE,
    PLACES,
    POINTING,
    PROSPECTS,
    STEPS,
    SUPPLY,
    TILE,
)
from kibitz.games.carcassonne.checks import flaw
from kibitz.games.carcassonne.cursor import (
    CONFIRM,
    END,
    POINT_AT_HALF,
    POINTED,
    ROTATE,
    TAKE,
    crosses_boundary,
    cursor_fits,
    fits_at,
    is_idle,
    place_at,
)
from kibitz.games.carcassonne.encodings import feature_scale, features, observe
from kibitz.games.carcassonne.meeples import free_places, is_free, set_meeple
from kibitz.games.carcassonne.prospects import ALL, PLAIN, describe_options, planes
from kibitz.games.carcassonne.stack import begin, draw_tile, list_placements
from kibitz.games.carcassonne.tiles import (
    COUNTS,
    KINDS,
    ROTATIONS,
    SIDES,
    START,
    TURNS,
)

# Four roads; two cities and a shield; a cloister; eight meetings of a field and a city. Far from
# what can be scored, but nothing can exceed it.
MOST_OF_A_TILE = 4 + 6 + 9 + 24

# --- dealing -------------------------------------------------------------------------------------


@compiled(DEAL)
def deal(state, rng):
    """Lay the start tile, mix the others, and draw the first."""
    tiles = int(state[IN_SET])
    deck = np.empty(tiles - 1, np.int64)
    at = 0
    for kind in range(KINDS):
        for _ in range(COUNTS[tiles, kind] - (kind == START)):
            deck[at] = kind
            at += 1
    shuffle(rng, deck)
    for place in range(len(deck)):
        state[DECK + place] = deck[place]
    begin(state)


# --- turns ---------------------------------------------------------------------------------------


@compiled()
def end_turn(state):
    """Pay for what is finished, and let the next seat draw."""
    pay_finished(state, int(state[LAID]) - 1)
    state[SEAT] = (state[SEAT] + 1) % state[SEATS]
    draw_tile(state)


@compiled()
def lay_drawn(state, x, y, turn):
    """Lay the tile that was drawn, and go on to meeples if there can be one."""
    kind = int(state[TILE]) - 1
    lay_tile(state, x, y, kind, turn % TURNS[kind])
    state[CURSOR_X], state[CURSOR_Y] = x + OFFSET, y + OFFSET  # so that learners see which one
    state[CURSOR_TURN] = turn % TURNS[kind]
    state[TILE] = 0
    state[PHASE] = DECIDING
    if state[SUPPLY + state[SEAT]] == 0:
        end_turn(state)
    elif state[CONTROL] != CURSOR or state[EXACT]:
        places = np.empty(PLACES, np.int64)
        if free_places(state, places) == 0:
            end_turn(state)


@compiled()
def lay_nearest(state):
    """Lay the drawn tile where the fewest steps and turns would bring it."""
    best_distance = 1 << 30
    best_x = best_y = best_turn = 0
    for at in range(EDGE_LIST, EDGE_LIST + state[EDGES]):
        x, y = place_of(state, int(state[at]))
        for more in range(ROTATIONS):
            turn = (state[CURSOR_TURN] + more) % ROTATIONS
            if not fits_at(state, int(state[at]), turn):
                continue
            distance = abs(x + OFFSET - state[CURSOR_X]) + abs(y + OFFSET - state[CURSOR_Y]) + more
            if distance < best_distance:
                best_distance = distance
                best_x, best_y, best_turn = x, y, turn
    lay_drawn(state, best_x, best_y, best_turn)


@compiled()
def play_cursor(state, action):
    """Apply an action of a cursor."""
    turn = state[DRAWN]
    state[STEPS] += 1
    if state[PHASE] == LAYING:
        if action < SIDES:
            side = POINTED[action]
            if not crosses_boundary(state, side):
                state[CURSOR_X] += STEP_X[side]
                state[CURSOR_Y] += STEP_Y[side]
        elif action == ROTATE:
            state[CURSOR_TURN] = (state[CURSOR_TURN] + 1) % ROTATIONS
        elif cursor_fits(state):
            lay_drawn(
                state, int(state[CURSOR_X]) - OFFSET, int(state[CURSOR_Y]) - OFFSET,
                int(state[CURSOR_TURN]),
            )  # fmt: skip
    elif state[PHASE] == DECIDING:
        if action == TAKE:
            state[PHASE] = POINTING
        else:
            end_turn(state)
    elif action == CONFIRM:
        aim = int(state[CURSOR_AIM]) - 1
        if aim >= 0 and is_free(state, aim):
            set_meeple(state, aim)
            end_turn(state)
        else:
            state[PHASE] = DECIDING
            state[CURSOR_AIM] = 0
    else:
        state[CURSOR_AIM] = 1 + place_at(action)
    # Whoever has wandered for too long is done.
    if state[STEPS] >= state[MOST_STEPS]:  # none are counted when the turn has ended
        if state[PHASE] == LAYING:
            lay_nearest(state)
        if state[DRAWN] == turn and state[SEAT] != OVER:
            end_turn(state)


@compiled(PLAY)
def play(state, action):
    """Lay the tile, set a meeple or none, or move the cursor."""
    state[PLIES] += 1
    if state[CONTROL] == CURSOR:
        play_cursor(state, action)
    elif state[PHASE] == LAYING:
        cell, turn = divmod(action, ROTATIONS)
        x, y = place_of(state, cell)
        lay_drawn(state, x, y, turn)
    else:
        if action != NO_MEEPLE:
            set_meeple(state, action - MEEPLE_AT)
        end_turn(state)


@compiled()
def legal_of_cursor(state, actions):
    """Write what can be done with a cursor."""
    count = CONFIRM + 1
    if state[PHASE] == DECIDING:
        count = END + 1
    elif state[PHASE] == POINTING and state[FARMERS]:
        count = POINT_AT_HALF + PLACES - FIRST_HALF
    n = 0
    for action in range(count):
        if not (state[EXACT] and is_idle(state, action)):
            actions[n] = action
            n += 1
    return n


@compiled(LEGAL)
def legal(state, actions):
    """Write all placements that fit, or all free places for a meeple and none."""
    if state[SEAT] == OVER:
        return 0
    if state[CONTROL] == CURSOR:
        return legal_of_cursor(state, actions)
    if state[PHASE] == LAYING:
        return list_placements(state, actions)
    places = np.empty(PLACES, np.int64)
    n = free_places(state, places)
    for place in range(n):
        actions[place] = MEEPLE_AT + places[place]
    actions[n] = NO_MEEPLE
    return n + 1


@compiled(SCORE)
def score(state, points):
    """Points so far."""
    for seat in range(state[SEATS]):
        points[seat] = state[BANK + seat]


@compiled(LOOK)
def look(state, seat, out):
    """Hide the order of the tiles to come."""
    copy_cells(state, out)
    out[VIEWER] = seat
    for place in range(state[DRAWN], state[IN_SET] - 1):
        out[DECK + place] = HIDDEN


@compiled(REDEAL)
def redeal(view, rng):
    """Mix the tiles to come."""
    drawn = int(view[DRAWN])
    deck = np.empty(int(view[IN_SET]) - 1 - drawn, np.int64)
    at = 0
    for kind in range(KINDS):
        for _ in range(view[LEFT + kind]):
            deck[at] = kind
            at += 1
    shuffle(rng, deck)
    for place in range(len(deck)):
        view[DECK + drawn + place] = deck[place]
    view[VIEWER] = HIDDEN


@compiled(DESCRIBE)
def describe(view, actions, n, prospects):
    """Write a row for each option, or for each button of a cursor."""
    if n == 0:
        return
    if view[CONTROL] != CURSOR:
        describe_options(view, actions, n, prospects)
    elif view[PROSPECTS]:
        describe_buttons(view, actions, n, prospects)


# --- bounds --------------------------------------------------------------------------------------


def actions(settings: Mapping[str, Any]) -> int:
    """Count the action numbers."""
    if settings["control"] == "direct":
        return NO_MEEPLE + 1
    return POINT_AT_HALF + (PLACES - FIRST_HALF if settings["farmers"] else 0)


def most_legal(settings: Mapping[str, Any]) -> int:
    """Bound the legal actions: every rotation in every cell of the longest edge."""
    if settings["control"] == "cursor":
        return actions(settings)
    return ROTATIONS * (2 * settings["tiles"] + 2)


def most_plies(settings: Mapping[str, Any]) -> int:
    """Bound the plies: two for each tile, or all steps of every turn."""
    each = 2 if settings["control"] == "direct" else settings["steps"]
    return (settings["tiles"] - 1) * each


def prospects(settings: Mapping[str, Any]) -> int:
    """Count the features of each option. Without prospects, buttons are known by number."""
    if settings["control"] == "cursor":
        return BUTTON_COLUMNS if settings["prospects"] else 0
    return ALL if settings["prospects"] else PLAIN


def span(settings: Mapping[str, Any]) -> tuple[float, float]:
    """Bound a seat's points: no tile can ever bring more than MOST_OF_A_TILE."""
    return 0.0, MOST_OF_A_TILE * (settings["tiles"] + 1.0)


GAME = Game(
    name="carcassonne",
    title="Carcassonne",
    summary="Lay tiles of roads, cities and cloisters; set meeples where they will score most.",
    version=1,
    room=__package__,
    seats=(1, MOST_SEATS),
    default_seats=2,
    options=OPTIONS,
    layout=LAYOUT,
    functions=Rules(deal, legal, play, score, look, redeal, observe, describe=describe),
    actions=actions,
    most_legal=most_legal,
    most_plies=most_plies,
    features=features,
    # Beyond 1 lie points over 50, which can be no more than MOST_OF_A_TILE for each of 73 tiles.
    feature_range=(-1.0, 63.0),
    feature_scale=feature_scale,
    prospects=prospects,
    planes=planes,
    senses=("encoding", "prospects"),
    hides=True,
    span=span,
    flaw=flaw,
)
