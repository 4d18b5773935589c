"""Strengths that make the results most likely (Plackett-Luce; Bradley-Terry with two seats).

Whoever has strength s comes first among those still at the table with the chance exp(s) / sum; the
same goes for the second place among the rest, and so on. Equal points count as several orders of
those who share them, in which each is before each equally often. To keep those finite who always
win, everybody has also won and lost once against a player of strength 0 (`PRIOR`).

Intervals are from a Bayesian bootstrap (Rubin, 1981): everything is fitted again many times with
random weights. A weight belongs to some deals of a lineup as a whole, since games of one deal are
not independent of each other; and the two games of the prior have theirs, so that somebody who
always wins is known to be strong, but not how strong.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kibitz.core.compiled import compiled, compiled_loop
from kibitz.league.elo import BASE, SCALE
from kibitz.league.played import Played, rank_game

PRIOR = 1.0  # games won, and as many lost, against nobody in particular
DRAWS = 400  # fits with random weights
UNITS = 8_000  # sets of deals with a weight of their own, over all matches
LEAST_UNITS, FINEST = 4, 64  # of a match
MOST_ROWS = 20_000  # of orders and units, which every fit goes through once
AT_ONCE = 50  # fits whose weights are drawn together
POINTS = SCALE / np.log(10)  # Elo points of a strength of 1
FAR = 3.0  # times as unsure as most, and a member does not count for the scale
CLOSE, ROUGHLY, MOST_STEPS, LONGEST_STEP = 1e-7, 1e-3, 100, 2.0
TINY = 1e-14  # of the likelihood: a gain that is lost in rounding
SMALLEST = 1e-300


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
    """How often which order came about in a match, and in which unit of deals."""

    orders: np.ndarray  # [orders, seats], members, the best first
    which: np.ndarray  # [rows], an order
    unit: np.ndarray  # [rows], below FINEST
    count: np.ndarray  # [rows]

    def renamed(self, where: Mapping[int, int]) -> Tally:
        """Give the same with other numbers for the members."""
        named = [[where[int(member)] for member in order] for order in self.orders]
        return replace(self, orders=np.array(named, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Orders:
    """How often which order came about in all matches, and how much of that in which unit."""

    order: np.ndarray  # [orders, seats], members, the best first
    count: np.ndarray  # [orders]
    which: np.ndarray  # [rows], an order
    unit: np.ndarray  # [rows]
    part: np.ndarray  # [rows], of the count
    units: int


def tally(match: Played) -> Tally:
    """Count the results of a match, which is done once and is much less than the match."""
    seats = match.seats
    both = np.zeros(match.games, np.int64)
    code_games(np.ascontiguousarray(match.points, np.float64), both)
    if seats**seats * FINEST <= 1 << 20:
        counts = np.bincount(both)
        both = np.flatnonzero(counts)
        counts = counts[both]
    else:
        both, counts = np.unique(both, return_counts=True)
    code, unit = both // FINEST, both % FINEST
    known: dict[tuple[int, ...], int] = {}
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for result in np.unique(code).tolist():
        same = slice(*np.searchsorted(code, [result, result + 1]))
        strict = strict_orders(tuple(result // seats**place % seats for place in range(seats)))
        for order in strict:  # several are one where copies of a member play
            number = known.setdefault(tuple(match.lineup[place] for place in order), len(known))
            of_order = np.full(same.stop - same.start, number)
            parts.append((of_order, unit[same], counts[same] / len(strict)))
    which, unit, count = (np.concatenate(of) for of in zip(*parts, strict=True))
    return Tally(np.array(list(known), np.int64), *_merged(which, unit, count, FINEST))


@compiled_loop
def code_games(points, both):
    """Write the ranks and the unit of each game as one number. points [games, seats], both [games]

    Deals go round the units, so that each of them is spread over the whole match.
    """
    games, seats = points.shape
    order, ranks = np.zeros(seats, np.int64), np.zeros(seats, np.int64)
    for game in range(games):
        rank_game(points, game, order, ranks)
        code = 0
        for place in range(seats - 1, -1, -1):
            code = code * seats + ranks[place]
        both[game] = code * FINEST + game // seats % FINEST


def _merged(
    which: np.ndarray, unit: np.ndarray, count: np.ndarray, units: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add up what has the same order and unit."""
    both, back = np.unique(which * units + unit, return_inverse=True)
    return both // units, both % units, np.bincount(back, count)


