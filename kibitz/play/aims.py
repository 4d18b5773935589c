"""What a seat plays for: its points, its margin, or to win. Rewards are the change of that."""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.errors import unknown
from kibitz.core.game import Game

WIN, MARGIN, POINTS = range(3)
AIMS = {"win": WIN, "margin": MARGIN, "points": POINTS}


@compiled()
def worth(points, seat, aim, over):
    """Give what a seat has in hand, as its aim counts it; the reward is the change of that."""
    if aim == POINTS:
        return points[seat]
    best, level = -np.inf, 1
    for other in range(len(points)):
        if other != seat:
            best = max(best, points[other])
            level += points[other] == points[seat]
    if aim == MARGIN:
        return points[seat] - best
    if not over:
        return 0.0
    return (1.0 / level if points[seat] >= best else 0.0) - 1.0 / len(points)


@compiled()
def pay(points, aim, over, held, rewards):
    """Write what every seat has in hand, and how that has changed."""
    for seat in range(len(held)):
        now = worth(points, seat, aim, over)
        rewards[seat] = now - held[seat]
        held[seat] = now


def aim_of(game: Game, name: str) -> int:
    """Find an aim by name; where all win together it is points, for nobody can be ahead."""
    if name not in AIMS:
        raise unknown("aim", name, AIMS)
    return POINTS if game.cooperative else AIMS[name]
