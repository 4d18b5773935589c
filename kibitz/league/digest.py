"""What a match says of those who sat in it, added up once: a ladder never counts games again.

Games of one deal are not independent of each other, so an observation is the mean of a deal. Of
many observations their number, their mean and the sum of their squared distances from it are kept;
two such sums together say what one over all of them would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kibitz.core.compiled import compiled_loop
from kibitz.play.result import Estimate, Share, estimate_from, share_from

NUMBER, MEAN, SQUARES = 0, 1, 2  # of observations


@dataclass(frozen=True, slots=True, eq=False)
class Digest:
    """A match, added up. A last row of those by seat is for everybody."""

    who: tuple[int, ...]  # members, ascending
    copies: tuple[int, ...]  # of each at the table
    games: int
    ahead: np.ndarray  # [who, who, 3], how often the first is ahead of the second; a tie is half
    points: np.ndarray  # [who, 3]
    share: np.ndarray  # [who, 3], of a win, by place
    points_at: np.ndarray  # [who + 1, seats, 3]
    share_at: np.ndarray  # [who + 1, seats, 3]


def digest(lineup: Sequence[int], points: np.ndarray) -> Digest:
    """Add up a match. points [games, places]"""
    games, seats = points.shape
    who = tuple(sorted(set(lineup)))
    many = len(who)
    sizes = many * many, many, many, (many + 1) * seats, (many + 1) * seats
    sums = np.zeros((sum(sizes), 3))
    place_of = {member: place for place, member in enumerate(who)}
    mine = np.array([place_of[member] for member in lineup])
    add_up(np.ascontiguousarray(points, np.float64), mine, many, sums)
    ahead, own, share, points_at, share_at = np.split(sums, np.cumsum(sizes)[:-1])
    return Digest(
        who,
        tuple(list(lineup).count(member) for member in who),
        games,
        ahead.reshape(many, many, 3),
        own,
        share,
        points_at.reshape(many + 1, seats, 3),
        share_at.reshape(many + 1, seats, 3),
    )


@compiled_loop
def add_up(points, mine, many, sums):
    """Add up the deals of a match. points [games, places], mine [places], sums [numbers, 3].

    The numbers of `sums` are those of `Digest`, one after another.
    """
    games, seats = points.shape
    numbers = len(sums)
    own, shared = many * many, many * many + many
    own_at = shared + many
    shared_at = own_at + (many + 1) * seats
    observed, times = np.zeros(numbers), np.zeros(numbers)
    first = np.zeros(numbers)  # distances from it are small: what never varies has no variance
    for deal in range(0, games, seats):
        observed[:] = 0.0
        times[:] = 0.0
        for game in range(deal, min(deal + seats, games)):
            best, winners = points[game, 0], 0
            for place in range(seats):
                if points[game, place] > best:
                    best, winners = points[game, place], 0
                winners += points[game, place] == best
            for place in range(seats):
                one, got, seat = mine[place], points[game, place], (place + game) % seats
                won = 1.0 / winners if points[game, place] == best else 0.0
                for at, value in (
                    (own + one, got),
                    (shared + one, won),
                    (own_at + one * seats + seat, got),
                    (own_at + many * seats + seat, got),
                    (shared_at + one * seats + seat, won),
                    (shared_at + many * seats + seat, won),
                ):
                    observed[at] += value
                    times[at] += 1.0
                for other in range(seats):
                    at = one * many + mine[other]
                    if points[game, other] < points[game, place]:
                        observed[at] += 1.0
                    elif points[game, other] == points[game, place]:
                        observed[at] += 0.5
                    times[at] += 1.0
        for at in range(numbers):
            if times[at] > 0.0:
                value = observed[at] / times[at]
                if sums[at, NUMBER] == 0.0:
                    first[at] = value
                away = value - first[at]
                sums[at, NUMBER] += 1.0
                sums[at, MEAN] += away
                sums[at, SQUARES] += away * away
    for at in range(numbers):
        number = sums[at, NUMBER]
        if number > 0.0:
            away = sums[at, MEAN] / number
            sums[at, SQUARES] = max(0.0, sums[at, SQUARES] - number * away * away)
            sums[at, MEAN] = first[at] + away


def together(parts: Sequence[np.ndarray]) -> tuple[int, float, float]:
    """Give number, mean and variance of observations that were added up apart, [3] each."""
    number, mean, squares = np.array(parts).T
    total = number.sum()
    away = mean - mean[0]  # small, and nothing where all are the same
    shift = (number * away).sum() / total
    spread = squares.sum() + (number * (away - shift) ** 2).sum()
    return int(total), float(mean[0] + shift), float(spread / max(total - 1, 1))


def estimate(parts: Sequence[np.ndarray]) -> Estimate:
    """Give the mean of observations with its interval."""
    return estimate_from(*together(parts))


def share(parts: Sequence[np.ndarray]) -> Share:
    """Give the mean of observations between 0 and 1 with its interval."""
    return share_from(*together(parts))
