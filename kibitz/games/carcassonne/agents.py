"""The players of Carcassonne.

All weigh every way to lay the tile together with every place for a meeple, and take the best. With
a cursor `greedy` and `settler` first decide, and then walk there; `reckoner` presses the button
that learners see as serving the best choice, so that a network can learn to do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Evaluation, Kind, Opinion, opinion
from kibitz.core.chance import Chance, draw_best
from kibitz.core.compiled import CHOOSE, VALUE, compiled
from kibitz.core.game import OVER, SEAT, Game
from kibitz.core.models import load_model, own_model
from kibitz.core.table import View
from kibitz.games.carcassonne.board import lay_tile, pending
from kibitz.games.carcassonne.buttons import AT_BEST, BUTTON_COLUMNS, describe_buttons
from kibitz.games.carcassonne.cells import (
    CONTROL,
    CURSOR,
    DRAWN,
    LAYING,
    MOST_EDGE,
    MOST_SEATS,
    PHASE,
    PLACES,
    POINTING,
    TILE,
)
from kibitz.games.carcassonne.evaluation import (
    GREEDY,
    IMPOSSIBLE,
    NO_MEEPLE_AT,
    WEIGHTS,
    appraise,
    copy_of,
    scratch,
)
from kibitz.games.carcassonne.prospects import EXPECTED
from kibitz.games.carcassonne.rules import CONFIRM, MEEPLE_AT, NO_MEEPLE, place_of
from kibitz.games.carcassonne.stack import list_placements
from kibitz.games.carcassonne.steps import step_towards
from kibitz.games.carcassonne.tiles import ROTATIONS

# What they remember, with a cursor: which draw this is, and where the tile goes.
MEMORY = DECIDED, PLACEMENT = range(2)


@compiled()
def weigh_placements(view, placements, n, weights, out):
    """Write what each way to lay the tile is worth, with the best meeple."""
    seat = int(view[SEAT])
    kind = int(view[TILE]) - 1
    chance, served, values = scratch()
    for place in range(n):
        cell, turn = divmod(placements[place], ROTATIONS)
        tried = copy_of(view)
        x, y = place_of(tried, cell)
        lay_tile(tried, x, y, kind, turn)
        appraise(tried, seat, weights, chance, served, values)
        out[place] = values.max()


@compiled()
def weigh_meeples(view, weights, values):
    """Write what each place for a meeple is worth on the tile that was just laid, and none."""
    chance, served, _ = scratch()
    appraise(view, int(view[SEAT]), weights, chance, served, values)


@compiled()
def decide(view, weights, memory, rng):
    """Decide where the tile goes, and remember it."""
    placements = np.empty(ROTATIONS * MOST_EDGE, np.int32)
    n = list_placements(view, placements)
    values = np.empty(n)
    weigh_placements(view, placements, n, weights, values)
    memory[DECIDED] = 1 + int(view[DRAWN])
    memory[PLACEMENT] = placements[draw_best(rng, values, n)]


@compiled()
def next_step(view, weights, memory, rng):
    """Give the next step with a cursor: to where the tile goes, or to the best place for a meeple.

    Where the tile goes is decided once; the meeple is weighed at every step, for the tile may have
    been laid by somebody else.
    """
    if view[PHASE] == LAYING:
        if memory[DECIDED] != 1 + view[DRAWN]:
            decide(view, weights, memory, rng)
        return step_towards(view, memory[PLACEMENT], NO_MEEPLE_AT)
    values = np.empty(PLACES + 1)
    weigh_meeples(view, weights, values)
    if view[PHASE] == POINTING:  # one has been taken, so it is to be set
        values[NO_MEEPLE_AT] = IMPOSSIBLE
    return step_towards(view, 0, np.argmax(values))


@compiled(VALUE)
def worth(rules, view, actions, n, weights, memory, out):
    """What each option is worth: points, hopes, rivals and meeples after it."""
    if view[CONTROL] == CURSOR:
        wanted = next_step(view, weights, memory.copy(), np.ones(4, np.int64))
        for i in range(n):
            out[i] = 1.0 if actions[i] == wanted else 0.0
    elif view[PHASE] == LAYING:
        weigh_placements(view, actions, n, weights, out)
    else:
        values = np.empty(PLACES + 1)
        weigh_meeples(view, weights, values)
        for i in range(n):
            out[i] = values[NO_MEEPLE_AT if actions[i] == NO_MEEPLE else actions[i] - MEEPLE_AT]


@compiled(CHOOSE)
def take_best(rules, view, actions, n, weights, memory, rng):
    """Take the option that is worth most; with a cursor, the next step towards it."""
    if view[CONTROL] == CURSOR:
        return next_step(view, weights, memory, rng)
    values = np.empty(n)
    worth(rules, view, actions, n, weights, memory, values)
    return actions[draw_best(rng, values, n)]


@compiled(VALUE)
def expected(rules, view, actions, n, weights, memory, out):
    """What each option is worth; with a cursor, 1 for buttons that serve the best choice."""
    if view[CONTROL] != CURSOR:
        worth(rules, view, actions, n, weights, memory, out)
        return
    rows = np.empty((n, BUTTON_COLUMNS), np.float32)
    describe_buttons(view, actions, n, rows)
    for i in range(n):
        out[i] = rows[i, AT_BEST]


@compiled(CHOOSE)
def take_expected(rules, view, actions, n, weights, memory, rng):
    """Take the option that is worth most; with a cursor, the first button that serves it."""
    if view[CONTROL] != CURSOR:
        return take_best(rules, view, actions, n, weights, memory, rng)
    values = np.empty(n)
    expected(rules, view, actions, n, weights, memory, values)
    best = np.argmax(values)
    return actions[best] if values[best] > 0.0 else CONFIRM  # a meeple that can stand nowhere


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say what it would do, with points and pending points after it."""
    action = agent.tried(view)
    if view.game.settings["control"] == "cursor":
        what = "the tile" if view["phase"] == LAYING else "the meeple"
        values = {option: float(option == action) for option in view.legal}
        return opinion(view, action, f"One step towards where {what} goes.", values)
    values = dict(zip(view.legal, agent.values(view, view.legal), strict=True))
    notes = {option: _after(agent, view, option) for option in view.legal}
    return opinion(view, action, f"{agent.kind.about} After it: {notes[action]}.", values, notes)


