"""Rating a league from its book: all ways of rating side by side, round by round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kibitz.core.errors import KibitzError
from kibitz.league.book import Book, Member, Standing
from kibitz.league.contest import cells
from kibitz.league.elo import BASE, elo
from kibitz.league.ladder import Ladder, Rating, build
from kibitz.league.pairings import Lineup, Standings
from kibitz.league.played import Played
from kibitz.league.skill import Skill, skills
from kibitz.league.strength import Strength, Tally, strengths, tally

ANCHOR, ANCHORED = "perfect", 2000.0  # whoever plays perfectly has this rating, if anybody does


@dataclass(kw_only=True)
class Known:
    """What pairings need to know of the rounds that are over."""

    rounds: int = 0
    games: dict[int, int] = field(default_factory=dict)
    met: dict[tuple[int, int], int] = field(default_factory=dict)
    lineups: set[Lineup] = field(default_factory=set)
    rating: Mapping[int, float] = field(default_factory=dict)
    width: Mapping[int, float] = field(default_factory=dict)  # half of each interval
    seats: int = 2
    cooperative: bool = False

    def for_pairing(self, members: Sequence[int], lacking: set[int]) -> Standings:
        """Give it in the form that pairings take."""
        return Standings(
            members=members,
            seats=self.seats,
            cooperative=self.cooperative,
            rating=self.rating,
            games=self.games,
            met=self.met,
            newcomers=[member for member in members if member in lacking],
        )


class Rater:
    """Reads a book as it grows, and rates. What has been read is not read again."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._rounds: dict[int, list[tuple[Played, Tally]]] = {}  # those that are over

    def _closed(self, to: int) -> None:
        """Read the rounds that are over, up to this one."""
        read = max(self._rounds, default=0)
        if read < to:
            self._rounds.update({number: [] for number in range(read + 1, to + 1)})
            for _, match in self.book.played(read, to):
                self._rounds[match.round].append((match, tally(match)))

    def _matches(self, to: int) -> list[tuple[Played, Tally]]:
        self._closed(to)
        return [match for number in range(1, to + 1) for match in self._rounds[number]]

    def _last(self) -> int:
        last = self.book.last_round()
        return 0 if last is None else last.number if last.rated else last.number - 1

    def games(self, members: Iterable[int]) -> dict[int, int]:
        """Count the games of each member."""
        counts = dict.fromkeys(members, 0)
        for match, _ in self._matches(self._last()):
            for member in set(match.lineup) & set(counts):
                counts[member] += match.games
        return counts

    def standings(self, members: Sequence[int]) -> Known:
        """Say what is known after the rounds that are over."""
        last = self._last()
        rows = [row for row in self.book.history() if row.round == last]
        known = Known(
            rounds=last,
            games=self.games(members),
            rating={row.member: row.strength for row in rows},
            width={
                row.member: max(row.high - row.strength, row.strength - row.low) for row in rows
            },
            seats=self.book.game.players,
            cooperative=self.book.game.cooperative,
        )
        for match, _ in self._matches(last):
            known.lineups.add(match.lineup)
            for one in set(match.lineup):
                for two in set(match.lineup):
                    if one < two:
                        known.met[one, two] = known.met.get((one, two), 0) + match.games
        return known

    def close(self, number: int) -> list[Standing]:
        """Rate everybody after a round whose matches are all over."""
        self._rounds.pop(number, None)
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
        last = self._last()
        over = self._matches(last)
        more = [(match, tally(match)) for _, match in self.book.played(last)]
        ratings = self._rate([*over, *more], last, more, last)
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
        earlier = {row.member: row for row in self.book.history() if row.round == after}
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


def _moved(lineup: Lineup, where: Mapping[int, int]) -> Lineup:
    return tuple(where[member] for member in lineup)


def _with(match: Played, where: Mapping[int, int]) -> Played:
    return replace(match, lineup=_moved(match.lineup, where))
