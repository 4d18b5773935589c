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
# For people: each beats the one below; docs/levels.md says how often.
LEVELS = {
    "beginner": "planner:blunders=50%",
    "easy": "planner:blunders=30%",
    "medium": "planner:blunders=17%",
    "hard": "planner:blunders=8%",
    "expert": "planner",
}
ANALYST = "mcts:sims=400,rollout=planner,prior=planner"  # of played games
