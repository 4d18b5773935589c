"""Elo for any number of seats: neighbours in the order of points have played each other.

As in the dominoes project of which kibitz takes it (and Tom Kerrigan's Simple Multiplayer Elo
before it): a game of n is n - 1 games of two, each between neighbours in the order of points; all
of them count from the ratings before the game. Whoever has as many points has drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from kibitz.core.compiled import compiled_loop
from kibitz.league.played import Played, rank_game

BASE = 1500.0
K = 32.0
SCALE = 400.0  # so many points more, and the odds are ten to one
LOG_TEN = math.log(10.0)


@compiled_loop
def update(ratings, lineup, points, k):
    """Rate games one after another, in place. ratings [members], points [games, seats]"""
    games, seats = points.shape
    order, ranks = np.zeros(seats, np.int64), np.zeros(seats, np.int64)
    change = np.zeros(seats)
    for game in range(games):
        rank_game(points, game, order, ranks)
        change[:] = 0.0
        for at in range(seats - 1):
            upper, lower = order[at], order[at + 1]
            ahead = ratings[lineup[upper]] - ratings[lineup[lower]]
            expected = 1.0 / (1.0 + np.exp(-ahead * LOG_TEN / SCALE))
            result = 0.5 if ranks[upper] == ranks[lower] else 1.0
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
        points = np.ascontiguousarray(match.points, np.float64)
        update(ratings, np.array(match.lineup, np.int64), points, float(k))
    return ratings
