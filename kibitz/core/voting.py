"""Voting: several strategies choose, each with a weight, and the move with the greatest sum wins.

A room offers strategies by giving `STRATEGIES` (kinds by name, in the order of their weights) and a
compiled `ballot` in its `agents.py`:

VOTERS = (one, two, three)

@compiled(CHOOSE)
def ballot(rules, view, actions, n, weights, memory, rng):
    votes = np.zeros(n)
    place = 0
    for voter in literal_unroll(VOTERS):
        if weights[place] > 0:
            chosen = voter(rules, view, actions, n, weights, memory, rng)
            votes[place_of(chosen, actions, n)] += weights[place]
        place += 1
    return actions[np.argmax(votes)]
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled


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
