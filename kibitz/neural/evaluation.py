"""Measuring while learning: matches against fixed rivals, and against the best so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent
from kibitz.core.game import Game
from kibitz.core.registry import find_agent
from kibitz.play.match import match
from kibitz.play.result import MatchResult

SURE = 1.0  # intervals of 95% by which the new one must be better


class Judge:
    """Plays matches that say how good a policy is, always on fresh deals."""

    def __init__(self, game: Game, rivals: str, games: int, seed: int, cores: int | None) -> None:
        self.game, self.games, self.seed, self.cores = game, games, seed, cores
        named = [name.strip() for name in rivals.split("+")]
        self.rivals = [] if game.cooperative else list(dict.fromkeys(named))
        for name in self.rivals:
            find_agent(name, game)  # unknown ones are told at once

    @property
    def columns(self) -> list[str]:
        """Name the figures that `measure` gives."""
        if self.game.cooperative:
            return ["score", "score_spread"]
        kinds = ("share", "share_spread", "margin")
        return [f"{kind}_{name}" for name in self.rivals for kind in kinds]

    def measure(self, agent: CompiledAgent, update: int) -> dict[str, float]:
        """Give the share of wins and the margin against every rival, or the score."""
        if self.game.cooperative:
            result = self._match([agent], update, 0)
            points = result.agents[0].points
            return dict(zip(self.columns, (points.mean, points.plus_minus), strict=True))
        figures: list[float] = []
        for place, name in enumerate(self.rivals):
            mine = self._match([agent, *[name] * (self.game.players - 1)], update, place).agents[0]
            spread = (mine.share.high - mine.share.low) / 2
            figures += [mine.share.mean, spread, mine.margin.mean]
        return dict(zip(self.columns, figures, strict=True))

    def is_better(self, new: CompiledAgent, old: CompiledAgent, update: int) -> bool:
        """Tell whether one policy is better than another beyond chance, on fresh deals."""
        if self.game.cooperative:
            ours, theirs = (
                self._match([agent], update, 101).agents[0].points for agent in (new, old)
            )
            spread = float(np.hypot(ours.plus_minus, theirs.plus_minus))
            return ours.mean - theirs.mean > SURE * spread
        seats = self.game.players
        mine = self._match([new, *[old] * (seats - 1)], update, 100).agents[0]
        return mine.share.low > 1.0 / seats

    def _match(self, agents: list[Any], update: int, lane: int) -> MatchResult:
        # A seed of its own for every match: nothing is measured on deals that chose the best.
        seed = np.random.SeedSequence((self.seed, update, lane)).generate_state(1, np.uint64)[0]
        return match(
            self.game, agents, self.games, seed=int(seed >> np.uint64(1)), cores=self.cores
        )


def main_figure(figures: Mapping[str, float]) -> tuple[str, float]:
    """Give the figure that says most, with its name: of the last rival, or the score."""
    if "score" in figures:
        return "score", figures["score"]
    name = [column for column in figures if column.startswith("share_")][-2]
    return name, figures[name]
