"""The ladder: how everybody stands, by all ratings side by side, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kibitz.core.game import Game
from kibitz.core.notebook import Shown, card, heading, note
from kibitz.league.book import Member, Standing
from kibitz.league.contest import Cell, cells, circles, lottery, matrix
from kibitz.league.digest import Digest, estimate, share
from kibitz.league.played import Played
from kibitz.league.skill import Skill
from kibitz.league.strength import Strength
from kibitz.play.result import Estimate, SeatResult, Share, interval_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """How a member is rated, by every way of rating."""

    strength: Strength | None  # none for those who have not played
    elo: float
    skill: Skill


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """How one member stands. Where all play together, `strength` is points with oneself.

    share         of all wins at tables with others; several copies of one share theirs
    points        of a game; where all play together, with oneself
    with_others   points with others, where all play together
    lottery       the chance to send it, in the lottery that nobody beats
    """

    name: str
    place: int = 0  # from 1; 0 for those who have not played
    games: int
    rating: Rating
    share: Share | None
    points: Estimate | None
    with_others: Estimate | None
    lottery: float
    suspended: str | None
    seats: tuple[SeatResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder(Shown):
    """How everybody stands in a league, best first, and who beats whom."""

    league: str
    game: str
    settings: dict[str, Any]
    version: int
    cooperative: bool
    seed: int
    games: int
    rounds: int
    moves: int
    seconds: float = field(compare=False)  # of play, over all cores
    versions: tuple[str, ...]  # of kibitz
    anchor: str | None  # whose rating says where the scale lies
    rungs: tuple[Rung, ...]
    cells: Mapping[tuple[str, str], Cell] = field(default_factory=dict)
    circles: tuple[tuple[str, ...], ...] = ()
    seats: tuple[SeatResult, ...] = ()
    history: tuple[Standing, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)  # of the members in `history`

    def rung(self, name: str) -> Rung:
        """Give the rung on which a member stands."""
        return next(rung for rung in self.rungs if rung.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, for JSON."""
        apart = ("rungs", "cells", "circles", "seats", "history", "names")
        content = {name: getattr(self, name) for name in self.__slots__ if name not in apart}
        return {
            **content,
            "ladder": [asdict(rung) for rung in self.rungs],
            "matrix": [
                {"agent": one, "with": two, **asdict(cell)}
                for (one, two), cell in self.cells.items()
            ],
            "circles": [list(circle) for circle in self.circles],
            "seats": [asdict(seat) for seat in self.seats],
            "history": [{**asdict(row), "member": self.names[row.member]} for row in self.history],
        }

    def __str__(self) -> str:
        lines = [f"{self.league}, {self.games:,} games, {self.rounds} rounds"]
        for rung in self.rungs:
            strength = rung.rating.strength
            rating = (
                interval_text(strength.mean, strength.low, strength.high, 1) if strength else "-"
            )
            lines.append(f"  {rung.place or '-':>3}  {rung.name:<32} {rating}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from kibitz.league.sections import ladder_notes, ladder_table  # which need a ladder

        about = f"{self.games:,} games, {self.rounds:,} rounds, seed {self.seed}"
        notes = ["Intervals are 95%.", *ladder_notes(self)]
        return card(heading(self.league, about), ladder_table(self), note(" ".join(notes)))


def build(
    game: Game,
    about: Mapping[str, Any],
    members: Sequence[Member],
    played: Sequence[Played],
    ratings: Mapping[int, Rating],
    history: Sequence[Standing],
) -> Ladder:
    """Put a ladder together from what was played and how it was rated."""
    found = cells(played)
    active = [member.id for member in members if not member.suspended]
    chances = {} if game.cooperative else _chances(found, active)
    names = {member.id: member.name for member in members}
    digests = [match.digest for match in played]
    of_member: dict[int, list[Digest]] = {member.id: [] for member in members}
    for match in digests:
        for id in match.who:
            of_member[id].append(match)
    rungs = [
        _rung(game, one, of_member[one.id], found, ratings[one.id], chances.get(one.id, 0.0))
        for one in members
    ]
    rungs.sort(key=_height, reverse=True)
    placed = [
        replace(rung, place=place + 1 if rung.rating.strength else 0)
        for place, rung in enumerate(rungs)
    ]
    round_and_round = [] if game.cooperative else circles(found, active)
    return Ladder(
        game=game.name,
        settings=dict(game.settings),
        version=game.version,
        cooperative=game.cooperative,
        games=sum(match.games for match in digests),
        rungs=tuple(placed),
        cells={(names[one], names[two]): cell for (one, two), cell in sorted(found.items())},
        circles=tuple(tuple(names[member] for member in circle) for circle in round_and_round),
        seats=_seats(digests, None, game.players),
        history=tuple(history),
        names=names,
        **about,
    )


def _height(rung: Rung) -> float:
    return rung.rating.strength.mean if rung.rating.strength else float("-inf")


def _chances(found: Mapping[tuple[int, int], Cell], active: Sequence[int]) -> dict[int, float]:
    """Give the lottery over those who play."""
    where = {member: place for place, member in enumerate(active)}
    among = {
        (where[one], where[two]): cell
        for (one, two), cell in found.items()
        if one in where and two in where
    }
    return dict(zip(active, lottery(matrix(among, len(active))).tolist(), strict=True))


def _rung(
    game: Game,
    member: Member,
    played: Sequence[Digest],
    found: Mapping[tuple[int, int], Cell],
    rating: Rating,
    chance: float,
) -> Rung:
    points, won, others = [], [], []
    for match in played:
        one = match.who.index(member.id)
        points.append(match.points[one])
        if len(match.who) > 1:
            won.append(match.share[one])
            others.append(match.points[one])
    alone = found.get((member.id, member.id))
    if game.cooperative:
        own = alone.points if alone else None
    else:
        own = estimate(points) if points else None
    return Rung(
        name=member.name,
        games=sum(match.games for match in played),
        rating=rating,
        share=share(won) if won and not game.cooperative else None,
        points=own,
        with_others=estimate(others) if others and game.cooperative else None,
        lottery=chance,
        suspended=member.suspended,
        seats=_seats(played, member.id, game.players),
    )


def _seats(played: Sequence[Digest], member: int | None, seats: int) -> tuple[SeatResult, ...]:
    """Say how a member, or everybody, did at each seat; games of one deal are one observation."""
    if not played:
        return ()
    row = [len(match.who) if member is None else match.who.index(member) for match in played]
    # In every deal each place sits once at each seat.
    copies = [
        seats if member is None else match.copies[one]
        for match, one in zip(played, row, strict=True)
    ]
    return tuple(
        SeatResult(
            seat=seat,
            games=sum(m.games // seats * c for m, c in zip(played, copies, strict=True)),
            share=share([m.share_at[one, seat] for m, one in zip(played, row, strict=True)]),
            points=estimate([m.points_at[one, seat] for m, one in zip(played, row, strict=True)]),
        )
        for seat in range(seats)
    )
