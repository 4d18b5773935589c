"""The perfect agent: wins fastest, loses slowest, by the exact table of the game."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.chance import draw_best
from kibitz.core.compiled import CHOOSE, VALUE, compiled
from kibitz.core.errors import NotSolvable
from kibitz.core.game import OVER, SEAT, Game, copy_cells
from kibitz.core.options import Text
from kibitz.core.table import View
from kibitz.play.graph import LOST, NONE, WON, number_of, payload, result_for, unsolvable
from kibitz.search.solve import Solution, in_words, solve

SCALE = 1000.0  # values stay within -1 to 1 and order wins by speed


@compiled(VALUE)
def value(rules, view, actions, n, weights, memory, out):
    """Give each option's value: near 1 the faster it wins, near -1 the faster it loses."""
    words = weights.view(np.int32)
    cells = weights.view(np.int16)
    verdicts = payload(words)
    child = np.empty_like(view)
    points = np.zeros(2)
    mover = view[SEAT]
    for i in range(n):
        copy_cells(view, child)
        rules.play(child, int(actions[i]))
        if child[SEAT] == OVER:
            rules.score(child, points)
            result = result_for(points, mover)
            fast = SCALE / (1.0 + SCALE)
            out[i] = fast if result == WON else -fast if result == LOST else 0.0
            continue
        flipped = child[SEAT] != mover
        index = number_of(rules, words, cells, child)
        verdict = 0 if index == NONE else words[verdicts + index]
        if flipped:
            verdict = -verdict
        plies = abs(verdict) + 1.0
        slow = plies / (plies + SCALE)
        out[i] = 0.0 if verdict == 0 else 1.0 - slow if verdict > 0 else slow - 1.0


@compiled(CHOOSE)
def perfect(rules, view, actions, n, weights, memory, rng):
    """Play perfectly by the exact solution: win fastest, lose slowest."""
    values = np.empty(n)
    value(rules, view, actions, n, weights, memory, values)
    return actions[draw_best(rng, values, n)]


_solutions: dict[Game, Solution] = {}  # of this process, the latest few
KEPT = 8
QUICK_POSITIONS, QUICK_BYTES = 300_000, 64 << 20  # a few seconds
QUICK_IN_PYTHON = 10_000  # positions of a game whose rules are not compiled


def solution_of(game: Game, **bounds: Any) -> Solution:
    """Solve a game, or give the solution found earlier in this process."""
    if game not in _solutions:
        solution = solve(game, **bounds)
        while len(_solutions) >= KEPT:
            _solutions.pop(next(iter(_solutions)))
        _solutions[game] = solution
    return _solutions[game]


def is_quickly_solved(game: Game) -> bool:
    """Tell whether the perfect agent can be had without a long wait."""
    try:
        most = QUICK_POSITIONS if game.is_compiled else QUICK_IN_PYTHON
        solution_of(game, most=most, most_bytes=QUICK_BYTES)
    except NotSolvable:
        return False
    return True


def _weights(game: Game, settings: Mapping[str, Any]) -> np.ndarray:
    solution = _solution(game, settings["model"])
    return solution.positions.packed(solution.verdicts)


@functools.lru_cache(maxsize=2)
def _loaded(path: str, changed: float, game: Game) -> Solution:
    return Solution.load(path, game)


def _solution(game: Game, path: str) -> Solution:
    if not path:
        return solution_of(game)
    changed = os.path.getmtime(path) if os.path.exists(path) else 0.0
    return _loaded(path, changed, game)


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say for each option whether it wins, draws or loses, and in how many plies."""
    solution = _solution(agent.game, agent.settings["model"])
    verdicts = solution.options(view)
    options = list(verdicts)
    values = dict(zip(options, agent.values(view, options), strict=True))
    action = agent.tried(view)  # of equals, the one that it would draw now
    return opinion(
        view,
        action,
        f"This {in_words(verdicts[action])} against the best play.",
        values,
        {option: in_words(verdict) for option, verdict in verdicts.items()},
    )


PERFECT = Kind(
    choose=perfect,
    value=value,
    weights=_weights,
    explain=_explain,
    unfit_for=unsolvable,
    options=(Text(name="model", default="", help="a table saved by `kibitz solve --save`"),),
)
