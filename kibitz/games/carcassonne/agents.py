"""The players of Carcassonne.

Both weigh every way to lay the tile together with every place for a meeple, and take the best. With
a cursor they first decide, and then walk there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Evaluation, Kind, Opinion, opinion
from kibitz.core.chance import Chance, draw_best
from kibitz.core.compiled import CHOOSE, VALUE, compiled
from kibitz.core.game import SEAT, Game
from kibitz.core.table import View
from kibitz.games.carcassonne.board import lay_tile, pending
from kibitz.games.carcassonne.cells import (
    CONTROL,
    CURSOR,
    DRAWN,
    EDGE,
    EDGE_LIST,
    EDGES,
    GRID,
    LAYING,
    MOST_EDGE,
    MOST_SEATS,
    PHASE,
    PLACES,
    TILE,
)
from kibitz.games.carcassonne.evaluation import (
    GREEDY,
    NO_MEEPLE_AT,
    WEIGHTS,
    appraise,
    copy_of,
    scratch,
)
from kibitz.games.carcassonne.rules import MEEPLE_AT, NO_MEEPLE, place_of
from kibitz.games.carcassonne.steps import step_towards
from kibitz.games.carcassonne.tiles import FITS, ROTATIONS

# What they remember, with a cursor: which draw this is, where the tile goes, where the meeple.
MEMORY = DECIDED, PLACEMENT, MEEPLE_PLACE = range(3)


@compiled()
def placements_of(view, placements):
    """Write the ways to lay the drawn tile, as actions of direct control; give how many."""
    n = 0
    kind = view[TILE] - 1
    for at in range(EDGE_LIST, EDGE_LIST + view[EDGES]):
        cell = int(view[at])
        turns = FITS[kind, view[GRID + cell] - EDGE]
        for turn in range(ROTATIONS):
            if turns >> turn & 1:
                placements[n] = cell * ROTATIONS + turn
                n += 1
    return n


@compiled()
def weigh_placements(view, placements, n, weights, out, meeples):
    """Write what each way to lay the tile is worth with its best meeple, and where that goes."""
    seat = int(view[SEAT])
    kind = int(view[TILE]) - 1
    chance, served, values = scratch()
    for place in range(n):
        cell, turn = divmod(placements[place], ROTATIONS)
        tried = copy_of(view)
        x, y = place_of(tried, cell)
        lay_tile(tried, x, y, kind, turn)
        appraise(tried, seat, weights, chance, served, values)
        meeples[place] = NO_MEEPLE_AT  # unless another is better
        for spot in range(PLACES):
            if values[spot] > values[meeples[place]]:
                meeples[place] = spot
        out[place] = values[meeples[place]]


@compiled()
def decide(view, weights, memory, rng):
    """Decide where the tile and the meeple go, and remember it."""
    placements = np.empty(ROTATIONS * MOST_EDGE, np.int64)
    n = placements_of(view, placements)
    values = np.empty(n)
    meeples = np.empty(n, np.int64)
    weigh_placements(view, placements, n, weights, values, meeples)
    best = draw_best(rng, values, n)
    memory[DECIDED] = 1 + int(view[DRAWN])
    memory[PLACEMENT] = placements[best]
    memory[MEEPLE_PLACE] = meeples[best]


@compiled(VALUE)
def worth(rules, view, actions, n, weights, memory, out):
    """What each option is worth: points, hopes, rivals and meeples after it."""
    if view[CONTROL] == CURSOR:
        for i in range(n):
            out[i] = 0.0
        known = memory.copy()
        if known[DECIDED] != 1 + view[DRAWN]:
            decide(view, weights, known, np.zeros(4, np.int64) + 1)
        wanted = step_towards(view, known[PLACEMENT], known[MEEPLE_PLACE])
        for i in range(n):
            out[i] = 1.0 if actions[i] == wanted else 0.0
    elif view[PHASE] == LAYING:
        meeples = np.empty(n, np.int64)
        weigh_placements(view, actions, n, weights, out, meeples)
    else:
        chance, served, values = scratch()
        appraise(view, int(view[SEAT]), weights, chance, served, values)
        for i in range(n):
            spot = NO_MEEPLE_AT if actions[i] == NO_MEEPLE else actions[i] - MEEPLE_AT
            out[i] = values[spot]


@compiled()
def best_option(rules, view, actions, n, weights, memory, rng):
    """Take the option that is worth most; with a cursor, the next step towards it."""
    if view[CONTROL] == CURSOR:
        if memory[DECIDED] != 1 + view[DRAWN]:
            decide(view, weights, memory, rng)
        return step_towards(view, memory[PLACEMENT], memory[MEEPLE_PLACE])
    values = np.empty(n)
    worth(rules, view, actions, n, weights, memory, values)
    return actions[draw_best(rng, values, n)]


@compiled(CHOOSE)
def greedy(rules, view, actions, n, weights, memory, rng):
    """Have as many points as possible after the move, those that are pending included."""
    return best_option(rules, view, actions, n, weights, memory, rng)


@compiled(CHOOSE)
def settler(rules, view, actions, n, weights, memory, rng):
    """Weigh points, the chances that features are finished, rivals, and free meeples."""
    return best_option(rules, view, actions, n, weights, memory, rng)


def _greedy_weights(game: Game, settings: Mapping[str, Any]) -> np.ndarray:
    return GREEDY


# Tuned by evolution; the command stands in docs/carcassonne.md.
TUNED = np.array(list(WEIGHTS.values()), np.float32)


def _settler_weights(game: Game, settings: Mapping[str, Any]) -> np.ndarray:
    return TUNED


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say what it would do, with points and pending points after it."""
    action = agent.tried(view)
    values = dict(zip(view.legal, agent.values(view, view.legal), strict=True))
    if view.game.settings["control"] == "cursor":
        return opinion(view, action, "One step towards where the tile or the meeple goes.", values)
    notes = {option: _after(agent, view, option) for option in view.legal}
    reason = f"{agent.kind.summary()} After it: {notes[action]}."
    return opinion(view, action, reason, values, notes)


def _after(agent: CompiledAgent, view: View, action: int) -> str:
    """Say how the mover stands after an action, and the best meeple if it lays a tile."""
    rules, seat = view.game.rules, view.mover
    cells = view.redeal(Chance(0)).cells  # any order: the next tile is drawn, and not looked at
    rules.play(cells, action)
    if action < MEEPLE_AT and cells[PHASE] != LAYING:
        meeple = agent.tried(View(view.game, cells))
        rules.play(cells, meeple)
    points = np.zeros(MOST_SEATS)
    if cells[SEAT] >= 0:
        pending(cells, points)
    banked = np.zeros(view.game.players)
    rules.score(cells, banked)
    return f"{banked[seat]:.0f} points and {points[seat]:.0f} pending"


AGENTS = {
    "settler": Kind(
        choose=settler, value=worth, weights=_settler_weights, memory=len(MEMORY), explain=_explain
    ),
    "greedy": Kind(
        choose=greedy, value=worth, weights=_greedy_weights, memory=len(MEMORY), explain=_explain
    ),
}
LEVELS = {"easy": "greedy", "hard": "settler"}  # for people
EVALUATION = Evaluation(kind=AGENTS["settler"], start=WEIGHTS, rivals=("greedy",))
