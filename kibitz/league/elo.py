"""Elo for any number of seats: neighbours in the order of points have played each other.

As in the dominoes project of which kibitz takes it (and Tom Kerrigan's Simple Multiplayer Elo
before it): a game of n is n - 1 games of two, each between neighbours in the order of points; all
of them count from the ratings before the game. Whoever has as many points has drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.league.played import Played, ranked

BASE = 1500.0
K = 32.0
SCALE = 400.0  # so many points more, and the odds are ten to one


@compiled()
def update(ratings, lineup, order, ranks, k):
    """Rate games one after another, in place. ratings [members], order and ranks [games, seats]."""
    games, seats = order.shape
    change = np.zeros(seats)
    for game in range(games):
        change[:] = 0.0
        for at in range(seats - 1):
            upper, lower = order[game, at], order[game, at + 1]
            ahead = ratings[lineup[upper]] - ratings[lineup[lower]]
            expected = 1.0 / (1.0 + 10.0 ** (-ahead / SCALE))
            result = 0.5 if ranks[game, upper] == ranks[game, lower] else 1.0
            change[upper] += k * (result - expected)
            change[lower] -= k * (result - expected)
        for place in range(seats):
            ratings[lineup[place]] += change[place]


def elo(
    played: Iterable[Played], members: int, start: Sequence[float] | None = None, k: float = K
) -> np.ndarray:
    """Give the Elo rating of every member after these matches, in the order they are given."""
    ratings = np.full(members, BASE) if start is None else np.array(start, np.float64)
    for match in played:
        order, ranks = ranked(match.points)
        update(ratings, np.array(match.lineup, np.int64), order, ranks, float(k))
    return ratings
