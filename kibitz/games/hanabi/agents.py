"""The players of Hanabi."""

from __future__ import annotations

from kibitz.games.hanabi.hat import HAT
from kibitz.games.hanabi.rule_players import RULE_PLAYERS
from kibitz.games.hanabi.smart import SMART

AGENTS = {"smart": SMART, "hat": HAT, **RULE_PLAYERS}
LEVELS = {"easy": "iggi", "medium": "simple", "hard": "smart"}  # partners for people
# Of played games: moves that some player would make, played on by one of them.
ANALYST = "mcts:sims=400,moves=piers+iggi+outer+internal+van-den-bergh,rollout=piers"
