"""Whom a person may play against: the strongest agent of a game, and its levels."""

from __future__ import annotations

from kibitz.core.errors import KibitzError
from kibitz.core.game import Game
from kibitz.core.registry import find_agent
from kibitz.play.graph import unsolvable
from kibitz.search.perfect import is_quickly_solved

PERFECT = "perfect"


def strongest(game: Game) -> str:
    """Name the strongest agent that can play a game.

    That is perfect where it can be, else an expert or the room's hardest, else its first.
    """
    if unsolvable(game) is None and is_quickly_solved(game):
        return PERFECT
    if "expert" in game.agents:
        return "expert"
    hardest = [name for name in game.levels.values() if name in game.agents]
    fit = (name for name, kind in game.agents.items() if kind.unfit(game) is None)
    return hardest[-1] if hardest else next(fit, "random")


def playable_levels(game: Game, best: str) -> dict[str, str]:
    """Give the levels whose agents can play the game as it is set, the easiest first.

    `best` is the strongest agent: where it is not perfect, solving would keep people waiting.
    """
    return {
        level: who
        for level, who in game.levels.items()
        if (best == PERFECT or who.partition(":")[0] != PERFECT) and why_not(who, game) is None
    }


def why_not(who: str, game: Game) -> KibitzError | None:
    """Say why an agent cannot play a game, or None."""
    try:
        find_agent(who, game)
    except KibitzError as error:
        return error
    return None
