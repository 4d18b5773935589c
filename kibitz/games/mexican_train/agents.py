"""The players of Mexican train."""

from __future__ import annotations

from kibitz.games.mexican_train.line_agents import BEST_LINE, PERSISTENT_LINE
from kibitz.games.mexican_train.planner import PLANNER
from kibitz.games.mexican_train.simple_agents import SIMPLE

AGENTS = {
    **SIMPLE,
    "best-line": BEST_LINE,
    "persistent-line": PERSISTENT_LINE,
    "planner": PLANNER,
}
LEVELS = {"easy": "greedy", "medium": "persistent-line", "hard": "planner"}  # for people
ANALYST = "mcts:sims=400,rollout=planner,prior=planner"  # of played games
