"""The perfect agent: wins fastest, loses slowest, by the exact table of the game."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, VALUE, compiled
from kibitz.core.errors import NotSolvable
from kibitz.core.game import OVER, SEAT, Game
from kibitz.core.options import Text
from kibitz.core.table import View
from kibitz.search.solve import (
    KEYED_HEADER,
    LOST,
    NONE,
    WON,
    Solution,
    hashed,
    in_words,
    result_for,
    solve,
    unsolvable,
)

# The table as one array of 32-bit words, as compiled agents carry it: this header, then the slots,
# then the verdicts, then the states, two cells to a word.
SLOTS, POSITIONS, CELLS, SKIP, FOLDED, HEAD = 0, 1, 2, 3, 4, 5
SCALE = 1000.0  # values stay within -1 to 1 and order wins by speed


def packed(solution: Solution) -> np.ndarray:
    """Put a solution into one array of 32-bit words, seen as float32."""
    positions, cells = solution.states.shape
    head = [len(solution.slots), positions, cells, solution.skip, int(solution.folded)]
    states = np.zeros(positions * cells + 1 & ~1, np.int16)
    states[: positions * cells] = solution.states.ravel()
    words = np.concatenate(
        [np.array(head, np.int32), solution.slots, solution.verdicts, states.view(np.int32)]
    )
    return words.view(np.float32)


@compiled()
def looked_up(rules, words, cells, state):
    """Find the verdict on a state that it may spoil; 0 where the table does not know it."""
    rules.strip(state)
    if words[FOLDED]:
        rules.fold(state)
    skip = words[SKIP]
    mask = int(words[SLOTS]) - 1
    verdicts = HEAD + int(words[SLOTS])
    states = 2 * (verdicts + words[POSITIONS])
    slot = hashed(state, skip) & mask
    while words[HEAD + slot] != NONE:
        index = words[HEAD + slot]
        start = states + index * words[CELLS]
        equal = True
        for cell in range(KEYED_HEADER):
            equal = equal and cells[start + cell] == state[cell]
        for cell in range(skip, len(state)):
            equal = equal and cells[start + cell] == state[cell]
        if equal:
            return words[verdicts + index]
        slot = (slot + 1) & mask
    return 0


@compiled(VALUE)
def value(rules, view, actions, n, weights, memory, out):
    """Give each option's value: near 1 the faster it wins, near -1 the faster it loses."""
    words = weights.view(np.int32)
    cells = weights.view(np.int16)
    child = np.empty_like(view)
    points = np.zeros(2)
    mover = view[SEAT]
    for i in range(n):
        child[:] = view
        rules.play(child, actions[i])
        if child[SEAT] == OVER:
            rules.score(child, points)
            result = result_for(points, mover)
            fast = SCALE / (1.0 + SCALE)
            out[i] = fast if result == WON else -fast if result == LOST else 0.0
            continue
        flipped = child[SEAT] != mover
        verdict = looked_up(rules, words, cells, child)
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
    ties = 0
    best = 0
    for i in range(n):
        if values[i] > values[best]:
            best = i
            ties = 1
        elif values[i] == values[best]:
            ties += 1
            if below(rng, ties) == 0:
                best = i
    return actions[best]


_solutions: dict[Game, Solution] = {}  # of this process, the latest few
KEPT = 8
QUICK_POSITIONS, QUICK_BYTES = 300_000, 64 << 20  # a few seconds


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
        solution_of(game, most=QUICK_POSITIONS, most_bytes=QUICK_BYTES)
    except NotSolvable:
        return False
    return True


def _weights(game: Game, settings: Mapping[str, Any]) -> np.ndarray:
    return packed(_solution(game, settings["model"]))


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
    action = max(options, key=lambda option: values[option])
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
