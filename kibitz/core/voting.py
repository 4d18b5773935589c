"""Voting: several strategies wish, each with a weight, and the move with the greatest sum wins.

A strategy is a small compiled function `one(view, actions, n, wanted)` that writes the places of
the legal actions it would take, one as soon as another, and gives how many there are, at least one.
It may look at what `strip` keeps of a view, and at nothing else. A room offers strategies by giving
in its `agents.py` these:

WISHES = {"one": one, "two": two}  # in the order of their weights
VOTERS = tuple(WISHES.values())

@compiled(WISH)
def wish(which, view, actions, n, wanted):
    wishes = 0
    place = 0
    for voter in literal_unroll(VOTERS):
        if place == which:
            wishes = voter(view, actions, n, wanted)
        place += 1
    return wishes

@compiled(CHOOSE)
def ballot(rules, view, actions, n, weights, memory, rng):
    votes = np.zeros(n)
    wanted = np.empty(n, np.int32)
    for which in range(len(weights)):
        if weights[which] > 0:
            wishes = wish(which, view, actions, n, wanted)
            votes[wanted[below(rng, wishes) if wishes > 1 else 0]] += weights[which]
    return actions[np.argmax(votes)]

STRATEGIES = strategy_kinds(WISHES)

`literal_unroll` is from `kibitz.core.compiled`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import Kind, first_line
from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, compiled


@compiled()
def place_of(action, actions, n):
    """Find an action among the legal ones, which ascend; -1 where it is not."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if actions[middle] < action:
            low = middle + 1
        else:
            high = middle
    if low < n and actions[low] == action:
        return low
    return -1


def shifted(weights: np.ndarray) -> np.ndarray:
    """Shift weights so that none is negative, as votes must be."""
    return (weights - min(0.0, float(weights.min()))).astype(np.float32)


def strategy_kinds(wishes: Mapping[str, Any]) -> dict[str, Kind]:
    """Make the kinds of agents that play each what one strategy wishes."""

    def kind(place: int, name: str) -> Kind:
        own = np.array([place], np.float32)  # what it plays by, for those who compare agents
        about = first_line(wishes[name].__doc__)
        choose = _strategy(wishes[name])
        return Kind(choose=choose, weights=lambda *_: own, name=name, about=about)

    return {name: kind(place, name) for place, name in enumerate(wishes)}


def _strategy(one: Any) -> Any:
    """Return the choice of an agent that follows one strategy, so that no other is compiled."""

    @compiled(CHOOSE)
    def strategy(rules, view, actions, n, weights, memory, rng):
        wanted = np.empty(n, np.int32)
        wishes = one(view, actions, n, wanted)
        return actions[wanted[below(rng, wishes) if wishes > 1 else 0]]

    # It belongs to the room whose strategy it is.
    strategy.__module__, strategy.__qualname__ = one.__module__, "strategy"
    return strategy
