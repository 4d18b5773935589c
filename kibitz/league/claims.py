"""Claims: which worker plays which match, and what becomes of the matches of one that is gone.

A worker here is a process that plays in a league. Claims and results are single transactions that
only take effect from the state they expect, so that several workers can be in one league and any
of them may vanish.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from kibitz.league.played import pack
from kibitz.league.store import Store
from kibitz.league.tables import (
    CLAIMED,
    MATCHES,
    PLANNED,
    PLAYED,
    RECORDS,
    RESULTS,
    SEATING,
    WORKERS,
)

FORGET = 86_400.0  # seconds after which nobody asks what became of a worker
LEASE = 60.0  # seconds without a sign of life, and a worker of another machine counts as gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A match that a worker has taken on."""

    id: int
    seed: int
    games: int
    sampled: int
    lineup: tuple[int, ...]


class Claims:
    """What this process has claimed in a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._signed = False
        self.worker = f"{platform.node()[:20]}-{os.getpid()}-{secrets.token_hex(8)}"

    def claim(self, round_id: int, absent: Iterable[int] = ()) -> Claim | None:
        """Take on the next match of a round in which none of those who are absent sits."""
        absent = list(absent)
        free = sa.select(MATCHES.c.id).where(
            MATCHES.c.round == round_id, MATCHES.c.state == PLANNED
        )
        if absent:
            theirs = sa.select(SEATING.c.match).where(SEATING.c.member.in_(absent))
            free = free.where(MATCHES.c.id.not_in(theirs))
        free = free.order_by(MATCHES.c.number).limit(1).with_for_update(skip_locked=True)
        if not self._signed:
            self.sign()
        with self.store.writing() as connection:
            found = connection.execute(free).scalar()
            if found is None:
                found = self._orphan(connection, round_id, absent)
            if found is None:
                return None
            connection.execute(
                sa.update(MATCHES)
                .where(MATCHES.c.id == found)
                .values(state=CLAIMED, worker=self.worker)
            )
            row = connection.execute(sa.select(MATCHES).where(MATCHES.c.id == found)).one()
            return Claim(
                id=row.id, seed=int(row.seed), games=row.games, sampled=row.sampled,
                lineup=lineup_of(connection, row.id),
            )  # fmt: skip

    def _orphan(
        self, connection: sa.Connection, round_id: int, absent: Sequence[int]
    ) -> int | None:
        """Find a match of a worker that is gone."""
        now = self._now(connection)
        claimed = connection.execute(
            sa.select(MATCHES.c.id, WORKERS)
            .outerjoin_from(MATCHES, WORKERS, MATCHES.c.worker == WORKERS.c.name)
            .where(MATCHES.c.round == round_id, MATCHES.c.state == CLAIMED)
            .order_by(MATCHES.c.number)
            .with_for_update(skip_locked=True, of=MATCHES)
        )
        for row in claimed:
            if is_gone(row, now) and not set(lineup_of(connection, row.id)) & set(absent):
                return row.id
        return None

    def finish(
        self, claim: Claim, points: np.ndarray, moves: int, seconds: float, kibitz: str,
        records: Sequence[str] = (),
    ) -> bool:  # fmt: skip
        """Write the result of a match, unless it was void or given to somebody else meanwhile."""
        content = {
            "match": claim.id, "points": pack(points), "moves": moves, "seconds": seconds,
            "kibitz": kibitz, "played_at": time.time(),
        }  # fmt: skip
        with self.store.writing() as connection:
            mine = sa.and_(MATCHES.c.id == claim.id, MATCHES.c.state == CLAIMED)
            changed = connection.execute(
                sa.update(MATCHES)
                .where(mine, MATCHES.c.worker == self.worker)
                .values(state=PLAYED, worker=None)
            )
            if not changed.rowcount:
                return False
            connection.execute(sa.insert(RESULTS).values(content))
            for game, record in enumerate(records):
                row = {"match": claim.id, "game": game, "record": record}
                connection.execute(sa.insert(RECORDS).values(row))
            return True

    def give_back(self) -> None:
        """Give back all matches that this worker has claimed and not finished, and sign off."""
        with self.store.writing() as connection:
            connection.execute(
                sa.update(MATCHES)
                .where(MATCHES.c.worker == self.worker, MATCHES.c.state == CLAIMED)
                .values(state=PLANNED, worker=None)
            )
            connection.execute(sa.delete(WORKERS).where(WORKERS.c.name == self.worker))
        self._signed = False

    def sign(self) -> None:
        """Give a sign of life."""
        row = {"name": self.worker, "host": host(), "process": os.getpid()}
        # Another thread may sign at the same moment: once is enough.
        with contextlib.suppress(IntegrityError), self.store.writing() as connection:
            now = self._now(connection)
            mine = WORKERS.c.name == self.worker
            seen = connection.execute(sa.update(WORKERS).where(mine).values(seen_at=now))
            if not seen.rowcount:
                connection.execute(sa.insert(WORKERS).values(**row, seen_at=now))
                forgotten = WORKERS.c.seen_at < now - FORGET
                connection.execute(sa.delete(WORKERS).where(forgotten))
        self._signed = True

    def _now(self, connection: sa.Connection) -> float:
        """Give the time by one clock for all machines."""
        if self.store.is_sqlite:
            return time.time()
        return float(
            connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
        )


@functools.cache
def host() -> str:
    """Name the place in which process numbers mean something: a machine, or a container on it."""
    space = ""
    with contextlib.suppress(OSError):
        space = os.readlink("/proc/self/ns/pid")
    return f"{platform.node()} {space}".strip()[:200]


def is_gone(worker: Any, now: float) -> bool:
    """Tell whether a worker has vanished: it has no process any more, or gives no sign of life."""
    if worker.name is None or now - worker.seen_at > LEASE:
        return True
    if worker.host != host() or worker.process == os.getpid():
        return False
    try:
        os.kill(worker.process, 0)
    except ProcessLookupError:
        return True
    except OSError:  # it is there, and somebody else's
        return False
    return False


def lineup_of(connection: sa.Connection, match: int) -> tuple[int, ...]:
    """Give the members of a match, by place."""
    find = sa.select(SEATING.c.member).where(SEATING.c.match == match).order_by(SEATING.c.place)
    return tuple(connection.execute(find).scalars())
