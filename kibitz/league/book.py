"""The book of one league: members, rounds, matches and results, as they are in the store.

A match is planned, claimed, then played; or it is void, because a member of it was suspended in
that round.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game
from kibitz.league.claims import Claim, Claims, lineup_of
from kibitz.league.played import Played, unpack
from kibitz.league.store import Store, league_command
from kibitz.league.tables import (
    CLAIMED,
    LEAGUES,
    MATCHES,
    MEMBERS,
    PLANNED,
    PLAYED,
    RATINGS,
    RECORDS,
    RESULTS,
    ROUNDS,
    SEATING,
    VOID,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Somebody who takes part. `who` is none for an object that lives in one process only."""

    id: int
    name: str
    who: str | None
    settings: str
    fingerprint: str
    kibitz: str
    suspended: str | None

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "name": self.name, "who": self.who, "settings": json.loads(self.settings),
            "fingerprint": self.fingerprint, "kibitz": self.kibitz, "suspended": self.suspended,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A round: matches that are planned together."""

    id: int
    number: int
    pairing: str
    rated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A row of the ladder after a round."""

    round: int
    member: int
    games: int
    elo: float
    skill: float
    spread: float
    strength: float
    low: float
    high: float


class Book(Claims):
    """What is written about a league, and how to write more."""

    def __init__(self, store: Store, game: Game, row: Any) -> None:
        super().__init__(store)
        self.game = game
        self.id: int = row.id
        self.name: str = row.name
        self.seed = int(row.seed)

    def command(self, action: str = "") -> str:
        """Write the command that does something with this league."""
        return league_command(self.game, self.store.given, self.name, action)

    # --- leagues -------------------------------------------------------------------------------

    @classmethod
    def open(cls, store: Store, game: Game, name: str, seed: int | None, kibitz: str) -> Book:
        """Open a league, and begin it if a seed is given and there is none."""
        row = _league(store, name)
        if row is None and seed is None:
            raise Misuse(
                f"There is no league '{name}' in {store.name} yet. "
                f"To begin one: {league_command(game, store.given, name, 'run')}"
            )
        if row is None:
            content = {
                "name": name, "game": game.name, "version": game.version,
                "settings": json.dumps(dict(game.settings), sort_keys=True),
                "seed": str(seed), "kibitz": kibitz, "made_at": time.time(),
            }  # fmt: skip
            # Another process may do the same at this moment: then its league is the one.
            with contextlib.suppress(IntegrityError), store.writing() as connection:
                connection.execute(sa.insert(LEAGUES).values(content))
            row = _league(store, name)
            assert row is not None
        ours = json.loads(json.dumps(dict(game.settings)))
        if row.game != game.name or json.loads(row.settings) != ours:
            raise Misuse(
                f"The league '{name}' is one of {row.game} with {row.settings}, not of "
                f"{game.described()}. Choose another with --name."
            )
        if row.version != game.version:
            raise Misuse(
                f"The league '{name}' was played by version {row.version} of {game.name}; this "
                f"kibitz has version {game.version}, and results of two versions do not compare. "
                "Begin another with --name."
            )
        return cls(store, game, row)

    # --- members -------------------------------------------------------------------------------

    def members(self) -> list[Member]:
        """List everybody, in the order in which they joined."""
        with self.store.reading() as connection:
            return _members(connection, self.id)

    def member(self, name: str) -> Member:
        """Find a member by name."""
        known = {member.name: member for member in self.members()}
        if name not in known:
            raise unknown(f"agent in the league '{self.name}'", name, known)
        return known[name]

    def add(
        self, name: str, who: str | None, settings: str, fingerprint: str, kibitz: str
    ) -> Member:
        """Let somebody join; who is there already, and plays alike, is not added again."""
        content = {
            "league": self.id, "name": name, "who": who, "settings": settings,
            "fingerprint": fingerprint, "kibitz": kibitz, "added_at": time.time(),
        }  # fmt: skip
        with contextlib.suppress(IntegrityError), self.store.writing() as connection:
            connection.execute(sa.insert(MEMBERS).values(content))
        member = self.member(name)
        if member.fingerprint != fingerprint:
            raise Misuse(
                f"'{name}' of the league '{self.name}' is another agent: its model, its settings "
                "or its program has changed since it joined. Add this one under a name of its own: "
                f"{self.command(f'add NAME={who or name}')}"
            )
        return member

    def suspend(self, member: int, reason: str) -> None:
        """Let a member play no more, for a reason; its matches of an open round do not count."""
        last = self.last_round()
        with self.store.writing() as connection:
            self._suspend(connection, member, reason, last.id if last else None)

    def fail(self, claim: Claim, place: int, reason: str) -> bool:
        """Suspend who has failed in a match, unless that match is ours no longer."""
        with self.store.writing() as connection:
            round_id = connection.execute(
                sa.select(MATCHES.c.round)
                .where(MATCHES.c.id == claim.id, MATCHES.c.state == CLAIMED)
                .where(MATCHES.c.worker == self.worker)
                .with_for_update()
            ).scalar()
            if round_id is not None:
                self._suspend(connection, claim.lineup[place], reason, round_id)
            return round_id is not None

    def _suspend(
        self, connection: sa.Connection, member: int, reason: str, round_id: int | None
    ) -> None:
        connection.execute(
            sa.update(MEMBERS)
            .where(MEMBERS.c.id == member, MEMBERS.c.suspended.is_(None))
            .values(suspended=reason)
        )
        is_open = sa.select(ROUNDS.c.id).where(ROUNDS.c.id == round_id, ROUNDS.c.rated_at.is_(None))
        if connection.execute(is_open).scalar() is None:  # what is rated stays
            return
        mine = sa.select(SEATING.c.match).where(SEATING.c.member == member)
        # Which of them had been played is a matter of chance: so none of them counts.
        here = sa.and_(MATCHES.c.round == round_id, MATCHES.c.id.in_(mine))
        ids = sa.select(MATCHES.c.id).where(here)
        # First the matches: that waits for whoever is writing a result of one.
        connection.execute(sa.update(MATCHES).where(here).values(state=VOID, worker=None))
        connection.execute(sa.delete(RECORDS).where(RECORDS.c.match.in_(ids)))
        connection.execute(sa.delete(RESULTS).where(RESULTS.c.match.in_(ids)))

    def readmit(self, member: int) -> None:
        """Let a suspended member play again."""
        with self.store.writing() as connection:
            connection.execute(
                sa.update(MEMBERS).where(MEMBERS.c.id == member).values(suspended=None)
            )

    # --- rounds --------------------------------------------------------------------------------

    def last_round(self) -> Round | None:
        """Give the round that was planned last."""
        with self.store.reading() as connection:
            row = connection.execute(
                sa.select(ROUNDS)
                .where(ROUNDS.c.league == self.id)
                .order_by(ROUNDS.c.number.desc())
                .limit(1)
            ).first()
        return None if row is None else _round(row)

    def unrated(self) -> list[Round]:
        """Give the rounds that have no ladder yet, the first round first."""
        with self.store.reading() as connection:
            rows = connection.execute(
                sa.select(ROUNDS)
                .where(ROUNDS.c.league == self.id, ROUNDS.c.rated_at.is_(None))
                .order_by(ROUNDS.c.number)
            )
            return [_round(row) for row in rows]

    def rated(self) -> int:
        """Give the number of the last round that has a ladder; 0 if none has."""
        with self.store.reading() as connection:
            found = connection.execute(
                sa.select(sa.func.max(ROUNDS.c.number)).where(
                    ROUNDS.c.league == self.id, ROUNDS.c.rated_at.is_not(None)
                )
            ).scalar()
            return found or 0

    def plan(
        self, number: int, pairing: str, matches: Sequence[tuple[tuple[int, ...], int, int, int]]
    ) -> bool:
        """Plan a round of matches (lineup, seed, games, how many are sampled), if nobody has."""
        with contextlib.suppress(IntegrityError), self.store.writing() as connection:
            content = {"league": self.id, "number": number, "pairing": pairing}
            insert = sa.insert(ROUNDS).values(content).returning(ROUNDS.c.id)
            round_id = connection.execute(insert).scalar_one()
            rows = [
                {
                    "round": round_id, "number": number, "seed": str(seed), "games": games,
                    "sampled": sampled, "state": PLANNED,
                }
                for number, (_, seed, games, sampled) in enumerate(matches)
            ]  # fmt: skip
            if not rows:
                return True
            connection.execute(sa.insert(MATCHES), rows)
            planned = sa.select(MATCHES.c.id).where(MATCHES.c.round == round_id)
            made = connection.execute(planned.order_by(MATCHES.c.number)).scalars().all()
            seating = [
                {"match": match, "place": place, "member": member}
                for match, (lineup, *_) in zip(made, matches, strict=True)
                for place, member in enumerate(lineup)
            ]
            connection.execute(sa.insert(SEATING), seating)
            return True
        return False

    def states(self, round_id: int) -> dict[str, int]:
        """Count the matches of a round by what has become of them."""
        with self.store.reading() as connection:
            rows = connection.execute(
                sa.select(MATCHES.c.state, sa.func.count())
                .where(MATCHES.c.round == round_id)
                .group_by(MATCHES.c.state)
            )
            return {row[0]: row[1] for row in rows}

    def rate(self, round_id: int, standings: Iterable[Standing]) -> bool:
        """Close a round with its ladder, if nobody has."""
        with self.store.writing() as connection:
            closed = connection.execute(
                sa.update(ROUNDS)
                .where(ROUNDS.c.id == round_id, ROUNDS.c.rated_at.is_(None))
                .values(rated_at=time.time())
            )
            rows = [
                {
                    "round": round_id, "member": row.member, "games": row.games, "elo": row.elo,
                    "skill": row.skill, "spread": row.spread, "strength": row.strength,
                    "low": row.low, "high": row.high,
                }
                for row in standings
            ]  # fmt: skip
            if closed.rowcount and rows:
                connection.execute(sa.insert(RATINGS), rows)
            return bool(closed.rowcount)

    def history(self, only: int | None = None) -> list[Standing]:
        """Give the ladders after all rounds, the first round first; or after one of them only."""
        find = (
            sa.select(ROUNDS.c.number, RATINGS)
            .join_from(RATINGS, ROUNDS)
            .where(ROUNDS.c.league == self.id)
            .order_by(ROUNDS.c.number, RATINGS.c.member)
        )
        if only is not None:
            find = find.where(ROUNDS.c.number == only)
        with self.store.reading() as connection:
            rows = connection.execute(find)
            return [
                Standing(
                    round=row.number, member=row.member, games=row.games, elo=row.elo,
                    skill=row.skill, spread=row.spread, strength=row.strength, low=row.low,
                    high=row.high,
                )
                for row in rows
            ]  # fmt: skip

    # --- results -------------------------------------------------------------------------------

    def played(self, after: int = 0, to: int | None = None) -> list[tuple[int, Played]]:
        """Give the matches of the rounds after a number, in the order in which they were planned.

        With each comes the number of its row, by which its records are found.
        """
        seated = sa.select(SEATING.c.match, SEATING.c.member).order_by(
            SEATING.c.match, SEATING.c.place
        )
        rows_of = (
            sa.select(MATCHES.c.id, ROUNDS.c.number, RESULTS.c.points)
            .join_from(MATCHES, ROUNDS)
            .join(RESULTS, RESULTS.c.match == MATCHES.c.id)
            .where(ROUNDS.c.league == self.id, ROUNDS.c.number > after)
            .order_by(ROUNDS.c.number, MATCHES.c.number)
        )
        if to is not None:
            rows_of = rows_of.where(ROUNDS.c.number <= to)
        lineups: dict[int, list[int]] = {}
        with self.store.reading() as connection:
            rows = connection.execute(rows_of).all()
            of_league = seated.where(
                SEATING.c.match.in_(
                    sa.select(MATCHES.c.id)
                    .join_from(MATCHES, ROUNDS)
                    .where(ROUNDS.c.league == self.id, ROUNDS.c.number > after)
                )
            )
            for match, member in connection.execute(of_league):
                lineups.setdefault(match, []).append(member)
        seats = self.game.players
        return [
            (row.id, Played(tuple(lineups[row.id]), unpack(row.points, seats), row.number))
            for row in rows
        ]

    def lineups(self, after: int, to: int) -> list[tuple[int, tuple[int, ...], int]]:
        """Give round, lineup and games of matches that were played after a round, up to another."""
        find = (
            sa.select(MATCHES.c.id, ROUNDS.c.number, MATCHES.c.games, SEATING.c.member)
            .join_from(MATCHES, ROUNDS)
            .join(SEATING, SEATING.c.match == MATCHES.c.id)
            .where(ROUNDS.c.league == self.id, ROUNDS.c.number > after, ROUNDS.c.number <= to)
            .where(MATCHES.c.state == PLAYED)
            .order_by(ROUNDS.c.number, MATCHES.c.number, SEATING.c.place)
        )
        with self.store.reading() as connection:
            rows = connection.execute(find).all()
        found: dict[int, tuple[int, tuple[int, ...], int]] = {}
        for id, number, games, member in rows:
            before = found[id][1] if id in found else ()
            found[id] = number, (*before, member), games
        return list(found.values())

    def games_played(self) -> int:
        """Count the games that count."""
        with self.store.reading() as connection:
            count = connection.execute(
                sa.select(sa.func.coalesce(sa.func.sum(MATCHES.c.games), 0))
                .join_from(MATCHES, ROUNDS)
                .where(ROUNDS.c.league == self.id, MATCHES.c.state == PLAYED)
            ).scalar_one()
            return int(count)

    def figures(self) -> tuple[float, int, list[str]]:
        """Give the seconds and moves that were played, and the versions of kibitz that did."""
        with self.store.reading() as connection:
            row = connection.execute(
                sa.select(sa.func.sum(RESULTS.c.seconds), sa.func.sum(RESULTS.c.moves))
                .join_from(RESULTS, MATCHES)
                .join(ROUNDS)
                .where(ROUNDS.c.league == self.id)
            ).one()
            versions = connection.execute(
                sa.select(RESULTS.c.kibitz)
                .distinct()
                .join_from(RESULTS, MATCHES)
                .join(ROUNDS)
                .where(ROUNDS.c.league == self.id)
                .order_by(RESULTS.c.kibitz)
            ).scalars()
            return float(row[0] or 0.0), int(row[1] or 0), list(versions)

    def records(self) -> list[tuple[tuple[int, ...], str]]:
        """Give the games that were kept move by move, with the lineup of their match."""
        with self.store.reading() as connection:
            rows = connection.execute(
                sa.select(RECORDS.c.match, RECORDS.c.record)
                .join_from(RECORDS, MATCHES)
                .join(ROUNDS)
                .where(ROUNDS.c.league == self.id)
                .order_by(ROUNDS.c.number, MATCHES.c.number, RECORDS.c.game)
            ).all()
            return [(lineup_of(connection, row.match), row.record) for row in rows]


