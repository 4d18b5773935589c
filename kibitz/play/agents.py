"""The agent that everybody has."""

from __future__ import annotations

from kibitz.core.agent import Kind
from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, compiled


@compiled(CHOOSE)
def random(rules, view, actions, n, weights, memory, rng):
    """Take any legal move, each equally likely."""
    return actions[below(rng, n)]


RANDOM = Kind(choose=random)
