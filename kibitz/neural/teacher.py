"""A teacher: an agent that is asked at every decision of a learner what it would have done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kibitz.core.chance import WORD, WORDS, sow
from kibitz.core.compiled import compiled_loop
from kibitz.core.errors import AgentFailed, Misuse
from kibitz.core.game import Game
from kibitz.play.rivals import Rivals

if TYPE_CHECKING:
    from kibitz.neural.rollout import Boards

NEVER = -1  # no deal has been seen
LANE = 2  # of random numbers; those of boards use 0 and 1


@compiled_loop
def ask(
    rules, chooses, weights, t, first, last, views, legal, counts, seat_of, mine, deals, seed,
    memory, rngs, seen, advised, trouble,
):  # fmt: skip
    """Write which of the legal options the teacher would take at step t, where a learner moves.

    memory [boards, seats, ..] and rngs [boards, 4] begin anew with every deal; seen [boards] is the
    deal that they belong to.
    """
    for board in range(first, last):
        if seen[board] != deals[board]:
            seen[board] = deals[board]
            sow(rngs[board], seed, (deals[board] * len(deals) + board) & WORD, LANE)
            memory[board] = 0
        advised[t, board] = 0
        if not mine[t, board]:
            continue
        n, actions = counts[t, board], legal[t, board]
        wanted = chooses[0](
            rules, views[board], actions, n, weights, memory[board, seat_of[t, board]], rngs[board]
        )
        found = False
        for place in range(n):
            if actions[place] == wanted:
                advised[t, board], found = place, True
        if not found:
            trouble[0], trouble[1] = 1, wanted


class Teacher:
    """Who is asked, what it remembers of each board, and what it advised: [steps + 1, boards]."""

    KEPT = ("memory", "rngs", "seen")

    def __init__(
        self, game: Game, name: str, *, boards: int, steps: int, seed: int, cores: int
    ) -> None:
        agents = Rivals(game, [name])
        if agents.listens[0]:
            raise Misuse(
                f"'{name}' cannot teach: it goes by what it heard of others' moves, and a teacher "
                "is asked about single views. Choose an agent that judges by the view alone."
            )
        self.name, self.chooses, self.seed = name, agents.chooses, seed
        own = agents.weights[agents.starts[0] : agents.starts[1]]
        # Threads must not share these: slicing counts references.
        self._weights = [own.copy() for _ in range(cores)]
        self.memory = np.zeros((boards, game.players, agents.memory), np.int64)
        self.rngs = np.zeros((boards, WORDS), np.int64)
        self.seen = np.full(boards, NEVER, np.int64)
        self.advised = np.zeros((steps + 1, boards), np.int64)
        self._trouble = np.zeros((cores, 2), np.int64)

    def advise(self, of: Boards, t: int, first: int, last: int, worker: int) -> None:
        """Write what it would do on some of the boards."""
        ask(
            of.game.rules, self.chooses, self._weights[worker], t, first, last, of.views, of.legal,
            of.counts, of.seat_of, of.mine, of.deals, self.seed, self.memory, self.rngs,
            self.seen, self.advised, self._trouble[worker],
        )  # fmt: skip

    def check(self) -> None:
        """Raise an error if it has chosen what is not legal."""
        for what, action in self._trouble.tolist():
            if what:
                raise AgentFailed(f"{self.name} chose {action}, which is not legal.")
