"""Compiled agents in the form in which loops over many boards take them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kibitz.core.agent import CompiledAgent, notice_nothing
from kibitz.core.compiled import JIT, Pointers, is_compiled, pointer
from kibitz.core.errors import Misuse
from kibitz.core.game import MOST_SEATS, Game
from kibitz.core.registry import find_agent
from kibitz.play.agents import RANDOM


class Rivals:
    """Agents by number: `chooses`, `notices`, `listens`, and `weights` from `starts[number]`."""

    def __init__(self, game: Game, names: Sequence[str]) -> None:
        agents = [self._made(game, name) for name in names]
        if len(agents) > MOST_SEATS:
            raise Misuse(f"At most {MOST_SEATS} named opponents can be learned from at once.")
        spare = RANDOM(game)  # loops take the same number whoever plays
        seated = [*agents, *[spare] * (MOST_SEATS - len(agents))]
        self.names = [agent.name for agent in agents]
        self.chooses = Pointers(pointer(agent.kind.choose) for agent in seated)
        self.notices = Pointers(pointer(agent.kind.notice) for agent in seated)
        self.listens = np.array(
            [agent.kind.notice is not notice_nothing and not game.secret for agent in seated]
        )
        self.weights = np.concatenate(
            [*(agent.weights for agent in seated), np.zeros(1, np.float32)]
        )
        self.starts = np.cumsum([0, *(len(agent.weights) for agent in seated)])
        self.memory = max([1, *(agent.kind.memory for agent in seated)])

    @staticmethod
    def _made(game: Game, name: str) -> CompiledAgent:
        agent = find_agent(name, game)
        if not isinstance(agent, CompiledAgent) or (
            JIT and not (is_compiled(agent.kind.choose) and is_compiled(agent.kind.notice))
        ):
            raise Misuse(
                f"Boards need compiled opponents, and '{name}' is not: see docs/add-an-agent.md."
            )
        return agent
