"""Tournaments: everybody plays everybody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz.core.errors import Misuse
from kibitz.core.game import Game
from kibitz.play.match import match


@dataclass(frozen=True, slots=True, kw_only=True)
class Tournament:
    """Who won what share against whom."""

    names: tuple[str, ...]
    shares: np.ndarray  # [agents, agents], the row's share of wins against the column; NaN for self
    games: int  # of each pair

    @property
    def scores(self) -> dict[str, float]:
        """The mean share of each against all others, best first."""
        means = np.nanmean(self.shares, axis=1)
        order = np.argsort(-means, kind="stable")
        return {self.names[place]: float(means[place]) for place in order}


def round_robin(
    game: Game,
    agents: Mapping[str, Any],
    games: int,
    seed: int,
    progress: Callable[[int, int], Any] | None = None,
    known: dict[tuple[str, str], tuple[float, float]] | None = None,
) -> Tournament:
    """Let everybody play so many games against everybody else, seats rotated.

    `known` holds the shares of pairs that have met before and need not again; new ones are added.
    """
    if game.players != 2:
        raise Misuse(f"A round robin needs two seats; {game.described()} has {game.players}.")
    if len(agents) < 2:
        raise Misuse("A round robin needs at least two agents.")
    names = tuple(agents)
    shares = np.full((len(names), len(names)), np.nan)
    pairs = [(one, two) for one in range(len(names)) for two in range(one)]
    known = {} if known is None else known
    for place, (one, two) in enumerate(pairs):
        pair = names[one], names[two]
        if pair not in known:
            result = match(game, [agents[name] for name in pair], games, seed=seed)
            first, second = (agent.share.mean for agent in result.agents)
            known[pair], known[pair[::-1]] = (first, second), (second, first)
        shares[one, two], shares[two, one] = known[pair]
        if progress is not None:
            progress(place + 1, len(pairs))
    return Tournament(names=names, shares=shares, games=games)
