"""Nim: take from one row; in misère play whoever takes the last stick loses.

Two players take turns. A turn takes one or more sticks from one row, at most `k` where a cap is
set. Misère (the default): whoever takes the last stick loses. Normal: whoever takes it wins.

state    rows    sticks left in each of up to 16 rows
         winner  -1 until the game is over
action   row * 64 + (sticks taken - 1)
points   +1 for the winner, -1 for the loser

v1  first release
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kibitz.core.compiled import (
    DEAL,
    FOLD,
    LEGAL,
    LOOK,
    OBSERVE,
    PLAY,
    REDEAL,
    SCORE,
    STRIP,
    Rules,
    compiled,
)
from kibitz.core.game import OVER, PLIES, SEAT, VIEWER, Cells, Game, Layout, copy_cells
from kibitz.core.options import Flag, Whole, Wholes
from kibitz.core.table import Table

MOST_ROWS = 16
MOST = 64  # action numbers set aside for each row
BITS = 6  # of a row's size, as features

OPTIONS = (
    Wholes(
        name="rows", default=(1, 3, 5, 7), help="sticks in each row at the start",
        cells=MOST_ROWS, low=1, high=MOST - 1,
    ),
    Flag(name="misere", default=True, help="whoever takes the last stick loses"),
    Whole(
        name="k", default=0, help="most sticks that one turn may take",
        low=1, high=MOST - 1, none=0,
    ),
)  # fmt: skip

LAYOUT = Layout(OPTIONS, {"rows": Cells(MOST_ROWS, 0, MOST - 1), "winner": Cells(1, -1, 1)})
START = LAYOUT.option("rows")
MISERE = LAYOUT.option("misere")
CAP = LAYOUT.option("k")
ROWS = LAYOUT.start("rows")
WINNER = LAYOUT.start("winner")


@compiled(DEAL)
def deal(state, rng):
    """Lay out the rows; seat 0 begins."""
    for row in range(MOST_ROWS):
        if state[START + row] == 0:
            break  # rows are given without gaps
        state[ROWS + row] = state[START + row]
    state[WINNER] = -1


@compiled(LEGAL)
def legal(state, actions):
    """Any number of sticks from any one row, up to the cap."""
    n = 0
    row = 0
    cap = state[CAP]
    while row < MOST_ROWS and state[START + row] > 0:
        sticks = state[ROWS + row]
        if cap > 0 and sticks > cap:
            sticks = cap
        action = row * MOST
        while sticks > 0:
            actions[n] = action
            action += 1
            n += 1
            sticks -= 1
        row += 1
    return n


@compiled(PLAY)
def play(state, action):
    """Take the sticks; the last one decides."""
    row, spare = divmod(action, MOST)
    state[ROWS + row] -= spare + 1
    state[PLIES] += 1
    state[SEAT] = 1 - state[SEAT]
    if state[ROWS + row] > 0:
        return
    for other in range(MOST_ROWS):
        if state[START + other] == 0:
            break
        if state[ROWS + other] > 0:
            return
    # Misère: the seat left to move has won. Normal: it has lost.
    state[WINNER] = state[SEAT] if state[MISERE] else 1 - state[SEAT]
    state[SEAT] = OVER


@compiled(SCORE)
def score(state, points):
    """Plus one for the winner, minus one for the loser."""
    points[0] = 0.0
    points[1] = 0.0
    winner = state[WINNER]
    if winner >= 0:
        points[winner] = 1.0
        points[1 - winner] = -1.0


@compiled(LOOK)
def look(state, seat, out):
    """Nothing is hidden."""
    copy_cells(state, out)
    out[VIEWER] = seat


@compiled(REDEAL)
def redeal(view, rng):
    """Nothing was hidden, so the world is the one that was seen."""
    view[VIEWER] = -1


@compiled(OBSERVE)
def observe(view, features):
    """Misère or not, the cap, then for each row its size as a fraction and as six bits."""
    features[0] = view[MISERE]
    features[1] = view[CAP] / MOST
    at = 2
    for row in range(MOST_ROWS):
        if view[START + row] == 0:
            break
        sticks = view[ROWS + row]
        features[at] = sticks / MOST
        for bit in range(BITS):
            features[at + 1 + bit] = (sticks >> bit) & 1
        at += 1 + BITS


@compiled(STRIP)
def strip(state):
    """Only the rows matter to what is to come, and the seat to move is called seat 0."""
    state[PLIES] = 0
    if state[SEAT] != OVER:
        state[SEAT] = 0
    elif state[WINNER] >= 0:
        state[WINNER] = 0


@compiled(FOLD)
def fold(state):
    """The order of the rows does not matter: sort them."""
    for row in range(1, MOST_ROWS):
        sticks = state[ROWS + row]
        place = row
        while place > 0 and state[ROWS + place - 1] < sticks:
            state[ROWS + place] = state[ROWS + place - 1]
            place -= 1
        state[ROWS + place] = sticks


def flaw(table: Table) -> str | None:
    """Say what is wrong with a table as it stands, or None: sticks come from nowhere, and so on."""
    start = table.game.settings["rows"]
    rows = table["rows"].tolist()
    taken = sum(start) - sum(rows)
    if any(left > most for left, most in zip(rows, (*start, *[0] * MOST_ROWS), strict=False)):
        return f"rows {rows} hold more sticks than {start}"
    if taken < table.plies or (table.plies == 0 and taken):
        return f"{taken} sticks were taken in {table.plies} turns"
    if table.over != (taken == sum(start)) or table.over != (table["winner"] >= 0):
        return "the last stick and the winner do not agree"
    return None


def open_spiel(settings: Mapping[str, Any]) -> str | None:
    """Give the name of the same game in OpenSpiel, which knows no cap."""
    if settings["k"]:
        return None
    rows = ";".join(map(str, settings["rows"]))
    return f"nim(pile_sizes={rows},is_misere={settings['misere']})"


GAME = Game(
    name="nim",
    title="Nim",
    summary="Take sticks from one row. In misère play, whoever takes the last one loses.",
    version=1,
    room=__package__,
    seats=(2, 2),
    default_seats=2,
    options=OPTIONS,
    layout=LAYOUT,
    functions=Rules(deal, legal, play, score, look, redeal, observe, strip, fold),
    actions=lambda settings: len(settings["rows"]) * MOST,
    most_legal=lambda settings: sum(settings["rows"]),
    most_plies=lambda settings: sum(settings["rows"]),
    features=lambda settings: 2 + len(settings["rows"]) * (1 + BITS),
    feature_range=(0.0, 1.0),
    zero_sum=True,
    span=lambda settings: (-1.0, 1.0),
    flaw=flaw,
    open_spiel=open_spiel,
)
