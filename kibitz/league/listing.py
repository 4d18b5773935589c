"""What a store holds, without rating anything anew: leagues, and who led after the last round."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from kibitz.league.book import PLAYED
from kibitz.league.store import Store
from kibitz.league.tables import LEAGUES, MATCHES, MEMBERS, RATINGS, ROUNDS

LEADERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """Somebody who stands high after the last round: a rating, or points with oneself."""

    name: str
    strength: float
    plus_minus: float
    games: int
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A league as a list shows it."""

    name: str
    game: str
    version: int
    settings: dict[str, Any]
    games: int
    members: int
    made_at: float
    leaders: tuple[Leader, ...]  # the best first; suspended members are left out


def listing(store: Store, leaders: int = LEADERS) -> list[Listed]:
    """List the leagues of a store, by name, each with those who lead it."""
    with store.reading() as connection:
        games = _counts(
            connection,
            sa.select(ROUNDS.c.league, sa.func.sum(MATCHES.c.games))
            .join_from(MATCHES, ROUNDS)
            .where(MATCHES.c.state == PLAYED)
            .group_by(ROUNDS.c.league),
        )
        members = _counts(
            connection,
            sa.select(MEMBERS.c.league, sa.func.count()).group_by(MEMBERS.c.league),
        )
        rows = connection.execute(sa.select(LEAGUES).order_by(LEAGUES.c.name)).all()
        return [
            Listed(
                name=row.name, game=row.game, version=row.version,
                settings=json.loads(row.settings), games=games.get(row.id, 0),
                members=members.get(row.id, 0), made_at=row.made_at,
                leaders=_leaders(connection, row.id, leaders),
            )
            for row in rows
        ]  # fmt: skip


def _counts(connection: sa.Connection, counted: Any) -> dict[int, int]:
    return {row[0]: int(row[1]) for row in connection.execute(counted)}


def _leaders(connection: sa.Connection, league: int, most: int) -> tuple[Leader, ...]:
    last = (
        sa.select(sa.func.max(ROUNDS.c.number))
        .where(ROUNDS.c.league == league, ROUNDS.c.rated_at.is_not(None))
        .scalar_subquery()
    )
    rows = connection.execute(
        sa.select(MEMBERS.c.name, RATINGS)
        .join_from(RATINGS, ROUNDS)
        .join(MEMBERS, RATINGS.c.member == MEMBERS.c.id)
        .where(ROUNDS.c.league == league, ROUNDS.c.number == last, MEMBERS.c.suspended.is_(None))
        .order_by(RATINGS.c.strength.desc(), RATINGS.c.member)
        .limit(most)
    )
    return tuple(
        Leader(
            name=row.name, strength=row.strength, games=row.games,
            plus_minus=max(row.high - row.strength, row.strength - row.low),
            low=row.low, high=row.high,
        )
        for row in rows
    )  # fmt: skip
