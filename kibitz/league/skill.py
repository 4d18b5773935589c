"""Ratings by OpenSkill (Weng and Lin, 2011; Plackett-Luce): a mean and how unsure it is.

The library rates some ten thousand games a second and compiled agents play a hundred times as many.
So of a match it is shown at most `SEEN` games, evenly spread over it; a member who sits at several
places gets the mean of what these would have got.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kibitz.league.played import Played, ranked

MEAN, SPREAD = 25.0, 25.0 / 3.0
SEEN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill and how unsure it is."""

    mean: float = MEAN
    spread: float = SPREAD

    def floor(self) -> float:
        """A skill this agent very probably exceeds."""
        return self.mean - 3 * self.spread


def skills(
    played: Iterable[Played], members: int, start: list[Skill] | None = None, seen: int = SEEN
) -> list[Skill]:
    """Give the skill of every member after these matches, in the order they are given."""
    from openskill.models import PlackettLuce

    model = PlackettLuce(mu=MEAN, sigma=SPREAD)
    known = start or [Skill()] * members
    ratings = [model.rating(mu=skill.mean, sigma=skill.spread) for skill in known]
    for match in played:
        chosen = np.unique(np.linspace(0, match.games - 1, min(seen, match.games)).astype(int))
        _, ranks = ranked(match.points[chosen])
        for row in ranks.tolist():
            teams = [[ratings[member]] for member in match.lineup]
            rated = [team[0] for team in model.rate(teams, ranks=[float(rank) for rank in row])]
            for member in set(match.lineup):
                own = [of for who, of in zip(match.lineup, rated, strict=True) if who == member]
                ratings[member] = model.rating(
                    mu=sum(of.mu for of in own) / len(own),
                    sigma=sum(of.sigma for of in own) / len(own),
                )
    return [Skill(mean=rating.mu, spread=rating.sigma) for rating in ratings]
