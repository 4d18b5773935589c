"""Batches: many games stepped in lockstep for learners, with automatic re-deal.

    batch = Batch(kibitz.game("nim"), size=512, seed=1)
    while learning:
        actions = policy(batch.features, batch.masks)
        batch.step(actions)
        learn(batch.rewards, batch.done)

All arrays are made once and filled anew by every step.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kibitz.core.chance import checked_seed, sow
from kibitz.core.compiled import compiled, compiled_loop, in_python
from kibitz.core.errors import IllegalMove, Misuse
from kibitz.core.game import OVER, SEAT, Game
from kibitz.core.voting import place_of


@compiled_loop
def fill(rules, first, last, states, views, legal, counts, masks, features, mover):
    """Write views, legal actions, masks and features of the seat to move in games first to last."""
    for game in range(first, last):
        state = states[game]
        view = views[game]
        seat = state[SEAT]
        mover[game] = seat
        rules.look(state, seat, view)
        if masks.shape[1] > 0:
            for i in range(counts[game]):
                masks[game, legal[game, i]] = False
        counts[game] = rules.legal(view, legal[game])
        if masks.shape[1] > 0:
            for i in range(counts[game]):
                masks[game, legal[game, i]] = True
        rules.observe(view, features[game])


@compiled()
def redeal_one(rules, game, states, blank, seed, deals, scored):
    """Deal the next game at one place of the batch."""
    rng = np.zeros(4, np.int64)
    sow(rng, seed, deals[game] * len(states) + game, 0)
    deals[game] += 1
    states[game] = blank
    rules.deal(states[game], rng)
    rules.score(states[game], scored[game])


@compiled_loop
def deal_all(rules, states, blank, seed, deals, scored):
    """Deal the first games of a batch."""
    for game in range(len(states)):
        redeal_one(rules, game, states, blank, seed, deals, scored)


@compiled_loop
def advance(rules, first, last, chosen, states, blank, seed, deals, scored, rewards, done, final):
    """Play one action in each game; the change of points is the reward; deal anew what is over."""
    points = np.zeros(rewards.shape[1])
    for game in range(first, last):
        state = states[game]
        rules.play(state, chosen[game])
        rules.score(state, points)
        for seat in range(len(points)):
            rewards[game, seat] = points[seat] - scored[game, seat]
            scored[game, seat] = points[seat]
        done[game] = state[SEAT] == OVER
        if done[game]:
            final[game] = points
            redeal_one(rules, game, states, blank, seed, deals, scored)


@compiled_loop
def first_illegal(chosen, legal, counts):
    """Find a game whose action is not legal, or -1."""
    for game in range(len(chosen)):
        if place_of(chosen[game], legal[game], counts[game]) < 0:
            return game
    return -1


class Batch:
    """Many games of one kind, one action in each at a time.

    Arrays, for games in rows:
    seat [size]                   who is to move
    features [size, features]     what that seat sees, for learners
    legal [size, most legal]      its legal actions, the first `counts[game]` of them
    masks [size, actions]         True where an action is legal (`masks=False` leaves them out)
    views [size, cells]           its view
    rewards [size, seats]         change of every seat's points by the last step
    done [size]                   the last step ended that game; a new one has been dealt
    final [size, seats]           points at the end, where done
    """

    def __init__(
        self, game: Game, size: int, seed: int | None = None, *, masks: bool = True, cores: int = 1
    ) -> None:
        if size < 1 or cores < 1:
            raise Misuse(f"A batch needs at least 1 game and 1 core, not {size} and {cores}.")
        self.game = game
        self.size = size
        self.seed = checked_seed(seed)
        self._cores = min(cores, size)
        self._pool = ThreadPoolExecutor(self._cores) if self._cores > 1 else None
        self._blank = game.blank()
        self._states = np.zeros((size, game.layout.size), np.int16)
        self._deals = np.zeros(size, np.int64)
        self._scored = np.zeros((size, game.players))
        self.seat = np.zeros(size, np.int64)
        self.views = np.zeros_like(self._states)
        self.features = np.zeros((size, game.bound("features")), np.float32)
        self.legal = np.zeros((size, game.bound("most_legal")), np.int32)
        self.counts = np.zeros(size, np.int64)
        self.masks = np.zeros((size, game.bound("actions") if masks else 0), np.bool_)
        self.rewards = np.zeros((size, game.players), np.float32)
        self.done = np.zeros(size, np.bool_)
        self.final = np.zeros((size, game.players))
        ready = (lambda loop: loop) if game.is_compiled else in_python
        self._fill, self._advance = ready(fill), ready(advance)
        ready(deal_all)(game.rules, self._states, self._blank, self.seed, self._deals, self._scored)
        self._spread(self._look)

    def step(self, actions: np.ndarray) -> None:
        """Play one legal action in each game; an illegal one raises and nothing is changed."""
        chosen = np.ascontiguousarray(actions, np.int64)
        if chosen.shape != (self.size,):
            raise Misuse(f"This batch takes {self.size} actions, not an array of {chosen.shape}.")
        wrong = int(first_illegal(chosen, self.legal, self.counts))
        if wrong >= 0:
            raise IllegalMove(
                f"{self.game.name}: action {int(chosen[wrong])} is not legal in game {wrong} of "
                f"the batch; see batch.legal[{wrong}, :{int(self.counts[wrong])}]."
            )
        self._spread(lambda first, last: self._play(chosen, first, last))

    def _play(self, chosen: np.ndarray, first: int, last: int) -> None:
        self._advance(
            self.game.rules, first, last, chosen, self._states, self._blank, self.seed,
            self._deals, self._scored, self.rewards, self.done, self.final,
        )  # fmt: skip
        self._look(first, last)

    def _look(self, first: int, last: int) -> None:
        self._fill(
            self.game.rules, first, last, self._states, self.views, self.legal, self.counts,
            self.masks, self.features, self.seat,
        )  # fmt: skip

    def _spread(self, work: Callable[[int, int], None]) -> None:
        """Do the work for all games, in as many threads as there are cores for it."""
        if self._pool is None:
            work(0, self.size)
            return
        edges = np.linspace(0, self.size, self._cores + 1).astype(int).tolist()
        list(self._pool.map(work, edges[:-1], edges[1:]))

    @property
    def deals(self) -> int:
        """How many games have been dealt so far."""
        return int(self._deals.sum())
