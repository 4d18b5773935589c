"""Players of Nim."""

from __future__ import annotations

from kibitz.core.agent import Kind
from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.games.nim.rules import MOST


@compiled(CHOOSE)
def gabriele(rules, view, actions, n, weights, memory, rng):
    """Take as much as it may from the first row that has sticks."""
    row = actions[0] // MOST
    best = actions[0]
    for i in range(n):
        if actions[i] // MOST == row:
            best = actions[i]
    return best


@compiled(CHOOSE)
def one_by_one(rules, view, actions, n, weights, memory, rng):
    """Take a single stick, from a row drawn by lot."""
    singles = 0
    for i in range(n):
        singles += actions[i] % MOST == 0
    drawn = below(rng, singles)
    for i in range(n):
        if actions[i] % MOST == 0:
            if drawn == 0:
                return actions[i]
            drawn -= 1
    return actions[0]


AGENTS = {
    "gabriele": Kind(choose=gabriele),
    "one-by-one": Kind(choose=one_by_one),
}
