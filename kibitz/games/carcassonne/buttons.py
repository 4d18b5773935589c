"""What learners see of each button of a cursor, and of the choice that it serves.

A row for each legal action, with the option `prospects`; without it there are none, and buttons are
known by number. Placements and places for a meeple are ranked by EXPECTED; see prospects.py, whose
columns are used here for the choice that a button serves.

  cell                 1      of the planes' window: under the cursor after the button, or of the
                              tile just laid; -1 outside
  button               22     one is 1: laying, 6; deciding, 2; pointing, 14, of which the last 8
                              only where farmers play
  idle                 1      what `exact` leaves out: a step against the boundary, to turn what
                              looks the same from all sides, a misfit; a meeple that would go back,
                              to point where none can stand, or where it points already

laying, after the button; else 0
  fits                 2      under the cursor: as the tile is turned; in some other rotation
  nearest              1      presses to the nearest placement that fits, before it is confirmed,
                              over 20, at most 4
  nearer               1      that is fewer than before the button

always
  steps                1      used in this turn before the button, over the option `steps`

the choice that the button serves; all 0 if there is none
  its row              80     as with direct control, without the cell. For a step or a turn: the
                              best of all placements that it brings one press nearer. To confirm
                              a tile: the placement under the cursor, if it fits. To take a meeple:
                              the best place for one. To end the turn: no meeple. To point
                              somewhere: that place, if one can stand there. To confirm a meeple:
                              the place pointed at, if one can stand there
  presses              1      to that choice after the button, over 20, at most 4: for a placement
                              as above; for a meeple, those that are left until it stands
  best                 1      it is the best of all. Of placements that are equally good, the
                              first; of places for a meeple, any, but once it points at one, only
                              to confirm that. To take a meeple: it is better than none; to end the
                              turn: it is not
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.games.carcassonne.board import STEP_X, STEP_Y, cell_at, place_of
from kibitz.games.carcassonne.cells import (
    CURSOR_AIM,
    CURSOR_TURN,
    CURSOR_X,
    CURSOR_Y,
    DECIDING,
    EDGE,
    GRID,
    LAYING,
    MEEPLE_AT,
    MOST_EDGE,
    MOST_STEPS,
    NO_MEEPLE,
    OFFSET,
    PHASE,
    PLACES,
    STEPS,
    TILE,
)
from kibitz.games.carcassonne.cursor import (
    CONFIRM,
    END,
    POINTED,
    ROTATE,
    TAKE,
    is_idle,
    place_at,
)
from kibitz.games.carcassonne.encodings import window_place
from kibitz.games.carcassonne.meeples import is_free
from kibitz.games.carcassonne.prospects import (
    ALL,
    BOUND,
    describe_plainly,
    describe_prospects,
)
from kibitz.games.carcassonne.stack import list_placements
from kibitz.games.carcassonne.tiles import FITS, ROTATIONS, SIDES, TURNS

# Where the columns of a row begin.
AT_CELL, AT_BUTTON = 0, 1
FIRST_BUTTON = np.array([0, CONFIRM + 1, CONFIRM + 1 + END + 1], np.int64)  # of each phase
BUTTONS = int(FIRST_BUTTON[-1]) + PLACES + 1
AT_IDLE = AT_BUTTON + BUTTONS
AT_FITS, AT_NEAREST, AT_NEARER = AT_IDLE + 1, AT_IDLE + 3, AT_IDLE + 4
AT_STEPS = AT_NEARER + 1
AT_CHOICE = AT_STEPS + 1
AT_PRESSES = AT_CHOICE + ALL - 1
AT_BEST = AT_PRESSES + 1
BUTTON_COLUMNS = AT_BEST + 1
PRESSES = 20.0
CLOSE = 1e-9  # values that differ by less are the same, however they were added up


@compiled()
def first_best(values, among):
    """Give the first of the best among some choices, or -1. among [choices]"""
    most = -np.inf
    for choice in range(len(values)):
        if among[choice]:
            most = max(most, values[choice])
    for choice in range(len(values)):
        if among[choice] and values[choice] >= most - CLOSE:
            return choice
    return -1


@compiled()
def write_choice(described, presses, is_best, row):
    """Write the choice that a button serves."""
    for column in range(1, ALL):
        row[AT_CHOICE + column - 1] = described[column]
    row[AT_PRESSES] = min(BOUND, presses / PRESSES)
    row[AT_BEST] = is_best


@compiled()
def describe_laying(view, actions, n, rows):
    """Write what each button does while a tile is laid."""
    turns = TURNS[view[TILE] - 1]
    placements = np.empty(ROTATIONS * MOST_EDGE, np.int32)
    count = list_placements(view, placements)
    described, values = np.empty((count, ALL), np.float32), np.empty(count)
    describe_plainly(view, placements, count, described)
    describe_prospects(view, placements, count, described, values)
    best = first_best(values, np.ones(count, np.bool_))
    places = np.empty((count, 3), np.int64)  # x and y plus OFFSET, rotation
    before = np.empty(count, np.int64)  # presses, and so after
    after = np.empty(count, np.int64)
    for choice in range(count):
        cell, turn = divmod(int(placements[choice]), ROTATIONS)
        x, y = place_of(view, cell)
        places[choice, 0], places[choice, 1], places[choice, 2] = x + OFFSET, y + OFFSET, turn
    at_x, at_y, turned = int(view[CURSOR_X]), int(view[CURSOR_Y]), int(view[CURSOR_TURN])
    nearest_before = count_presses(places, at_x, at_y, turned, turns, before)
    near = np.empty(count, np.bool_)
    for option in range(n):
        row, action = rows[option], int(actions[option])
        x, y, turn = at_x, at_y, turned
        if action < SIDES and row[AT_IDLE] == 0.0:
            x, y = x + STEP_X[POINTED[action]], y + STEP_Y[POINTED[action]]
        elif action == ROTATE:
            turn += 1
        row[AT_CELL] = window_place(view, x, y)
        demand = view[GRID + cell_at(x - OFFSET, y - OFFSET)]
        if demand >= EDGE:
            fitting = FITS[view[TILE] - 1, demand - EDGE]
            as_turned = fitting & 1 << (turn % turns)
            row[AT_FITS] = as_turned != 0
            row[AT_FITS + 1] = fitting != as_turned
        nearest = count_presses(places, x, y, turn, turns, after)
        row[AT_NEAREST] = min(BOUND, nearest / PRESSES)
        row[AT_NEARER] = nearest < nearest_before
        for choice in range(count):
            if action == CONFIRM:
                near[choice] = before[choice] == 0
            else:
                near[choice] = after[choice] < before[choice]
        served = first_best(values, near)
        if served >= 0:
            write_choice(described[served], after[served], served == best, row)


@compiled()
def count_presses(places, x, y, turn, turns, presses):
    """Write how many presses lead to each placement; give the fewest.

    places [placements, 3]; turns: how many rotations of the tile differ.
    """
    for choice in range(len(places)):
        steps = abs(places[choice, 0] - x) + abs(places[choice, 1] - y)
        presses[choice] = steps + (places[choice, 2] - turn) % turns  # turning goes one way
    return presses.min()


@compiled()
def describe_meeples(view, actions, n, rows):
    """Write what each button does when a meeple may be set."""
    options = np.empty(PLACES + 1, np.int32)
    choice_at = np.full(PLACES, -1, np.int64)
    none = 0  # the last choice, after all places where one can stand
    for place in range(PLACES):
        if is_free(view, place):
            options[none] = MEEPLE_AT + place
            choice_at[place] = none
            none += 1
    options[none] = NO_MEEPLE
    described, values = np.empty((none + 1, ALL), np.float32), np.empty(none + 1)
    describe_plainly(view, options, none + 1, described)
    describe_prospects(view, options, none + 1, described, values)
    best = first_best(values[:none], np.ones(none, np.bool_))
    deciding = view[PHASE] == DECIDING
    aim = int(view[CURSOR_AIM]) - 1
    cell = window_place(view, view[CURSOR_X], view[CURSOR_Y])
    for option in range(n):
        row, action = rows[option], int(actions[option])
        row[AT_CELL] = cell
        if deciding and action == END:
            served, presses = none, 0
        elif deciding and action == TAKE:
            served, presses = best, 2
        elif action == CONFIRM:
            served, presses = choice_at[aim] if aim >= 0 else -1, 0
        else:
            served, presses = choice_at[place_at(action)], 1
        if served < 0:
            continue
        if deciding:
            is_better = best >= 0 and values[best] > CLOSE
            is_best = is_better == (action == TAKE)
        else:
            is_best = values[served] >= values[best] - CLOSE
            if action != CONFIRM and aim >= 0 and choice_at[aim] >= 0:  # there is one to confirm
                is_best = is_best and values[choice_at[aim]] < values[best] - CLOSE
        write_choice(described[served], presses, is_best, row)


@compiled()
def describe_buttons(view, actions, n, rows):
    """Write a row for each button."""
    for option in range(n):
        row, action = rows[option], int(actions[option])
        for column in range(BUTTON_COLUMNS):
            row[column] = 0.0
        row[AT_BUTTON + FIRST_BUTTON[view[PHASE]] + action] = 1.0
        row[AT_IDLE] = is_idle(view, action)
        row[AT_STEPS] = view[STEPS] / view[MOST_STEPS]
    if view[PHASE] == LAYING:
        describe_laying(view, actions, n, rows)
    else:
        describe_meeples(view, actions, n, rows)
