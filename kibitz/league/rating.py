"""Rating a league from its book: all ways of rating side by side, round by round."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kibitz.core.errors import KibitzError
from kibitz.league.book import Book, Member, Standing
from kibitz.league.contest import cells
from kibitz.league.elo import BASE, elo
from kibitz.league.ladder import Ladder, Rating, build
from kibitz.league.pairings import Lineup
from kibitz.league.played import Played
from kibitz.league.skill import Skill, skills
from kibitz.league.strength import Strength, Tally, strengths, tally

ANCHOR, ANCHORED = "perfect", 2000.0  # whoever plays perfectly has this rating, if anybody does


class Rater:
    """Reads a book as it grows, and rates. What has been read is not read or counted again."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._rounds: dict[int, list[tuple[Played, Tally]]] = {}  # those that are over
        self._one_at_a_time = threading.RLock()  # somebody may want a ladder during a run

    def _closed(self, to: int) -> None:
        """Read the rounds that are over, up to this one."""
        read = max(self._rounds, default=0)
        if read < to:
            self._rounds.update({number: [] for number in range(read + 1, to + 1)})
            for match in self._read(read, to):
                self._rounds[match[0].round].append(match)

    def _read(self, after: int, to: int | None = None) -> list[tuple[Played, Tally]]:
        found = []
        for _, match in self.book.played(after, to):
            match.digest  # noqa: B018  added up now, while the next round is played
            found.append((match, tally(match)))
        return found

    def _matches(self, to: int) -> list[tuple[Played, Tally]]:
        self._closed(to)
        return [match for number in range(1, to + 1) for match in self._rounds[number]]

    def close(self, number: int) -> list[Standing]:
        """Rate everybody after a round whose matches are all over."""
        with self._one_at_a_time:
            self._rounds = {one: of for one, of in self._rounds.items() if one < number}
            matches = self._matches(number)
            ratings = self._rate(matches, number - 1, self._rounds[number], number)
        games: dict[int, int] = {}
        for match, _ in matches:
            for member in set(match.lineup):
                games[member] = games.get(member, 0) + match.games
        return [
            Standing(
                round=number, member=member, games=games.get(member, 0), elo=rating.elo,
                skill=rating.skill.mean, spread=rating.skill.spread,
                strength=rating.strength.mean, low=rating.strength.low, high=rating.strength.high,
            )
            for member, rating in ratings.items()
            if rating.strength is not None
        ]  # fmt: skip

    def ladder(self, members: Sequence[Member]) -> Ladder:
        """Put the ladder together, from the rounds that are over and what is there of the next."""
        with self._one_at_a_time:
            last = self.book.rated()
            over = self._matches(last)
            more = self._read(last)
        if more:
            ratings = self._rate([*over, *more], last, more, last)
        else:
            ratings = {row.member: _rating(row) for row in self.book.history(last)}
        seconds, moves, versions = self.book.figures()
        unrated = Rating(strength=None, elo=BASE, skill=Skill())
        anchor = self._anchor(members)
        about = {
            "league": self.book.name, "seed": self.book.seed, "rounds": last, "moves": moves,
            "seconds": seconds, "versions": tuple(versions),
            "anchor": anchor.name if anchor and anchor.id in ratings else None,
        }  # fmt: skip
        return build(
            self.book.game, about, members, [match for match, _ in [*over, *more]],
            {member.id: ratings.get(member.id, unrated) for member in members},
            self.book.history(),
        )  # fmt: skip

    def _anchor(self, members: Sequence[Member]) -> Member | None:
        return next((member for member in members if member.who == ANCHOR), None)

    def _rate(
        self,
        matches: Sequence[tuple[Played, Tally]],
        after: int,
        fresh: Sequence[tuple[Played, Tally]],
        seed: int,
    ) -> dict[int, Rating]:
        """Rate all who have played: strengths from all matches, the rest from a round on."""
        ids = sorted({member for match, _ in matches for member in match.lineup})
        if self.book.game.cooperative:
            return self._rate_together(ids, [match for match, _ in matches])
        where = {member: place for place, member in enumerate(ids)}
        earlier = {row.member: row for row in self.book.history(after)}
        if after and not earlier and len(matches) > len(fresh):
            raise KibitzError(f"The store has no ladder after round {after}; bring back a copy.")
        ahead = [_with(match, where) for match, _ in fresh]
        rated = elo(ahead, len(ids), [earlier[id].elo if id in earlier else BASE for id in ids])
        known = [
            Skill(mean=earlier[id].skill, spread=earlier[id].spread) if id in earlier else Skill()
            for id in ids
        ]
        skilled = skills(ahead, len(ids), known)
        anchor = self._anchor(self.book.members())
        fixed = (where[anchor.id], ANCHORED) if anchor and anchor.id in where else None
        tallies = [count.renamed(where) for _, count in matches]
        strong = strengths(tallies, len(ids), anchor=fixed, seed=seed)
        return {
            id: Rating(strength=strong[place], elo=float(rated[place]), skill=skilled[place])
            for place, id in enumerate(ids)
        }

    def _rate_together(self, ids: Sequence[int], matches: Sequence[Played]) -> dict[int, Rating]:
        """Where all play together, a member is as good as the points that it gets with itself."""
        found = cells(matches)
        rated = {}
        for id in ids:
            strength = None
            if (id, id) in found:
                own = found[id, id].points
                low, high = own.mean - own.plus_minus, own.mean + own.plus_minus
                strength = Strength(mean=own.mean, low=low, high=high)
            rated[id] = Rating(strength=strength, elo=BASE, skill=Skill())
        return rated


def _rating(row: Standing) -> Rating:
    """Give a rating as it was written down."""
    return Rating(
        strength=Strength(mean=row.strength, low=row.low, high=row.high),
        elo=row.elo,
        skill=Skill(mean=row.skill, spread=row.spread),
    )


def _moved(lineup: Lineup, where: Mapping[int, int]) -> Lineup:
    return tuple(where[member] for member in lineup)


def _with(match: Played, where: Mapping[int, int]) -> Played:
    return replace(match, lineup=_moved(match.lineup, where))
