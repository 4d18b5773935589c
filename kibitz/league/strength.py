"""Strengths that make the results most likely (Plackett-Luce; Bradley-Terry with two seats).

Whoever has strength s comes first among those still at the table with the chance exp(s) / sum; the
same goes for the second place among the rest, and so on. Equal points count as every order of those
who share them, in equal parts. To keep those finite who always win, everybody has also won and lost
once against a player of strength 0 (`PRIOR`).

Intervals are from a Bayesian bootstrap (Rubin, 1981): everything is fitted again many times with
random weights. A weight belongs to some deals of a lineup as a whole, since games of one deal are
not independent of each other; and the two games of the prior have theirs, so that somebody who
always wins is known to be strong, but not how strong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.errors import KibitzError
from kibitz.league.elo import BASE, SCALE
from kibitz.league.played import Played, ranked

PRIOR = 1.0  # games won, and as many lost, against nobody in particular
DRAWS = 400  # fits with random weights
UNITS = 8_000  # sets of deals with a weight of their own, over all matches
LEAST_UNITS, FINEST = 4, 64  # of a match
POINTS = SCALE / np.log(10)  # Elo points of a strength of 1
CLOSE, MOST_STEPS, LONGEST_STEP = 1e-7, 100, 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """A rating on Elo's scale with its 95% interval."""

    mean: float
    low: float
    high: float

    @property
    def plus_minus(self) -> float:
        """The wider side of the interval."""
        return max(self.high - self.mean, self.mean - self.low)


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The distinct results of a match: ranks by place, how often, and in which unit of deals."""

    lineup: tuple[int, ...]
    ranks: np.ndarray  # [results, seats]
    count: np.ndarray  # [results]
    unit: np.ndarray  # [results], below FINEST


@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """Distinct results of all matches: members in order, how often, and in which unit."""

    order: np.ndarray  # [results, seats], members, the best first
    count: np.ndarray  # [results]
    unit: np.ndarray  # [results]
    units: int


def tally(match: Played) -> Tally:
    """Count the results of a match, which is done once and is much less than the match."""
    seats = match.seats
    _, ranks = ranked(match.points)
    steps = seats ** np.arange(seats)
    # Deals go round the units, so that each of them is spread over the whole match.
    both = (ranks @ steps) * FINEST + (np.arange(match.games) // seats) % FINEST
    if seats**seats * FINEST <= 1 << 20:
        counts = np.bincount(both)
        both = np.flatnonzero(counts)
        count = counts[both]
    else:
        both, count = np.unique(both, return_counts=True)
    ranks = (both[:, None] // FINEST // steps) % seats
    return Tally(match.lineup, ranks, count, both % FINEST)


def orders_of(tallies: Sequence[Tally]) -> Orders:
    """Put the results of all matches together; few matches have many units, and many have few."""
    own = int(np.clip(UNITS // max(len(tallies), 1), LEAST_UNITS, FINEST))
    found: dict[tuple[int, ...], list[tuple[np.ndarray, np.ndarray]]] = {}
    for place, part in enumerate(tallies):
        unit = place * own + part.unit % own
        which, at = np.unique(part.ranks, axis=0, return_inverse=True)
        for row, ranks in enumerate(which):
            same = at.reshape(-1) == row
            units, back = np.unique(unit[same], return_inverse=True)
            count = np.bincount(back, part.count[same])
            strict = strict_orders(ranks)
            for order in strict:
                members = tuple(part.lineup[of] for of in order)
                found.setdefault(members, []).append((units, count / len(strict)))
    seats = len(tallies[0].lineup) if tallies else 2
    runs = [(members, *row) for members, rows in found.items() for row in rows]
    orders = [np.tile(members, (len(units), 1)) for members, units, _ in runs]
    return Orders(
        np.concatenate([np.zeros((0, seats), np.int64), *orders]),
        np.concatenate([np.zeros(0), *(count for _, _, count in runs)]),
        np.concatenate([np.zeros(0, np.int64), *(units for _, units, _ in runs)]),
        own * len(tallies),
    )


def strict_orders(ranks: np.ndarray) -> list[np.ndarray]:
    """Give orders of places that a ranking with equals allows, so that each is before each equally.

    Equals are turned round, forwards and backwards, until everybody has been everywhere.
    """
    base = np.argsort(ranks, kind="stable")
    groups = [base[ranks[base] == rank] for rank in range(int(ranks.max()) + 1)]
    turns = int(np.lcm.reduce([len(group) for group in groups]))
    if turns == 1:
        return [base]
    return [
        np.concatenate([np.roll(group[::way], turn) for group in groups])
        for turn in range(turns)
        for way in (1, -1)
    ]


@compiled()
def slope(order, weight, strength, prior, gradient, bend):
    """Add up the slope of the likelihood and its bend (the negative of the second derivatives).

    order [results, seats], weight [results], strength [members], prior [members, 2], gradient
    [members], bend [members, members]; the last two are overwritten.
    """
    gradient[:] = 0.0
    bend[:] = 0.0
    results, seats = order.shape
    part = np.zeros(seats)
    for result in range(results):
        own = weight[result]
        for first in range(seats - 1):
            total = 0.0
            for place in range(first, seats):
                part[place] = np.exp(strength[order[result, place]])
                total += part[place]
            gradient[order[result, first]] += own
            for place in range(first, seats):
                part[place] /= total
                member = order[result, place]
                gradient[member] -= own * part[place]
                bend[member, member] += own * part[place]
            for one in range(first, seats):
                for two in range(first, seats):
                    both = own * part[one] * part[two]
                    bend[order[result, one], order[result, two]] -= both
    for member in range(len(strength)):
        chance = 1.0 / (1.0 + np.exp(-strength[member]))
        both = prior[member, 0] + prior[member, 1]
        gradient[member] += prior[member, 0] - both * chance
        bend[member, member] += both * chance * (1.0 - chance)


def fit(
    orders: Orders, weight: np.ndarray, prior: np.ndarray, start: np.ndarray | None = None
) -> np.ndarray:
    """Find the strengths under which weighted results are likeliest, by Newton's steps."""
    members = len(prior)
    strength = np.zeros(members) if start is None else start.copy()
    gradient, bend = np.zeros(members), np.zeros((members, members))
    for _ in range(MOST_STEPS):
        slope(orders.order, weight, strength, prior, gradient, bend)
        step = np.linalg.solve(bend, gradient)
        # Far from the top the bend promises too much: never go further than that at once.
        step *= min(1.0, LONGEST_STEP / max(np.abs(step).max(), 1e-12))
        strength += step
        if np.abs(step).max() < CLOSE:
            return strength
    raise KibitzError("The strengths did not settle; please report this with the league's store.")


