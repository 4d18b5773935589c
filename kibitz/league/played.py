"""Played matches, as the ratings see them: who sat together, and the points of every game."""

from __future__ import annotations

import functools
import zlib
from dataclasses import dataclass

import numpy as np

from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.errors import KibitzError
from kibitz.league.digest import Digest, digest


@dataclass(frozen=True, eq=False)
class Played:
    """A match that was played: members by place, and points [games, places].

    Place i sits at seat (i + game) % seats; as many games in a row as there are seats share a deal.
    """

    lineup: tuple[int, ...]
    points: np.ndarray
    round: int = 0

    @property
    def seats(self) -> int:
        """How many sit at the table."""
        return len(self.lineup)

    @property
    def games(self) -> int:
        """How many games were played."""
        return len(self.points)

    @functools.cached_property
    def digest(self) -> Digest:
        """The match added up, which is done once."""
        return digest(self.lineup, self.points)


def pack(points: np.ndarray) -> bytes:
    """Write points as few bytes: whole numbers, where they all are, and squeezed."""
    whole = points.astype(np.int16)
    kind, data = (b"h", whole) if np.array_equal(whole, points) else (b"d", points)
    return kind + zlib.compress(np.ascontiguousarray(data).tobytes(), 1)


def unpack(data: bytes, seats: int) -> np.ndarray:
    """Read points [games, seats] as `pack` wrote them."""
    kinds = {b"h": np.int16, b"d": np.float64}
    try:
        return np.frombuffer(zlib.decompress(data[1:]), kinds[data[:1]]).reshape(-1, seats)
    except (KeyError, ValueError, zlib.error) as error:
        raise KibitzError(
            f"The store holds a damaged result ({error}). Bring it back from a copy."
        ) from error


@compiled(inline=True)
def rank_game(points, game, order, ranks):
    """Put the places of a game into order, best first, and rank them; equals rank equal.

    points [games, seats], order and ranks [seats]
    """
    seats = points.shape[1]
    for place in range(seats):
        at = place
        while at > 0 and points[game, order[at - 1]] < points[game, place]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = place
    rank = 0
    for at in range(seats):
        if at > 0 and points[game, order[at]] < points[game, order[at - 1]]:
            rank += 1
        ranks[order[at]] = rank


@compiled_loop
def rank_games(points, order, ranks):
    """Rank the places of every game. points, order, ranks [games, seats]"""
    for game in range(len(points)):
        rank_game(points, game, order[game], ranks[game])


def ranked(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the order of places and their ranks (0 is best) of every game, [games, seats] each."""
    order = np.zeros(points.shape, np.int64)
    ranks = np.zeros(points.shape, np.int64)
    rank_games(np.ascontiguousarray(points, np.float64), order, ranks)
    return order, ranks