def _after(agent: CompiledAgent, view: View, action: int) -> str:
    """Say how the mover stands after an action, and the best meeple if it lays a tile."""
    rules, seat = view.game.rules, view.mover
    cells = view.redeal(Chance(0)).cells  # any order: the next tile is drawn, and not looked at
    rules.play(cells, action)
    meeple = ""
    if action < MEEPLE_AT and cells[PHASE] != LAYING:
        laid = View(view.game, cells.copy())
        chosen = agent.tried(laid)
        meeple = "" if chosen == NO_MEEPLE else f"{laid.say(chosen)}, "
        rules.play(cells, chosen)
    points = np.zeros(MOST_SEATS)
    if cells[SEAT] != OVER:
        pending(cells, points)
    banked = np.zeros(view.game.players)
    rules.score(cells, banked)
    return f"{meeple}{banked[seat]:.0f} points and {points[seat]:.0f} pending"


def _evolved(game: Game, settings: Mapping[str, Any]) -> np.ndarray:
    """Give the weights that evolution has found; the model comes with the game."""
    path = own_model(game, "evolved")
    assert path is not None
    return load_model(path, "evolved", game, any_settings=True)[0]["weights"]


def _kind(
    name: str, about: str, weights: Callable[[Game, Mapping[str, Any]], np.ndarray],
    choose: Any = take_best, value: Any = worth,
) -> Kind:  # fmt: skip
    return Kind(
        choose=choose, value=value, unit="points", weights=weights, memory=len(MEMORY),
        name=name, about=about,
        explain=_explain,
    )  # fmt: skip


AGENTS = {
    "settler": _kind(
        "settler",
        "Weigh points, the chances that features are finished, rivals, and free meeples.",
        _evolved,
    ),
    "greedy": _kind(
        "greedy",
        "Have as many points as possible after the move, those that are pending included.",
        lambda *_: GREEDY,
    ),
    "reckoner": _kind(
        "reckoner",
        "Weigh the same as settler at face value: points, chances times points, free meeples.",
        lambda *_: EXPECTED,
        take_expected,
        expected,
    ),
}
# For people: each beats the one below; docs/levels.md says how often.
LEVELS = {
    "easy": "settler:blunders=50%",
    "medium": "settler:blunders=30%",
    "hard": "settler:blunders=12%",
    "expert": "settler",
}
EVALUATION = Evaluation(kind=AGENTS["settler"], start=WEIGHTS, rivals=("greedy",))
ANALYST = "mcts:sims=200,prior=settler,rollout=settler,judge=settler,depth=6"  # of played games
