"""The players of Hanabi."""

from __future__ import annotations

from kibitz.core.game import Game
from kibitz.games.hanabi.hat import HAT
from kibitz.games.hanabi.rule_players import RULE_PLAYERS
from kibitz.games.hanabi.smart import SMART

AGENTS = {"smart": SMART, "hat": HAT, **RULE_PLAYERS}


def levels(game: Game) -> dict[str, str]:
    """Return partners for people: about 14, 17 and 22 points each (docs/levels.md)."""
    if game.settings["open"]:  # nothing has to be told, and everybody plays well
        return {"easy": "iggi:blunders=10%", "medium": "iggi:blunders=6%", "hard": "smart"}
    return {"easy": "outer", "medium": "iggi", "hard": "smart"}


# Of played games: moves that some player would make, played on by one of them.
ANALYST = "mcts:sims=400,moves=piers+iggi+outer+internal+van-den-bergh,rollout=piers"