def orders_of(tallies: Sequence[Tally]) -> Orders:
    """Put the results of all matches together; few matches have many units, and many have few."""
    if not tallies:
        none = np.zeros(0, np.int64)
        return Orders(np.zeros((0, 2), np.int64), np.zeros(0), none, none, np.zeros(0), 0)
    every, back = np.unique(
        np.concatenate([part.orders for part in tallies]), axis=0, return_inverse=True
    )
    first = np.cumsum([0, *(len(part.orders) for part in tallies)])
    which = np.concatenate(
        [back.reshape(-1)[at + part.which] for at, part in zip(first, tallies, strict=False)]
    )
    match = np.repeat(np.arange(len(tallies)), [len(part.which) for part in tallies])
    fine = np.concatenate([part.unit for part in tallies])
    count = np.concatenate([part.count for part in tallies])
    own = int(np.clip(UNITS // len(tallies), LEAST_UNITS, FINEST))
    while True:
        units = own * len(tallies)
        order, unit, part = _merged(which, match * own + fine % own, count, units)
        if len(order) <= MOST_ROWS or own <= LEAST_UNITS:
            counts = np.bincount(order, part, len(every))
            return Orders(np.ascontiguousarray(every), counts, order, unit, part, units)
        own = max(LEAST_UNITS, own // 2)


@functools.cache
def strict_orders(ranks: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Give orders of places that a ranking with equals allows, so that each is before each equally.

    Equals are turned round, forwards and backwards, until everybody has been everywhere.
    """
    groups = [
        [place for place, of in enumerate(ranks) if of == rank] for rank in range(max(ranks) + 1)
    ]
    turns = math.lcm(*map(len, groups))
    if turns == 1:
        return [tuple(group[0] for group in groups)]
    found = []
    for turn in range(turns):
        for way in (1, -1):
            turned = (group[::way] for group in groups)
            found.append(tuple(g[(at + turn) % len(g)] for g in turned for at in range(len(g))))
    return found


@compiled()
def slope(order, weight, strength, prior, gradient, bend):
    """Add up the slope of the likelihood and its bend (the negative of the second derivatives).

    Gives the logarithm of the likelihood itself.

    order [results, seats], weight [results], strength [members], prior [members, 2], gradient
    [members], bend [members, members]; the last two are overwritten.
    """
    gradient[:] = 0.0
    bend[:] = 0.0
    results, seats = order.shape
    part = np.zeros(seats)
    odds = np.exp(strength)
    likelihood = 0.0
    for result in range(results):
        own = weight[result]
        for first in range(seats - 1):
            total = 0.0
            for place in range(first, seats):
                part[place] = odds[order[result, place]]
                total += part[place]
            gradient[order[result, first]] += own
            likelihood += own * (strength[order[result, first]] - np.log(total))
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
        likelihood -= prior[member, 0] * np.log1p(np.exp(-strength[member]))
        likelihood -= prior[member, 1] * np.log1p(np.exp(strength[member]))
    return likelihood


@compiled()
def solve(bend, gradient, step):
    """Solve bend * step = gradient by Cholesky's way; the lower half of bend is overwritten."""
    members = len(gradient)
    for row in range(members):
        for column in range(row + 1):
            rest = bend[row, column]
            for k in range(column):
                rest -= bend[row, k] * bend[column, k]
            if column < row:
                bend[row, column] = rest / bend[column, column]
            else:  # where nothing is known rounding may leave less than nothing
                bend[row, row] = np.sqrt(max(rest, TINY * bend[row, row], SMALLEST))
    for row in range(members):
        step[row] = gradient[row]
        for k in range(row):
            step[row] -= bend[row, k] * step[k]
        step[row] /= bend[row, row]
    for row in range(members - 1, -1, -1):
        for k in range(row + 1, members):
            step[row] -= bend[k, row] * step[k]
        step[row] /= bend[row, row]


@compiled_loop
def fit(order, weight, prior, start, close):
    """Find the strengths under which weighted results are likeliest, by Newton's steps.

    order [orders, seats], weight [orders], prior [members, 2], start [members]
    """
    members = len(prior)
    strength, base = start.copy(), start.copy()
    gradient, bend = np.zeros(members), np.zeros((members, members))
    step = np.zeros(members)
    before = -np.inf
    for _ in range(MOST_STEPS):
        likelihood = slope(order, weight, strength, prior, gradient, bend)
        if likelihood < before:  # that was too far: half as far
            step /= 2
        elif likelihood - before <= TINY * abs(likelihood):  # no more to be had with such numbers
            return strength
        else:
            base[:] = strength
            before = likelihood
            solve(bend, gradient, step)
            # Far from the top the bend promises too much: never go further than that at once.
            step *= min(1.0, LONGEST_STEP / max(np.abs(step).max(), 1e-12))
        strength[:] = base + step
        if np.abs(step).max() < close:
            return strength
    return base


@compiled_loop
def fit_again(order, which, unit, part, weights, priors, best, found):
    """Fit with random weights of units, once for each row of `found`.

    Many rows of results are few orders, so weights are added up before anything is fitted.

    which, unit, part [rows], weights [draws, units], priors [draws, members, 2],
    best [members], found [draws, members]
    """
    weight = np.zeros(len(order))
    for draw in range(len(found)):
        weight[:] = 0.0
        for row in range(len(which)):
            weight[which[row]] += part[row] * weights[draw, unit[row]]
        found[draw] = fit(order, weight, priors[draw], best, ROUGHLY)


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

    The mean of those who are known well (less than three times as unsure as most) is 1500; or the
    `anchor`, a member and its rating, says where the scale lies.
    Intervals say how sure a member's distance from the field is.
    """
    if not members:
        return []
    orders = orders_of(tallies)
    ones = np.full((members, 2), prior)
    best = fit(orders.order, orders.count, ones, np.zeros(members), CLOSE)
    rng = np.random.default_rng(seed)
    drawn = np.zeros((draws, members))
    for first in range(0, draws, AT_ONCE):
        some = drawn[first : first + AT_ONCE]
        weights, priors = np.zeros((len(some), orders.units)), np.zeros((len(some), *ones.shape))
        for draw in range(len(some)):
            weights[draw] = rng.exponential(size=orders.units)
            priors[draw] = ones * rng.exponential(size=ones.shape)
        rows = orders.which, orders.unit, orders.part
        fit_again(orders.order, *rows, weights, priors, best, some)
    # Only differences mean something. The scale is pinned to those who are known well: a few who
    # are far from all others, and nobody knows how far, must not move or blur everybody.
    apart = drawn - best
    spread = (apart - np.median(apart, axis=1, keepdims=True)).std(axis=0) if draws else best * 0
    known = spread <= FAR * np.median(spread)
    means = BASE + POINTS * (best - best[known].mean())
    if anchor is not None:
        member, rating = anchor
        means += rating - means[member]
    if not draws:
        return [Strength(mean=mean, low=mean, high=mean) for mean in means.tolist()]
    apart -= apart[:, known].mean(axis=1, keepdims=True)
    low, high = means + POINTS * np.quantile(apart, (0.025, 0.975), axis=0)
    # A rating is within its interval, also where the draws lie all to one side of it.
    return [
        Strength(mean=mean, low=min(mean, lowest), high=max(mean, highest))
        for mean, lowest, highest in zip(means.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