def _round(row: Any) -> Round:
    rated = row.rated_at is not None
    return Round(id=row.id, number=row.number, pairing=row.pairing, rated=rated)


def _league(store: Store, name: str) -> Any:
    with store.reading() as connection:
        return connection.execute(sa.select(LEAGUES).where(LEAGUES.c.name == name)).first()


def league_names(store: Store) -> list[tuple[str, str, int]]:
    """List the leagues of a store: name, game, and how many games were played."""
    played = sa.func.coalesce(
        sa.func.sum(sa.case((MATCHES.c.state == PLAYED, MATCHES.c.games), else_=0)), 0
    )
    with store.reading() as connection:
        rows = connection.execute(
            sa.select(LEAGUES.c.name, LEAGUES.c.game, played)
            .outerjoin_from(LEAGUES, ROUNDS)
            .outerjoin(MATCHES)
            .group_by(LEAGUES.c.id, LEAGUES.c.name, LEAGUES.c.game)
            .order_by(LEAGUES.c.name)
        )
        return [(name, game, int(games)) for name, game, games in rows]


def _members(connection: sa.Connection, league: int) -> list[Member]:
    rows = connection.execute(
        sa.select(MEMBERS).where(MEMBERS.c.league == league).order_by(MEMBERS.c.id)
    )
    return [
        Member(
            id=row.id, name=row.name, who=row.who, settings=row.settings,
            fingerprint=row.fingerprint, kibitz=row.kibitz, suspended=row.suspended,
        )
        for row in rows
    ]  # fmt: skip
