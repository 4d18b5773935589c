"""Planning rounds: who lacks games, who meets whom, with which seeds.

A plan depends on the league's seed and on the rounds before, and on nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kibitz.core.chance import Chance
from kibitz.league.book import Book
from kibitz.league.pairings import BY_RATING, Lineup, Standings, pair

ROUNDS = 10  # in which the games that are asked for are played
MOST_GAMES = 200_000  # of a match
MOST_RECORDS = 400  # games that are kept move by move


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is wanted of the rounds to come.

    games       of every member
    precision   half the width of every interval, or none is asked for
    each        games of a match, or so many that there are ten rounds
    """

    pairing: str
    games: int
    precision: float | None = None
    each: int | None = None

    @property
    def needs_ratings(self) -> bool:
        """Whether the next round can be planned only when the last is rated."""
        return self.precision is not None or self.pairing in BY_RATING


class Planner:
    """Plans a league's rounds. What it has read of rounds that are over is not read again."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._rounds: dict[int, list[tuple[Lineup, int]]] = {}

    def _played(self, to: int) -> list[tuple[Lineup, int]]:
        """Give the lineups of all matches that were played, and how many games each had."""
        rounds = dict(self._rounds)
        for number, lineup, games in self.book.lineups(max(rounds, default=0), to):
            rounds.setdefault(number, []).append((lineup, games))
        # Nothing changes any more in the rounds before the last; in that one somebody may still
        # be playing, or be suspended.
        self._rounds = {number: of for number, of in rounds.items() if number < to}
        return [match for of in rounds.values() for match in of]

    def games(self, members: Sequence[int]) -> dict[int, int]:
        """Count the games of each member."""
        last = self.book.last_round()
        return _games(self._played(last.number if last else 0), members)

    def plan(
        self, last: int, members: Sequence[int], wish: Wish
    ) -> list[tuple[Lineup, int, int, int]]:
        """Plan the round after the last: lineup, seed, games, how many of them are kept.

        Nothing if all is played.
        """
        number, played, seats = last + 1, self._played(last), self.book.game.players
        games = _games(played, members)
        rows = self.book.history(last) if wish.needs_ratings else []
        width = {row.member: max(row.high - row.strength, row.strength - row.low) for row in rows}
        lacking = {
            member
            for member in members
            if games[member] < wish.games
            and (wish.precision is None or width.get(member, np.inf) > wish.precision)
        }
        alone = len(members) < 2 and not self.book.game.cooperative  # the others were suspended
        if not lacking or (alone and last):
            return []
        standings = Standings(
            members=members,
            seats=seats,
            cooperative=self.book.game.cooperative,
            rating={row.member: row.strength for row in rows},
            games=games,
            met=_met(played),
            newcomers=[member for member in members if member in lacking],
        )
        rng = Chance(seed_of(self.book.seed, number))
        lineups = [lineup for lineup in pair(wish.pairing, standings, rng) if lacking & set(lineup)]
        if not lineups:
            return []
        often = max(sum(member in lineup for lineup in lineups) for member in lacking)
        size = wish.each or -(-wish.games // max(often * ROUNDS, 1))
        size = min(-(-size // seats), MOST_GAMES // seats) * seats  # whole deals
        known = {lineup for lineup, _ in played}
        room = max(0, MOST_RECORDS - len(known))
        return [
            (
                lineup,
                seed_of(self.book.seed, number, place),
                size,
                int(lineup not in known and place < room),
            )
            for place, lineup in enumerate(lineups)
        ]


def _games(played: Sequence[tuple[Lineup, int]], members: Sequence[int]) -> dict[int, int]:
    counts = dict.fromkeys(members, 0)
    for lineup, games in played:
        for member in set(lineup) & set(counts):
            counts[member] += games
    return counts


def _met(played: Sequence[tuple[Lineup, int]]) -> dict[tuple[int, int], int]:
    """Count the games of every two, the smaller number first."""
    met: dict[tuple[int, int], int] = {}
    for lineup, games in played:
        for one in set(lineup):
            for two in set(lineup):
                if one < two:
                    met[one, two] = met.get((one, two), 0) + games
    return met


def seed_of(seed: int, *numbers: int) -> int:
    """Give a seed of its own to each round and match."""
    text = ":".join(map(str, (seed, *numbers))).encode()
    digest = hashlib.blake2b(text, digest_size=8, person=b"kibitz league")
    return int.from_bytes(digest.digest(), "little") >> 1
