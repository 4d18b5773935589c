"""Who beats whom: pairwise shares, circles among them, and the best lottery over all.

A ladder puts everybody on one line. Where A beats B, B beats C and C beats A no line is true; then
the circle is shown, and the lottery that nobody can expect to beat (a Nash equilibrium of "each of
us sends a player", the maximal lottery of Fishburn, 1984; Nash averaging, Balduzzi et al., 2018).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kibitz.core.compiled import compiled_loop
from kibitz.league.digest import estimate, share
from kibitz.league.played import Played
from kibitz.play.result import Estimate, Share

STEPS = 1_000_000  # of the search for the lottery
SMALL = 0.005  # chances below this are what is left of the search


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """How the member of a row did with the one of a column at the same table."""

    games: int
    share: Share  # of being ahead of the other; a tie is half
    points: Estimate  # of the row's member


def cells(played: Iterable[Played]) -> dict[tuple[int, int], Cell]:
    """Compare all who sat together, and in games with all copies of one member that one alone."""
    found: dict[tuple[int, int], list[tuple[int, np.ndarray, np.ndarray]]] = {}
    for match in played:
        seen = match.digest
        for one, first in enumerate(seen.who):
            for two, second in enumerate(seen.who):
                if one != two or len(seen.who) == 1:
                    part = seen.games, seen.ahead[one, two], seen.points[one]
                    found.setdefault((first, second), []).append(part)
    made = {}
    for pair, parts in found.items():
        games, ahead, points = zip(*parts, strict=True)
        made[pair] = Cell(games=sum(games), share=share(ahead), points=estimate(points))
    return made


def matrix(found: dict[tuple[int, int], Cell], members: int) -> np.ndarray:
    """Give the share of the row ahead of the column, [members, members]; NaN where none is."""
    shares = np.full((members, members), np.nan)
    for (one, two), cell in found.items():
        if one != two:
            shares[one, two] = cell.share.mean
    return shares


def circles(found: dict[tuple[int, int], Cell], members: Iterable[int]) -> list[list[int]]:
    """Find the shortest circle through every member who is in one: each surely beats the next."""
    chosen = set(members)
    beats: dict[int, list[int]] = {member: [] for member in sorted(chosen)}
    for (one, two), cell in sorted(found.items()):
        if one != two and {one, two} <= chosen and cell.share.low > 0.5:
            beats[one].append(two)
    made: list[list[int]] = []
    for member in beats:
        circle = _way_back(beats, member)
        # The same circle is found from each of those in it: once is enough.
        if circle and not any(set(circle) == set(other) for other in made):
            made.append(circle)
    return sorted(made, key=lambda circle: (len(circle), circle))


def _way_back(beats: dict[int, list[int]], member: int) -> list[int]:
    """Find the shortest way from a member along those who are beaten and back to it."""
    came_from: dict[int, int] = {}
    row = [member]
    while row:
        further = []
        for one in row:
            for two in beats[one]:
                if two == member:
                    circle = [one]
                    while circle[-1] != member:
                        circle.append(came_from[circle[-1]])
                    return circle[::-1]
                if two not in came_from:
                    came_from[two] = one
                    further.append(two)
        row = further
    return []


@compiled_loop
def _equilibrium(gains, steps):
    """Search an equilibrium by regret matching+, later steps counting more. gains [n, n]."""
    n = len(gains)
    regret, mean, chance, worth = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for step in range(steps):
        total = regret.sum()
        for one in range(n):
            chance[one] = regret[one] / total if total > 0 else 1.0 / n
            mean[one] += step * chance[one]
        for one in range(n):
            worth[one] = 0.0
            for two in range(n):
                worth[one] += gains[one, two] * chance[two]
        # Against oneself the expected gain is nothing, since gains are opposite.
        for one in range(n):
            regret[one] = max(regret[one] + worth[one], 0.0)
    return mean / mean.sum()


def lottery(shares: np.ndarray) -> np.ndarray:
    """Give the chances with which to send each member so that no other choice beats it.

    shares [members, members] of the row against the column; pairs that have not met count as equal.
    """
    gains = np.nan_to_num(2.0 * shares - 1.0)
    gains = (gains - gains.T) / 2
    np.fill_diagonal(gains, 0.0)
    if not len(gains):
        return np.zeros(0)
    chances = _equilibrium(np.ascontiguousarray(gains), max(2_000, STEPS // len(gains)))
    chances[chances < SMALL] = 0.0
    return chances / chances.sum()