def strengths(
    tallies: Sequence[Tally],
    members: int,
    *,
    anchor: tuple[int, float] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    prior: float = PRIOR,
) -> list[Strength]:
    """Rate all members at once, with 95% intervals.

    The mean of all is 1500; or the `anchor`, a member and its rating, says where the scale lies.
    Intervals say how sure a member's distance from the field is.
    """
    if not members:
        return []
    orders = orders_of(tallies)
    ones = np.full((members, 2), prior)
    best = fit(orders, orders.count, ones)
    rng = np.random.default_rng(seed)
    drawn = np.zeros((draws, members))
    for draw in range(draws):
        weight = orders.count * rng.exponential(size=orders.units)[orders.unit]
        drawn[draw] = fit(orders, weight, ones * rng.exponential(size=ones.shape), best)
    means = BASE + POINTS * (best - best.mean())
    if anchor is not None:
        member, rating = anchor
        means += rating - means[member]
    if not draws:
        return [Strength(mean=mean, low=mean, high=mean) for mean in means.tolist()]
    # Only differences mean something. A draw is moved to where it fits the best one in the middle:
    # a few who are far from all others, and nobody knows how far, must not blur everybody.
    apart = drawn - best
    apart -= np.median(apart, axis=1, keepdims=True)
    low, high = means + POINTS * np.quantile(apart, (0.025, 0.975), axis=0)
    # A rating is within its interval, also where the draws lie all to one side of it.
    return [
        Strength(mean=mean, low=min(mean, lowest), high=max(mean, highest))
        for mean, lowest, highest in zip(means.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
