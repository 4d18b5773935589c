"""Agents for any game of OpenSpiel that suits them: OpenSpiel's own tree search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyspiel

from kibitz.core.agent import Agent, Opinion, opinion
from kibitz.core.chance import Chance
from kibitz.core.game import Game
from kibitz.core.options import Real, Whole
from kibitz.core.table import View

MEGABYTES = 1000
SEEDS = 1 << 31


class OpenSpielSearch(Agent):
    """Search as OpenSpiel does: Monte Carlo trees, and random games from their leaves."""

    name = "open-spiel-mcts"
    options = (
        Whole(name="sims", default=500, help="simulations for each move", low=1, high=10_000_000),
        Whole(name="rollouts", default=1, help="random games from a leaf", low=1, high=10_000),
        Real(name="explore", default=2.0, help="weight of what was seldom tried", low=0, high=1000),
    )

    @classmethod
    def unfit(cls, game: Game) -> str | None:
        """Say why it cannot play a game, or None."""
        book = getattr(game, "book", None)
        if book is None:
            return "it plays games of OpenSpiel only"
        if book.hides:
            return "it needs a game in which nothing is hidden"
        terminal = pyspiel.GameType.RewardModel.TERMINAL
        if book.theirs.get_type().reward_model != terminal:
            return "it needs a game whose points come at the end"
        return None

    def search(self, view: View, rng: Chance) -> Any:
        """Give the root of a searched tree."""
        book = self.game.book  # type: ignore[attr-defined]
        chosen = self.settings
        evaluator = pyspiel.RandomRolloutEvaluator(chosen["rollouts"], rng.below(SEEDS))
        bot = pyspiel.MCTSBot(
            book.theirs, evaluator, chosen["explore"], chosen["sims"], MEGABYTES, True,
            rng.below(SEEDS), False,
        )  # fmt: skip
        return bot.mcts_search(book.node(view.cells).clone())

    def values(self, view: View, options: Sequence[int]) -> list[float]:
        """Say how often each option was tried, as a share; proven wins and losses stand out."""
        tries = {child.action: child for child in self.search(view, self.rng).children}
        total = sum(child.explore_count for child in tries.values()) or 1
        found = []
        for option in options:
            child = tries.get(option)
            share = child.explore_count / total if child is not None else 0.0
            proven = list(child.outcome) if child is not None else []
            sign = proven[view.mover] if proven else 0.0
            found.append(share + (sign > 0) - (sign < 0))
        return found

    def explain(self, view: View) -> Opinion:
        """Say what was tried how often, and what it was worth on average."""
        root = self.search(view, Chance.over(self.rng.words.copy()))
        best = root.best_child()
        children = [child for child in root.children if child.explore_count]
        worth = {child.action: child.total_reward / child.explore_count for child in children}
        notes = {child.action: f"{child.explore_count} tries" for child in children}
        reason = (
            f"Tried {best.explore_count} times of {root.explore_count}; on average it brought "
            f"{worth.get(best.action, 0.0):+.2f} points."
        )
        return opinion(view, best.action, reason, worth, notes)


AGENTS = {OpenSpielSearch.name: OpenSpielSearch}
