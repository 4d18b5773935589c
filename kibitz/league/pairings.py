"""Pairings: who sits with whom in the next round.

A pairing is given the standings and answers with lineups, a member for each place. Seats rotate
within a match, so a lineup says who plays, not who begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from kibitz.core.chance import Chance
from kibitz.core.errors import unknown

NEAREST = 4  # whom a newcomer meets in a round, once everybody has been met

Lineup = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Standings:
    """What pairings know: who is there, how they stand, and how often they have met."""

    members: Sequence[int]  # who plays, in the order in which they joined
    seats: int
    cooperative: bool = False
    rating: Mapping[int, float] = field(default_factory=dict)
    games: Mapping[int, int] = field(default_factory=dict)
    met: Mapping[tuple[int, int], int] = field(default_factory=dict)  # games of two, smaller first
    newcomers: Sequence[int] = ()  # whom the ladder is to place

    def times(self, one: int, two: int) -> int:
        """Give how many games two have played together."""
        return self.met.get((min(one, two), max(one, two)), 0)


def together(one: int, two: int, seats: int) -> list[Lineup]:
    """Seat two members at a table of any size, in turn; if it is odd, each once more often."""
    turns = [tuple((one, two)[place % 2] for place in range(seats))]
    if seats % 2:
        turns.append(tuple((two, one)[place % 2] for place in range(seats)))
    return turns


def robin(standings: Standings, rng: Chance) -> list[Lineup]:
    """Everybody meets everybody; with more than two seats, copies of two share a table."""
    pairs = combinations(standings.members, 2)
    return [lineup for pair in pairs for lineup in together(*pair, standings.seats)]


def tables(standings: Standings, rng: Chance) -> list[Lineup]:
    """Everybody sits at a random table, with different others as long as there are enough."""
    members = list(standings.members)
    rng.shuffle(members)
    return _cut(members, standings, rng)


def swiss(standings: Standings, rng: Chance) -> list[Lineup]:
    """Those who stand next to each other meet, and those before others who have met less."""
    order = list(standings.members)
    rng.shuffle(order)  # equals are in random order
    order.sort(key=lambda member: -standings.rating.get(member, 0.0))
    if standings.seats > 2:
        return _cut(order, standings, rng)
    if len(order) % 2:  # whoever has enough rests, or whoever has played most
        lacking = set(standings.newcomers)
        rests = max(
            reversed(order), key=lambda one: (one not in lacking, standings.games.get(one, 0))
        )
        order.remove(rests)
    lineups: list[Lineup] = []
    while order:
        one = order.pop(0)
        two = min(order, key=lambda other: (standings.times(one, other), order.index(other)))
        order.remove(two)
        lineups.append((one, two))
    return lineups


def ladder(standings: Standings, rng: Chance) -> list[Lineup]:
    """Newcomers meet everybody once, and from then on those who stand nearest to them."""
    lineups = []
    done: set[frozenset[int]] = set()
    for newcomer in standings.newcomers or _fewest(standings):
        others = [member for member in standings.members if member != newcomer]
        if all(standings.times(newcomer, other) for other in others):
            own = standings.rating.get(newcomer, 0.0)
            others.sort(key=lambda other: abs(standings.rating.get(other, 0.0) - own))
            others = others[:NEAREST]
        for other in others:
            pair = frozenset((newcomer, other))
            if pair not in done:
                done.add(pair)
                lineups += together(newcomer, other, standings.seats)
    return lineups


PAIRINGS: dict[str, Callable[[Standings, Chance], list[Lineup]]] = {
    "robin": robin, "tables": tables, "swiss": swiss, "ladder": ladder,
}  # fmt: skip


BY_RATING = {"swiss", "ladder"}  # these wait for the ratings of the round before


def pairing_of(name: str) -> Callable[[Standings, Chance], list[Lineup]]:
    """Find a pairing by its name."""
    if name not in PAIRINGS:
        raise unknown("pairing", name, PAIRINGS)
    return PAIRINGS[name]


def pair(name: str, standings: Standings, rng: Chance) -> list[Lineup]:
    """Plan a round: the lineups that meet in it, none of them twice the same."""
    lineups = pairing_of(name)(standings, rng) if len(standings.members) > 1 else []
    if standings.cooperative:  # how one plays with oneself is the first thing to know
        lineups = [(member,) * standings.seats for member in standings.members] + lineups
    return list(dict.fromkeys(lineups))


def _fewest(standings: Standings) -> list[int]:
    """Give those who have played least."""
    least = min(standings.games.get(member, 0) for member in standings.members)
    return [member for member in standings.members if standings.games.get(member, 0) == least]


def _cut(members: list[int], standings: Standings, rng: Chance) -> list[Lineup]:
    """Cut a row of members into tables; the last is filled up with others, then with copies."""
    seats = standings.seats
    lineups = []
    for first in range(0, len(members), seats):
        lineup = members[first : first + seats]
        others = [member for member in members if member not in lineup]
        rng.shuffle(others)
        others.sort(key=lambda member: standings.games.get(member, 0))
        lineup += others[: seats - len(lineup)]
        distinct = len(lineup)
        while len(lineup) < seats:  # fewer members than seats
            lineup.append(lineup[len(lineup) % distinct])
        lineups.append(tuple(lineup))
    return lineups
